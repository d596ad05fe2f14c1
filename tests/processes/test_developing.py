"""`match` for developing, with real bots: from a recorded game, input to replay, no clock, stderr live."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.records.run_files import RECORDS
from tests.command import BAD, GREEDY, HERE, PLAIN, RANDOM, ROOT, THIS_PYTHON, referee
from tests.holdings import living, processes
from tests.waiting import TOO_LONG_S, eventually, let_others_go_on

SMALL = ("--option", "size=3", "--option", "target=2")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a game of Blooms."""
    folder = tmp_path_factory.mktemp("recorded") / "run"
    bots = [f"a={PLAIN}", f"b={PLAIN}"]
    assert referee("match", "blooms", *bots, "-n", "1", "-o", str(folder), *SMALL, *HERE).code == 0
    return folder


def games_of(folder: Path) -> list[dict[str, Any]]:
    lines = map(json.loads, (folder / RECORDS).read_text().splitlines())
    return [line for line in lines if line["kind"] == "game"]


# --- From a recorded game ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_match_begins_at_a_move_of_a_logged_game(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["match", "blooms", f"c={PLAIN}", f"d={PLAIN}", "--from", str(recorded), "1@2", "-o", str(folder)]
    done = referee(*words, *HERE)
    assert done.code == 0, done.err
    earlier = [event["move"] for event in games_of(recorded)[0]["events"][:2]]
    for game in games_of(folder):
        assert [event.get("opening") for event in game["events"][:3]] == [*earlier, None]
        assert game["options"]["size"] == 3 and game["start"] == 2
    assert [game["id"] for game in games_of(folder)] == ["1:c:d", "1:d:c"]
    assert referee("verify", str(folder)).code == 0
    assert "an opening move made by the referee" in referee("replay", str(folder), "1").out
    done = referee(*words, "-n", "4", *HERE)
    assert done.code == 0 and "2 of 4 games played" in done.err, "it continues"
    done = referee(*words[:-3], "1@3", "-o", str(folder), "-n", "4", *HERE)
    assert done.code == 2 and "`openings` is the start of the game 1:a:b up to move 3, but was" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["blooms", "1"], "`--from` has `1`, expected ID@N"),
        (["blooms", "1@x"], "`--from` has `1@x`, expected ID@N"),
        (["blooms", "1@999"], "game `1:a:b` does not continue after move 999, expected 1 to"),
        (["blooms", "1@0"], "game `1:a:b` does not continue after move 0, expected 1 to"),
        (["blooms", "7@1"], "no game `7` in"),
        (["evengroups", "1@1"], "`1:a:b` is a game of `blooms`, expected a game of `evengroups`"),
        (
            ["blooms", "1@1", "--option", "size=4"],
            "option `size` is `4`, expected `3` as in the game `1:a:b`",
        ),
        (["blooms", "1@1", "--openings", "plies=2"], "`--openings` and `--from` are given"),
    ],
)
def test_what_cannot_be_a_start_is_one_line(recorded: Path, words: list[str], message: str) -> None:
    game, at, *more = words
    done = referee("match", game, f"a={PLAIN}", f"b={PLAIN}", "--from", str(recorded), at, *more)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1, done.err


