"""What the author of a bot is told of a fault: what was expected, what passed last, what that often means."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from referee.core.errors import UsageError
from referee.core.settings import LEVELS
from referee.core.units import TimeControl
from referee.gameplay import events, hints
from referee.gameplay.api import Failure, GameDescription, Question
from referee.gameplay.events import NOT_TIMED, Ending, Rejected, Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import cpu
from referee.processes.limits import Limits
from referee.processes.program import Program
from referee.protocol.session import Phase
from referee.records.record import GameRecord
from referee.tournament.workers.encounter import play_encounter
from referee.viewing import words
from referee.viewing.words import bot_output, fault_report
from referee.wire.connection import BotConnection
from referee.wire.process_wire import SeatWire
from tests.command import ended_after
from tests.processes.encounters import LONG, LONG_US, time_is_up_once
from tests.programs import needs_level
from tests.waiting import TOO_LONG_S

LOOP = """
import os, signal, sys, time
def say(line, flush=True):
    print(line, flush=flush)
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        {hello}
    elif word == "prepare":
        {prepare}
    elif word == "ask":
        {ask}
"""
FINE = {"hello": 'say("hello 1")', "prepare": 'say("ready")', "ask": "pass"}


def told(at_fault: Program) -> str:
    """The report on a bot that plays alone."""
    game = GAMES["thetree"]
    control = TimeControl.parse(LONG)
    terms = Terms("x", game, game.settle({"players": "1"}), (at_fault.name,), (control,), b"")
    (record,) = play_encounter([at_fault], [terms], start_us=LONG_US)
    return "\n".join(fault_report(record))


def test_what_was_measured_is_told_in_words() -> None:
    game = GAMES["blooms"]
    terms = Terms("x", game, game.settle({}), ("x", "good"), (TimeControl.parse("1s"),) * 2, b"")
    measured = {"seats": [{"stopped_us": 345202, "cpu_us": 5421, "off_turn_us": "odd", "else": 7}, {}]}
    assert list(bot_output(terms, measured, range(2))) == [
        "x delays of the referee, not charged to the bot: 345 ms",
        "x processor time: 5.4 ms",
        "x off_turn_us: odd",
        "x else: 7",
    ]


def test_a_mistyped_path_is_not_blamed_on_isolation_alone() -> None:
    mistyped = "python3: can't open file 'greedy.py': [Errno 2] No such file or directory"
    assert hints.isolated("bwrap", mistyped).startswith(
        "a file does not exist (a relative path starts from the folder that the bot is run in: open files "
        "beside the program relative to it, in Python to `__file__`) or is hidden: with"
    )
    assert "`read = [...]` in a tournament file" in hints.isolated("bwrap", mistyped), "not an option"
    assert len(hints.isolated("landlock", mistyped)) < 400, "all of it is shown"
    assert hints.isolated("bwrap", "Permission denied").startswith("with isolation")


ENV_PYTHON2 = b"#!/usr/bin/env python2"
TRACEBACK = "Traceback (most recent call last):\n"


@pytest.mark.parametrize(
    ("code", "first_line", "stderr", "expected"),
    [
        (1, None, f"{TRACEBACK}ValueError: substring not found", "an exception ended it"),
        (1, None, f"no such file: none is made\n{TRACEBACK}KeyError: 1", "an exception ended it"),
        (1, None, f"{TRACEBACK}FileNotFoundError: [Errno 2] No such file or directory: 'x'", "a file does"),
        (1, None, f"{TRACEBACK}ModuleNotFoundError: No module named 'x'", "a module is not installed"),
        (1, None, "Error: Cannot find module '/x'\n    at a.js:1:2", "with isolation `bwrap`"),
        (1, None, "  File 'x', line 1\nSyntaxError: expected ':'", "an exception ended it"),
        (127, ENV_PYTHON2, "pyenv: python2: command not found", "the interpreter that its first line"),
        (127, ENV_PYTHON2, "python2: error while loading shared libraries: x", "a shared library is missing"),
        (127, b"#!/bin/sh", "./bot: 1: x: not found", "a program that its stderr names was not found"),
    ],
)
def test_the_hint_for_a_bot_that_exited_follows_what_ended_it(
    code: int, first_line: bytes | None, stderr: str, expected: str
) -> None:
    assert hints.gone(False, code, stderr, (), "bwrap", first_line).startswith(expected)


@pytest.mark.parametrize(
    ("command", "first_line", "expected"),
    [
        (("sh", "x.py"), b"import sys", "`sh` does not run `x.py`, expected `python3`"),
        (
            ("./x.py",),
            b"#!/bin/sh",
            "`sh`, which its first line names, does not run `x.py`, expected `python3`",
        ),
        (("./x.js",), b"#!/usr/bin/env -S python3 -u", "`python3`, which its first line names, does not"),
        (("./x.py",), b"#!/usr/bin/env python3", ""),
        (("./x",), b"#!/bin/sh", ""),
        (("./x.py",), b"#!", ""),
    ],
)
def test_an_interpreter_of_another_language_is_named(
    command: tuple[str, ...], first_line: bytes, expected: str
) -> None:
    found = hints.wrong_interpreter(command, first_line)
    assert found.startswith(expected) and bool(found) == bool(expected)


def scripted(part: str, code: str) -> Program:
    """A bot that does this in one place."""
    script = LOOP.format(**{**FINE, part: code})
    return Program("x", (sys.executable, "-I", "-S", "-c", script), Path("/"))


@pytest.mark.parametrize(
    ("part", "code", "fragments"),
    [
        ("hello", 'say("hello 1", flush=False)', ["expected: `hello 1`"]),
        ("prepare", 'say("ready", flush=False)', ["expected: `ready`", "last sent to the bot: prepare"]),
        ("ask", 'say(f"move {rest[0]} X", flush=False)', ["expected: `move 1 TEXT` within 3600"]),
    ],
)
def test_what_comes_when_the_input_is_closed_was_held_back(
    part: str, code: str, fragments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.wire.connection.LOST_GRACE_S", TOO_LONG_S)
    asked = {"hello": Phase.GREETED, "prepare": Phase.LOADING, "ask": Phase.ASKED}[part]
    time_is_up_once(monkeypatch, lambda seat_wire: seat_wire.connection.session.phase is asked)
    text = told(scripted(part, code))
    for fragment in [
        "seat 1 x ",
        "nothing came",
        "hint: its answer came only when its input was",
        *fragments,
    ]:
        assert fragment in text, text


def test_an_answer_behind_a_breach_was_not_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.wire.connection.LOST_GRACE_S", TOO_LONG_S)
    text = told(scripted("hello", 'say("hello petal"); sys.stdin.read(); say("hello 1")'))
    assert "`petal` is not a plain number" in text and "only when its input" not in text, text


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("code", "fragments"),
    [
        ("{}['x']", ["crashed: KeyError 'x'", "stderr: KeyError", "hint: an exception ended it"]),
        ("os.kill(0, signal.SIGSEGV)", ["was ended by SIGSEGV", "hint: invalid memory access"]),
        (
            'say("my move: A1"); sys.exit()',
            [
                "exited with status 0",
                "last received from the bot: my move: A1",
                "hint: it exited by itself: read lines until `quit`",
            ],
        ),
        ("os.close(1); time.sleep(60)", ["closed its output", "keep both open until `quit`"]),
    ],
)
def test_a_bot_that_is_gone_is_told_why(
    code: str, fragments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.wire.connection.LOST_GRACE_S", 0.01)
    if "os.close" not in code:
        monkeypatch.setattr("referee.processes.process.STATUS_S", TOO_LONG_S)
    text = told(scripted("ask", code))
    for fragment in ["seat 1 x ", *fragments]:
        assert fragment in text, text


@pytest.mark.parametrize(("ending", "is_told"), [("\r\n", True), ("\n", False)])
def test_a_shell_script_with_the_line_ends_of_windows_is_recognized(
    ending: str, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.processes.process.STATUS_S", TOO_LONG_S)
    (tmp_path / "bot.sh").write_bytes(f"echo hello 1{ending}if{ending}".encode())
    assert ("LF, not CRLF" in told(Program("x", ("sh", "bot.sh"), tmp_path))) == is_told


def asked(*said: bytes) -> BotConnection:
    """The connection to a bot that was greeted, and asked for something else after each of these."""
    connection = BotConnection(Program("x", ("x",), Path("/")), failure=Failure(Ending.START, "no process"))
    session = connection.session
    game = GAMES["blooms"]
    session.greet()
    for number, data in enumerate(said):
        session.receive(data)
        if number:
            session.ask(0, Question((), 1000, 0, 1000))
        else:
            session.open(0, GameDescription("blooms", game.rules, 2, game.settle({}), game.clock, 1))
    return connection


HELLO, READY = b"hello 1\n", b"ready\n"


@pytest.mark.parametrize(
    ("said", "fragments"),
    [
        ([b""], ["nothing came", "it did not get ready within the 10 s allowed (`start` allows more)"]),
        (
            [HELLO, b""],
            ["within the 10 s allowed", "does not answer `prepare` with the line `ready`"],
        ),
        ([HELLO, READY, b""], ["nothing came", "it is waiting for something"]),
        ([HELLO, READY, b"my move: A1\n"], ["came: `my move: A1`", "print debug output to stderr"]),
        ([HELLO, READY, b"A1\nA2\n"], ["2 lines that are not messages came, such as `A2`"]),
        ([HELLO, READY, b"Move 1 L:A1\n"], ["write words in lower case: `move`"]),
        ([HELLO, READY, b"move 1 L:A1"], ["a line without a newline came", "end each line with a newline"]),
        ([HELLO, READY, b"move 1 L:A1\r"], ["with only a carriage return"]),
        (
            [HELLO, READY, b"move 1 L:A1\n", b"move 1 L:A1\n"],
            ["1 answer to closed questions arrived", "it answered a question that was already closed"],
        ),
        # What it said before it was asked explains nothing.
        ([HELLO, b"Engine 1.0\nready\n", b""], ["nothing came", "it is waiting"]),
        ([HELLO, READY, b"move 1 L:A1\nmove 1 L:A1\n", b""], ["nothing came", "it is waiting"]),
    ],
)
def test_what_came_instead_of_an_answer(said: list[bytes], fragments: list[str]) -> None:
    *before, last = said
    connection = asked(*before)
    connection.session.receive(last)
    detail, hint = connection.what_came(10_000_000, computing=False)
    for fragment in fragments:
        assert fragment in f"{detail}; {hint}"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], "(`start` allows more): it is still computing, perhaps in an endless loop"),
        ([HELLO], "(`start` allows more): it is still computing, perhaps in an endless loop"),
        ([HELLO, READY], "it is still computing: in an endless loop, or for longer than `ask` allows"),
    ],
)
def test_a_bot_that_computes_is_told_of_endless_loops(said: list[bytes], expected: str) -> None:
    detail, hint = asked(*said).what_came(10_000_000, computing=True)
    assert detail == "nothing came" and hint.endswith(expected)


def has_computed(place: SeatWire) -> bool:
    return place.watch.cpu_ns() > 50_000_000  # more than it takes to start


@pytest.mark.slow
@pytest.mark.skipif(not cpu.AVAILABLE, reason="no processor time of processes is known")
def test_a_process_that_a_bot_starts_is_seen_to_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at `bwrap`, where the bot itself is the child of a process."""
    monkeypatch.setattr(events, "BUSY_DIVISOR", 1_000_000)  # a busy machine has little time for it
    time_is_up_once(monkeypatch, has_computed)
    text = told(Program("x", ("sh", "-c", "while :; do :; done & wait"), Path("/")))
    assert "hint: it did not get ready" in text and "still computing, perhaps in an endless loop" in text


