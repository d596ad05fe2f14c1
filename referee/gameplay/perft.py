"""Counts the lines of moves from a position, to test move generators (a test known as perft). Pure.

A line of *n* turns is *n* turns one after another, each of which is a legal move of every seat that acts.
Chance is no turn: its outcomes are those that follow from the seeds, on every line as if it were a game of
its own. Lines that end the game earlier are not counted at later depths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from referee.gameplay.lines import LinePosition
from referee.games.api import Seat, State


def turns(state: State[Any], seats: tuple[Seat, ...] | None = None) -> Iterator[Mapping[Seat, Any]]:
    """The possible turns, lazily: the moves of the first seat that acts, with those of the others."""
    first, *rest = state.to_act() if seats is None else seats
    others = tuple(rest)
    for move in state.legal(first):
        if others:
            yield from ({first: move, **turn} for turn in turns(state, others))
        else:
            yield {first: move}


def moves_in_all(state: State[Any], seat: Seat) -> int:
    """Counts the legal moves of a seat, one by one where the game has no faster way."""
    count = state.count(seat)
    return sum(1 for _ in state.legal(seat)) if count is None else count


def lines_of(position: LinePosition, depth: int) -> int:
    """Counts the lines of `depth` turns, at least one, from a position."""
    state = position.state
    acting = state.to_act()
    if not acting:
        return 0
    if depth == 1:
        return prod(moves_in_all(state, seat) for seat in acting)
    return sum(lines_of(position.after(turn), depth - 1) for turn in turns(state))


def lines_by_depth(position: LinePosition, depth: int) -> Iterator[int]:
    """Counts the lines of 1, 2, … turns up to a depth; the last number is 0 if all lines end before."""
    for turns_each in range(1, depth + 1):
        lines = lines_of(position, turns_each)
        yield lines
        if not lines:
            return


def divided(position: LinePosition, depth: int) -> Iterator[tuple[Mapping[Seat, Any], int]]:
    """Each first turn with the number of lines of this many turns that begin with it."""
    if position.state.to_act():
        for turn in turns(position.state):
            yield turn, 1 if depth == 1 else lines_of(position.after(turn), depth - 1)
