"""A bot that is asked for moves: `referee.Bot`, and what it can reply."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from referee.api.bots import BotLike, given_bots
from referee.api.hosting import Channel, HostedOrder
from referee.api.scratch_folder import ScratchFolder
from referee.asking.asked_game import AskedGame
from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.seeds import game_seed
from referee.core.settings import START_US
from referee.core.text import shown
from referee.core.units import TimeControl, parse_period
from referee.gameplay.api import GameDescription, LegalMoves, Question, SeatReply
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES, VARIABLE, game_given
from referee.games.api import Outcome, Seat
from referee.kit.position import Position
from referee.processes.program import Program
from referee.tournament.file.bot_table import BotTable, bot_tables
from referee.tournament.plan import BotOrigin, checked_seed


@dataclass(frozen=True, slots=True)
class Reply:
    """The bot's move."""

    text: str
    """The move in its canonical spelling, as `Position.play` takes it."""
    info: str = ""
    """What the bot said of it with `info`; empty where it said nothing."""
    used_us: int = 0
    """How long it took, in microseconds, as a game charges it."""
    rejected: tuple[str, ...] = ()
    """Its answers before, which were no legal moves."""
    defaulted: bool = False
    """Whether this is the move that the game makes for a seat that is out of time."""


@dataclass(frozen=True, slots=True)
class Resignation:
    """The bot resigned."""

    used_us: int = 0
    """How long that took, in microseconds."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The bot did what loses a game. Its process has been ended; the next position is put to a new one."""

    word: str
    """What it did, as in records: `start`, `time`, `gone`, `flood`, `protocol`, `turn`, `limit` or `illegal`.
    """
    detail: str
    """What was seen of it, in a phrase; may be empty."""
    hint: str
    """What that often means, for the bot's author."""
    stderr: str = ""
    """What the bot wrote to stderr since it was told of the game: beginning and end where that is much."""
    used_us: int = 0
    """How long it was waited for, in microseconds."""


class Bot:
    """A bot that is asked for its moves in positions, under a clock and judged as in a game.

        with referee.Bot("./mine", "blooms", {"size": 4}) as bot:
            match bot.play(position, clock="1s"):
                case referee.Reply(text=text): position = position.play(text)
                case referee.Resignation(): ...
                case referee.Fault(word="time"): ...

    It runs in a process apart from yours, which is started with the first position. End of the `with` block,
    `close`, garbage collection and the end of your program end it with everything that it started.
    """

    def __init__(
        self,
        bot: BotLike,
        game: str,
        options: Mapping[str, int | str] | None = None,
        *,
        isolation: str | None = None,
        start: str | None = None,
        seed: int | str | None = None,
    ) -> None:
        """`bot`: a command, a path, a list of words, a function, or a `[[bot]]` table, as for `match`.
        `game` and `options` as for `kit.new`. `isolation`: its level, by default what its table says, or
        `auto`. `start`: how long it may take for `hello`, and to get ready for a game, such as `"10s"`, which
        is the default. `seed`: what its random numbers come from; the default is fresh randomness.

        Raises `UsageError` for an unknown game, a program that is not there and values that are not as
        expected, `GameOptionError` for options that the game does not accept.
        """
        self._lock = threading.Lock()
        self._host: HostedOrder | None = None
        self._folder: ScratchFolder | None = None
        """What a function that plays is read from; None where no function plays."""
        self._owner = os.getpid()
        self._game = game_given(game, Path.cwd())
        self._options = self._game.settle({name: str(value) for name, value in (options or {}).items()})
        self._seed = checked_seed(None if seed is None else str(seed))
        start_us = START_US if start is None else parse_period(start)
        given = given_bots([bot], Path.cwd(), Path())
        table = _read(given.tables[0], isolation)
        program = table.bot
        if self._game.slug not in GAMES and VARIABLE in os.environ:
            program = replace(program, env=((VARIABLE, os.environ[VARIABLE]), *program.env))
        self._entrant = replace(table.entrant(self._game.clock), bot=program)
        self._order = _Asking(program, table.origin, given.files, start_us)
        self._clock = self._entrant.control
        self._clock_text: str | None = None
        self._asked: AskedGame | None = None
        """The game that the bot was told of last, if it is not over for it."""
        self._games = 0
        """How many games it was told of."""

    def __repr__(self) -> str:
        return f"<Bot {self._entrant.bot.name} of {self._game.slug}>"

    def play(
        self, position: Position, clock: str | None = None, seat: Seat | None = None
    ) -> Reply | Resignation | Fault:
        """Asks for the move of a seat, counted from 0, which may be left out where only one seat acts. Waits
        for it as long as the clock says, such as `"1s"` or `"100ms+10s"`, a full one for each position; by
        default that of the bot's table or of the game.

        The bot is told what the seat knows and no more. Where the position follows from the last one with the
        bot's own move, the bot's game goes on; else it is told of a new game, with all that has happened in
        it.

        Whatever the bot does is a value. Raises `UsageError` for a position of another game, with other
        options, that is over or where chance acts, and for a seat that does not act; `TimeControlError` for
        the clock; `EnvironmentLacksError` where the machine lacks what is needed to play. One call is made at
        a time: another thread waits.
        """
        with self._lock:
            if os.getpid() != self._owner:
                raise UsageError("the bot belongs to the process that has forked this one, expected its own")
            seat = self._checked(position, seat)
            control = self._control(clock)
            try:
                return self._ask(position, control, seat)
            except BaseException:  # it may be in the middle of a move
                self._end()
                raise

    def close(self) -> None:
        """Ends the bot and everything that it started. It is started again when it is asked again."""
        with self._lock:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _checked(self, position: Position, seat: Seat | None) -> Seat:
        """The seat that is to be asked. Raises `UsageError`."""
        slug = self._game.slug
        if not isinstance(position, Position):
            raise UsageError(f"`position` is `{shown(repr(position), 80)}`, expected a `kit.Position`")
        if position.game.slug != slug:
            raise UsageError(f"the position is of `{position.game.slug}`, expected one of `{slug}`")
        if position.options != self._options:
            given, expected = (
                " ".join(f"{name}={value}" for name, value in options.items())
                for options in (position.options, self._options)
            )
            raise UsageError(f"the options of the position are `{given}`, expected `{expected}`")
        acting = position.to_act()
        if not acting:
            raise UsageError("the game is over, expected a position in which a seat acts")
        if acting[0] < 0:
            raise UsageError("chance acts in the position, expected one in which a seat acts")
        if seat is None and len(acting) == 1:
            return acting[0]
        if seat not in acting:
            seats = ", ".join(map(str, acting))
            raise UsageError(f"`seat` is {seat}, expected one of the seats that act: {seats}")
        return seat

    def _control(self, clock: str | None) -> TimeControl:
        """Raises `TimeControlError`, `EnvironmentLacksError`."""
        if clock != self._clock_text:
            control = self._entrant.control if clock is None else TimeControl.parse(clock)
            replace(self._entrant, control=control).check_clock()
            self._clock, self._clock_text = control, clock
        return self._clock

    def _ask(self, position: Position, control: TimeControl, seat: Seat) -> Reply | Resignation | Fault:
        if self._host is None:
            self._folder = ScratchFolder.made() if self._order.files else None
            self._host = HostedOrder(replace(self._order, folder=self._folder), self._folder)
        wire = _HostedSeat(self._host)
        game, self._asked = self._asked, None
        if game and not (
            game.seat == seat and game.terms.controls[seat] == control and game.goes_on_at(position.state)
        ):
            game.leave()
            game = None
        if game is None:
            self._games += 1
            game = AskedGame(self._terms(position, control), seat, wire)
        *rejected, result = game.ask_at(position.state)
        match result:
            case Moved(text=text, charge=charge, defaulted=defaulted, info=info):
                self._asked = game
                answers = tuple(event.text for event in rejected if isinstance(event, Rejected))
                return Reply(text, info, charge.used_us, answers, defaulted)
            case Retired(ending=Ending.RESIGNED, used_us=used_us):
                game.leave()
                return Resignation(used_us)
            case _:
                assert isinstance(result, Retired)
                fault, stderr = wire.end_at_fault(result)
                hint = fault.hint or fault.ending.hint
                return Fault(fault.ending.word, fault.detail, hint, stderr, fault.used_us)

    def _terms(self, position: Position, control: TimeControl) -> Terms:
        seats, name = position.seats, str(self._games)
        return Terms(
            name,
            position.game,
            position.options,
            (self._entrant.bot.name,) * seats,
            (control,) * seats,
            game_seed(self._seed, name),
        )

    def _end(self) -> None:
        host, self._host, self._asked = self._host, None, None
        if host:
            host.close()
        if self._folder:
            self._folder.remove()


