"""Records verified in several processes: the same is said, in the same order, as in one."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

from referee.cli import output
from referee.core.errors import EnvironmentLacksError
from referee.processes import parallel, tree
from referee.records import journal
from referee.records.record import json_of
from referee.tournament.run.verifying import examined_lines
from tests.command import ROOT, referee
from tests.tools.synthetic import write
from tests.waiting import TOO_LONG_S, eventually


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records of a run of some 400 KB, which is several chunks."""
    folder = tmp_path_factory.mktemp("large")
    assert write(folder, 8, 168) == 168
    return folder / "pool-results" / "games.jsonl"


def verified(file: Path, workers: int) -> tuple[int, str, str]:
    done = referee("verify", str(file), "--workers", str(workers))
    return done.code, done.out, done.err


@pytest.mark.slow
def test_all_games_are_verified_whatever_the_number_of_workers(large: Path) -> None:
    one = verified(large, 1)
    assert one[0] == 0 and one[1].startswith("168 games verified, head hash ")
    assert verified(large, 0) == verified(large, 2) == verified(large, 3) == one
    assert not multiprocessing.active_children()


def spoiled(large: Path, target: Path) -> Path:
    """The same records with damage of every kind here and there, some of it with right hashes."""
    bodies: list[Any] = []
    for line in large.read_bytes().splitlines():
        value = json.loads(line)
        bodies.append({name: what for name, what in value.items() if name not in ("prev", "hash")})
    bodies[20]["ranks"].reverse()
    bodies[40]["events"][0]["move"] = "nonsense"
    bodies[60] = bodies[59]
    bodies[80]["kind"] = "gamf"
    bodies[100]["seed"] = "00" * 32
    bodies[120]["rejections"] = 9
    prev, data = journal.FIRST, []
    for body in bodies:
        line, prev = journal.chained(json_of(body), prev)
        data.append(line)
    data[140] = data[140].replace(b'"used_us":', b'"used_us": ', 1)
    data[141] = b"no record\n"
    del data[150]
    target.write_bytes(b"".join(data)[:-9])
    return target


@pytest.mark.slow
def test_the_same_damage_is_told_in_the_same_order(large: Path, tmp_path: Path) -> None:
    file = spoiled(large, tmp_path / "spoiled.jsonl")
    one = verified(file, 1)
    assert one[0] == 6
    told = [line for line in one[2].splitlines() if line.startswith("line ")]
    numbers = [int(line.split()[1].rstrip(":")) for line in told]
    assert numbers == [21, 41, 61, 81, 101, 121, 141, 142, 143, 151, 168]
    for words in (
        "ranks is",
        "rejected when the game is played again",
        "duplicate game",
        "`kind` is `gamf`",
        "seeds do",
    ):
        assert words in one[2]
    assert verified(file, 2) == verified(file, 3) == one


@pytest.mark.slow
def test_a_few_lines_need_no_other_process(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_Processes", None)
    monkeypatch.setattr("referee.tournament.run.verifying.CHUNK_BYTES", 1 << 30)
    assert verified(large, 2)[0] == 0


def test_a_process_that_is_killed_is_told() -> None:
    """None of them ends its work before."""

    def wait_with_later_items(number: int) -> None:
        if number > 1:
            signal.pause()

    results = parallel.in_order(wait_with_later_items, range(4), 2)
    next(results)
    for process in multiprocessing.active_children():
        assert process.pid
        os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(EnvironmentLacksError, match="with 1 as `workers`"):
        list(results)
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_processes_ignore_the_interruption_of_their_group_and_end_with_their_work(large: Path) -> None:
    lines = examined_lines(journal.read(large), 2)
    next(lines)
    for process in multiprocessing.active_children():
        assert process.pid
        os.kill(process.pid, signal.SIGINT)
    assert len(list(lines)) == 168
    lines = examined_lines(journal.read(large), 2)
    next(lines)
    assert len(multiprocessing.active_children()) == 2
    lines.close()
    assert not multiprocessing.active_children()


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records of a run that takes so long to verify that something can happen meanwhile."""
    folder = tmp_path_factory.mktemp("larger")
    write(folder, 8, 5600)
    return folder / "pool-results" / "games.jsonl"


@contextmanager
def verifying(file: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A command that is stopped while two processes verify records for it, and these processes."""
    command = [sys.executable, "-m", "referee", "verify", str(file), "--workers", "2"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        eventually(lambda: len(tree.children(process.pid)) == 2)
        os.kill(process.pid, signal.SIGSTOP)
        yield process, list(tree.children(process.pid))


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or only its parent has not asked for its end yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_with_one_line(larger: Path) -> None:
    with verifying(larger) as (process, workers):
        os.killpg(process.pid, signal.SIGINT)
        os.killpg(process.pid, signal.SIGCONT)
        out, err = process.communicate(timeout=TOO_LONG_S)
        assert (process.returncode, out, err) == (3, "", "referee: stopped by SIGINT\n")
        assert all(map(has_ended, workers))


@pytest.mark.slow
def test_processes_end_with_a_command_that_is_killed(larger: Path) -> None:
    with verifying(larger) as (process, workers):
        process.kill()
        eventually(lambda: all(map(has_ended, workers)))


@pytest.mark.slow
def test_a_command_says_in_one_line_that_one_of_its_processes_was_killed(larger: Path) -> None:
    with verifying(larger) as (process, workers):
        os.kill(workers[1], signal.SIGKILL)
        os.kill(process.pid, signal.SIGCONT)
        out, err = process.communicate(timeout=TOO_LONG_S)
        assert (process.returncode, out) == (5, "")
        assert err.startswith("referee: a worker process was killed") and err.count("\n") == 1
        assert all(map(has_ended, workers))


COMMANDS = {
    "verify": (["verify", "run"], "verifying", "168 games verified"),
    "report": (["report", "run", "--no-replays", "-o", "report.html"], "reading the games", "168 games, "),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS])
def test_a_terminal_shows_how_far_a_command_is_until_it_has_ended(
    name: str, large: Path, tmp_path: Path
) -> None:
    words, stage, last = COMMANDS[name]
    (tmp_path / "run").symlink_to(large.parent)
    at_once = "from referee.cli import output, main; output.WAIT_S = output.DRAWN_S = 0; main()"
    env = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    terminal: pexpect.spawn[str] = pexpect.spawn(
        sys.executable, ["-c", at_once, *words], cwd=tmp_path, env=env, encoding="utf-8", timeout=TOO_LONG_S
    )
    terminal.expect(stage)
    terminal.expect("100%")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.before and terminal.exitstatus == 0
    shown = terminal.before.splitlines()[-1]
    assert last in shown and "%" not in shown


@pytest.mark.slow
def test_a_pipe_is_not_told_how_far_a_command_is(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "WAIT_S", 0.0)
    monkeypatch.setattr(output, "DRAWN_S", 0.0)
    code, out, err = verified(large, 2)
    assert (code, out.count("\n"), err) == (0, 1, "")
