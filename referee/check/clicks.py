"""Which moves can be chosen without typing, by clicks and buttons on its page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, TypeVar

from referee.check.rules import is_chance, random_game
from referee.core.seeds import Stream
from referee.core.text import listed, shown
from referee.games.api import Chosen, Game, Options, Seat, State
from referee.games.picture import parts_of_picture
from referee.viewing.ghosts import MOST_MOVES

M = TypeVar("M")

_TURNS = 40  # how many turns of a random game are looked at
_MOVES = 5  # how many random moves of each seat that acts


def remark(game: Game[Any], options: Options) -> str:
    """Says which legal moves of a random game have to be typed; empty where there is none."""
    typed = []
    looked_at = 0
    rng = Stream(b"clicks")
    for state in islice(random_game(game, options, "clicks"), _TURNS):
        for seat in () if is_chance(state) else state.to_act():
            for move in (state.sample(seat, rng) for _ in range(_MOVES)):
                looked_at += 1
                if not is_reached(state, seat, move):
                    typed.append(f"`{shown(state.write(move), 40)}`")
    if not typed:
        return ""
    some = listed(list(dict.fromkeys(typed))[:3])
    return (
        f"persons have to type {len(typed)} of {looked_at} random moves, such as {some}: give marks of the "
        "picture a `part`, so that they can click"
    )


def is_reached(state: State[M], seat: Seat, move: M) -> bool:
    """Whether a person can choose a legal move without typing."""
    chosen = clicked(state, seat, parts_to_click(state, seat, move))
    return chosen is not None and move in chosen.moves and len(chosen.moves) <= MOST_MOVES


def parts_to_click(state: State[M], seat: Seat, move: M) -> list[str]:
    """The parts of a move that the picture has."""
    shown_parts = parts_of_picture(state.picture(seat))
    return [part for part in state.parts(move) if part in shown_parts]


def clicked(state: State[M], seat: Seat, parts: Sequence[str]) -> Chosen[M] | None:
    """What can follow after clicks on these parts, one after the other; None where one cannot be clicked."""
    chosen = state.chosen(seat, ())
    for number, part in enumerate(parts, 1):
        if part not in chosen.next:
            return None
        chosen = state.chosen(seat, parts[:number])
    return chosen
