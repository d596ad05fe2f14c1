"""Bots that stop, hang or kill the processes of the referee: no run hangs, no void game is bought, nothing is
left behind.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.processes.tree import children
from tests.command import PARENT, PLAIN, ROOT, at_start, referee, referee_process
from tests.holdings import living
from tests.processes import runs
from tests.processes.runs import games
from tests.programs import needs
from tests.waiting import TOO_LONG_S, eventually

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what a worker needs"),
    needs("setsid"),
]


@pytest.fixture(autouse=True)
def without_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any isolation would keep bots from signalling what is above them."""
    monkeypatch.setenv("REFEREE_ISOLATION", "none")


PARENTS = f"{PARENT}warden=$PPID; launcher=$(parent $warden); worker=$(parent $launcher); "
"""Shell words for the processes above a bot."""

PLAYS = "echo hello 1; while read word n rest; do case $word in prepare) echo ready;; ask) {};; esac; done"

MARK = f"62000.{os.getpid():07}"
"""The beginning of an argument of `sleep` that tells our helpers from those of other tests. It is longer than
any test waits: what has ended was ended by something else.
"""


def sh(when_asked: str, first: str = ":") -> str:
    """The command of a bot in the shell."""
    return f"""sh -c '{PARENTS}{first}; {PLAYS.format(when_asked)}'"""


def toml(path: Path, bots: dict[str, str], **main: Any) -> Path:
    return runs.toml(path, bots, **{"workers": 1, **main})


def worker_of(run: subprocess.Popen[str]) -> int:
    """The first worker of a run, when it is there."""

    def is_worker(pid: int) -> bool:
        return b"tournament.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()

    return eventually(lambda: next(filter(is_worker, children(run.pid)), 0))


def begun(file: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "referee", "run", str(file), *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def wait_until_living(word: str) -> None:
    eventually(lambda: living(word))


def wait_until_gone(word: str) -> None:
    eventually(lambda: not living(word))


# --- No run hangs --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_that_is_stopped_is_continued_and_costs_nobody_anything(tmp_path: Path) -> None:
    bots = {"stopper": sh("kill -STOP $worker; echo resign $n"), "plain": PLAIN}
    done = referee("run", str(toml(tmp_path / "t.toml", bots, rounds=1)))
    assert done.code == 0 and "forfeit" not in done.err and "void" not in done.err
    for game in games(tmp_path / "t-results").values():
        assert (game["ending"], game["attempt"]) == ("resigned", 1)


@pytest.mark.slow
def test_a_worker_that_is_stopped_again_and_again_is_ended(tmp_path: Path) -> None:
    bots = {"stopper": sh("while kill -STOP $worker; do sleep 0.1; done"), "a": PLAIN, "b": PLAIN}
    done = referee("run", str(toml(tmp_path / "t.toml", bots, rounds=1)))
    assert done.code == 0 and "a worker process was stopped 21 times, and was ended" in done.err
    assert "bot `stopper` forfeits its remaining games" in done.err
    assert len(games(tmp_path / "t-results")) == 6


HANGS = """
import sys
if "tournament.worker" in str(sys.orig_argv):
    import pathlib, time
    import referee.tournament.workers.encounter as e
    play = e._play
    def hangs(terms, *rest):
        hung = pathlib.Path(__file__).with_name("hung")
        if terms.id == "1:a:b" and not hung.exists():
            hung.touch()
            time.sleep(1000)
        return play(terms, *rest)
    e._play = hangs
elif "run" in sys.orig_argv:
    import referee.tournament.workers.local_backend as w
    w.SILENT_S = 5
"""
"""Has a worker hang once. None of the others takes so long to start, also on a busy machine."""


@pytest.mark.slow
def test_a_worker_that_is_blocked_is_ended(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN, "b": PLAIN}, rounds=1, clock="none")
    done = referee_process("run", str(file), env=at_start(HANGS, tmp_path))
    assert done.err.count("a worker process gave no sign of life for 5 s, and was ended") == 1
    assert {"1:a:b", "1:b:a"} == set(games(tmp_path / "t-results"))


@pytest.mark.slow
def test_a_worker_that_only_waits_for_bots_is_not_silent(tmp_path: Path) -> None:
    """The bots may think as long as they want."""
    bots = {"a": sh("sleep 7; echo resign $n"), "b": PLAIN}
    file = toml(tmp_path / "t.toml", bots, rounds=1, clock="none")
    done = referee_process("run", str(file), env=at_start(HANGS.replace('"1:a:b"', '""'), tmp_path))
    assert done.code == 0 and "sign of life" not in done.err and len(games(tmp_path / "t-results")) == 2


