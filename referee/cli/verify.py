"""`referee verify`: replays every record and compares everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.options import game_option, outside_game, run_argument, tournament_format_option
from referee.cli.output import AdvanceBar, say, show_data
from referee.core.errors import RecordError
from referee.core.this_machine import usable_cores

if TYPE_CHECKING:
    from referee.tournament.run.verifying import Problem

_MAX_SHOWN = 20
"""How many lines with problems are printed; a file that is not a file of records has one in every line."""


@click.command()
@run_argument
@click.option("--head", "noted", metavar="HASH", help="The head hash that was printed for these records.")
@click.option(
    "--workers",
    type=click.IntRange(0, 1000),
    help="Number of processes that replay the games; 0 replays them in this process. Default: the number "
    "of usable cores.",
)
@game_option
@tournament_format_option
def verify(path: Path, noted: str | None, workers: int | None, game: str | None) -> None:
    """Replays every game of a run by the rules and the clocks, and compares the result with the record.

    RUN is a run's folder, its tournament file, or a file of records. Prints the number of games and the head
    hash, that of the last line, which `run` and `table` print too. If you note it, --head can later detect
    that records are missing at the end or that the whole file was rewritten; records may follow the one with
    this hash.

    \b
    Examples:
      referee verify results
      referee verify results --head HASH
    """
    from referee.tournament.formats import count_text
    from referee.tournament.run.reading import records_at
    from referee.tournament.run.verifying import verification

    count = len(usable_cores()) if workers is None else workers
    told = 0
    with AdvanceBar() as bar:

        def tell(problem: Problem) -> None:
            nonlocal told
            told += 1
            if told <= _MAX_SHOWN:
                game_text = f" (game {problem.game})" if problem.game else ""
                bar.say(f"line {problem.line}{game_text}: {problem.what}")

        advance = bar.stage("verifying")
        found = verification(records_at(path), tell, count, noted, outside_game(game), advance)
    if found.error:
        raise RecordError(found.error)
    for note in found.notes:
        say(note)
    show_data(f"{count_text(found.games, found.in_all)} verified, head hash {found.head_hash}")
    if found.lines_after is not None:
        show_data(f"the records up to the head hash are unchanged; lines after it: {found.lines_after}")
