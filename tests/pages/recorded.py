"""Games that were played for the tests of pages, and the pages of them."""

from __future__ import annotations

from pathlib import Path

from referee.pages.replay_page import replay_page
from referee.records import journal
from referee.records.record import GameRecord, from_json, parse_json
from referee.viewing.knowledge import View
from referee.viewing.steps import Steps, steps_of
from tests.command import ROOT, in_python, referee

BOTS = {"blooms": "greedy", "evengroups": "even", "vinetree": "vine", "floral": "deducing", "thetree": "tree"}
"""By game, the sample bot that plays it well."""

SHORT = {
    "blooms": "size=3",
    "evengroups": "size=3",
    "vinetree": "size=5",
    "floral": "max_turns=12",
    "thetree": "deals=1",
}
"""By game, the option that makes it short."""


def play(slug: str, folder: Path, option: str = "") -> Path:
    """Plays a game between a good bot and one that plays at random; the folder with its record."""
    samples = ROOT / "sample_bots"
    bots = [f"{name}={in_python(samples / f'{name}_bot.py')}" for name in (BOTS[slug], "random")]
    words = ["--option", option] if option else []
    done = referee("match", slug, *bots, *words, "-n", "1", "--seed", "pages", "-o", str(folder))
    assert done.code == 0, done.err
    return folder


def records(folder: Path) -> list[GameRecord]:
    """The games of a run."""
    return [
        from_json(parse_json(line.text))
        for line in journal.read(folder)
        if line.text.startswith(b'{"kind":"game"')
    ]


def written(steps: Steps, path: Path, view: View = None, beside: Steps | None = None) -> Path:
    """Writes the page of a game, or of two beside each other."""
    path.write_text(replay_page(steps, view, beside=beside))
    return path


def only_game(folder: Path) -> Steps:
    """The one game of a run."""
    (record,) = records(folder)
    return steps_of(record)
