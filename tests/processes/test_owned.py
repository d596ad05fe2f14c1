"""What killed referees have left is removed by a later one, and nothing else is."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.processes import cgroups, launcher, owned
from referee.processes.launcher import Launcher
from referee.processes.owned import Owner
from referee.processes.stamped import SHARED_MEMORY
from referee.processes.tree import children
from tests.command import HERE, PLAIN, referee
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

SPACE = owned.own(os.getpid()).space


@pytest.fixture
def gone() -> Owner:
    """A process that was there, and is not any more."""
    with subprocess.Popen(["sleep", "600"]) as process:
        found = owned.own(process.pid)
        assert not found.is_gone
        process.kill()
    return found


def named(owner: Owner, rest: str = "x") -> str:
    return f"referee-{owner.space}.{owner.pid}.{owner.began_ticks}-{rest}"


# --- Whose it is --------------------------------------------------------------------------------------------


def test_a_name_says_who_made_it() -> None:
    for purpose in ("", "match"):
        assert owned.owner(f"{owned.prefix(purpose)}x") == owned.own(os.getpid())
    assert not owned.own(os.getpid()).is_gone


def test_a_later_process_with_the_same_id_is_another_one(gone: Owner) -> None:
    here = owned.own(os.getpid())
    assert gone.is_gone and here._replace(began_ticks=here.began_ticks + 1).is_gone
    assert not here._replace(began_ticks=0).is_gone, "where it is not known when it began"


def test_process_ids_of_other_machines_and_containers_say_nothing(gone: Owner) -> None:
    assert not gone._replace(space="000000").is_gone


@pytest.mark.parametrize("pid", ["0", "-1", "01", "1" * 10, "x", ""])
def test_what_is_no_process_id_has_no_owner(pid: str) -> None:
    assert owned.owner(f"referee-{SPACE}.{pid}.1-x") is None


# --- What is removed ----------------------------------------------------------------------------------------


def test_only_fifos_and_folders_of_processes_that_are_gone_are_removed(tmp_path: Path, gone: Owner) -> None:
    precious = tmp_path / "precious"
    shared = tmp_path / "shared"
    living = owned.own(os.getpid())
    for folder in (precious, shared / named(gone) / "deep", shared / named(living)):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    os.mkfifo(shared / named(gone, "fifo"))
    (shared / named(gone, "deep-link")).mkdir()
    (shared / named(gone, "deep-link") / "link").symlink_to(precious)
    kept = {
        named(living),
        named(gone._replace(space="000000")),
        f"referee-{os.geteuid()}",
        "referee-tests",
        named(gone, "file"),
        named(gone, "link"),
        named(gone, ""),
    }
    for name in kept - {named(living), named(gone, "file"), named(gone, "link")}:
        (shared / name).mkdir()
    (shared / named(gone, "file")).touch()
    (shared / named(gone, "link")).symlink_to(precious)
    owned.remove_left(str(tmp_path / "missing"), str(shared))
    assert {path.name for path in shared.iterdir()} == kept
    assert (precious / "file").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_what_another_user_made_is_left_to_them(tmp_path: Path, gone: Owner) -> None:
    folder, fifo = tmp_path / named(gone, "folder"), tmp_path / named(gone, "fifo")
    folder.mkdir()
    os.mkfifo(fifo)
    for path in (folder, fifo):
        os.chown(path, 65_534, 65_534)
    owned.remove_left(str(tmp_path))
    assert folder.exists() and fifo.exists()


# --- With referees that are really killed -------------------------------------------------------------------


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A match in which a bot thinks for ever, once it has written into its scratch folder."""
    thinking = f'echo $TMPDIR >{tmp_path}/scratch; echo x >"$TMPDIR/x"; while :; do sleep 1; done'
    command = [sys.executable, "-m", "referee", "match", "blooms", f"a=sh -c '{thinking}'", f"b={PLAIN}"]
    command += ["--isolation", "none", "--start", "1h", "--workers", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield process
        process.kill()


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kills a referee with all that is below it. Each is stopped before its children are listed, so that the
    list is complete, and before any is killed, so that none sees the others go: children first, since a
    launcher's end wakes its wardens.
    """
    stopped = [process.pid]
    for pid in stopped:
        with contextlib.suppress(ProcessLookupError):  # a program of the bot's may have ended
            os.kill(pid, signal.SIGSTOP)
        stopped += children(pid)
    for pid in reversed(stopped):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def of(process: Owner | None, folder: str) -> list[str]:
    """What lies in a folder that belongs to a process."""
    return [path.name for path in Path(folder).iterdir() if owned.owner(path.name) == process]


def play_as_another_process() -> None:
    """Plays a game in this process, with all that a process does before its first one."""
    Launcher.close()
    launcher._remove_left_by_others.cache_clear()
    words = ("-n", "1", "--option", "size=3", "--isolation", "none", *HERE)
    assert referee("match", "blooms", PLAIN, PLAIN, *words).code == 0


@pytest.mark.slow
def test_the_next_referee_removes_what_a_killed_one_has_left(
    running: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    eventually(lambda: (tmp_path / "scratch").exists() and (tmp_path / "scratch").read_text())
    scratch = Path((tmp_path / "scratch").read_text().strip())
    eventually((scratch / "x").exists)
    play_as_another_process()
    assert (scratch / "x").exists(), "of one that lives nothing is removed"
    kill_all(running)
    killed, folder, groups = owned.owner(scratch.name), tempfile.gettempdir(), cgroups.parent_of_groups()
    left = of(killed, folder)
    assert scratch.name in left and any("-match-" in name for name in left)
    play_as_another_process()
    assert not of(killed, folder) and not (groups and of(killed, groups))


KILLED_BETWEEN = """
import os, signal, tempfile
from referee.processes import stamped
tempfile.gettempdir()  # which opens files too
stamped.os.open = lambda *_: signal.pause()
stamped.make()
"""
"""Is killed when it has made a FIFO that it has not opened yet."""


def test_a_fifo_that_a_killed_referee_has_left_is_removed() -> None:
    def fifos() -> list[Path]:
        found = Path(SHARED_MEMORY).iterdir()
        return [path for path in found if (by := owned.owner(path.name)) and by.pid == process.pid]

    with subprocess.Popen([sys.executable, "-c", KILLED_BETWEEN]) as process:
        try:
            eventually(fifos)
            owned.remove_left(SHARED_MEMORY)
            assert len(fifos()) == 1, "of one that lives nothing is removed"
        finally:
            process.kill()
    owned.remove_left(SHARED_MEMORY)
    assert not fifos()
