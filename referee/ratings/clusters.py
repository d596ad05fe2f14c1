"""Which games are not independent of each other: the games of an encounter, and games that repeat another.

Games in which the same bots had the same seats in the same section, and whose events are the same to the
letter, are one piece of evidence however often they are played. Their encounters share a cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

from referee.core.pairing import section_of
from referee.gameplay.events import Ending
from referee.ratings.pool import Result
from referee.records.record import FORFEITS, Summary

_NOT_STARTED = {Ending.START.word, *FORFEITS}  # the faults of bots that did not start in a game


class Clusters(NamedTuple):
    """The clusters of a list of games."""

    of: list[int]  # the number of the cluster of each game
    repeats: int  # how many games repeat another one; of three games that are alike, two do


def clusters(games: Sequence[Summary], repeats: str = "cluster") -> Clusters:
    """The clusters of the games; with `repeats="count"`, repeated games are taken as independent."""
    parents = list(range(len(games)))
    # Numbers in place of tuples of texts: there may be millions of games.
    bots: dict[str, int] = defaultdict(count().__next__)
    places: dict[str, int] = defaultdict(count().__next__)
    sections: dict[str, int] = defaultdict(count().__next__)
    first_of_encounter: dict[int, int] = {}
    first_of_seats: dict[int, int] = {}
    first_of_events: dict[tuple[int, str], int] = {}  # of games whose bots had the same seats before
    repeated = 0
    for number, game in enumerate(games):
        place, *names = game.id.split(":")
        seats = sorted([bots[name] for name in names])
        first = first_of_encounter.setdefault(_key(places[place], seats), number)
        if first != number:
            _unite(parents, number, first)
        if not game.digest or game.is_forfeited:
            continue
        key = _key(sections[section_of(place)], [bots[name] for name in game.bots])
        if (first := first_of_seats.setdefault(key, number)) == number:
            continue
        first_of_events.setdefault((key, games[first].digest), first)
        if (first := first_of_events.setdefault((key, game.digest), number)) == number:
            continue
        repeated += 1
        if repeats != "count":
            _unite(parents, number, first)  # guard: repeated-games
    return Clusters([_root(parents, number) for number in range(len(games))], repeated)


def _key(first: int, numbers: Iterable[int]) -> int:
    """A number for a number and others after it, of fewer than 2³² each."""
    for number in numbers:
        first = first << 32 | number
    return first


def _root(parents: list[int], number: int) -> int:
    while parents[number] != number:
        parents[number] = number = parents[parents[number]]
    return number


def _unite(parents: list[int], one: int, other: int) -> None:
    one, other = sorted((_root(parents, one), _root(parents, other)))
    parents[other] = one


def results_of(games: Sequence[Summary], of: Sequence[int]) -> list[Result]:
    """The results from which ratings follow, of games each of which is of a cluster. Bots that never started
    are left out: nothing shows how strong they are.
    """
    started = {
        bot
        for game in games
        for bot, fault in zip(game.bots, game.faults, strict=True)
        if fault not in _NOT_STARTED
    }
    found = []
    for game, cluster in zip(games, of, strict=True):
        seats = [seat for seat, bot in enumerate(game.bots) if bot in started]
        if game.is_evidence and len(seats) > 1:
            bots, ranks = tuple(game.bots[seat] for seat in seats), tuple(game.ranks[seat] for seat in seats)
            found.append(Result(bots, ranks, cluster, section_of(game.id)))
    return found
