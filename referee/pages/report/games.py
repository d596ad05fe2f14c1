"""Reads the games: each with its head, length, times, faults, and its replay."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from referee.analysis.diagnosing import judged
from referee.analysis.played import SeatPlay, seat_plays
from referee.analysis.store import GameAnalysis, analysed
from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.text import shown, without_folders
from referee.core.units import TimeControl
from referee.core.work import Stage, untold_stage
from referee.pages.game_analysis import NO_ANALYSES, Analyses, ShownAnalysis
from referee.pages.game_data import game_data
from referee.pages.report.bots import OPENING_MOVES, words_of
from referee.ratings.times import Times
from referee.records.record import GameRecord, PlayedOn, Summary, from_json, parse_json, played_on
from referee.tournament.run.reading import Runs
from referee.tournament.run.run import StoredRun, game_lines, wrong_line
from referee.tournament.run.verifying import each_line
from referee.viewing.claims import WrongClaim, first_claims, wrong_claims
from referee.viewing.deciding import DecidingMove, deciding_move
from referee.viewing.info import read_info
from referee.viewing.steps import Steps, steps_of
from referee.viewing.words import fault_report

MADE_BY = ("referee", "python", "host")  # what a record says of the program and the machine that played it


class SlowestMove(NamedTuple):
    """The move of a seat that took the longest."""

    used_us: int
    event: int  # its number among the events of the game, counted from 0
    step: int | None = None  # the step of the replay that has it; None where the game is not replayed


class Replay(NamedTuple):
    """A game for the script that replays it."""

    data: str  # packed as `pages.game_data` does it
    symbols: Mapping[str, str]
    """The definitions that it refers to, by id, except for those that came with an earlier game."""
    lacks_seats: bool = False  # whether it has only what a spectator sees, and seats knew something else


class GameFacts(NamedTuple):
    """What is known of a game from its events and measurements."""

    moves: int  # its moves, those of the opening and those that the referee made included
    slowest: tuple[SlowestMove | None, ...]  # by seat; None for a seat without a move
    clocks: tuple[str, ...]  # by seat
    times: Times
    began: str  # when it began, in UTC as `2026-11-21T22:58`; empty where the record does not say
    made_by: tuple[str, ...]  # the texts of `MADE_BY`
    place: PlayedOn
    lowest: tuple[float | None, ...]
    """By seat, the least chance to win that the bot gave itself; None where it said none."""
    deciding: int | None  # the step with its deciding move; None where nobody knows, or it is not replayed
    opening: tuple[str, ...]  # the first moves
    words: tuple[dict[str, int], ...]
    """By seat, how often each word stands in the moves of the bot: among them the cells that it plays."""
    faults: tuple[str, ...]  # the report of its faults, line by line
    claims: tuple[tuple[WrongClaim, int], ...]
    """The first of what each seat said that was wrong, of each kind, with how often it did; none where the
    game is not replayed.
    """
    plays: tuple[SeatPlay, ...]  # what each seat did
    replay: Replay | None  # none where it was not asked for


class PlayedReader:
    """Reads what `GameFacts` has from the lines of the games of a run, in any process."""

    def __init__(
        self,
        shown_name: Callable[[str], str],
        with_replays: bool,
        with_seats: bool,
        analyses: Analyses = NO_ANALYSES,
    ) -> None:
        """`shown_name` gives the name under which a bot is shown; `with_seats` says whether replays have what
        each seat knew, too; `analyses` has those of the games.
        """
        self._shown_name = shown_name
        self._with_replays = with_replays
        self._with_seats = with_seats
        self._analyses = analyses
        self._symbols: set[str] = set()  # the ids of the symbols that were given back so far

    def __call__(self, line: bytes) -> GameFacts | RecordError:
        """What is known of a game. An error is given back, since it has to reach another process."""
        try:
            return self._played(parse_json(line))
        except RecordError as error:
            return error

    def _played(self, value: dict[str, Any]) -> GameFacts:
        bots = tuple(self._shown_name(name) for name in value["bots"])
        times = Times()
        times.add_game(bots, value)
        events, measured = value["events"], value["measured"]
        slowest = _slowest(events, measured["events"], len(bots))
        moves = [event for event in events if _is_timed(event) or "opening" in event]
        has_faults = any(value["faults"])
        plays = seat_plays(value, len(bots))
        analysis = self._analyses.get(str(value.get("id")))
        record = self._record(value, bots) if self._with_replays or has_faults or analysis else None
        steps = steps_of(record) if record and self._with_replays else None
        if analysis and record:
            plays = judged(plays, analysis, steps or steps_of(record))
        deciding = deciding_of(steps, analysis) if steps else None
        return GameFacts(
            len(moves),
            tuple(
                slow._replace(step=_step_of(slow.event, steps)) if slow and steps else slow
                for slow in slowest
            ),
            _clocks(value),
            times,
            _minute(measured.get("began")),
            tuple(shown(str(measured.get(name, "")), 80) for name in MADE_BY),
            played_on(Fields(measured, "measured", RecordError)),
            _lowest(events, measured["events"], len(bots)),
            deciding.step if deciding else None,
            tuple(_text_of(event) for event in moves[:OPENING_MOVES]),
            tuple(
                words_of(str(event["move"]) for event in moves if "move" in event and event["seat"] == seat)
                for seat in range(1, len(bots) + 1)
            ),
            tuple(map(without_folders, fault_report(record))) if record and has_faults else (),
            tuple(first_claims(wrong_claims(steps, steps.known_by(None)))) if steps else (),
            plays,
            self._replay(steps, analysis) if steps else None,
        )

    def _record(self, value: dict[str, Any], bots: tuple[str, ...]) -> GameRecord | None:
        """The record with the names that are shown; None where it is not needed and its rules are not
        available.
        """
        try:
            record = from_json(value)
        except RecordError:
            if self._with_replays:
                raise
            return None
        return replace(record, terms=replace(record.terms, bots=bots))

    def _replay(self, steps: Steps, analysis: GameAnalysis | None) -> Replay:
        lacks_seats = len(steps.views) > 1 and not self._with_seats
        views, with_news = ((None,), False) if lacks_seats else ((), True)
        data = game_data(steps, views, with_news, analysis=analysis)
        new = {name: text for name, text in data.symbols.items() if name not in self._symbols}
        self._symbols.update(new)
        return Replay(data.packed(), new, lacks_seats)


def deciding_of(steps: Steps, analysis: GameAnalysis | None) -> DecidingMove | None:
    """The deciding move of a game for those who see all of it, with its analysis if there is one."""
    known = steps.known_by(None)
    shown_analysis = ShownAnalysis.of(steps, analysis, known)
    return deciding_move(steps, known, shown_analysis and shown_analysis.proved_turn)


def _is_timed(event: dict[str, Any]) -> bool:
    return "move" in event or "default" in event


def _slowest(
    events: Sequence[dict[str, Any]], timings: Sequence[dict[str, Any]], seats: int
) -> list[SlowestMove | None]:
    """The slowest move of each seat; None for one that has made no move."""
    slowest: list[SlowestMove | None] = [None] * seats
    for number, (event, timing) in enumerate(zip(events, timings, strict=True)):
        if _is_timed(event):
            before, used_us = slowest[event["seat"] - 1], timing["used_us"]
            if before is None or used_us > before.used_us:
                slowest[event["seat"] - 1] = SlowestMove(used_us, number)
    return slowest


def _lowest(
    events: Sequence[dict[str, Any]], measured: Sequence[dict[str, Any]], seats: int
) -> tuple[float | None, ...]:
    """The least chance to win that each seat gave itself at a move."""
    lowest: list[float | None] = [None] * seats
    for event, of_event in zip(events, measured, strict=True):
        if _is_timed(event) and "info" in of_event:
            value, before = read_info(str(of_event["info"])).value, lowest[event["seat"] - 1]
            if value is not None and (before is None or value < before):
                lowest[event["seat"] - 1] = value
    return tuple(lowest)


def _step_of(event: int, steps: Steps) -> int | None:
    """The step that has the event of this number; None where the record is damaged before it."""
    passed = 0
    for step in steps.steps:
        passed += len(step.events)
        if event < passed:
            return step.number
    return None


def _text_of(event: dict[str, Any]) -> str:
    return next(shown(str(event[name]), 80) for name in ("opening", "move", "default") if name in event)


def _clocks(value: dict[str, Any]) -> tuple[str, ...]:
    """The clocks by seat. Raises `RecordError`."""
    clocks = Fields(value, "", RecordError).texts("clocks")
    if len(clocks) != len(value["bots"]):
        raise RecordError(f"`clocks` has the wrong length, expected {len(value['bots'])}")
    try:
        return tuple(map(_clock, clocks))
    except UsageError as error:
        raise RecordError(str(error)) from None


@lru_cache(maxsize=100)  # games share clocks
def _clock(text: str) -> str:
    return str(TimeControl.parse(text))


def _minute(text: object) -> str:
    """A time of a record to the minute; empty where it is none."""
    try:
        return datetime.fromisoformat(str(text)).isoformat(timespec="minutes")[:16]
    except ValueError:
        return ""


MAX_WITH_SEATS = 500
"""With more games, replays have only what a spectator sees: each seat's view takes as much time and space."""


