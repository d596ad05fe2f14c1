"""Diagnoses a bot from the games of a stored run."""

from __future__ import annotations

from dataclasses import dataclass

from referee.analysis.diagnosis import Diagnosis, diagnosed_game, diagnosis
from referee.core.errors import RecordError, UsageError
from referee.core.pairing import section_of
from referee.core.text import listed, shown
from referee.core.work import Advance, untold
from referee.records.record import Summary, parse_json
from referee.tournament.run.finding import GameQuery, found_games
from referee.tournament.run.reading import Runs
from referee.tournament.run.run import StoredRun, game_lines, numbers_of, wrong_line


@dataclass(frozen=True, slots=True)
class DiagnosedGames:
    """Which games of a bot are looked at."""

    section: str | None = None  # the name of a section, where the run has several
    against: str | None = None  # the bot that played too
    since: int = 1  # the number of the first game in the file of records, as `replay` lists them


def diagnosed(
    run: StoredRun, bot: str, games: DiagnosedGames = DiagnosedGames(), advance: Advance = untold
) -> Diagnosis:
    """The diagnosis of a bot from its games in a run. Raises `RecordError`, and `UsageError` where the run
    has no such bot, or these games are not all of one section.
    """
    bots = (bot, games.against) if games.against else (bot,)
    ((_, found),) = found_games(Runs((run,)), GameQuery(bots=bots, section=games.section))
    sections = list(dict.fromkeys(section_of(game.id) for game in found))
    if len(sections) > 1:
        raise UsageError(
            f"`{shown(bot)}` has games in the sections {shown(listed(sections))}, expected `--section NAME`"
        )
    if games.since > 1:
        numbers = numbers_of(run)
        found = [game for game in found if numbers[game.id] >= games.since]
    wanted = {game.id: game for game in found}
    read = []
    for line in game_lines(run, wanted):
        try:
            read.append(diagnosed_game(wanted[line.game.id], parse_json(line.text)))
        except RecordError as error:
            raise wrong_line(run, line, error) from None
        advance(len(read), len(wanted))
    return diagnosis(bot, read, _rest(run, bot, sections))


def _rest(run: StoredRun, bot: str, sections: list[str]) -> list[Summary]:
    """The games of these sections without the bot."""
    return [
        game
        for game in run.shown_games
        if bot not in game.bots and game.is_evidence and section_of(game.id) in sections
    ]
