"""Plays tasks on a backend, one after the other as a tournament does, until there are enough results."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from referee.tournament.workers.task import Backend, Task


def play_tasks(backend: Backend, tasks: Iterator[Task], enough: Callable[[], bool]) -> None:
    """Starts tasks until `enough` is true, and finishes those that were started. Their reports go to
    whoever opened the backend.
    """
    while True:
        while backend.has_room and not enough():
            backend.play(next(tasks))
        if not backend.busy:
            break
        backend.take_reports(0.1)
