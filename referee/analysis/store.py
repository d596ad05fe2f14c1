"""The file `analysis.jsonl` of a run: written, read back, and matched with the run.

A line is the analysis of one game. It belongs to whatever game has the same events, rules and options, so it
outlives renamed bots and games that are played again; a line of no game here is not used. It never counts for
anything: the file can be deleted at any time. Estimates are stored as they were computed; chances are made of
them on reading.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from referee.analysis.calibration import NO_CALIBRATION, Calibration, ScoredGame, calibration
from referee.core.errors import RecordError, StorageError, UsageError
from referee.core.fields import LARGEST, Fields
from referee.core.files import open_without_links
from referee.core.pairing import section_of
from referee.core.text import counted, shown
from referee.gameplay.events import Ending
from referee.games.api import Seat, share_beaten
from referee.records import journal
from referee.records.header import SectionGame
from referee.records.record import Summary, json_of, parse_json
from referee.records.run_files import ANALYSIS, AppendOnlyFile
from referee.tournament.run.run import StoredRun

VERSION = 1
"""Counts the ways of computing an analysis: lines of another version are not used."""

MOST_STEPS = 100_000  # maximum number of positions of a game whose analysis is read

LONGEST_MOVE = 10_000  # maximum number of characters of a move that is read


class AnalysisMethod(NamedTuple):
    """What computed an analysis."""

    proof: int  # the positions that the solver may look at, for each position of a game
    adviser: str = ""
    """Stands for who estimated, such as the hash of a bot's files and command; empty where nobody did."""
    name: str = ""  # of who estimated, for people, such as a command


class AnalysedStep(NamedTuple):
    """What is known of one position of a game, and of the move that was played in it.

    `proof`, `score` and `lead` are those of seat 1: three sources, of which none follows from another.
    """

    seat: Seat | None = None  # whose bot chose the move, 0 or 1; None where none of them did
    proof: int | None = None
    """How the game ends for seat 1 with best play of both: 1, 0 or −1; None where that is not proved."""
    score: float | None = None
    """The estimate for seat 1, in a unit of the adviser's own; it is no chance."""
    lead: int | None = None  # how far seat 1 is ahead in what the game counts
    best: str | None = None
    """A move for the seat to move: where `proof` is known one that is proved to keep it, if the move that was
    played does not, else the adviser's.
    """
    loss: float | None = None
    """By how much the score of the seat to move is higher after the adviser's move than after the one that
    was played, both estimated by the same search; below 0 where it is lower.
    """


@dataclass(frozen=True)
class GameAnalysis:
    """The analysis of a game: a step for each position of it, as `viewing.steps` counts them."""

    key: str  # stands for the game, as `key_of` says it
    method: AnalysisMethod
    steps: tuple[AnalysedStep, ...]
    chances: tuple[float | None, ...] = ()
    """By step, the chance of seat 1, strictly between 0 and 1, as far as this run's own games say that it may
    be shown, which is in games that the rules ended; empty as the analysis is read from the file. People are
    shown it in tens.
    """
    drops: tuple[float | None, ...] = ()
    """By step, the chance that the seat to move lost by the move that was played, compared with the
    adviser's move: `loss` as a chance, where one may be shown.
    """

    @property
    def estimated(self) -> str:
        """By whom chances are estimated, in words."""
        return f"estimated by {shown(self.method.name, 40) or 'an adviser without a name'}"


def key_of(game: Summary, section: SectionGame) -> str:
    """Stands for a game in the file: all games with the same events, rules and options have it."""
    terms = [VERSION, game.digest, section.game, section.rules, sorted(section.options.items())]
    return hashlib.sha256(json_of(terms)).hexdigest()[:32]


