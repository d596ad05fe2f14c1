"""The shape of the catalogue: a row, and the ways in which it is tested."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from referee.check.first_contact import unread_bytes
from referee.processes import cpu
from referee.processes.limits import DEFAULT, Limits
from referee.protocol.session import Phase
from referee.wire.process_wire import SeatWire
from tests.catalogue.judging import Area, Judge, explodes, harms_run, harms_victim, outlives

LONG = "1h"
"""The clock of everybody who is not to run out of time: a busy machine changes no verdict."""

Late = Callable[[SeatWire], object]
"""Whether the time of a seat is up, as far as a bot goes that does something before."""


def at_once(place: SeatWire) -> bool:
    """It does nothing before."""
    return True


def has_read(place: SeatWire) -> bool:
    """Whether it has read what it was sent."""
    process = place.connection.process
    return process is not None and not place.connection.unsent and not unread_bytes(process.stdin)


def loading(place: SeatWire) -> bool:
    """Whether it has said hello."""
    return place.connection.session.phase is Phase.LOADING


def asked(place: SeatWire) -> bool:
    """Whether it was asked."""
    return place.connection.session.phase is Phase.ASKED


def partial(place: SeatWire) -> bytes:
    """Whether it has begun a line."""
    return place.connection.session.partial


def noisy(place: SeatWire) -> int:
    """How many lines of noise came in this turn."""
    return place.connection.session.turn.noise_count


def computed_us(place: SeatWire) -> float:
    """The processor time of this move, as far as that can be known."""
    return place.watch.measured(0, place.watch.cpu_ns())[1].cpu_us if cpu.AVAILABLE else math.inf


RESIGNS = "while asked; do echo resign $n; done"
"""What the other bot does if nothing else is said: the game ends with its first turn."""

PAUSES = "asked; sleep 0.3; answer; asked; echo resign $n; listen quit"
"""It thinks a little, which leaves the bad bot some time off turn, and lets it be asked once more."""


@dataclass(frozen=True, slots=True)
class Case:
    """A provocation: a bot that misbehaves, against one that does not."""

    bot: str | tuple[str, ...]
    """For sh, behind `bad_bot.sh`; or a command."""
    verdict: str = ""
    """The fault that it loses by; none where it plays on until the other one resigns."""
    detail: str = ""
    """A part of what is said of the fault."""
    name: str = ""
    """What it is about, where a row has several."""
    foe: str = RESIGNS
    """For sh too."""
    clock: str = LONG
    start: str = LONG
    late: Late | None = None
    """When its time is up, where its clock does not decide that."""
    games: int = 1
    """So many in one encounter, each with this verdict."""
    setup: str = ""
    """For sh, in the empty folder that the bot will run in."""
    rejected: int = 0
    """So many of its answers are."""
    noise: tuple[str, ...] = ()
    """Lines of noise that the record has."""
    stderr: str = ""
    """A part of its stderr that the record has."""
    hint: str = ""
    """A part of what its author is told."""
    escaped: str = ""
    """The name of a process that left its group, as the record has it."""
    limits: Limits = DEFAULT
    pty: bool = False
    any_user: bool = False
    """It depends on who runs the referee: where that is root, it is provoked again as an ordinary user."""
    linux: bool = False
    """Only Linux has what it takes."""


class When(Enum):
    """When what a bot does at random is judged."""

    START = auto()
    """It does not get ready."""
    FIRST = auto()
    """It leaves after `ready`, which is seen when it is first asked."""
    NOW = auto()
    """On the turn on which it happens."""
    NEXT = auto()
    """The answer of that turn counts; it is judged when the bot is next asked."""
    AFTER = auto()
    """It is gone when the next game begins."""
    NEVER = auto()
    """It harms nobody."""


class Drawn(Enum):
    """The bots for which something is drawn at random."""

    LONG_CLOCK = auto()
    """They are in time unless they fault; it happens on one turn, drawn too."""
    SHORT_CLOCK = auto()
    """They run out of time on their first turn."""
    DEFAULTED = auto()
    """They too have a short clock, and miss every turn, in a game in which silence is a default move."""


@dataclass(frozen=True, slots=True)
class AtRandom:
    """What `tests/bots/faulty_bot.py` does when its seed says so, in `tests.tools.fault_soak`."""

    vice: str
    """What the bot calls it."""
    when: When
    verdict: str = ""
    rejected: int = 0
    """How many answers are rejected."""
    drawn: Drawn = Drawn.LONG_CLOCK


def too_late(vice: str, drawn: Drawn = Drawn.SHORT_CLOCK) -> AtRandom:
    """No answer comes in time."""
    return AtRandom(vice, When.NOW, "time", drawn=drawn)


@dataclass(frozen=True, slots=True)
class Checked:
    """A mistake of `tests/bots/broken_bot.py`, or a file in `tests/bots/broken`. What `referee check` tells
    the author is in the table of `tests/BROKEN_BOTS.md`, with which `tests.tools.broken_bots` compares it.
    """

    name: str
    start: str = "2s"
    """What `--start` is: by default less than a user gives, to save time."""
    steps: tuple[int, ...] = ()
    """The steps that are run, for slow bots; all where it is empty."""


@dataclass(frozen=True, slots=True)
class Defect:
    """What `tests/bots/check_bots.py` does, and the step of `referee check` that says so."""

    name: str
    """What the bot calls it."""
    step: int
    text: str
    """A part of what the step says; `{time}` is the clock."""
    late: Late | None = None
    """When its time may be up, where it runs out of time: once it has said what it says."""
    held_back: bool = False
    """What is at the end of its input is waited for."""
    hangs: bool = False
    """It does not exit; the others have as long as they take."""


def checked(*names: str) -> tuple[Checked, ...]:
    """Bots of which all steps are run."""
    return tuple(map(Checked, names))


@dataclass(frozen=True, slots=True)
class Attack:
    """What a bot in `tests/bots/attacks` does to others from inside a game; the program knows it by its name.
    What comes of it at each level of isolation is in the table of ISOLATION.md, with which
    `tests.tools.attacks` compares it.
    """

    area: Area
    name: str
    language: str
    what: str
    """What its name does not say of it; it may be empty."""
    judge: Judge
    game: int = 1
    """In which game of the encounter it is tried."""
    clock: str = "4s"
    keep: str = "nothing"
    """Which dialogues the referee keeps."""
    processes: str = "encounter"
    """How long the bots' processes are kept."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """Limits of both bots that are not the default."""
    terminal: bool = False
    """The referee runs on a terminal."""
    only: str = ""
    """The kind of user that it is only tried as."""

    @property
    def shares(self) -> bool:
        """Whether others can be tried in the same game, since it should harm nobody."""
        alone = (harms_victim, harms_run, outlives, explodes)
        return self.judge not in alone and not self.terminal

    @property
    def company(self) -> tuple[object, ...]:
        """Attacks of which this is equal can share a game."""
        if not self.shares:
            return (self.name,)
        return (self.language, self.game, self.clock, self.keep, self.processes, self.only)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A test that stands in one of these files; in brackets a parameter of it."""

    name: str


@dataclass(frozen=True, slots=True)
class Why:
    """Why a row, or what is left of it, is not provoked."""

    reason: str


Way = Case | AtRandom | Checked | Defect | Attack | Elsewhere | Why


@dataclass(frozen=True, slots=True)
class Row:
    """Something that goes wrong, and how it is tested."""

    number: int
    name: str
    ways: tuple[Way, ...]

    @property
    def cases(self) -> Iterator[tuple[str, Case]]:
        """Its games with bots for sh, each with a name for the test."""
        for way in self.ways:
            if isinstance(way, Case):
                words = re.sub(r"[^a-z0-9]+", "-", f"{self.name} {way.name}".lower()).strip("-")
                yield f"row-{self.number}-{words}", way


Rows = dict[tuple[int, str], tuple[Way, ...]]
"""Rows as they are written: by number and name, how they are tested."""
