"""The installed documents: names, titles, sections, and a search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import referee

PACKAGE = Path(referee.__file__).parent

FOLDERS = (
    "docs",
    "protocol",
    "protocol/games",
    "games",
    "tournament",
    "processes",
    "viewing",
    "ratings",
    "",
)
"""The folders of the package that have documents, those for users first."""

FIRST = "FIRST_BOT.md"  # the page to begin with


class DocumentSection(NamedTuple):
    """A heading of a document with the text up to the next heading."""

    page: str
    title: str
    lines: tuple[str, ...]  # the text in Markdown, without the heading


@cache
def documents() -> dict[str, Path]:
    """The documents by name: that of their file in small letters, with hyphens."""
    paths = [path for folder in FOLDERS for path in sorted((PACKAGE / folder).glob("*.md"))]
    paths.sort(key=lambda path: path.name != FIRST)
    return {path.stem.lower().replace("_", "-"): path for path in paths}


def title_of(page: str) -> str:
    """The title of a document, which is its first line."""
    with documents()[page].open(encoding="utf-8") as file:
        return file.readline().strip("# \n")


def text_of(page: str) -> str:
    """The text of a document in Markdown, without comments, which are for tests."""
    text = documents()[page].read_text(encoding="utf-8")
    return re.sub(r"^<!--.*-->\n\n?", "", text, flags=re.MULTILINE)


def sections(page: str) -> Iterator[DocumentSection]:
    """Divides a document at its headings. Lines in code blocks that begin with `#` are not headings."""
    title, lines, in_code = "", list[str](), False
    for line in text_of(page).splitlines():
        if line.startswith("```"):
            in_code = not in_code
        if not in_code and (heading := re.match(r"#+ (.*)", line)):
            if title:
                yield DocumentSection(page, title, tuple(lines))
            title, lines = heading[1], []
        else:
            lines.append(line)
    if title:
        yield DocumentSection(page, title, tuple(lines))


def with_pages_named(text: str) -> str:
    """A text in Markdown whose links within the page are plain, and whose links to others say how to read
    them.
    """

    def named(link: re.Match[str]) -> str:
        path, _, _ = link[2].partition("#")
        page = Path(path).stem.lower().replace("_", "-")
        if path.endswith(".md") and page in documents():
            return f"{link[1]} (`docs {page}`)"
        return link[0] if path else link[1]

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]*)\)", named, text)


def plain(text: str) -> str:
    """A text in Markdown on one line, without the signs that only lay it out."""
    text = re.sub(r"^```.*$|^[|:\- ]+$|^- ", "", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r"\*\*|[`|]", "", text)).strip()


class Hit(NamedTuple):
    """A section that has all the words that were searched for."""

    section: DocumentSection
    line: str  # the first line with one of the words; empty where the heading has all of them


def search(words: Sequence[str]) -> list[Hit]:
    """The sections with all of these words in heading or text, whatever their case: first those that have
    them in the heading.
    """
    wanted = [word.lower() for word in words]
    in_title, in_text = list[Hit](), list[Hit]()
    for page in documents():
        for section in sections(page):
            title = section.title.lower()
            text = "\n".join((section.title, *section.lines)).lower()
            if all(word in title for word in wanted):
                in_title.append(Hit(section, ""))
            elif all(word in text for word in wanted):
                line = next(
                    (line for line in section.lines if any(word in line.lower() for word in wanted)), ""
                )
                in_text.append(Hit(section, plain(line)))
    return in_title + in_text
