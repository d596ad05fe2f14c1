"""Played games, and the pages of them, for tests and screenshots."""

from __future__ import annotations

from pathlib import Path

from tests.command import ROOT, referee

BOTS = {"blooms": "greedy", "evengroups": "even", "vinetree": "vine", "floral": "deducing", "thetree": "tree"}
"""By game, the sample bot that plays it well."""

SMALL = {
    "blooms": "size=3",
    "evengroups": "size=3",
    "vinetree": "size=5",
    "floral": "max_turns=12",
    "thetree": "deals=2",
}
"""By game, the option that makes it short."""


def played(slug: str, folder: Path, option: str) -> Path:
    """The results of a game between a good bot and one that plays at random."""
    bots = [f"{name}={{python}} {ROOT}/sample_bots/{name}_bot.py" for name in (BOTS[slug], "random")]
    words = ["--option", option] if option else []
    done = referee("match", slug, *bots, *words, "-n", "1", "--seed", "pages", "-o", str(folder))
    assert done.code == 0, done.err
    return folder