@pytest.mark.slow
def test_a_second_signal_ends_the_run_though_a_worker_hangs(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN, "b": PLAIN}, rounds=1)
    command = [sys.executable, "-m", "referee", "run", str(file)]
    env = {**os.environ, **at_start(HANGS, tmp_path)}
    run = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert run.stderr
    worker = worker_of(run)
    os.kill(worker, signal.SIGSTOP)
    stop_at_once(run)
    _, err = run.communicate(timeout=TOO_LONG_S)
    assert run.returncode == 3, err
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.slow
def test_a_stopped_worker_ends_with_its_referee(tmp_path: Path) -> None:
    word = f"{MARK}1"
    run = begun(toml(tmp_path / "t.toml", {"a": sh(f"sleep {word}"), "b": PLAIN}, rounds=1, clock="6000s"))
    wait_until_living(word)
    worker = worker_of(run)
    run.send_signal(signal.SIGSTOP)  # so that it does not continue the worker
    os.kill(worker, signal.SIGSTOP)
    run.kill()
    run.communicate()
    wait_until_gone(word)
    wait_until_ended(worker)


# --- What is left behind -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_launcher_that_a_bot_stopped_ends_with_its_referee(tmp_path: Path) -> None:
    """It would stay for ever, and hold the referee's stderr."""
    word = f"{MARK}2"
    bots = {"a": sh(f"kill -STOP $launcher; sleep {word}"), "b": PLAIN}
    run = begun(toml(tmp_path / "t.toml", bots, rounds=1, clock="6000s"))
    wait_until_living(word)
    (launcher,) = children(worker_of(run))
    run.kill()
    try:
        run.communicate(timeout=TOO_LONG_S)
        wait_until_ended(launcher)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(launcher, signal.SIGKILL)
    wait_until_gone(word)


@pytest.mark.slow
def test_what_a_bot_leaves_that_killed_all_above_it_is_ended(tmp_path: Path) -> None:
    """Launcher and warden, one after the other: the worker adopts what remains, though the game goes on.
    The other bot answers only when nothing is left.
    """
    word, seen, over = f"{MARK}3", tmp_path / "seen", tmp_path / "over"
    kills = f"{runs.until(seen)}; kill -9 $launcher; sleep 0.2; kill -9 $warden; exec sleep {word}"
    script = tmp_path / "killer.sh"
    # It is known by its word from the start: what it becomes in the end may be ended before anybody looks.
    script.write_text(f'{PARENTS} (setsid sh -c "{kills}" {word} &); {PLAYS.format("echo resign $n")}')
    bots = {"a": f"sh {script}", "b": sh(f"{runs.until(over)}; echo resign $n")}
    file = toml(tmp_path / "t.toml", bots, rounds=1, clock="6000s")
    run = begun(file)
    wait_until_living(word)
    seen.touch()
    wait_until_gone(word)
    assert run.poll() is None, "the game goes on"
    over.touch()
    run.communicate(timeout=TOO_LONG_S)
    assert run.returncode == 0 and len(games(tmp_path / "t-results")) == 2


@pytest.mark.slow
def test_a_run_has_nothing_in_shared_memory_that_could_be_left_there(tmp_path: Path) -> None:
    """Where all of it is killed, nobody could clean up."""
    word = f"{MARK}4"
    run = begun(toml(tmp_path / "t.toml", {"a": sh(f"sleep {word}"), "b": PLAIN}, rounds=1, clock="6000s"))
    wait_until_living(word)
    family = [run.pid, *children(run.pid)]
    maps = "".join(Path(f"/proc/{pid}/maps").read_text() for pid in family)
    for pid in family:
        os.kill(pid, signal.SIGKILL)
    run.communicate()
    assert "python" in maps and "/dev/shm/" not in maps
    assert len(family) == 2, "the run and its worker"
    wait_until_gone(word)


@pytest.mark.slow
def test_no_more_workers_are_started_than_there_are_encounters(tmp_path: Path) -> None:
    word = f"{MARK}5"
    bots = dict.fromkeys("abc", sh(f"sleep {word}"))
    run = begun(toml(tmp_path / "t.toml", bots, rounds=1, clock="6000s"), "--workers", "60")
    eventually(lambda: len(living(word)) >= 3)
    started = len(children(run.pid))
    stop_at_once(run)
    run.communicate(timeout=TOO_LONG_S)
    assert started == 3
    wait_until_gone(word)


