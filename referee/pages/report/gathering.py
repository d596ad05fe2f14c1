"""Gathers what it says of a tournament: its heading, its tables and drawings, its faults, its games."""

from __future__ import annotations

import heapq
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from referee.analysis.diagnosis import Diagnosis, diagnosis
from referee.analysis.played import DiagnosedGame
from referee.analysis.significance import FEWEST_CASES
from referee.core.errors import RecordError, RefereeError, UsageError
from referee.core.pairing import section_of
from referee.core.settings import PointScale
from referee.core.text import counted, listed, shown, without_folders
from referee.core.this_machine import ThisMachine
from referee.core.units import TimeControl
from referee.core.work import Advance, Stage, untold_stage
from referee.games import game_named
from referee.pages.game_analysis import Analyses
from referee.pages.report.bots import Board, BotReport, board_of, bot_reports
from referee.pages.report.front import (
    Front,
    GameToSee,
    ListedGame,
    PairOfBots,
    front,
    games_to_see,
    pairs_to_see,
)
from referee.pages.report.games import MADE_BY, ReadGame, analyses_of, deciding_of, read_games
from referee.pages.report.rating_history import FEWEST_GAMES, MAX_BOTS, RatingHistory, course
from referee.pages.report.tables import MAX_IN_MATRIX, NO_GAMES, ReportPart, part
from referee.ratings.columns import test_text
from referee.ratings.standings import Facts, Standings, with_sections
from referee.ratings.times import Times
from referee.records.header import SectionGame
from referee.records.record import Summary, from_json, parse_json
from referee.tournament.run.lock import is_locked
from referee.tournament.run.reading import Runs
from referee.tournament.run.remaining import games_in_all, nothing_remains, stopped
from referee.tournament.run.run import StoredRun, dialogues, game_lines
from referee.viewing.steps import steps_of

MANY_CLOCKS = 4  # with more different clocks, they are counted in the heading

MANY_MACHINES = 8  # with more machines, those that played the fewest games are not named in the heading

HeadingFact = tuple[str, str]  # the name of a fact, and the fact


def title_of(runs: Runs, whole: Standings, games: Sequence[Summary]) -> str:
    """The title of a report."""
    played = listed(sorted({_game_name(game.game) for game in games})) or NO_GAMES
    named = {run.format.title for run in runs.runs if run.format and run.format.title}
    what = ", ".join([played, *sorted(named)])
    return f"{what}: {counted(len(whole.names), 'bot')}, {counted(len(games), 'game')}"


def heading(runs: Runs, clocks: Collection[str], began: Sequence[str]) -> Iterator[HeadingFact]:
    """Describes what was played, by how many bots, with which clocks, and when: `began` has the moments at
    which the first and the last game began, and is empty where there are none.
    """
    for run in runs.runs:
        several = f" in {shown(run.folder.name, 80)}" if len(runs.runs) > 1 else ""
        for section, played in run.header.sections.items():
            yield f"{shown(section, 80) or 'game'}{several}", _game_text(played)
        yield f"format{several}", _format_text(run)
        yield f"games{several}", _games_text(run)
        if remaining := stopped(run, run.is_open):
            for test in remaining.tests:
                section = f"{shown(test.section, 80)}: " if test.section else ""
                yield f"SPRT{several}", section + test_text(test)
            if remaining.decision and not remaining.tests:
                yield f"stopped{several}", remaining.decision
    yield "bots", f"{len(runs.names):,}"
    if clocks:
        few = len(clocks) <= MANY_CLOCKS
        yield "clocks", listed(sorted(clocks)) if few else f"{len(clocks)} different ones"
    if began:
        first, last = (f"{moment.replace('T', ' ')} UTC" for moment in began)
        yield "played", first if first == last else f"{first} to {last}"


