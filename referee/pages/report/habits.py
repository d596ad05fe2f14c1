"""What bots play: how often each plays each cell of a board, and with which moves its games begin. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from referee.core.settings import STANDARD_POINTS
from referee.games.api import State
from referee.games.picture import Mark, Plane, Point, Polygon, regular
from referee.records.record import Summary

OPENING_MOVES = 4  # with so many moves a game begins, in trees of openings

MOST_OPENINGS = 20  # so many beginnings of games are in the tree of a bot and a seat: the most frequent ones

FEWEST_GAMES = 2  # what fewer games began with is not in a tree

MOST_CELLS = 1000  # A board with more cells has no map

_WORD = re.compile(r"\w+")
_NAME = re.compile(r"\w{1,8}")
_ROUND_CELL = regular(12, 0.46)


class BoardCell(NamedTuple):
    """A cell of a board, with its name and its middle."""

    name: str
    x: float
    y: float


class Board(NamedTuple):
    """The cells on which a game is played."""

    cells: tuple[BoardCell, ...]
    shape: tuple[Point, ...]  # the corners of a cell, around its middle


def board_of(state: State[Any]) -> Board | None:
    """The board of a game in its first position: what is drawn there with a short name, such as `A1`; None
    where the picture has no such cells.
    """
    marks = [
        mark
        for panel in state.picture(None)
        if isinstance(panel, Plane)
        for mark in (*panel.ground, *panel.marks)
        if isinstance(mark, Mark) and mark.symbol and _NAME.fullmatch(mark.title)
    ]
    cells = tuple({mark.title: BoardCell(mark.title, mark.x, mark.y) for mark in marks}.values())
    if not 1 < len(cells) <= MOST_CELLS:
        return None
    first = marks[0].symbol.shapes[0] if marks[0].symbol and marks[0].symbol.shapes else None
    return Board(cells, first.points if isinstance(first, Polygon) else _ROUND_CELL)


def words_of(moves: Iterable[str]) -> dict[str, int]:
    """How often each word stands in moves; those that name cells are such words."""
    return dict(Counter(chain.from_iterable(map(_words, moves))))


@lru_cache(maxsize=10_000)
def _words(move: str) -> frozenset[str]:
    return frozenset(_WORD.findall(move))


class Opening(NamedTuple):
    """Moves with which games of a bot began."""

    moves: tuple[str, ...]
    games: int
    score: float  # what it scored in them, as a number of games won


def openings(games: Iterable[tuple[Summary, Sequence[str]]], bot: str, seat: int) -> list[Opening]:
    """The most frequent beginnings of a bot's games from a seat, each after what it continues."""
    counts: Counter[tuple[str, ...]] = Counter()
    scored: dict[tuple[str, ...], float] = defaultdict(float)
    for game, moves in games:
        if seat >= len(game.bots) or game.bots[seat] != bot:
            continue
        score = STANDARD_POINTS.of(game.ranks, seat)
        for length in range(1, len(moves) + 1):
            counts[tuple(moves[:length])] += 1
            scored[tuple(moves[:length])] += score
    frequent = [(moves, count) for moves, count in counts.items() if count >= FEWEST_GAMES]
    frequent.sort(key=lambda found: (-found[1], len(found[0]), found[0]))
    return [Opening(moves, count, scored[moves]) for moves, count in frequent[:MOST_OPENINGS]]
