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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from referee.gameplay.events import Drawn, Event, Moved, Preset, Rejected, Retired
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.live.pictures import picture_json
from referee.live.slots import SlotWriter, Watch, now_us
from referee.viewing.knowledge import EVERYBODY, ViewKnowledge

INTERVAL_NS = 300_000_000
"""How often others are told at most, but for the end of a game: what is told stands until it was seen."""

SHARE = 0.005  # the maximum share of the time that a worker spends on this


class Feed:
    """Tells of one game after the other. Nothing that goes wrong here ends a game."""

    def __init__(self, folder: Path | None = None, name: str = "") -> None:
        """The slot has this name in the folder of slots; without a folder nothing is told."""
        self.is_on = False  # whether events of the game are to be told
        self.due_ns = 0  # when `take` is to be called, on the monotonic clock
        self.state: State[Any] | None = None
        """The position after the last event; whoever plays the game sets it."""
        self._writer = SlotWriter(folder, name) if folder else None
        self._watch = Watch(folder)
        self._terms: Terms | None = None  # those of the game that is played
        self._events: Sequence[Event] = ()
        self._told: int | None = None  # how many events were told; None where not even the game was
        self._is_blank = True  # whether the slot has no game

    def begin(self, terms: Terms, events: Sequence[Event]) -> None:
        """A game begins, whose events so far are always in this list."""
        self._terms, self._events, self._told, self.state = terms, events, None, None
        self.is_on = self._watch.is_on and _may_tell(terms)
        if self._writer and not (self.is_on or self._is_blank):
            self._writer.begin({})  # nobody is to be shown an old game when somebody looks again
            self._is_blank = True

    def take(self) -> None:
        """Tells what is not told yet, among it an event of this moment. Called when that is due, and somebody
        looks.
        """
        self._tell(now_us())

    def look(self, waited_us: int) -> None:
        """Tells what is not told yet. Called now and then while a bot is waited for, since so long."""
        terms = self._terms
        self.is_on = terms is not None and self._watch.is_on and _may_tell(terms)
        if terms and self.is_on:
            now = now_us()
            if 1000 * now >= self.due_ns or (terms.game.is_open and self._told is not None):
                self._tell(now - waited_us)

    def end(self) -> None:
        """The game is over."""
        if self.is_on and self._told is not None:
            self._tell(now_us())
        self._terms, self._events, self.state, self.is_on = None, (), None, False

    def close(self) -> None:
        """Removes the slot."""
        if self._writer:
            self._writer.close()

    def _tell(self, at_us: int) -> None:
        """Writes what was not told; the last of it happened at this time. If a game from outside fails here,
        it is played on untold.
        """
        writer, terms, events = self._writer, self._terms, self._events
        if not writer or not terms or self._told == len(events):
            return
        if events and isinstance(events[-1], Rejected):
            return  # not even when it was is told
        began_ns = time.thread_time_ns()
        try:
            is_open = terms.game.is_open
            data = self._lines(at_us) if is_open else self._picture(terms, at_us)
            if self._told is None:
                writer.begin(_head(terms), data)
                self._is_blank = False
            elif is_open:
                writer.append(data)
            else:
                writer.replace(data)
            self._told = len(events)
            self.is_on = self._watch.is_on
        except Exception:
            self._terms, self.is_on = None, False
        used_ns = time.thread_time_ns() - began_ns
        self.due_ns = 1000 * now_us() + max(INTERVAL_NS, round(used_ns / SHARE))

    def _lines(self, at_us: int) -> bytes:
        lines = []
        for event in self._events[self._told or 0 :]:
            match event:
                case Moved(seat, text, charge):
                    lines.append(f"{at_us} m {seat + 1} {charge.reserve_us} {text}\n")
                case Preset(seat, text):
                    lines.append(f"{at_us} p {seat + 1} 0 {text}\n")
                case Drawn(text):
                    lines.append(f"{at_us} d 0 0 {text}\n")
                case Retired(seat, ending):
                    lines.append(f"{at_us} r {seat + 1} 0 {ending.word}\n")
        return "".join(lines).encode()

    def _picture(self, terms: Terms, at_us: int) -> bytes:
        known = ViewKnowledge.of(EVERYBODY, terms.game, terms.options)
        state = self.state or terms.game.start(terms.options)
        members = {
            "us": at_us,
            "turn": [seat + 1 for seat in known.to_move(state)],
            "moves": sum(isinstance(event, Moved | Preset) for event in self._events),
            "picture": picture_json(known.picture(state)),
        }
        return json.dumps(members, separators=(",", ":")).encode()


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
