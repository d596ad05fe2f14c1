"""What there is on this machine, and what of it is ours: counted before and after, to see what is left."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from referee.processes import owned
from referee.processes.launcher import Launcher
from referee.processes.stamped import SHARED_MEMORY
from referee.processes.tree import children as children_of
from tests.programs import path_of
from tests.waiting import TOO_LONG_S


class Process(NamedTuple):
    """A row of the system's table of processes."""

    pid: int
    parent: int
    state: str
    rss_kib: int
    command: str


class Holdings(NamedTuple):
    """What this process and its workers hold; wardens are counted by themselves, with all that is theirs."""

    wardens: int
    children: int
    """Processes below this one, zombies too."""
    zombies: int
    descriptors: int
    threads: int
    rss_kib: int


class Held(NamedTuple):
    """What this process alone holds, each thing by its name: quick to learn, and needs no other program."""

    children: set[int]
    """Zombies too, but not the launcher."""
    descriptors: int
    threads: set[int]
    scratch: set[str]
    """The names of temporary files; of those in folders that all processes share, what this one made."""

    @classmethod
    def now(cls) -> Held:
        """What is held now."""
        threads = {thread.ident or 0 for thread in threading.enumerate()}
        ours = owned.prefix()
        scratch = set(_names(tempfile.gettempdir()))
        scratch |= {name for name in _names(SHARED_MEMORY) if name.startswith(ours)}
        return cls(children() - Launcher.family(), _entries(os.getpid(), "fd"), threads, scratch)

    def beyond(self, before: Held) -> Held:
        """What is held beyond that."""
        return Held(
            self.children - before.children,
            self.descriptors - before.descriptors,
            self.threads - before.threads,
            self.scratch - before.scratch,
        )


NOTHING = Held(set(), 0, set(), set())


@contextlib.contextmanager
def nothing_left() -> Iterator[None]:
    """Fails where something that was not held before is held afterwards."""
    Launcher.get().end_idle_wardens()  # those of fixtures of the module
    before = Held.now()
    yield
    Launcher.get().end_idle_wardens()
    if Held.now().beyond(before) != NOTHING:
        Launcher.close()
        Launcher.get()
        gc.collect()  # what a test let go of without closing it
        for thread in threading.enumerate():
            if thread.ident not in before.threads:  # it may be about to end
                thread.join(TOO_LONG_S)
        assert Held.now().beyond(before) == NOTHING


def processes() -> list[Process]:
    """All that there are, but for the one that lists them."""
    if Path("/proc/self/stat").exists():
        return [process for name in _names("/proc") if name.isdecimal() and (process := _process(name))]
    columns = "pid=,ppid=,stat=,rss=,args="
    command = [path_of("ps"), "-ww", "-e", "-o", columns]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ps:
        rows = [line.split(None, 4) for line in ps.communicate()[0].splitlines()]
    found = [Process(int(r[0]), int(r[1]), r[2], int(r[3]), "".join(r[4:])) for r in rows]
    return [process for process in found if process.pid != ps.pid]


def _process(pid: str) -> Process | None:
    """What Linux tells of a process; nothing if it is gone."""
    try:
        stat = Path("/proc", pid, "stat").read_text(errors="replace")
        words = Path("/proc", pid, "cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return None
    before, _, after = stat.rpartition(")")
    columns = after.split()  # from the third on, "state"
    rss_kib = int(columns[21]) * os.sysconf("SC_PAGE_SIZE") // 1024
    command = " ".join(words).strip() or f"[{before.partition('(')[2]}]"
    return Process(int(pid), int(columns[1]), columns[0], rss_kib, command)


def below(pid: int, among: list[Process]) -> list[Process]:
    """A process's children, their children and so on."""
    own = [process for process in among if process.parent == pid]
    return own + [other for process in own for other in below(process.pid, among)]


def holdings() -> Holdings:
    """What this process and those below it hold now; descriptors and threads where `/proc` tells them."""
    gc.collect()  # what only waits for that is not held
    listed = processes()
    all_below = below(os.getpid(), listed)
    launchers = {process.pid for process in all_below if "referee.processes.warden" in process.command}
    wardens = [process for process in all_below if process.parent in launchers]
    family = [process for process in all_below if process not in wardens]
    pids = [os.getpid(), *(process.pid for process in family)]
    return Holdings(
        len(wardens),
        len(family),
        sum(process.state.startswith("Z") for process in all_below),
        sum(_entries(pid, "fd") for pid in pids) - len(wardens),  # the referee has a socket to each
        sum(_entries(pid, "task") for pid in pids),
        sum(process.rss_kib for process in listed if process.pid in pids),
    )


def marked(mark: str) -> list[Process]:
    """Processes that have a word beginning so on their command line, wherever they hang now."""
    return [process for process in processes() if f" {mark}" in process.command]


@contextlib.contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Meanwhile this process and those that it starts put their temporary files there."""
    before, tempfile.tempdir = os.environ.get("TMPDIR"), None
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = None
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def _entries(pid: int, what: str) -> int:
    return len(_names(f"/proc/{pid}/{what}"))


def _names(folder: str) -> list[str]:
    """What is in a folder, nothing if it is not there. `pathlib` takes longer, and each test asks for it."""
    try:
        return os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        return []


def living(word: str) -> list[str]:
    """The command lines that have this argument, zombies not among them."""
    return [
        process.command
        for process in processes()
        if word in process.command.split() and not process.state.startswith("Z")
    ]


def children() -> set[int]:
    """The processes that this one started and that are still there, zombies too."""
    if Path("/proc/self/task").exists():  # which is quicker
        return set(children_of(os.getpid()))
    return {process.pid for process in processes() if process.parent == os.getpid()}
