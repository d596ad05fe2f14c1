"""The method of tuning, asked and told: all parameters are moved at once by the results of pairs of games.
Pure.

It is SPSA, simultaneous perturbation stochastic approximation (J. C. Spall, 1992).
Parameters are shares of their ranges, from 0 to 1. In pair k of N, one side plays with x + cₖf, the other
with x − cₖf, where each of f is 1 or −1 by chance; then x moves by Rₖcₖ(wins − losses)f. The gains

    cₖ = c (N/k)^γ                                   c = 0.1, γ = 0.101
    Rₖ = r ((A + N)/(A + k))^α (c/cₖ)²               A = 0.1 N, α = 0.602
    r = min(0.02, 1.265/√(parameters × games))

follow from the number of games. The form is that of engine testers (fishtest), whose own constants barely
move within thousands of games; these were chosen by simulated games with 2 to 10 parameters, gains from 0 to
40 Elo, and surfaces that are steeper beyond the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from referee.core.seeds import Random

ALPHA, GAMMA = 0.602, 0.101

LAST_SPREAD = 0.1
"""How far each side is from the values at the last pair, as a share of the range."""

Shares = tuple[float, ...]
"""The values of all parameters, as shares of their ranges."""


class Spsa:
    """The course of the values. Several pairs may be asked for before the first of them is told."""

    def __init__(self, start: Sequence[float], pairs: int, random: Random) -> None:
        """`pairs` is how many will be played."""
        self.values: list[Shares] = [tuple(start)]  # before the first pair, and after each that was told
        self.sides: list[tuple[Shares, Shares]] = []  # of each pair that was asked for, those of both sides
        self.rate = min(0.02, 1.265 / math.sqrt(len(start) * 2 * pairs))
        self._pairs = pairs
        self._random = random
        self._signs: list[tuple[int, ...]] = []  # of each pair that was asked for

    def spread(self, pair: int) -> float:
        """How far each side is from the values in a pair, counted from 1: cₖ."""
        return LAST_SPREAD * math.pow(self._pairs / pair, GAMMA)

    def step(self, pair: int, result: float) -> float:
        """How far the values move after a pair, by wins less losses of the first side."""
        offset, spread = 0.1 * self._pairs, self.spread(pair)
        decay = math.pow((offset + self._pairs) / (offset + pair), ALPHA)
        return self.rate * decay * (LAST_SPREAD / spread) ** 2 * spread * result

    def ask(self) -> tuple[Shares, Shares]:
        """The values of both sides in the next pair."""
        self._signs.append(tuple(2 * self._random.below(2) - 1 for _ in self.values[0]))
        pair = len(self._signs)
        spread = self.spread(pair)
        self.sides.append((self._moved(pair, spread), self._moved(pair, -spread)))
        return self.sides[-1]

    def tell(self, result: float) -> None:
        """Moves the values by the result of the first pair that was not told yet: wins less losses of the
        first side, from −2 to 2.
        """
        pair = len(self.values)
        self.values.append(self._moved(pair, self.step(pair, result)))

    def _moved(self, pair: int, by: float) -> Shares:
        """The present values, moved in the direction of a pair."""
        signs = self._signs[pair - 1]
        return tuple(
            min(1.0, max(0.0, value + by * sign)) for value, sign in zip(self.values[-1], signs, strict=True)
        )
