"""Real processes: whoever misbehaves loses at its deadline, and nothing is left of it."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import EnvironmentLacksError
from referee.core.timecontrol import TimeControl
from referee.gameplay.api import Answer, Opening, Question, Ready
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes.bot import Bot
from referee.processes.ending import end_processes
from referee.processes.process import BotProcess
from referee.records.record import GameRecord, to_json
from referee.records.replay import verify
from referee.tournament.encounter import play_encounter
from referee.wire.connection import Connection, end_connections
from referee.wire.process_wire import ProcessWire
from referee.wire.stoppage import SLICE_NS
from referee.wire.stopwatch import Stopwatch
from tests.holdings import living
from tests.processes.encounters import MARGIN_US, bot
from tests.rules.random_play import quick_first


def games(
    *vices: tuple[str, ...], count: int = 1, clock: str = "200ms", start: str = "10s", **changes: Any
) -> list[GameRecord]:
    """Games between bots with these vices, in the seats as they are named."""
    game = GAMES["blooms"]
    bots = [bot(f"bot{number}", *vice) for number, vice in enumerate(vices, 1)]
    options = game.settle(changes.pop("options", {}))
    control = TimeControl.parse(clock)
    names = tuple(one.name for one in bots)
    terms = [
        Terms(f"{number}", game, options, names, (control,) * 2, b"s", b"", MARGIN_US, **changes)
        for number in range(count)
    ]
    records = list(play_encounter(bots, terms, start_us=TimeControl.parse(start).move_us))
    for record in records:
        verify(to_json(record))
    return records


def loser(record: GameRecord) -> tuple[int, str]:
    assert record.verdict.outcome.ranks in ((1, 2), (2, 1))
    return record.verdict.outcome.ranks.index(2) + 1, record.verdict.ending.word


GOOD = ("none",)

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


@pytest.mark.promise(
    "PROTOCOL", "A bot loses at its deadline, whatever it does meanwhile.", case="never reads"
)
@pytest.mark.parametrize("vice", quick_first(AT_THE_DEADLINE, 4))
def test_loses_at_the_deadline_whatever_it_does_meanwhile(vice: str) -> None:
    before = time.monotonic()
    (record,) = games(GOOD, (vice,), options={"size": "8"})
    assert loser(record) == (2, "time")
    left = record.events[-1]
    assert isinstance(left, Retired)
    assert 200_000 + MARGIN_US < left.used_us < 600_000
    assert time.monotonic() - before < 5, "nobody waits for it after that"


@pytest.mark.parametrize(
    ("vice", "detail"),
    [
        ("endless line", "a line of more than 4096 bytes"),
        ("endless lines", "more than 10000 lines"),
        ("endless long lines", "more than 1048576 bytes"),
    ],
)
def test_a_flood_loses_at_its_cap_long_before_the_deadline(vice: str, detail: str) -> None:
    (record,) = games((vice,), GOOD, clock="30s")
    assert loser(record) == (1, "flood")
    assert record.events[-1].detail.startswith(detail)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("vice", "detail"),
    [
        ("exits", "exited with status 3"),
        ("kills itself", "was ended by SIGKILL"),
        ("closes output", "closed its output"),
        ("leaves a helper", "exited with status 0"),
        ("exits after ready", "exited with status 0"),
    ],
)
def test_a_bot_that_is_gone_is_seen_at_once(vice: str, detail: str) -> None:
    (record,) = games((vice,), GOOD, clock="30s")
    assert loser(record) == (1, "gone")
    left = record.events[-1]
    assert isinstance(left, Retired) and left.detail == detail


def test_the_move_before_the_exit_counts() -> None:
    (record,) = games(("plays and exits",), GOOD, clock="30s")
    assert loser(record) == (1, "gone")
    assert [event.seat for event in record.events if isinstance(event, Moved)] == [0, 1]
    assert record.events[-1].used_us < 1_000_000  # type: ignore[union-attr]


def test_an_answer_before_the_question_is_out_of_turn_and_a_second_one_is_dropped() -> None:
    (record,) = games(("plays ahead",), GOOD, clock="30s")
    assert loser(record) == (1, "turn")
    (record,) = games(("plays twice",), ("sleep", "0", "0", "60"), clock="200ms")
    assert loser(record) == (2, "time")
    assert record.measured["seats"][0]["stale"] in (2, 3), "the last may not be read any more"


@pytest.mark.promise("PROTOCOL", "A flood of stderr harms nobody; its beginning and its end are kept.")
@pytest.mark.slow
def test_a_flood_of_stderr_harms_nobody_and_is_kept_at_both_ends() -> None:
    (record,) = games(("stderr, then plays",), ("sleep", "0", "60"), clock="2s")
    assert loser(record) == (2, "time")
    kept = record.measured["seats"][0]["stderr"]["playing"]
    assert kept["bytes"] > 3_000_000 and len(kept["text"]) < 10_000
    assert kept["text"].startswith("\\xff\x1b[2J first\ncomplaint") and kept["text"].endswith("last\n")


@pytest.mark.parametrize(
    ("vice", "detail"),
    [
        ("never starts", "nothing came"),
        ("crashes at the start", "exited with status 1"),
        ("closes input", "nothing came"),
    ],
)
def test_a_bot_that_does_not_start(vice: str, detail: str) -> None:
    (record,) = games(GOOD, (vice,), start="500ms")
    assert loser(record) == (2, "start")
    assert isinstance(record.events[0], Retired) and detail in record.events[0].detail
    if vice == "crashes at the start":
        assert record.measured["seats"][1]["stderr"]["playing"]["text"] == "boom: no such opening book\n"


def test_a_slow_start_costs_no_move_time() -> None:
    (record,) = games(("slow start", "0.5"), ("sleep", "0", "60"), clock="200ms", start="5s")
    assert loser(record) == (2, "time")


def test_a_program_that_vanished_does_not_start(tmp_path: Path) -> None:
    game = GAMES["blooms"]
    bots = [bot("good", "none"), Bot("lost", (str(tmp_path / "lost"),), tmp_path)]
    terms = Terms("x", game, game.settle({}), ("good", "lost"), (game.clock,) * 2, b"")
    (record,) = play_encounter(bots, [terms])
    assert loser(record) == (2, "start")
    assert "No such file or directory" in record.events[0].detail  # type: ignore[union-attr]


@pytest.mark.promise("PROTOCOL", "A reserve is charged in the steps of the time control.")
@pytest.mark.slow
def test_steps_of_reserve_are_charged_and_the_record_shows_it() -> None:
    (record,) = games(("sleep", "0.3", "0.1", "0.5", "0.6"), GOOD, clock="200ms+600ms/200ms")
    assert loser(record) == (1, "time")
    charges = [event.charge for event in record.events if isinstance(event, Moved) and event.seat == 0]
    assert [(charge.taken_us, charge.reserve_us) for charge in charges] == [
        (200_000, 400_000),
        (0, 400_000),
        (400_000, 0),
    ]
    assert record.events[-1].used_us > 200_000 + MARGIN_US  # type: ignore[union-attr]


def test_rejections() -> None:
    (record,) = games(("illegal once",), ("sleep", "0", "60"), clock="300ms")
    assert loser(record) == (2, "time")
    assert isinstance(record.events[0], Rejected) and record.events[0].reason == "no-such-cell"
    assert isinstance(record.events[1], Moved)
    assert record.events[1].charge.used_us >= record.events[0].used_us
    (record,) = games(("illegal for ever",), GOOD, clock="30s")
    assert loser(record) == (1, "illegal")
    assert sum(isinstance(event, Rejected) for event in record.events) == 10


def test_processes_serve_the_next_game_and_are_fresh_after_a_fault() -> None:
    first, second = games(("stderr marks",), ("sleep", "0", "0", "60"), count=2, clock="300ms")
    assert loser(first) == loser(second) == (2, "time")
    moves = [[event.text for event in game.events if isinstance(event, Moved)] for game in (first, second)]
    assert moves[0] == moves[1]
    for game in (first, second):
        # `ready` is said before the mark, so each game has its own.
        assert game.measured["seats"][0]["stderr"]["playing"]["text"] == "first of a game\n"
        assert game.measured["seats"][0]["stderr"]["starting"]["text"] == "getting ready\n"


def test_a_bot_that_exits_after_its_game_is_started_anew() -> None:
    first, second = games(("plays and exits",), GOOD, count=2, clock="30s")
    assert loser(first) == loser(second) == (1, "gone")


def test_a_rejection_does_not_arm_the_deadline_anew() -> None:
    (record,) = games(("illegal slowly",), GOOD, clock="400ms")
    assert loser(record) == (1, "time")
    assert sum(isinstance(event, Rejected) for event in record.events) == 2


def test_what_was_said_while_the_opponent_thought_is_no_answer() -> None:
    """It lies in the pipe when its question is written: read later, it would pass for an answer."""
    (record,) = games(("plays ahead later",), ("sleep", "0.3", "0.3"), clock="5s")
    assert loser(record) == (1, "turn")
    assert [event.seat for event in record.events if isinstance(event, Moved)] == [0, 1]


@pytest.mark.promise(
    "PROTOCOL",
    "What a bot does between two games is judged in the next one.",
    case="exits at the end-second0",
)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("vice", "second"), [("exits at the end", (1, "start")), ("says goodbye", (2, "time"))]
)
def test_what_happens_between_two_games_is_judged_in_the_next(vice: str, second: tuple[int, str]) -> None:
    """An exit is; an answer to nothing is dropped, whether it is read before the next game or after."""
    for _ in range(3):
        records = games((vice,), ("sleep", "0", "60"), count=3, clock="100ms")
        assert [loser(record) for record in records] == [(2, "time"), second, (2, "time")]


@pytest.mark.promise("PROTOCOL", "A bot may clean up when it gets SIGTERM.")
@pytest.mark.slow
def test_a_bot_may_clean_up_on_sigterm(tmp_path: Path) -> None:
    games(("cleans up", str(tmp_path / "done")), ("sleep", "0", "60"))
    assert (tmp_path / "done").exists()


def test_a_bot_that_says_much_at_the_end_is_not_held_up(tmp_path: Path) -> None:
    games(("chatters at the end", str(tmp_path / "done")), ("sleep", "0", "60"))
    assert (tmp_path / "done").exists()


def test_helpers_end_with_the_bot() -> None:
    seconds = f"61.25{os.getpid()}"  # so that it is ours
    (record,) = games(("helper", seconds), ("sleep", "0", "60"))
    assert loser(record) == (2, "time")
    assert not living(seconds)


def test_a_bot_that_does_not_quit_is_ended() -> None:
    before = time.monotonic()
    games(("outlives the end",), ("sleep", "0", "60"))
    assert time.monotonic() - before < 3


def test_the_environment_is_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONUNBUFFERED", "SECRET_TOKEN", "LD_PRELOAD_LIKE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    process = BotProcess(Bot("env", ("env",), Path("/")))
    assert process.how_it_ended() == "exited with status 0"
    names = {line.split(b"=")[0] for line in (process.read() or b"").splitlines()}
    end_processes([process])
    assert {b"PATH", b"HOME", b"LC_ALL"} <= names
    assert not names & {b"PYTHONUNBUFFERED", b"SECRET_TOKEN", b"LD_PRELOAD_LIKE"}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_nothing_of_ours_is_inherited() -> None:
    read_end, write_end = os.pipe()
    process = BotProcess(Bot("ls", ("ls", "/proc/self/fd"), Path("/")))
    process.how_it_ended()
    opened = (process.read() or b"").split()
    end_processes([process])
    os.close(read_end)
    os.close(write_end)
    assert opened == [b"0", b"1", b"2", b"3"], "the fourth is the folder that `ls` reads"


def test_a_group_of_its_own() -> None:
    process = BotProcess(Bot("sh", ("sh", "-c", "kill -9 0"), Path("/")))
    assert process.how_it_ended() == "was ended by SIGKILL"
    end_processes([process])


@pytest.mark.skipif(sys.platform != "linux", reason="stops the referee with SIGSTOP")
def test_the_referee_s_own_stoppage_is_not_the_bot_s_time(tmp_path: Path) -> None:
    """A bot that thinks for 100 ms of its 400, while the referee is stopped for a second."""
    script = tmp_path / "stop.sh"
    script.write_text("sleep 0.05; kill -STOP $1; sleep 1; kill -CONT $1\n")
    assert shutil.which("sh")
    stopper: list[subprocess.Popen[bytes]] = []

    def show(terms: Terms, event: Any, state: Any) -> None:
        if not stopper:  # after seat 1's first move, while seat 2 thinks
            stopper.append(subprocess.Popen(["sh", str(script), str(os.getpid())]))

    game = GAMES["blooms"]
    bots = [bot("a", "sleep", "0", "60"), bot("b", "sleep", "0.1", "0.1")]
    control = TimeControl.parse("400ms")
    terms = Terms("x", game, game.settle({}), ("a", "b"), (control,) * 2, b"", b"", MARGIN_US)
    (record,) = play_encounter(bots, [terms], show)
    stopper[0].wait()
    assert loser(record) == (1, "time")
    moved = record.events[1]
    assert isinstance(moved, Moved) and moved.seat == 1 and moved.charge.used_us < 400_000
    assert record.measured["seats"][1]["stopped_us"] > 500_000
    assert record.measured["seats"][0].get("stopped_us", 0) < 500_000


@pytest.mark.promise(
    "PROTOCOL",
    "An answer that was late by the bot's own doing is late though the referee was stopped.",
    case="True",
)
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="stops the referee with SIGSTOP")
@pytest.mark.parametrize("stamped", [True, False])
def test_an_answer_beyond_its_time_while_the_referee_is_stopped(
    stamped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer comes 1.3 s after the question, of which the referee was stopped for one. Where the kernel
    notes when it was written it is late; else nobody knows, and the stoppage is taken off.
    """
    if not stamped:
        monkeypatch.setattr("referee.processes.stamped._folder", str)
    stopper: list[subprocess.Popen[bytes]] = []

    def show(terms: Terms, event: Any, state: Any) -> None:
        if not stopper:
            command = f"sleep 0.05; kill -STOP {os.getpid()}; sleep 1; kill -CONT {os.getpid()}"
            stopper.append(subprocess.Popen(["sh", "-c", command]))

    game = GAMES["blooms"]
    bots = [bot("a", "sleep", "0", "60"), bot("b", "sleep", "1.3")]
    control = TimeControl.parse("800ms")
    terms = Terms("x", game, game.settle({}), ("a", "b"), (control,) * 2, b"", b"", MARGIN_US)
    (record,) = play_encounter(bots, [terms], show)
    stopper[0].wait()
    if stamped:
        assert loser(record) == (2, "time")
        assert record.events[1].used_us > 800_000  # type: ignore[union-attr]
    else:
        assert loser(record) == (1, "time")
        moved = record.events[1]
        assert isinstance(moved, Moved) and moved.charge.used_us < 800_000
        assert moved.timing.stopped_us > 500_000 and moved.timing.wall_us > 1_000_000
        # No more is taken off than the referee was stopped, to the rounding of the three figures.
        assert abs(moved.timing.wall_us - moved.timing.stopped_us - moved.charge.used_us) <= 2


