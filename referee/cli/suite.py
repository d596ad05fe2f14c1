"""`referee suite`: asks bots for moves in the positions of a file, and prints what they found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from referee.cli import completion
from referee.cli.options import form_option, isolation_option, start_option
from referee.cli.output import AdvanceBar, show_data
from referee.core.errors import UsageError
from referee.core.rows import Column, Grid
from referee.core.text import shown
from referee.core.units import about
from referee.gameplay.events import Ending

if TYPE_CHECKING:
    from referee.analysis.suite import Suite, SuitePosition
    from referee.api.bot import Fault, Reply, Resignation
    from referee.games.api import Game, Options, State
    from referee.processes.program import Program


class JudgedReply(NamedTuple):
    """What a bot replied to a position."""

    position: SuitePosition
    move: str  # its move; of another reply its word, such as `time`
    points: int
    used_us: int
    fault: str = ""  # what the bot did that would lose a game, for people


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("bots", metavar="BOT...", nargs=-1, required=True, shell_complete=completion.bot)
@click.option(
    "--time",
    "control",
    metavar="TC",
    help="The clock for each position, such as 1s. Default: that of the file, or else of the game.",
)
@click.option("--positions", is_flag=True, help="Print what each bot did in each position.")
@form_option
@start_option
@isolation_option
def suite(
    file: Path,
    bots: tuple[str, ...],
    control: str | None,
    positions: bool,
    form: str,
    start: str,
    isolation: str | None,
) -> None:
    """Asks bots for their moves in the positions of FILE, and prints the points of each.

    A position has moves to find or to avoid. `referee docs analysis` describes the file, `referee examples`
    copies some. BOT is a command in quotes, or @NAME for a sample bot; each is asked on its own, one position
    after the other. A fault gives no points; a bot that does not start is not asked again.

    \b
    Examples:
      referee suite suites/blooms.toml @greedy './mine'
      referee suite suites/blooms.toml './mine' --time 200ms --positions
    """
    from referee.analysis.suite import read_suite
    from referee.processes.program import Program, distinct

    found = read_suite(file, _recorded_from(file.parent))
    parsed = [Program.parse(text, Path.cwd()) for text in bots]
    named = [text.startswith(f"{bot.name}=") for text, bot in zip(bots, parsed, strict=True)]
    programs = distinct(parsed, named)
    clock = control or found.clock or None
    answers: dict[str, list[JudgedReply]] = {}
    with AdvanceBar() as bar:
        advance = bar.stage("asking the bots")
        in_all, numbers = len(programs) * len(found.positions), count(1)
        for program in programs:
            answers[program.name] = []
            for answer in _asked(found, program, clock, start, isolation):
                answers[program.name].append(answer)
                if answer.fault:
                    name = shown(answer.position.entry.name, 80)
                    bar.say(f"{program.name} in position `{name}`: {answer.fault}")
                advance(next(numbers), in_all)
    grid = _by_position(answers) if positions else _by_bot(found, answers)
    show_data(grid.drawn(form))


def _recorded_from(folder: Path) -> Callable[[Game[Any], str], tuple[Options, State[Any]]]:
    """Reads positions of recorded games, whose runs are relative to a folder."""

    def recorded_at(game: Game[Any], text: str) -> tuple[Options, State[Any]]:
        from referee.cli.position import recorded

        run, _, at = text.rpartition(" ")
        if not run:
            raise UsageError(f"`from` is `{shown(text, 80)}`, expected `RUN ID@N`")
        begun = recorded(game, folder / run, at, None)
        return begun.options, begun.position.state

    return recorded_at


def _asked(
    suite: Suite, program: Program, clock: str | None, start: str, isolation: str | None
) -> Iterator[JudgedReply]:
    """What a bot replies to each position, in order. After a fault at its start it is not asked again."""
    from referee.api.bot import Bot, Fault
    from referee.kit.position import Position

    starts = True
    table = {"name": program.name, "cmd": [*program.command]}
    with Bot(table, suite.game.slug, suite.options, isolation=isolation, start=start) as bot:
        for position in suite.positions:
            if not starts:
                yield JudgedReply(position, Ending.START.word, 0, 0)
                continue
            reply = bot.play(Position(suite.game, suite.options, position.state), clock, position.seat)
            starts = not (isinstance(reply, Fault) and reply.word == Ending.START.word)
            yield _judged(position, reply)


def _judged(position: SuitePosition, reply: Reply | Resignation | Fault) -> JudgedReply:
    from referee.api.bot import Reply, Resignation

    if isinstance(reply, Resignation):
        return JudgedReply(position, Ending.RESIGNED.word, 0, reply.used_us)
    if not isinstance(reply, Reply):
        told = f"{reply.word}: {shown(reply.detail, 200)}" if reply.detail else reply.word
        return JudgedReply(position, reply.word, 0, reply.used_us, told)
    if reply.defaulted:
        return JudgedReply(position, Ending.TIME.word, 0, reply.used_us, Ending.TIME.word)
    return JudgedReply(position, reply.text, position.points_for(reply.text), reply.used_us)


_TIME = Column("used_us", "time", text=about)


def _by_bot(suite: Suite, answers: dict[str, list[JudgedReply]]) -> Grid:
    """The points of each bot, the best first."""
    columns = [
        Column("bot", "bot", left=True, shorten=True),
        Column("points", "points", text=lambda points: f"{points:,}"),
        Column("of", "of", text=lambda points: f"{points:,}"),
        Column("solved", "solved", text=lambda solved: f"{solved:,}"),
        Column("positions", "positions", text=lambda positions: f"{positions:,}"),
        _TIME,
    ]
    points = {bot: sum(answer.points for answer in found) for bot, found in answers.items()}
    rows = [
        (
            bot,
            points[bot],
            suite.points,
            sum(answer.points > 0 for answer in answers[bot]),
            len(suite.positions),
            sum(answer.used_us for answer in answers[bot]),
        )
        for bot in sorted(answers, key=lambda bot: -points[bot])
    ]
    return Grid(columns, rows)


def _by_position(answers: dict[str, list[JudgedReply]]) -> Grid:
    """What each bot did in each position, position by position."""
    columns = [
        Column("position", "position", left=True, shorten=True),
        Column("bot", "bot", left=True, shorten=True),
        Column("move", "move", left=True, shorten=True),
        Column("points", "points", text=lambda points: f"{points:,}"),
        Column("of", "of", text=lambda points: f"{points:,}"),
        _TIME,
    ]
    rows = [
        (shown(entry.name, 80), bot, shown(answer.move, 100), answer.points, entry.points, answer.used_us)
        for of_position in zip(*answers.values(), strict=True)
        for bot, answer in zip(answers, of_position, strict=True)
        for entry in [answer.position.entry]
    ]
    return Grid(columns, rows)
