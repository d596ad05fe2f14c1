"""Elo of a whole pool of bots, fitted to all games at once: the ratings in the table of a run.

The model is Plackett and Luce's, which for two seats is Bradley and Terry's: a game's ranking is drawn
place by place, each of the bots not yet placed with a chance in proportion to e^strength, and seat 1 has
an advantage that is fitted with the strengths. Tied places count as every order of the tied, equally
weighted (for two: a draw is half a win), which does not depend on the order of anything.

The fit is the maximum of the likelihood with a weak prior: each bot has two virtual draws, spread over
its opponents in proportion to the games it played against each (R. Coulom's BayesElo). So it exists for
every result, won or lost throughout.

Intervals come from the sandwich H⁺ B H⁺: H is the curvature of the likelihood, B the sum of the squared
gradients of what is drawn independently. That is an encounter, not a game, since the games of a pair have
the seats swapped and are not independent; and the virtual draws, which keep an interval from closing
where all games were won. Where draws are many it is rightly narrower than the curvature alone would say.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from referee.ratings.two import Z_95

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ELO = 400 / math.log(10)
"""Elo points per natural unit of strength."""

VIRTUAL_DRAWS = 2.0
"""Virtual draws of each bot in the prior."""

_STEPS = 100
_CLOSE = 1e-10


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
    """`>` where all was won: `elo` is then a lower bound that holds with 95 %; `<` where all was lost, and it
    is an upper bound; else empty.
    """


@dataclass(frozen=True)
class Pool:
    """A fitted pool."""

    ratings: dict[str, Rating]
    """The strength of each bot; the mean of each group is 0."""
    advantages: dict[tuple[str, int], tuple[Rating, ...]]
    """By section and number of seats: the advantage of each seat, its strength less the mean of the rest."""
    groups: list[list[str]]
    """Groups of bots connected by games, directly or through others. Ratings of different groups cannot
    be compared.
    """
    expected: dict[str, float]
    """The points that the fit expects of each bot in the games it played."""
    fitted: dict[str, float]
    """The fitted strength of each bot in Elo, also where its rating is a bound."""
    covariance: Sequence[Sequence[float]]
    """The covariance of the fitted strengths in Elo, in the order of `fitted`."""

    def difference(self, one: str, other: str) -> Rating:
        """How much stronger one bot is than the other, with an interval of its own."""
        if one == other or not any(one in group and other in group for group in self.groups):
            return Rating(0.0, None)
        return Rating(self.fitted[one] - self.fitted[other], Z_95 * self._error(one, other))

    def superiority(self, one: str, other: str) -> float:
        """The likelihood that one bot is stronger than the other, 0 to 1; ½ where it cannot be known."""
        if one == other or not any(one in group and other in group for group in self.groups):
            return 0.5
        error = self._error(one, other)
        return NormalDist().cdf((self.fitted[one] - self.fitted[other]) / error) if error else 0.5

    def _error(self, one: str, other: str) -> float:
        """The standard error of the difference of two bots."""
        i, j = (list(self.fitted).index(name) for name in (one, other))
        rows = self.covariance
        return math.sqrt(max(0.0, rows[i][i] + rows[j][j] - 2 * rows[i][j]))


Order = tuple[tuple[int, ...], int]
"""Bots from first place to last, by index, and which of them sat in seat 1."""


def fit(
    results: Iterable[Result],
    names: Sequence[str],
    virtual_draws: float = VIRTUAL_DRAWS,
    advantage: bool = True,
) -> Pool:
    """Ratings of all `names`, fitted to the results, of which there may be none."""
    import numpy as np  # takes a tenth of a second, and only tables need it

    index = {name: number for number, name in enumerate(names)}
    n = len(names)
    by_cluster: dict[Hashable, Counter[Order]] = defaultdict(Counter)
    met: Counter[tuple[int, int]] = Counter()
    for result in results:
        seats = [index[name] for name in result.bots]
        for one, other in permutations(seats, 2):
            met[one, other] += 1
        for order, weight in _orders(seats, result.ranks).items():
            by_cluster[result.cluster][order] += weight  # type: ignore[assignment]
    virtual = _virtual(met, virtual_draws)
    total: Counter[Order] = Counter()
    for orders in (*by_cluster.values(), virtual):
        total.update(orders)
    strength = np.zeros(n + 1)  # the last is the advantage
    for _ in range(_STEPS):
        gradient, curvature = _derivatives(total, strength, advantage)
        step = np.linalg.pinv(curvature, hermitian=True) @ gradient
        size = float(np.abs(step).max(initial=0.0))
        strength += step * min(1.0, 2.0 / size) if size > 0 else 0.0
        if size < _CLOSE:
            break
    covariance = _sandwich([*by_cluster.values()], virtual, strength, advantage)
    groups = _groups(n, met)
    for group in groups:
        strength[group] -= strength[group].mean()
    centred = _centred(covariance, groups) * ELO**2
    half = Z_95 * np.sqrt(np.clip(np.diag(centred), 0, None))
    ratings = {
        name: Rating(_plain(ELO * strength[i]), float(half[i]) if any(met[i, j] for j in range(n)) else None)
        for name, i in index.items()
    }
    seat_1 = Rating(_plain(ELO * strength[n]), float(half[n]))
    return Pool(
        ratings,
        {("", 2): (seat_1, seat_1._replace(elo=-seat_1.elo))} if met and advantage else {},
        [[names[i] for i in group] for group in groups],
        dict.fromkeys(names, 0.0),
        {name: rating.elo for name, rating in ratings.items()},
        centred[:n, :n].tolist(),
    )


def _plain(value: float) -> float:
    """The value as a float, with rounding noise set to 0, which would show as -0."""
    return float(value) if abs(value) > 1e-6 else 0.0


def _orders(seats: list[int], ranks: Sequence[int]) -> dict[Order, float]:
    """The orders that a ranking may mean, with their weights, which sum to 1."""
    groups = [
        [seat for seat, place in zip(seats, ranks, strict=True) if place == rank]
        for rank in sorted(set(ranks))
    ]
    ways = list(product(*(permutations(group) for group in groups)))
    return {(tuple(i for part in way for i in part), seats[0]): 1 / len(ways) for way in ways}


def _virtual(met: Counter[tuple[int, int]], draws: float) -> Counter[Order]:
    """The virtual draws of the prior, half of them in either seating."""
    games: Counter[int] = Counter()
    for (one, _), count in met.items():
        games[one] += count
    virtual: Counter[Order] = Counter()
    for (one, other), count in met.items():
        weight = draws * count / games[one] / 4
        for order in ((one, other), (other, one)):
            for first in order:
                virtual[order, first] += weight  # type: ignore[assignment]
    return virtual


def _derivatives(
    orders: Counter[Order], strength: NDArray[np.float64], advantage: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gradient of the log-likelihood, and its curvature (the negative Hessian)."""
    import numpy as np

    gradient = np.zeros_like(strength)
    curvature = np.zeros((len(strength), len(strength)))
    for (order, first), weight in orders.items():
        for place in range(len(order) - 1):
            left = order[place:]
            design = np.zeros((len(left), len(strength)))
            design[range(len(left)), left] = 1.0
            if advantage and first in left:
                design[left.index(first), -1] = 1.0
            utility = design @ strength
            chance = np.exp(utility - utility.max())
            chance /= chance.sum()
            mean = chance @ design
            gradient += weight * (design[0] - mean)
            curvature += weight * ((design.T * chance) @ design - np.outer(mean, mean))
    return gradient, curvature


