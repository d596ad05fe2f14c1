"""Chooses the next encounters of a league: those that tell most about who is better. Pure.

The strengths of the bots are estimated from all games so far, pair of bots by pair of bots: a normal prior
with the standard deviation that M. Glickman's rating system gives a new player (350 Elo), and the likelihood
of Bradley and Terry, together approximated by a normal distribution (Laplace). Games that are scheduled and
not over count as information, without a result. The table of a league is another matter: there the fit of
`referee.ratings.pool` counts, which learns the standard deviation from the games.

An encounter is worth what it takes from the expected loss. Bots are ranked by their estimates, so of two bots
the weaker may stand above the stronger; the loss is then the difference between them. (The linear loss of
S. E. Chick and K. Inoue, "New two-stage and sequential procedures for selecting the best simulated system",
Operations Research 2001, for all pairs of bots instead of those with the best.) The information of a game is
p(1 − p) on the difference of its bots. It changes the inverse of the covariance of the strengths by rank one
(sequential optimal design, V. V. Fedorov 1972), which gives the variance of every difference after it. So
bots that are close, of which little is known, and whose games bear on many others, come first.

It is the top of the ranking that a league is to find: the order of two bots counts in full where the better
one is among the first `TOP`, and (`TOP`/rank)² of that further down. Before the worth come two rules:

1. A bot with fewer than `FIRST_ENCOUNTERS` encounters is new. The newest plays next, against whom it tells
   most.
2. No bot is forgotten: one that `PATIENCE` encounters for each bot of the league have passed over plays next.

A table of three or four bots is the pair that tells most, and then one by one the bots that add most to it.
Ties go by name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from referee.games.api import share_beaten
from referee.ratings.likelihood import Floats
from referee.ratings.two import ELO
from referee.records.record import Summary
from referee.tournament.formats.section import SectionState
from referee.tournament.schedule import Encounter

PRIOR_ELO = 350.0  # the standard deviation of the strength of a bot of which nothing is known

FIRST_ENCOUNTERS = 4  # with fewer encounters a bot is new

PATIENCE = 10  # how many encounters for each bot of the league may pass until a bot is chosen again

TOP = 8  # how many ranks matter in full

_STEPS = 50
_CLOSE = 1e-9  # values that differ by less are equal, so that rounding errors decide nothing


class Belief(NamedTuple):
    """The belief about the strengths of some bots, in natural units: a normal distribution."""

    mean: Floats
    covariance: Floats


class LeagueState:
    """The state of a league: it is told what is scheduled and what is over, and chooses what comes next."""

    def __init__(self, section: SectionState) -> None:
        self._seats = section.seats
        self._encounter = section.encounter
        self._names: dict[str, int] = {}  # the bots that were ever chosen, and their places in the arrays
        self._open = np.zeros((0, 0))  # for two bots, how many of their games are scheduled and not over
        self._rated = np.zeros((0, 0))  # for two bots, how many of their games are over and rated
        self._points = np.zeros((0, 0))  # how many points one bot has from its games against another
        self._mean = np.zeros(0)  # the strengths at the last choice
        self._numbers: Counter[tuple[str, ...]] = Counter()  # how many encounters the same bots have
        self._encounters: Counter[str] = Counter()  # how many encounters each bot has
        self._last: dict[str, int] = {}
        """The number of the last encounter of each bot, of all encounters of the league."""
        self._count = 0  # how many encounters the league has

    def schedule(self, chosen: Encounter) -> None:
        """Takes an encounter that is going to be played, in the order in which they were chosen."""
        bots = chosen.games[0].bots
        self._count += 1
        self._numbers[tuple(sorted(bots))] += 1
        self._encounters.update(bots)
        self._last.update(dict.fromkeys(bots, self._count))
        self._enter(bots)
        for one, other in permutations(bots, 2):
            self._open[self._names[one], self._names[other]] += len(chosen.games)

    def finish(self, chosen: Encounter, games: Iterable[Summary]) -> None:
        """Takes the results of an encounter that was scheduled, without those of games that have none."""
        for one, other in permutations(chosen.games[0].bots, 2):
            self._open[self._names[one], self._names[other]] -= len(chosen.games)
        for game in games:
            if not game.is_evidence:
                continue
            for (one, rank), (other, other_rank) in permutations(zip(game.bots, game.ranks, strict=True), 2):
                place = self._names[one], self._names[other]
                self._rated[place] += 1
                self._points[place] += share_beaten((rank, other_rank), 0)

    def choose(self, names: Iterable[str], count: int) -> list[Encounter]:
        """The next encounters of the bots that are in the league now; none where they are too few for a game.
        Those that will be played are to be given to `schedule`.
        """
        bots = sorted(names)
        if len(bots) < self._seats:
            return []
        self._enter(bots)
        places = [self._names[name] for name in bots]
        mean, covariance = self._belief()
        chooser = _Chooser(mean[places], covariance[np.ix_(places, places)], self._seats)
        encounters = [self._encounters[name] for name in bots]
        last = [self._last.get(name, 0) for name in bots]
        numbers = self._numbers.copy()
        found = []
        for turn in range(self._count + 1, self._count + 1 + count):
            table = chooser.table(_first(encounters, last, turn))
            for place in table:
                encounters[place] += 1
                last[place] = turn
            group = tuple(bots[place] for place in sorted(table))
            numbers[group] += 1
            found.append(self._encounter(numbers[group], group))
        return found

    def _enter(self, names: Iterable[str]) -> None:
        new = [name for name in names if name not in self._names]
        if new:
            self._names.update({name: len(self._names) + i for i, name in enumerate(new)})
            self._open, self._rated, self._points = (
                np.pad(array, (0, len(new))) for array in (self._open, self._rated, self._points)
            )

    def _belief(self) -> Belief:
        """Returns the belief about all bots that were ever chosen, as if open games ended as expected."""
        self._mean = mean = strengths(self._rated, self._points, self._mean)
        # A game of three ranks three pairs of bots by two decisions: each counts for two thirds.
        games = (self._rated + self._open) * (2 / self._seats)
        information = games * _information(_differences(mean), np.zeros_like(games))
        covariance = np.asarray(np.linalg.inv(_precision(information)), np.float64)
        return Belief(mean, covariance)


def strengths(games: Floats, points: Floats, start: Floats | None = None) -> Floats:
    """The most likely strengths, in natural units, after this many games of one bot against another, of which
    it had this many points. The search starts at other strengths, which may be of fewer bots.
    """
    mean = np.zeros(len(games)) if start is None else np.pad(start, (0, len(games) - len(start)))
    for _ in range(_STEPS):
        chance = _chance(_differences(mean))
        gradient = (points - games * chance).sum(axis=1) - mean * (ELO / PRIOR_ELO) ** 2
        step = np.linalg.solve(_precision(games * chance * (1 - chance)), gradient)
        size = float(np.abs(step).max(initial=0.0))
        mean += step * min(1.0, 2.0 / size) if size > 0 else 0.0
        if size < _CLOSE:
            break
    return mean


def _first(encounters: Sequence[int], last: Sequence[int], turn: int) -> int | None:
    """The bot whose turn it is by the rules, whatever it tells; None where it is no bot's."""
    fewest = min(range(len(encounters)), key=encounters.__getitem__)
    if encounters[fewest] < FIRST_ENCOUNTERS:
        return fewest
    longest = min(range(len(last)), key=last.__getitem__)
    return longest if turn - last[longest] > PATIENCE * len(last) else None


