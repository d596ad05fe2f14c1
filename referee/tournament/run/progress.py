"""What is told of a run: how far it is, the order of its bots, what its table says besides its games."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from referee.core.errors import UsageError
from referee.core.text import listed
from referee.core.text import shown as as_shown
from referee.ratings.columns import fitted
from referee.ratings.notes import FEW_ENCOUNTERS
from referee.ratings.pool import FittedPool
from referee.ratings.sprt import SprtResult
from referee.ratings.standings import (
    Facts,
    FormatPlace,
    RankedBot,
    ranked_by_points,
    ranked_by_rating,
    without_withdrawn,
)
from referee.ratings.tally import Tallies, clusters
from referee.records.amendments import LeftOut
from referee.records.record import Summary
from referee.tournament.formats import Amount, Format, SectionState
from referee.tournament.run.durations import TimedGame
from referee.tournament.run.remaining import nothing_remains, stopped
from referee.tournament.run.run import StoredRun
from referee.tournament.run.run_state import RunState

RECENT_US = 600_000_000
"""The rate is that of the games that ended in this time before the last one, ten minutes."""


@dataclass(frozen=True)
class RunProgress:
    """How far a run is."""

    game: str
    bots: int
    seats: int
    played: int
    planned: Amount | None
    voids: int  # how many attempts at games became void
    is_running: bool  # whether a referee is at work in the folder
    is_over: bool  # whether nothing more is to be played
    decision: str | None  # why the stopping rule ended it before its schedule did; None where it did not
    tests: Sequence[SprtResult]  # the sequential tests as far as they have come
    rate: float | None  # games a second lately; None where too few were played to tell
    ended_us: int | None  # when the last game ended, in microseconds since 1970; None where there was none
    left_out: Sequence[LeftOut] = ()  # the bots that the run was last played without

    @property
    def in_all(self) -> Amount | None:
        """How many games there are, where that says more than how many were played: not how many there
        might have been, when nothing more is played.
        """
        has_fewer = self.is_over and self.planned != Amount(self.played, True)
        return None if self.decision or has_fewer else self.planned

    @property
    def remaining_us(self) -> int | None:
        """The estimated time until all games are played, or all before a closing test; None where it cannot
        be told.
        """
        if self.planned is None or not self.rate or not self.is_running:
            return None
        done, part = self.planned.part(self.played)
        return round((part.games - done) / self.rate * 1_000_000)

    @property
    def rate_text(self) -> str:
        """The rate for people; empty where it is not known."""
        if not self.rate:
            return ""
        per = "second" if self.rate >= 1 else "minute" if self.rate * 60 >= 1 else "hour"
        factor = {"second": 1, "minute": 60, "hour": 3600}[per]
        count = self.rate * factor
        return f"{count:.1f} games a {per}" if count < 10 else f"{count:,.0f} games a {per}"


def progress_of(run: StoredRun, last: Sequence[TimedGame], is_running: bool) -> RunProgress:
    """Computes how far a run is; `last` are its last games. Raises `RecordError`."""
    remaining = stopped(run, run.is_open)
    decision = remaining.decision if remaining else None
    return RunProgress(
        game=listed(sorted({section.game for section in run.header.sections.values()})),
        bots=len(run.names),
        seats=max(run.seats.values()),
        played=len(run.games),
        planned=run.games_in_all,
        voids=len(run.voids),
        is_running=is_running,
        is_over=not is_running and nothing_remains(run),
        decision=decision,
        tests=remaining.tests if remaining else (),
        left_out=run.header.left_out,
        rate=rate(last),
        ended_us=max((game.ended_us for game in last), default=None),
    )


def is_over(run: StoredRun) -> bool:
    """Whether a run has come to its end, so far as its records tell: its seed was revealed, or nothing of its
    schedule is left to play. Raises `RecordError`.
    """
    if run.header.seed_sha256:
        return run.header.seed is not None
    return run.games_in_all is None or nothing_remains(run)


def rate(games: Sequence[TimedGame]) -> float | None:
    """Games a second, by the games that ended last; None where there are too few."""
    if not games:
        return None
    ends = sorted(game.ended_us for game in games)
    recent = [end for end in ends if end >= ends[-1] - RECENT_US]
    passed_us = recent[-1] - recent[0]
    return (len(recent) - 1) * 1_000_000 / passed_us if passed_us else None


@dataclass(frozen=True)
class BotOrder:
    """The bots of a run in order, with what they did."""

    tallies: Tallies
    pool: FittedPool | None  # the ratings; None where there are none
    places: Sequence[RankedBot]
    """Best first, as in the table: by the order of the format if it has one, else by their ratings or
    points.
    """
    facts: Facts = field(default_factory=Facts)  # what else tables say of the run
    is_small: bool = False  # whether there are too few independent encounters for ratings to say anything

    @property
    def bots(self) -> list[str]:
        """The names of the bots, best first."""
        return [name for _, name, _ in self.places]

    @property
    def shown_pool(self) -> FittedPool | None:
        """The ratings, where there are enough games for them to say something."""
        return None if self.is_small else self.pool

    @property
    def faults(self) -> Counter[str]:
        """How often each fault happened, by its word."""
        return sum((tally.faults for tally in self.tallies.by_bot.values()), Counter[str]())


def order_of(run: StoredRun) -> BotOrder:
    """The bots of a run in order. This takes long where there are many games. Raises `RecordError`."""
    games, names = run.shown_games, run.names
    facts = facts_of(run, run.is_open)
    tallies = Tallies(names, games, facts.points)
    of = clusters(games, facts.repeats).of
    pool = fitted(names, games, of, facts.stopped()) if max(run.seats.values()) > 1 and games else None
    (own, *others) = facts.places.values() or [()]
    ranked = ranked_by_points if facts.by_points else ranked_by_rating
    ordered = own if own and not others else ranked(names, tallies, pool)
    places = without_withdrawn(ordered, facts.withdrawn)
    return BotOrder(tallies, pool, places, facts, len({*of}) < FEW_ENCOUNTERS)


def facts_of(run: RunState, is_open: Callable[[str], bool]) -> Facts:
    """The facts of a run; `is_open` says of an id whether the game is still to be played."""
    header, form = run.header, run.format
    remaining = stopped(run, is_open)
    last_rounds = header.closed.get("rounds") if header.closed and remaining and remaining.closed else None
    found = {
        section: _results(run, section, is_open, None if last_rounds is None else last_rounds.get(section, 0))
        for section in (header.sections if form else ())
    }
    stages = {section: form.stage_of(results) for section, results in found.items()} if form else {}
    return Facts(
        changed={run.amendments.shown(name): when for name, when in header.changed_programs.items()},
        repeats=header.repeats,
        left_out=header.left_out,
        places=_places(form, found, header.bots) if form else {},
        unknown_format="" if form else header.format_name,
        withdrawn={run.amendments.shown(name): what["reason"] for name, what in run.amendments.out.items()},
        tests=remaining.tests if remaining else (),
        closed=remaining.closed if remaining else "",
        points=header.points,
        by_points=header.by_points,
        tables={section: form.tables_of(results) for section, results in found.items()} if form else {},
        stages={section: stage for section, stage in stages.items() if stage},
    )


def _results(
    run: RunState, section: str, is_open: Callable[[str], bool], last_round: int | None
) -> SectionState:
    played = ChainMap(run.annulled, run.games)
    return SectionState(
        played,
        [*run.header.bots],
        run.seats[section],
        section,
        points=run.header.points,
        repeats=run.header.repeats,
        out=lambda: run.amendments.out,
        out_after=run.out_after,
        batches=run.batches,
        without_result=_WithoutResult(played, is_open),
        annulled=run.annulled,
        last_round=last_round,
        shown=run.amendments.shown,
    )


def _places(
    form: Format, found: Mapping[str, SectionState], bots: Collection[str]
) -> dict[str, list[FormatPlace]]:
    """By section, the order of the bots in formats that have one of their own."""
    places: dict[str, list[FormatPlace]] = {}
    for section, results in found.items():
        rows = form.standings(results)
        _check_bots(form.name, [row.bot for row in rows or ()], bots)
        for row in rows or ():
            columns = {
                name: results.shown(str(cell)) if name in form.bot_columns else cell
                for name, cell in row.columns.items()
            }
            places.setdefault(section, []).append((row.rank, results.shown(row.bot), columns))
    return places


def _check_bots(format_name: str, ranked: Sequence[str], bots: Collection[str]) -> None:
    """Raises `UsageError` where the standings of a format name something that is no bot, or a bot twice."""
    for bot, count in Counter(ranked).items():
        if bot not in bots or count > 1:
            wrong = " twice" if bot in bots else ", which is not a bot of this run"
            raise UsageError(
                f"the standings of the format `{format_name}` contain `{as_shown(str(bot), 80)}`"
                f"{wrong}, expected each bot once"
            )


class _WithoutResult:
    """The games that have no result for good, as a container of ids."""

    def __init__(self, games: Mapping[str, Summary], is_open: Callable[[str], bool]) -> None:
        self._games = games
        self._is_open = is_open

    def __contains__(self, game: object) -> bool:
        return isinstance(game, str) and game not in self._games and not self._is_open(game)
