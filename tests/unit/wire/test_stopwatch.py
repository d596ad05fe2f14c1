"""Whose time it is, by clocks that the test sets: stamps, stoppages of the referee, processor time."""

from __future__ import annotations

from typing import cast

import pytest

from referee.gameplay.events import Timing
from referee.processes.cpu import StarvationClock
from referee.processes.process import BotProcess
from referee.wire.stoppage import SLICE_NS
from referee.wire.stopwatch import LOOK_NS, Stopwatch, _both_clocks_ns

MS = 1_000_000


class Pretended:
    """A bot's process as far as a stopwatch looks at it."""

    stamped = True
    clock = None
    starvation = None
    forgives_waiting = False
    stdout = -1


class Written:
    """Stands in for the kernel: says when the pipe was written to, so long after the watch began."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 1_000_000 * MS
        self.offset_ns = 50_000_000 * MS
        self.written_ns = 0
        self.is_empty = True
        monkeypatch.setattr("referee.wire.stopwatch.time.monotonic_ns", lambda: self.now_ns)
        monkeypatch.setattr("referee.wire.stopwatch.time.time_ns", lambda: self.now_ns + self.offset_ns)
        monkeypatch.setattr("referee.wire.stopwatch.stamped.written_ns", lambda _: self.written_ns)
        monkeypatch.setattr("referee.wire.stopwatch.stamped.is_empty", lambda _: self.is_empty)
        self.watch = Stopwatch(cast("BotProcess", Pretended()))

    def began(self, patience_ms: int = 1000, free_ms: int = 500) -> Stopwatch:
        self.watch.start(self.now_ns, patience_ms * MS, free_ms * MS)
        self.began_ns = self.now_ns
        return self.watch

    def at(self, ms: int, written_ms: int) -> int:
        """The moment, with the last write at another one."""
        self.now_ns = self.began_ns + ms * MS
        self.written_ns = self.began_ns + self.offset_ns + written_ms * MS
        return self.now_ns

    def used_ms(self, ms: int, written_ms: int, more_behind: bool = False) -> int:
        read_ns = self.at(ms, written_ms)
        return self.watch.measured(self.watch.written_ns(read_ns, more_behind), 0)[0] // 1000


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Written:
    return Written(monkeypatch)


def stopped(kernel: Written, from_ms: int, to_ms: int, ours: bool = False) -> None:
    began = kernel.began_ns
    kernel.watch.late(began + from_ms * MS, began + to_ms * MS, (to_ms - from_ms) * MS, ours)


def test_within_the_allowance_and_without_a_stoppage_what_counts_is_when_it_was_read(kernel: Written) -> None:
    kernel.began()
    assert kernel.used_ms(500, 480) == 500


def test_beyond_the_allowance_what_counts_is_when_it_was_written(kernel: Written) -> None:
    kernel.began()
    assert kernel.used_ms(1013, 990) == 990, "the referee came late to the reading"


def test_nobody_gains_by_the_referee_s_stoppage(kernel: Written) -> None:
    watch = kernel.began()
    stopped(kernel, 100, 2000)
    assert kernel.used_ms(2001, 1500) == 1500
    assert watch.deadline_ns == kernel.began_ns + 1000 * MS, "the bot ran on meanwhile"
    assert watch.measured(kernel.now_ns, 0)[1].stopped_us == watch.stopped_us == 1_900_000


def test_nobody_loses_by_the_referee_s_stoppage(kernel: Written) -> None:
    kernel.began()
    stopped(kernel, 100, 2000)
    assert kernel.used_ms(2001, 200) == 200


@pytest.mark.parametrize("read", [True, False])
def test_the_time_of_the_last_write_is_not_that_of_an_answer_with_more_behind_it(
    kernel: Written, read: bool
) -> None:
    """It answered after 200 ms or later, while the referee was stopped, and wrote on until the end."""
    kernel.began()
    stopped(kernel, 150, 1900)
    kernel.watch.empty_ns = kernel.began_ns + 145 * MS
    kernel.is_empty = read
    assert kernel.used_ms(1901, 1899, more_behind=read) == 151


def test_doubt_about_an_answer_is_no_greater_than_the_stoppage(kernel: Written) -> None:
    kernel.began()
    stopped(kernel, 150, 250)
    assert kernel.used_ms(1200, 1199, more_behind=True) == 1100
    kernel.watch.empty_ns = kernel.began_ns + 1150 * MS
    assert kernel.used_ms(1200, 1199, more_behind=True) == 1150, "the output was empty after the stoppage"
    assert kernel.used_ms(1200, 1050, more_behind=True) == 1150


def test_without_a_stoppage_what_is_behind_an_answer_buys_no_time(kernel: Written) -> None:
    kernel.began()
    assert kernel.used_ms(1011, 1010, more_behind=True) == 1010


def test_what_the_referee_is_late_with_its_own_words_is_taken_off(kernel: Written) -> None:
    watch = kernel.began()
    stopped(kernel, 0, 300, ours=True)
    assert watch.deadline_ns == kernel.began_ns + 1300 * MS
    assert kernel.used_ms(700, 690) == 400


def test_of_a_stoppage_what_counts_is_the_part_since_the_last_look_and_in_the_move(kernel: Written) -> None:
    watch = kernel.began()
    stopped(kernel, -200, 100, ours=True)
    assert (watch.deadline_ns, watch.stopped_us) == (kernel.began_ns + 1100 * MS, 100_000)
    watch.late(kernel.began_ns + 150 * MS, kernel.began_ns + 200 * MS, 90 * MS, ours=True)
    assert (watch.deadline_ns, watch.stopped_us) == (kernel.began_ns + 1150 * MS, 150_000)


def test_a_rejected_answer_that_lay_unread_costs_nothing_until_the_next_question(kernel: Written) -> None:
    watch = kernel.began()
    stopped(kernel, 100, 1000)
    kernel.used_ms(1001, 200)
    watch.answered()
    assert watch.deadline_ns == kernel.began_ns + 1801 * MS
    assert kernel.used_ms(1101, 1101) == 300


def test_what_is_read_behind_an_answer_does_not_shorten_how_long_that_lay_unread(kernel: Written) -> None:
    watch = kernel.began()
    stopped(kernel, 100, 1000)
    kernel.used_ms(1001, 200)
    kernel.used_ms(1050, 1040)
    watch.answered()
    assert watch.deadline_ns == kernel.began_ns + 1801 * MS
    assert kernel.used_ms(1301, 1200) == 500, "within the allowance, and nothing is in doubt any more"


def test_what_the_referee_was_late_with_the_reading_is_taken_off_once(kernel: Written) -> None:
    """It looked at 100 ms, read at 300 ms what was written at 90 ms, and wrote at 350 ms."""
    watch = kernel.began(free_ms=0)
    assert kernel.used_ms(300, 90) == 90
    kernel.at(350, 90)
    watch.late(kernel.began_ns + 100 * MS, kernel.now_ns, 240 * MS, ours=True)
    watch.answered()
    assert watch.deadline_ns == kernel.began_ns + 1260 * MS
    assert kernel.used_ms(400, 400) == 140


def test_what_leaves_no_stamp_is_no_older_than_the_last_look_at_an_empty_pipe(kernel: Written) -> None:
    """splice(2) into a pipe leaves its times alone: the stamp is that of something written before."""
    watch = kernel.began()
    watch.empty_ns = kernel.began_ns + 890 * MS
    assert kernel.used_ms(900, 10) == 890


def test_the_clocks_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the processor was taken away between two readings, a clock would seem to have been set."""
    times = iter([0, 5 * MS, 6 * MS, 6 * MS + 1000])
    monkeypatch.setattr("referee.wire.stopwatch.time.monotonic_ns", lambda: next(times))
    monkeypatch.setattr("referee.wire.stopwatch.time.time_ns", lambda: 7)
    assert _both_clocks_ns() == (6 * MS, 7)