class _Chooser:
    """Chooses tables of bots one after the other, each as if the ones before were played."""

    def __init__(self, mean: Floats, covariance: Floats, seats: int) -> None:
        self._covariance = covariance
        self._seats = seats
        differences = _differences(mean)
        variances = np.maximum(_variances(covariance), 1e-12)
        # An encounter has `seats` games, of which each counts for 2/seats.
        self._each = 2 * _information(differences, variances)
        np.fill_diagonal(self._each, 0)
        weights = _slopes(differences, variances) * _importance(mean)
        np.fill_diagonal(weights, 0)
        self._loss = np.diag(weights.sum(axis=1)) - weights
        self._effect = covariance @ self._loss @ covariance

    def table(self, first: int | None) -> list[int]:
        """The table that tells most, with this bot if one is given."""
        worth = self._worth()
        if first is None:
            np.fill_diagonal(worth, -1.0)
            table = list(divmod(_largest(worth), len(worth)))
        else:
            table = [first]
        while len(table) < self._seats:
            gain = worth[table].sum(axis=0)
            gain[table] = -1.0
            table.append(_largest(gain))
        for i, one in enumerate(table):
            for other in table[:i]:
                self._update(one, other)
        return table

    def _worth(self) -> Floats:
        with np.errstate(divide="ignore"):
            return _variances(self._effect) / (1 / self._each + _variances(self._covariance))

    def _update(self, one: int, other: int) -> None:
        change = self._covariance[:, one] - self._covariance[:, other]
        scale = 1 / (1 / self._each[one, other] + change[one] - change[other])
        effect = self._effect[:, one] - self._effect[:, other]
        own = change @ self._loss @ change
        self._covariance = self._covariance - scale * np.outer(change, change)
        mixed = scale * np.outer(change, effect)
        self._effect = self._effect - mixed - mixed.T + scale**2 * own * np.outer(change, change)


def _slopes(differences: Floats, variances: Floats) -> Floats:
    """Computes how fast the expected loss falls with the variance of each difference, up to a constant."""
    slopes: Floats = np.exp(-(differences**2) / variances / 2) / np.sqrt(variances)
    return slopes


def _importance(mean: Floats) -> Floats:
    """Weighs how much the order of two bots matters, by the rank of the better one."""
    ranks = 1 + (_differences(mean) < -_CLOSE).sum(axis=1)
    weights: Floats = np.minimum(1.0, TOP / np.minimum.outer(ranks, ranks)) ** 2
    return weights


def _differences(mean: Floats) -> Floats:
    differences: Floats = np.subtract.outer(mean, mean)
    return differences


def _variances(covariance: Floats) -> Floats:
    own = np.diag(covariance)
    variances: Floats = np.add.outer(own, own) - 2 * covariance
    return variances


def _chance(differences: Floats) -> Floats:
    return 1 / (1 + np.exp(-differences))


def _information(differences: Floats, variances: Floats) -> Floats:
    """The expected information of a game, where the difference is known with such a variance."""
    flatter = 1 / np.sqrt(1 + math.pi / 8 * variances)
    chance = _chance(flatter * differences)
    return flatter * chance * (1 - chance)


def _precision(information: Floats) -> Floats:
    """The inverse covariance, from the information of the games of every two bots."""
    off = information - np.diag(np.diag(information))
    return np.diag(off.sum(axis=1) + (ELO / PRIOR_ELO) ** 2) - off


def _largest(values: Floats) -> int:
    """The first place with the largest value, where values that differ by rounding errors are equal."""
    return int((values >= values.max() * (1 - _CLOSE)).argmax())
