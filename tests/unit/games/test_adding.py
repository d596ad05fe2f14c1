"""The steps of the page 'Add a game': where one was not taken for a game, a test fails and names it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator

import pytest

from referee.games import GAMES
from tests.command import ROOT
from tests.rules.random_play import SETTINGS
from tests.tools.golden import file_of
from tests.unit.toys import Bid

PAGE = (ROOT / "referee" / "games" / "ADDING.md").read_text()
STEP = re.compile(r"^(\d+)\. \*\*(.+?)\.\*\* ", re.MULTILINE)


def text(path: str) -> str:
    """A file of the project, or nothing where it is missing."""
    return (ROOT / path).read_text() if (ROOT / path).is_file() else ""


def package_data(package: str) -> set[str]:
    """The files of a package that are no Python and are installed with it."""
    patterns = tomllib.loads(text("pyproject.toml"))["tool"]["setuptools"]["package-data"][package]
    folder = (ROOT / package.replace(".", "/")).resolve()
    return {str(path.relative_to(ROOT)) for pattern in patterns for path in folder.glob(pattern)}


def rules(slug: str) -> Iterator[str]:
    module = type(GAMES[slug]).__module__
    if not f"{module}.".startswith(f"referee.games.{slug}."):
        yield f"it is in `{module}`, expected `referee/games/{slug}`"


def table(slug: str) -> Iterator[str]:
    if GAMES[slug].slug != slug:
        yield f"its slug is `{GAMES[slug].slug}`, and it stands under `{slug}`"


def listed(slug: str) -> Iterator[str]:
    if f"- `games.{slug}" not in text("referee/MODULES.md"):
        yield f"no line `games.{slug}` in `referee/MODULES.md`"


def page(slug: str) -> Iterator[str]:
    found = text(f"protocol/games/{slug}.md")
    for piece in (f"(`{slug}`, rules {GAMES[slug].rules})", "## Options", "## Moves", "## News"):
        if piece not in found:
            yield f"no `{piece}` in `protocol/games/{slug}.md`"


def quoted(slug: str) -> list[str]:
    """The sessions that a game's page quotes."""
    return re.findall(r"<!-- transcript ([\w-]+) -->", text(f"protocol/games/{slug}.md"))


def session(slug: str) -> Iterator[str]:
    if not any(f"REF: game {slug} " in text(f"protocol/transcripts/{name}.txt") for name in quoted(slug)):
        yield f"`protocol/games/{slug}.md` quotes none in `protocol/transcripts/` of this game"


def options(slug: str) -> Iterator[str]:
    if not SETTINGS.get(slug):
        yield f"no row `{slug}` in `tests/rules/random_play.py`"


def golden_games(slug: str) -> Iterator[str]:
    for given in SETTINGS.get(slug, [{}]):
        if not file_of(slug, given).is_file():
            yield f"no `{file_of(slug, given).relative_to(ROOT)}`"


def slow_reference(slug: str) -> Iterator[str]:
    if not re.search(r"^class Slow", text(f"tests/rules/test_{slug}.py"), re.MULTILINE):
        yield f"no `class Slow` in `tests/rules/test_{slug}.py`"


def tournament(slug: str) -> Iterator[str]:
    files = (tomllib.loads(path.read_text()) for path in (ROOT / "tournaments").glob("*.toml"))
    if slug not in {file["tournament"].get("game") for file in files}:
        yield f'no file in `tournaments/` with `game = "{slug}"`'


def readme(slug: str) -> Iterator[str]:
    if not re.search(rf"^\| \[.+?\]\(protocol/games/{slug}\.md\)", text("README.md"), re.MULTILINE):
        yield f"no row with `protocol/games/{slug}.md` in its table of games"


def data(slug: str) -> Iterator[str]:
    beside = (path for path in (ROOT / "referee" / "games" / slug).rglob("*") if path.is_file())
    others = {str(path.relative_to(ROOT)) for path in beside if path.suffix not in (".py", ".pyc")}
    pages = {f"protocol/games/{slug}.md", *(f"protocol/transcripts/{name}.txt" for name in quoted(slug))}
    for file in sorted((others | pages) - package_data("referee.protocol") - package_data("referee")):
        yield f"`{file}` is not installed"


STEPS: dict[str, Callable[[str], Iterator[str]]] = {
    "Rules": rules,
    "Table": table,
    "List of modules": listed,
    "Page": page,
    "Session": session,
    "Options": options,
    "Golden games": golden_games,
    "Slow reference": slow_reference,
    "Tournament": tournament,
    "README": readme,
    "Package data": data,
}


def complaints(slug: str) -> list[str]:
    """What was not done for a game, each with the step's number and name."""
    return [
        f"step {number}, {name}: {what}"
        for number, (name, check) in enumerate(STEPS.items(), 1)
        for what in check(slug)
    ]


@pytest.mark.parametrize("slug", GAMES)
def test_every_step_was_taken(slug: str) -> None:
    assert not complaints(slug)


def test_every_game_among_the_modules_is_in_the_table() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "referee" / "games").rglob("*.py"))
    slugs = re.findall(r'^    slug = "(.+)"', sources, re.MULTILINE)
    assert sorted(slugs) == sorted(GAMES), "step 2, Table"


def test_the_steps_are_those_of_the_page() -> None:
    _, _, built_in = PAGE.partition("\n## Built in\n")
    assert STEP.findall(built_in) == [(str(number), name) for number, name in enumerate(STEPS, 1)]


def test_each_step_that_was_forgotten_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "toy", Bid())
    told = complaints("toy")
    for number, name in enumerate(STEPS, 1):
        assert any(line.startswith(f"step {number}, {name}: ") for line in told), name


def test_a_row_of_options_that_is_missing_is_the_only_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(SETTINGS, "evengroups")
    assert complaints("evengroups") == [
        "step 6, Options: no row `evengroups` in `tests/rules/random_play.py`"
    ]


def test_the_page_shows_the_example_as_it_is() -> None:
    shown = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(shown) == 1
    assert all(code in text("tests/outside/high_card.py") for code in shown)