def _sandwich(
    clusters: list[Counter[Order]],
    virtual: Counter[Order],
    strength: NDArray[np.float64],
    advantage: bool,
) -> NDArray[np.float64]:
    """The covariance of the strengths."""
    import numpy as np

    total: Counter[Order] = Counter()
    alike: Counter[frozenset[tuple[Order, float]]] = Counter()
    for cluster in clusters:
        total.update(cluster)
        alike[frozenset(cluster.items())] += 1
    total.update(virtual)
    _, curvature = _derivatives(total, strength, advantage)
    spread = np.zeros_like(curvature)
    for orders, count in alike.items():
        gradient, _ = _derivatives(Counter(dict(orders)), strength, advantage)
        spread += count * np.outer(gradient, gradient)
    for order, weight in virtual.items():
        gradient, _ = _derivatives(Counter({order: 1}), strength, advantage)
        spread += weight * np.outer(gradient, gradient)
    inverse = np.linalg.pinv(curvature, hermitian=True)
    covariance: NDArray[np.float64] = inverse @ spread @ inverse
    return covariance


def _centred(covariance: NDArray[np.float64], groups: list[list[int]]) -> NDArray[np.float64]:
    """The covariance of strengths whose mean is 0 in each group."""
    import numpy as np

    centre = np.eye(len(covariance))
    for group in groups:
        for i in group:
            centre[i, group] -= 1 / len(group)
    centred: NDArray[np.float64] = centre @ covariance @ centre.T
    return centred


def _groups(n: int, met: Counter[tuple[int, int]]) -> list[list[int]]:
    """The groups of bots connected by games."""
    group = list(range(n))
    for one, other in met:
        if group[one] != group[other]:
            old, new = group[one], group[other]
            group = [new if number == old else number for number in group]
    return [[i for i in range(n) if group[i] == number] for number in sorted(set(group))]