def machines(games: Mapping[ThisMachine, int]) -> Iterator[HeadingFact]:
    """Describes where how many games were played, if several machines played."""
    if len(games) > 1:
        most_first = sorted(games, key=lambda machine: -games[machine])
        texts = [
            f"{one.name} ({one.cpu}) {counted(games[one], 'game')}" for one in most_first[:MANY_MACHINES]
        ]
        if elsewhere := sum(games[machine] for machine in most_first[MANY_MACHINES:]):
            texts.append(f"{counted(elsewhere, 'game')} elsewhere")
        yield "played on", f"{counted(len(games), 'machine')}: {'; '.join(texts)}"


def made_by(found: Mapping[str, Collection[str]]) -> Iterator[HeadingFact]:
    """Names the software that played the games, as far as records have it."""
    for name, what in zip(MADE_BY, ("referee", "Python", "machine"), strict=True):
        if found[name]:
            yield what, ", ".join(sorted(found[name]))


def hashes(runs: Runs) -> Iterator[HeadingFact]:
    """The head hashes of the runs."""
    for run in runs.runs:
        yield "head hash", run.last_hash


def _game_name(slug: str) -> str:
    """The name of a game for people; its short name where the game is not known."""
    try:
        return game_named(slug).name
    except UsageError:
        return slug


def _game_text(played: SectionGame) -> str:
    settings = [f"{name} {value}" for name, value in played.options.items() if value != ""]
    return shown(" · ".join([_game_name(played.game), *settings, *_aim(played)]), 300)


def _aim(played: SectionGame) -> list[str]:
    """What decides who wins; nothing where the game is not known."""
    try:
        game = game_named(played.game)
        return [aim] if (aim := game.aim(game.settle(played.settings))) else []
    except UsageError:
        return []


def _format_text(run: StoredRun) -> str:
    form = run.format
    return form.description if form else shown(run.header.format_name, 80)


def _games_text(run: StoredRun) -> str:
    in_all = games_in_all(run)
    text = f"{len(run.games):,}"
    if in_all is not None and in_all.games != len(run.games):
        text += f" of {'' if in_all.is_exact else 'at most '}{in_all.games:,}"
    if run.annulled:
        text += f", and {len(run.annulled)} annulled"
    if run.voids:
        text += f"; {counted(len(run.voids), 'attempt')} became void"
    if is_locked(run.folder):
        text += "; a referee is running"
    return text


MOST_DIAGNOSED = 500  # of so many games of a bot, the last ones, it is told what chance does not explain

SLOWEST = 10  # the number of slowest moves that are listed

FAULTS_OF_A_KIND = 3  # maximum number of games shown in which a bot committed the same fault

MAX_FAULTS = 60  # maximum number of games with faults that are shown

STDERR = "stderr: "  # how the lines of a report of a fault begin that the bot wrote to stderr

DIALOGUE_LINES = 40  # the number of last lines of a dialogue that are shown


class SlowMove(NamedTuple):
    """A move that took long."""

    used_us: int
    bot: str
    game: str
    step: int | None  # the step of the replay that has it; None where the game is not replayed


class FaultyGame(NamedTuple):
    """A game in which a bot committed a fault."""

    game: Summary
    faults: Sequence[tuple[str, str]]  # the bots that did, each with the word of its fault
    report: Sequence[str]
    dialogue: Sequence[str]  # the last lines of the stored dialogue; empty where none is stored
    cut: int  # how many lines of the dialogue come before them


@dataclass(frozen=True)
class TournamentReport:
    """A tournament as it is reported."""

    title: str
    facts: Sequence[tuple[str, str]]  # what the heading says: the name of each fact, and the fact
    is_running: bool
    front: Front
    parts: Sequence[ReportPart]  # the whole, and each section where there are several
    course: RatingHistory | None
    course_text: str  # why there is no course of ratings; empty where there is one
    values: Sequence[Mapping[str, Any]]
    """The course of the values of a bot that is tuned, as its table has it; empty for others."""
    best: Sequence[str]  # the bots, best first
    scale: PointScale
    slowest: Sequence[SlowMove]
    faults: Sequence[FaultyGame]
    more_faults: int  # how many games with faults are not shown
    bots: Mapping[str, BotReport]
    pairs: Mapping[PairOfBots, Sequence[GameToSee]]  # the games to see of each pair of bots
    games: Sequence[ListedGame]  # in the order in which they were finished
    lacks_seats: bool  # whether replays have only what a spectator sees, where seats knew something else


