"""Runs as values: what was played, how each game went, and who is stronger.

Seats are counted from 0 here, as in the kit; sentences of records and of the command line count from 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from referee.analysis.analysing import analyse
from referee.analysis.diagnosing import diagnosed
from referee.analysis.diagnosis import Diagnosis
from referee.analysis.solver import NODES
from referee.analysis.store import GameAnalysis, RunAnalysis, analysed
from referee.api.notebook import as_html, framed
from referee.api.tables import ComputedTables, Rows, Table, frame_of
from referee.core.errors import RecordError, UsageError
from referee.core.files import write_whole
from referee.core.rows import Grid, text_columns
from referee.core.text import counted, listed, shown
from referee.gameplay.events import Moved, Preset
from referee.games import game_given
from referee.kit.position import Position
from referee.ratings.pool import Rating
from referee.ratings.standings import with_sections
from referee.ratings.table import TableText, parse_show
from referee.records import journal
from referee.records.record import GameRecord, Summary, from_json, parse_json
from referee.records.run_files import RECORDS
from referee.tournament.formats import format_given
from referee.tournament.run.durations import last_games
from referee.tournament.run.exports import placed, row_of
from referee.tournament.run.finding import GameQuery, found_games
from referee.tournament.run.lock import is_locked
from referee.tournament.run.progress import order_of, progress_of
from referee.tournament.run.reading import Runs, records_at, times_of
from referee.tournament.run.run import (
    PlacedGame,
    ReadableRun,
    StoredRun,
    dialogues,
    read_what_can_be,
)
from referee.tournament.run.status import RunStatus
from referee.tournament.run.verifying import Problem, verification
from referee.viewing.steps import Steps, steps_of
from referee.viewing.words import fault_report, placings

if TYPE_CHECKING:
    import pandas

_MOST_LISTED = 100  # how many games a notebook lists


def open(
    path: str | os.PathLike[str], *, game: str | None = None, tournament_format: str | None = None
) -> Run:
    """The run in a folder, of a tournament file, or in a file of records, as it is now.

    `game` and `tournament_format` are those that the run was played with, where they come from a file:
    `module.py:NAME`. Code from a file runs only where it is named.

    Raises `UsageError` where there is no run, and `RecordError` where nothing of it can be read. Of records
    that are damaged in part, `damage` says what is wrong, and single games can be had.
    """
    if game is not None:
        game_given(game, Path.cwd())
    if tournament_format is not None:
        format_given(tournament_format, Path.cwd())
    file = records_at(Path(path))
    return Run(read_what_can_be(file.parent if file.name == RECORDS else file))


class PlayedMove(NamedTuple):
    """A move of a game."""

    seat: int  # counted from 0
    text: str  # as bots write it; made by anybody, so escape it where you show it
    used_us: int | None  # the time that the bot took for it, in microseconds; None for an opening move
    info: str  # what the bot said of it; may be empty, and anything


class PlayedGame:
    """A game of a run. Its moves and positions are read when they are asked for.

    What bots wrote is in it as they wrote it: escape it where you show it.
    """

    def __init__(self, run: StoredRun, placed: PlacedGame, number: int) -> None:
        """`number` is the place of the game in the file of records, counted from 1."""
        self._run = run
        self._placed = placed
        self._game = placed.game.with_names(run.amendments.shown)
        self.number = number
        """Its place among the games of the file, from 1: so the command line calls it too."""

    @property
    def id(self) -> str:
        """The id, such as `1:greedy:random`, which no other game of the run has."""
        return self._game.id

    @property
    def game(self) -> str:
        """The short name of the game, such as `blooms`."""
        return self._game.game

    @property
    def bots(self) -> tuple[str, ...]:
        """The names of the bots, by seat."""
        return self._game.bots

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each seat: 1 is the first place, and equal seats have the same."""
        return self._game.ranks

    @property
    def scores(self) -> tuple[int, ...]:
        """The score of each seat, as the game counts it."""
        return self._game.scores

    @property
    def winner(self) -> str | None:
        """The name of the bot that alone has the first place; None where none has."""
        first = [name for name, rank in zip(self.bots, self.ranks, strict=True) if rank == 1]
        return first[0] if len(first) == 1 else None

    @property
    def result(self) -> str:
        """Who won and why, in one line."""
        return f"{placings(self.bots, self.ranks)}: {shown(self._game.told)}"

    @property
    def ending(self) -> str:
        """How it ended, as one word: `rules` where the rules decided it, or such as `time`."""
        return self._game.ending

    @property
    def rated(self) -> bool:
        """Whether it counts for ratings."""
        return self._game.rated

    @property
    def faults(self) -> tuple[str, ...]:
        """The word of the fault of each seat, such as `illegal`; empty where it committed none."""
        return self._game.faults

    @property
    def fault_report(self) -> tuple[str, ...]:
        """What happened at each fault, with the last lines that the bot wrote to stderr and a hint: lines for
        people, which are escaped. Raises `RecordError`.
        """
        return tuple(fault_report(self._record))

    @property
    def moves(self) -> tuple[PlayedMove, ...]:
        """The moves that count, in the order in which they were played. Raises `RecordError`."""
        return tuple(
            PlayedMove(event.seat, event.text, event.charge.used_us, event.info)
            if isinstance(event, Moved)
            else PlayedMove(event.seat, event.text, None, "")
            for event in self._record.events
            if isinstance(event, Moved | Preset)
        )

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """The position before the first move, and that after each step, as the command `replay` counts them:
        a step is a turn, of one seat or of several at once, or something that chance decided.

        Chance that is still to decide something is left to you, as with `kit.new(…, explicit_chance=True)`.
        Raises `RecordError` where the record does not play again to the same result.
        """
        steps = self._steps
        if steps.damage:
            raise steps.damage
        terms = steps.terms
        return tuple(Position(terms.game, terms.options, step.state) for step in steps.steps)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record as JSON has it, which RECORD.md describes. Raises `RecordError`."""
        placed = self._placed
        return parse_json(journal.line_at(self._run.folder, placed.at, placed.size, placed.digest))

    @property
    def dialogue(self) -> str | None:
        """Every line to and from the bots; None where it was not stored, which `keep` decides."""
        return dialogues(self._run.folder, {self.id}).get(self.id)

    @property
    def analysis(self) -> GameAnalysis | None:
        """What `Run.analyse` or the command `referee analyse` stored of it: a step for each of its positions;
        None where nothing is stored.
        """
        return analysed(self._run).games.get(self.id)

    def replay_html(self, seat: int | None = None) -> str:
        """A page that replays the game: a whole one, which needs no network. With a seat it holds only what
        this seat knew. Raises `RecordError`, and `UsageError` for a seat that the game has not.
        """
        from referee.pages.replay_page import replay_page  # its templates are loaded for pages alone

        if seat is not None and not 0 <= seat < len(self.bots):
            raise UsageError(f"`seat` is {seat}, expected 0 to {len(self.bots) - 1}, or None to see all")
        return replay_page(self._steps, seat, analyses=analysed(self._run).games)

    def _repr_html_(self) -> str:
        return framed(self.replay_html(), f"Replay of game {shown(self.id)}")

    def __repr__(self) -> str:
        return f"<PlayedGame {shown(self.id)}, {self.result}>"

    @cached_property
    def _record(self) -> GameRecord:
        return from_json(self.record).with_names(self._run.amendments.shown)

    @cached_property
    def _steps(self) -> Steps:
        return steps_of(self._record)


class Games(Sequence[PlayedGame]):
    """Games of a run, in the order in which they ended: by place, counted from 0, or by id."""

    def __init__(self, run: StoredRun, games: Sequence[tuple[int, PlacedGame]]) -> None:
        """`games`: the number of each game in the file of records, and where it is."""
        self._run = run
        self._games = games

    def __len__(self) -> int:
        return len(self._games)

    @overload
    def __getitem__(self, key: int | str) -> PlayedGame: ...
    @overload
    def __getitem__(self, key: slice) -> Games: ...
    def __getitem__(self, key: int | str | slice) -> PlayedGame | Games:
        """A game, or for a slice several. Raises `IndexError`, and `UsageError` for an unknown id."""
        if isinstance(key, slice):
            return Games(self._run, self._games[key])
        number, placed = self._games[self._place(key) if isinstance(key, str) else key]
        return PlayedGame(self._run, placed, number)

    def __iter__(self) -> Iterator[PlayedGame]:
        return (PlayedGame(self._run, placed, number) for number, placed in self._games)

    def _place(self, game_id: str) -> int:
        if (place := self._places.get(game_id)) is None:
            example = f"an id such as `{shown(self._games[0][1].game.id)}`" if self._games else "none"
            raise UsageError(f"there is no game `{shown(game_id)}` among these, expected {example}")
        return place

    @cached_property
    def _places(self) -> dict[str, int]:
        return {placed.game.id: place for place, (_, placed) in enumerate(self._games)}

    @cached_property
    def rows(self) -> Rows:
        """A row for each game, as plain values: the columns of `referee export --format csv`, but for the
        run, in which the names of those by seat end with its number, here from 0, such as `bot_0`; and the
        `winner`, None where there is none.

        This reads the records, for where the games were played. Raises `RecordError`.
        """
        run = self._run
        rows = []
        for one, game in zip(placed([(run, [game._game for game in self])]), self, strict=True):
            row = row_of(*one, first_seat=0) | {"rated": game.rated, "winner": game.winner}
            del row["run"]
            rows.append(row)
        return rows

    def to_frame(self) -> pandas.DataFrame:
        """The rows as a data frame of pandas. Raises `UsageError` where that is not installed."""
        return frame_of(self.rows)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'game')}>"

    def __str__(self) -> str:
        return self._listed(self).drawn()

    def _repr_html_(self) -> str:
        more = len(self) - _MOST_LISTED
        return as_html(
            self._listed(self[:_MOST_LISTED]).drawn("html")
            + (f"<p>… and {counted(more, 'more game')}</p>" if more > 0 else "")
        )

    @staticmethod
    def _listed(games: Games) -> Grid:
        rows = [
            [str(place), game.id, game.winner or "–", game.ending, shown(game._game.told)]
            for place, game in enumerate(games)
        ]
        return Grid(text_columns("", "id", "winner", "ending", "how it ended"), rows)


class VerifiedRun(NamedTuple):
    """What the verification of a run found. It is true where nothing is wrong."""

    problems: tuple[Problem, ...]
    """What is wrong with single lines: the number of each `line`, from 1, the id of its `game` if there is
    one, and `what` is wrong.
    """
    error: str  # what is wrong with the records, as a sentence; empty where nothing is
    notes: tuple[str, ...]  # what could not be verified, as sentences
    games: int  # how many games were replayed
    head_hash: str  # the hash of the last line

    def __bool__(self) -> bool:
        return not self.error


class Run:
    """A run as it was read from its folder; open it again to see what has been played since.

    It is a sequence of its games: `run[7]` is the eighth, since places are counted from 0,
    `run["1:greedy:random"]` the one with this id, `run[:5]` are the first five, and `len(run)` says how many
    count. Whatever is about the run as a whole raises `RecordError` where its records are damaged.
    """

    def __init__(self, found: ReadableRun) -> None:
        self._run, self._games, self._damage = found
        self.folder = self._run.folder
        """The folder of the run, or the file of records where that is not in one."""

    @property
    def damage(self) -> str:
        """What is wrong with the records, so far as reading them tells; empty where nothing is."""
        return str(self._damage or "")

    @property
    def bots(self) -> tuple[str, ...]:
        """The names of the bots."""
        return tuple(self._whole.names)

    @cached_property
    def games(self) -> Games:
        """The games that count, in the order in which they ended. Raises `RecordError`."""
        return self._of(self._whole.games)

    def __len__(self) -> int:
        return len(self.games)

    def __iter__(self) -> Iterator[PlayedGame]:
        return iter(self.games)

    @overload
    def __getitem__(self, key: int | str) -> PlayedGame: ...
    @overload
    def __getitem__(self, key: slice) -> Games: ...
    def __getitem__(self, key: int | str | slice) -> PlayedGame | Games:
        """A game by its place, counted from 0, or its id; several for a slice. Of damaged records, all games
        that can be read. Raises `IndexError`, and `UsageError` for an unknown id.
        """
        return (self._readable if self._damage else self.games)[key]

    @cached_property
    def _readable(self) -> Games:
        return Games(self._run, [*enumerate(self._games, 1)])

    def _of(self, games: Mapping[str, Summary]) -> Games:
        numbered = enumerate(self._games, 1)
        return Games(self._run, [one for one in numbered if games.get(one[1].game.id) == one[1].game])

    @property
    def table(self) -> Table:
        """The table as the command `referee table` prints it: the standings, and what belongs to them."""
        return Table(self._computed)

    def table_of(self, name: str) -> Table:
        """One of the tables of `referee table --show`: standings, crosstable, los, seats, pairs, faults,
        times, sprt, and of some formats rounds, pairings, bracket, stages, parameters, course, failures.
        Raises `UsageError` where there is none of this name.
        """
        show = parse_show(name)
        computed = self._computed
        if TableText(show=show).needs_times:
            computed = computed._replace(facts=replace(computed.facts, times=times_of(Runs((self._whole,)))))
        return Table(computed, show)

    @property
    def standings(self) -> Table:
        """The bots, best first."""
        return self.table_of("standings")

    @property
    def crosstable(self) -> Table:
        """The wins, draws and losses of each pair of bots."""
        return self.table_of("crosstable")

    @property
    def parameters(self) -> dict[str, int | float]:
        """The values of a bot that is tuned, as far as the run was when it was read; empty for other runs."""
        found = self._computed.facts.of_format("").get("parameters")
        return {row["parameter"]: row["value"] for row in found.data} if found else {}

    @property
    def ratings(self) -> dict[str, Rating]:
        """The Elo of each bot with the ends of its 95 % interval, best first, also of few games: `elo`, `low`
        and `high`. An end is infinite where the games do not bound it, None where nothing is known. The mean
        of all bots is 0.
        """
        return {row.bot: row.rating for row in self._computed.whole.rows}

    @property
    def status(self) -> RunStatus:
        """How far the run was when it was read, and whether a referee is playing it now: `data` is what
        `referee status --json` prints, `print` shows it as text.
        """
        run = self._whole
        return RunStatus(progress_of(run, last_games(run.folder), is_locked(run.folder)), order_of(run))

    def find(
        self,
        *,
        bot: str | Sequence[str] = (),
        section: str | None = None,
        round: int | None = None,
        won_by: str | None = None,
        lost_by: str | None = None,
        fault: str | None = None,
        ending: str | None = None,
        moves: Sequence[str] = (),
        longer: int | None = None,
        shorter: int | None = None,
        machine: str | None = None,
        seat: int | None = None,
        options: Mapping[str, object] | None = None,
    ) -> Games:
        """The games that fit all that is given, in their order.

        `bot`: one that played, or several that all did. `round` counts from 1. `won_by`: a bot that was
        first, `lost_by`: one that was not. `fault`: the word of a fault that one of the bots had, or `any`.
        `ending`: the word of an ending. `moves`: those that the game began with. `longer`, `shorter`: it had
        more moves than these, or fewer. `machine`: the name of the one that played it. `seat`: the seat of
        the bot, the first of several, counted from 0. `options`: those that the game was played with.

        Raises `RecordError`, and `UsageError` where the run has no such bot, section, seat, option or
        machine, or no game has such a move.
        """
        bots = (bot,) if isinstance(bot, str) else tuple(bot)
        query = GameQuery(
            None,
            bots,
            section,
            round,
            won_by,
            lost_by,
            fault,
            ending,
            tuple(moves),
            longer,
            shorter,
            machine,
            seat,
            {name: str(value) for name, value in (options or {}).items()},
        )
        ((_, found),) = found_games(Runs((self._whole,)), query)
        return self._of({game.id: self._whole.games[game.id] for game in found})

    def diagnose(
        self, bot: str, *, section: str | None = None, against: str | None = None, since: int = 1
    ) -> Diagnosis:
        """What happens to a bot more often than to its opponents, or in some of its games than in others, as
        the command `referee diagnose` tells it: `print` shows it, `data` is it as JSON.

        `section`: only games of this section of the tournament; `against`: only those against this bot;
        `since`: only those from this `number` on. Raises `RecordError`, and `UsageError` where the run has no
        such bot or section, or the games are of several sections.
        """
        return diagnosed(self._whole, bot, section=section, against=against, since=since)

    def analyse(self, *, by: str | None = None, proof: int = NODES) -> RunAnalysis:
        """Proves and estimates what can be said of the games that were not analysed yet, and stores it beside
        the run. `by` is the command of the adviser, `proof` how many positions are looked at to prove one.

        Raises `UsageError` for an adviser that cannot be started, `RecordError`, `StorageError`, and
        `EnvironmentLacksError`.
        """
        return analyse(self._whole, [*self._whole.games], proof=proof, by=by)

    def verify(self, head_hash: str | None = None) -> VerifiedRun:
        """Replays every game by the rules and the clocks, and compares the result with the record. With a
        head hash that you noted, also tells whether the records up to it are as they were then.

        Raises `UsageError` where that is no hash, or a game is not available. What is wrong with the records
        is a value.
        """
        problems: list[Problem] = []
        found = verification(self.folder, problems.append, 0, head_hash)
        return VerifiedRun(tuple(problems), found.error, tuple(found.notes), found.games, found.head_hash)

    @property
    def head_hash(self) -> str:
        """The hash of the last line of the records, which stands for all of them."""
        return self._whole.last_hash

    def report(self, path: str | os.PathLike[str], *, replays: bool = True, folder: bool = False) -> Path:
        """Writes a web page about the run, or with `folder` a folder of pages, for many games; where it is.

        Without replays the page is smaller. An older report at that place is replaced. Raises `RecordError`,
        `StorageError`, and `UsageError` where something else is there or one page would be too large.
        """
        from referee.pages.environment import PAGE_START
        from referee.pages.report.files import folder_of, page_of
        from referee.pages.report.games import analyses_of

        runs, place = Runs((self._whole,)), Path(path)
        analyses = analyses_of(runs)
        if folder:
            folder_of(runs, 0, place, analyses=analyses)
            return place / "index.html"
        html = page_of(runs, 0, replays, analyses=analyses)
        write_whole(place, html.encode(), PAGE_START.encode(), "a page")
        return place

    def to_frame(self) -> pandas.DataFrame:
        """The games as a data frame of pandas, see `Games.rows`. Raises `UsageError` without pandas."""
        return self.games.to_frame()

    def __repr__(self) -> str:
        where = f" in {shown(str(self.folder))}"
        if self._damage:
            return f"<Run{where}, damaged: {self.damage}>"
        return f"<Run of {counted(len(self), 'game')} of {listed(self.bots)}{where}>"

    def _repr_html_(self) -> str:
        if self._damage:
            readable = counted(len(self._readable), "game")
            return as_html(f"<p>damaged: {escape(self.damage)}; {readable} can be read</p>")
        return self.table._repr_html_()

    @property
    def _whole(self) -> StoredRun:
        if self._damage:
            raise RecordError(self.damage)
        return self._run

    @cached_property
    def _computed(self) -> ComputedTables:
        runs = Runs((self._whole,))
        facts = runs.facts
        return ComputedTables(*with_sections(runs.names, runs.games, runs.seats, facts), facts)
