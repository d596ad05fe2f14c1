"""Real processes: whoever misbehaves loses at its deadline, and nothing is left of it."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.check.first_contact import unread_bytes
from referee.core.errors import EnvironmentLacksError
from referee.core.units import TimeControl
from referee.gameplay.api import Answer, GameDescription, Question, Ready
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import stamped
from referee.processes.process import BotProcess, ExitReport, end_processes
from referee.processes.program import Program
from referee.records.record import GameRecord, to_json
from referee.records.replay import verify
from referee.tournament.workers.encounter import Hooks, ShowEvent, play_encounter
from referee.wire.connection import BotConnection, end_connections
from referee.wire.dialogue import FROM_BOT, TO_BOT, Tap
from referee.wire.process_wire import ProcessWire, SeatWire, Waited
from referee.wire.stoppage import SLICE_NS
from referee.wire.stopwatch import Stopwatch
from tests.holdings import living
from tests.processes.encounters import LONG, LONG_US, MARGIN_US, SHORT, bot, time_is_up_once
from tests.rules.random_play import quick_first
from tests.waiting import TOO_LONG_S, eventually


@pytest.fixture(autouse=True)
def times_to_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots at fault, which would sleep on, are not waited for; the others have as long as they take."""
    monkeypatch.setattr("referee.wire.connection.LOST_GRACE_S", 0.01)
    monkeypatch.setattr("referee.wire.connection.GRACE_S", TOO_LONG_S)


def games(
    *vices: tuple[str, ...],
    count: int = 1,
    clocks: tuple[str, str] = (LONG, LONG),
    size: str = "4",
    show: ShowEvent | None = None,
    tap: Tap | None = None,
    exits: dict[str, ExitReport] | None = None,
) -> list[GameRecord]:
    """Games between bots with these vices, in the seats as they are named."""
    game = GAMES["blooms"]
    bots = [bot(f"bot{number}", *vice) for number, vice in enumerate(vices, 1)]
    names = tuple(one.name for one in bots)
    controls = tuple(map(TimeControl.parse, clocks))
    options = game.settle({"size": size})
    terms = [
        Terms(f"{number}", game, options, names, controls, b"s", b"", MARGIN_US) for number in range(count)
    ]
    on_exit = exits.__setitem__ if exits is not None else None
    records = list(play_encounter(bots, terms, show, tap, LONG_US, hooks=Hooks(on_exit)))
    for record in records:
        verify(to_json(record))
    return records


def loser(record: GameRecord) -> tuple[int, str]:
    assert record.verdict.outcome.ranks in ((1, 2), (2, 1))
    return record.verdict.outcome.ranks.index(2) + 1, record.verdict.ending.word


GOOD = ("none",)
RESIGNS = ("resigns", "1")
"""What it does on its first turn, so that the game ends there."""

