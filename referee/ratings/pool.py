"""Elo of a pool of bots, fitted to all games at once: the ratings in the table of a run.

The model is Plackett and Luce's, which for two seats is Bradley and Terry's; ties count as every order of
the tied (`ratings/likelihood.py`). Each seat of each section has an advantage of its own, which is fitted
with the strengths. Games of a cluster in which the same bots had the same seats and ranks are copies of each
other and count as one.

Strengths are taken to be drawn from a distribution whose spread is estimated with them
(`ratings/posterior.py`): of a pool where all are close, an early lead says little, and of one in which they
lie far apart, it says much. So an estimate exists for every result, won or lost throughout.

Ratings are in Elo, 400 for odds of 10 to 1, and the mean of the bots that are connected by games is 0. An
interval holds the true difference to that mean with 95 % (`tests/tools/coverage.py` measures it). A
difference of two bots has an interval of its own, which is not the sum of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from referee.ratings.two import ELO

if TYPE_CHECKING:
    from referee.ratings.likelihood import Arrays, Floats
    from referee.ratings.posterior import Posterior


class Result(NamedTuple):
    """A rated game."""

    bots: tuple[str, ...]  # the bots, by seat
    ranks: tuple[int, ...]
    cluster: Hashable  # the same for games that are not independent of each other (`ratings/tally.py`)
    section: str = ""  # the section of the run. Each has seat advantages of its own.


class Rating(NamedTuple):
    """A strength, or a difference of two, in Elo."""

    elo: float
    low: float | None = None
    """The lower end of the 95 % interval: −∞ where the games do not bound it; None where nothing is known,
    and `high` too.
    """
    high: float | None = None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def is_known(self) -> bool:
        """Whether anything is known: a bot that has not met another has a rating that says nothing."""
        return self.low is not None

    @property
    def is_open(self) -> bool:
        """Whether it has no interval, because a sequential test ended."""
        return self.low == -math.inf and self.high == math.inf


@dataclass(frozen=True)
class FittedPool:
    """A fitted pool."""

    ratings: dict[str, Rating]  # the strength of each bot; the mean of each group is 0
    groups: list[list[str]]
    """Groups of bots connected by games, directly or through others. Ratings of different groups cannot
    be compared.
    """
    expected: dict[str, float]
    """The points that the fit expects of each bot in the games it played: in each, the share of the others
    that it beats.
    """
    spread: float | None  # the estimated standard deviation of strengths in Elo; None where no bots have met
    one_sided: dict[str, tuple[bool, bool]]
    """Of each bot that has met another, whether it lost all its games, and whether it won them all."""
    rows: dict[str, int] = field(repr=False, compare=False)
    """The number of the parameter of each bot that has met another."""
    posterior: Posterior | None = field(repr=False, compare=False)
    of_seats: Callable[[], dict[tuple[str, int], Floats]] = field(repr=False, compare=False)
    """Fits the advantages of seats, which takes a fifth of the time."""
    unbounded: dict[str, tuple[bool, bool]] = field(default_factory=dict)
    """Of which bots intervals have no lower and no upper end."""

    @cached_property
    def advantages(self) -> dict[tuple[str, int], tuple[Rating, ...]]:
        """By section and number of seats: the advantage of each seat, its strength less the mean of the rest.
        Empty without a prior.
        """
        return {
            key: tuple(_rating(ELO * value, ends) for value, *ends in seats.tolist())
            for key, seats in self.of_seats().items()
        }

    def for_people(self, stopped: Collection[str] = ()) -> FittedPool:
        """The pool with only those ends of intervals that the games set. A bot that won all its games may be
        any stronger. Those whose sequential tests ended, which they do when results are extreme, have no
        interval: it would be too narrow.
        """
        unbounded = self.one_sided | dict.fromkeys(stopped, (True, True))
        ratings = {
            name: _opened(rating, *unbounded.get(name, (False, False)))
            for name, rating in self.ratings.items()
        }
        return replace(self, ratings=ratings, unbounded=unbounded)

    def is_stopped(self, name: str) -> bool:
        """Whether a bot has no interval because a sequential test of it ended."""
        return self.unbounded.get(name) == (True, True)

    def difference(self, one: str, other: str) -> Rating:
        """Computes how much stronger one bot is than the other, with an interval of its own."""
        return self.differences([(one, other)])[0]

    def differences(self, pairs: Sequence[tuple[str, str]]) -> list[Rating]:
        """The differences of these pairs of bots, all at once."""
        import numpy as np

        found = [Rating(0.0)] * len(pairs)
        comparable = [at for at, (one, other) in enumerate(pairs) if self._comparable(one, other)]
        if self.posterior is None or not comparable:
            return found
        contrasts = np.zeros((len(comparable), len(self.posterior.point)))
        signs = []
        for contrast, at in zip(contrasts, comparable, strict=True):
            rows = [self.rows[name] for name in pairs[at]]
            # One way round, so that the other is exactly its negative.
            signs.append(1 if rows[0] < rows[1] else -1)
            contrast[[min(rows), max(rows)]] = 1, -1
        ends = self.posterior.intervals(contrasts).tolist()
        for at, sign, own in zip(comparable, signs, ends, strict=True):
            one, other = pairs[at]
            difference = self.ratings[one].elo - self.ratings[other].elo
            below, above = (self.unbounded.get(name, (False, False)) for name in (one, other))
            rating = _rating(difference, sorted(sign * end for end in own))
            found[at] = _opened(rating, below[0] or above[1], below[1] or above[0])
        return found

    def superiority(self, one: str, other: str) -> float | None:
        """The likelihood that one bot is stronger than the other, 0 to 1; None where it cannot be known."""
        return self.superiorities([one, other])[0][1]

    def superiorities(self, names: Sequence[str]) -> list[list[float | None]]:
        """The likelihood that the bot of the row is stronger than that of the column, for each two of them;
        None where it cannot be known.
        """
        import numpy as np

        found: list[list[float | None]] = [[None] * len(names) for _ in names]
        if self.posterior is None:
            return found
        for group in self.groups:
            members = set(group)
            places = [place for place, name in enumerate(names) if name in members]
            places.sort(key=lambda place: self.rows.get(names[place], 0))
            first, second = np.triu_indices(len(places), 1)
            if len(first) == 0:
                continue
            rows = np.array([self.rows[names[place]] for place in places])
            likely = self.posterior.superiority(rows[first], rows[second]).tolist()
            for one, other, value in zip(first.tolist(), second.tolist(), likely, strict=True):
                found[places[one]][places[other]] = value
                found[places[other]][places[one]] = 1 - value
        return found

    def ranks(self, names: Collection[str]) -> dict[str, tuple[int, int]]:
        """The first and the last of the ranks that each of these bots may have among them, with 95 %; not of
        those that have no interval, and of none where they are not all connected by games.
        """
        import numpy as np

        rated = [name for name in self.rows if name in names]
        if self.posterior is None or len({self._group_of[name] for name in rated}) != 1:
            return {}
        ends = self.posterior.ranks(np.array([self.rows[name] for name in rated])).tolist()
        return {
            name: (first, last)
            for name, (first, last) in zip(rated, ends, strict=True)
            if not self.is_stopped(name)
        }

    def _comparable(self, one: str, other: str) -> bool:
        """Whether these are two bots that are connected by games."""
        return one != other and self._group_of[one] == self._group_of[other]

    @cached_property
    def _group_of(self) -> dict[str, int]:
        return {name: number for number, group in enumerate(self.groups) for name in group}


def fit(
    results: Iterable[Result],
    names: Sequence[str],
    prior: bool = True,
    advantage: bool = True,
    with_intervals: Collection[str] | None = None,
) -> FittedPool:
    """Ratings of all `names`, fitted to the results, of which there may be none.

    Without `prior` it is the fit by maximum likelihood, in which every game has the same weight; there are
    no intervals then. Without `advantage` seats make no difference. Intervals are those of `with_intervals`
    alone, if given: in a large pool they take as long as the fit.
    """
    # Imported here, since numpy takes a tenth of a second and only tables need it.
    import numpy as np

    from referee.ratings.dispersion import dispersion
    from referee.ratings.likelihood import Likelihood, expected_points, gathered, maximum
    from referee.ratings.posterior import advantages, posterior

    arrays = gathered(results, advantage)
    ordered, met = arrays.bots, {*arrays.bots}
    groups = [[ordered[row] for row in group] for group in arrays.groups]
    groups += [[name] for name in sorted(names) if name not in met]
    known: Posterior | None = None
    likelihood = Likelihood.of(arrays.games, len(ordered), arrays.size, weigh=not prior)
    if prior and met:
        known = posterior(likelihood, partial(dispersion, arrays.games))
        point = known.point
    else:
        point = maximum(likelihood)

    contrasts = np.zeros((len(ordered), arrays.size))
    for peers in arrays.groups:
        contrasts[np.ix_(peers, peers)] = -1 / len(peers)
        contrasts[peers, peers] = 1 - 1 / len(peers)
    values = (contrasts @ point).tolist()
    rows = [*range(len(ordered))]
    if with_intervals is not None:
        rows = [row for row, name in enumerate(ordered) if name in with_intervals]
        contrasts = contrasts[rows]
    ends = dict(zip(rows, known.intervals(contrasts).tolist(), strict=True)) if known else {}
    ratings = [_rating(ELO * value, ends.get(row, ())) for row, value in enumerate(values)]
    of_bot = dict(zip(ordered, ratings, strict=True))
    expected = dict(zip(ordered, expected_points(arrays.games, point).tolist(), strict=False))
    return FittedPool(
        {name: of_bot.get(name, Rating(0.0)) for name in names},
        groups,
        {name: expected.get(name, 0.0) for name in names},
        ELO * known.spread if known else None,
        _one_sided(arrays),
        {name: row for row, name in enumerate(ordered)},
        known,
        partial(advantages, arrays, likelihood, known.spread) if known else dict,
    )


def _one_sided(arrays: Arrays) -> dict[str, tuple[bool, bool]]:
    """Of each bot whether it lost all its games, and whether it won them all."""
    others = [[True, True] for _ in arrays.bots]
    for games in arrays.games:
        last = max(games.ranks)
        for rank, bots in zip(games.ranks, games.bots.T, strict=True):
            is_alone = games.ranks.count(rank) == 1
            for bot in set(bots.tolist()):
                others[bot][0] &= is_alone and rank == last
                others[bot][1] &= is_alone and rank == 1
    return {name: (lost, won) for name, (lost, won) in zip(arrays.bots, others, strict=True)}


def _opened(rating: Rating, below: bool, above: bool) -> Rating:
    """The rating without its lower and its upper end, where it has an interval."""
    if not rating.is_known:
        return rating
    low, high = -math.inf if below else rating.low, math.inf if above else rating.high
    return Rating(rating.elo, low, high)


def _rating(elo: float, ends: Iterable[float]) -> Rating:
    """The rating with the ends of its interval, if any, in natural units. Rounding noise is set to 0, since
    it would show as -0.
    """
    if abs(elo) < 1e-6:
        elo = 0.0
    return Rating(elo, *(ELO * float(end) for end in ends))
