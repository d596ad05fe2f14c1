"""Counts of the lines of moves from a position, made by the slow implementations of the games alone."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Self

from tests.rules.test_blooms import Slow as SlowBlooms
from tests.rules.test_evengroups import Slow as SlowEvenGroups
from tests.rules.test_floral import Slow as SlowFloral
from tests.rules.test_thetree import Slow as SlowTree
from tests.rules.test_thetree import tile_of
from tests.rules.test_vinetree import Slow as SlowVineTree

Turn = tuple[str, ...]
"""A move of every seat that acts, in the order of seats."""


class SlowPosition(ABC):
    """A position in a slow implementation; it plays in place, and what is tried is tried in a copy."""

    @abstractmethod
    def turns(self) -> list[Turn]:
        """Every turn that is possible."""

    @abstractmethod
    def play(self, turn: Turn) -> None:
        """Plays a turn, and what chance does after it."""

    def after(self, turn: Turn) -> Self:
        """The position after a turn."""
        position: Self = pickle.loads(pickle.dumps(self))  # faster than `deepcopy`
        position.play(turn)
        return position

    def lines(self, depth: int) -> int:
        """How many lines of so many turns there are."""
        if depth == 1:
            return len(self.turns())
        return sum(self.after(turn).lines(depth - 1) for turn in self.turns())


class Blooms(SlowPosition):
    """Every placement of one stone, or of two, on cells that have none."""

    def __init__(self, options: Mapping[str, str], chance: Sequence[str]) -> None:
        self.slow = SlowBlooms(int(options.get("size", "4")))
        self.target = int(options.get("target", 5 * int(options.get("size", "4")) - 5))
        self.captured = {1: 0, 2: 0}
        self.is_first = True

    def turns(self) -> list[Turn]:
        if max(self.captured.values()) >= self.target:
            return []
        empty = [cell for cell in self.slow.near if cell not in self.slow.stones]
        single: list[Turn] = [(f"{colour}:{cell}",) for cell in empty for colour in "LD"]
        pairs: list[Turn] = [(f"L:{one} D:{other}",) for one in empty for other in empty if one != other]
        return single if self.is_first else [*single, *pairs]

    def play(self, turn: Turn) -> None:
        mover = self.slow.mover
        self.captured[mover] += len(self.slow.play(turn[0]))
        self.is_first = False


class VineTree(SlowPosition):
    """Every pair of vines that fits."""

    def __init__(self, options: Mapping[str, str], chance: Sequence[str]) -> None:
        self.slow = SlowVineTree(int(options.get("size", "9")), options.get("bend", "excluded"))

    def turns(self) -> list[Turn]:
        return [(text,) for text in sorted(self.slow.legal())]

    def play(self, turn: Turn) -> None:
        self.slow.play(turn[0])


class EvenGroups(SlowPosition):
    """Every placement after which the number of groups is odd."""

    def __init__(self, options: Mapping[str, str], chance: Sequence[str]) -> None:
        self.slow = SlowEvenGroups(int(options.get("size", "5")))

    def turns(self) -> list[Turn]:
        return [(text,) for text in sorted(self.slow.legal())]

    def play(self, turn: Turn) -> None:
        self.slow.play(turn[0])


class Floral(SlowPosition):
    """Every submission of one seat with every one of the other."""

    def __init__(self, options: Mapping[str, str], chance: Sequence[str]) -> None:
        runes = dict(enumerate(chance[0].split(), 1))
        goal, most = int(options.get("goal", "4")), int(options.get("max_turns", "200"))
        self.slow = SlowFloral(options["spells"].split("; "), runes, goal, most)

    def turns(self) -> list[Turn]:
        asked = sorted(self.slow.asked())
        return list(product(*(sorted(self.slow.legal(seat)) for seat in asked))) if asked else []

    def play(self, turn: Turn) -> None:
        self.slow.submit(dict(zip(sorted(self.slow.asked()), turn, strict=True)))


class TheTree(SlowPosition):
    """Every tile of the hand, both ways round, wherever it fits; the deals are given."""

    def __init__(self, options: Mapping[str, str], chance: Sequence[str]) -> None:
        players, deals = int(options.get("players", "2")), int(options.get("deals", "10"))
        self.slow = SlowTree(players, deals, options.get("places", "all"))
        self.deals = list(chance)
        self.deal()

    def deal(self) -> None:
        """Deals as long as that is what comes next."""
        while self.slow.mover is None and not self.slow.over:
            self.slow.deal([tile_of(text) for text in self.deals.pop(0).split()])

    def turns(self) -> list[Turn]:
        return [] if self.slow.over else [(text,) for text in sorted(self.slow.moves)]

    def play(self, turn: Turn) -> None:
        self.slow.play(turn[0])
        self.deal()


SLOW: dict[str, type[Blooms | VineTree | EvenGroups | Floral | TheTree]] = {
    "blooms": Blooms,
    "vinetree": VineTree,
    "evengroups": EvenGroups,
    "floral": Floral,
    "thetree": TheTree,
}
"""The slow positions of each game, made from its options and the outcomes of chance."""