class PlayedCells(NamedTuple):
    """What was played on a board."""

    names: frozenset[str]  # those of its cells
    by_bot: dict[str, Counter[str]]  # how often each bot played each cell


@dataclass
class Gathering:
    """Gathers what a report needs of all games, one after the other."""

    runs: Runs
    games: list[ListedGame] = field(default_factory=list)
    _times: dict[str, Times] = field(default_factory=lambda: defaultdict(Times))  # by section
    _lengths: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    """By section, how many games have this many moves."""
    _clocks: dict[str, dict[str, set[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )
    """By section and bot."""
    _slowest: list[SlowMove] = field(default_factory=list)  # A heap, the fastest of them first
    _faulty: list[tuple[ReadGame, list[tuple[str, str]]]] = field(default_factory=list)
    _fault_counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _with_faults: int = 0  # how many games had faults
    _lacks_seats: bool = False
    _began: list[str] = field(default_factory=list)  # when the first and the last game began
    _made_by: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _boards: dict[tuple[int, str], PlayedCells | None] = field(default_factory=dict)
    """By run and section; None where there is no board, or the rules are not available."""
    _cells: dict[Board, PlayedCells] = field(default_factory=dict)  # the same by board
    _diagnosed: dict[tuple[str, str], deque[DiagnosedGame]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=MOST_DIAGNOSED))
    )
    """By bot and section."""
    _machines: Counter[ThisMachine] = field(default_factory=Counter)  # how many games were played so

    def add(self, read: ReadGame) -> None:
        """Adds the next game."""
        game, played = read.game, read.played
        section = section_of(game.id)
        self.games.append(listed_game(read))
        if cells := self._cells_of(read):
            for bot, words in zip(game.bots, played.words, strict=True):
                counts = cells.by_bot[bot]
                for word, count in words.items():
                    if word in cells.names:
                        counts[word] += count
        self._lacks_seats |= played.replay is not None and played.replay.lacks_seats
        for seat, bot in enumerate(game.bots):
            self._diagnosed[bot, section].append(DiagnosedGame(game, seat, played.plays))
        self._times[section].update(played.times)
        self._lengths[section][played.moves] += 1
        for name, clock, slow in zip(game.bots, played.clocks, played.slowest, strict=True):
            self._clocks[section][name].add(clock)
            if slow:
                move = SlowMove(slow.used_us, name, game.id, slow.step)
                push = heapq.heappush if len(self._slowest) < SLOWEST else heapq.heappushpop
                push(self._slowest, move)
        if played.began:
            self._began = [min([played.began, *self._began]), max([played.began, *self._began])]
        name, cpu, _ = played.place
        self._machines[ThisMachine(shown(name, 80), shown(cpu, 80))] += 1
        for name, text in zip(MADE_BY, played.made_by, strict=True):
            if text:
                self._made_by[name].add(text)
        if any(game.faults):
            self._add_faults(read)

    def _cells_of(self, read: ReadGame) -> PlayedCells | None:
        """What was played on the board of a game."""
        section = section_of(read.id)
        key = id(read.run), section
        if key not in self._boards:
            board = _board_of(read.run, section)
            self._boards[key] = self._cells.setdefault(board, _unplayed(board)) if board else None
        return self._boards[key]

    def _add_faults(self, read: ReadGame) -> None:
        self._with_faults += 1
        faults = [(bot, word) for bot, word in zip(read.game.bots, read.game.faults, strict=True) if word]
        is_new = any(self._fault_counts[fault] < FAULTS_OF_A_KIND for fault in faults)
        self._fault_counts.update(faults)
        if is_new and len(self._faulty) < MAX_FAULTS:
            self._faulty.append((read._replace(played=read.played._replace(replay=None)), faults))

    def report(self, workers: int = 0, stage: Stage = untold_stage) -> TournamentReport:
        """The report of all games that were added; this many processes compute it."""
        runs, games = self.runs, [each.game for each in self.games]
        seats = max(seats for run in runs.runs for seats in run.seats.values())
        whole_times = Times()
        for times in self._times.values():
            whole_times.update(times)
        facts = replace(runs.facts, times=whole_times)
        whole, sections = with_sections(runs.names, games, seats, facts)
        parts = [self._part(whole, facts, [*self._times] if not sections else [])]
        parts += [self._part(table, facts, [table.section]) for table in sections]
        followed, why_not = self._course(whole, facts, workers, stage("fitting the ratings"))
        faulty = list(self._shown_faults())
        elo = {bot: rating.elo for bot, rating in whole.pool.ratings.items()}
        cells: dict[str, dict[Board, Counter[str]]] = defaultdict(dict)
        for board, played in self._cells.items():
            for bot, counts in played.by_bot.items():
                cells[bot][board] = counts
        metrics = {bot: times.metrics for bot, times in whole_times.by_bot.items()}
        bots = bot_reports(
            whole, self.games, parts[0].times, followed, cells, metrics, self._diagnoses(whole.names)
        )
        return TournamentReport(
            title=title_of(runs, whole, games),
            facts=[
                *heading(runs, self._clocks_of_all(), self._began),
                *machines(self._machines),
                *made_by(self._made_by),
                *hashes(runs),
            ],
            is_running=any(is_locked(run.folder) for run in runs.runs),
            front=front(whole, self.games, runs.facts.tests, all(map(_is_over, runs.runs))),
            parts=parts,
            course=followed,
            course_text=why_not,
            values=values.data if (values := facts.of_format("").get("course")) else (),
            best=whole.names,
            scale=facts.points,
            slowest=sorted(self._slowest, key=lambda move: -move.used_us),
            faults=faulty,
            more_faults=self._with_faults - len(faulty),
            bots=bots,
            pairs=pairs_to_see(
                self.games, elo, {bot for table in (whole, *sections) for bot in table.names[:MAX_IN_MATRIX]}
            ),
            games=self.games,
            lacks_seats=self._lacks_seats,
        )

    def _diagnoses(self, bots: Sequence[str]) -> dict[str, list[tuple[str, Diagnosis]]]:
        """The diagnoses of the best bots, each with the section that it is of."""
        found: dict[str, list[tuple[str, Diagnosis]]] = {name: [] for name in bots[:MAX_IN_MATRIX]}
        for (bot, section), games in self._diagnosed.items():
            if bot in found and len(games) >= FEWEST_CASES:
                found[bot].append((section, diagnosis(bot, games)))
        return found

    def _part(self, table: Standings, facts: Facts, sections: Sequence[str]) -> ReportPart:
        """The part of a report with these standings, and what was measured in these sections."""
        times, lengths = Times(), Counter[int]()
        clocks: dict[str, set[str]] = defaultdict(set)
        for section in sections:
            times.update(self._times[section])
            lengths.update(self._lengths[section])
            for name, found in self._clocks[section].items():
                clocks[name] |= found
        return part(table, facts, times, lengths, {name: _allowance(found) for name, found in clocks.items()})

    def _course(
        self, whole: Standings, facts: Facts, workers: int, advance: Advance
    ) -> tuple[RatingHistory | None, str]:
        """The course of the ratings, or why there is none."""
        if whole.seats == 1:
            return None, "Games for one bot do not give ratings."
        for form in (run.format for run in self.runs.runs):
            if form and form.no_course:
                return None, form.no_course
        if len(whole.rows) > MAX_BOTS:
            return None, f"With more than {MAX_BOTS} bots, repeated fits would take too long."
        rated = [row.bot for row in whole.rows if row.is_rated]
        found = course([each.game for each in self.games], rated, whole.pool, facts.repeats, workers, advance)
        if found and rated[0] in facts.stopped():
            found = replace(found, between=[])
        few = f"There are fewer than {FEWEST_GAMES} games, too few to show how ratings developed."
        return found, "" if found else few

    def _shown_faults(self) -> Iterator[FaultyGame]:
        wanted: dict[int, set[str]] = defaultdict(set)
        for read, _ in self._faulty:
            wanted[id(read.run)].add(read.id)
        kept = {
            id(run): dialogues(run.folder, wanted[id(run)]) for run in self.runs.runs if id(run) in wanted
        }
        for read, faults in self._faulty:
            text = kept[id(read.run)].get(read.id, "")
            lines = [shown(without_folders(line), 400) for line in text.split("\n")] if text else []
            last = lines[-DIALOGUE_LINES:]
            yield FaultyGame(read.game, faults, read.played.faults, last, len(lines) - len(last))

    def _clocks_of_all(self) -> set[str]:
        return {clock for bots in self._clocks.values() for found in bots.values() for clock in found}