# The vices of seat 2, which is asked when there is something to be read and a long list to be had.
AT_THE_DEADLINE = [
    "silent",
    "slow lines",
    "drip",
    "stderr for ever",
    "never reads",
    "no newline",
    "stops itself",
    "ignores TERM",
    "lists and never reads",
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("vice", quick_first(AT_THE_DEADLINE, 4))
def test_loses_at_the_deadline_whatever_it_does_meanwhile(vice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would lose by a flood after some twenty seconds, or end by itself after sixty."""
    monkeypatch.setattr("referee.processes.process.TERM_S", 0.01)
    exits: dict[str, ExitReport] = {}
    (record,) = games(GOOD, (vice,), size="8", clocks=(LONG, SHORT), exits=exits)
    assert loser(record) == (2, "time")
    left = record.events[-1]
    assert isinstance(left, Retired)
    assert left.used_us > TimeControl.parse(SHORT).move_us + MARGIN_US
    assert exits["bot2"].status in ("was ended by SIGTERM", "was ended by SIGKILL"), "nobody waits for it"


@pytest.mark.parametrize(
    ("vice", "detail"),
    [
        ("endless line", "a line of more than 4096 bytes"),
        ("endless lines", "more than 10000 lines"),
        ("endless long lines", "more than 1048576 bytes"),
    ],
)
def test_a_flood_loses_at_its_cap_long_before_the_deadline(vice: str, detail: str) -> None:
    (record,) = games((vice,), GOOD)
    assert loser(record) == (1, "flood")
    assert record.events[-1].detail.startswith(detail)  # type: ignore[union-attr]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("vice", "detail"),
    [
        ("leaves a helper", "exited with status 0"),
        ("exits", "exited with status 3"),
        ("kills itself", "was ended by SIGKILL"),
        ("closes output", "closed its output"),
        ("exits after ready", "exited with status 0"),
    ],
)
def test_a_bot_that_is_gone_is_seen_at_once(vice: str, detail: str) -> None:
    (record,) = games((vice,), GOOD)
    assert loser(record) == (1, "gone")
    left = record.events[-1]
    assert isinstance(left, Retired) and left.detail == detail


def test_the_move_before_the_exit_counts() -> None:
    (record,) = games(("plays and exits",), GOOD)
    assert loser(record) == (1, "gone")
    assert [event.seat for event in record.events if isinstance(event, Moved)] == [0, 1]


def test_an_answer_before_the_question_is_out_of_turn_and_a_second_one_is_dropped() -> None:
    (record,) = games(("plays ahead",), GOOD)
    assert loser(record) == (1, "turn")
    (record,) = games(("plays twice",), ("resigns", "3"))
    assert loser(record) == (2, "resigned")
    assert record.measured["seats"][0]["stale"] == 3


@pytest.mark.slow
def test_a_flood_of_stderr_harms_nobody_and_is_kept_at_both_ends() -> None:
    (record,) = games(("stderr, then plays",), ("resigns", "2"))
    assert loser(record) == (2, "resigned")
    kept = record.measured["seats"][0]["stderr"]["playing"]
    assert kept["bytes"] > 3_000_000 and len(kept["text"]) < 10_000
    assert kept["text"].startswith("\\xff\x1b[2J first\ncomplaint") and kept["text"].endswith("last\n")


def test_it_is_reported_which_bot_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.wire.process_wire.ALIVE_NS", 0)
    reported: list[Waited | None] = []
    game, long = GAMES["blooms"], TimeControl.parse(LONG)
    terms = Terms("1", game, game.settle({}), ("bot1", "bot2"), (long, long), b"s", b"", MARGIN_US)
    bots = [bot("bot1", *GOOD), bot("bot2", *RESIGNS)]
    list(play_encounter(bots, [terms], start_us=LONG_US, hooks=Hooks(report_alive=reported.append)))
    assert None in reported, "while they get ready, none is to move"
    waits = [one for one in reported if one]
    assert [*dict.fromkeys(one.bot for one in waits)] == ["bot1", "bot2"]
    assert all(0 <= one.waited_us < long.move_us + MARGIN_US <= one.most_us for one in waits)


def test_a_bot_that_crashes_at_the_start() -> None:
    (record,) = games(GOOD, ("crashes at the start",))
    assert loser(record) == (2, "start")
    assert isinstance(record.events[0], Retired) and "exited with status 1" in record.events[0].detail
    assert record.measured["seats"][1]["stderr"]["playing"]["text"] == "boom: no such opening book\n"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("vice", ["never starts", "closes input"])
def test_a_bot_that_does_not_start(vice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a game for one, since all seats have the same time to start."""
    if vice == "closes input":
        time_is_up_once(monkeypatch, lambda seat_wire: seat_wire.connection.process.complaints.total)  # type: ignore
    game = GAMES["thetree"]
    terms = Terms("x", game, game.settle({"players": "1"}), ("bad",), (TimeControl.parse(LONG),), b"s")
    start_us = TimeControl.parse(SHORT).move_us
    (record,) = play_encounter([bot("bad", vice)], [terms], start_us=start_us)
    verify(to_json(record))
    (left,) = record.events
    assert isinstance(left, Retired) and left.ending is Ending.START
    assert left.detail == "nothing came" and left.used_us > start_us


def test_a_slow_start_costs_no_move_time() -> None:
    """Its first move costs no more than the time from its `ready` to its answer."""
    heard_us: dict[bytes, int] = {}

    def tap(name: str, direction: str, data: bytes) -> None:
        if (name, direction) == ("bot1", FROM_BOT):
            heard_us[data.split()[0]] = time.monotonic_ns() // 1000

    (record,) = games(("slow start", "0.1"), RESIGNS, tap=tap)
    moved = record.events[0]
    assert isinstance(moved, Moved)
    assert record.measured["mono_us"] + moved.timing.asked_us >= heard_us[b"ready"]
    assert moved.charge.used_us <= heard_us[b"move"] - heard_us[b"ready"]


def test_a_program_that_vanished_does_not_start(tmp_path: Path) -> None:
    game = GAMES["blooms"]
    bots = [bot("good", "none"), Program("lost", (str(tmp_path / "lost"),), tmp_path)]
    terms = Terms("x", game, game.settle({}), ("good", "lost"), (game.clock,) * 2, b"")
    (record,) = play_encounter(bots, [terms])
    assert loser(record) == (2, "start")
    assert "No such file or directory" in record.events[0].detail  # type: ignore[union-attr]


def test_steps_of_reserve_are_charged_and_the_record_shows_it() -> None:
    (record,) = games(("sleep", "0.05", "0", "0.02"), ("resigns", "3"), clocks=("10ms+1h/1ms", LONG))
    charges = [event.charge for event in record.events if isinstance(event, Moved) and event.seat == 0]
    assert len(charges) == 3 and charges[0].taken_us >= 40_000
    reserve_us = TimeControl.parse(LONG).move_us
    for charge in charges:
        steps = -(-max(0, charge.used_us - 10_000) // 1000)
        reserve_us -= 1000 * steps
        assert (charge.taken_us, charge.reserve_us) == (1000 * steps, reserve_us)


def test_rejections() -> None:
    (record,) = games(("illegal once",), RESIGNS)
    assert loser(record) == (2, "resigned")
    assert isinstance(record.events[0], Rejected) and record.events[0].reason == "no-such-cell"
    assert isinstance(record.events[1], Moved)
    assert record.events[1].charge.used_us >= record.events[0].used_us
    (record,) = games(("illegal for ever",), GOOD)
    assert loser(record) == (1, "illegal")
    assert sum(isinstance(event, Rejected) for event in record.events) == 10


def test_processes_serve_the_next_game_and_are_fresh_after_a_fault() -> None:
    first, second = games(("stderr marks",), ("silent",), count=2, clocks=(LONG, SHORT))
    assert loser(first) == loser(second) == (2, "time")
    moves = [[event.text for event in game.events if isinstance(event, Moved)] for game in (first, second)]
    assert moves[0] == moves[1]
    for game in (first, second):
        # `ready` is said before the mark, so each game has its own.
        kept = game.measured["seats"][0]["stderr"]
        assert (kept["playing"]["text"], kept["playing"]["asked"]) == ("first of a game\n", [[1, 16]])
        assert (kept["starting"]["text"], kept["starting"]["asked"]) == ("getting ready\n", [[0, 14]])


@pytest.mark.slow
def test_a_bot_that_exits_after_its_game_is_started_anew() -> None:
    first, second = games(("plays and exits",), GOOD, count=2)
    assert loser(first) == loser(second) == (1, "gone")


def test_a_rejection_does_not_arm_the_deadline_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the move goes on where it was: it began once."""
    time_is_up_once(monkeypatch, lambda seat_wire: b"rejected" in seat_wire.connection.session.last_sent)
    (record,) = games(("illegal, then silent",), GOOD)
    assert loser(record) == (1, "time")
    rejected, left = record.events
    assert isinstance(rejected, Rejected) and isinstance(left, Retired)
    assert left.timing.asked_us == rejected.timing.asked_us
    assert left.used_us > rejected.used_us


def test_what_was_said_while_the_opponent_thought_is_no_answer(tmp_path: Path) -> None:
    """It lies in the pipe when its question is written: read later, it would pass for an answer."""
    ahead = ("plays ahead when the other one is asked", str(tmp_path))
    (record,) = games(ahead, ("lets the other one speak", str(tmp_path)))
    assert loser(record) == (1, "turn")
    assert [event.seat for event in record.events if isinstance(event, Moved)] == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("vice", "second"), [("exits at the end", (1, "start")), ("says goodbye", (2, "resigned"))]
)
def test_what_happens_between_two_games_is_judged_in_the_next(vice: str, second: tuple[int, str]) -> None:
    """An exit is; an answer to nothing is dropped, whether it is read before the next game or after."""
    for _ in range(3):
        records = games((vice,), RESIGNS, count=3)
        assert [loser(record) for record in records] == [(2, "resigned"), second, (2, "resigned")]


def test_a_bot_may_clean_up_on_sigterm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.wire.connection.GRACE_S", 0.01)
    monkeypatch.setattr("referee.processes.process.TERM_S", TOO_LONG_S)
    games(("cleans up", str(tmp_path / "done")), RESIGNS)
    assert (tmp_path / "done").exists()


def test_a_bot_that_says_much_at_the_end_is_not_held_up(tmp_path: Path) -> None:
    games(("chatters at the end", str(tmp_path / "done")), RESIGNS)
    assert (tmp_path / "done").exists()


def test_helpers_end_with_the_bot() -> None:
    seconds = f"61.25{os.getpid()}"  # so that it is ours
    (record,) = games(("helper", seconds), RESIGNS)
    assert loser(record) == (2, "resigned")
    assert not living(seconds)


def test_a_bot_that_does_not_quit_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.wire.connection.GRACE_S", 0.01)
    exits: dict[str, ExitReport] = {}
    games(("outlives the end",), RESIGNS, exits=exits)
    assert exits["bot1"].status == "was ended by SIGTERM"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody knows whether a bot got a processor")
@pytest.mark.parametrize("ready", [False, True])
def test_a_bot_that_got_no_processor_has_not_ignored_the_end(
    ready: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.processes.cpu.is_ready", lambda thread: ready)
    process = BotProcess(Program("sleeping", ("sleep", "600"), Path("/")))
    end_processes([process], grace_s=0)
    assert process.terminated and process.ignored_end is not ready


def test_the_environment_is_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONUNBUFFERED", "SECRET_TOKEN", "LD_PRELOAD_LIKE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HOME", "/")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    process = BotProcess(Program("env", ("env",), Path("/")))
    assert eventually(process.exit_status) == "exited with status 0"
    names = {line.split(b"=")[0] for line in (process.read() or b"").splitlines()}
    end_processes([process])
    assert {b"PATH", b"HOME", b"LC_ALL"} <= names
    assert not names & {b"PYTHONUNBUFFERED", b"SECRET_TOKEN", b"LD_PRELOAD_LIKE"}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_nothing_of_ours_is_inherited() -> None:
    read_end, write_end = os.pipe()
    process = BotProcess(Program("ls", ("ls", "/proc/self/fd"), Path("/")))
    eventually(process.exit_status)
    opened = (process.read() or b"").split()
    end_processes([process])
    os.close(read_end)
    os.close(write_end)
    assert opened == [b"0", b"1", b"2", b"3"], "the fourth is the folder that `ls` reads"


def test_a_group_of_its_own() -> None:
    process = BotProcess(Program("sh", ("sh", "-c", "kill -9 0"), Path("/")))
    assert eventually(process.exit_status) == "was ended by SIGKILL"
    end_processes([process])


STOPS = pytest.mark.skipif(sys.platform != "linux", reason="stops the referee with SIGSTOP")


def stopped_game(*vice: str, clock: str = LONG) -> tuple[GameRecord, int]:
    """A game in which seat 2 stops the referee on its first turn, and how many µs after the question it
    answered, by its own clock.
    """
    (record,) = games(("resigns", "2"), vice, clocks=(LONG, clock))
    measured = record.measured
    written_us = int(measured["seats"][1]["stderr"]["playing"]["text"]) // 1000
    event = record.events[1]
    assert isinstance(event, Moved | Retired) and event.seat == 1
    return record, written_us - measured["mono_us"] - event.timing.asked_us


ACCURACY_US = 2 * stamped.TICK_NS // 1000
"""Of the kernel's stamps."""


@STOPS
def test_the_referee_s_own_stoppage_is_not_the_bot_s_time() -> None:
    """The bot answers while the referee is stopped, which is for a quarter of a second more."""
    pid = str(os.getpid())
    record, answered_us = stopped_game("answers while the referee is stopped", pid, "0", "0.25")
    assert loser(record) == (1, "resigned")
    moved = record.events[1]
    assert isinstance(moved, Moved) and moved.charge.used_us <= answered_us + ACCURACY_US
    assert record.measured["seats"][1]["stopped_us"] > 200_000


@pytest.mark.slow
@STOPS
@pytest.mark.parametrize("stamped", [True, False])
def test_an_answer_beyond_its_time_while_the_referee_is_stopped(
    stamped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer comes when the time is up, while the referee is stopped. Where the kernel notes when it was
    written it is late; else nobody knows, and the stoppage is taken off.
    """
    if not stamped:
        monkeypatch.setattr("referee.processes.stamped._folder", str)
    clock = "100ms" if stamped else LONG
    vice = ("answers while the referee is stopped", str(os.getpid()), "0.2", "0.2")
    record, answered_us = stopped_game(*vice, clock=clock)
    if stamped:
        assert loser(record) == (2, "time")
        assert 200_000 < record.events[1].used_us <= answered_us + ACCURACY_US  # type: ignore[union-attr]
    else:
        assert loser(record) == (1, "resigned")
        moved = record.events[1]
        assert isinstance(moved, Moved) and moved.timing.stopped_us > 350_000
        # No more is taken off than the referee was stopped, to the rounding of the three figures.
        assert abs(moved.timing.wall_us - moved.timing.stopped_us - moved.charge.used_us) <= 2


@pytest.mark.slow
@STOPS
@pytest.mark.parametrize("answers_meanwhile", [True, False])
def test_a_bot_that_logs_all_the_time_neither_loses_nor_gains_by_a_stoppage(answers_meanwhile: bool) -> None:
    """The kernel notes only when it wrote last; but its output was read when the referee went on, and an
    answer that is read later is no older.
    """
    vice = (
        ("answers while the referee is stopped", str(os.getpid()), "0.05", "0.95", "log")
        if answers_meanwhile
        else ("logs, and answers after the referee was stopped", str(os.getpid()), "0.3", "0.25")
    )
    record, answered_us = stopped_game(*vice, clock="100ms+1h")
    moved = record.events[1]
    assert isinstance(moved, Moved)
    if answers_meanwhile:
        assert moved.timing.stopped_us > 900_000
        assert moved.charge.used_us <= answered_us + ACCURACY_US
    else:
        # A busy machine may stop the referee once more, while the answer comes.
        later_us = moved.timing.stopped_us - 300_000
        assert moved.charge.used_us >= answered_us - later_us - 2 * SLICE_NS // 1000
    assert loser(record) == (1, "resigned")


def test_what_a_bot_writes_does_not_move_its_deadline() -> None:
    connection = BotConnection(bot("noisy", "drip"))
    wire = ProcessWire([connection], LONG_US)
    game = GAMES["blooms"]
    wire.open(0, GameDescription("blooms", game.rules, 2, game.settle({"size": "8"}), game.clock, 1))
    assert isinstance(wire.next_reply().content, Ready)
    wire.post(0, Question((), LONG_US, 0, LONG_US))
    (seat_wire,) = wire._seat_wires
    before_ns = seat_wire.watch.deadline_ns
    while not connection.session.partial:
        wire._wait()
    assert seat_wire.watch.deadline_ns == before_ns
    assert connection.process
    end_processes([connection.process], grace_s=0)


def test_what_was_written_in_time_counts_though_nobody_looked_until_the_time_was_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = BotConnection(bot("quick", "none"))
    wire = ProcessWire([connection], LONG_US)
    game = GAMES["blooms"]
    wire.open(0, GameDescription("blooms", game.rules, 2, game.settle({}), game.clock, 1))
    assert isinstance(wire.next_reply().content, Ready)
    wire.post(0, Question((), 300, 0, LONG_US))

    def overlook() -> None:
        """The answer is there, and the time is up, when the referee looks at the clock."""
        assert connection.process
        eventually(partial(unread_bytes, connection.process.stdout))
        wire._seat_wires[0].watch.deadline_ns = 0

    monkeypatch.setattr(wire, "_wait", overlook)
    reply = wire.next_reply()
    end_connections([connection])
    assert isinstance(reply.content, Answer)


@pytest.mark.slow
def test_a_slow_reader_of_the_dialogue_costs_no_bot_its_game(tmp_path: Path) -> None:
    """It holds the referee up for long after the bot has answered."""
    path = tmp_path / "answered"
    answered_us: list[int] = []

    def tap(name: str, direction: str, data: bytes) -> None:
        if (name, direction) == ("bot1", TO_BOT) and b"\nask" in b"\n" + data:
            answered_ns = int(eventually(lambda: path.exists() and path.read_text()) or 0)
            path.unlink()
            eventually(lambda: time.monotonic_ns() > answered_ns + 100_000_000)
            answered_us.append(answered_ns // 1000)

    (record,) = games(("marks its answers", str(path)), ("resigns", "3"), tap=tap)
    moves = [event for event in record.events if isinstance(event, Moved) and event.seat == 0]
    for moved, by_us in zip(moves, answered_us, strict=True):
        asked_us = record.measured["mono_us"] + moved.timing.asked_us
        assert moved.charge.used_us <= by_us - asked_us + ACCURACY_US
    assert len(moves) == 3


def test_a_lack_of_the_machine_s_is_no_fault_of_a_bot_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("referee.processes.process.os.pipe", lacking)
    with pytest.raises(EnvironmentLacksError, match="Too many open files"):
        games(GOOD, GOOD)


def test_time_is_rounded_up() -> None:
    watch = Stopwatch(None)
    watch.began_ns = 1000
    assert [watch.measured(wall_ns, 0)[0] for wall_ns in (2000, 2001, 500)] == [1, 2, 0]


def test_how_a_signal_s_death_reads() -> None:
    process = BotProcess(Program("sh", ("sh", "-c", f"kill -{int(signal.SIGSEGV)} $$"), Path("/")))
    assert eventually(process.exit_status) == "was ended by SIGSEGV"
    end_processes([process])


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("vice", "done", "detail"),
    [
        (
            "no newline",
            lambda seat_wire: seat_wire.connection.session.partial.endswith(b"D4"),
            "a line without a newline came: move 1 L:D4",
        ),
        ("lists and never reads", lambda seat_wire: seat_wire.connection.unsent, "were not read"),
    ],
)
def test_the_ending_of_a_bot_that_was_late_says_what_came(
    vice: str, done: Callable[[SeatWire], object], detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    time_is_up_once(monkeypatch, done)
    (record,) = games(GOOD, (vice,), size="8")
    assert record.verdict.ending is Ending.TIME
    assert detail in record.events[-1].detail  # type: ignore[union-attr]


def test_what_one_bot_pours_out_unasked_is_not_in_the_other_s_time(tmp_path: Path) -> None:
    """Both are asked at once; what the one has said meanwhile is read before the other's time runs."""
    may = tmp_path / "may"
    loud = bot("loud", "empty lines when it may", str(may))
    connections = [BotConnection(bot("quick", "none")), BotConnection(loud)]
    wire = ProcessWire(connections, LONG_US)
    game = GAMES["blooms"]
    for seat in (0, 1):
        wire.open(seat, GameDescription("blooms", game.rules, 2, game.settle({}), game.clock, 1))
    assert {type(wire.next_reply().content) for _ in range(2)} == {Ready}
    may.touch()
    process = connections[1].process
    assert process
    eventually(lambda: unread_bytes(process.stdout) == 9000)
    wire.catch_up((0, 1))
    assert not unread_bytes(process.stdout), "nothing is left to be read while a seat's time runs"
    wire.post(0, Question((), 300, 0, LONG_US))
    wire.post(1, Question((), 300, 0, LONG_US))
    assert isinstance(wire.next_reply().content, Answer)
    end_connections(connections)
