"""Time controls and the arithmetic of reserve clocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.errors import TimeControlError
from referee.core.units import NO_CLOCK, TimeControl, about, about_seconds, parse_period, show_period
from referee.gameplay.api import Answer, SeatReply
from referee.gameplay.clock import SeatClock
from referee.gameplay.events import Ending
from referee.gameplay.loop import ending_of

S = 1_000_000


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("2s", TimeControl(2 * S)),
        ("2s+6s/2s", TimeControl(2 * S, 6 * S, 2 * S)),
        ("90s+600s/10s", TimeControl(90 * S, 600 * S, 10 * S)),
        ("0s+5m^2s", TimeControl(0, 300 * S, 0, 2 * S)),
        ("0.3s", TimeControl(300_000)),
        ("1.5ms+0.25h", TimeControl(1500, 900 * S)),
        ("7us^1us", TimeControl(7, 0, 0, 1)),
        ("none", NO_CLOCK),
    ],
)
def test_reads(text: str, control: TimeControl) -> None:
    assert TimeControl.parse(text) == control


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "0s"),
        (1, "1us"),
        (1500, "1500us"),
        (300_000, "300ms"),
        (90 * S, "90s"),
        (600 * S, "10m"),
        (3600 * S, "1h"),
    ],
)
def test_prints_in_the_largest_exact_unit(us: int, text: str) -> None:
    assert show_period(us) == text
    assert parse_period(text) == us


def test_an_estimate_has_no_parts_of_seconds() -> None:
    shown = [about_seconds(us) for us in (0, 561_000, 4 * S + 900_000, 20 * S, 720 * S)]
    assert shown == ["1 s", "1 s", "5 s", "20 s", "12 min"]


def test_a_duration_has_few_figures_and_the_unit_that_people_would_use() -> None:
    minutes = [about(60 * S * count) for count in (12, 100, 650, 71 * 60, 73 * 60, 331 * 24 * 60)]
    assert minutes == ["12 min", "1.7 h", "11 h", "71 h", "3 days", "331 days"]
    assert [about(us) for us in (850, 3_200, 45_000, 2_500_000, 89 * S)] == [
        "850 µs",
        "3.2 ms",
        "45 ms",
        "2.5 s",
        "89 s",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2",
        "s",
        "2s+",
        "2s+6",
        "2s/2s",
        "2s+6s/0s",
        "0s",
        "0s+0s",
        "-1s",
        "+1s",
        "1e3s",
        "1s ",
        "1 s",
        "nan",
    ]
    + [
        "0.0000001s",
        "1.5us",
        "1001h",
        "9999999999999s",
        "99999999999999s",
        "１s",
        "1_0s",
        "2s+6s/2s/2s",
        "2s^1s+1s",
        "None",
        "1S",
    ],
)
def test_refuses(text: str) -> None:
    with pytest.raises(TimeControlError):
        TimeControl.parse(text)


PERIODS = st.integers(0, 10**10)


@given(PERIODS, PERIODS, PERIODS, PERIODS)
def test_prints_itself(move: int, reserve: int, step: int, increment: int) -> None:
    control = TimeControl(move + 1, reserve, step, increment)
    assert TimeControl.parse(str(control)) == control


BLOOMS = TimeControl.parse("2s+6s/2s")


def is_late(clock: SeatClock, used_us: int, margin_us: int = 0) -> bool:
    """Whether an answer that took so long loses on time."""
    return ending_of(SeatReply(0, Answer(""), used_us), clock.wait_us(margin_us)) is Ending.TIME


@pytest.mark.parametrize(
    ("used_us", "taken_us"),
    [
        (0, 0),
        (2 * S, 0),  # exactly its allowance
        (2 * S + 1, 2 * S),  # one microsecond costs a whole step
        (4 * S, 2 * S),
        (4 * S + 1, 4 * S),
        (8 * S, 6 * S),  # exactly all of the reserve
    ],
)
def test_whole_steps_rounded_up(used_us: int, taken_us: int) -> None:
    clock = SeatClock.start(BLOOMS)
    assert not is_late(clock, used_us)
    charge = clock.charge(used_us)
    assert charge.taken_us == taken_us
    assert charge.over_us == max(0, used_us - 2 * S)
    assert clock.after(charge).reserve_us == 6 * S - taken_us


def test_loses_when_the_reserve_cannot_pay() -> None:
    assert is_late(SeatClock.start(BLOOMS), 8 * S + 1)
    assert not is_late(SeatClock(BLOOMS, 0), 2 * S)
    assert is_late(SeatClock(BLOOMS, 0), 2 * S + 1)


def test_the_last_part_of_a_reserve_smaller_than_a_step_can_be_used() -> None:
    clock = SeatClock(BLOOMS, S)
    assert not is_late(clock, 3 * S)
    assert clock.charge(2 * S + 1).taken_us == S
    assert is_late(clock, 3 * S + 1)


def test_the_margin_widens_the_test_and_not_the_charge() -> None:
    clock = SeatClock(BLOOMS, S)
    assert not is_late(clock, 3 * S + 10_000, margin_us=10_000)
    assert is_late(clock, 3 * S + 10_001, margin_us=10_000)
    charge = clock.charge(3 * S + 10_000)
    assert (charge.taken_us, charge.reserve_us) == (S, 0)


def test_the_increment_comes_after_the_charge() -> None:
    clock = SeatClock.start(TimeControl.parse("1s+3s^2s"))
    charge = clock.charge(3 * S)
    assert (charge.taken_us, charge.reserve_us) == (2 * S, 3 * S)
    assert is_late(clock, 4 * S + 1), "the increment of this move is not there before it"


@given(
    st.lists(st.integers(0, 5 * S), max_size=50),
    st.integers(0, 10 * S),
    st.integers(0, 3 * S),
    st.integers(0, S),
)
def test_no_reserve_is_ever_negative_and_the_sums_agree(
    used: list[int], reserve: int, step: int, inc: int
) -> None:
    clock = SeatClock.start(TimeControl(S, reserve, step, inc))
    taken = 0
    for moves, used_us in enumerate(used, 1):
        left = clock.remaining_us(used_us)
        assert min(left) >= 0 and sum(left) == max(0, clock.wait_us() - used_us)
        if is_late(clock, used_us):
            break
        charge = clock.charge(used_us)
        assert charge.over_us <= charge.taken_us or charge.taken_us == clock.reserve_us
        assert charge.taken_us < charge.over_us + max(1, step)
        clock = clock.after(charge)
        taken += charge.taken_us
        assert clock.reserve_us == reserve - taken + moves * inc >= 0