def listed_game(read: ReadGame) -> ListedGame:
    """A game as lists, and the rules that choose games to see, have it."""
    played = read.played
    said = [line.removeprefix(STDERR) for line in played.faults if line.startswith(STDERR)]
    return ListedGame(
        read.game,
        played.moves,
        played.lowest,
        said[-1] if said else "",
        played.deciding,
        tuple(map(sys.intern, played.opening)),
        played.claims,
    )


def _unplayed(board: Board) -> PlayedCells:
    return PlayedCells(frozenset(cell.name for cell in board.cells), defaultdict(Counter))


def _board_of(run: StoredRun, section: str) -> Board | None:
    played = run.header.sections[section]
    try:
        game = played.available()
        return board_of(game.start(game.settle(played.settings)))
    except RefereeError:
        return None


def _is_over(run: StoredRun) -> bool:
    """Whether nothing more of a run is to be played, as far as that is known."""
    return not is_locked(run.folder) and (run.games_in_all is None or nothing_remains(run))


def _allowance(clocks: set[str]) -> int | None:
    """The allowance of a move with these clocks; None where they differ in it, or there is none."""
    controls = [TimeControl.parse(clock) for clock in clocks]
    allowances = {control.move_us if control.timed else None for control in controls}
    return allowances.pop() if len(allowances) == 1 else None


