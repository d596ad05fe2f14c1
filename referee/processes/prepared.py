"""Prepares bots' files in namespaces, once for all starts of a bot by a warden.

They are mounted in namespaces that only descriptors of the warden keep: no process is left there, and a bot
is started there by entering them before its program is executed. No bot can change what is prepared, so that
none finds a trace of an earlier start.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections import namedtuple
from io import FileIO

from referee.processes import libc
from referee.processes.confinement import become, protect_devices
from referee.processes.messages import Request

MOST = 64  # maximum number of bots whose files are kept prepared. Those of others are mounted at each start.

MOUNTS = "/proc/self/mountinfo"  # the list of all mounts: a file that can be polled for changes

READY_MS = 10_000  # milliseconds that the preparation may take


class Mounts(namedtuple("Mounts", "words namespaces")):
    """How a bot gets its files: by words of its command, in namespaces that it enters."""

    def command(self, request: Request) -> tuple[str, ...]:
        """The bot's command with these words."""
        before = request.root[0] if request.root else 0
        return (*request.argv[:before], *self.words, *request.argv[before:])


class PreparedMounts:
    """What one warden has prepared."""

    def __init__(self) -> None:
        self._known: dict[object, tuple[object, tuple[int, ...]]] = {}
        """The files that were bound, and the namespaces: by the command that prepares them, and the user."""
        self._mounts: FileIO | None = None

    def of(self, request: Request) -> Mounts:
        """The mounts of a bot, prepared if that is possible."""
        _, sources, words, preparing, prepared = request.root or (0, (), (), (), ())
        alone = Mounts(words, ())
        if not sources:
            return alone
        if self._machine_has_others():
            self._forget(*self._known)
        key = preparing, request.confinement[0]
        files = [_identity(path) for path in sources]
        if key in self._known and self._known[key][0] != files:
            self._forget(key)
        if key not in self._known:
            if len(self._known) == MOST:
                return alone
            self._known[key] = files, _prepare(*key)
        namespaces = self._known[key][1]
        return Mounts(prepared, namespaces) if namespaces else alone

    def _machine_has_others(self) -> bool:
        """Whether the machine's mounts have changed since the last call: a bot might lack those that are new,
        or be able to write to them.
        """
        self._mounts = self._mounts or FileIO(MOUNTS)
        poll = select.poll()
        poll.register(self._mounts, select.POLLPRI)
        return bool(poll.poll(0))  # guard: changed-mounts

    def _forget(self, *keys: object) -> None:
        for key in keys:
            for namespace in self._known.pop(key)[1]:
                os.close(namespace)


def _identity(path: str) -> tuple[int, int] | None:
    """Tells a file from one that takes its place: what is bound stays bound, and its number is not reused."""
    with contextlib.suppress(OSError):
        found = os.stat(path)  # noqa: PTH116 - pathlib starts slowly
        return found.st_dev, found.st_ino
    return None


def _prepare(command: tuple[str, ...], user: tuple[int, int, tuple[int, ...]] | None) -> tuple[int, ...]:
    """Executes a command that prepares mounts, as a user. Returns the descriptors of its namespaces; none
    where it fails.
    """
    reader, stdout = os.pipe()
    stdin, keeper = os.pipe()
    pid = os.fork()
    if pid == 0:
        _execute(command, user, stdin, stdout)
    os.close(stdin)
    os.close(stdout)
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    try:
        if poll.poll(READY_MS):
            return _namespaces(int(os.read(reader, 20)))
        os.kill(pid, signal.SIGKILL)
        return ()
    except (OSError, ValueError):
        return ()
    finally:
        os.close(reader)
        os.close(keeper)
        with contextlib.suppress(ChildProcessError):
            while True:  # there is no bot yet
                os.waitpid(-1, 0)


def _execute(
    command: tuple[str, ...], user: tuple[int, int, tuple[int, ...]] | None, stdin: int, stdout: int
) -> None:
    """Runs in the new process."""
    try:
        for number, stream in enumerate((stdin, stdout, os.open("/dev/null", os.O_WRONLY))):
            os.dup2(stream, number)
        protect_devices()
        if user:
            become(*user)
        libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)
        os.execve(command[0], command, {})
    finally:
        os._exit(127)


def _namespaces(pid: int) -> tuple[int, ...]:
    """Descriptors of the namespaces of a process that are not those of this one, in the order in which they
    can be entered. Raises `OSError`.
    """
    found = [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in ("user", "mnt")]
    own = os.stat("/proc/self/ns/user")  # noqa: PTH116 - pathlib starts slowly
    if os.path.samestat(os.fstat(found[0]), own):
        os.close(found.pop(0))
    return tuple(found)
