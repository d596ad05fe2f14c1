"""Plays one encounter after the other with workers, as a tournament does, until somebody has enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future

from referee.tournament.task import Task
from referee.tournament.workers import Workers


def play(workers: Workers, tasks: Iterator[Task], enough: Callable[[], bool]) -> None:
    """What is reported goes to whoever made the workers; all that was begun is finished."""
    running: set[Future[None]] = set()
    while True:
        while len(running) < workers.room and not enough():
            running.add(workers.submit(next(tasks)))
        if not running:
            break
        workers.take_reports(0.1)
        done = {future for future in running if future.done()}
        for future in done:
            future.result()
        running -= done
    workers.take_reports(0)