@pytest.mark.parametrize("step_ms", [-3_600_000, 3_600_000, 20])
def test_a_clock_that_was_set_is_not_believed(kernel: Written, step_ms: int) -> None:
    kernel.began()
    kernel.at(700, 600)
    kernel.offset_ns += step_ms * MS
    assert kernel.watch.written_ns(kernel.now_ns) == kernel.now_ns


def test_the_smallest_drift_of_the_clocks_is_none(kernel: Written) -> None:
    kernel.began()
    kernel.at(700, 600)
    kernel.offset_ns += 2 * MS
    assert kernel.watch.written_ns(kernel.now_ns) == kernel.began_ns + 600 * MS
    kernel.offset_ns += 1
    assert kernel.watch.written_ns(kernel.now_ns) == kernel.now_ns


@pytest.mark.parametrize(("next_ms", "believed"), [(50, False), (51, True)])
def test_the_clocks_are_compared_again_only_after_a_while(
    kernel: Written, next_ms: int, believed: bool
) -> None:
    kernel.began()
    kernel.offset_ns += 3_600_000 * MS
    kernel.at(next_ms, 0)
    kernel.began()
    assert kernel.used_ms(700, 600) == (600 if believed else 700)


def test_a_stamp_from_before_the_question_is_not_believed(kernel: Written) -> None:
    kernel.began()
    assert kernel.used_ms(700, -10) == 700
    assert kernel.used_ms(700, 0) == 0


