"""Playouts: games played on to their end, at random or by a policy, on the engines themselves. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from referee.core.seeds import Random
from referee.games.api import Outcome, Seat, State, share_beaten

M = TypeVar("M")

Policy = Callable[[State[M], Seat, Random], M]
"""Chooses a legal move for a seat that acts. It is given the full position, so what it may look at where
information is hidden is its own affair.
"""

_NO_MOVES: Mapping[Seat, Any] = {}


def at_random(state: State[M], seat: Seat, rng: Random) -> M:
    """The policy that plays at random, as the game's `sample` does."""
    return state.sample(seat, rng)


def step(
    state: State[M], rng: Random, moves: Mapping[Seat, M] = _NO_MOVES, policy: Policy[M] = at_random
) -> State[M]:
    """The next position: seats in `moves` play that move, other seats by the policy, chance at random.

    The game must not be over.
    """
    acting = state.to_act()
    if acting[0] < 0:
        return state.chance(state.draw(rng))
    return state.play({seat: moves[seat] if seat in moves else policy(state, seat, rng) for seat in acting})


def playout(state: State[M], rng: Random, policy: Policy[M] = at_random) -> Outcome:
    """The outcome of the game when all seats play on by a policy, at random if none is given."""
    while (outcome := state.outcome()) is None:
        state = step(state, rng, policy=policy)
    return outcome


def rewards(outcome: Outcome) -> tuple[float, ...]:
    """The reward of each seat, from −1 to 1: 1 for the first place, −1 for the last, evenly between, and
    tied seats share the mean of their places. A seat that plays alone gets 1 or −1.
    """
    return tuple(2 * share_beaten(outcome.ranks, seat) - 1 for seat in range(len(outcome.ranks)))
