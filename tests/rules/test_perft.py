"""Lines of moves, counted: the tables of the games' pages, the engines and the slow implementations agree."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

import pytest

from referee.cli.options import key_values
from referee.gameplay.lines import moves_of
from referee.games import GAMES
from tests.command import ROOT, referee
from tests.rules.slow_lines import SLOW

QUICK = 1000
"""The most lines that are counted in a quick test."""

TOO_SLOW = 20_000
"""Larger counts of the slow implementations take minutes, but for Blooms, which counts a position fast."""


class Row(NamedTuple):
    """A row of a page's table."""

    slug: str
    arguments: tuple[str, ...]
    counts: tuple[int, ...]
    """By depth, from 1."""


def rows(slug: str) -> list[Row]:
    page = (ROOT / "protocol" / "games" / f"{slug}.md").read_text()
    section = page.partition("\n## Counts for testing a move generator\n")[2].partition("\n## ")[0]
    if start := re.search(r"^`START` stands for `(.+)`\.$", section, re.MULTILINE):
        section = section.replace("START", start[1])
    found = []
    for arguments, counts in re.findall(r"^\| (none|`.+`) \| (.+) \|$", section, re.MULTILINE):
        words = () if arguments == "none" else tuple(shlex.split(arguments.strip("`")))
        found.append(Row(slug, words, tuple(map(int, counts.replace("|", " ").split()))))
    return found


ROWS = [row for slug in GAMES for row in rows(slug)]
IDS = [f"{row.slug} {number}" for number, row in enumerate(ROWS)]


def counted(row: Row, depth: int) -> list[int]:
    """What the command counts."""
    done = referee("moves", row.slug, *row.arguments, "--perft", str(depth))
    assert done.code == 0, done.err
    head, *lines = done.out.splitlines()
    assert head.split() == ["depth", "lines"]
    depths, counts = zip(*(map(int, line.split()) for line in lines), strict=True)
    assert depths == tuple(range(1, len(depths) + 1))
    return list(counts)


def test_every_page_has_counts() -> None:
    assert {slug: len(rows(slug)) > 2 for slug in GAMES} == dict.fromkeys(GAMES, True)


def test_the_counts_of_the_pages_to_a_small_depth() -> None:
    for row in ROWS:
        depth = max(1, sum(count <= QUICK for count in row.counts))
        assert counted(row, depth) == list(row.counts[:depth]), row


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_counts_of_the_pages_are_those_of_the_engines_and_of_the_slow_implementations(row: Row) -> None:
    assert counted(row, len(row.counts)) == list(row.counts)
    outcomes = [
        after for before, after in zip(row.arguments, row.arguments[1:], strict=False) if before == "--chance"
    ]
    options = [
        after for before, after in zip(row.arguments, row.arguments[1:], strict=False) if before == "--option"
    ]
    position = SLOW[row.slug](key_values("option", tuple(options)), outcomes)
    line = moves_of(row.arguments[2 * (len(options) + len(outcomes)) :])
    while line:
        acting = len(position.turns()[0])
        position.play(tuple(line[:acting]))
        del line[:acting]
    for depth, count in enumerate(row.counts, 1):
        if count <= TOO_SLOW or row.slug == "blooms":
            assert position.lines(depth) == count
