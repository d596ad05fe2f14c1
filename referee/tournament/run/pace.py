"""How long the remaining games of a run will take: estimated from finished games and games in progress. Pure.

Times of day are microseconds of any clock that does not go back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from referee.core.pairing import Pairing

_Kind = tuple[str, ...]
"""What games of about the same length have in common: the section and the bots, or the section alone."""


@dataclass(slots=True)
class _Mean:
    """The mean of durations: for the time of many games, a median would leave out the long ones."""

    games: int = 0
    sum_us: int = 0

    def add(self, us: int) -> None:
        self.games += 1
        self.sum_us += us

    @property
    def us(self) -> int:
        return self.sum_us // self.games


class Pace:
    """The games in progress, and the time that games took so far."""

    def __init__(self, workers: int, history: Iterable[tuple[str, int]] = ()) -> None:
        """`workers` is how many games are played at a time; `history` has ids and times of earlier games."""
        self._workers = max(1, workers)
        self._all = _Mean()
        self._began_us: int | None = None  # when the first game of this run began
        self._played_us = 0  # how long the games that ended in this run took together
        self._by_kind: defaultdict[_Kind, _Mean] = defaultdict(_Mean)
        self.playing: dict[str, int] = {}  # the games in progress and when they began, the longest first
        for game, took_us in history:
            self._add(game, took_us)

    def began(self, game: str, now_us: int) -> None:
        """Notes that a game began."""
        if self._began_us is None:
            self._began_us = now_us
        self.playing.pop(game, None)  # an attempt that became void
        self.playing[game] = now_us

    def finished(self, game: str, now_us: int) -> None:
        """Notes that a game is over."""
        if (began_us := self.playing.pop(game, None)) is not None:
            self._add(game, now_us - began_us)
            self._played_us += now_us - began_us

    def void(self, game: str) -> None:
        """Notes that a game became void: how long it took says nothing."""
        self.playing.pop(game, None)

    def remaining_us(self, left: int, now_us: int) -> int | None:
        """The time that `left` games will take, games in progress included; None before the first is over.

        A game in progress takes as long as the games of the same bots took, a game that has not begun as long
        as the mean of all. Between games, workers are occupied otherwise, or have nothing to do, for the same
        share of the time as so far.
        """
        if not self._all.games:
            return None
        rests = [max(0, self._typical_us(game) - now_us + began) for game, began in self.playing.items()]
        waiting = max(0, left - len(rests))
        work_us = sum(rests) + waiting * self._all.us
        return max([round(work_us / (self._workers * self._share_of_play(now_us))), *rests])

    def _share_of_play(self, now_us: int) -> float:
        """The share of the workers' time in which they played games, in this run so far."""
        if self._began_us is None or not self._played_us:
            return 1.0
        played_us = self._played_us + sum(now_us - began_us for began_us in self.playing.values())
        return min(1.0, played_us / (self._workers * (now_us - self._began_us)))

    def _add(self, game: str, took_us: int) -> None:
        self._all.add(took_us)
        for kind in _kinds(game):
            self._by_kind[kind].add(took_us)

    def _typical_us(self, game: str) -> int:
        return next((self._by_kind[kind].us for kind in _kinds(game) if kind in self._by_kind), self._all.us)


def _kinds(game: str) -> tuple[_Kind, _Kind]:
    """The kinds of a game, the narrower one first."""
    pairing = Pairing.parse(game)
    return (pairing.section, *sorted(pairing.bots)), (pairing.section,)