def _read(table: dict[str, Any], isolation: str | None) -> BotTable:
    """A bot from its table. Raises `UsageError`, also where its program is not there."""
    main = Fields({} if isolation is None else {"isolation": isolation}, "", UsageError)
    (found,) = bot_tables(Path.cwd(), Fields({"bot": [table]}, "", UsageError), main, dict)
    found.bot.check_is_program()
    if found.missing:
        raise UsageError(f"bot `{found.bot.name}` needs `{shown(found.missing, 80)}`, which is not here")
    if not found.origin.build:
        found.bot.check()
    return found


@dataclass(frozen=True, slots=True)
class _Asking:
    """The order to a host to have a bot asked; the parts are those of `bot_host.serve`."""

    bot: Program
    origin: BotOrigin
    files: Mapping[str, bytes]
    start_us: int
    folder: Path | None = None  # where the files are written; None where there are none

    def perform(self, channel: Channel) -> None:
        """Runs in the host."""
        from referee.api.bot_host import serve  # what plays is not imported in the caller

        serve(self.bot, self.origin, self.files, self.folder, self.start_us, channel)


class _HostedSeat:
    """The wire to the bot in a host: each call is made there, those with a result are waited for."""

    def __init__(self, host: HostedOrder) -> None:
        self._host = host

    def open(self, seat: Seat, description: GameDescription) -> None:
        self._host.send(("open", seat, description))

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        self._host.send(("catch_up", seats))

    def post(self, seat: Seat, question: Question) -> None:
        self._host.send(("post", seat, question))

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        self._host.send(("show_legal", seat, legal))

    def next_reply(self) -> SeatReply:
        self._host.send(("next_reply",))
        reply: SeatReply = self._host.receive()
        return reply

    def close(self, outcome: Outcome, ending: Ending) -> None:
        self._host.send(("close", outcome, ending))

    def end_at_fault(self, fault: Retired) -> tuple[Retired, str]:
        self._host.send(("end_at_fault", fault))
        known: tuple[Retired, str] = self._host.receive()
        return known
