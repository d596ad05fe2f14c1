"""The time of a run: when it is over, what is stored of it, and how it is continued."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from referee.core.errors import RecordError
from referee.core.settings import UNLIMITED, TimeLimit
from referee.ratings.table import rendered
from referee.records.header import NO_HEADER
from referee.tournament.playing import TimeWatch
from referee.tournament.run.opening import additions, differences
from referee.tournament.run.progress import facts_of
from referee.tournament.run.remaining import Remaining
from referee.tournament.tournament import Tournament
from tests.unit.simulated_runs import NOON, SimulatedRun, tournament

MINUTE_US = 60_000_000


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.us = 0

    def now(self) -> datetime:
        return NOON + timedelta(microseconds=self.us)

    def now_us(self) -> int:
        return 10**12 + self.us


def started(made: Tournament, run: SimulatedRun, clock: Clock) -> tuple[TimeWatch, Remaining]:
    """A process that plays the run."""
    remaining = Remaining(made.matchmaking, run.state, run.is_open)
    return TimeWatch(made.limit, run, remaining, clock.now, clock.now_us), remaining


def test_the_time_of_play_counts_over_all_processes_and_not_between_them() -> None:
    made, clock = tournament("abcd", {"rounds": 3, "time": "10m"}), Clock()
    run = SimulatedRun(made.header.members, 1, strikes=False)
    closing, _ = started(made, run, clock)
    clock.us += 4 * MINUTE_US
    assert closing.look() == "" and run.state.header.played_us == 4 * MINUTE_US
    clock.us += 3_000_000
    assert closing.look() == "" and run.state.header.played_us == 4 * MINUTE_US, "only every hundredth"
    closing.stop()
    assert run.state.header.played_us == 4 * MINUTE_US + 3_000_000
    clock.us += 60 * MINUTE_US
    closing, remaining = started(made, run, clock)
    clock.us += 5 * MINUTE_US
    first = remaining.next()
    assert closing.look() == "" and first
    clock.us += MINUTE_US
    assert closing.look() == "closed: the `time` of 10m is over, no more games begin"
    assert closing.look() == "", "it is said once"
    assert run.state.header.closed == {"by": "time", "games": sorted(game.id for game in first.games)}
    assert remaining.next() is None, "what was given out is played"
    lines = len(run.stored)
    closing.stop()
    assert len(run.stored) == lines and run.state.header.played_us == 10 * MINUTE_US + 3_000_000


def test_a_run_without_a_limit_stores_nothing() -> None:
    made, clock = tournament("abcd", {}), Clock()
    run = SimulatedRun(made.header.members, 1, strikes=False)
    closing, _ = started(made, run, clock)
    clock.us += 10**12
    assert closing.look() == "" and made.limit == UNLIMITED
    closing.stop()
    assert len(run.stored) == 1


def test_another_limit_opens_the_run_again_and_nothing_else_does() -> None:
    bots, keys = "abcd", {"format": "swiss", "rounds": 3}
    made, clock = tournament(bots, {**keys, "until": "2026-12-01T12:00Z"}), Clock()
    run = SimulatedRun(made.header.members, 1, strikes=False)
    closing, remaining = started(made, run, clock)
    assert closing.look().startswith("closed: no more games begin since `until` 2026-12-01 12:00")
    assert run.state.header.closed == {"by": "until", "rounds": {}} and remaining.next() is None
    later = tournament(bots, {**keys, "until": "2026-12-01T14:00+01:00"})
    for other, change in (
        (later, {"until": "2026-12-01T14:00:00+01:00"}),
        (tournament(bots, keys), {"until": None}),
    ):
        assert differences(run.state.header, other) == []
        assert additions(run.state.header, other, {}) == change
        assert Remaining(other.matchmaking, run.state, run.is_open).next(), "before the change is stored"
    assert additions(run.state.header, made, {}) == {}
    assert additions(run.state.header, tournament(bots, {**keys, "until": "2026-12-01T13:00+01:00"}), {})
    run.add_change({"until": "2026-12-01T14:00:00+01:00"})
    assert run.state.header.closed is None
    assert Remaining(later.matchmaking, run.state, run.is_open).next()


def test_the_table_says_that_a_run_is_closed() -> None:
    made, clock = tournament("ab", {"rounds": 3, "until": "2026-12-01T12:00Z"}), Clock()
    run = SimulatedRun(made.header.members, 1, strikes=False)
    started(made, run, clock)[0].look()
    facts = facts_of(run.state, run.is_open)
    assert "closed: no more games begin since `until` 2026-12-01" in rendered("ab", [], facts=facts)


@pytest.mark.parametrize(
    "change",
    [
        {"closed": {"by": "hunger", "games": []}},
        {"closed": {"by": "time"}},
        {"closed": {"by": "time", "rounds": {"": -1}}},
        {"closed": 1},
        {"played_us": "1"},
        {"until": "tomorrow"},
        {"time": "1s"},
    ],
)
def test_a_damaged_line_about_time_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        NO_HEADER.after(change)


def test_a_moment_without_an_offset_is_local() -> None:
    local = tournament("ab", {"until": "2026-12-01T20:00"}).limit.until
    assert local and local == datetime(2026, 12, 1, 20).astimezone() and local.tzinfo
    assert TimeLimit(datetime(2026, 12, 1, 20, tzinfo=UTC)).header() == {"until": "2026-12-01T20:00:00+00:00"}
