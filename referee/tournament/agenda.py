"""Decides what is played next: the encounters of the sections of a tournament, in turn. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from referee.tournament.schedule import Encounter, Schedule, Wait

IsOver = Callable[[str], bool]  # says whether a game, given by its id, has a result, or will never have one


class Agenda:
    """The encounters of several schedules, one of each in turn; those that wait are passed over."""

    def __init__(
        self,
        schedules: Iterable[Schedule],
        is_over: IsOver,
        skips: Callable[[Encounter], bool] = lambda encounter: False,
    ) -> None:
        """`skips` says of an encounter whether it is left out."""
        self._sections = deque(_Section(schedule, is_over, skips) for schedule in schedules)

    def next(self) -> Encounter | None:
        """The next encounter; None if there is none, or none until more games are over."""
        for _ in range(len(self._sections)):
            self._sections.rotate(-1)
            if found := self._sections[-1].next():
                return found
        return None

    def given(self) -> Iterator[Encounter]:
        """The encounters that were given out and do not belong to a finished beginning yet."""
        for section in self._sections:
            yield from section.given

    def finished(self) -> Iterator[Encounter]:
        """The encounters that have been added, since the last call, to the longest finished beginning of each
        schedule: they do not depend on the order in which games end.
        """
        for section in self._sections:
            yield from section.finished()


class _Section:
    """One schedule, as far as it has been read."""

    def __init__(self, schedule: Schedule, is_over: IsOver, skips: Callable[[Encounter], bool]) -> None:
        self._schedule = schedule
        self._skips = skips
        self._is_over = is_over
        self._awaited: list[str] = []
        """The games that the schedule waits for and that were not over at the last look."""
        self.given: deque[Encounter] = deque()
        """The encounters that were given out and do not belong to the finished beginning yet."""

    def next(self) -> Encounter | None:
        while not self._waits():
            step = next(self._schedule, None)
            if step is None:
                return None
            if isinstance(step, Wait):
                self._awaited = list(step.games)
            elif not self._skips(step):
                self.given.append(step)
                return step
        return None

    def _waits(self) -> bool:
        while self._awaited and self._is_over(self._awaited[-1]):
            self._awaited.pop()
        return bool(self._awaited)

    def finished(self) -> Iterator[Encounter]:
        while self.given and all(self._is_over(game.id) for game in self.given[0].games):
            yield self.given.popleft()
