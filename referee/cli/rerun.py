"""`referee rerun`: plays a recorded game again with the bots as they are now, and shows where it differs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli import completion
from referee.cli.options import game_option, group, isolation_option, outside_game, run_argument
from referee.cli.output import say, show_data
from referee.core.errors import BotFaulted, UsageError
from referee.core.text import shown

if TYPE_CHECKING:
    from referee.processes.program import Program
    from referee.records.record import GameRecord
    from referee.tournament.rerunning import Rerun


@click.command()
@run_argument
@click.argument("game_id", metavar="ID", shell_complete=completion.game_of_run)
@click.argument("bots", metavar="[NAME=COMMAND]...", nargs=-1)
@click.option(
    "--base",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The folder that the bots' folders are relative to. Default: that of the tournament file, else "
    "the current one.",
)
@click.option(
    "--watch",
    metavar="[TIME]",
    is_flag=False,
    flag_value="0s",
    help="Show the board after every move, on stderr; with a time, pause that long after each move.",
)
@click.option("--dialogue", is_flag=True, help="Show on stderr every line to and from the bots.")
@click.option(
    "--no-clock",
    is_flag=True,
    help="No time limits, for use with a debugger; bots are still told the clocks of the game.",
)
@isolation_option
@game_option
@click.option("--strict", is_flag=True, help="Exit with 8 if the game differs or a bot was at fault.")
def rerun(**given: Any) -> None:
    """Plays the game ID of a run again and shows the first difference.

    RUN is the run's folder or its tournament file; ID is the game's id or number, as `replay RUN` lists them.
    Seeds, chance, opening and clocks are those of the recorded game. The bots are started with their commands
    from the run, or with COMMAND for the bot NAME, as their programs are now; they are not built first. The
    exit code is 0 whether the game differs or not, unless --strict is given.

    \b
    Examples:
      referee rerun results 7
      referee rerun results 7 greedy='./new --depth 3'
      referee rerun results 7 --dialogue --no-clock
    """
    options = group(_RerunOptions, given)
    recorded, again = options.rerun()
    _play(options, recorded, again)


@dataclass(frozen=True, slots=True)
class _RerunOptions:
    path: Path
    game_id: str
    bots: tuple[str, ...]
    base: Path | None
    watch: str | None
    dialogue: bool
    no_clock: bool
    isolation: str | None
    game: str | None
    strict: bool

    def rerun(self) -> tuple[GameRecord, Rerun]:
        """The recorded game, and how it is played again. Raises `UsageError`."""
        from referee.records.finding import find_game
        from referee.records.record import GameRecord
        from referee.tournament.rerunning import commands_base, rerun_of
        from referee.tournament.run.reading import run_folder
        from referee.tournament.run.run import read_run

        instead = _instead(self.bots)
        run = read_run(run_folder(self.path))
        recorded = find_game(run.folder, self.game_id, outside_game(self.game), say, as_played=True)
        if not isinstance(recorded, GameRecord):
            raise UsageError(
                f"`{shown(self.game_id, 80)}` is not a game of this run, expected an "
                "ID; `referee replay` lists them"
            )
        base = self.base or commands_base(self.path, run.folder)
        return recorded, rerun_of(run, recorded, base, instead, self.isolation, self.no_clock)


def _play(options: _RerunOptions, recorded: GameRecord, again: Rerun) -> None:
    """Plays the game, and prints where it differs. Raises `BotFaulted` where that is an error."""
    from referee.cli.watching import Views
    from referee.viewing.words import compared, fault_report, first_difference

    with contextlib.ExitStack() as stack:
        observer = Views(options.watch, options.dialogue).observer(stack)
        played = again.play(observer.show, observer.taps)
    shown_name = again.run.amendments.shown
    for line in fault_report(played.with_names(shown_name)):
        say(f"  {line}")
    difference = first_difference(recorded.events, played.events)
    for line in compared(recorded.with_names(shown_name), played.with_names(shown_name), difference):
        show_data(line)
    if difference and any(isinstance(seat, dict) and seat.get("games_before") for seat in _seats(recorded)):
        say("note: in the original run, the bots' processes had already played other games before this one")
    if options.strict and (difference or any(played.faults)):
        raise BotFaulted("the game differs" if difference else "a bot was at fault")


def _instead(texts: tuple[str, ...]) -> dict[str, Program]:
    from referee.processes.program import Program

    found: dict[str, Program] = {}
    for text in texts:
        bot = Program.parse(text, Path.cwd())
        if not text.startswith(f"{bot.name}="):
            raise UsageError(f"`{shown(text, 80)}` does not name a bot of the game, expected NAME=COMMAND")
        if bot.name in found:
            raise UsageError(f"bot `{bot.name}` is given twice, expected only once")
        found[bot.name] = bot
    return found


def _seats(record: GameRecord) -> list[object]:
    """Returns the measurements of the seats; nothing where an untrusted record has something else."""
    seats = record.measured.get("seats")
    return seats if isinstance(seats, list) else []