def rejections(reason: str, *texts: str) -> list[Rejected]:
    return [Rejected(0, text, reason, "", 0) for text in texts]


@pytest.mark.parametrize(
    ("rejected", "slug", "begins", "ends"),
    [
        (rejections("not-a-move", "2000 0 L:A1"), "blooms", "repeat only the first", "`move N TEXT`"),
        (rejections("not-a-move", "A1", "A2"), "blooms", "`referee docs blooms` says how moves", "moves"),
        (rejections("not-a-move", "L : A1"), "blooms", "write no blanks beside `:`; `referee docs", "moves"),
        (rejections("not-a-move", "0-4@-2, 4"), "thetree", "write no blanks beside `,`; `referee", "moves"),
        (rejections("no-such-cell", "D:D0"), "blooms", "cells are counted from 1; `referee docs", "moves"),
        (rejections("occupied", "L:A1", "L:B2"), "nim", "the bot's position differs", "the legal moves"),
        (
            rejections("occupied", "L:A1", "L:A1"),
            "nim",
            "the bot's position",
            "10th rejection loses the game",
        ),
    ],
)
def test_rejected_answers_are_explained_by_the_first(
    rejected: list[Rejected], slug: str, begins: str, ends: str
) -> None:
    hint = hints.of_rejections(rejected, slug)
    assert hint.startswith(begins) and hint.endswith(ends) and "`referee docs nim`" not in hint


