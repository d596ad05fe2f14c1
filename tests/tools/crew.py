"""Plays one encounter after the other with workers, as a tournament does, until somebody has enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from referee.tournament.task import Task
from referee.tournament.workers import Workers


def play(workers: Workers, tasks: Iterator[Task], enough: Callable[[], bool]) -> None:
    """What is reported goes to whoever made the workers; all that was begun is finished."""
    while True:
        while workers.has_room and not enough():
            workers.play(next(tasks))
        if not workers.busy:
            break
        workers.take_reports(0.1)