AnalysesOfRuns = Mapping[Path, Analyses]  # by the folder of the run

NO_RUNS: AnalysesOfRuns = {}


def analyses_of(runs: Runs, tell: Callable[[str], None] = lambda problem: None) -> AnalysesOfRuns:
    """The stored analyses of the games of these runs; `tell` is told in sentences what of them is not used.

    Raises `UsageError` where they cannot be read.
    """
    found = {run.folder: analysed(run) for run in runs.runs}
    for one in found.values():
        for problem in one.problems:
            tell(problem)
    return {folder: one.games for folder, one in found.items()}


class ReadGame(NamedTuple):
    """A game of some runs."""

    run: StoredRun
    id: str  # its id in its run
    game: Summary  # its head, with the id that tells it apart in all runs, and the names that are shown
    played: GameFacts


def read_games(
    runs: Runs,
    workers: int,
    with_replays: bool,
    stage: Stage = untold_stage,
    analyses: AnalysesOfRuns = NO_RUNS,
) -> Generator[ReadGame, None, None]:
    """The games of the runs that count, in the order in which they were finished, read by this many
    processes.

    Raises `RecordError` where a line cannot be read, `EnvironmentLacksError` where a process ends unasked.
    """
    shown_games, advance, done = iter(runs.games), stage("reading the games"), 0
    with_seats = len(runs.games) <= MAX_WITH_SEATS
    for run in runs.runs:
        heads = dict(zip(run.games, shown_games, strict=False))
        of_run = analyses.get(run.folder, NO_ANALYSES)
        reader = PlayedReader(run.amendments.shown, with_replays, with_seats, of_run)
        with closing(each_line(game_lines(run, run.games), workers, reader)) as lines:
            for line, found in lines:
                if isinstance(found, RecordError):
                    raise wrong_line(run, line, found)
                done += 1
                advance(done, len(runs.games))
                yield ReadGame(run, line.game.id, heads[line.game.id], found)
