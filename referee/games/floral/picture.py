"""A position of Floral Extract as a person sees it: both gardens, as far as a seat knows them."""

from __future__ import annotations

from collections.abc import Sequence

from referee.games.api import Seat
from referee.games.floral.flowers import BLOOMS_AT, FLOWERS, NONE, POTS, WEATHERS, Flower
from referee.games.floral.sides import Side
from referee.games.picture import Paint, Picture, Span, row_of
from referee.games.trail import Audience

_INKS: tuple[Paint, Paint] = ("seat1", "seat2")


def picture(
    sides: tuple[Side, Side], goal: int, turn: int, weather: int, news: Sequence[str], audience: Audience
) -> Picture:
    """Each garden with its runes, points and charge. The news are those of the seat that looks."""
    sky = f", {WEATHERS[weather]}" if audience is None else ""
    lines: list[list[Span]] = [[Span(f"turn {turn}{sky}", "faint")]]
    for seat in (0, 1):
        lines += _bed(sides, seat, goal, news, audience)
    return tuple(row_of(*line) for line in lines)


def _bed(
    sides: tuple[Side, Side], seat: Seat, goal: int, news: Sequence[str], audience: Audience
) -> list[list[Span]]:
    side, ink = sides[seat], _INKS[seat]
    points = f"{side.points} of {goal} guessed"
    if audience in (None, seat):
        pots = [_pot(flower) for flower in side.pots]
        charge = "a charge to guess" if side.charge else f"needs {side.needed} different runes"
        points += f", {side.picked} picked, {charge}"
        runes = [f"{s}{i}" for s, i in zip(side.symbols, side.runes, strict=False)]
    else:
        told = [line for line in news if line.startswith("stages ")]
        pots = told[-1].split()[2:] if told else ["?"] * POTS
        guessed = sides[1 - seat].guessed
        runes = [f"{s}{i if s in guessed else '?'}" for s, i in zip(side.symbols, side.runes, strict=False)]
    cells = "  ".join(f"[{pot:^18}]" for pot in pots)
    return [
        [Span(f"seat {seat + 1}: ", ink), Span(points)],
        [Span("  pots  "), Span(cells, ink)],
        [Span("  runes "), Span(" ".join(runes), ink)],
    ]


def _pot(flower: Flower | None) -> str:
    return NONE if flower is None else f"{FLOWERS[flower.kind]} {flower.stage}/{BLOOMS_AT[flower.kind]}"
