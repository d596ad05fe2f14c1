"""`referee check`: checks step by step whether a bot is fit for tournaments, or whether a game is."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from referee.cli import completion
from referee.cli.options import (
    START,
    game_argument,
    group,
    isolation_option,
    key_values,
    start_option,
)
from referee.cli.output import console_at_stderr, say, show_data, show_lines, table_width
from referee.core.errors import CheckFailed, UsageError
from referee.core.rows import Grid, text_columns
from referee.core.settings import AUTO
from referee.core.text import counted, listed, shown
from referee.core.units import parse_period

if TYPE_CHECKING:
    from referee.check.all_bots import CheckedBot
    from referee.check.steps import StepResult
    from referee.check.tested_bot import CheckSettings
    from referee.core.units import TimeControl
    from referee.games.api import Game, Options
    from referee.tournament.tournament import Tournament

MAX_WIDTH = 110

MEMORY = "1GB"  # the memory limit of a bot that is checked

_LEAST = 30  # minimum width of the texts beside the names


@click.command(
    epilog="""\b
Steps:
   1 starts
   2 gets ready in time
   3 answers when asked
   4 answers legally
   5 handles a rejection
   6 keeps time
   7 plays a second game
   8 handles opponents' faults
   9 ignores unknown messages
  10 joins a game in progress
  11 repeats a seeded game
  12 quits
  13 leaves no processes
  14 keeps memory bounded"""
)
@game_argument
@click.argument("bot", required=False, shell_complete=completion.bot)
@click.option(
    "--step",
    "steps",
    type=click.IntRange(1, 14),
    multiple=True,
    help="Run only this step and the first three, which all others need.",
)
@click.option(
    "--option",
    "options",
    metavar="K=V",
    multiple=True,
    help="Set an option of the game; the check then tries no other values.",
)
@click.option(
    "--time",
    "clocks",
    metavar="TC",
    multiple=True,
    help="A clock that the bot must keep to; the first one given is used in all steps. Default: the "
    "game's own, scaled down (the first to 1/30 of the "
    "allowance).",
)
@click.option("--seed", metavar="TEXT", help="Seed of all random choices. Default: random.")
@start_option
@click.option(
    "--memory",
    metavar="SIZE",
    default=MEMORY,
    show_default=True,
    help="Memory limit for the bot's largest process.",
)
@click.option(
    "--limit",
    "limits",
    metavar="K=V",
    multiple=True,
    help="A resource limit for the bot, as for `match`: cpu=60s.",
)
@click.option("--pty", is_flag=True, help="Give the bot a terminal instead of pipes.")
@isolation_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def check(**given: Any) -> None:
    """Checks whether BOT is ready for tournaments in GAME; if GAME is a tournament file, checks all its bots.
    Without BOT, checks the game itself.

    BOT is [name=]command as for `match`. It plays against the house player, which makes random moves. For
    each failed step, the report shows the last lines of the dialogue, the bot's stderr, a hint, and a command
    that repeats the step. A warning means that the step passed, but there is something to look at. Exits with
    7 if any step failed. `referee docs check` describes the steps, their results and the JSON.

    The bots of a tournament file are built, then checked in its games, with its options and its clocks scaled
    down; the only options allowed then are --step, --seed, --isolation and --json.

    \b
    Examples:
      referee check tournament.toml
      referee check connect_four.py:GAME --option columns=4
      referee check blooms '{python} mine.py'
      referee check blooms ./mine --time 1s+10s/1s --option size=5
      referee check blooms 'java -cp build Mine' --step 7 --json
    """
    from referee.core.seeds import fresh_seed
    from referee.tournament.plan import checked_seed

    given["seed"] = checked_seed(given["seed"] or fresh_seed().hex()[:8])
    options = group(_CheckOptions, given)
    if options.bot is not None:
        _check_one(options, options.bot)
    elif options.names_game:
        _check_game(options)
    else:
        _check_all(options, options.file())


@dataclass(frozen=True, slots=True)
class _CheckOptions:
    game: str
    bot: str | None
    steps: tuple[int, ...]
    options: tuple[str, ...]
    clocks: tuple[str, ...]
    seed: str
    start: str
    memory: str
    limits: tuple[str, ...]
    pty: bool
    isolation: str | None
    as_json: bool

    @property
    def names_game(self) -> bool:
        """Whether the first argument is a game, and not a tournament file."""
        from referee.core.named_code import names_file

        return names_file(self.game) or not ("." in self.game or " " in self.game)

    def file(self) -> Path:
        """The tournament file that stands in place of a game and a bot. Raises `UsageError`."""
        self._refuse_those_of_a_bot(option=self.options)
        if " " in self.game and not Path(self.game).exists():
            raise UsageError(
                f"no bot is given for `{shown(self.game, 80)}`, expected GAME and BOT, or a tournament file"
            )
        return Path(self.game)

    def checked_game(self) -> tuple[Game[Any], Options]:
        """The game that is checked itself, and its options. Raises `UsageError`."""
        from referee.games import game_given

        self._refuse_those_of_a_bot(step=self.steps, json=self.as_json)
        game = game_given(self.game, Path.cwd())
        return game, game.settle(key_values("option", self.options))

    def _refuse_those_of_a_bot(self, **more: object) -> None:
        of_one = {**more, "time": self.clocks, "limit": self.limits, "pty": self.pty}
        if given := [name for name, value in of_one.items() if value]:
            raise UsageError(f"`--{given[0]}` can only be used with a single bot, expected GAME and BOT")

    def settings(self, bot: str) -> CheckSettings:
        """Returns the settings of the check of this bot. Raises `UsageError`."""
        from referee.check.tested_bot import SCALE, CheckSettings, scaled_clocks
        from referee.core.this_machine import usable_memory
        from referee.games import game_given
        from referee.processes.levels import settled
        from referee.processes.limits import Limits, share_of
        from referee.processes.program import Program

        share = share_of(usable_memory(), bots=1)
        parsed = replace(
            Program.parse(bot, Path.cwd()),
            limits=replace(Limits.parse(key_values("limit", self.limits)), share=share),
            pty=self.pty,
            isolation=self.isolation or AUTO,
        )
        (tested,) = settled([parsed])
        chosen = game_given(self.game, Path.cwd())
        return CheckSettings(
            tested,
            chosen,
            key_values("option", self.options),
            self.seed,
            tuple(map(_clock, self.clocks)) or scaled_clocks(chosen.clock),
            parse_period(self.start),
            Limits.parse({"memory": self.memory}).memory,
            scale=0 if self.clocks else SCALE,
        )

    def again(self, bot: str, number: int) -> str:
        """The command that repeats a step."""
        words = ["referee", "check", self.game, bot, "--seed", self.seed]
        for name, values in (
            ("--option", self.options),
            ("--time", self.clocks),
            ("--limit", self.limits),
        ):
            words += [word for value in values for word in (name, value)]
        for name, value, usual in (("--start", self.start, START), ("--memory", self.memory, MEMORY)):
            words += [name, value] if value != usual else []
        words += ["--pty"] if self.pty else []
        words += ["--isolation", self.isolation] if self.isolation else []
        return " ".join(map(_shell_quoted, [*words, "--step", str(number)]))


def _shell_quoted(word: str) -> str:
    """A word with as few quotes as possible."""
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') else shlex.quote(word)


def _check_one(options: _CheckOptions, bot: str) -> None:
    from referee.check import report
    from referee.check.steps import run_steps
    from referee.tournament.plan import Entrant

    settings = options.settings(bot)
    width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
    heading = report.heading(settings, width)
    for control in settings.clocks:
        Entrant(settings.bot, control).check()
    if not options.as_json:
        show_data(f"{heading}\n")
    results: list[StepResult] = []
    status = console_at_stderr().status("")

    def on_start(title: str) -> None:
        status.update(f"{title} …")
        status.start()

    try:
        for result in run_steps(settings, options.steps, on_start):
            status.stop()  # rich captures stdout while the status is shown
            results.append(result)
            if not options.as_json:
                again = options.again(bot, result.number)
                show_lines(report.step_lines(result, again, width))
    finally:
        status.stop()
    if options.as_json:
        commands = [options.again(bot, result.number) for result in results]
        show_data(json.dumps(report.as_json(settings, results, commands)))
    else:
        show_data(f"\n{report.summary(results)}")
    failed = [result.number for result in results if result.result == "failed"]
    if failed:
        raise CheckFailed(f"{settings.bot.name} failed step{'s' * (len(failed) > 1)} {listed(failed)}")


def _check_game(options: _CheckOptions) -> None:
    """Checks a game for what holds for all games. Raises `CheckFailed`, with the first that does not."""
    from referee.check.clicks import remark
    from referee.check.rules import ALL_INVARIANTS, InvariantViolation

    game, settled = options.checked_game()
    for invariant in ALL_INVARIANTS:
        words = invariant.__name__.replace("_", " ")
        try:
            invariant(game, settled)
        except Exception as error:
            show_data(f"failed  {words}")
            if isinstance(error, InvariantViolation):
                raise CheckFailed(f"`{game.slug}`: {error}") from error
            raise
        show_data(f"passed  {words}")
    if said := remark(game, settled):
        show_lines(fill(f"remark: {said}", table_width(), break_on_hyphens=False).split("\n"))


def _check_all(options: _CheckOptions, file: Path) -> None:
    """Checks all bots of a tournament file and prints a table of them. Raises `CheckFailed` where one failed,
    `UsageError` where the file is wrong.
    """
    from referee.check.all_bots import FAILED
    from referee.tournament.file.config import load

    config = load(file, elsewhere=False)
    results = checked_bots(config, options.isolation, options.steps, options.seed)
    if options.as_json:
        show_data(json.dumps([one.as_json() for one in results]))
    else:
        show_data(checked_table(results))
    if failed := dict.fromkeys(one.bot for one in results if one.result == FAILED):
        in_all = counted(len({one.bot for one in results}), "bot")
        raise CheckFailed(f"{len(failed)} of {in_all} failed: {listed(failed)}")


def checked_bots(
    tournament: Tournament, isolation: str | None, steps: Sequence[int], seed: str, out: Collection[str] = ()
) -> list[CheckedBot]:
    """Builds and checks the bots of a tournament that are not `out`, and says on stderr what is done. Raises
    what `check_all` raises.
    """
    from referee.check.all_bots import check_all
    from referee.tournament.run.readiness import builder

    results: list[CheckedBot] = []
    with console_at_stderr().status("") as status:
        for one in check_all(tournament, isolation, steps, seed, builder(say), status.update, out):
            results.append(one)
            say(f"{one.bot}: {one.result}")
    return results


def checked_table(results: Sequence[CheckedBot]) -> str:
    """What the check of each bot found, as a table for people."""
    width = table_width()
    columns = text_columns("bot", "game", "result", "why")
    rows = [(one.bot, one.game or "–", one.result) for one in results]
    headings = [column.heading for column in columns[:3]]
    left = sum(max(map(len, column)) + 2 for column in zip(headings, *rows, strict=True))
    whys = [_why(one, max(_LEAST, width - left)) for one in results]
    return Grid(columns, [(*row, why) for row, why in zip(rows, whys, strict=True)]).drawn()


def _why(one: CheckedBot, width: int) -> str:
    lines = [fill(shown(one.why, 1000), width, break_on_hyphens=False), *(f"| {line}" for line in one.output)]
    lines += [fill(f"hint: {one.hint}", width, break_on_hyphens=False)] if one.hint else []
    return "\n".join(filter(None, lines))


def _clock(text: str) -> TimeControl:
    from referee.core.units import TimeControl

    control = TimeControl.parse(text)
    if not control.timed:
        raise UsageError("the clock is `none`, expected one with a time limit")
    return control
