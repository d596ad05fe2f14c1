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
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from referee.core.seeds import Stream

ALPHA, GAMMA = 0.602, 0.101

LAST_SPREAD = 0.1
"""How far each side is from the values at the last pair, as a share of the range."""

LARGEST_RATE = 0.02


class Gains(NamedTuple):
    """How far values are perturbed, and how far they move."""

    pairs: int  # how many pairs of games are played
    rate: float  # r

    @classmethod
    def of(cls, parameters: int, pairs: int) -> Gains:
        """The gains for this many parameters and pairs."""
        return cls(pairs, min(LARGEST_RATE, 1.265 / math.sqrt(parameters * 2 * pairs)))

    def spread(self, pair: int) -> float:
        """How far each side is from the values in a pair, counted from 1: cₖ."""
        return LAST_SPREAD * math.pow(self.pairs / pair, GAMMA)

    def step(self, pair: int, result: int) -> float:
        """How far the values move after a pair, by wins less losses of the side with the positive signs."""
        offset, spread = 0.1 * self.pairs, self.spread(pair)
        decay = math.pow((offset + self.pairs) / (offset + pair), ALPHA)
        return self.rate * decay * (LAST_SPREAD / spread) ** 2 * spread * result


class AskedPair(NamedTuple):
    """The values of both sides in a pair."""

    plus: tuple[float, ...]
    minus: tuple[float, ...]


class Spsa:
    """The course of the values. Several pairs may be asked for before the first of them is told."""

    def __init__(self, start: Sequence[float], pairs: int, sign: Callable[[], int]) -> None:
        """`sign` gives 1 or −1, by chance."""
        self.values = tuple(start)
        self._gains = Gains.of(len(start), pairs)
        self._sign = sign
        self._asked = 0
        self._signs: deque[tuple[int, ...]] = deque()  # of the pairs that were not told yet

    def ask(self) -> AskedPair:
        """The next pair."""
        self._asked += 1
        signs = tuple(self._sign() for _ in self.values)
        self._signs.append(signs)
        spread = self._gains.spread(self._asked)
        return AskedPair(self._moved(spread, signs), self._moved(-spread, signs))

    def tell(self, result: int) -> None:
        """Moves the values by the result of the first pair that was not told yet: wins less losses of the
        side `plus`, from −2 to 2.
        """
        pair = self._asked - len(self._signs) + 1
        self.values = self._moved(self._gains.step(pair, result), self._signs.popleft())

    def _moved(self, by: float, signs: Sequence[int]) -> tuple[float, ...]:
        return tuple(
            min(1.0, max(0.0, value + by * sign)) for value, sign in zip(self.values, signs, strict=True)
        )


def random_signs(key: bytes) -> Callable[[], int]:
    """Signs by chance, always the same for the same key of 32 bytes."""
    stream = Stream(key)
    return lambda: 2 * stream.below(2) - 1
