"""`referee moves`: the legal moves of a position, its news, and counts to a depth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from referee.cli.options import (
    game_argument,
    game_options_option,
    group,
    seat_option,
)
from referee.core.settings import POSITION_SEED


@click.command()
@game_argument
@click.argument("line", metavar="[MOVE]...", nargs=-1)
@game_options_option
@click.option("--seed", metavar="TEXT", help=f"Seed of chance events. Default: {POSITION_SEED}.")
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
    from referee.cli.position import MovesOptions, show

    show(group(MovesOptions, given))
