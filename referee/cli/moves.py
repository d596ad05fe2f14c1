"""`referee moves`: the legal moves of a position, its news, and counts to a depth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import game_argument, game_options_option, group, seat_option
from referee.cli.output import say, show_data, show_lines
from referee.core.errors import UsageError
from referee.core.text import counted, listed, shown

if TYPE_CHECKING:
    from referee.cli.position import PositionView
    from referee.viewing.knowledge import ViewKnowledge

SEED = "1"  # the seed of chance where none is given: a position that is tested is to be the same every time


@click.command()
@game_argument
@click.argument("line", metavar="[MOVE]...", nargs=-1)
@game_options_option
@click.option("--seed", metavar="TEXT", help=f"Seed of chance events. Default: {SEED}.")
@click.option(
    "--chance",
    "outcomes",
    metavar="TEXT",
    multiple=True,
    help="Set the outcome of a chance event instead of drawing it from the seed; repeat the option for "
    "the next ones.",
)
@click.option(
    "--from",
    "begin",
    metavar="RUN ID@N",
    type=(click.Path(path_type=Path), str),
    help="Start from the position after move N of a recorded game, as shown by `replay RUN ID --move N`, "
    "chance included.",
)
@seat_option
@click.option(
    "--most", type=click.IntRange(1), metavar="N", help="Print only the first N moves of each seat."
)
@click.option("--count", is_flag=True, help="Print only the number of legal moves.")
@click.option("--picture", is_flag=True, help="Print the position as a picture.")
@click.option(
    "--news", is_flag=True, help="Print what the seats would have been told, as messages of the protocol."
)
@click.option(
    "--perft",
    "depth",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Count the sequences of 1 to N turns from here; each depth is printed as soon as it is known.",
)
@click.option(
    "--divide", is_flag=True, help="With --perft: count only the sequences of N turns, by first turn."
)
@click.option("--json", "as_json", is_flag=True, help="Print the position, or what --perft counts, as JSON.")
def moves(**given: Any) -> None:
    """Prints the legal moves in GAME after a sequence of moves, one per line, in canonical notation.

    MOVE is a move, quoted if it contains spaces, or several separated by semicolons. If several seats move at
    the same time, give one move of each, in the order of seats; the output then has the number of the seat
    before each move, unless --seat names one. Put a MOVE that begins with - after --.

    \b
    Examples:
      referee moves blooms
      referee moves vinetree 'E5 L R; E4 DLL ULL' --option bend=included --count
      referee moves evengroups --option size=3 --perft 3
      referee moves thetree --seed 7 --news --seat 1
      referee moves floral --from results 3@12 --picture
    """
    _show(group(_MovesOptions, given))


@dataclass(frozen=True, slots=True)
class _MovesOptions:
    """The options of `referee moves`."""

    game: str
    line: tuple[str, ...]
    options: tuple[str, ...]
    seed: str | None
    outcomes: tuple[str, ...]
    begin: tuple[Path, str] | None
    seat: int | None
    most: int | None
    count: bool
    picture: bool
    news: bool
    depth: int | None
    divide: bool
    as_json: bool

    def check(self) -> None:
        """Raises `UsageError` for options that exclude each other."""
        ways = {
            "--count": self.count,
            "--picture": self.picture,
            "--news": self.news,
            "--perft": self.depth is not None,
        }
        given = [name for name, is_given in ways.items() if is_given]
        if self.as_json and given != ["--perft"]:
            given.append("--json")
        if len(given) > 1:
            raise UsageError(f"{listed(given)} are given, expected only one of them")
        if self.divide and self.depth is None:
            raise UsageError("`--divide` is given without `--perft N`, expected both of them")
        if self.most is not None and given not in ([], ["--json"]):
            raise UsageError(
                f"`--most` is given with {given[0]}, which prints no moves: expected only one of them"
            )
        if self.seat is not None and self.depth is not None:
            raise UsageError(
                "`--seat` is given with --perft, which counts the moves of all "
                "seats: expected only one of them"
            )

    def looked_at(self) -> PositionView:
        """The position that is meant. Raises `UsageError`."""
        # The games are loaded only when one is needed.
        from referee.cli.position import PositionView, recorded, started
        from referee.gameplay.lines import followed, moves_of
        from referee.games import game_given
        from referee.viewing.knowledge import ViewKnowledge

        game = game_given(self.game, Path.cwd())
        known = ViewKnowledge(None if self.seat is None else self.seat - 1, game.is_open)
        if self.begin:
            self._check_begin(known)
            root = recorded(game, *self.begin, known.view)
        else:
            root = started(game, self.options, self.seed or SEED, self.outcomes)
        seats = game.seats(root.options)
        if self.seat is not None and self.seat > seats:
            raise UsageError(f"the game has {seats} seats, expected --seat 1 to {seats}")
        only_seat = None if known.is_full else known.view
        position = followed(root.position, moves_of(self.line), only_seat)
        if self.outcomes and self.depth is None and (unused := len(position.chance.given)):
            given = len(self.outcomes)
            raise UsageError(
                f"`--chance` is given {counted(given, 'time')}, but the number of chance events here is "
                f"{given - unused}"
            )
        return PositionView(game, root.options, position, known)

    def _check_begin(self, known: ViewKnowledge) -> None:
        if self.options or self.seed or self.outcomes:
            raise UsageError(
                "with `--from`, options, seed and chance are those of the game: expected no "
                "`--option`, `--seed` or `--chance`"
            )
        if self.line and not known.is_full:
            raise UsageError(
                f"moves are given with --from and --seat {self.seat}: their effect depends on what is hidden "
                "from that seat, expected no MOVE"
            )


def _show(options: _MovesOptions) -> None:
    from referee.cli.position import show_counts

    options.check()
    looked_at, depth = options.looked_at(), options.depth
    if options.as_json:
        show_lines(looked_at.perft_json(depth, options.divide) if depth else looked_at.json(options.most))
        return
    looked_at.say_chance()
    if outcome := looked_at.position.state.outcome():
        say(f"the game is over: {shown(outcome.sentence)}")
    if depth is not None:
        show_counts(looked_at.position, depth, options.divide)
    elif options.picture:
        show_data(looked_at.picture())
    elif options.news:
        show_lines(looked_at.news())
    else:
        looked_at.say_who_acts()
        show_lines(looked_at.counts() if options.count else looked_at.moves(options.most))
