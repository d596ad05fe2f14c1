"""Hands games to workers, and queues those again that were void or lost."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.formats.section import FailedStarts
from referee.tournament.run.voids import Suspicion
from referee.tournament.workers.task import Task, TaskLost, Void

LOSSES = 3
"""How often the machine of a game may be lost before the bots of the game are suspected to be the cause."""

_Attempt = tuple[Pairing, int]


class Dispatcher:
    """Hands out tasks, and keeps track of their games."""

    def __init__(
        self,
        todo: Iterator[Task | None],
        suspicion: Suspicion,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`todo` gives the tasks to play, in their order, or None where there is none until more games are
        over; games that became void too often are tasks of their own. The caller keeps `suspicion` up to
        date. `now` gives seconds.
        """
        self._now = now
        self._todo = todo
        self._suspicion = suspicion
        self._retries: deque[Task] = deque()
        self._paused: list[tuple[float, Task]] = []
        """Games that are played again after a pause, with the time at which it ends."""
        self._undecided: list[Task] = []
        """Games that became void too often, of which it is not known yet who forfeits them."""
        self._given_out: dict[str, Task] = {}
        """Every game that was handed out and is not over, by id, with its task."""
        self._playing: set[str] = set()  # the ids of the games that began and are not over
        self._failed_starts = FailedStarts()
        self._losses: Counter[str] = Counter()
        """How often the machine that played a game was lost, by the game's id; a bot may have caused it."""

    def next(self) -> Task | None:
        """Returns the next task; None if there is none for now. Games that became void come first, so that it
        soon shows which bot is the cause; what a lost worker still had to play comes last.
        """
        while task := self._take():
            first = task.games[0][0]
            if not self._suspicion.is_undecided(first.id):
                return self._given(task, self._suspicion.responsible(first.bots))
            self._undecided.append(task)
        if self._undecided and not self._given_out and not self._paused:
            task = self._undecided.pop(0)
            return self._given(task, self._suspicion.forfeiting(task.games[0][0].id))
        return None

    @property
    def pauses(self) -> bool:
        """Whether games wait to be played again."""
        return bool(self._paused)

    def _take(self) -> Task | None:
        now_s = self._now()
        for one in [one for one in self._paused if one[0] <= now_s]:
            self._paused.remove(one)
            self._retries.appendleft(one[1])
        if self._retries and self._retries[0].games[0][1] > 1:
            return self._retries.popleft()
        return next(self._todo, None) or (self._retries.popleft() if self._retries else None)

    def _given(self, task: Task, forfeiting: frozenset[str]) -> Task:
        self._given_out.update((pairing.id, task) for pairing, _ in task.games)
        given_up = self._failed_starts.given_up.intersection(task.games[0][0].bots)
        if any(entrant.bot.parameters for entrant in task.plan.entrants):  # with others it may start
            given_up = frozenset()
        return replace(task, given_up=given_up, forfeiting=forfeiting)

    def began(self, game: str) -> None:
        """Notes that a worker began a game."""
        self._playing.add(game)

    def finished(self, game: Summary) -> None:
        """Notes that a game is over."""
        self._over(game.id)
        self._failed_starts.note(game)

    def went_void(self, game: str, again: bool, pause_s: float = 0) -> None:
        """Notes that a game ended without a result; `again` has it played, or forfeited, after a pause."""
        task = self._over(game)
        ((pairing, attempt),) = (one for one in task.games if one[0].id == game)
        if again:
            self._paused.append((self._now() + pause_s, replace(task, games=((pairing, attempt + 1),))))

    def _is_out(self, pairing: Pairing, attempt: int) -> bool:
        """Whether this attempt was handed out and is not over. One that became void may have been followed by
        another, which another worker plays by now.
        """
        task = self._given_out.get(pairing.id)
        return task is not None and (pairing, attempt) in task.games  # guard: another-attempt

    def _over(self, game: str) -> Task:
        self._playing.discard(game)
        return self._given_out.pop(game)

    def take_back(self, task: Task | None, why: str, suspects: frozenset[str] = frozenset()) -> list[Void]:
        """Takes back a task whose worker has ended: its games that are not over are played again.

        If there is a reason `why`, the game that was being played is returned as void instead, with the bots
        that may be the cause, and the caller calls `went_void` for it.
        """
        lost: list[Void] = []
        if task is None:
            return lost
        waiting: list[_Attempt] = []
        for pairing, attempt in task.games:
            if not self._is_out(pairing, attempt):
                continue
            if why and pairing.id in self._playing:
                lost.append(Void(pairing.id, attempt, f"the worker that played it {why}", suspects))
            else:
                self._over(pairing.id)
                waiting.append((pairing, attempt))
        if waiting:
            self._retries.append(replace(task, games=tuple(waiting)))
        return lost

    def lost(self, lost: TaskLost) -> list[Void]:
        """The games of a task that are not over, as void, after its machine was lost.

        The caller calls `went_void` for those that have suspects, and `play_again` for the others.
        """
        voids: list[Void] = []
        for pairing, attempt in lost.task.games:
            if self._is_out(pairing, attempt):
                self._losses[pairing.id] += lost.by_bot
                many = self._losses[pairing.id] > LOSSES  # guard: lost-again-and-again
                is_suspect = many and lost.by_bot
                suspects = lost.task.started if is_suspect else frozenset[str]()
                voids.append(Void(pairing.id, attempt, lost.how, suspects, lost=not is_suspect))
        return voids

    def play_again(self, task: Task, lost: Collection[str]) -> None:
        """Schedules the lost games of a task to be played again, together as they were."""
        for game in lost:
            self._over(game)
        again = tuple((pairing, attempt + 1) for pairing, attempt in task.games if pairing.id in lost)
        if again:
            self._retries.appendleft(replace(task, games=again))
