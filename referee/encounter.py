"""An encounter: a few games of the same bots, one after the other, in the same processes.

The unit of work of a match and of a tournament. The bots are started for it and ended after it. A bot
that broke something gets a fresh process for its next game, so no game suffers for the one before.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import referee
from referee.bots import Bot
from referee.events import Ending, Event, Left, Seat
from referee.games.api import State
from referee.match import Terms, play, seeded_dice
from referee.plan import START_US
from referee.record import GameRecord, Summary
from referee.wire.pipes import Link, PipesWire, Tap, end_links

NOT_TRIED = "it failed to start several times in a row, and is not tried again"

Show = Callable[[Terms, Event, State[Any]], None]
"""Told of every event while a game is on, with the state after it."""


def play_encounter(
    bots: Iterable[Bot],
    games: Iterable[Terms],
    show: Show | None = None,
    tap: Tap | None = None,
    start_us: int = START_US,
    fresh: Collection[str] = (),
    given_up: Collection[str] = (),
) -> Iterator[GameRecord]:
    """Plays the games in their order and gives each as it is finished. All processes end with it.

    Bots whose names are in `fresh` get a new process for every game, those in `given_up` none at all.
    """
    by_name = {bot.name: bot for bot in bots}
    links: dict[str, Link] = {}
    try:
        for terms in games:
            for name in terms.bots:
                if name in links and (name in fresh or not links[name].fit):
                    end_links([links.pop(name)])
                if name not in links:
                    links[name] = Link(by_name[name], tap, NOT_TRIED if name in given_up else "")
            record = _play(terms, [links[name] for name in terms.bots], show, start_us)
            for event in record.events:
                if isinstance(event, Left) and event.ending.is_fault:
                    links[terms.bots[event.seat]].faulted = True
            yield record
    finally:
        end_links(list(links.values()))


class FailedStarts:
    """Which bots are not worth trying: after so many failed starts in a row a bot is not started again, and
    its seat is lost from the beginning.
    """

    LIMIT = 3

    def __init__(self) -> None:
        self._in_a_row: Counter[str] = Counter()

    def note(self, game: Summary) -> None:
        """Takes a finished game into account."""
        for name, fault in zip(game.bots, game.faults, strict=True):
            self._in_a_row[name] = self._in_a_row[name] + 1 if fault == Ending.START.word else 0

    @property
    def given_up(self) -> frozenset[str]:
        """The names of these bots."""
        return frozenset(name for name, count in self._in_a_row.items() if count >= self.LIMIT)


def _play(terms: Terms, links: list[Link], show: Show | None, start_us: int) -> GameRecord:
    events: list[Event] = []

    def watch(event: Event, state: State[Any]) -> None:
        events.append(event)
        if show:
            show(terms, event, state)

    began = datetime.now(UTC)
    wire = PipesWire(links, start_us)
    verdict = play(terms, wire, seeded_dice(terms), watch)
    measured = {
        "began": began.isoformat(timespec="milliseconds"),
        "seats": [_seat_measured(wire, seat) for seat in range(len(links))],
        "referee": referee.__version__,
        "python": platform.python_version(),
        "host": platform.platform(),
    }
    return GameRecord(terms, tuple(events), verdict, measured, terms.game.rules)


def _seat_measured(wire: PipesWire, seat: Seat) -> dict[str, Any]:
    """What a bot said beside its answers; only what there is."""
    aside, starting, playing = wire.aside(seat)
    measured: dict[str, Any] = {}
    if stopped_us := wire.stopped_us(seat):
        measured["stopped_us"] = stopped_us
    if aside.log or aside.log_dropped:
        measured["log"] = {"lines": aside.log, "dropped": aside.log_dropped}
    if aside.noise_count:
        measured["noise"] = {"lines": aside.noise, "count": aside.noise_count}
    if aside.stale_count:
        measured["stale"] = aside.stale_count
    stderr = {
        when: {"bytes": keep.total, "text": keep.text()}
        for when, keep in (("starting", starting), ("playing", playing))
        if keep.total
    }
    if stderr:
        measured["stderr"] = stderr
    return measured
