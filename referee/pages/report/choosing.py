"""Chooses the games to see among some games of runs, as the first screen of a report shows them."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from referee.pages.report.front import GameToSee, games_to_see
from referee.pages.report.games import step_of
from referee.pages.report.gathering import listed_game
from referee.pages.report.reading import ReadGame, read_games
from referee.ratings.standings import with_sections
from referee.records.record import from_json, parse_json
from referee.tournament.run.reading import Runs
from referee.tournament.run.run import Run, game_lines
from referee.viewing.steps import steps_of


class ChosenGame(NamedTuple):
    """A game to see."""

    run: Run
    id: str  # its id in its run
    seen: GameToSee
    deciding: int | None  # the step with its deciding move; None where nobody knows


def chosen_games(runs: Runs, wanted: Collection[tuple[Path, str]]) -> list[ChosenGame]:
    """The games to see among those that are wanted, each by the folder of its run and its id there; ratings
    are those of all games. Raises `RecordError`.
    """
    with closing(read_games(runs, workers=0, with_replays=False)) as games:
        read = {each.game.id: each for each in games if (each.run.folder, each.id) in wanted}
    seats = max(seats for run in runs.runs for seats in run.seats.values())
    whole, _ = with_sections(runs.names, runs.games, seats, runs.facts)
    elo = {bot: rating.elo for bot, rating in whole.pool.ratings.items()}
    found = games_to_see([listed_game(each) for each in read.values()], elo)
    return [_chosen(read[seen.game.id], seen) for seen in found]


def _chosen(read: ReadGame, seen: GameToSee) -> ChosenGame:
    deciding = read.played.deciding
    step = None
    if deciding is not None:
        line = next(game_lines(read.run, {read.id}))
        step = step_of(deciding.event, steps_of(from_json(parse_json(line.text))))
    return ChosenGame(read.run, read.id, seen, step)
