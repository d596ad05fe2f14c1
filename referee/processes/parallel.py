"""Calls a function for many items in several processes, and gives the results in the order of the items."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

from referee.core.errors import EnvironmentLacksError
from referee.core.stop import SIGNALS
from referee.processes import libc

A = TypeVar("A")
B = TypeVar("B")

AHEAD = 4
"""How many items for each process are taken before the first of them is done: as much is held in memory."""


def in_order(function: Callable[[A], B], items: Iterable[A], workers: int) -> Generator[B, None, None]:
    """What the function gives for each item, in the order of the items; items and results are sent as
    pickles, the function is not.

    The items are divided among this many processes. This process does all of it itself for 0 or 1 workers,
    or where there is only one item. Raises what the function raises, and `EnvironmentLacksError` where one of
    the processes ends unasked.
    """
    items = iter(items)
    first = list(islice(items, 2))
    items = chain(first, items)
    if workers < 2 or len(first) < 2:
        yield from map(function, items)
        return
    # Forked, so that they have the games from files of the user, and the function needs no pickle.
    context = multiprocessing.get_context("fork")
    others = set(multiprocessing.active_children())
    # A signal is to be taken by this process alone, also if it comes before the others ignore it.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        pool = ProcessPoolExecutor(workers, context, partial(_begin, function, os.getpid(), blocked))
        waiting: deque[Future[B]] = deque([pool.submit(_call, next(items))])  # starts all processes
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    try:
        for item in items:
            waiting.append(pool.submit(_call, item))
            if len(waiting) == AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise EnvironmentLacksError(
            "a process that read records was ended by something else; "
            "with `--workers 1` there are no such processes"
        ) from None
    finally:
        # What they are still at is not wanted any more, and may take long.
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        pool.shutdown(cancel_futures=True)


_function: Callable[[Any], Any]
"""In one of the processes: what it calls."""


def _begin(function: Callable[[Any], Any], parent: int, blocked: set[signal.Signals | int]) -> None:
    """Prepares one of the processes: only its parent decides when it ends."""
    global _function
    _function = function
    libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _call(item: Any) -> Any:
    return _function(item)