@pytest.mark.promise(
    "PROTOCOL", "The time during which the referee itself was stopped is not charged to a bot.", case="1-0.1"
)
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="stops the referee with SIGSTOP")
@pytest.mark.parametrize(("stopped_s", "think_s"), [("1", "0.1"), ("0.3", "0.6")])
def test_a_bot_that_logs_all_the_time_neither_loses_nor_gains_by_a_stoppage(
    stopped_s: str, think_s: str
) -> None:
    """It has 800 ms, and the referee is stopped 50 ms after the question. The kernel notes only when it wrote
    last; but its output was read when the referee went on, and an answer that is read later is no older.
    """
    stopper: list[subprocess.Popen[bytes]] = []

    def show(terms: Terms, event: Any, state: Any) -> None:
        if not stopper:
            command = f"sleep 0.05; kill -STOP {os.getpid()}; sleep {stopped_s}; kill -CONT {os.getpid()}"
            stopper.append(subprocess.Popen(["sh", "-c", command]))

    game = GAMES["blooms"]
    bots = [bot("a", "sleep", "0", "60"), bot("b", "logs", think_s)]
    control = TimeControl.parse("100ms+700ms")
    terms = Terms("x", game, game.settle({}), ("a", "b"), (control,) * 2, b"", b"", MARGIN_US)
    (record,) = play_encounter(bots, [terms], show)
    stopper[0].wait()
    assert loser(record) == (1, "time")
    moved = record.events[1]
    assert isinstance(moved, Moved) and moved.timing.stopped_us > 200_000
    if think_s == "0.6":
        assert moved.charge.used_us >= 600_000 - SLICE_NS // 1000, "since the last look at its output"


