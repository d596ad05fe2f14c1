"""The documents: sections and anchors, the search, and the HTML pages made of them."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from referee.pages import documents as module
from referee.pages.documents import Anchors, documents, plain, search, sections, with_pages_named
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
    found = {section.anchor: section for section in sections("clocks")}
    assert list(found) == ["clocks", "the-reserve-and-more", "twice", "twice-1"]
    assert "# not a heading" in found["clocks"].lines
    assert plain("\n".join(found["the-reserve-and-more"].lines)) == "A link to *reserve* time."


@pytest.mark.usefixtures("one_page")
@pytest.mark.parametrize(
    ("words", "anchors", "line"),
    [
        (["RESERVE"], ["the-reserve-and-more"], ""),
        (["twice"], ["twice", "twice-1"], ""),
        (["reserve", "link"], ["the-reserve-and-more"], "A link to *reserve* time."),
        (["words"], ["clocks"], "First words."),
        (["reserve", "words"], [], ""),
        (["clocks"], ["clocks"], ""),
    ],
)
def test_a_search_finds_the_sections_with_all_words(words: list[str], anchors: list[str], line: str) -> None:
    hits = search(words)
    assert [hit.section.anchor for hit in hits] == anchors
    assert not hits or hits[0].line == line


def test_repeated_headings_get_numbers() -> None:
    anchors = Anchors()
    assert [anchors.of(text) for text in ("A b", "`A` b!", "c")] == ["a-b", "a-b-1", "c"]


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


@pytest.mark.slow
def test_every_link_of_the_html_pages_leads_to_a_page_and_a_heading(tmp_path: Path) -> None:
    site = tmp_path / "new" / "site"
    assert referee("docs", "--html", str(site)).code == 0
    pages = {path.name: path.read_text() for path in site.iterdir()}
    assert set(pages) == {"index.html", *(f"{name}.html" for name in documents())}
    ids = {name: set(re.findall(r' id="([^"]*)"', text)) for name, text in pages.items()}
    internal = 0
    for name, text in pages.items():
        assert ' style="' not in text, f"{name}: the policy does not allow it"
        assert "<img" not in text or 'src="data:image/svg+xml;base64,' in text
        for target in re.findall(r'<a href="([^"]*)"', text):
            page, _, anchor = html.unescape(target).partition("#")
            if not re.match(r"https?:", page):
                internal += 1
                assert (page or name) in pages, f"{name}: {target}"
                assert not anchor or anchor in ids[page or name], f"{name}: {target}"
    assert internal > 200
    assert referee("docs", "--html", str(site)).code == 0, "they are written again"
    (site / "index.html").write_text("mine")
    again = referee("docs", "--html", str(site))
    assert (again.code, (site / "index.html").read_text()) == (2, "mine")