def test_without_stamps_a_stoppage_is_taken_off_and_moves_the_deadline() -> None:
    watch = Stopwatch(None)
    began = 10**9 * MS
    watch.start(began, 1000 * MS, 500 * MS)
    watch.late(began, began + 400 * MS, 400 * MS, ours=False)
    assert watch.deadline_ns == began + 1400 * MS
    assert watch.up_us(began + 1400 * MS) is None and watch.up_us(began + 1401 * MS) == 1_001_000
    assert watch.measured(watch.written_ns(began + 900 * MS), 0)[0] == 500_000


# --- Computing time ------------------------------------------------------------------------------------


class Computed:
    """Stands in for the clock of the processor time of a bot, and of all that it started."""

    def __init__(self, kernel: Written) -> None:
        self.near_ms = self.all_ms = 0.0
        self.looks = 0
        process = Pretended()
        process.clock = self  # type: ignore[assignment]
        kernel.watch = Stopwatch(cast("BotProcess", process), kernel.now_ns)

    def near_ns(self) -> int:
        return int(self.near_ms * MS)

    def all_ns(self) -> int:
        return int(self.all_ms * MS)

    def look(self) -> None:
        self.looks += 1


def test_what_is_measured_of_a_move(kernel: Written) -> None:
    computed = Computed(kernel)
    computed.near_ms = 7
    kernel.now_ns += 5 * MS
    watch = kernel.began()
    found = watch.measured(kernel.began_ns + 30 * MS + 1, 27 * MS)
    assert found == (30_001, Timing(5000, 30_000, 20_000, 0, 0, 0)), "late by a nanosecond is late"
    assert watch.measured(kernel.began_ns - 1, 6 * MS) == (0, Timing(5000, 0, 0, 0, 0, 0))


def test_on_a_clock_of_processor_time_that_of_all_processes_counts(kernel: Written) -> None:
    computed = Computed(kernel)
    computed.near_ms, computed.all_ms = 1, 500
    watch = kernel.watch
    watch.start(kernel.now_ns, 1000 * MS, by_cpu=True)
    assert watch.deadline_ns == kernel.now_ns + 4000 * MS, "three times as long, and a second"
    computed.all_ms = 1500
    assert watch.up_us(kernel.now_ns + 4000 * MS) is None
    assert watch.measured(kernel.now_ns + 2000 * MS, computed.all_ns())[0] == 1_000_000
    computed.all_ms = 1500.0001
    assert watch.up_us(kernel.now_ns) == 1_000_001
    computed.all_ms = 600
    assert watch.up_us(kernel.now_ns + 4001 * MS) == 4_001_000
    watch.start(kernel.now_ns, 1000 * MS)
    computed.near_ms = 9000
    assert watch.cpu_ns() == 9000 * MS and watch.up_us(kernel.now_ns) is None, "this one counts time alone"


