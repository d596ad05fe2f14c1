"""`referee verify`: replays every record and compares everything."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import game_option, outside_game, run_argument, tournament_format_option
from referee.cli.output import AdvanceBar, say, show_data
from referee.core.errors import RecordError, UsageError
from referee.core.text import shown
from referee.core.this_machine import usable_cores

if TYPE_CHECKING:
    from referee.games.api import Game
    from referee.records.journal import JournalLine
    from referee.records.replay import ExaminedLine
    from referee.tournament.run.run_state import RunState

_HASH = re.compile(r"[0-9a-f]{64}")

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
    from referee.records import journal
    from referee.tournament.run.reading import records_at
    from referee.tournament.run.run_state import RunState
    from referee.tournament.run.verifying import examined_lines

    if noted is not None and not _HASH.fullmatch(noted):
        raise UsageError(f"`--head` is `{shown(noted, 80)}`, expected a hash of 64 hexadecimal digits")
    file = records_at(path)
    state = RunState()
    count = len(usable_cores()) if workers is None else workers
    with AdvanceBar() as bar:
        found = _Verification(state, noted, outside_game(game), bar.say)
        with closing(examined_lines(journal.read(file, bar.stage("verifying")), count)) as lines:
            for line, examined in lines:
                found.take(line, examined)
    found.require_games(shown(str(file)))
    found.show(shown(str(file)))


class _Verification:
    def __init__(
        self, state: RunState, noted: str | None, game: Game[Any] | None, tell: Callable[[str], None]
    ) -> None:
        """`state` is that before the first line, and `noted` the head hash that a line is to have; None where
        none is known. `tell` prints a line about a problem.
        """
        from referee.tournament.run.verifying import RunVerifier

        self._state = state
        self._verifier = RunVerifier(state, game)
        self._noted = noted
        self._lines_after: int | None = None
        """How many lines follow the one with the noted hash; None until it is found."""
        self._failed_lines = 0
        self._tell = tell

    def take(self, line: JournalLine, examined: ExaminedLine) -> None:
        """Takes the next line, and prints what is wrong with it."""
        problems = [line.error] if line.error else []
        name = ""
        if examined.value.get("kind") == "game":
            name = f" (game {shown(str(examined.value.get('id')), 100)})"
        try:
            self._verifier.take(line, examined)
        except RecordError as error:
            problems += [] if problems and not name else [str(error)]
        if line.hash == self._noted:
            self._lines_after = 0
        elif self._lines_after is not None:
            self._lines_after += 1
        if problems:
            self._failed_lines += 1
            if self._failed_lines <= _MAX_SHOWN:
                self._tell(f"line {line.number}{name}: {'; '.join(problems)}")

    def require_games(self, file: str) -> None:
        """Raises `RecordError` where a line failed, or there are no games."""
        from referee.ratings.notes import format_from_file

        if failed := self._failed_lines:
            raise RecordError(f"{failed} line{'s' * (failed > 1)} of `{file}` failed verification")
        if not self._state.played_games:
            raise RecordError(f"no games in `{file}`, expected at least one")
        if unverified := self._verifier.unverified_seeds:
            say(
                f"the seeds of {unverified} games are not verified, because the seed that they "
                "are derived from is not in the records; a run stores it when it ends or is "
                "stopped, but not when it is killed"
            )
        if self._state.format is None:
            unknown = format_from_file(self._state.header.format_name)
            say(f"the schedule is not checked: {unknown}")

    def show(self, file: str) -> None:
        """Prints what was verified. Raises `RecordError` where no line has the noted hash."""
        from referee.tournament.formats import count_text

        if self._noted is not None and self._lines_after is None:  # guard: head-hash
            raise RecordError(
                f"no line of `{file}` has the head hash `{self._noted}`: records are "
                "missing at the end, or were rewritten"
            )
        state = self._state
        count = count_text(state.played_games, state.games_in_all)
        show_data(f"{count} verified, head hash {state.last_hash}")
        if self._lines_after is not None:
            show_data(f"the records up to the head hash are unchanged; lines after it: {self._lines_after}")