def test_what_was_written_in_time_counts_though_nobody_looked_until_the_time_was_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = Connection(bot("quick", "none"))
    if not (connection.process and connection.process.stamped):
        end_connections([connection])
        pytest.skip("needs to know when a pipe was written to")
    wire = ProcessWire([connection], 10_000_000)
    game = GAMES["blooms"]
    wire.open(0, Opening("blooms", game.rules, 2, game.settle({}), game.clock, 1))
    assert isinstance(wire.next_reply().what, Ready)
    wire.post(0, Question((), 300, 0, 300_000))
    monkeypatch.setattr(wire, "_wait", lambda: time.sleep(0.5))
    reply = wire.next_reply()
    end_connections([connection])
    assert isinstance(reply.what, Answer) and reply.used_us < 300_000


@pytest.mark.promise("DEVELOPING", "A slow reader of the dialogue costs no bot its game.")
@pytest.mark.slow
def test_a_slow_reader_of_the_dialogue_costs_no_bot_its_game() -> None:
    def tap(name: str, direction: str, data: bytes) -> None:
        if b"ask" in data or b"move" in data:
            time.sleep(0.2)

    game = GAMES["blooms"]
    control = TimeControl.parse("150ms")
    bots = [bot("a", "sleep", "0", "0", "60"), bot("b", "none")]
    terms = Terms("x", game, game.settle({}), ("a", "b"), (control,) * 2, b"", b"", MARGIN_US)
    (record,) = play_encounter(bots, [terms], tap=tap)
    assert loser(record) == (1, "time")
    assert len(record.events) == 5


