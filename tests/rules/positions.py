"""Positions by hand: moves as texts, and why a text is no legal move."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from referee.games.api import Refusal, Seat, State

S = TypeVar("S", bound=State[Any])


def play(state: S, *moves: str) -> S:
    """The position after these moves, each of the one seat that acts."""
    for text in moves:
        (seat,) = state.to_act()
        state = cast("S", state.play({seat: state.read(seat, text)}))
    return state


def reason_of(state: State[Any], seat: Seat, text: str) -> str | None:
    """Why a text is refused; None for a legal move."""
    try:
        state.read(seat, text)
    except Refusal as refusal:
        assert refusal.sentence.isprintable() and len(refusal.sentence) < 200
        return refusal.reason
    return None