def test_a_bot_that_mostly_waited_for_a_processor_is_told_that_the_machine_was_busy() -> None:
    def hint(waited_us: int) -> str:
        timing = NOT_TIMED._replace(waited_us=waited_us)
        late = Retired(0, Ending.TIME, "", 1000, timing, "flush")
        return words._hint_for(late, cast(GameRecord, SimpleNamespace(events=[late])))

    assert hint(501) == f"{hints.BUSY}. Otherwise: flush" and hint(500) == hint(0) == "flush"


def test_a_ready_that_is_not_expected_is_explained_and_not_asked_for() -> None:
    text = told(scripted("ask", 'say("ready")'))
    assert "`ready` is not allowed" in text and f"hint: {hints.UNEXPECTED['ready']}" in text
    text = told(scripted("prepare", 'say("ready\\nready")'))
    assert f"hint: {hints.UNEXPECTED['ready']}" in text and "expected: `ready`" not in text


def test_a_match_explains_rejected_answers_too() -> None:
    text = told(scripted("ask", "say(f'move {rest[0]} X')"))
    assert "made too many illegal moves" in text and "hint: `referee docs thetree` says how moves" in text


@pytest.mark.parametrize(
    ("said", "fragments"),
    [
        (b"move 2 L:A1\n", ["question 2 was never asked", "from the last `ask`"]),
        (b"move L:A1\n", ["broke the protocol", "`L:A1` is not a plain number, expected `move"]),
    ],
)
def test_a_breach_says_what_was_expected(said: bytes, fragments: list[str]) -> None:
    (failure,) = asked(HELLO, READY).session.receive(said)
    assert isinstance(failure, Failure) and not failure.hint
    for fragment in fragments:
        assert fragment in f"{failure.ending.sentence}: {failure.detail}; {failure.ending.hint}"