def test_a_lack_of_the_machine_s_is_no_fault_of_a_bot_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("referee.processes.process.os.pipe", lacking)
    with pytest.raises(EnvironmentLacksError, match="Too many open files"):
        games(GOOD, GOOD)


def test_time_is_rounded_up() -> None:
    watch = Stopwatch(None)
    watch.began_ns = 1000
    assert [watch.used_us(wall_ns, 0) for wall_ns in (2000, 2001, 500)] == [1, 2, 0]


def test_how_a_signal_s_death_reads() -> None:
    process = BotProcess(Bot("sh", ("sh", "-c", f"kill -{int(signal.SIGSEGV)} $$"), Path("/")))
    assert process.how_it_ended() == "was ended by SIGSEGV"
    end_processes([process])


@pytest.mark.slow
def test_the_ending_of_a_bot_that_was_late_says_what_came() -> None:
    (record,) = games(("no newline",), GOOD)
    assert record.verdict.ending is Ending.TIME
    assert "a line without a newline came: move 1 L:D4" in record.events[-1].detail  # type: ignore[union-attr]
    (record,) = games(GOOD, ("lists and never reads",), options={"size": "8"})
    assert "were not read" in record.events[-1].detail  # type: ignore[union-attr]


def test_what_one_bot_pours_out_unasked_is_not_in_the_other_s_time() -> None:
    """Both are asked at once; what the one has said meanwhile is read before the other's time runs."""
    connections = [Connection(bot("quick", "none")), Connection(bot("loud", "empty lines at ready"))]
    wire = ProcessWire(connections, 10_000_000)
    game = GAMES["blooms"]
    for seat in (0, 1):
        wire.open(seat, Opening("blooms", game.rules, 2, game.settle({}), game.clock, 1))
    assert {type(wire.next_reply().what) for _ in range(2)} == {Ready}
    time.sleep(0.3)
    spent: list[float] = []
    hear = connections[1].conversation.hear
    connections[1].conversation.hear = lambda data: (spent.append(time.monotonic()), hear(data))[1]  # type: ignore
    wire.catch_up((0, 1))
    assert spent, "there was something to be read"
    spent.clear()
    wire.post(0, Question((), 300, 0, 300_000))
    wire.post(1, Question((), 300, 0, 300_000))
    assert not spent
    assert isinstance(wire.next_reply().what, Answer)
    end_connections(connections)
