"""Control groups of version 2, one for each bot: the kernel limits and kills all its processes together.

They are used where this process may make them: as root, or in a group that was delegated to its user. Where
the controllers for memory and processes are missing a group can still be killed at once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from functools import cache

from referee.processes import libc
from referee.processes.messages import MEMORY, PROCESSES

CONTROLLERS = ("memory", "pids")

LEAF = "referee"
"""The group for all processes of a delegated group, which may only limit its parts if it has none itself."""

RELEASE_S = 1.0  # maximum number of seconds between the end of a process and its removal from its group

LISTING, MOUNTS, WHOLE_MACHINE = "/proc/self/cgroup", "/proc/self/mounts", "/proc/vmstat"


def parent_of_groups(listing: str = LISTING, mounts: str = MOUNTS) -> str | None:
    """The folder in which this process may make groups, with as many of `CONTROLLERS` as there are; None
    where it may make none.
    """
    root = next((row.split()[1] for row in _read(mounts).splitlines() if " cgroup2 " in row), None)
    own = next((row[3:] for row in _read(listing).splitlines() if row.startswith("0::")), None)
    if root is None or own is None:
        return None
    folder = root if os.geteuid() == 0 else (root + own.removesuffix(f"/{LEAF}")).rstrip("/")
    needed = (folder, f"{folder}/cgroup.procs", f"{folder}/cgroup.subtree_control")
    if not all(os.access(path, os.W_OK) for path in needed):
        return None
    if os.geteuid() != 0 and not _is_delegated(folder):
        return None  # its processes are not ours to move
    available = _read(f"{folder}/cgroup.controllers").split()
    for controller in CONTROLLERS:
        if controller in available:
            _enable(folder, controller)
    return folder


def _is_delegated(folder: str) -> bool:
    """Whether systemd has left a group to its user."""
    try:
        return os.getxattr(folder, "user.delegate") == b"1"
    except (OSError, AttributeError):
        return False


def controllers(parent: str) -> tuple[str, ...]:
    """Returns which of `CONTROLLERS` the groups in a folder have."""
    enabled = _read(f"{parent}/cgroup.subtree_control").split()
    return tuple(controller for controller in CONTROLLERS if controller in enabled)


def _enable(folder: str, controller: str) -> None:
    """Enables a controller for the groups in a folder, if possible."""
    for _ in range(2):
        try:
            _write(f"{folder}/cgroup.subtree_control", f"+{controller}")
        except OSError as error:
            if error.errno == errno.EBUSY and os.geteuid() != 0:  # it has processes itself
                with contextlib.suppress(FileExistsError):
                    os.mkdir(f"{folder}/{LEAF}")  # noqa: PTH102 - pathlib starts slowly
                for pid in _read(f"{folder}/cgroup.procs").split():
                    _attempt(f"{folder}/{LEAF}/cgroup.procs", pid)
                continue
        return


def killed_for_memory(listing: str = LISTING, mounts: str = MOUNTS, machine: str = WHOLE_MACHINE) -> int:
    """Counts the processes that the kernel has killed so far because memory ran out: in the control group of
    this process, of either version; on the whole machine where its group does not tell; 0 where nothing does.
    """
    for path in (*_counters_of_own_group(os.getpid(), listing, mounts), machine):
        if (count := _count(path, "oom_kill")) is not None:
            return count
    return 0


@cache
def _counters_of_own_group(pid: int, listing: str, mounts: str) -> list[str]:
    """The files with counters of memory in the groups that this process is in, whether they exist or not.
    `pid` is its id: it stays in its groups, but a fork of it may begin in others.
    """
    found = []
    groups = [row.split(":", 2) for row in _read(listing).splitlines()]
    for row in _read(mounts).splitlines():
        _, root, kind, options, *_ = row.split()
        for _, controllers, path in groups:
            if kind == "cgroup" and "memory" in controllers.split(",") and "memory" in options.split(","):
                found.append(f"{root}{path}/memory.oom_control")
            elif kind == "cgroup2" and not controllers:
                found.append(f"{root}{path}/memory.events")
    return found


class Group:
    """The group of one bot."""

    def __init__(self, prefix: str, memory: int | None, processes: int | None, around: int = 0) -> None:
        """`prefix`: the beginning of its path; `around`: how many more processes than the bot's there are.
        Raises `OSError`.
        """
        self.path = prefix + os.urandom(6).hex()
        self._memory = memory
        self._processes = processes
        self._around = around
        os.mkdir(self.path)  # noqa: PTH102 - pathlib starts slowly
        self.limit()

    def limit(self) -> None:
        """Sets the limits of the group, where it has the controllers."""
        if self._memory is not None:
            self._set("memory.max", self._memory)
            self._set("memory.swap.max", 0)
            self._set("memory.oom.group", 1)
        if self._processes is not None:
            self._set("pids.max", self._processes + self._around)

    def fork(self) -> int:
        """Forks this process, with the new one in the group, if possible. Returns what `os.fork` does.

        It begins there where the kernel can do so: a move to another group waits for all processors, some
        milliseconds unless there was one just before.
        """
        with contextlib.suppress(OSError), self.folder() as folder:
            return libc.fork_into(folder)
        pid = os.fork()
        if pid == 0:
            self._set("cgroup.procs", 0)
        return pid

    @contextlib.contextmanager
    def folder(self) -> Iterator[int]:
        """A descriptor of its folder, for a process that is to begin in it. Raises `OSError`."""
        folder = os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield folder
        finally:
            os.close(folder)

    def freeze(self) -> None:
        """Stops all processes of the group at once."""
        self._set("cgroup.freeze", 1)

    def kill(self) -> None:
        """Kills all processes of the group at once: none can fork ahead."""
        self._set("cgroup.kill", 1)  # guard: kill-of-the-group

    def excess(self) -> tuple[str, int, int] | None:
        """Returns the limit that the kernel enforced, if any: what the bot used, and what is allowed."""
        if self._memory is not None and self.killed_for_memory():
            return MEMORY, max(self._memory, int(_read(f"{self.path}/memory.peak") or 0)), self._memory
        if self._processes is not None and _count(f"{self.path}/pids.events", "max"):
            return PROCESSES, self._processes + 1, self._processes
        return None

    def killed_for_memory(self) -> int | None:
        """Counts the processes of the group that the kernel has killed because memory ran out; None where
        nothing counts that.
        """
        return _count(f"{self.path}/memory.events", "oom_kill")

    def remove(self) -> None:
        """Removes the group, whose processes have ended."""
        _remove(self.path)

    def _set(self, name: str, value: int) -> None:
        _attempt(f"{self.path}/{name}", str(value))


def remove_all(prefix: str) -> None:
    """Kills and removes all groups whose paths begin with a prefix."""
    parent, _, beginning = prefix.rpartition("/")
    with contextlib.suppress(OSError):
        for name in os.listdir(parent):  # noqa: PTH208 - pathlib starts slowly
            if name.startswith(beginning):
                _attempt(f"{parent}/{name}/cgroup.kill", "1")
                _remove(f"{parent}/{name}")


def _remove(path: str) -> None:
    """Removes a group, as soon as the kernel has released the last of its processes."""
    deadline = time.monotonic() + RELEASE_S
    while True:
        try:
            os.rmdir(path)  # noqa: PTH106 - pathlib starts slowly
        except OSError as error:
            if error.errno == errno.EBUSY and time.monotonic() < deadline:
                time.sleep(0.002)
                continue
        return


def _count(path: str, event: str) -> int | None:
    """Reads from a file of names and numbers how often an event has happened; None where the file does not
    say.
    """
    words = _read(path).split()
    return int(words[words.index(event) + 1]) if event in words else None


def _read(path: str) -> str:
    """The text of a system file; empty if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        found = b""
        while data := os.read(descriptor, 65_536):
            found += data
        return found.decode()
    except (OSError, UnicodeDecodeError):
        return ""
    finally:
        os.close(descriptor)


def _write(path: str, text: str) -> None:
    """Writes to a system file that exists. Raises `OSError`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _attempt(path: str, text: str) -> None:
    """Writes to a system file that may not exist or not be writable."""
    with contextlib.suppress(OSError):
        _write(path, text)
