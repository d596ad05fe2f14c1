"""Scales of small charts: where values lie between two ends, and which round values are labelled. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

WIDTH = 240  # the usual length of a scale, in the units of the drawing

MAX_TICKS = 6  # so many values are labelled at most

NEGLIGIBLE = 1e-6  # values that differ by no more lie in one place: labels are rounded


@dataclass(frozen=True)
class Scale:
    """A scale from its low to its high end."""

    low: float
    high: float
    is_logarithmic: bool = False
    length: int = WIDTH  # in the units of the drawing

    @classmethod
    def over(cls, values: Iterable[float], is_logarithmic: bool = False, length: int = WIDTH) -> Scale:
        """The scale that all these values lie on, with a little space around them. On a logarithmic scale
        what is less than 1 counts as 1.
        """
        found = [max(1.0, value) if is_logarithmic else value for value in values] or [1.0]
        low, high = min(found), max(found)
        if is_logarithmic:
            return cls(low / 1.3, high * 1.3, True, length)
        space = 0.05 * (high - low) if high - low > NEGLIGIBLE else 1.0
        return cls(low - space, high + space, length=length)

    def at(self, value: float) -> float:
        """Maps a value to its position, from 0 to the length of the scale; values beyond an end are put at
        that end.
        """
        value = min(max(value, self.low), self.high)
        if self.is_logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.length * share, 1)

    @property
    def ticks(self) -> list[float]:
        """The round values on the scale that are labelled."""
        if not self.is_logarithmic:
            return round_values(self.low, self.high, MAX_TICKS)
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        step = max(1, math.ceil((last - first + 1) / MAX_TICKS))
        return [10.0**power for power in range(first, last + 1, step)]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, … and their tenths that is not below this."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def round_values(low: float, high: float, most: int) -> list[float]:
    """The multiples of a round step between two ends, at most this many."""
    step = round_step((high - low) / most)
    return [round(number * step, 9) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def bins(low: int, high: int, most: int) -> list[tuple[int, int]]:
    """Ranges of whole numbers of equal, round length that cover all from `low` to `high`: the first number of
    each, and the first one after it.
    """
    step = math.ceil(round_step(max(1.0, (high + 1 - low) / most)))
    ends = range(low // step * step, high + step + 1, step)
    return [(begin, end) for begin, end in pairwise(ends) if begin <= high]
