"""The documents: their sections, and the search."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.pages import documents as module
from referee.pages.documents import documents, plain, search, sections, with_pages_named
from tests.command import referee

PAGE = """# Clocks

First words.

```sh
# not a heading
```

## The `reserve`, and more

A [link](other.md#there) to *reserve* time.

## Twice

## Twice
"""


@pytest.fixture
def one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "CLOCKS.md"
    path.write_text(PAGE)
    monkeypatch.setattr(module, "documents", lambda: {"clocks": path})


@pytest.mark.usefixtures("one_page")
def test_a_page_is_divided_at_its_headings() -> None:
    first, second, *others = sections("clocks")
    assert (first.title, second.title) == ("Clocks", "The `reserve`, and more")
    assert [section.title for section in others] == ["Twice", "Twice"]
    assert "# not a heading" in first.lines
    assert plain("\n".join(second.lines)) == "A link to *reserve* time."


@pytest.mark.usefixtures("one_page")
@pytest.mark.parametrize(
    ("words", "titles", "line"),
    [
        (["RESERVE"], ["The `reserve`, and more"], ""),
        (["twice"], ["Twice", "Twice"], ""),
        (["reserve", "link"], ["The `reserve`, and more"], "A link to *reserve* time."),
        (["words"], ["Clocks"], "First words."),
        (["reserve", "words"], [], ""),
        (["clocks"], ["Clocks"], ""),
    ],
)
def test_a_search_finds_the_sections_with_all_words(words: list[str], titles: list[str], line: str) -> None:
    hits = search(words)
    assert [hit.section.title for hit in hits] == titles
    assert not hits or hits[0].line == line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["protocoll"], "there is no page `protocoll`, expected `protocol`"),
        (
            ["not", "written anywhere"],
            "no page is named `not written anywhere` or contains it; `referee docs` lists the pages",
        ),
        (["\x1b[31m"], "no page is named `\\x1b[31m` or contains it; `referee docs` lists the pages"),
    ],
)
def test_what_is_nowhere_is_told(words: list[str], told: str) -> None:
    done = referee("docs", *words)
    assert (done.code, done.out, done.err) == (2, "", f"referee: {told}\n")


@pytest.mark.usefixtures("one_page")
def test_a_link_says_how_to_read_its_page_in_a_terminal() -> None:
    text = "[C](../CLOCKS.md#twice), [here](#twice), [x](x.md), [web](https://a.md), ![p](CLOCKS.md)"
    named = "C (`docs clocks`), here, [x](x.md), [web](https://a.md), ![p](CLOCKS.md)"
    assert with_pages_named(text) == named


def test_words_list_sections_and_the_start_of_a_name_is_enough() -> None:
    assert referee("docs", "first").out == documents()["first-bot"].read_text()
    assert referee("docs", "FIRST_BOT.md").out == documents()["first-bot"].read_text()
    rows = referee("docs", "reserve", "increment").out.splitlines()[2:]
    assert rows and {row.split()[0] for row in rows} <= set(documents())
