"""`referee suite`: asks bots for moves in the positions of a file, and prints what they found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from referee.cli import completion
from referee.cli.options import form_option, isolation_option, start_option
from referee.cli.output import AdvanceBar, show_data
from referee.core.rows import Column, Grid
from referee.core.text import shown
from referee.core.units import about
from referee.gameplay.events import Ending

if TYPE_CHECKING:
    from referee.analysis.suite import Suite
    from referee.api.bot import Bot


class JudgedReply(NamedTuple):
    """What a bot replied to a position, as a row of the table."""

    position: str
    bot: str
    move: str  # its move; of another reply its word, such as `time`
    points: int
    of: int
    used_us: int


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
    from referee.api.bot import Bot
    from referee.processes.program import Program, distinct

    found = read_suite(file)
    count = len(found.positions)
    parsed = [Program.parse(text, Path.cwd()) for text in bots]
    named = [text.startswith(f"{bot.name}=") for text, bot in zip(bots, parsed, strict=True)]
    replies: list[JudgedReply] = []
    with AdvanceBar() as bar:
        advance = bar.stage("asking the bots")
        for program in distinct(parsed, named):
            table = {"name": program.name, "cmd": [*program.command]}
            with Bot(table, found.game.slug, found.options, isolation=isolation, start=start) as bot:
                for reply in _asked(bot, program.name, found, control, bar.say):
                    replies.append(reply)
                    advance(len(replies), len(bots) * count)
    by_position = [reply for at in range(count) for reply in replies[at::count]]
    grid = _grid(JudgedReply._fields[:3], ["points", "of"], by_position) if positions else _by_bot(replies)
    show_data(grid.drawn(form))


def _asked(
    bot: Bot, name: str, suite: Suite, control: str | None, tell: Callable[[str], object]
) -> Iterator[JudgedReply]:
    """What a bot replies to each position, in order; a bot that does not start is not asked again. `tell` is
    told in sentences what would lose a game.
    """
    from referee.api.bot import Fault, Reply
    from referee.kit.position import Position

    starts, clock = True, control or suite.clock or None
    for position in suite.positions:
        at, word, points, used_us = shown(position.name, 80), Ending.START.word, 0, 0
        if starts:
            reply = bot.play(Position(suite.game, suite.options, position.state), clock, position.seat)
            used_us = reply.used_us
            if isinstance(reply, Reply):
                word, points = shown(reply.text, 100), position.points_for(reply.text)
            elif isinstance(reply, Fault):
                word, starts = reply.word, reply.word != Ending.START.word
                detail = f": {shown(reply.detail, 200)}" if reply.detail else ""
                tell(f"{name} in position `{at}`: {word}{detail}")
            else:
                word = Ending.RESIGNED.word
        yield JudgedReply(at, name, word, points, position.points, used_us)


def _grid(texts: Sequence[str], counts: Sequence[str], rows: Sequence[Sequence[object]]) -> Grid:
    """A table of texts, then of numbers, then of times."""
    columns = [Column(name, name, left=True, shorten=True) for name in texts]
    columns += [Column(name, name, text="{:,}".format) for name in counts]
    return Grid([*columns, Column("used_us", "time", text=about)], rows)


def _by_bot(replies: Sequence[JudgedReply]) -> Grid:
    """The points of each bot, the best first."""
    rows: list[tuple[str, int, int, int, int, int]] = []
    for bot in dict.fromkeys(reply.bot for reply in replies):
        points, of, times = zip(*(reply[3:] for reply in replies if reply.bot == bot), strict=True)
        rows.append((bot, sum(points), sum(of), sum(map(bool, points)), len(points), sum(times)))
    rows.sort(key=lambda row: -row[1])
    return _grid(["bot"], ["points", "of", "solved", "positions"], rows)
