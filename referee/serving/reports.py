"""The report of a run while it is played: only games that may be shown, rebuilt at a limited rate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing
from typing import TypeVar

from referee.core.errors import UsageError
from referee.pages.report.gathering import Gathering
from referee.pages.report.pages import report_page
from referee.pages.report.reading import read_games
from referee.serving.live import Snapshot
from referee.serving.maker import SHARE, PageMaker
from referee.tournament.run.reading import Runs

SLICE_S = 0.2  # after so much work there is a rest while a referee is running

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
