"""What the author of a bot is told of a fault: what was expected, what passed last, what that often means."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.core.timecontrol import TimeControl
from referee.gameplay import hints
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes.bot import Bot
from referee.processes.limits import Limits
from referee.tournament.encounter import play_encounter
from referee.viewing.words import bot_output, fault_report
from tests.command import ended_after
from tests.processes.encounters import bot

LOOP = """
import os, signal, sys, time
def say(line, flush=True):
    print(line, flush=flush)
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        {hello}
    elif word == "prepare":
        {ready}
    elif word == "ask":
        {move}
"""
FINE = {"hello": 'say("hello 1")', "ready": 'say("ready")', "move": 'say(f"move {rest[0]} L:A1")'}


def told(bot_at_fault: Bot, clock: str = "300ms") -> str:
    game = GAMES["blooms"]
    control = TimeControl.parse(clock)
    terms = Terms("x", game, game.settle({}), ("x", "good"), (control,) * 2, b"")
    (record,) = play_encounter([bot_at_fault, bot("good", "none")], [terms], start_us=1_000_000)
    return "\n".join(fault_report(record))


def test_what_was_measured_is_told_in_words() -> None:
    game = GAMES["blooms"]
    terms = Terms("x", game, game.settle({}), ("x", "good"), (TimeControl.parse("1s"),) * 2, b"")
    measured = {"seats": [{"stopped_us": 345202, "cpu_us": 5421, "off_turn_us": "odd", "else": 7}, {}]}
    assert list(bot_output(terms, measured)) == [
        "x time in which the referee did not run, not charged: 345 ms",
        "x processor time: 5.4 ms",
        "x off_turn_us: odd",
        "x else: 7",
    ]


def test_a_mistyped_path_is_not_blamed_on_isolation_alone() -> None:
    mistyped = "python3: can't open file 'greedy.py': [Errno 2] No such file or directory"
    assert hints.isolated("bwrap", mistyped).startswith(
        "its file is not there, or is closed to it: at isolation"
    )
    assert hints.isolated("bwrap", "Permission denied").startswith("at isolation")


@pytest.mark.parametrize(
    ("part", "code", "fragments"),
    [
        (
            "hello",
            'say("hello 1", flush=False)',
            ["expected: `hello 1`", "hint: its answer came when its input was"],
        ),
        (
            "ready",
            'say("ready", flush=False)',
            ["expected: `ready`", "last sent to the bot: prepare", "flush"],
        ),
        (
            "move",
            'say(f"move {rest[0]} L:A1", flush=False)',
            ["expected: `move 1 TEXT` within 0.3", "flush"],
        ),
        ("ready", "time.sleep(60)", ["nothing came", "hint: `prepare` is answered with the line `ready`"]),
        ("move", "time.sleep(60)", ["nothing came", "hint: it has spoken before"]),
        (
            "move",
            'say("my move: A1")',
            ["last received from the bot: my move: A1", "debug output belongs on stderr"],
        ),
        ("move", 'say(f"Move {rest[0]} L:A1")', ["hint: words are written in small letters: `move`"]),
        ("move", 'os.write(1, b"move 1 L:A1"); time.sleep(60)', ["hint: end each line with a newline"]),
        ("move", 'os.write(1, b"move 1 L:A1\\r"); time.sleep(60)', ["with a carriage return alone"]),
        ("move", 'say("move 2 L:A1")', ["question 2 was never asked", "by its own number"]),
        ("move", 'say("move L:A1")', ["broke the protocol", "`L:A1` is not a plain number, expected `move"]),
        ("move", "{}['x']", ["exited with status 1", "stderr: KeyError", "hint: an exception ended it"]),
        (
            "move",
            "os.kill(0, signal.SIGSEGV)",
            ["was ended by SIGSEGV", "hint: it used memory that"],
        ),
        ("move", "sys.exit()", ["exited with status 0", "hint: it ended by itself"]),
        ("move", "os.close(1); time.sleep(60)", ["closed its output", "keep both open until `quit`"]),
        # Answers to the first question for ever: more of them still come when its input is closed.
        (
            "move",
            """say("move 1 L:" + "ABCDE"[int(rest[0]) % 5] + "1")
        while rest[0] == "2": say("move 1 L:A1"); time.sleep(0.005)""",
            ["answers to closed questions came", "hint: it answered a question that was closed"],
        ),
        # What it said before it was asked explains nothing.
        (
            "ready",
            'say("Engine 1.0"); say("ready"); time.sleep(60)',
            ["nothing came", "it has spoken before"],
        ),
        (
            "move",
            'time.sleep(60 if rest[0] == "2" else 0); say("move 1 L:A1"); say("move 1 L:A1")',
            ["nothing came", "hint: it has spoken before"],
        ),
    ],
)
def test_a_verdict_helps_the_author(
    part: str, code: str, fragments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "flush=False" in code:  # on a busy machine what is held back may take its time
        monkeypatch.setattr("referee.wire.connection.LOST_GRACE_S", 10)
    script = LOOP.format(**{**FINE, part: code})
    text = told(Bot("x", (sys.executable, "-I", "-S", "-c", script), Path("/")))
    assert "seat 1 x " in text
    for fragment in fragments:
        assert fragment in text, text


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        (b"#!/bin/sh\r\necho hello 1\r\n", ["No such file or directory", "Unix line ends (LF, not CRLF)"]),
        (b"#!/no/such/interpreter\n", ["No such file or directory", "the interpreter that its first line"]),
        (b"\x7fELFxx", ["Exec format error", "is it a script without a first line such as"]),
        (b"#!/bin/sh\nno-such-program\n", ["exited with status 127", "a shell did not find the program"]),
        (b"#!/bin/sh\n/etc/passwd\n", ["exited with status 126", "a shell could not execute the program"]),
    ],
)
def test_why_a_program_does_not_start(content: bytes, fragments: list[str], tmp_path: Path) -> None:
    program = tmp_path / "bot"
    program.write_bytes(content)
    program.chmod(0o755)
    text = told(Bot("x", ("./bot",), tmp_path))
    for fragment in ["seat 1 x did not start", *fragments]:
        assert fragment in text, text


@pytest.mark.parametrize(
    ("limits", "command", "expected"),
    [
        # The error is that of the bot's own start, and no lack of the machine.
        ({"open_files": "3"}, ("sh",), "Error 24"),
        ({"memory": "100KB"}, ("/bin/sh",), "exited with status 127"),
    ],
)
def test_a_limit_that_keeps_a_bot_from_starting_is_named(
    limits: dict[str, str], command: tuple[str, ...], expected: str
) -> None:
    text = told(replace(Bot("x", command, Path("/")), limits=Limits.parse(limits)))
    (limit,) = limits
    assert "seat 1 x did not start" in text and expected in text
    assert f"hint: its limit `{limit}` is too small" in text, text


def test_a_bot_that_exceeds_a_limit_at_its_start_is_told_of_the_limits() -> None:
    text = told(replace(Bot("x", ("sh", "-c", "sleep 9 & sleep 9"), Path("/")), limits=Limits(processes=1)))
    assert "seat 1 x did not start: 3 processes and threads, and 1 are allowed" in text
    assert "hint: the match or tournament limits its memory" in text


def test_a_shared_library_that_is_missing_is_not_a_missing_program() -> None:
    stderr = "x: error while loading shared libraries: libx.so: cannot open shared object file"
    assert "a shared library that it needs" in hints.gone(False, 127, stderr)


def test_a_program_that_stopped_being_executable(tmp_path: Path) -> None:
    program = tmp_path / "bot"
    program.write_bytes(b"#!/bin/sh\n")
    assert "make it executable (chmod +x)" in told(Bot("x", ("./bot",), tmp_path))


def test_a_program_that_became_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    """Why it does not start is looked for in its first line, and nobody ever writes to a FIFO."""
    os.mkfifo(tmp_path / "bot", 0o755)
    with ended_after(20):
        text = told(Bot("x", ("./bot",), tmp_path))
    assert "seat 1 x did not start" in text and "Permission denied" in text
