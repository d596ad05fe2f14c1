"""Makes pages on demand: one at a time in a thread of its own, and keeps the last ones; among them the report
of a run while it is played, with only the games that may be shown.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeVar

from referee.analysis.store import analysed
from referee.core.errors import UsageError
from referee.core.work import DutyCycle
from referee.pages.game_analysis import NO_ANALYSES, Analyses
from referee.pages.report.games import read_games
from referee.pages.report.gathering import Gathering
from referee.pages.report.pages import report_page
from referee.records.run_files import ANALYSIS
from referee.serving.live import Snapshot
from referee.tournament.run.reading import Runs
from referee.tournament.run.run import StoredRun

MAX_WAITING = 256  # maximum number of pages that wait to be made

MAX_BYTES = 64 << 20  # maximum number of bytes of pages that are kept

SHARE = 0.5  # the share of the time of a core that making pages takes at most while a referee is running

LONGEST_REST_S = 2.0  # the longest rest after a page, however long that took


class BusyError(Exception):
    """Too many pages wait already."""


class PageMaker:
    """Makes pages in the order in which they are asked for."""

    def __init__(self, is_running: Callable[[], bool]) -> None:
        """`is_running` says whether a referee is running, which is not to be disturbed."""
        self._is_running = is_running
        self._lock = threading.Lock()  # protects what follows
        self._under_way: dict[Hashable, Future[bytes]] = {}
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        """The pages that were asked for last come last."""
        self._kept_bytes = 0
        self._wanted: queue.SimpleQueue[tuple[Hashable, Callable[[], str]]] = queue.SimpleQueue()
        self._duty_cycle = DutyCycle(time.monotonic, 1.0)

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
        self._duty_cycle.share = SHARE if self._is_running() else 1.0
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


SLICE_S = 0.2  # after so much work there is a rest while a referee is running


class LastAnalyses:
    """The analyses of a run's games, read again when their file has changed."""

    def __init__(self) -> None:
        self._stamp = 0
        self._games: Analyses = NO_ANALYSES

    def of(self, run: StoredRun, stamp: int) -> Analyses:
        """The analyses in the file as it is at a `stamp_of`; none where it cannot be read."""
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._games = analysed(run).games if stamp else NO_ANALYSES
            except UsageError:
                self._games = NO_ANALYSES
        return self._games


def stamp_of(folder: Path) -> int:
    """When the file of analyses in a run's folder changed last, in nanoseconds; 0 where there is none."""
    try:
        return (folder / ANALYSIS).stat().st_mtime_ns
    except OSError:
        return 0


FRESH_S = 10.0  # A report is good for so long, or as long as it took, whatever has happened since

T = TypeVar("T")


class Reports:
    """The report that was made last, or is being made."""

    def __init__(self, maker: PageMaker, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._maker = maker
        self._clock = clock
        self._last_hash = ""  # the state of the run that it shows
        self._future: Future[bytes] | None = None
        self._stale_s = 0.0  # when it is too old, by the clock

    def page(self, snapshot: Snapshot) -> Future[bytes]:
        """The report of a run that has begun. Raises `BusyError`."""
        last_hash = snapshot.run.last_hash if snapshot.run else ""
        future = self._future
        if future and (not future.done() or (future.exception() is None and self._is_fresh(last_hash))):
            return future
        began_s = self._clock()

        def note(_: Future[bytes]) -> None:
            ended_s = self._clock()
            self._stale_s = ended_s + max(FRESH_S, ended_s - began_s)

        self._last_hash = last_hash
        self._future = self._maker.page(("report", last_hash), lambda: report_of(snapshot))
        self._future.add_done_callback(note)
        return self._future

    def _is_fresh(self, last_hash: str) -> bool:
        return self._last_hash == last_hash or self._clock() < self._stale_s


def report_of(snapshot: Snapshot) -> str:
    """The report of a run that has begun. Raises `UsageError` where no game may be looked at, `RecordError`
    where the records have changed.
    """
    run = snapshot.run
    if run is None:
        raise ValueError("the run has not started")
    pages = {snapshot.played[number - 1].game.id: f"/game/{number}" for number in snapshot.may_be_shown()}
    if not pages:
        raise UsageError("games cannot be viewed yet")
    shown = run.only(pages)
    gathering = Gathering(Runs((shown,)))
    share = SHARE if snapshot.is_running else 1.0
    with closing(read_games(gathering.runs, workers=0, with_replays=False)) as games:
        for read in _with_rests(games, share, time.sleep):
            gathering.add(read)
    return report_page(gathering.report(), (), {}, pages, None)


def _with_rests(items: Iterable[T], share: float, sleep: Callable[[float], None]) -> Iterator[T]:
    """The items, with a rest now and then, so that they take at most this share of the time."""
    began_s = time.monotonic()
    for item in items:
        yield item
        busy_s = time.monotonic() - began_s
        if share < 1 and busy_s > SLICE_S:
            sleep(busy_s * (1 / share - 1))
            began_s = time.monotonic()