def test_time_and_processor_time_outside_its_turns_are_added_up(kernel: Written) -> None:
    computed = Computed(kernel)
    watch = kernel.began()
    assert watch.off_turn_us() == (0, 0)
    watch.measured(kernel.at(100, 100), 10 * MS)
    computed.near_ms = 15
    kernel.at(300, 300)
    kernel.began()
    computed.near_ms = 20
    watch.measured(kernel.at(50, 50), 20 * MS, is_over=False)
    computed.near_ms = 40
    kernel.at(80, 80)
    assert watch.off_turn_us() == (200_000, 5_000), "it is still asked"
    watch.measured(kernel.at(100, 100), 40 * MS)
    computed.near_ms = 30  # a process of it has ended
    kernel.at(160, 160)
    assert watch.off_turn_us() == watch.off_turn_us() == (260_000, 5_000)


def test_processor_time_in_a_game_counts_from_when_the_bot_was_ready(kernel: Written) -> None:
    computed = Computed(kernel)
    computed.near_ms = 30
    kernel.watch.look()
    computed.near_ms = 55
    assert kernel.watch.game_cpu_us() == 25_000
    kernel.watch.look_again()
    assert computed.looks == 2
    computed.near_ms = 20
    assert kernel.watch.game_cpu_us() == 0, "a process of it has ended"


def test_without_a_clock_no_processor_time_is_known() -> None:
    watch = Stopwatch(None)
    watch.look()
    watch.look_again()
    assert watch.cpu_ns() == watch.game_cpu_us() == 0
    watch.mark(5, by_cpu=False)
    assert watch.mark_ns == 5 + LOOK_NS


def test_what_is_computed_while_an_answer_lies_unread_is_not_the_move_s(kernel: Written) -> None:
    kernel.watch.start(kernel.now_ns, 1000 * MS, 0, by_cpu=True)
    kernel.began_ns = kernel.now_ns
    stopped(kernel, 100, 2000)
    read_ns = kernel.at(2001, 200)
    wall_ns = kernel.watch.written_ns(read_ns)
    assert kernel.watch.measured(wall_ns, 1900 * MS)[0] == 99_000


def test_a_stoppage_is_taken_off_once(kernel: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stopwatch, "_stamp_ns", lambda watch: None)
    kernel.began()
    stopped(kernel, 100, 1100)
    assert kernel.used_ms(1600, 0) == 600
    kernel.watch.answered()
    assert kernel.used_ms(2600, 0) == 1600


# --- Waiting for a processor ---------------------------------------------------------------------------


class Waits:
    """A bot that waited for so long, and how often that was read."""

    def __init__(self, kernel: Written, waited_ms: float, forgiven: bool = False) -> None:
        self.waited_ms = waited_ms
        self.kept_ms = 0.0
        self.computed_ms = 0
        self.still_waits = self.held_back = False
        kernel.watch._forgives = forgiven
        self.reads = self.marks = 0
        kernel.watch._starvation = cast("StarvationClock", self)

    def mark(self, now_ns: int) -> int:
        self.marks += 1
        return now_ns + 1

    def is_waiting(self) -> bool:
        return self.still_waits

    def waited_ns(self, began_ns: int) -> tuple[int, int]:
        self.reads += 1
        return int(self.waited_ms * MS), int(self.kept_ms * MS)

    def is_held_back(self) -> bool:
        return self.held_back

    def computed_ns(self, began_ns: int) -> int:
        return self.computed_ms * MS

    def is_ready(self) -> bool:
        return self.still_waits


def waited_us(kernel: Written, ms: int) -> int:
    ended_ns = kernel.at(ms, ms)
    kernel.watch.notice_waiting(ended_ns)
    return kernel.watch.measured(ended_ns, 0)[1].waited_us


def test_the_waiting_in_a_slow_move_is_measured_and_charged(kernel: Written) -> None:
    Waits(kernel, 12)
    kernel.began()
    assert waited_us(kernel, 510) == 12_000
    assert kernel.used_ms(510, 510) == 510
    kernel.began()
    assert kernel.watch.measured(kernel.now_ns, 0)[1].waited_us == 0, "a new move begins"


