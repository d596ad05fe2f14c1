"""The news lines that report a deal and its events to the seats. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from referee.core.text import counted, listed
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


def in_words(line: str) -> str:
    """A line of news as a sentence."""
    match line.split(" "):
        case ["deal", number, supply]:
            return f"deal {number}: {counted(int(supply), 'tile')} in the supply"
        case ["hand", seat, *tiles]:
            return f"seat {seat} holds {listed(tiles)}"
        case ["opened", seat, move]:
            return f"seat {seat} opened with {move}"
        case ["move", seat, move]:
            return f"seat {seat} laid {move}"
        case ["drew", seat, *tile]:
            return f"seat {seat} drew {tile[0] if tile else 'a tile'}"
        case ["passed" | "finished" as what, seat]:
            return f"seat {seat} {what}"
        case ["out", seat]:
            return f"seat {seat} is out"
        case ["out", *seats]:
            return f"seats {', '.join(seats)} are out"
        case ["blocked"]:
            return "the deal is blocked"
        case _:
            return line


def lines(told: TrailLines, private: Mapping[int, tuple[Seat, str]], audience: Audience) -> TrailLines:
    """Lines for an audience, with the private part appended to lines of its own seat."""
    if not private:
        return told
    found = list(told)
    for number, (seat, more) in private.items():
        if audience in (None, seat):
            found[number] += more
    return tuple(found)
