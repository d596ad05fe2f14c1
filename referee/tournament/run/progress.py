"""How far a run is: its games, their rate, the remaining time, and the order of its bots so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from referee.core.text import listed
from referee.ratings.columns import fitted
from referee.ratings.notes import FEW_ENCOUNTERS
from referee.ratings.pool import FittedPool
from referee.ratings.sprt import SprtResult
from referee.ratings.standings import Facts, RankedBot, ranked_by_points, ranked_by_rating, without_withdrawn
from referee.ratings.tally import Tallies, clusters
from referee.records.amendments import LeftOut
from referee.records.durations import TimedGame
from referee.tournament.formats import Amount
from referee.tournament.run.facts import facts_of
from referee.tournament.run.remaining import nothing_remains, stopped
from referee.tournament.run.run import Run

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
        """The estimated time until all games are played; None where it cannot be told."""
        if self.planned is None or not self.rate or not self.is_running:
            return None
        return round((self.planned.games - self.played) / self.rate * 1_000_000)

    @property
    def rate_text(self) -> str:
        """The rate for people; empty where it is not known."""
        if not self.rate:
            return ""
        per = "second" if self.rate >= 1 else "minute" if self.rate * 60 >= 1 else "hour"
        factor = {"second": 1, "minute": 60, "hour": 3600}[per]
        count = self.rate * factor
        return f"{count:.1f} games a {per}" if count < 10 else f"{count:,.0f} games a {per}"


def progress_of(run: Run, last: Sequence[TimedGame], is_running: bool) -> RunProgress:
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


def is_over(run: Run) -> bool:
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


def order_of(run: Run) -> BotOrder:
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
