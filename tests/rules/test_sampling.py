"""The legal moves that a bot is shown: all of them in their order, or a random sample of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.check.rules import is_chance, random_game
from referee.core.seeds import Stream
from referee.games import GAMES
from referee.games.api import State
from referee.games.sampling import MAX_LEGAL, distinct, legal_moves
from tests.rules.random_play import CASES, NAMES


def positions(slug: str, given: dict[str, str]) -> Iterator[State[Any]]:
    """Positions of a random game in which somebody is asked for a move."""
    game = GAMES[slug]
    states = random_game(game, game.settle(given), "sampling")
    return islice((state for state in states if state.to_act() and not is_chance(state)), 0, 40, 3)


class Counting(Stream):
    """Counts how often it is asked for a number."""

    def __init__(self, key: bytes) -> None:
        super().__init__(key)
        self.asked = 0

    def below(self, n: int) -> int:
        self.asked += 1
        return super().below(n)


@given(st.integers(0, 3000), st.integers(0, 3000), st.binary())
def test_distinct_numbers_differ_and_are_below_their_total(total: int, count: int, key: bytes) -> None:
    count = min(total, count)
    rng = Counting(key)
    numbers = distinct(total, count, rng)
    assert len(numbers) == len(set(numbers)) == count
    assert all(0 <= number < total for number in numbers)
    assert rng.asked == count, "what it costs depends on the size of the sample alone"
    assert numbers == distinct(total, count, Stream(key))


def test_every_choice_of_distinct_numbers_in_every_order_is_as_likely() -> None:
    rng = Stream(b"orders")
    orders = Counter(tuple(distinct(5, 3, rng)) for _ in range(60_000))
    assert set(orders) == set(permutations(range(5), 3))
    assert sum((count - 1000) ** 2 / 1000 for count in orders.values()) < 98.3  # chi², 59 degrees, p = 0.001


@pytest.mark.quick_cases(7)
@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_a_list_is_all_moves_in_their_order_or_a_sample_of_them(slug: str, given: dict[str, str]) -> None:
    for state in positions(slug, given):
        for seat in state.to_act():
            moves = list(islice(state.legal(seat), MAX_LEGAL + 1))
            few = len(moves) <= MAX_LEGAL
            for most in (None, 1, 7, len(moves), 5000):
                shown = legal_moves(state, seat, most, Stream(b"list"))
                cap = MAX_LEGAL if most is None else min(most, MAX_LEGAL)
                assert len(set(shown.moves)) == len(shown.moves)
                assert all(state.read(seat, state.write(move)) == move for move in shown.moves[:50])
                assert shown.sampled == (len(moves) > cap)
                assert shown == legal_moves(state, seat, most, Stream(b"list"))
                if few:
                    assert shown.total == len(moves) and len(shown.moves) == min(cap, len(moves))
                    assert set(shown.moves) <= set(moves)
                    if not shown.sampled:
                        assert list(shown.moves) == moves
                else:
                    assert shown.total == state.count(seat) and 1 <= len(shown.moves) <= cap
                    assert shown.total is None or len(shown.moves) == cap


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_moves_are_picked_by_their_numbers_in_the_order_of_all(slug: str, given: dict[str, str]) -> None:
    rng = Stream(b"pick")
    for state in positions(slug, given):
        for seat in state.to_act():
            moves = list(islice(state.legal(seat), 4000))
            numbers = [rng.below(len(moves)) for _ in range(30)] + [0, len(moves) - 1]
            assert state.pick(seat, numbers) == [moves[number] for number in numbers]
            assert state.pick(seat, []) == []


@pytest.mark.parametrize(
    ("slug", "given", "moves"),
    [
        ("blooms", {"size": "3"}, ["L:A1"]),  # counted
        ("evengroups", {"size": "2"}, ["O:B2"]),  # gone through
    ],
)
def test_every_move_is_as_likely_in_a_sample(slug: str, given: dict[str, str], moves: list[str]) -> None:
    game = GAMES[slug]
    state = game.start(game.settle(given))
    for text in moves:
        (seat,) = state.to_act()
        state = state.play({seat: state.read(seat, text)})
    (seat,) = state.to_act()
    legal = list(state.legal(seat))
    rng = Stream(b"uniform")
    rounds, size = 12 * len(legal), 10
    found = Counter(move for _ in range(rounds) for move in legal_moves(state, seat, size, rng).moves)
    assert set(found) == set(legal) and found.total() == rounds * size
    expected = rounds * size / len(legal)
    chi2 = sum((found[move] - expected) ** 2 / expected for move in legal)
    degrees = len(legal) - 1
    assert chi2 < degrees + 3.1 * (2 * degrees) ** 0.5 + 4  # p below 0.001


def test_more_moves_than_may_be_shown_are_counted_or_their_number_is_unknown() -> None:
    for slug, opening in (("blooms", "L:E5"), ("evengroups", "O:E5")):
        game = GAMES[slug]
        state = game.start(game.settle({"size": "5"}))
        state = state.play({0: state.read(0, opening)})
        shown = legal_moves(state, 1, None, Stream(b"many"))
        assert shown.sampled and len(set(shown.moves)) == len(shown.moves) > 1000
        assert shown.total == (60 * 61 if slug == "blooms" else None)