class ChosenGame(NamedTuple):
    """A game to see."""

    run: StoredRun
    id: str  # its id in its run
    seen: GameToSee
    deciding: int | None  # the step with its deciding move; None where nobody knows


def chosen_games(runs: Runs, wanted: Collection[tuple[Path, str]]) -> list[ChosenGame]:
    """The games to see among those that are wanted, each by the folder of its run and its id there; ratings
    are those of all games. Raises `RecordError`, `UsageError` where an analysis cannot be read.
    """
    with closing(read_games(runs, workers=0, with_replays=False)) as games:
        read = {each.game.id: each for each in games if (each.run.folder, each.id) in wanted}
    seats = max(seats for run in runs.runs for seats in run.seats.values())
    whole, _ = with_sections(runs.names, runs.games, seats, runs.facts)
    elo = {bot: rating.elo for bot, rating in whole.pool.ratings.items()}
    found = games_to_see([listed_game(each) for each in read.values()], elo)
    analyses = analyses_of(runs)
    chosen = ((read[seen.game.id], seen) for seen in found)
    return [_chosen(each, seen, analyses[each.run.folder]) for each, seen in chosen]


def _chosen(read: ReadGame, seen: GameToSee, analyses: Analyses) -> ChosenGame:
    line = next(game_lines(read.run, {read.id}))
    deciding = None
    with suppress(RecordError):  # the rules are not available
        steps = steps_of(from_json(parse_json(line.text)))
        deciding = deciding_of(steps, analyses.get(read.id))
    return ChosenGame(read.run, read.id, seen, deciding.step if deciding else None)
