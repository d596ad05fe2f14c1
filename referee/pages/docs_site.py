"""The documents as HTML pages in a folder: linked, searchable, and readable without a server."""

from __future__ import annotations

import base64
import posixpath
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from referee.core.files import write_whole
from referee.pages.documents import Anchors, documents, plain, sections, text_of, title_of
from referee.pages.environment import PAGE_START, page, static

INDEX = "index.html"  # the page with the list of all documents and the search


def write_site(folder: Path) -> None:
    """Writes a page for each document and an index; pages that are there already are replaced. Raises
    `UsageError` where the folder holds other files of these names or cannot be written to.
    """
    names = {path.resolve(): name for name, path in documents().items()}
    for name, path in documents().items():
        _write(folder / f"{name}.html", _document(name, path, names))
    _write(folder / INDEX, _index())


def _write(path: Path, text: str) -> None:
    write_whole(path, text.encode(), PAGE_START.encode(), "a page of documents")


def _index() -> str:
    found = [
        {
            "page": name,
            "of": plain(title_of(name)),
            "title": plain(section.title),
            "anchor": section.anchor,
            "text": plain("\n".join(section.lines)),
        }
        for name in documents()
        for section in sections(name)
    ]
    return page(
        "docs_index.html",
        title="referee: documents",
        styles=[static("docs.css")],
        scripts=[static("docs.js")],
        documents={name: plain(title_of(name)) for name in documents()},
        sections=found,
    )


def _document(name: str, path: Path, names: dict[Path, str]) -> str:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text_of(name))
    _set_anchors(tokens)
    for token in tokens:
        _set_targets(token.children or (), path, names)
    body = markdown.renderer.render(tokens, markdown.options, {})
    return page(
        "docs_page.html",
        title=plain(title_of(name)),
        styles=[static("docs.css")],
        body=Markup(_scrollable(body)),
        sections=[(section.level, section.anchor, plain(section.title)) for section in sections(name)][1:],
    )


def _scrollable(body: str) -> str:
    """Has tables and code that are wider than the screen scrolled by themselves, also with the keyboard."""
    body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>')
    return body.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')


def _set_anchors(tokens: Sequence[Token]) -> None:
    """Gives each heading the identifier that links use."""
    anchors = Anchors()
    for opening, text in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", anchors.of(text.content))


def _set_targets(tokens: Sequence[Token], path: Path, names: dict[Path, str]) -> None:
    """Changes links to other documents into links to their pages, and pictures into their data. A link to a
    file that has no page becomes plain text.
    """
    folder = path.resolve().parent
    is_text = False
    for token in tokens:
        target = str(token.attrGet("href") or token.attrGet("src") or "")
        name, _, anchor = target.partition("#")
        if token.type == "image":
            picture = base64.b64encode((folder / name).read_bytes()).decode()
            token.attrSet("src", f"data:image/svg+xml;base64,{picture}")
        elif token.type == "link_open":
            is_text = False
            if not name or re.match(r"\w+:", target):
                continue
            if other := names.get(Path(posixpath.normpath(folder / name)).resolve()):
                token.attrSet("href", f"{other}.html{'#' * bool(anchor)}{anchor}")
            else:
                is_text = True
                token.tag, token.attrs = "span", {}
        elif token.type == "link_close" and is_text:
            token.tag = "span"
