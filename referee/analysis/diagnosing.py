"""Diagnoses a bot from a stored run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from referee.analysis.diagnosis import Diagnosis, diagnosis
from referee.analysis.kinds import decisions
from referee.analysis.played import DiagnosedGame, SeatPlay, seat_plays
from referee.analysis.store import GameAnalysis, analysed
from referee.analysis.suite import MAX_POSITIONS, line_to
from referee.core.errors import RecordError, UsageError
from referee.core.pairing import section_of
from referee.core.text import listed, shown
from referee.core.work import Advance, untold
from referee.records.record import from_json, parse_json
from referee.tournament.run.finding import GameQuery, found_games
from referee.tournament.run.reading import Runs
from referee.tournament.run.run import StoredRun, game_lines, numbers_of, wrong_line
from referee.viewing.steps import Steps, steps_of


def diagnosed(
    run: StoredRun,
    bot: str,
    *,
    section: str | None = None,
    against: str | None = None,
    since: int = 1,
    advance: Advance = untold,
    tell: Callable[[str], object] = lambda problem: None,
) -> Diagnosis:
    """The diagnosis of a bot from its games in a run: those of a section, those against another bot, and
    those from a number on, as `replay` lists them. `tell` is told in sentences what of the stored analyses is
    not used. Raises `RecordError`, and `UsageError` where the run has no such bot, or these games are not all
    of one section.
    """
    bots = (bot, against) if against else (bot,)
    ((_, found),) = found_games(Runs((run,)), GameQuery(bots=bots, section=section))
    sections = {section_of(game.id) for game in found}
    if len(sections) > 1:
        names = shown(listed(sorted(sections)))
        raise UsageError(f"`{shown(bot)}` has games in the sections {names}, expected `--section NAME`")
    numbers = numbers_of(run) if since > 1 else {}
    wanted = {game.id: game for game in found if since == 1 or numbers[game.id] >= since}
    stored = analysed(run)
    for problem in stored.problems:
        tell(problem)
    read: list[DiagnosedGame] = []
    given_away: dict[str, dict[str, Any]] = {}  # by what is the same where a position recurs
    for line in game_lines(run, wanted):
        game = wanted[line.game.id]
        try:
            value = parse_json(line.text)
            plays = seat_plays(value, len(game.bots))
            if analysis := stored.games.get(game.id):
                steps = steps_of(from_json(value))
                plays = judged(plays, analysis, steps)
                for table in _given_away(game.id, plays[game.bots.index(bot)], steps):
                    given_away.setdefault(str({**table, "name": "", "note": ""}), table)
        except RecordError as error:
            raise wrong_line(run, line, error) from None
        read.append(DiagnosedGame(game, game.bots.index(bot), plays))
        advance(len(read), len(wanted))
    rest = [
        game
        for game in run.shown_games
        if bot not in game.bots and game.is_evidence and section_of(game.id) in sections
    ]
    return diagnosis(bot, read, rest, [*given_away.values()][:MAX_POSITIONS])


def judged(plays: tuple[SeatPlay, ...], analysis: GameAnalysis, steps: Steps) -> tuple[SeatPlay, ...]:
    """What seats did in a game with their moves as the analysis judges them, if it has all positions."""
    if len(steps.steps) != len(analysis.steps):
        return plays
    return tuple(
        play._replace(judged=decisions(analysis, seat, steps.terms, steps.steps))
        for seat, play in enumerate(plays)
    )


def _given_away(game_id: str, play: SeatPlay, steps: Steps) -> Iterator[dict[str, Any]]:
    """The positions in which a seat gave something away, each with its move as one to avoid, as tables of a
    suite.
    """
    for blunder in play.judged.blunders if play.judged else ():
        instead = f" {blunder.best}" if blunder.best else ""
        note = f"the adviser estimates that{instead} keeps at least 20 points more"
        if blunder.is_proved:
            note = f"the {'win' if blunder.was_won else 'draw'} was proved;{instead} keeps it"
        if line := line_to(steps, blunder.step):
            yield {"name": f"{game_id}@{blunder.step}", **line, "avoid": [blunder.played], "note": note}
