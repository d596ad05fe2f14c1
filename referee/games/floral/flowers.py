"""Flowers and how they grow, pot by pot. Pure."""

from __future__ import annotations

from typing import NamedTuple

FLOWERS = {"A": "Azalea", "C": "Chrysanthemum", "H": "Hyacinth", "W": "Wisteria", "X": "Xanthium"}
BLOOMS_AT = {"A": 8, "C": 30, "H": 15, "W": 7, "X": 6}
"""The stage at which a flower blooms; none is reached within one casting phase."""

NONE = "-"  # the text for planting nothing and for an empty pot

POTS = 3

SUNNY, CHILLY, RAINY = 1, 2, 3
WEATHERS = {SUNNY: "sunny", CHILLY: "chilly", RAINY: "rainy"}


class Flower(NamedTuple):
    """A flower in its pot."""

    kind: str
    stage: int = 0
    watered: bool = False  # for an azalea: whether it was watered in the turn before
    grew: bool = True  # for an azalea: whether it grew in the turn before; true for a new flower
    known: int = 0  # for a xanthium: the triples of weather, water and fertilizer that it has had, a bit each

    def __str__(self) -> str:
        return f"{self.kind}{self.stage}"

    @property
    def blooms(self) -> bool:
        """Whether it blooms, and so leaves its pot."""
        return self.stage >= BLOOMS_AT[self.kind]

    def grown(self, weather: int, watered: bool, fertilized: bool) -> Flower:
        """The flower after a turn."""
        kind, stage, watered_before, grew_before, known = self
        grows = 0
        match kind:
            case "A":
                grew = weather != CHILLY and not (watered and watered_before)
                grows = 1 if grew else 0 if grew_before else -1
                return Flower(kind, max(0, stage + grows), watered, grew)
            case "C":
                grows = 1 + 2 * watered + 3 * fertilized
            case "H":
                grows = 2 if weather == SUNNY else -1 if weather == CHILLY else 0
            case "W":
                held = stage > 0 and ((stage % 2 == 0 and not watered) or (stage % 3 == 0 and not fertilized))
                grows = int(weather != CHILLY and not held)
            case "X":
                triple = 1 << (4 * (weather - 1) + 2 * watered + fertilized)
                return Flower(kind, stage + (not known & triple), False, True, known | triple)
        return Flower(kind, max(0, stage + grows))


Pots = tuple[Flower | None, ...]  # the pots of one seat, from left to right

Bloom = tuple[int, str]  # A pot, counted from 1, and the kind of the flower that bloomed in it


def with_flower(pots: Pots, kind: str) -> Pots:
    """The pots with a new flower in the leftmost empty one. Raises `ValueError` where none is empty."""
    at = pots.index(None)
    return (*pots[:at], Flower(kind), *pots[at + 1 :])


def pots_after_turn(
    pots: Pots, weather: int, water: int, fertilize: int, sabotaged: int
) -> tuple[Pots, tuple[Bloom, ...]]:
    """The pots after a turn, and what bloomed in them.

    Pots 1 to `water` are watered; `fertilize` and `sabotaged` are one pot each, 0 is none.
    """
    after: list[Flower | None] = []
    bloomed = []
    for pot, flower in enumerate(pots, 1):
        if flower is not None:
            watered = pot != sabotaged and (weather == RAINY or pot <= water)
            flower = flower.grown(weather, watered, pot == fertilize != sabotaged)
            if flower.blooms:
                bloomed.append((pot, flower.kind))
                flower = None
        after.append(flower)
    return tuple(after), tuple(bloomed)
