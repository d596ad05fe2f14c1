"""What a worker tells of its game, in its slot, while somebody looks.

Of an open game, each event is a line: `US m SEAT RESERVE_US MOVE`, with `p` for a move of the opening,
`US d 0 0 OUTCOME` for chance, `US r SEAT 0 ENDING` for a seat that retired. What bots say besides their moves
is not told. Of a game with hidden information the position as everybody knows it is told, in the place of the
one before: `{"us", "turn": [SEAT, …], "moves", "picture"}`. Nothing is told
of one whose hidden part others will meet.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from referee.core.work import DutyCycle
from referee.gameplay.events import Drawn, Event, Moved, Preset, Rejected, Retired
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.live.pictures import picture_json
from referee.live.slots import SlotWriter, Watch, now_us
from referee.viewing.knowledge import EVERYBODY, ViewKnowledge

QUICK_US = 50_000  # a move that took longer is told at once

BATCH_US = 100_000  # how often others are told

STANDS_US = 300_000  # how long the end of a game stands until the next game is told, so that it is seen

PICTURES_S = 0.25  # how often a common picture is told at most

SHARE = 0.005  # the maximum share of the time that a worker computes common pictures


class Feed:
    """Tells of one game after the other. Nothing that goes wrong here ends a game."""

    def __init__(self, folder: Path | None = None, name: str = "") -> None:
        """The slot has this name in the folder of slots; without a folder nothing is told."""
        self.is_on = False  # whether events of the game are to be told
        self.state: State[Any] | None = None
        """The position after the last event; whoever plays the game sets it."""
        self._writer = SlotWriter(folder, name) if folder else None
        self._watch = Watch(folder) if folder else None
        self._duty = DutyCycle(time.monotonic, SHARE, PICTURES_S, time.thread_time)
        self._terms: Terms | None = None  # those of the game that is played
        self._events: Sequence[Event] = ()
        self._told: int | None = None  # how many events were told; None where not even the game was
        self._at_us = 0  # when the last event happened
        self._due_us = 0  # when others are told at the latest
        self._ended_us = -STANDS_US  # when the last game that was told ended
        self._is_blank = True  # whether the slot has no game

    def begin(self, terms: Terms, events: Sequence[Event]) -> None:
        """A game begins, whose events so far are always in this list."""
        self._terms, self._events, self._told, self.state = terms, events, None, None
        self.is_on = self._is_watched() and _may_tell(terms)
        self._at_us = now_us()
        if self._writer and not (self.is_on or self._is_blank):
            self._writer.begin({})  # nobody is to be shown an old game when somebody looks again
            self._is_blank = True

    def take(self, event: Event) -> None:
        """An event happened, and somebody looks. It is called for every move, and most are told later."""
        kind = type(event)
        if kind is Rejected:
            return  # not even when it was is told
        self._at_us = now = now_us()
        if now >= self._due_us or (kind is Moved and cast(Moved, event).charge.used_us > QUICK_US):
            self._tell()

    def look(self, waited_us: int) -> None:
        """Tells what is not told yet. Called now and then while a bot is waited for, since so long."""
        was_on, terms = self.is_on, self._terms
        self.is_on = terms is not None and self._is_watched() and _may_tell(terms)
        if self.is_on:
            if not was_on:
                self._at_us = now_us() - waited_us
            self._tell()

    def end(self) -> None:
        """The game is over."""
        if self.is_on and self._told is not None:
            self._tell(is_over=True)
            self._ended_us = now_us()
            self._due_us = self._ended_us + STANDS_US
        self._terms, self._events, self.state, self.is_on = None, (), None, False

    def close(self) -> None:
        """Removes the slot."""
        if self._writer:
            self._writer.close()

    def _is_watched(self) -> bool:
        return self._watch is not None and self._watch.is_on

    def _tell(self, is_over: bool = False) -> None:
        """Writes what was not told, a picture only if one is due or the game is over. If a game from outside
        fails here, it is played on untold.
        """
        writer, terms = self._writer, self._terms
        if not writer or not terms or self._told == len(self._events):
            return
        if self._told is None and now_us() - self._ended_us < STANDS_US:
            return
        if not (terms.game.is_open or self._duty.is_due or is_over):
            return
        try:
            if self._told is None:
                self._told, self._is_blank = 0, False
                writer.begin(_head(terms))
            if terms.game.is_open:
                writer.append("".join(self._lines(self._told)).encode())
            else:
                with self._duty.spent():
                    writer.replace(json.dumps(self._picture(terms), separators=(",", ":")).encode())
            self._told = len(self._events)
            self.is_on = self._is_watched()
        except Exception:
            self._terms, self.is_on = None, False
        self._due_us = now_us() + BATCH_US

    def _lines(self, first: int) -> Iterator[str]:
        for event in self._events[first:]:
            match event:
                case Moved(seat, text, charge):
                    yield f"{self._at_us} m {seat + 1} {charge.reserve_us} {text}\n"
                case Preset(seat, text):
                    yield f"{self._at_us} p {seat + 1} 0 {text}\n"
                case Drawn(text):
                    yield f"{self._at_us} d 0 0 {text}\n"
                case Retired(seat, ending):
                    yield f"{self._at_us} r {seat + 1} 0 {ending.word}\n"

    def _picture(self, terms: Terms) -> dict[str, Any]:
        known = ViewKnowledge.of(EVERYBODY, terms.game, terms.options)
        state = self.state or terms.game.start(terms.options)
        return {
            "us": self._at_us,
            "turn": [seat + 1 for seat in known.to_move(state)],
            "moves": sum(isinstance(event, Moved | Preset) for event in self._events),
            "picture": picture_json(known.picture(state)),
        }


def _may_tell(terms: Terms) -> bool:
    """Whether a game may be shown while it is played: not where others who have not played yet find in their
    games what is hidden in this one, since all have the same start, or all play alone with the same chance.
    """
    return terms.game.is_open or not (terms.start or len(terms.bots) == 1)  # guard: told-in-play


def _head(terms: Terms) -> dict[str, Any]:
    return {
        "id": terms.id,
        "game": terms.game.slug,
        "options": dict(terms.options),
        "bots": list(terms.bots),
        "clocks": [[one.move_us, one.reserve_us] if one.timed else None for one in terms.controls],
    }
