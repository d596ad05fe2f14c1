"""Moves as numbers and positions as arrays: whole, the same moves as in the rules, and without a leak."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from referee import kit
from referee.encoding import ENCODINGS, Begun, Encoding, encoding_of
from referee.games import GAMES
from referee.games.floral.sides import BLOOMS_AT, FLOWERS, SYMBOLS
from referee.games.floral.state import FloralState
from referee.games.thetree.state import TreeState
from referee.games.thetree.tree import TILES
from referee.viewing.steps import steps_of
from tests.rules.random_play import CASES, NAMES
from tests.rules.twins import TWINS

HIDDEN = [case for case in CASES if not GAMES[case[0]].is_open and case[1].get("players") != "1"]
HIDDEN_NAMES = [name for name, case in zip(NAMES, CASES, strict=True) if case in HIDDEN]


def random_game(slug: str, given: dict[str, str], seed: int = 1) -> Iterator[kit.Position]:
    """The positions of a random game in which somebody acts."""
    rng = kit.Quick(seed)
    position = kit.new(slug, given, seed=seed)
    while not position.is_over:
        yield position
        position = position.play({seat: position.sample(rng, seat) for seat in position.to_act()})


def encoding_for(position: kit.Position) -> Encoding[Any]:
    return encoding_of(position.game, position.options)


def walked(encoding: Encoding[Any], state: kit.State[Any], seat: int, begun: Begun = ()) -> Iterator[Any]:
    """All moves that actions lead to."""
    for action in encoding.legal(state, seat, begun):
        move = encoding.move(state, seat, (*begun, action))
        if move is None:
            yield from walked(encoding, state, seat, (*begun, action))
        else:
            yield move


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_actions_lead_to_all_legal_moves_and_to_no_others(slug: str, given: dict[str, str]) -> None:
    compared = 0
    for position in islice(random_game(slug, given), 0, None, 7):
        encoding, state = encoding_for(position), position.state
        for seat in position.to_act():
            legal = list(islice(position.legal(seat), 401))
            if len(legal) <= 400:
                assert set(walked(encoding, state, seat)) == set(legal)
                compared += 1
    assert compared


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_every_move_is_spelled_in_legal_actions(slug: str, given: dict[str, str]) -> None:
    rng = kit.Quick(1)
    for position in islice(random_game(slug, given), 0, None, 3):
        encoding, state = encoding_for(position), position.state
        for seat in position.to_act():
            move = position.sample(rng, seat)
            spelled = encoding.spelled(state, seat, move)
            for number, action in enumerate(spelled):
                begun = spelled[:number]
                mask = encoding.mask(state, seat, begun)
                assert mask[action] == 1 and mask.sum() == len(encoding.legal(state, seat, begun))
                assert not begun or encoding.move(state, seat, begun) is None
            assert encoding.move(state, seat, spelled) == move


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_observations_are_numbers_from_0_to_1_in_named_parts(slug: str, given: dict[str, str]) -> None:
    before = None
    positions = list(islice(random_game(slug, given), 0, None, 3))
    encoding = encoding_for(positions[0])
    for position in positions:
        state = position.state
        for seat in range(position.seats):
            observation = encoding.observation(state, seat)
            assert observation.shape == (encoding.size,) and observation.dtype == np.float32
            assert observation.min() >= 0 and observation.max() <= 1
            parts = encoding.split(observation)
            assert [(part.name, part.shape) for part in encoding.parts] == [
                (name, values.shape) for name, values in parts.items()
            ]
            assert parts["to_act"][0] == (seat in position.to_act())
        # What a move changes is seen.
        assert before is None or not np.array_equal(before, observation)
        before = observation


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_what_was_begun_is_observed(slug: str, given: dict[str, str]) -> None:
    rng = kit.Quick(1)
    for position in islice(random_game(slug, given), 1, 8, 3):
        encoding, state, seat = encoding_for(position), position.state, position.to_act()[0]
        spelled = encoding.spelled(state, seat, position.sample(rng, seat))
        observations = [encoding.observation(state, seat, spelled[:n]).tobytes() for n in range(len(spelled))]
        assert len(set(observations)) == len(observations)


def test_the_board_of_blooms_is_seen_from_the_seat_s_side() -> None:
    position = kit.new("blooms", size=3).play("L:A1").play("L:A2 D:C5")
    encoding = encoding_for(position)
    for seat in (0, 1):
        board = encoding.split(encoding.observation(position.state, seat))["board"]
        light, dark = board[1:3] if seat else board[3:5]
        assert np.argwhere(light).tolist() == [[0, 1]] and np.argwhere(dark).tolist() == [[2, 4]]
        light, dark = board[3:5] if seat else board[1:3]
        assert np.argwhere(light).tolist() == [[0, 0]] and not dark.any()
        assert board[0].sum() == 19 and board[6].sum() == 2


def test_vines_are_seen_with_their_joins() -> None:
    position = kit.new("vinetree", size=5).play("C3 R U")
    board = encoding_for(position).split(encoding_for(position).observation(position.state, 0))["board"]
    flowers, vine, down, left, right, up, last = board[:7]
    assert np.argwhere(flowers).tolist() == [[1, 2], [2, 2], [2, 3]] and not vine.any()
    assert np.argwhere(down).tolist() == [[1, 2]] and np.argwhere(up).tolist() == [[2, 2]]
    assert np.argwhere(right).tolist() == [[2, 2]] and np.argwhere(left).tolist() == [[2, 3]]
    assert np.argwhere(last).tolist() == [[1, 2], [2, 3]]


@pytest.mark.parametrize("players", ["1", "2", "4"])
def test_the_tree_is_read_from_the_news_as_it_is(players: str) -> None:
    for position in islice(random_game("thetree", {"players": players}, seed=4), 0, None, 3):
        state, encoding = position.state, encoding_for(position)
        assert isinstance(state, TreeState)
        for seat in range(position.seats):
            parts = encoding.split(encoding.observation(state, seat))
            others = [(seat + number) % position.seats for number in range(position.seats)]
            assert [int(flag) for flag in parts["hand"]] == [
                state.table.hands[seat] >> n & 1 for n in range(36)
            ]
            found = np.round(parts["tiles"] * len(TILES)).astype(int)[: position.seats]
            assert found.tolist() == [state.table.hands[other].bit_count() for other in others]
            assert round(float(parts["supply"][0]) * len(TILES)) == len(state.table.supply)
            assert parts["laid"].sum() == len(state.table.tree.tiles) == parts["tree"][0].sum() / 2
            for (x, y), (left, right) in state.table.tree.tiles.items():
                rings = parts["tree"][1:, y, x + 35 : x + 37].astype(int)
                assert [int(pip + 2 * small + 4 * big) for pip, small, big in rings.T] == [left, right]
            for name, seats in (("finished", state.table.finished), ("passed", state.table.passed)):
                assert [bool(flag) for flag in parts[name][: position.seats]] == [o in seats for o in others]


def test_a_garden_is_read_from_the_news_as_it_is() -> None:
    guesses = 0
    for seed in range(2):
        given = {"goal": "3", "spells": "sum 3 3-21; sum 3 3-21; sum 3 3-21", "max_turns": "120"}
        for position in islice(random_game("floral", given, seed), 0, None, 7):
            state, encoding = position.state, encoding_for(position)
            assert isinstance(state, FloralState)
            for seat, side in enumerate(state.sides):
                other = state.sides[1 - seat]
                parts = encoding.split(encoding.observation(state, seat))
                for pot, flower in zip(parts["pots"], side.pots, strict=True):
                    kinds = [bool(flower and kind == flower.kind) for kind in FLOWERS]
                    assert pot[:5].astype(bool).tolist() == kinds
                    assert flower is None or round(pot[5] * BLOOMS_AT[flower.kind]) == flower.stage
                assert {kind for kind, was in zip(FLOWERS, parts["planted"], strict=True) if was} == {
                    *side.planted
                }
                stock = parts["stock"] * [5, 1, 6, 3, 3]
                expected = [side.picked, side.charge, side.needed, side.points, other.points]
                assert np.round(stock).tolist() == expected
                known = {SYMBOLS[1 - seat].index(symbol): other.identity(symbol) for symbol in side.guessed}
                assert {tuple(pair) for pair in np.argwhere(parts["known"]).tolist()} == {*known.items()}
                excluded = np.argwhere(parts["excluded"]).tolist()
                assert all(other.runes[symbol] != rune for symbol, rune in excluded)
                given_away = {side.identity(symbol) for symbol in other.guessed}
                assert {*np.flatnonzero(parts["given_away"]).tolist()} == given_away
                assert bool(parts["planting"][0]) == (state.planting and seat in position.to_act())
                assert round(parts["time"][0] * 120) == state.turn
                row = [int(np.argmax(cast[:8])) for cast in parts["own_casts"] if cast[:8].any()]
                assert all(a == b for a, b in zip(row, reversed(side.row), strict=False))
                guesses += len(excluded) + len(known)
    assert guesses, "else the parts for guesses were not compared"


@pytest.mark.slow
@pytest.mark.parametrize("slug", [slug for slug in TWINS if slug in ENCODINGS])
def test_a_seat_observes_nothing_of_what_it_cannot_know(slug: str) -> None:
    observed: list[list[bytes]] = []
    of_the_other: list[list[bytes]] = []
    for record in TWINS[slug]():
        encoding = encoding_of(record.terms.game, record.terms.options)
        states = [step.state for step in steps_of(record).steps if 0 in step.state.to_act()]
        assert len(states) > 3
        observed.append([encoding.observation(state, 0).tobytes() for state in states])
        observed[-1] += [encoding.mask(state, 0).tobytes() for state in states]
        of_the_other.append([encoding.observation(state, 1).tobytes() for state in states])
    assert observed[0] == observed[1]
    # Else this test would prove nothing: the games differ for seat 2.
    assert of_the_other[0] != of_the_other[1]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("slug", "given"), HIDDEN, ids=HIDDEN_NAMES)
def test_positions_that_a_seat_cannot_tell_apart_look_alike(slug: str, given: dict[str, str]) -> None:
    rng = kit.Quick(1)
    differ = 0
    for position in islice(random_game(slug, given), 0, 40, 13):
        encoding = encoding_for(position)
        for seat in range(position.seats):
            other = position.imagine(seat, rng)
            assert np.array_equal(
                encoding.observation(position.state, seat), encoding.observation(other.state, seat)
            )
            if seat in position.to_act():
                assert np.array_equal(encoding.mask(position.state, seat), encoding.mask(other.state, seat))
            elsewhere = (seat + 1) % position.seats
            differ += not np.array_equal(
                encoding.observation(position.state, elsewhere), encoding.observation(other.state, elsewhere)
            )
    assert differ, "the positions that were compared were not the same"


@pytest.mark.parametrize(("slug", "given"), HIDDEN, ids=HIDDEN_NAMES)
def test_what_was_observed_before_makes_no_difference(slug: str, given: dict[str, str]) -> None:
    one, other = (list(islice(random_game(slug, given, seed), 12)) for seed in (1, 2))
    encoding = encoding_for(one[0])
    for position in (*one, *other, *one[::-2]):
        for seat in range(position.seats):
            fresh = encoding_for(position).observation(position.state, seat)
            assert np.array_equal(encoding.observation(position.state, seat), fresh)


def test_every_built_in_game_has_an_encoding() -> None:
    assert set(ENCODINGS) == set(GAMES)