def test_a_flood_is_explained_by_what_flooded() -> None:
    *_, lists = asked(HELLO, READY).session.receive(b"list 1\n" * 17)
    *_, lines = asked(HELLO, READY).session.receive(b"node\n" * 10_001)
    assert isinstance(lists, Failure) and "`list` needs to be sent only once" in lists.hint
    assert isinstance(lines, Failure) and not lines.hint and "`list`" not in lines.ending.hint


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        (b"#!/bin/sh\r\necho hello 1\r\n", ["No such file or directory", "Unix line endings (LF, not CRLF)"]),
        (b"#!/no/such/interpreter\n", ["No such file or directory", "the interpreter that its first line"]),
        (b"\x7fELFxx", ["Exec format error", "may have been built for another one"]),
        (b"\xef\xbb\xbf#!/bin/sh\n", ["Exec format error", "it begins with a byte order mark"]),
        (
            b"#!/bin/sh\nno-such-program\n",
            ["exited with status 127", "a program that its stderr names was not found"],
        ),
        (b"#!/bin/sh\n/etc/passwd\n", ["exited with status 126", "the shell could not execute the program"]),
    ],
)
def test_why_a_program_does_not_start(content: bytes, fragments: list[str], tmp_path: Path) -> None:
    program = tmp_path / "bot"
    program.write_bytes(content)
    program.chmod(0o755)
    text = told(Program("x", ("./bot",), tmp_path))
    for fragment in ["seat 1 x did not start", *fragments]:
        assert fragment in text, text


