"""Calls a function in several processes, and gives the results in the order of the items.

The processes of `concurrent.futures` outlive a parent that is killed, and before Python 3.14 they cannot be
stopped in the middle of an item, as a signal to a command has to do.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Generic, TypeVar

from referee.core.errors import EnvironmentLacksError
from referee.core.stop import SIGNALS

A = TypeVar("A")
B = TypeVar("B")

AHEAD = 4
"""How many items for each process are taken before the first of them is done: as much is held in memory."""


def in_order(function: Callable[[A], B], items: Iterable[A], workers: int) -> Generator[B, None, None]:
    """What the function gives for each item, in the order of the items; items and results are sent as
    pickles, the function is not.

    The items are divided among this many processes. This process does all of it itself for 0 or 1 workers,
    or where there is only one item. Raises `EnvironmentLacksError` where one of the processes ends unasked.
    """
    items = iter(items)
    first = list(islice(items, 2))
    items = chain(first, items)
    if workers < 2 or len(first) < 2:
        yield from map(function, items)
        return
    with _Processes(workers, function) as processes:
        yield from processes.results(items)


class _Processes(Generic[A, B]):
    """Processes that call a function. They end with this one, however that ends, since nobody else holds the
    other ends of their connections.
    """

    def __init__(self, count: int, function: Callable[[A], B]) -> None:
        self._count = count
        self._function = function
        self._idle: list[Connection] = []
        self._processes: list[BaseProcess] = []
        self._given: dict[Connection, int] = {}  # the numbers of the items that are in work

    def __enter__(self) -> _Processes[A, B]:
        # Forked, so that they have the games from files of the user, and the function needs no pickle.
        context = multiprocessing.get_context("fork")
        # A signal is to be taken by this process alone, also if it comes before the others ignore it.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            for _ in range(self._count):
                ours, theirs = context.Pipe()
                self._idle.append(ours)
                args = (theirs, list(self._idle), blocked, self._function)
                process = context.Process(target=_work, args=args, daemon=True)
                process.start()
                self._processes.append(process)
                theirs.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in (*self._idle, *self._given):
            connection.close()
        for process in self._processes:
            process.kill()
            process.join()
            process.close()

    def results(self, items: Iterable[A]) -> Iterator[B]:
        """What the function gives for each item, in their order."""
        numbered = enumerate(items)
        found: dict[int, B] = {}
        number = 0
        try:
            while True:
                # Only a process that waits for an item is sent one: so neither side waits for the other.
                while (
                    self._idle
                    and len(self._given) + len(found) < AHEAD * self._count
                    and (item := next(numbered, None))
                ):
                    connection = self._idle.pop()
                    self._given[connection] = item[0]
                    connection.send(item[1])
                if not self._given:
                    return
                for ready in wait(list(self._given)):
                    assert isinstance(ready, Connection)
                    found[self._given[ready]] = ready.recv()
                    del self._given[ready]
                    self._idle.append(ready)
                while number in found:
                    yield found.pop(number)
                    number += 1
        except (EOFError, ConnectionError):
            raise EnvironmentLacksError(
                "a worker process was killed; with 1 as `workers`, a single process does the work"
            ) from None


def _work(
    connection: Connection,
    others: list[Connection],
    blocked: set[signal.Signals],
    function: Callable[[Any], object],
) -> None:
    """Calls the function for the items that come, until nobody is left to send any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    for other in others:
        other.close()
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            connection.send(function(connection.recv()))
