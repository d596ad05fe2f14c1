"""Balanced tables: who meets whom and who sits where, counted."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.tournament.formats import SectionState
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.schedule import Encounter


def rounds_of(names: str, seats: int, rounds: int) -> list[list[Encounter]]:
    found: list[list[Encounter]] = [[] for _ in range(rounds)]
    for step in RoundRobin(rounds, "balanced").schedule(SectionState({}, names, seats)):
        assert isinstance(step, Encounter)
        found[step.games[0].number - 1].append(step)
    return found


def spreads(rounds: list[list[Encounter]], names: str) -> list[int]:
    """After each round, how often those pairs met that met most, less those that met least."""
    meetings: Counter[tuple[str, ...]] = Counter()
    found = []
    for encounters in rounds:
        for one in encounters:
            meetings.update(combinations(sorted(one.games[0].bots), 2))
        counts = [meetings[pair] for pair in combinations(sorted(names), 2)]
        found.append(max(counts) - min(counts))
    return found


@pytest.mark.slow
@given(st.integers(3, 9), st.integers(3, 4), st.integers(1, 3))
def test_in_each_round_each_bot_sits_equally_often_at_tables_and_in_seats(
    bots: int, seats: int, rounds: int
) -> None:
    names = "abcdefghi"[: max(bots, seats)]
    for encounters in rounds_of(names, seats, rounds):
        tables = Counter(bot for one in encounters for bot in one.games[0].bots)
        assert len(tables) == len(names) and len(set(tables.values())) == 1
        # There is no smaller number of tables with which that is possible.
        assert not any(few * seats % len(names) == 0 for few in range(1, len(encounters)))
        assert len({frozenset(one.games[0].bots) for one in encounters}) == len(encounters)
        taken = Counter(
            (bot, seat) for one in encounters for game in one.games for seat, bot in enumerate(game.bots)
        )
        assert len(taken) == len(names) * seats and len(set(taken.values())) == 1


@pytest.mark.slow
def test_nine_bots_at_tables_of_four_meet_and_follow_each_other_almost_equally_often() -> None:
    names = "abcdefghi"
    rounds = rounds_of(names, 4, 8)
    assert [len(encounters) for encounters in rounds] == [9] * 8
    assert max(spreads(rounds, names)) <= 2
    assert spreads(rounds, names)[0] == 1  # 54 meetings of 36 pairs
    follows: Counter[tuple[str, str]] = Counter()
    for one in (one for encounters in rounds for one in encounters):
        bots = one.games[0].bots
        follows.update(zip(bots, bots[1:] + bots[:1], strict=True))
    counts = [follows[pair] for pair in permutations(names, 2)]
    assert sum(counts) == 8 * 9 * 4 and max(counts) - min(counts) <= 2


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("bots", "seats", "rounds", "most"),
    [
        (9, 3, 8, 1),
        (16, 4, 8, 2),
        (8, 4, 7, 2),
        (5, 4, 4, 0),
        (7, 3, 3, 1),
        (10, 4, 6, 2),
        (12, 3, 8, 2),
        (6, 4, 6, 1),
    ],
)
def test_pairs_meet_almost_equally_often(bots: int, seats: int, rounds: int, most: int) -> None:
    names = "abcdefghijklmnop"[:bots]
    assert max(spreads(rounds_of(names, seats, rounds), names)) <= most


def test_tables_follow_from_the_names_in_any_order_and_more_rounds_leave_them_as_they_are() -> None:
    assert rounds_of("hgfedcba", 3, 2) == rounds_of("abcdefgh", 3, 3)[:2]
    # Runs that are continued rely on these tables: they may not change from one version to the next.
    tables = ["".join(one.games[0].bots) for one in rounds_of("abcdefghi", 4, 1)[0]]
    assert tables == ["cdfh", "bdeh", "efgi", "abgd", "aghf", "acbi", "chig", "adie", "bcfe"]


def test_a_round_that_cannot_be_improved_ends_the_search_for_it() -> None:
    """How much of the stream a round uses decides the tables of the next, which continued runs rely on."""
    second = rounds_of("abcd", 3, 2)[1]
    assert ["".join(one.games[0].bots) for one in second] == ["abd", "bcd", "adc", "acb"]
