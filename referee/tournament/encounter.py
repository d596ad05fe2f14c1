"""An encounter: a few games of the same bots, one after the other, in the same processes.

The unit of work of a match and of a tournament. The bots are started for it and ended after it. A bot
that broke something gets a fresh process for its next game, so no game suffers for the one before.
"""

from __future__ import annotations

import gc
import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import referee
from referee.core.text import shown
from referee.gameplay import hints
from referee.gameplay.api import Failure
from referee.gameplay.events import Ending, Event, Retired, Seat
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.processes.bot import Bot
from referee.processes.process import Epitaph
from referee.records.record import GameRecord, Summary, faults
from referee.tournament.plan import START_US
from referee.wire.channel import LAST_KEPT, Channel
from referee.wire.link import Link, Tap, end_links
from referee.wire.pipes import PipesWire

NOT_TRIED = Failure(Ending.START, "it failed to start several times in a row, and is not tried again")

Show = Callable[[Terms, Event, State[Any]], None]
"""Told of every event while a game is on, with the state after it."""

Mourn = Callable[[str, Epitaph], None]
"""Told of every bot whose processes were ended: its name, and what was found."""


def play_encounter(
    bots: Iterable[Bot],
    games: Iterable[Terms],
    show: Show | None = None,
    tap: Tap | None = None,
    start_us: int = START_US,
    fresh: Collection[str] = (),
    given_up: Collection[str] = (),
    mourn: Mourn | None = None,
) -> Iterator[GameRecord]:
    """Plays the games in their order and gives each as it is finished. All processes end with it.

    Bots whose names are in `fresh` get a new process for every game, those in `given_up` none at all.
    """
    by_name = {bot.name: bot for bot in bots}
    links: dict[str, Link] = {}

    def end(names: Iterable[str]) -> None:
        ending = [links.pop(name) for name in names]
        end_links(ending)
        for link in ending:
            if mourn and link.process and link.process.epitaph:
                mourn(link.bot.name, link.process.epitaph)

    try:
        for terms in games:
            for name in terms.bots:
                if name not in links:
                    links[name] = Link(by_name[name], tap, NOT_TRIED if name in given_up else None)
            seated = [links[name] for name in terms.bots]
            record = _play(terms, seated, show, start_us)
            for seat, fault in enumerate(faults(record)):
                seated[seat].faulted = bool(fault)  # guard: fresh-after-fault
            # What broke something is ended now, so that its record says what was left of it.
            end({name for name in terms.bots if name in fresh or not links[name].fit})
            yield _with_remains(record, seated)
    finally:
        end(list(links))


def _with_remains(record: GameRecord, links: list[Link]) -> GameRecord:
    """A record that knows what came of bots that are ended by now: what they left behind, and said last."""
    for measured, link in zip(record.measured["seats"], links, strict=True):
        epitaph = link.process.epitaph if link.process else None
        if epitaph:
            measured.update(remains(epitaph))
    return replace(record, events=tuple(_with_hint(event, links) for event in record.events))


def _with_hint(event: Event, links: list[Link]) -> Event:
    match event:
        case Retired(seat, Ending.TIME | Ending.START) if links[seat].held_back:
            return event._replace(hint=hints.HELD_BACK)
    return event


def remains(epitaph: Epitaph) -> dict[str, list[str]]:
    """What a bot left behind, by how it was found; nothing of a well-behaved one."""
    found = {
        "left": epitaph.left,
        "escaped": epitaph.escaped,
        "unkillable": epitaph.unkillable,
    }
    return {name: list(map(shown, processes)) for name, processes in found.items() if processes}


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
    with _no_collecting():
        verdict = play(terms, wire, seeded_dice(terms), watch)
    gone = {event.seat for event in events if isinstance(event, Retired) and event.ending.is_fault}
    measured = {
        "began": began.isoformat(timespec="milliseconds"),
        "mono_us": wire.began_ns // 1000,
        "seats": [
            {**_seat_measured(wire, seat), **(_last_words(links[seat].channel) if seat in gone else {})}
            for seat in range(len(links))
        ],
        "referee": referee.__version__,
        "python": platform.python_version(),
        "host": platform.platform(),
    }
    return GameRecord(terms, tuple(events), verdict, measured, terms.game.rules)


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Keeps the collection of garbage, which can take many milliseconds, between the games."""
    was_on = gc.isenabled()
    gc.disable()  # guard: garbage
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _last_words(channel: Channel) -> dict[str, Any]:
    """What passed last between the referee and a bot that broke something."""
    sent = channel.last_said.splitlines()[-LAST_KEPT:]
    partial = [channel.partial] if channel.partial else []
    return {
        "last_sent": [shown(line) for line in sent],
        "last_came": [shown(line) for line in (*channel.last_heard, *partial)][-LAST_KEPT:],
    }


def _seat_measured(wire: PipesWire, seat: Seat) -> dict[str, Any]:
    """What a bot said beside its answers; only what there is."""
    aside, starting, playing = wire.aside(seat)
    measured: dict[str, Any] = {}
    for name, us in (("stopped_us", wire.stopped_us(seat)), ("cpu_us", wire.cpu_us(seat))):
        if us:
            measured[name] = us
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