@pytest.mark.parametrize("allowance_ms", [0, 5, 500])
def test_of_a_quick_move_no_waiting_is_read(kernel: Written, allowance_ms: int) -> None:
    waits = Waits(kernel, 12)
    kernel.began(1000, allowance_ms)
    assert waited_us(kernel, 10) == 0 and waits.reads == 0, "reading would take a good part of a quick move"
    assert waited_us(kernel, 11) == 11_000 and waits.reads == 1, "no longer than the move"


@pytest.mark.parametrize(("waited_ms", "told_us"), [(0.9, 0), (1, 1000)])
def test_waiting_for_less_than_a_millisecond_is_ordinary(
    kernel: Written, waited_ms: float, told_us: int
) -> None:
    Waits(kernel, waited_ms)
    kernel.began()
    assert waited_us(kernel, 600) == told_us


def test_on_a_clock_of_processor_time_waiting_is_not_measured(kernel: Written) -> None:
    waits = Waits(kernel, 12)
    kernel.watch.mark(kernel.now_ns, by_cpu=True)
    kernel.watch.start(kernel.now_ns, 1000 * MS, 0, by_cpu=True)
    kernel.began_ns = kernel.now_ns
    assert waited_us(kernel, 600) == 0 and (waits.marks, waits.reads) == (0, 0)
    kernel.watch.mark(kernel.now_ns, by_cpu=False)
    assert waits.marks == 1


def test_waiting_that_is_forgiven_is_not_charged_and_moves_the_deadline(kernel: Written) -> None:
    Waits(kernel, 40, forgiven=True)
    watch = kernel.began(1000, 500)
    assert watch.up_us(kernel.at(1001, 0)) is None
    assert watch.deadline_ns == kernel.began_ns + 1040 * MS
    assert watch.up_us(kernel.at(1040, 0)) is None
    assert watch.up_us(kernel.at(1041, 0)) == 1_001_000
    timing = watch.measured(kernel.now_ns, 0)[1]
    assert timing.waited_us == timing.forgiven_us == 40_000
    assert kernel.used_ms(1030, 1030) == 990


def test_waiting_that_is_not_forgiven_moves_no_deadline(kernel: Written) -> None:
    Waits(kernel, 40)
    watch = kernel.began(1000, 500)
    assert watch.up_us(kernel.at(1001, 0)) == 1_001_000


def kept_ms(kernel: Written, used_ms: int, kept_ms: int, **others: bool) -> int:
    """Of a bot that had 110 ms, was kept from running for so long, and answered at last."""
    waits = Waits(kernel, kept_ms, others.get("forgiven", False))
    waits.kept_ms, waits.held_back = kept_ms, others.get("held_back", False)
    kernel.began(110, 100)
    kernel.watch.notice_waiting(kernel.at(used_ms, used_ms))
    used_us, _ = kernel.watch.measured(kernel.now_ns, 0)
    return kernel.watch.kept_us(used_us) // 1000


@pytest.mark.parametrize("used, kept", [(115, 98), (115, 58), (1000, 910)])
def test_who_got_no_processor_for_most_of_a_late_move_is_not_to_blame(
    kernel: Written, used: int, kept: int
) -> None:
    assert kept_ms(kernel, used, kept) == kept


@pytest.mark.parametrize("used, kept", [(115, 0), (115, 57), (400, 290), (1000, 899)])
def test_who_slept_or_computed_for_most_of_it_or_for_all_its_time_is(
    kernel: Written, used: int, kept: int
) -> None:
    assert kept_ms(kernel, used, kept) == 0


def test_who_gave_up_its_share_of_the_processors_is_to_blame(kernel: Written) -> None:
    assert kept_ms(kernel, 115, 98, held_back=True) == 0


@pytest.mark.parametrize("computes_on", [False, True])
def test_waiting_behind_the_answer_is_no_excuse_for_it(kernel: Written, computes_on: bool) -> None:
    """It slept, wrote its answer too late, and the referee read that 90 ms later."""
    waits = Waits(kernel, 98)
    waits.kept_ms, waits.still_waits = 98, computes_on
    kernel.began(110, 100)
    kernel.at(205, 115)
    kernel.watch.notice_waiting(kernel.began_ns + 115 * MS)
    assert kernel.watch.kept_us(115_000) == (0 if computes_on else 98_000)