class Store:
    """The file of analyses in a run's folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ANALYSIS
        self._file: AppendOnlyFile | None = None

    def load(self) -> tuple[list[GameAnalysis], int]:
        """The analyses in the file, and how many of its lines are damaged. Raises `UsageError` where it
        cannot be read.
        """
        found: list[GameAnalysis] = []
        damaged = 0
        try:
            with os.fdopen(open_without_links(self.path), "rb") as file:
                for text, _, _ in journal.bounded_lines(file):
                    try:
                        found.append(_from_json(parse_json(text)))
                    except RecordError:
                        damaged += 1
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise UsageError(f"cannot read `{shown(str(self.path))}`: {error.strerror}") from None
        return found, damaged

    def append(self, analysis: GameAnalysis) -> None:
        """Adds an analysis. Raises `StorageError`."""
        steps = [list(step) for step in analysis.steps]
        line = json_of({"game": analysis.key, **analysis.method._asdict(), "steps": steps}) + b"\n"
        try:
            if self._file is None:
                self._file = AppendOnlyFile(self.path, os.O_CREAT)
                if not self._file.ends_a_line():
                    line = b"\n" + line
            self._file.append(line, sync=False)
        except OSError as error:
            raise StorageError(f"cannot write to `{shown(str(self.path))}`: {error.strerror}") from None

    def close(self) -> None:
        """Closes the file if something was added."""
        if self._file:
            self._file.close()
            self._file = None


def _from_json(value: dict[str, Any]) -> GameAnalysis:
    """Raises `RecordError`."""
    fields = Fields(value, "", RecordError)
    steps = fields.list("steps")
    if len(steps) > MOST_STEPS:
        raise fields.wrong("steps", f"at most {MOST_STEPS} positions")
    method = AnalysisMethod(fields.number("proof"), fields.text("adviser"), fields.text("name"))
    return GameAnalysis(fields.text("game"), method, tuple(map(_step, steps)))


def _step(value: Any) -> AnalysedStep:
    """Raises `RecordError`."""
    if not isinstance(value, list) or len(value) != len(AnalysedStep._fields):
        raise RecordError("a step is not a list of its members")
    seat, proof, score, lead, best, loss = value
    is_right = (
        seat in (None, 0, 1)
        and proof in (None, -1, 0, 1)
        and isinstance(best, str | None)
        and len(best or "") <= LONGEST_MOVE
        and all(number is None or _is_number(number) for number in (score, lead, loss))
    )
    if not is_right:
        raise RecordError("a step has a member that it cannot have")
    return AnalysedStep(*value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


@dataclass(frozen=True)
class RunAnalysis:
    """The analysis of a run, as far as there is one."""

    games: Mapping[str, GameAnalysis]  # by id, in the order of the run, with chances and drops
    calibrations: Mapping[str, Calibration]  # by section
    problems: tuple[str, ...]  # what of the file was not used, as sentences


NO_METHODS: Mapping[str, AnalysisMethod] = {}


def analysed(run: StoredRun, methods: Mapping[str, AnalysisMethod] = NO_METHODS) -> RunAnalysis:
    """The stored analyses of the games of a run that count, with chances that were calibrated in it.

    Analyses by different methods are not mixed: of a section without one in `methods` it is that with most
    games, of several the one that was used last. Raises `UsageError` where the file cannot be read.
    """
    store = Store(run.folder)
    stored, damaged = store.load()
    ids: dict[str, list[str]] = {}  # by key
    for game in run.games.values() if stored else ():
        ids.setdefault(key_of(game, run.header.section_of(game.id)), []).append(game.id)
    by_section: dict[str, dict[AnalysisMethod, dict[str, GameAnalysis]]] = {}
    for one in stored:
        for id_ in ids.get(one.key, ()):
            by_method = by_section.setdefault(section_of(id_), {})
            by_method[one.method] = by_method.pop(one.method, {})  # the last one is that used last
            by_method[one.method][id_] = one
    games: dict[str, GameAnalysis] = {}
    calibrations: dict[str, Calibration] = {}
    for section, by_method in by_section.items():
        most = max(reversed([*by_method]), key=lambda method: len(by_method[method]))
        found = by_method.get(methods.get(section, most), {})
        # A file from elsewhere may have estimates also where they are worth nothing.
        is_estimated = _can_be_estimated(run.header.sections[section])
        whole = {
            one.key: ScoredGame(share_beaten(run.games[id_].ranks, 0), [step.score for step in one.steps])
            for id_, one in found.items()
            if is_estimated and run.games[id_].ending == Ending.RULES.word and run.games[id_].rated
        }
        fitted = calibrations[section] = calibration(whole)
        games |= {
            id_: with_chances(one, fitted if one.key in whole else NO_CALIBRATION)
            for id_, one in found.items()
        }
    problems = [f"{counted(damaged, 'line')} cannot be read, left out"] if damaged else []
    if stored and ids.keys().isdisjoint(one.key for one in stored):
        problems.append("it has no game of this run")
    where = f"`{shown(str(store.path))}`"
    in_order = {id_: games[id_] for id_ in run.games if id_ in games}
    return RunAnalysis(in_order, calibrations, tuple(f"{where}: {problem}" for problem in problems))


def _can_be_estimated(section: SectionGame) -> bool:
    try:
        return section.available().can_be_estimated
    except UsageError:
        return False


def with_chances(game: GameAnalysis, fitted: Calibration) -> GameAnalysis:
    """The analysis with chances and drops; positions that are proved have none."""
    steps, last = game.steps, max(1, len(game.steps) - 1)

    def chance(number: int, score: float | None) -> float | None:
        return fitted.chance(game.key, number / last, score)

    chances = [None if step.proof is not None else chance(at, step.score) for at, step in enumerate(steps)]
    drops: list[float | None] = []
    for number, (step, after) in enumerate(pairwise(steps), 1):
        played = kept = None
        sign = -1 if step.seat else 1
        if step.loss is not None and step.seat is not None and after.score is not None:
            played = chance(number, after.score)
            kept = chance(number, after.score + sign * step.loss)
        drops.append(None if played is None or kept is None else sign * (kept - played))
    return replace(game, chances=tuple(chances), drops=(*drops, None))
