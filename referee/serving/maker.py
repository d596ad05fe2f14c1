"""Makes pages on demand: one at a time, in a thread of its own, and keeps the last ones."""

from __future__ import annotations

import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import NamedTuple

from referee.core.work import DutyCycle

MAX_WAITING = 256  # maximum number of pages that wait to be made

MAX_BYTES = 64 << 20  # maximum number of bytes of pages that are kept

SHARE = 0.5  # the share of the time of a core that making pages takes at most while a referee is running

LONGEST_REST_S = 2.0  # the longest rest after a page, however long that took


class BusyError(Exception):
    """Too many pages wait already."""


class PageMaker:
    """Makes pages in the order in which they are asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # protects what follows
        self._under_way: dict[Hashable, Future[bytes]] = {}
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        """The pages that were asked for last come last."""
        self._kept_bytes = 0
        self._wanted: queue.SimpleQueue[tuple[Hashable, Callable[[], str]]] = queue.SimpleQueue()
        self._duty_cycle = DutyCycle(time.monotonic, 1.0)

    def set_share(self, is_running: bool) -> None:
        """Notes whether a referee is running, which is not to be disturbed."""
        self._duty_cycle.share = SHARE if is_running else 1.0

    @property
    def waiting(self) -> int:
        """How many pages are still to be made."""
        return len(self._under_way)

    def page(self, key: Hashable, make: Callable[[], str]) -> Future[bytes]:
        """The page with a key, as `make` gives it, or with what that raises. Pages with the same key are the
        same. Raises `BusyError`.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: Future[bytes] = Future()
                found.set_result(self._kept[key])
                return found
            if key in self._under_way:
                return self._under_way[key]
            if len(self._under_way) >= MAX_WAITING:
                raise BusyError
            future = self._under_way[key] = Future()
        self._wanted.put((key, make))
        return future

    def work(self) -> None:
        """Makes pages forever."""
        while True:
            self.make_next()
            time.sleep(min(LONGEST_REST_S, self._duty_cycle.wait_s))

    def make_next(self) -> None:
        """Waits until a page is wanted, and makes it."""
        key, make = self._wanted.get()
        try:
            with self._duty_cycle.spent():
                made = make().encode()
        except Exception as error:
            with self._lock:
                future = self._under_way.pop(key)
            future.set_exception(error)
            return
        with self._lock:
            self._keep(key, made)
            future = self._under_way.pop(key)
        future.set_result(made)

    def _keep(self, key: Hashable, made: bytes) -> None:
        self._kept[key] = made
        self._kept_bytes += len(made)
        while self._kept_bytes > MAX_BYTES:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped)


class PageMakers(NamedTuple):
    """One for each kind of pages, so that those that are made soon do not wait for those that take long."""

    lists: PageMaker
    replays: PageMaker
    reports: PageMaker
