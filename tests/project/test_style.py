"""The style of pages, as far as a machine can see it: CONTRIBUTING.md, "Style", has the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

LONG = 500
"""Characters of a long paragraph as a reader sees it: more than five lines of a hundred."""

SENTENCE = 60
"""Sentences of fewer characters may be repeated in another page."""


def pages() -> dict[str, str]:
    """The text of each page by its path, apart from the list of modules, which is made from the code."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]
    found += [*(ROOT / "protocol").rglob("*.md"), *(ROOT / "referee").rglob("*.md")]
    made = {ROOT / "referee" / "MODULES.md"}
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted({*found} - made)}


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs and list items of a page as a reader sees them, without code, tables and headings."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    for line in prose.splitlines():
        if line.strip() and not line.lstrip().startswith(("|", "#", "!", "<")):
            yield re.sub(r"\]\([^)]*\)", "", line).replace("[", "").replace("**", "").strip()


def test_no_paragraph_is_long() -> None:
    found = [
        f"{page}: {paragraph[:60]}"
        for page, text in pages().items()
        for paragraph in paragraphs(text)
        if len(paragraph) > LONG
    ]
    assert found == [], "divide them, or make a list or a table of them"


def test_a_sentence_stands_in_one_page_only() -> None:
    """Apart from the pages of games, each of which is complete for the author of a bot for that game."""
    count: Counter[str] = Counter()
    for page, text in pages().items():
        if not page.startswith("protocol/games/"):
            split = (re.split(r"(?<=[.!?]) (?=[A-Z])", paragraph) for paragraph in paragraphs(text))
            count.update({sentence.strip() for sentences in split for sentence in sentences})
    repeated = {sentence for sentence, number in count.items() if number > 1 and len(sentence) >= SENTENCE}
    assert repeated == set()
