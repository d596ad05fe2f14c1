"""The sample bot that searches in The Tree has a table of its own, which has to agree with the engine."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest

from referee.core.seeds import Stream
from referee.games.api import State
from referee.games.thetree.state import TreeState
from referee.games.thetree.tree import tiles_of
from referee.kit import step
from tests.command import ROOT
from tests.rules.test_thetree import start


@cache
def bot() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tree_search_bot", ROOT / "sample_bots/tree_search_bot.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def games(count: int) -> list[list[TreeState]]:
    """Random games of two seats: the positions in which one is asked."""
    found = []
    rng = Stream(b"tree search")
    for _ in range(count):
        states: list[TreeState] = []
        state = start(2, deals=1)
        while state.outcome() is None:
            if state.to_act()[0] >= 0:
                assert isinstance(state, TreeState)
                states.append(state)
            state = step(state, rng)
        found.append(states)
    return found


def test_it_finds_the_legal_moves_and_who_gets_an_extra_turn() -> None:
    for states in games(6):
        for state in states:
            moves = bot().Table.of(state).moves(state.table.hands[state.table.acting])
            assert sorted(map(bot().written, moves)) == sorted(map(str, state.legal(state.table.acting)))
            for move in moves:
                laid = next(one for one in state.legal(state.table.acting) if str(one) == bot().written(move))
                assert state.table.tree.copy().lay(laid) == move[4]


def test_its_table_goes_on_like_the_tree() -> None:
    """A tile that is laid changes the places around it, holes below included."""
    for states in games(6):
        table = bot().Table.of(states[0])
        for before, state in pairwise(states):
            laid = state.table.last
            assert laid and before.table.tree.tiles != state.table.tree.tiles
            table.lay(laid.left, laid.right, laid.x + bot().ROW * laid.y)
            fits = {slot: spot.tiles for slot, spot in state.table.tree.spots.items()}
            assert {at: spot.tiles for at, spot in table.spots.items()} == {
                x + bot().ROW * y: tiles for (x, y), tiles in fits.items()
            }


def value(state: State[Any], seat: int) -> int:
    """The exact value of a deal for a seat, by trying everything with the engine."""
    if outcome := state.outcome():
        mine, others = outcome.ranks[seat], outcome.ranks[1 - seat]
        return others - mine
    (acting,) = state.to_act()
    values = [value(state.play({acting: move}), seat) for move in state.legal(acting)]
    return max(values) if acting == seat else min(values)


def small(hand: int) -> int:
    """The first three tiles of a hand."""
    return sum(1 << tile for tile in list(tiles_of(hand))[:3])


@pytest.mark.slow
def test_its_endgames_are_exact() -> None:
    tried = set()
    for states in games(15):
        for full in states[::5]:
            hands = list(map(small, full.table.hands))
            state = replace(full, table=replace(full.table, supply=(), hands=hands))
            me, table = state.table.acting, bot().Table.of(state)
            for move in table.moves(hands[me]):
                after = state.play({me: state.read(me, bot().written(move))})
                found = bot().Endgame(10_000).after(table, me, move, -1, 1)
                assert found == value(after, me)
                tried.add(found)
                with pytest.raises(bot().TooMany):
                    bot().Endgame(0).after(table, me, move, -1, 1)
    assert tried == {-1, 0, 1}
