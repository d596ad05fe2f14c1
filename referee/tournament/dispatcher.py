"""Which games are handed to workers, which are being played, and which have to be played again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.encounter import FailedStarts
from referee.tournament.task import Task, Void

_Attempt = tuple[Pairing, int]


class Dispatcher:
    """Hands out tasks, and keeps track of their games."""

    def __init__(self, todo: Iterator[Task]) -> None:
        """`todo` gives the tasks to play, in their order."""
        self._todo = todo
        self._retries: deque[Task] = deque()
        self._given_out: dict[str, Task] = {}
        """By id, every game that was handed out and is not over, with its task."""
        self._playing: dict[str, int] = {}
        """By id, every game that began and is not over, with the worker that plays it."""
        self._failed_starts = FailedStarts()
        self.begun = 0
        """How many games began."""

    def next(self) -> Task | None:
        """The next task, or None; games to play again come last, so that they delay nothing."""
        task = next(self._todo, None) or (self._retries.popleft() if self._retries else None)
        if task is None:
            return None
        self._given_out.update((pairing.id, task) for pairing, _ in task.games)
        given_up = self._failed_starts.among(task.games[0][0].bots)
        return replace(task, given_up=given_up) if given_up else task

    def began(self, game: str, worker: int) -> None:
        """Notes that a worker began a game."""
        self.begun += 1
        self._playing[game] = worker

    def finished(self, game: Summary) -> None:
        """Notes that a game is over."""
        self._over(game.id)
        self._failed_starts.note(game)

    def went_void(self, game: str, again: bool) -> None:
        """Notes that a game ended without a result; `again` has it played again."""
        task = self._over(game)
        ((pairing, attempt),) = (one for one in task.games if one[0].id == game)
        if again:
            self._retries.append(replace(task, games=((pairing, attempt + 1),)))

    def _over(self, game: str) -> Task:
        self._playing.pop(game, None)
        return self._given_out.pop(game)

    def take_back(self, tasks: Iterable[Task], lost_with: Callable[[int], bool]) -> list[Void]:
        """Takes back tasks whose workers have ended: their games that are not over are played again.

        Games that were being played by a worker for which `lost_with` is true are returned as void instead;
        the caller then calls `went_void` for each of them.
        """
        lost = []
        for task in tasks:
            waiting: list[_Attempt] = []
            for pairing, attempt in task.games:
                if pairing.id not in self._given_out:
                    continue
                worker = self._playing.pop(pairing.id, None)
                if worker is not None and lost_with(worker):
                    lost.append(Void(pairing.id, attempt, "the worker that played it died"))
                else:
                    del self._given_out[pairing.id]
                    waiting.append((pairing, attempt))
            if waiting:
                self._retries.append(replace(task, games=tuple(waiting)))
        return lost
