"""The news lines that report a deal and its events to the seats. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from referee.games.api import Seat
from referee.games.thetree.tiles import NAMES, tiles_of
from referee.games.trail import Audience, TrailLines


def deal_lines(number: int, hands: tuple[int, ...], supply: int, audience: Audience) -> TrailLines:
    """The news of a deal: the number of tiles in the supply, and the hands that the audience may see."""
    told = [f"deal {number} {supply}"]
    for seat, hand in enumerate(hands):
        if hand and audience in (None, seat):
            told.append(f"hand {seat + 1} {' '.join(NAMES[tile] for tile in tiles_of(hand))}")
    return tuple(told)


def lines(told: TrailLines, private: Mapping[int, tuple[Seat, str]], audience: Audience) -> TrailLines:
    """Lines for an audience, with the private part appended to lines of its own seat."""
    if not private:
        return told
    found = list(told)
    for number, (seat, more) in private.items():
        if audience in (None, seat):
            found[number] += more
    return tuple(found)
