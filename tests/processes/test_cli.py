"""The commands as a user runs them: output, exit codes, errors."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.command import BAD, GREEDY, HERE, PLAIN, RANDOM, referee
from tests.holdings import living
from tests.processes.runs import resigning, until
from tests.waiting import TOO_LONG_S

SMALL = ["--option", "size=3", "--option", "target=2"]
FAST = [*SMALL, *HERE]


def test_a_match_ends_in_a_table(tmp_path: Path) -> None:
    words = ("match", "blooms", f"one={PLAIN}", f"two={PLAIN}", "-n", "6", "--seed", "3", "--notes")
    done = referee(*words, *FAST)
    assert done.code == 0
    header, rule, *rows = done.out.splitlines()[:4]
    assert header.split()[:2] == ["#", "bot"] and set(rule) <= {"-", " "}
    assert "Elo ± 95 %" in header and "w–d–l" in header and "faults" in header
    results = {row.split()[1]: re.findall(r"(\d+)–(\d+)–(\d+)", row)[0] for row in rows}
    assert results["one"] == results["two"][::-1] and sum(map(int, results["one"])) == 6
    assert "seat 1 w–d–l" in done.out
    assert "6 of 6: 3:two:one: " in done.err, "a line a game, on stderr"
    assert "nothing is stored without -o DIR" in done.err and "\nseed 3\n" in done.err


@pytest.mark.slow
def test_the_seats_alternate_and_each_game_has_its_own_seed(tmp_path: Path) -> None:
    referee("match", "blooms", f"a={PLAIN}", f"b={PLAIN}", "-n", "5", "-o", str(tmp_path / "run"), *FAST)
    lines = [json.loads(line) for line in (tmp_path / "run" / "games.jsonl").read_text().splitlines()]
    assert lines[0]["kind"] == "tournament" and lines[0]["record"] == 1 and "seed" not in lines[0]
    assert len(lines.pop()["seed"]) == 32, "revealed at the end"
    assert [line["id"] for line in lines[1:]] == ["1:a:b", "1:b:a", "2:a:b", "2:b:a", "3:a:b"]
    assert [line["bots"] for line in lines[1:3]] == [["a", "b"], ["b", "a"]]
    assert len({line["seed"] for line in lines[1:]}) == 5


@pytest.mark.slow
def test_a_match_continues_and_another_one_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["match", "blooms", PLAIN, PLAIN, "-o", str(folder), "--seed", "s"]
    assert referee(*words, *FAST, "-n", "3").code == 0
    before = (folder / "games.jsonl").read_bytes()
    done = referee(*words, "--option", "size=4")
    assert done.code == 2 and "has the results of another tournament: `options` is" in done.err
    assert (folder / "games.jsonl").read_bytes() == before
    done = referee(*words, *FAST, "-n", "6")
    assert done.code == 0 and "3 of 6 games played" in done.err
    after = (folder / "games.jsonl").read_bytes()
    assert after.startswith(before) and after.count(b'{"kind":"game"') == 6
    assert referee("verify", str(folder)).out.startswith("6 games verified")
    done = referee(*words, *FAST, "-n", "4")
    assert done.code == 2 and "`rounds` is 2, but was 3, expected at least 3" in done.err


@pytest.mark.slow
def test_a_match_can_be_played_again_from_the_tournament_file_in_its_folder(tmp_path: Path) -> None:
    words = ["match", "blooms", f"b={PLAIN}", f"a={PLAIN}", "--seed", "s", "-n", "3", "--time", "9s"]
    assert referee(*words, *FAST, "-o", str(tmp_path / "run")).code == 0
    done = referee("run", str(tmp_path / "run" / "tournament.toml"), "-o", str(tmp_path / "again"))
    assert done.code == 0, done.err
    one, other = (tmp_path / name / "games.jsonl" for name in ("run", "again"))
    moves = [
        [line.split(b',"measured"')[0] for line in file.read_bytes().splitlines()] for file in (one, other)
    ]
    assert moves[0][1:] == moves[1][1:] and len(moves[0]) == 4


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_its_own_exit_code(tmp_path: Path) -> None:
    script = (
        "import sys, os, tempfile; tempfile.gettempdir();"
        "import referee.records.journal as j; write = os.write;"
        "j.os.write = lambda f, d: write(os.open('/dev/full', os.O_WRONLY), d);"
        "from referee.cli import main; sys.argv[0] = 'referee'; main()"
    )
    words = ["match", "blooms", PLAIN, PLAIN, "-o", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert done.returncode == 4 and "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_bots_of_one_program_get_different_names() -> None:
    done = referee("match", "blooms", PLAIN, PLAIN, *FAST)
    assert "plain_bot  " in done.out and "plain_bot-2" in done.out


def test_a_fault_is_explained_and_strict_makes_it_an_error() -> None:
    bad = f"bad={BAD} 'exits'"
    done = referee("match", "blooms", bad, f"good={PLAIN}", "-n", "2", *HERE)
    assert done.code == 0
    assert "1:bad:good: good won: bad crashed" in done.err
    assert "exited with status 3" in done.err and "hint: it exited" in done.err
    assert "2 gone" in done.out
    assert referee("match", "blooms", bad, f"good={PLAIN}", "-n", "1", "--strict", *HERE).code == 8


@pytest.mark.slow
def test_stderr_of_a_bot_at_fault_is_shown_and_escaped() -> None:
    done = referee("match", "blooms", f"x={BAD} 'crashes at the start'", f"good={PLAIN}", "-n", "1", *HERE)
    assert "stderr: boom: no such opening book" in done.err
    done = referee("match", "blooms", f"x={BAD} forged", f"good={PLAIN}", "-n", "1", *HERE)
    assert "\\x1b[2J" in done.err and "control character" in done.err


def test_watch_draws_and_dialogue_quotes() -> None:
    done = referee("match", "blooms", f"a={PLAIN}", f"b={PLAIN}", "-n", "1", "--watch", *FAST)
    assert "1:a:b: blooms size=3 target=2, seat 1 a (90s+10m/10s), seat 2 b (90s+10m/10s)" in done.err
    assert "1. seat 1 a: L:" in done.err and "seat 2: 0 of 2 captured" in done.err
    done = referee("match", "blooms", f"a={PLAIN}", f"b={PLAIN}", "-n", "1", "--dialogue", *FAST)
    assert (
        " a REF: hello 1 list\n" in done.err
        and " a BOT: hello 1\n" in done.err
        and " b REF: end " in done.err
    )


def test_replay_shows_other_output_of_the_bots(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    words = [f"x={BAD} 'stderr marks'", f"g={PLAIN}", "-n", "1", "--time", "200ms", "-o", folder]
    assert referee("match", "blooms", *words, *HERE).code == 0
    assert "x stderr: first of a game\n" in referee("replay", folder).out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_result_that_cannot_be_written_is_no_traceback() -> None:
    command = [sys.executable, "-m", "referee", "games"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4
    assert done.stderr == "referee: cannot write to standard output: No space left on device\n"


def test_help_and_version() -> None:
    for words in (["--help"], ["match", "--help"], ["replay", "-h"], ["verify", "-h"], ["games", "-h"]):
        done = referee(*words)
        assert done.code == 0 and "Usage: referee" in done.out
    for word in ("--version", "-V", "version"):
        assert referee(word).out.startswith("referee, version ")
    assert referee().code == 2


UNKNOWN = {
    "match --games": "expected `-n`",
    "match --rounds": "expected `-n`",
    "match --tc": "expected `--time`",
    "match --concurrency": "expected `--workers`",
    "match --out": "expected `-o`",
    "match --isolatoin": "expected `--isolation`",
    "run --games": "expected `rounds` in the tournament file",
    "table --\x1b": "",
}


@pytest.mark.parametrize("words", UNKNOWN)
def test_an_unknown_option_is_told_with_the_one_that_is_meant(words: str) -> None:
    command, option = words.split()
    done = referee(command, option, "2")
    known = f", {UNKNOWN[words]}" if UNKNOWN[words] else ""
    quoted = option.replace("\x1b", r"\x1b")
    assert (done.code, done.err) == (
        2,
        f"referee: there is no option `{quoted}`{known} (see `referee {command} --help`)\n",
    )


@pytest.mark.slow
def test_the_reader_of_the_output_may_close_it() -> None:
    """`| head`: no complaint, and a match goes on though nobody reads what it reports."""
    words = [sys.executable, "-m", "referee", "match", "blooms", PLAIN, PLAIN, "-n", "4", *SMALL]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr and process.stdout
    process.stderr.close()
    table = process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0 and b"plain_bot-2" in table
    process = subprocess.Popen([*words[:3], "games"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr and process.stdout
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait() == 0


# --- Signals ---------------------------------------------------------------------------------------------


def stopped(tmp_path: Path, bots: list[str], signals: list[signal.Signals]) -> tuple[int, str, str]:
    """A match that gets signals during its first move; the file `taken` is made when the first was taken."""
    words = [sys.executable, "-m", "referee", "match", "blooms", *bots, "-n", "1000", "--time", "6000s"]
    words += ["-o", str(tmp_path / "run"), "--dialogue"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr and process.stdout
    err = ""
    while " REF: ask 1" not in err:
        err += process.stderr.readline()
    first, *others = signals
    process.send_signal(first)
    while "a second signal stops at once" not in err:
        line = process.stderr.readline()
        assert line, err
        err += line
    (tmp_path / "taken").touch()
    for number in others:
        process.send_signal(number)
    out, rest = process.communicate(timeout=TOO_LONG_S)
    assert "Traceback" not in rest
    return process.returncode, out, err + rest


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(n, marks=pytest.mark.slow) for n in (signal.SIGTERM, signal.SIGHUP))],
)
def test_the_first_signal_lets_the_game_finish(tmp_path: Path, number: signal.Signals) -> None:
    bots = [f"slow={resigning(until(tmp_path / 'taken'))}", f"fast={resigning()}"]
    code, out, err = stopped(tmp_path, bots, [number])
    assert code == 3 and f"stopped by {number.name} after 1 of 1,000 games" in err
    assert out.startswith("fast won in seat 2 against slow: "), "the game that was on counts"
    assert "\n1 of 1,000 games, head hash" in err
    assert "1 of 1,000 games; no referee is running" in referee("status", str(tmp_path / "run")).out
    assert referee("verify", str(tmp_path / "run")).code == 0


@pytest.mark.slow
def test_the_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    bots = [f"{name}={BAD} sleep 6000 {tmp_path}" for name in "ab"]
    code, _, err = stopped(tmp_path, bots, [signal.SIGINT] * 2)
    assert code == 3 and "stopped at once by SIGINT" in err
    assert not living(str(tmp_path))


# --- In a terminal -----------------------------------------------------------------------------------------


@pytest.fixture
def one_game(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    words = ["match", "blooms", f"a={GREEDY}", f"b={RANDOM}", "-n", "1", "--seed", "2", "-o", str(folder)]
    assert referee(*words, *FAST).code == 0
    return folder


def test_replay_json_is_one_document_and_needs_one_game(one_game: Path) -> None:
    done = referee("replay", str(one_game), "1", "--json")
    data = json.loads(done.out)
    assert done.code == 0 and data["id"] == "1:a:b" and len(data["steps"]) > 3
    assert referee("replay", str(one_game), "--json").out == done.out
    seat = json.loads(referee("replay", str(one_game), "1", "--json", "--seat", "2").out)
    assert seat["view"] == 2
    lines = (one_game / "games.jsonl").read_text().splitlines()
    (one_game / "games.jsonl").write_text("\n".join([*lines, lines[-1].replace("1:a:b", "2:a:b")]) + "\n")
    several = referee("replay", str(one_game), "--json")
    assert several.code == 2 and "2 games, expected the ID of one" in several.err and not several.out
    seat = referee("replay", str(one_game), "--seat", "99", "--step", "3")
    assert (
        seat.code == 2
        and "expected the ID of one of them with --seat and --step" in seat.err
        and not seat.out
    )


def terminal(*words: str) -> pexpect.spawn[str]:
    env = {**os.environ, "TERM": "xterm-256color"}
    return pexpect.spawn(
        sys.executable,
        ["-m", "referee", *words],
        env=env,
        encoding="utf-8",
        timeout=TOO_LONG_S,
        dimensions=(40, 120),
    )


@pytest.mark.slow
def test_replay_all_prints_without_asking(one_game: Path) -> None:
    screen = terminal("replay", "--all", str(one_game))
    screen.expect(" won: ")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 0


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_does_not_reach_the_bots(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    bots = (f"a={resigning(until(taken))}", f"b={resigning()}")
    screen = terminal("match", "blooms", *bots, "-n", "1000", "--dialogue", "--time", "6000s")
    screen.expect("a REF: ask 1")
    screen.sendintr()
    screen.expect("a second signal stops at once")
    taken.touch()
    screen.expect("stopped by SIGINT after 1 of 1,000 games, which are not stored")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 3


def test_a_name_that_is_too_long_is_one_line() -> None:
    for words in (["verify", "x" * 300], ["replay", "x" * 300], ["run", "x" * 300], ["table", "x" * 300]):
        done = referee(*words)
        assert done.code == 2 and "File name too long" in done.err
    done = referee("match", "blooms", "a=./" + "x" * 300, "true")
    assert done.code == 2 and "File name too long" in done.err


@pytest.mark.parametrize("command", ["table", "find", "verify", "replay", "run"])
def test_what_is_no_file_of_ours_is_told_in_one_line_and_not_waited_for(command: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    for name, target in (("with-fifo", "../fifo"), ("with-device", "/dev/zero"), ("with-folder", "..")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "games.jsonl").symlink_to(target)
    for path in ("fifo", "loop", "with-fifo", "with-device", "with-folder", "/dev/zero", "a" * 300):
        done = referee(command, str(tmp_path / path))
        assert done.code == 2 and re.match("referee: (cannot read `|`.*` is not a run, )", done.err), (
            path,
            done.err,
        )
        assert done.err.count("\n") == 1 and not done.out


def test_a_line_that_is_too_long_is_damage_and_not_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is torn is removed when the run is continued, with all that comes after."""
    monkeypatch.setattr("referee.records.journal.LINE_CAP", 1000)
    (tmp_path / "games.jsonl").write_text("x" * 2000 + "\n")
    for command in ("table", "find", "verify"):
        done = referee(command, str(tmp_path))
        assert done.code == 6 and "line 1" in done.err and "it has more than 1000 bytes" in done.err


def test_a_word_of_a_command_may_be_longer_than_any_file_name() -> None:
    script = "pass; " * 100
    done = referee("match", "blooms", f'{{python}} -c "{script}"', PLAIN, *FAST)
    assert done.code == 0 and "did not start" in done.err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_a_command_computes_in_one_thread() -> None:
    """Other threads would wait for work on the cores on which bots play."""
    script = """if True:
        import contextlib, os, sys
        from referee.__main__ import main
        sys.argv = ["referee", "--version"]
        with contextlib.suppress(SystemExit):
            main()
        import numpy
        numpy.linalg.solve(numpy.eye(600), numpy.eye(600))
        print(len(os.listdir("/proc/self/task")))
    """
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "1"
