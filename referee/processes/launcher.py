"""The referee's side of the launcher: has bots started, and keeps idle wardens.

The launcher is the program in `warden.py`: whatever a bot starts ends with the bot, and all of it ends with
the referee, even if that is killed by SIGKILL. Each process that starts bots starts a launcher on first use.
A warden whose bot has ended is kept for the next one, so that most bots are started by a single fork.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, NamedTuple

from referee.core.errors import EnvironmentLacksError, ProcessLostError
from referee.core.files import open_without_links
from referee.processes import cgroups, libc, messages, owned, scratch
from referee.processes.messages import Request
from referee.processes.stamped import SHARED_MEMORY
from referee.processes.tree import UNKILLABLE_S

STARTS = "REFEREE_STARTS"
"""With `python` in this variable of the environment, bots are started in Python alone."""

SOURCE = Path(__file__).with_name("starter.c")

COMPILE_S = 60


def compiled_starter() -> BinaryIO | None:
    """The library that `Starter` loads, open; None where there is none, whatever the reason. It is to be
    loaded by its descriptor: at its path, whoever can rename a folder above it may have put another one.
    """
    if sys.platform != "linux" or os.environ.get(STARTS) == "python":
        return None
    try:
        source = SOURCE.read_bytes()
        name = sha256(os.uname().machine.encode() + b"\n" + source).hexdigest()
        with _own_folder() as folder:
            return _found(folder, name) or _compiled(folder, name)
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return None


@contextlib.contextmanager
def _own_folder() -> Iterator[Path]:
    """The folder for compiled libraries, which nobody else can read or write, by its descriptor, so that it
    stays the same one. Raises `OSError`.
    """
    cache_folder = os.environ.get("XDG_CACHE_HOME", "")
    parent = Path(cache_folder) if cache_folder.startswith("/") else Path.home() / ".cache"
    path = parent / "game-referee" / "starter"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(folder)
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise PermissionError(f"`{path}` does not belong to this user alone")
        yield Path(f"/proc/self/fd/{folder}")
    finally:
        os.close(folder)


def _found(folder: Path, name: str) -> BinaryIO | None:
    """A library of this source that is there, and whole: its name ends with the hash of its content."""
    for path in folder.glob(f"{name}-*.so"):
        file = os.fdopen(open_without_links(path), "rb")
        if path.name == _name(name, file.read()):
            return file
        file.close()
    return None


def _compiled(folder: Path, name: str) -> BinaryIO | None:
    """Compiles the source. Raises `OSError` or `SubprocessError`."""
    if (compiler := shutil.which("cc")) is None:
        return None
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", "starter.so", str(SOURCE)]
        nothing = subprocess.DEVNULL
        subprocess.run(
            command, cwd=temporary, stdin=nothing, capture_output=True, check=True, timeout=COMPILE_S
        )
        library = Path(temporary, "starter.so")
        library.rename(folder / _name(name, library.read_bytes()))
    return _found(folder, name)


def _name(name: str, content: bytes) -> str:
    return f"{name}-{sha256(content).hexdigest()}.so"


if TYPE_CHECKING:
    from _typeshed import HasFileno

START_S = 60.0  # seconds that the start of a process may take; the machine is unusable if it takes longer

DEATH_S = 0.1  # seconds after the end of a process's sockets in which its end is seen

IDLE_WARDENS = 4
"""Maximum number of wardens that are kept without a bot: as many as most encounters have bots."""


_PROGRAM = f"""
import sys
sys.path.append({str(Path(__file__).parents[2])!r})
from referee.processes.warden import main
main(sys.argv[1], *map(int, sys.argv[2:]))
"""
"""Starts the launcher without the interpreter's `site` and the folders that the environment names: that is
faster, and no other modules of the same names are found.
"""


class Launcher:
    """The launcher program, and the sockets of its idle wardens."""

    _only: ClassVar[Launcher | None] = None
    _serving: ClassVar[set[int]] = set()
    """The wardens that have a bot, also those of a launcher that was killed."""
    _name: ClassVar[str] = ""
    """How the names of the scratch folders of all launchers of this process begin; empty before the first."""
    _numbers: ClassVar[Iterator[int]] = count(1)
    """What follows it in the names of each launcher's folders, since one that was killed has its own."""

    def __init__(self) -> None:
        self._socket, launcher_end = socket.socketpair()
        self._idle: list[socket.socket] = []
        _remove_left_by_others()
        Launcher._name = Launcher._name or new_name()
        prefix = f"{_temporary_folder()}/{self._name}{next(self._numbers)}-"
        libc.hide()
        with launcher_end, compiled_starter() or contextlib.nullcontext() as library:
            descriptors = [launcher_end.fileno(), *([library.fileno()] if library else [])]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROGRAM, prefix, *map(str, descriptors)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=descriptors,
                start_new_session=True,
            )

    @classmethod
    def get(cls) -> Launcher:
        """The launcher of this process. One that was killed is replaced, since its wardens need it."""
        if cls._only and cls._only._process.poll() is not None:
            cls.discard()
        if cls._only is None:
            cls._only = cls()
            atexit.unregister(cls.close)
            atexit.register(cls.close)
        return cls._only

    @classmethod
    def close(cls) -> None:
        """Ends the launcher, after the last of its bots, and removes what bots have left."""
        atexit.unregister(cls.close)
        cls.discard()
        if cls._name:
            # There is more than the launcher could remove in time, or it was killed.
            remove_left(cls._name)

    @classmethod
    def use_name(cls, name: str) -> None:
        """Names scratch folders so that another process can remove them with `remove_left`."""
        cls._name = name

    @classmethod
    def discard(cls) -> None:
        """Ends the launcher, or gives up one that was killed, whose bots may play on."""
        launcher, cls._only = cls._only, None
        if launcher:
            launcher.end_idle_wardens()
            launcher._socket.close()
            wake(launcher._process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                launcher._process.wait(UNKILLABLE_S)

    @classmethod
    def discard_killed(cls) -> None:
        """Gives up the launcher if it was killed. One that lives is kept: only a warden of it was killed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if cls._only:
                cls._only._process.wait(DEATH_S)
                cls.discard()

    def end_idle_wardens(self) -> None:
        """Ends the wardens that are kept without a bot."""
        while self._idle:
            self._idle.pop().close()

    def send(self, request: bytes, streams: list[int]) -> socket.socket:
        """Sends a request to a warden, and returns its socket.

        Raises `BrokenPipeError` or `ConnectionResetError` where the launcher does not run.
        """
        while self._idle:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                return _sent(self._idle.pop(), request, streams)
        control, warden_end = socket.socketpair()
        with warden_end:  # with no copy here, the socket ends when the warden does
            try:
                wake(self._process.pid)
                socket.send_fds(self._socket, [messages.NEW_WARDEN], [warden_end.fileno()])
            except BaseException:
                control.close()
                raise
        return _sent(control, request, streams)

    @classmethod
    def family(cls) -> set[int]:
        """The launcher of this process, and the wardens that have a bot."""
        return {cls._only._process.pid, *cls._serving} if cls._only else set(cls._serving)

    def release(self, started: StartedBot, reusable: bool) -> None:
        """Takes back a warden whose bot has ended; it is kept for the next one if it is `reusable`."""
        Launcher._serving.discard(started.warden)
        if reusable and self is Launcher._only and len(self._idle) < IDLE_WARDENS:
            self._idle.append(started.control)
        else:
            started.control.close()


def new_name() -> str:
    """The beginning of names that nothing else has: of what belongs to this process."""
    return f"{owned.prefix()}{os.urandom(4).hex()}-"


@cache
def _remove_left_by_others() -> None:
    """Removes what processes that were killed have left, before the first launcher of this process."""
    owned.remove_left(SHARED_MEMORY, str(_temporary_folder()))


def remove_left(name: str) -> None:
    """Removes what the launchers of a process have left: scratch folders and control groups.

    `name` is how their names begin; all their bots must have ended.
    """
    if groups := cgroups.parent_of_groups():
        cgroups.remove_all(f"{groups}/{name}")
    scratch.remove_all(f"{_temporary_folder()}/{name}", scratch.REMOVE_AT_END_S)


def _temporary_folder() -> Path:
    """The folder for scratch folders. Raises `EnvironmentLacksError` where none can be written to."""
    try:
        return Path(tempfile.gettempdir()).resolve()
    except FileNotFoundError:
        raise EnvironmentLacksError("there is no writable folder for temporary files") from None


class StartedBot(NamedTuple):
    """A bot that was started."""

    launcher: Launcher
    control: socket.socket  # the socket to its warden
    warden: int
    pid: int


class LostWarden(OSError):
    """A warden was killed while it started a bot: by the bot, or by something outside."""


class PendingStart:
    """A bot whose start was requested; `wait` says whether it succeeded."""

    def __init__(self, request: Request, streams: Mapping[str, int]) -> None:
        """`streams`: the bot's ends of those in `messages.STREAMS`; they stay open until `wait` returned."""
        self._request = request.encode()
        self._descriptors = [streams[name] for name in messages.STREAMS]
        self._sent = self._send()

    def _send(self) -> tuple[Launcher, socket.socket] | None:
        """Sends the request; None where the launcher was killed."""
        launcher = Launcher.get()
        try:
            return launcher, launcher.send(self._request, self._descriptors)
        except (BrokenPipeError, ConnectionResetError):
            return None

    def wait(self) -> StartedBot:
        """Waits for the bot that was started; a launcher or an idle warden that was killed is replaced once.

        Raises `OSError` where this bot cannot be started, `LostWarden` where its warden was killed meanwhile,
        `ProcessLostError` where no bot can be started.
        """
        for _ in range(2):  # guard: killed-launcher
            sent, self._sent = self._sent or self._send(), None
            if sent:
                with contextlib.suppress(ConnectionResetError):
                    return _answer(*sent)
            Launcher.discard_killed()
        raise ProcessLostError("the launcher, the process that starts bots, is not running")

    def cancel(self) -> None:
        """Ends whatever was started: its warden sees the socket closed."""
        if self._sent:
            self._sent[1].close()


def _sent(control: socket.socket, request: bytes, streams: list[int]) -> socket.socket:
    try:
        sent = socket.send_fds(control, [request], streams)
        if sent < len(request):  # guard: request-sent-once
            control.sendall(request[sent:])  # which fails even with nothing to send, where the warden ended
    except BaseException:
        control.close()
        raise
    return control


def _answer(launcher: Launcher, control: socket.socket) -> StartedBot:
    """Waits for the notice of a warden that is sent once the bot's program was executed.

    Raises `ConnectionResetError` where the warden ends before it has taken the request, `LostWarden` where it
    ends later, and `OSError` where the bot cannot be started.
    """
    taken = False
    try:
        while (notice := _notice(control))[0] == messages.TAKEN:
            taken = True
        word, *rest = notice
        if word == messages.REFUSED:
            raise OSError(int(rest[0]), os.strerror(int(rest[0])), rest[1])
        started = StartedBot(launcher, control, warden=int(rest[1]), pid=int(rest[0]))
        Launcher._serving.add(started.warden)
        return started
    except ConnectionResetError:
        control.close()
        if taken:  # guard: warden-killed-at-once
            raise LostWarden(errno.ECONNABORTED, messages.LOST_WARDEN) from None
        raise
    except BaseException:
        control.close()
        raise


def _notice(control: socket.socket) -> list[str]:
    """The words of the next notice of a warden; later ones stay in the socket. Raises as `_answer` does."""
    notice = b""
    while not notice.endswith(b"\n"):
        if not readable_within(control, START_S):
            raise ProcessLostError(f"the launcher did not start a process within {START_S:.0f} s")
        found = control.recv(4096, socket.MSG_PEEK)
        if not found:
            raise ConnectionResetError
        notice += control.recv(found.find(b"\n") + 1 or len(found))
    return notice.decode("unicode_escape").removesuffix("\n").split(" ", 2)


def readable_within(control: HasFileno, seconds: float) -> bool:
    """Whether a socket or a pipe is readable in time. Not by select(2), which only takes descriptors to
    1023.
    """
    poll = select.poll()
    poll.register(control, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def wake(pid: int) -> None:
    """Continues a process that a bot may have stopped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGCONT)