def test_a_tournament_file_names_a_start(recorded: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    openings = f'openings = {{ from = "{recorded}", game = "1:a:b", move = 1 }}'
    bots = "".join(f'[[bot]]\nname = "{name}"\ncmd = {json.dumps(shlex.split(PLAIN))}\n' for name in "ab")
    file.write_text(f'[tournament]\ngame = "blooms"\nrounds = 1\n{openings}\n[options]\nsize = 4\n{bots}')
    done = referee("run", str(file), *HERE)
    assert done.code == 2 and "option `size` is `4`, expected `3` as in the game `1:a:b`" in done.err


# --- What is shown, and the input to replay ----------------------------------------------------------------


@pytest.mark.parametrize(
    "bot",
    [pytest.param(GREEDY, id="greedy"), pytest.param(RANDOM, id="random", marks=pytest.mark.slow)],
)
def test_the_input_of_a_seat_makes_the_bot_say_the_same_again(tmp_path: Path, bot: str) -> None:
    file = tmp_path / "input"
    words = ["match", "blooms", f"a={PLAIN}", f"b={bot}", "-n", "1", *SMALL, "--dialogue"]
    done = referee(*words, "--input-of", "2", str(file))
    assert done.code == 0, done.err
    said = re.findall(r"^ +[0-9.]+ b BOT: (.*)$", done.err, re.MULTILINE)
    command = shlex.split(bot.replace("{python}", THIS_PYTHON))
    again = subprocess.run(
        command, input=file.read_bytes(), capture_output=True, timeout=TOO_LONG_S, cwd=ROOT
    )
    assert again.returncode == 0 and again.stdout.decode().splitlines() == said
    assert len(said) > 4 and file.read_bytes().endswith(b"\nquit\n")
    sent = re.findall(r"^ +[0-9.]+ b REF: (.*)$", done.err, re.MULTILINE)
    assert file.read_text().splitlines() == sent


def test_a_file_that_is_something_else_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("mine")
    words = ["match", "blooms", f"a={PLAIN}", f"b={PLAIN}", *SMALL, "--input-of"]
    done = referee(*words, "1", str(file))
    assert done.code == 2 and "already exists" in done.err and file.read_text() == "mine"
    done = referee(*words, "3", str(file))
    assert done.code == 2 and "`--input-of` names seat 3, expected 1 to 2" in done.err


def test_stderr_comes_in_the_dialogue_before_the_answer() -> None:
    words = ["match", "blooms", f"x={BAD} 'stderr marks'", f"y={PLAIN}", "-n", "1", *SMALL, "--dialogue"]
    done = referee(*words)
    lines = [line.split(maxsplit=1)[1] for line in done.err.splitlines() if re.match(r" +[0-9]+\.", line)]
    at = lines.index("x ERR: first of a game")
    assert lines[at - 1].startswith("x REF: ask 1 ") and lines[at + 1].startswith("x BOT: move 1 ")


def test_an_observer_takes_no_dialogue_from_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["match", "blooms", f"x={BAD} exits", f"y={PLAIN}", "-n", "1", *SMALL, "--watch", "1ms"]
    assert referee(*words, "-o", str(folder)).code == 0
    assert " x REF: ask 1 " in referee("find", str(folder), "--dialogue").out


# --- What a bot writes besides its answers -----------------------------------------------------------------

CHATTY = """
import sys
for line in sys.stdin:
    word, number = (line.split() + ["0"])[:2]
    if word in ("hello", "prepare"):
        print("hi\\nhello 1" if word == "hello" else "ready", flush=True)
    elif word == "ask" and number == "1":
        print("move 1 \\u202eL:Z9", flush=True)
    elif word == "ask":
        sys.stdout.write(f"thinking\\nresign {number}\\nresign {number}\\n")
        sys.stdout.flush()
"""


def test_lines_that_were_ignored_and_rejected_answers_are_told(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text(CHATTY)
    done = referee("match", "blooms", f"a={{python}} {tmp_path}/chatty.py", f"b={PLAIN}", "-n", "2", *HERE)
    assert done.code == 0
    assert "ignored 3 lines on the stdout of bot `a`" in done.err, "one before its `hello`"
    assert "bot `a` sent 2 answers to closed questions" in done.err
    rejected = (
        "bot `a` had 2 answers rejected (10 rejections in one game lose it); the first, in game 1:a:b, was `"
    )
    assert f"{rejected}\\u202eL:Z9`: " in done.err
    assert "bot `b`" not in done.err


def test_rejected_answers_by_which_a_bot_lost_are_told_as_its_fault_alone() -> None:
    bots = [f"a={BAD} 'illegal for ever'", f"b={PLAIN}"]
    done = referee("match", "blooms", *bots, "-n", "1", *SMALL, *HERE)
    assert done.code == 0 and "a made too many illegal moves" in done.err and "bot `a`" not in done.err


# --- Without a clock ---------------------------------------------------------------------------------------

STOPPING = """
import os, signal, sys
for line in sys.stdin:
    word, *rest = line.split()
    if word in ("ask", "quit"):
        os.kill(os.getpid(), signal.SIGSTOP)
    if word in ("hello", "prepare"):
        print({"hello": "hello 1", "prepare": "ready"}[word], flush=True)
    elif word == "ask":
        print("resign", rest[0], flush=True)
    elif word == "quit":
        open(sys.argv[1], "w").write("it ended by itself")
        break
"""
"""A bot that stops itself, as a debugger does, when it is asked and when it is to quit."""


def stopped_process(mark: str) -> int:
    """Waits for a process with this in its command that is stopped, and gives its id."""
    return eventually(
        lambda: next(
            (
                process.pid
                for process in processes()
                if mark in process.command.split() and process.state.startswith("T")
            ),
            0,
        )
    )


def developing(tmp_path: Path) -> tuple[subprocess.Popen[str], Path]:
    """A match without a clock of a bot that stops itself, and the file that this bot writes at its end."""
    bot, mark = tmp_path / "stopping.py", tmp_path / "mark"
    bot.write_text(STOPPING)
    words = [sys.executable, "-m", "referee", "match", "blooms", f"x={{python}} {bot} {mark}", f"y={PLAIN}"]
    words += ["-n", "1", "--no-clock", "--time", "1ms", "-o", str(tmp_path / "run"), *SMALL]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), mark


@pytest.mark.slow
def test_without_a_clock_a_stopped_bot_is_waited_for(tmp_path: Path) -> None:
    process, mark = developing(tmp_path)
    for _ in ("asked", "ending"):
        pid = stopped_process(str(mark))
        let_others_go_on(1)  # longer than its clock, the margin, and the time that bots have to exit
        assert process.poll() is None
        os.kill(pid, signal.SIGCONT)
    _, err = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 0 and "no time limits" in err
    assert mark.read_text() == "it ended by itself"
    game = games_of(tmp_path / "run")[0]
    assert game["ending"] == "resigned" and game["clocks"] == ["1ms", "1ms"]
    assert referee("verify", str(tmp_path / "run")).code == 0


@pytest.mark.slow
def test_without_a_clock_a_second_signal_ends_a_stopped_bot(tmp_path: Path) -> None:
    process, mark = developing(tmp_path)
    assert process.stderr
    stopped_process(str(mark))
    process.send_signal(signal.SIGINT)
    while "a second signal stops at once" not in process.stderr.readline():
        assert process.poll() is None, "the first one lets the game finish"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 3 and "stopped at once by SIGINT" in err
    assert not living(str(mark)) and not mark.exists()


def test_no_clock_stands_alone(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["match", "blooms", f"a={PLAIN}", f"b={PLAIN}", *SMALL, "--no-clock"]
    done = referee(*words, "--start", "1s")
    assert done.code == 2 and "`--start` and `--no-clock` are given, expected" in done.err
    done = referee(*words, "--workers", "2")
    assert done.code == 2 and "`--workers` is 2, expected 0 with `--no-clock`" in done.err
    assert referee(*words, "-n", "1", "-o", str(folder)).code == 0
    first = json.loads((folder / RECORDS).read_text().splitlines()[0])
    assert {bot["clock"] for bot in first["bots"].values()} == {"none"}
    assert first["start_us"] == first["margin_us"] == 1000 * 3600 * 1_000_000