@pytest.mark.parametrize(
    "level", [pytest.param(level, marks=[] if level == "bwrap" else pytest.mark.slow) for level in LEVELS]
)
def test_a_script_that_does_not_start_is_not_blamed_on_isolation(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_level(level)
    monkeypatch.setattr("referee.processes.process.STATUS_S", TOO_LONG_S)
    scripts = {
        "crlf.py": (
            b"#!/usr/bin/env python3\r\nimport sys\r\n",
            "its first line ends with a carriage return: save it with Unix line endings (LF, not CRLF)",
        ),
        "no-such.py": (
            b"#!/usr/bin/env no-such-python\n",
            "the interpreter that its first line (`#!/usr/bin/env no-such-python`) names is not installed",
        ),
        "none.py": (b"import sys\n", "add a first line such as #!/usr/bin/env python3 to it"),
    }
    for name, (content, expected) in scripts.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o755)
        text = told(Program("x", (f"./{name}",), tmp_path, isolation=level))
        assert "seat 1 x did not start" in text and f"hint: {expected}" in text
        assert "its own folder" not in text, "what is said of isolation"
    wrong = told(Program("x", ("sh", "none.py"), tmp_path, isolation=level))
    assert "hint: `sh` does not run `none.py`, expected `python3`" in wrong


def test_the_interpreter_of_a_bot_that_said_something_is_not_the_wrong_one(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("read -r line; echo hello 1; exit 3\n")
    text = told(Program("x", ("sh", "bot.py"), tmp_path))
    assert "exited with status 3" in text and "does not run" not in text


def test_where_a_program_was_looked_for_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    (tmp_path / "mine.py").touch()
    (tmp_path / "folder").mkdir()
    for command, expected in {
        "./no.py": f"no program at `./no.py` in `{tmp_path}` (No such file or directory)",
        "/no.py": "no program at `/no.py` (No such file or directory)",
        "{python} no.py": f"the file `no.py`, which `{{python}}` should run, does not exist in `{tmp_path}`",
        "mine.py": "the program `mine.py` is not on the path, expected `{python} mine.py`",
        "mine": "the program `mine` is not on the path, expected `./mine`",
        "./mine.py": "`./mine.py` is not executable, expected a program",
        "./folder": "`./folder` is a folder, expected a program",
    }.items():
        with pytest.raises(UsageError, match=re.escape(expected)):
            Program.parse(f"x={command}", tmp_path).check()


@pytest.mark.parametrize(
    ("limit", "value", "command", "expected"),
    [
        # The error is that of the bot's own start, and no lack of the machine.
        ("open_files", 3, ("sh",), "Error 24"),
        ("memory", 100 << 10, ("/bin/sh",), "exited with status 127"),
    ],
)
def test_a_limit_that_keeps_a_bot_from_starting_is_named(
    limit: str, value: int, command: tuple[str, ...], expected: str
) -> None:
    text = told(replace(Program("x", command, Path("/")), limits=replace(Limits(), **{limit: value})))
    assert "seat 1 x did not start" in text and expected in text
    assert f"hint: its limit `{limit}` is too small" in text, text


def test_a_bot_that_exceeds_a_limit_at_its_start_is_told_of_the_limits() -> None:
    text = told(
        replace(Program("x", ("sh", "-c", "sleep 60 & sleep 60"), Path("/")), limits=Limits(processes=1))
    )
    assert "seat 1 x did not start: 3 processes and threads, expected at most 1" in text
    assert "hint: the match or tournament limits its memory" in text


def test_a_shared_library_that_is_missing_is_not_a_missing_program() -> None:
    stderr = "x: error while loading shared libraries: libx.so: cannot open shared object file"
    assert "a shared library is missing" in hints.gone(False, 127, stderr)


def test_a_program_that_stopped_being_executable(tmp_path: Path) -> None:
    program = tmp_path / "bot"
    program.write_bytes(b"#!/bin/sh\n")
    assert "make it executable (chmod +x)" in told(Program("x", ("./bot",), tmp_path))


def test_a_program_that_became_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    """Why it does not start is looked for in its first line, and nobody ever writes to a FIFO."""
    os.mkfifo(tmp_path / "bot", 0o755)
    with ended_after(TOO_LONG_S):
        text = told(Program("x", ("./bot",), tmp_path))
    assert "seat 1 x did not start" in text and "Permission denied" in text
