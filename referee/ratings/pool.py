"""Elo of a whole pool of bots, fitted to all games at once: the ratings in the table of a run.

The model is Plackett and Luce's, which for two seats is Bradley and Terry's; ties count as every order of
the tied (`ratings/likelihood.py`). Each seat of each section has an advantage of its own, which is fitted
with the strengths. Every game has the same weight in the fit, also one that repeats another.

The fit is the maximum of the likelihood with a weak prior: each bot has two virtual draws, one of its own,
spread over its opponents in proportion to the games it played against each, and on average one of theirs
with it. Each seat has two virtual draws against the other seats in the same way. So the fit exists for every
result, won or lost throughout: one game won between two new bots is a difference of 120 Elo where seats make
no difference. With twice as many, the intervals of 14 to 100 games hold the true strength too seldom where
strengths differ by hundreds of Elo.

Ratings are in Elo, 400 for odds of 10 to 1, and the mean of the bots that are connected by games is 0. What
stands behind ± is half of an interval that holds the true difference to that mean with 95 %, where the pool
is drawn from bots a few hundred Elo apart (`ratings/intervals.py` says how, `tests/tools/coverage.py`
measures it). A difference of two bots has an interval of its own, which is not the sum of theirs.

A bot that won all its games has no interval but a bound: the strength at which it would win them all once in
twenty times, games that repeat each other counted once, less 1.64 standard errors of what the others'
strengths contribute to it. The same for a bot that lost them all, and for seats. So a bot that is no stronger
has such a bound in at most one of twenty runs; among the few bots that have one, more may be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from referee.ratings.two import Z_BOUND

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ELO = 400 / math.log(10)
"""Elo points per natural unit of strength."""

VIRTUAL_DRAWS = 2.0
"""Virtual draws of each bot in the prior."""

_MIRRORED = {"": "", ">": "<", "<": ">"}


class Result(NamedTuple):
    """A rated game."""

    bots: tuple[str, ...]
    """The bots, by seat."""
    ranks: tuple[int, ...]
    cluster: Hashable
    """The same for games that are not independent of each other (`ratings/clusters.py`)."""
    section: str = ""
    """The section of the run. Each has seat advantages of its own."""


class Rating(NamedTuple):
    """A strength, or a difference of two, in Elo."""

    elo: float
    half_width: float | None
    """Half the 95 % interval; None where there is a bound in its place, or where nothing is known."""
    bound: str = ""
    """`>` where all was won: one no stronger than `elo` would do so at most once in twenty times. `<` where
    all was lost: the same of one no weaker. Else empty.
    """


class Detail(NamedTuple):
    """The values from which the differences of a bot are computed."""

    row: int
    """Its row in the covariance."""
    group: int
    """The number of its group."""
    quantile: float
    """How many standard errors half the 95 % interval has."""
    shift: float
    """By how many Elo the bound of its strength lies from the fit; 0 where there is none."""
    leaning: NDArray[np.float64]
    """How far the bound moves with the parameter of each row of the covariance; empty where there is none."""


@dataclass(frozen=True)
class FittedPool:
    """A fitted pool."""

    ratings: dict[str, Rating]
    """The strength of each bot; the mean of the fitted strengths of each group is 0."""
    advantages: dict[tuple[str, int], tuple[Rating, ...]]
    """By section and number of seats: the advantage of each seat, its strength less the mean of the rest."""
    groups: list[list[str]]
    """Groups of bots connected by games, directly or through others. Ratings of different groups cannot
    be compared.
    """
    expected: dict[str, float]
    """The points that the fit expects of each bot in the games it played: in each, the share of the others
    that it beats.
    """
    fitted: dict[str, float]
    """The fitted strength of each bot in Elo, also where its rating is a bound."""
    details: dict[str, Detail] = field(repr=False, compare=False)
    covariance: NDArray[np.float64] = field(repr=False, compare=False)
    """The covariance of the fitted strengths in Elo, and of the advantages of seats behind them."""

    def difference(self, one: str, other: str) -> Rating:
        """Computes how much stronger one bot is than the other, with an interval of its own. It is a bound
        where the one won all its games or the other lost them all, and the other way round.
        """
        if not self._comparable(one, other):
            return Rating(0.0, None)
        bounds = []
        if bound := self.ratings[one].bound:
            bounds.append((bound, self._bound(one, other)))
        if bound := self.ratings[other].bound:
            bounds.append((_MIRRORED[bound], -self._bound(other, one)))
        lower, upper = ([elo for bound, elo in bounds if bound == sign] for sign in "><")
        if lower and not upper:
            return Rating(max(lower), None, ">")
        if upper and not lower:
            return Rating(min(upper), None, "<")
        quantile = max(self.details[one].quantile, self.details[other].quantile)
        return Rating(self.fitted[one] - self.fitted[other], quantile * self._error(one, other))

    def superiority(self, one: str, other: str) -> float:
        """The likelihood that one bot is stronger than the other, 0 to 1; ½ where it cannot be known."""
        error = self._error(one, other) if self._comparable(one, other) else 0.0
        return NormalDist().cdf((self.fitted[one] - self.fitted[other]) / error) if error else 0.5

    def _comparable(self, one: str, other: str) -> bool:
        """Whether these are two bots that are connected by games."""
        return one != other and self.details[one].group == self.details[other].group

    def _bound(self, name: str, other: str) -> float:
        """The bound of the strength of a bot that has one, less the strength of another."""
        detail, leaning = self.details[name], self.details[name].leaning.copy()
        leaning[self.details[other].row] -= 1
        error = math.sqrt(max(0.0, float(leaning @ self.covariance @ leaning)))
        sign = 1 if self.ratings[name].bound == ">" else -1
        return self.fitted[name] + detail.shift - self.fitted[other] - sign * Z_BOUND * error

    def _error(self, one: str, other: str) -> float:
        """The standard error of the difference of two bots."""
        i, j, covariance = self.details[one].row, self.details[other].row, self.covariance
        return math.sqrt(max(0.0, float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])))


def fit(
    results: Iterable[Result],
    names: Sequence[str],
    virtual_draws: float = VIRTUAL_DRAWS,
    advantage: bool = True,
) -> FittedPool:
    """Ratings of all `names`, fitted to the results, of which there may be none."""
    # Imported here, since numpy takes a tenth of a second and only tables need it.
    from referee.ratings.arrays import gathered
    from referee.ratings.intervals import estimates, expected_points, from_mean, uncertainty
    from referee.ratings.likelihood import maximum

    ordered, count = sorted(names), len(names)
    arrays = gathered(results, ordered, virtual_draws, advantage)
    batches = [*arrays.games, *(virtual.games for virtual in arrays.virtual)]
    strength = maximum(batches, arrays.flat, arrays.size)
    known = uncertainty(arrays, count, strength)
    found = estimates(arrays, count, strength, known)

    def rating(number: int, peers: NDArray[np.int64], scale: float = 1.0) -> Rating:
        one = found[number]
        if one.bound:
            return Rating(_elo(from_mean(one, number, peers, known) * scale), None, one.bound)
        half_width = ELO * one.half_width * scale if len(peers) > 1 else None
        return Rating(_elo(one.value * scale), half_width)

    ratings: dict[str, Rating] = {}
    details: dict[str, Detail] = {}
    for number, group in enumerate(arrays.groups):
        for row in group.tolist():
            ratings[ordered[row]] = rating(row, group)
            details[ordered[row]] = Detail(
                row, number, float(known.quantiles[row]), ELO * found[row].shift, found[row].leaning
            )
    return FittedPool(
        {name: ratings[name] for name in names},
        {
            key: tuple(rating(int(seat), seats, len(seats) / (len(seats) - 1)) for seat in seats)
            for key, seats in arrays.advantages.items()
        },
        [[ordered[row] for row in group] for group in arrays.groups],
        dict(zip(ordered, expected_points(arrays.games, strength).tolist(), strict=False)),
        {name: _elo(found[details[name].row].value) for name in names},
        details,
        known.covariance * ELO**2,
    )


def _elo(strength: float) -> float:
    """The strength in Elo, with rounding noise set to 0, which would show as -0."""
    return ELO * strength if abs(strength) > 1e-8 else 0.0
