"""Reads the games of runs for a report: each with its head, its length, its times and its replay."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import NamedTuple

from referee.core.errors import RecordError
from referee.core.work import Stage, untold_stage
from referee.pages.report.games import PlayedGame, PlayedReader
from referee.records.examining import each_line
from referee.records.record import Summary
from referee.tournament.run.reading import Runs
from referee.tournament.run.run import Run, game_lines, wrong_line

MAX_WITH_SEATS = 500
"""With more games, replays have only what a spectator sees: each seat's view takes as much time and space."""


class ReadGame(NamedTuple):
    """A game of some runs."""

    run: Run
    id: str  # its id in its run
    game: Summary  # its head, with the id that tells it apart in all runs, and the names that are shown
    played: PlayedGame


def read_games(
    runs: Runs, workers: int, with_replays: bool, stage: Stage = untold_stage
) -> Generator[ReadGame, None, None]:
    """The games of the runs that count, in the order in which they were finished, read by this many
    processes.

    Raises `RecordError` where a line cannot be read, `EnvironmentLacksError` where a process ends unasked.
    """
    shown_games, advance, done = iter(runs.games), stage("reading the games"), 0
    with_seats = len(runs.games) <= MAX_WITH_SEATS
    for run in runs.runs:
        heads = dict(zip(run.games, shown_games, strict=False))
        reader = PlayedReader(run.amendments.shown, with_replays, with_seats)
        with closing(each_line(game_lines(run, run.games), workers, reader)) as lines:
            for line, found in lines:
                if isinstance(found, RecordError):
                    raise wrong_line(run, line, found)
                done += 1
                advance(done, len(runs.games))
                yield ReadGame(run, line.game.id, heads[line.game.id], found)