def wait_until_ended(pid: int) -> None:
    eventually(lambda: not Path(f"/proc/{pid}").exists())


def stop_at_once(run: subprocess.Popen[str]) -> None:
    """Sends a signal, and another one when the run has said that it has taken the first."""
    assert run.stderr
    run.send_signal(signal.SIGINT)
    while "a second signal stops at once" not in (line := run.stderr.readline()):
        assert line, "it ends without having taken a signal"
    run.send_signal(signal.SIGINT)


# --- What an ordinary user's bots can read -------------------------------------------------------------

SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture
def ordinary() -> Iterator[tuple[Path, list[str], dict[str, str]]]:
    """A folder of an ordinary user, the command that runs the referee as that user, and its environment."""
    if os.geteuid() != 0 or not Path(SYSTEM_PYTHON).exists():
        pytest.skip("only root can be another user, who needs a Python")
    user = pwd.getpwnam("nobody").pw_uid
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chown(folder, user, user)
        packages = [str(ROOT), sysconfig.get_paths()["purelib"]]
        env = {"PATH": "/usr/bin:/bin", "HOME": name, "TMPDIR": name, "PYTHONPATH": ":".join(packages)}
        env["REFEREE_ISOLATION"] = "none"
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", SYSTEM_PYTHON, "-B"]
        tried = subprocess.run([*command, "-c", "import referee.cli"], env=env, capture_output=True)
        if tried.returncode:
            pytest.skip("an ordinary user cannot read these files")
        yield folder, [*command, "-m", "referee"], env


READS = (
    "parent=$(up $worker); for pid in $warden $launcher $worker $parent; do "
    "for file in environ fd/0 maps mem; do "
    "dd if=/proc/$pid/$file bs=1 count=1 >/dev/null 2>&1 && echo $pid $file; done; "
    "ls /proc/$pid/fd >/dev/null 2>&1 && echo $pid fd; done >{0}/read; "
    "cat /proc/self/oom_score_adj >{0}/score; cat /proc/$$/maps >/dev/null && echo yes >{0}/own"
)


@pytest.mark.slow
@pytest.mark.parametrize("traceable", ["", pytest.param("1", marks=pytest.mark.slow)])
def test_the_referee_s_processes_are_closed_to_the_bots_of_an_ordinary_user(
    ordinary: tuple[Path, list[str], dict[str, str]], traceable: str
) -> None:
    folder, command, env = ordinary
    file = toml(folder / "t.toml", {"a": "sh reads.sh", "b": "sh reads.sh"}, rounds=1)
    (folder / "reads.sh").write_text(PARENTS + READS.format(folder) + "; " + PLAYS.format("echo resign $n"))
    env = {**env, "REFEREE_TRACEABLE": "1"} if traceable else env
    done = subprocess.run(
        [*command, "run", str(file)], env=env, capture_output=True, text=True, timeout=TOO_LONG_S
    )
    assert done.returncode == 0, done.stderr
    read = {line.split()[1] for line in (folder / "read").read_text().splitlines()}
    assert read == ({"environ", "fd/0", "maps", "fd"} if traceable else set())
    assert (folder / "own").exists(), "bots are processes like any others"
    assert (folder / "score").read_text().strip() == "1000"


@pytest.mark.slow
def test_time_and_processes_of_an_ordinary_user_s_bots_are_still_seen(
    ordinary: tuple[Path, list[str], dict[str, str]],
) -> None:
    """What the referee reads in `/proc` is still open to it: processor times, and processes left behind."""
    folder, command, env = ordinary
    file = toml(folder / "t.toml", {"a": "sh a.sh", "b": "sh a.sh"}, rounds=1, clock="cpu:10s")
    works = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; (setsid sleep 60 &); echo resign $n"
    (folder / "a.sh").write_text(PLAYS.format(works))
    done = subprocess.run(
        [*command, "run", str(file)], env=env, capture_output=True, text=True, timeout=TOO_LONG_S
    )
    assert done.returncode == 0, done.stderr
    assert "left processes running, which were ended: sleep (pid" in done.stderr
    records = (folder / "t-results" / "games.jsonl").read_text()
    assert '"cpu_us":' in records
