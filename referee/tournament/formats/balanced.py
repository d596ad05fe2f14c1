"""Balanced tables for games of more than two seats: fewer than all groups, but as even as can be. Pure.

In each round every bot sits at the same number of tables, the least that is possible, and no two tables have
the same bots. The games of a table are the rotations of its seats, so each bot has each seat equally often.
How often two bots meet is as even as a search finds it, over all rounds so far, and so is how often a bot
moves directly after another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations
from math import lcm

import numpy as np
import numpy.typing as npt

from referee.core.seeds import Stream, derive
from referee.tournament.formats.section import SectionState
from referee.tournament.schedule import Encounter

SeatedBots = tuple[int, ...]  # the numbers of the bots, in the order of their seats

TRIES = 6  # how many arrangements of a round are improved at most; the best is taken

_Counts = npt.NDArray[np.int64]


def balanced(section: SectionState, rounds: int) -> Iterator[Encounter]:
    """The encounters, round by round; they follow from the names, in whatever order these are given."""
    order = sorted(section.names)
    for number, tables in enumerate(islice(_rounds(len(order), section.seats), rounds), 1):
        for table in tables:
            yield section.encounter(number, tuple(order[bot] for bot in table))


def balanced_encounters(bots: int, seats: int, rounds: int) -> int:
    """Counts the encounters of the schedule."""
    return rounds * (lcm(bots, seats) // seats)


def _rounds(bots: int, seats: int) -> Iterator[list[SeatedBots]]:
    """The tables of each round, without an end."""
    meetings = np.zeros((bots, bots), np.int64)
    follows = np.zeros((bots, bots), np.int64)
    stream = Stream(derive(b"balanced tables", str(bots), str(seats)))
    while True:
        tables = _best_round(meetings, seats, stream)
        meetings = _with_meetings(meetings, tables)
        yield [_seated(table, follows) for table in tables.tolist()]


def _best_round(meetings: _Counts, seats: int, stream: Stream) -> _Counts:
    """The tables of the next round, a row each, with pairs that have met as evenly as the search finds."""
    bots = len(meetings)
    count = lcm(bots, seats) // seats
    pairs = bots * (bots - 1) // 2
    total = int(meetings.sum()) // 2 + count * seats * (seats - 1) // 2
    least = _cost_of_even(total, pairs)
    best: tuple[int, _Counts] | None = None
    for _ in range(TRIES):
        order = list(range(bots))
        stream.shuffle(order)
        # Tables of neighbours in a circle of all bots: no two are the same.
        tables = np.array([order[place % bots] for place in range(count * seats)]).reshape(count, seats)
        _improve(tables, meetings)
        counts = _with_meetings(meetings, tables)
        cost = int((counts * counts).sum()) // 2
        if best is None or cost < best[0]:
            best = cost, tables
        if cost == least:
            break
    assert best is not None
    return best[1]


def _cost_of_even(total: int, pairs: int) -> int:
    """The least sum of squares of this many whole numbers with this total."""
    each, more = divmod(total, pairs)
    return (pairs - more) * each * each + more * (each + 1) * (each + 1)


def _with_meetings(meetings: _Counts, tables: _Counts) -> _Counts:
    """Counts how often each pair of bots has met, with these tables included."""
    counts = meetings.copy()
    np.add.at(counts, (tables[:, :, None], tables[:, None, :]), 1)
    np.fill_diagonal(counts, 0)
    return counts


def _improve(tables: _Counts, meetings: _Counts) -> None:
    """Exchanges bots between the tables as long as that makes the sum of squares of the meetings smaller."""
    count, seats = tables.shape
    counts = _with_meetings(meetings, tables)
    unchanged = 0
    place = 0
    while unchanged < count * seats:
        one, seat = divmod(place, seats)
        place = (place + 1) % (count * seats)
        unchanged += 1
        gains = _gains(tables, counts, one, seat)
        for target in np.argsort(-gains, axis=None, kind="stable"):
            other, other_seat = divmod(int(target), seats)
            if gains[other, other_seat] <= 0:
                break
            tables[one, seat], tables[other, other_seat] = tables[other, other_seat], tables[one, seat]
            if _are_distinct(tables):
                counts = _with_meetings(meetings, tables)
                unchanged = 0
                break
            tables[one, seat], tables[other, other_seat] = tables[other, other_seat], tables[one, seat]


def _are_distinct(tables: _Counts) -> bool:
    return len(np.unique(np.sort(tables, axis=1), axis=0)) == len(tables)


def _gains(tables: _Counts, counts: _Counts, one: int, seat: int) -> _Counts:
    """Computes for each table and seat by how much half the sum of squares of the meetings falls when the bot
    there and that in this seat of this table change places; negative where they cannot.
    """
    bot = tables[one, seat]
    others = np.delete(tables[one], seat)
    loses = counts[bot, others].sum() - counts[tables][:, :, others].sum(axis=2)
    meets = counts[bot][tables]
    at_table = counts[tables[:, :, None], tables[:, None, :]].sum(axis=2)
    wins = at_table - (meets.sum(axis=1, keepdims=True) - meets)
    # Each pair that comes apart lowers the sum by one more, each that comes together raises it by one more.
    shared = np.isin(tables, others).sum(axis=1, keepdims=True)
    gains = loses + wins - 2 * (len(others) - shared)
    impossible = np.isin(tables, tables[one]) | (tables == bot).any(axis=1, keepdims=True)
    gains[impossible] = -1
    return np.asarray(gains)


def _seated(table: Sequence[int], follows: _Counts) -> SeatedBots:
    """The bots of a table by seat: of all orders around the table, the first in which those that move one
    after the other did so least often. Adds them to `follows`: how often a bot moved right after another.
    """
    first, *others = sorted(table)
    orders = [(first, *some) for some in permutations(others)]

    def cost(order: SeatedBots) -> int:
        return int(sum(follows[pair] for pair in zip(order, order[1:] + order[:1], strict=True)))

    order = min(orders, key=cost)
    for pair in zip(order, order[1:] + order[:1], strict=True):
        follows[pair] += 1
    return order
