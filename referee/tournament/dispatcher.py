"""Which games are given out, which of them are on, and which are played again."""

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
    """Gives out tasks, and knows what came of their games."""

    def __init__(self, todo: Iterator[Task]) -> None:
        """`todo` is what is to be played, in its order."""
        self._todo = todo
        self._again: deque[Task] = deque()
        self._out: dict[str, Task] = {}
        """By its id every game that was given out and is not over, with its task."""
        self._on: dict[str, int] = {}
        """By its id every game that began and is not over, with the worker that plays it."""
        self._starts = FailedStarts()
        self.begun = 0
        """How many games began."""

    def next(self) -> Task | None:
        """What to play next: what is played again comes last, so that it holds nothing up."""
        task = next(self._todo, None) or (self._again.popleft() if self._again else None)
        if task is None:
            return None
        self._out.update((pairing.id, task) for pairing, _ in task.games)
        given_up = self._starts.among(task.games[0][0].bots)
        return replace(task, given_up=given_up) if given_up else task

    def began(self, game: str, worker: int) -> None:
        """A worker plays a game."""
        self.begun += 1
        self._on[game] = worker

    def finished(self, game: Summary) -> None:
        """A game is over."""
        self._over(game.id)
        self._starts.note(game)

    def went_void(self, game: str, again: bool) -> None:
        """A game is over without a result, and is perhaps played again."""
        task = self._over(game)
        ((pairing, attempt),) = (one for one in task.games if one[0].id == game)
        if again:
            self._again.append(replace(task, games=((pairing, attempt + 1),)))

    def _over(self, game: str) -> Task:
        self._on.pop(game, None)
        return self._out.pop(game)

    def take_back(self, tasks: Iterable[Task], lost_with: Callable[[int], bool]) -> list[Void]:
        """The workers that had these tasks are no more. What was not yet over is played again.

        The games that went with a worker that `lost_with` is true for are given back instead: whoever takes
        them says with `went_void` what becomes of them.
        """
        lost = []
        for task in tasks:
            waiting: list[_Attempt] = []
            for pairing, attempt in task.games:
                if pairing.id not in self._out:
                    continue
                worker = self._on.pop(pairing.id, None)
                if worker is not None and lost_with(worker):
                    lost.append(Void(pairing.id, attempt, "the worker that played it died"))
                else:
                    del self._out[pairing.id]
                    waiting.append((pairing, attempt))
            if waiting:
                self._again.append(replace(task, games=tuple(waiting)))
        return lost
