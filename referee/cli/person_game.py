"""A person at the keyboard, who plays a game: for `referee play`."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.cli.options import given_of, key_values
from referee.cli.output import can_draw, in_colour, say, show_data
from referee.core.errors import UsageError
from referee.core.pairing import Pairing
from referee.core.seeds import Stream
from referee.core.text import counted, shown
from referee.gameplay.terms import Terms
from referee.games import game_given
from referee.games.api import Seat, State
from referee.person.console import TerminalConsole
from referee.person.game import PersonGame
from referee.person.game import hint as hint_of
from referee.person.interface import Hint, PersonInterface, PersonLeft
from referee.person.words import introduction
from referee.processes import owned
from referee.processes.process import ExitReport
from referee.processes.program import Program, distinct
from referee.records.journal import body_of
from referee.records.record import to_json
from referee.records.run_files import TOML
from referee.running import say_before
from referee.templates import sample_bot
from referee.tournament.file.config import tournament_of
from referee.tournament.formats.fixed import FreePlay
from referee.tournament.run.lock import locked
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.opening import continuing, open_run
from referee.tournament.run.readiness import at_levels, isolated, programs_here, ready
from referee.tournament.run.run import StoredRun, find_run
from referee.tournament.tournament import Tournament
from referee.tournament.workers.encounter import names_left
from referee.viewing.words import fault_report

ME = "me"  # what stands for a person in place of a bot

BLANK_LINES = 60  # what separates the screens of two persons where a terminal cannot clear its screen


@dataclass(frozen=True, slots=True)
class PlaySettings:
    """The options of `referee play`."""

    game: str
    players: tuple[str, ...]
    seat: int | None
    options: tuple[str, ...]
    control: str
    seed: str | None
    hint_text: str | None
    folder: Path | None
    isolation: str | None
    browser: bool
    port: int | None
    host: str | None

    def tables(self, bots: Sequence[Program], options: dict[str, str]) -> dict[str, Any]:
        """The tables of a tournament file for this game, except for the number of its rounds."""
        return {
            "tournament": {
                "game": self.game,
                "format": FreePlay.name,
                "clock": self.control,
                **({} if self.seed is None else {"seed": self.seed}),
            },
            **({"options": options} if options else {}),
            "bot": [_table(bot) for bot in bots],
        }


Places = Callable[[Terms, Sequence[Seat], Hint], AbstractContextManager[PersonInterface]]
"""Where the persons of a game play: gives its interface, as long as it is played."""


def play_game(settings: PlaySettings) -> None:
    """Plays a game; without a folder nothing is stored. Raises `UsageError` for what is wrong with the
    settings.
    """
    if settings.browser:
        from referee.cli.browser_game import PlacesInBrowser  # only when there is a server

        with PlacesInBrowser(settings.host or "127.0.0.1", settings.port or 0) as places:
            _play(settings, places.interface)
            places.wait_until_left()
    elif given := given_of({"--port": settings.port, "--host": settings.host}):
        raise UsageError(f"`{given[0]}` is given without `--browser`, expected both or none")
    else:
        _play(settings, _at_terminal)


def _play(settings: PlaySettings, places: Places) -> None:
    chosen, folder, isolation = game_given(settings.game, Path.cwd()), settings.folder, settings.isolation
    options = key_values("option", settings.options)
    seats = chosen.seats(chosen.settle(options))
    seated = _seated(chosen.slug, settings.players, settings.seat, seats)
    hint_bot = sample_bot(chosen.slug, Path.cwd())
    if settings.hint_text is not None:
        hint_bot = Program.parse(settings.hint_text, Path.cwd())
    hint_bot.check()
    tables = settings.tables(seated, options)
    with contextlib.ExitStack() as stack:
        stored = folder is not None
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=owned.prefix("play"))))
        stack.enter_context(locked(folder))
        number = _next_round(run := find_run(folder))
        tables["tournament"]["rounds"] = max(number, run.header.members["rounds"] if run.lines else 1)
        given = tournament_of(folder / TOML, tables, Path.cwd(), {"tournament.clock": "--time"})
        say_before(given, 0, say)
        tournament = ready(at_levels(continuing(given, run), isolation, is_here=True), folder, at_once=1)
        private = tournament.private(folder)
        (hint_bot,) = isolated([replace(hint_bot, isolation=isolation or "auto")], private)
        say(f"results in {shown(str(folder))}" if stored else "nothing is stored without -o DIR")
        with open_run(tournament, run, programs_here(tournament, folder), True, say) as opened:
            try:
                pairing = Pairing.of(number, tuple(bot.name for bot in seated))
                if _is_played(tournament, opened, pairing, hint_bot, places) and stored:
                    where = shown(str(folder))
                    say(f"recorded as {shown(pairing.id)}; `referee replay {where} {number}` shows it")
            finally:
                opened.reveal_seed()
                opened.check()


def _seated(slug: str, players: tuple[str, ...], seat: int | None, seats: int) -> list[Program]:
    cwd = Path.cwd()
    found = [(bot, text.startswith(f"{bot.name}=")) for text in players for bot in [_player(text, cwd)]]
    if not any(bot.is_person for bot, _ in found):
        number = seat or 1
        if number > seats:
            raise UsageError(f"`--seat` is {seat}, but the game has {seats} seats, expected 1 to {seats}")
        found = found or [(sample_bot(slug, cwd), False)] * (seats - 1)
        if len(found) == seats - 1:  # they leave a seat to a person
            found.insert(number - 1, (Program.of(ME, (), cwd), False))
    elif seat is not None:
        raise UsageError(
            "`--seat` is given although the place of `me` already sets the seat, expected only one of them"
        )
    if len(found) != seats:
        raise UsageError(
            f"`{slug}` has {counted(seats, 'seat')}, expected {counted(seats, 'player')}, including `me`, "
            f"not {len(found)}"
        )
    if not any(bot.is_person for bot, _ in found):
        raise UsageError("none of the players is `me`, expected a person; for bots alone use `referee match`")
    bots = distinct([bot for bot, _ in found], [is_named for _, is_named in found])
    for bot in bots:
        if not bot.is_person:
            bot.check()
    return bots


def _player(text: str, cwd: Path) -> Program:
    """The person or the bot that a text names. Raises `UsageError`."""
    name, equals, what = text.partition("=")
    is_person = text == ME or (equals and what == ME and not re.search(r"\s", name))
    return Program.of(name, (), cwd) if is_person else Program.parse(text, cwd)


def _table(bot: Program) -> dict[str, Any]:
    return {"name": bot.name, **({"person": True} if bot.is_person else {"cmd": list(bot.command)})}


def _next_round(run: StoredRun) -> int:
    return 1 + max((Pairing.parse(game).number for game in (*run.games, *run.annulled)), default=0)


@contextlib.contextmanager
def _at_terminal(terms: Terms, persons: Sequence[Seat], hint: Hint) -> Iterator[PersonInterface]:
    draws = sys.stdin.isatty() and can_draw(sys.stdout)
    console = TerminalConsole(show_data, draws, BLANK_LINES if sys.stdout.isatty() else 0)
    try:
        show_data("\n".join([*introduction(terms, persons), "`help` lists the commands"]))
        yield PersonInterface(terms, persons, console, hint, Stream(b"moves"), in_colour(sys.stdout))
    finally:
        console.close()


def _is_played(
    tournament: Tournament, opened: OpenRun, pairing: Pairing, hint_bot: Program, places: Places
) -> bool:
    """Plays the game and stores its record; whether it was played to its end."""
    plan = tournament.plan(pairing).for_encounter(pairing)
    terms = plan.terms(pairing)
    by_name = {entrant.bot.name: entrant.bot for entrant in plan.entrants}
    bots = [by_name[name] for name in terms.bots]
    persons = [seat for seat, bot in enumerate(bots) if bot.is_person]

    def hint(state: State[Any], seat: Seat) -> tuple[str, str]:
        return hint_of(hint_bot, plan.start_us, terms, state, seat)

    try:
        with places(terms, persons, hint) as interface:
            record = PersonGame(terms, bots, interface, plan.start_us, _report_left_behind).play()
    except PersonLeft:
        say("you left: the game is unfinished and is not recorded; use `resign` to end a game")
        return False
    opened.add_games([body_of(to_json(record))])
    interface.show_end(record)
    for line in fault_report(record):
        say(f"  {line}")
    return True


def _report_left_behind(bot: str, report: ExitReport) -> None:
    if names := names_left(report):
        say(f"bot `{bot}` left processes running, which were ended: {names}")