def test_what_was_forgiven_is_no_excuse(kernel: Written) -> None:
    assert kept_ms(kernel, 300, 160, forgiven=True) == 0


def test_who_got_no_processor_is_waited_for_to_see_whether_it_would_have_been_in_time(
    kernel: Written,
) -> None:
    """All of it is charged: too late is too late."""
    waits = Waits(kernel, 40)
    waits.kept_ms = 40
    watch = kernel.began(1000, 500)
    assert watch.up_us(kernel.at(1001, 0)) is None
    assert watch.deadline_ns == kernel.began_ns + 1040 * MS
    assert watch.up_us(kernel.at(1041, 0)) == 1_041_000
    assert kernel.used_ms(1030, 1030) == 1030


@pytest.mark.parametrize("computed_ms", [0, 1001])
def test_who_still_gets_none_is_waited_for_until_it_sleeps_or_has_computed_for_too_long(
    kernel: Written, computed_ms: int
) -> None:
    waits = Waits(kernel, 0)
    watch = kernel.began(1000, 500)
    waits.still_waits, waits.computed_ms = True, 1000
    assert watch.up_us(kernel.at(1001, 0)) is None
    assert watch.up_us(kernel.at(1012, 0)) is None
    waits.computed_ms, waits.still_waits = computed_ms, computed_ms > 0
    assert watch.up_us(kernel.at(1023, 0)) == 1_023_000
    waits.computed_ms, waits.still_waits = 0, True
    assert watch.up_us(kernel.now_ns) == 1_023_000, "it was just decided"


def test_an_answer_is_waited_for_while_a_wait_may_still_last(kernel: Written) -> None:
    """The kernel counts a wait when it ends: until then nobody knows whether the bot is in time."""
    waits = Waits(kernel, 0, forgiven=True)
    watch = kernel.began(1000, 500)
    waits.still_waits = True
    watch.mark(kernel.began_ns + 2000 * MS, by_cpu=False)
    assert watch.up_us(kernel.at(1001, 0)) is None
    assert watch.mark_ns < kernel.now_ns, "before the next move, what is known of this one is forgotten"
    assert watch.deadline_ns == kernel.now_ns + SLICE_NS
    assert watch.up_us(kernel.at(1012, 0)) is None
    waits.still_waits, waits.waited_ms = False, 20
    assert watch.up_us(kernel.at(1019, 0)) is None, "it ran at last"
    watch.notice_waiting(kernel.now_ns)
    assert kernel.used_ms(1019, 1019) == 999


def test_a_wait_that_was_none_forgives_nothing(kernel: Written) -> None:
    waits = Waits(kernel, 0, forgiven=True)
    watch = kernel.began(1000, 500)
    waits.still_waits = True
    assert watch.up_us(kernel.at(1001, 0)) is None
    waits.still_waits = False
    assert watch.up_us(kernel.at(1012, 0)) == 1_012_000


def test_a_bot_is_not_waited_for_forever(kernel: Written) -> None:
    waits = Waits(kernel, 0, forgiven=True)
    watch = kernel.began(1000, 500)
    waits.still_waits = True
    assert watch.up_us(kernel.at(3995, 0)) is None
    assert watch.deadline_ns == kernel.began_ns + 4000 * MS
    assert watch.up_us(kernel.at(4001, 0)) == 4_001_000


def test_what_both_waited_for_is_left_out_once(kernel: Written) -> None:
    """The referee was late with its words by 300 ms, in which the bot may have waited too."""
    Waits(kernel, 340, forgiven=True)
    kernel.began(1000, 500)
    stopped(kernel, 0, 300, ours=True)
    kernel.watch.notice_waiting(kernel.at(900, 900))
    assert kernel.used_ms(900, 900) == 560
    timing = kernel.watch.measured(kernel.now_ns, 0)[1]
    assert (timing.waited_us, timing.forgiven_us) == (340_000, 40_000)
