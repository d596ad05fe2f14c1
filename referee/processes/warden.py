"""Starts bots for a referee, monitors them, and ends all processes that they started. A separate program.

    python -I -S warden.py DESCRIPTOR

The descriptor is a socket to the referee, which asks for *wardens* over it: this program, the launcher, forks
one for each socket that it receives. A warden is the parent of one bot at a time, and on Linux it adopts the
orphans of the bot's processes, so that none of them can escape it by a double fork or a new session. The
referee tells it over its socket which bot to start and when to end it; when all processes of the bot have
ended it waits for the next one. When the socket is closed, even because the referee was killed by SIGKILL,
the warden kills all its descendants and exits. It is a process between the two because it must outlive the
referee and still be an ancestor of all the bot's processes.

The referee's side of these sockets is `launcher.py`; `cpu.py` uses the functions that find a process tree.
This program imports no other module of the project and little else: it starts in a few milliseconds, has
little memory for a fork to copy, and has one thread, so it can safely fork and set limits, which a program as
large as the referee cannot.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gc
import marshal
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios
import time
from collections import namedtuple
from functools import cache

# --- Messages between the referee, the launcher and the wardens ----------------------------------------

NEW_WARDEN = b"W"
"""To the launcher, with one descriptor, the socket of a new warden."""

STREAMS = ("stdin", "stdout", "stderr")
"""The descriptors that are sent with a request to a warden, in this order: the bot's ends of its streams."""

HEAD = struct.Struct("!I")
"""Before a request: its length in bytes."""

TERMINATE = b"T"
"""To a warden: send SIGTERM to the bot's group."""

KILL = b"K"
"""To a warden: kill all processes of the bot, report, and wait for the next one. Any other byte means the
same; the end of the socket means that there is no next one.
"""

_LONGEST = 1 << 24
"""The most bytes of a request: far more than the system allows for arguments and environment."""


class Request(namedtuple("Request", "argv cwd env is_terminal limits memory_bytes processes")):
    """The request to start a bot.

    `limits`: soft and hard value of each limit that the kernel enforces, by its name in `resource`;
    `memory_bytes` and `processes`: the limits of the whole process tree, or None.
    """

    def encode(self) -> bytes:
        """The bytes to send. Both ends run the same interpreter, so `marshal` is enough."""
        body = marshal.dumps(tuple(self))
        return HEAD.pack(len(body)) + body


# Notices of a warden are lines of ASCII, a word and its arguments; names are escaped as in Python.

STARTED = "started"
"""The bot's process and the warden's."""

REFUSED = "refused"
"""The bot could not be started: the number of the error, and the file that it concerns."""

EXITED = "exited"
"""The bot's own process ended: its status, as `subprocess` counts it."""

EXCEEDED = "exceeded"
"""The bot is killed because it exceeded a limit: a sentence that says which."""

ORPHAN, ESCAPED, UNKILLABLE = "orphan", "escaped", "unkillable"
"""A process that the bot left behind, that had left its group, or that could not be killed."""

ENDED = "ended"
"""All processes of the bot have ended: microseconds of processor time, and peak bytes of its largest process.
"""


def line(word: str, *rest: object) -> bytes:
    """The bytes of a notice."""
    return " ".join([word, *map(str, rest)]).encode("unicode_escape") + b"\n"


# --- Constants -----------------------------------------------------------------------------------------

UNKILLABLE_S = 5.0
"""A process that SIGKILL does not end within this many seconds hangs in the kernel, and is given up."""

WATCH_S = 0.1
"""Seconds between checks of the limits that the kernel does not enforce for a whole tree."""

MOST = 5000
"""The most processes of a tree that are looked at."""

REPORTED = 10
"""The most processes left behind that are named."""

_RETRY_S = 0.001
"""Seconds after which killed processes are checked again, unless a child ends before."""

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG


def _prctl(option: int, value: int) -> bool:
    """Calls prctl(2) where there is one."""
    libc = _libc()
    return libc is not None and bool(libc.prctl(option, value, 0, 0, 0) == 0)  # type: ignore[attr-defined]


@cache
def _libc() -> object:
    """The C library where it has prctl(2); loaded once, before any fork."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        return ctypes.CDLL(None)
    except (ImportError, OSError):
        return None


# --- The descendants of a process ----------------------------------------------------------------------


def own_children() -> list[int]:
    """The children of this process, which has one thread; with zombies, where the system lists them."""
    pid = os.getpid()
    return _children_of_task(f"/proc/{pid}/task/{pid}/children")


def children(pid: int) -> list[int]:
    """The children of a process; with zombies, where the system lists them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            found += _children_of_task(f"/proc/{pid}/task/{task}/children")
    return found


def _children_of_task(path: str) -> list[int]:
    try:
        with open(path, "rb", buffering=0) as file:
            return [*map(int, file.readall().split())]
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    """All descendants of a process, each parent before its children."""
    found = children(pid)
    for one in found:
        found += children(one)
        if len(found) > MOST:
            break
    return found


def _name(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", "rb") as file:
        return f"{file.read(100).decode('utf-8', 'replace').strip()} (pid {pid})"
    return f"pid {pid}"


def _is_dead(pid: int) -> bool:
    """Whether a process is a zombie or does not exist any more."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read(4096).rpartition(b")")[2].split()[0] == b"Z"
    return True


def _memory(pid: int) -> int:
    """Bytes of memory of a process, without mapped files."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb") as file:
        for row in file:
            if row.startswith((b"RssAnon:", b"RssShmem:", b"VmSwap:")):
                total += int(row.split()[1]) * 1024
    return total


def _threads(pid: int) -> int:
    """How many threads a process has."""
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/task"))
    return 1


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _kill_children(spare: set[int]) -> bool:
    """Kills and reaps the children of this process except `spare`. Returns whether there were any.

    Their own children are reparented to this process when they die, and are killed by the next call.
    """
    living = [pid for pid in own_children() if pid not in spare]
    for pid in living:
        _kill(pid)
    for pid in living:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return bool(living)


class _Wake:
    """A pipe that becomes readable when a child ends, so that the signal handler has nothing to do."""

    def __init__(self) -> None:
        self.descriptor, self._waker = os.pipe()
        for end in (self.descriptor, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def wait(self, seconds: float) -> None:
        """Waits until a child ends, or the time is over."""
        select.select([self.descriptor], [], [], seconds)
        self.clear()

    def clear(self) -> None:
        """Empties the pipe."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.descriptor, 4096)

    def close(self) -> None:
        """Closes the pipe."""
        signal.set_wakeup_fd(-1)
        os.close(self.descriptor)
        os.close(self._waker)


def _status(pid: int) -> int | None:
    """How a child ended, as `subprocess` counts it; None while it runs. It stays a zombie."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13: it is reaped here
        ended, status = os.waitpid(pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if ended else None
    result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if result is None:
        return None
    return result.si_status if result.si_code == os.CLD_EXITED else -result.si_status


# --- A warden ------------------------------------------------------------------------------------------


class Watch:
    """Monitors one bot, from its start until all its processes have ended."""

    def __init__(self, control: socket.socket, wake: _Wake, request: Request, bot: int) -> None:
        self._control = control
        self._wake = wake
        self._memory_bytes: int | None = request.memory_bytes
        self._processes: int | None = request.processes
        self._bot = bot
        self._status: int | None = None
        """How the bot exited, once it has: it stays a zombie until the end, so that its process id and group
        id are not reused.
        """
        self._exited_itself: bool | None = None
        """Whether the bot had exited before it was told to end; None while it has not been told."""
        self._computed_s = 0.0
        self._largest = 0
        """The peak memory of its reaped processes."""

    def run(self) -> bool:
        """Monitors the bot until the referee ends it. Returns whether all its processes have ended: those
        that hang in the kernel cannot be killed.
        """
        _notify(self._control, STARTED, self._bot, os.getpid())
        watches = self._memory_bytes is not None or self._processes is not None
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake.descriptor, select.POLLIN)
        look_s = time.monotonic() + WATCH_S
        while True:
            timeout_ms = max(0.0, look_s - time.monotonic()) * 1000 if watches else None
            ready = {descriptor for descriptor, _ in poll.poll(timeout_ms)}
            if self._wake.descriptor in ready:
                self._wake.clear()
                self._reap()
            if self._control.fileno() in ready:
                try:
                    command = self._control.recv(1)
                except OSError:
                    command = b""
                if command != TERMINATE:
                    break  # guard: killed-referee
                self._exited_itself = self._status is not None
                self._signal_group(signal.SIGTERM)
            if watches and time.monotonic() >= look_s:
                if excess := self._excess():
                    _notify(self._control, EXCEEDED, excess)
                    self._signal_group(signal.SIGKILL)
                    self._end_others()
                    self._reap()
                look_s = time.monotonic() + WATCH_S
        return self._end()

    def _reap(self) -> None:
        """Notes the bot's exit, and reaps orphans that have ended."""
        if self._status is None and (status := _status(self._bot)) is not None:
            self._status = status
            _notify(self._control, EXITED, status)
        for pid in own_children():
            if pid != self._bot:
                self._reap_child(pid)

    def _reap_child(self, pid: int) -> int:
        """Reaps a child if it has ended (any child with -1), and adds up its usage. Returns its process id or
        0.

        Raises `ChildProcessError` for -1 where there is no child.
        """
        try:
            ended, _, used = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            if pid > 0:
                return 0
            raise
        if ended:
            self._computed_s += used.ru_utime + used.ru_stime
            self._largest = max(self._largest, used.ru_maxrss)
        return ended

    def _signal_group(self, number: signal.Signals) -> None:
        assert self._bot > 1  # killpg(1) and killpg(0) would signal other processes
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._bot, number)  # guard: group-kill

    def _excess(self) -> str:
        """Which limit the process tree exceeds, as text; empty if none."""
        tree = [self._bot, *(pid for pid in descendants(os.getpid()) if pid != self._bot)]
        if self._processes is not None:
            count = sum(map(_threads, tree))
            if count > self._processes:  # guard: processes
                return f"{count} processes and threads, and {self._processes} are allowed"
        if self._memory_bytes is not None:
            memory = sum(map(_memory, tree))
            if memory > self._memory_bytes:  # guard: memory
                return f"{memory} bytes of memory, and {self._memory_bytes} are allowed"
        return ""

    def _end(self) -> bool:
        """Kills all remaining processes, and reports them. Returns whether all have ended."""
        self._reap()
        if self._exited_itself is None:
            self._exited_itself = self._status is not None
        others = self._others()
        escaped = [_name(pid) for pid in others if self._has_left_the_group(pid)]
        orphans = [_name(pid) for pid in others] if self._exited_itself else []
        self._signal_group(signal.SIGKILL)
        stuck = self._end_all()
        notices = [
            line(word, name)
            for word, names in (
                (ORPHAN, orphans),
                (ESCAPED, escaped),
                (UNKILLABLE, [_name(pid) for pid in stuck]),
            )
            for name in names[:REPORTED]
        ]
        largest = self._largest * (1 if sys.platform == "darwin" else 1024)
        notices.append(line(ENDED, round(self._computed_s * 1_000_000), largest))
        with contextlib.suppress(OSError):  # the referee is gone
            self._control.sendall(b"".join(notices))
        return not stuck

    def _others(self) -> list[int]:
        """The bot's other processes. Once it has exited, they are descendants of this process."""
        if self._status is not None and own_children() in ([], [self._bot]):
            return []
        return [pid for pid in descendants(os.getpid()) if pid != self._bot and not _is_dead(pid)]

    def _end_others(self) -> None:
        """Kills all but the bot's own process, until none is left or `UNKILLABLE_S` has passed."""
        deadline = time.monotonic() + UNKILLABLE_S
        while others := [pid for pid in own_children() if pid != self._bot]:
            for pid in others:
                _kill(pid)
            if sum(self._reap_child(pid) for pid in others) == 0:
                self._wake.wait(_RETRY_S)
            if time.monotonic() > deadline:
                break

    def _end_all(self) -> list[int]:
        """Kills and reaps until there are no children. Returns those that cannot be killed.

        Children of killed processes are reparented to this process, and killed in turn.
        """
        first_seen: dict[int, float] = {}
        began = time.monotonic()
        while True:
            living = own_children()
            for pid in living:
                _kill(pid)
            reaped = False
            try:
                while self._reap_child(-1):
                    reaped = True
            except ChildProcessError:
                return []
            now = time.monotonic()
            first_seen = {pid: first_seen.get(pid, now) for pid in living}
            if all(now - since > UNKILLABLE_S for since in (began, *first_seen.values())):
                return living
            if not reaped:
                self._wake.wait(_RETRY_S)

    def _has_left_the_group(self, pid: int) -> bool:
        try:
            return os.getpgid(pid) != self._bot
        except OSError:
            return False


def _notify(control: socket.socket, word: str, *rest: object) -> None:
    with contextlib.suppress(OSError):  # the referee is gone
        control.sendall(line(word, *rest))


def _refuse(control: socket.socket, error: OSError) -> None:
    """Tells the referee that the bot could not be started."""
    _notify(control, REFUSED, error.errno or errno.EINVAL, error.filename or "")


def _run_bots(control: socket.socket) -> None:
    """The main loop of a warden: runs bots one after the other, until the referee is gone."""
    os.setsid()
    _prctl(_SUBREAPER, 1)  # guard: orphans
    wake = _Wake()
    while (received := _receive(control)) is not None:
        request, streams = received
        try:
            bot = _start(request, streams)
        except OSError as error:
            _refuse(control, error)
            continue
        finally:
            for stream in streams:
                os.close(stream)
        if not Watch(control, wake, request, bot).run():
            break


def _receive(control: socket.socket) -> tuple[Request, list[int]] | None:
    """The next request, with the bot's ends of its streams in the order of `STREAMS`; None when the referee
    is gone.
    """
    data, streams = _with_descriptors(control, 65_536, len(STREAMS))
    size = HEAD.unpack_from(data)[0] if len(data) >= HEAD.size else 0
    if len(streams) == len(STREAMS) and size <= _LONGEST:
        try:
            while 0 < len(data) < HEAD.size + size and (more := control.recv(65_536)):
                data += more
        except OSError:
            data = b""
        if len(data) == HEAD.size + size:
            return Request(*marshal.loads(data[HEAD.size :])), streams
    for stream in streams:
        os.close(stream)
    return None


def _with_descriptors(sender: socket.socket, most: int, count: int) -> tuple[bytes, list[int]]:
    """Received bytes with their descriptors, which are not inheritable; empty at the end of the socket."""
    try:
        data, descriptors, _, _ = socket.recv_fds(sender, most, count)
    except OSError:
        return b"", []
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return data, descriptors


def _start(request: Request, streams: list[int]) -> int:
    """Starts the bot. Raises `OSError` where its program cannot be executed."""
    failed, failing = os.pipe()
    try:
        bot = os.fork()
        if bot == 0:
            _execute_or_report(request, streams, failing)
    except BaseException:
        os.close(failed)
        raise
    finally:
        os.close(failing)
    try:
        error = os.read(failed, 65_536)  # empty when the program was executed
    finally:
        os.close(failed)
    if error:
        os.waitpid(bot, 0)
        number, _, name = error.decode("utf-8", "replace").partition(" ")
        raise OSError(int(number), os.strerror(int(number)), name)
    return bot


def _execute_or_report(request: Request, streams: list[int], failing: int) -> None:
    """In the new process: executes the bot's program, or reports why that fails."""
    try:
        _execute(request, streams)
    except OSError as error:
        os.write(failing, f"{error.errno or errno.EINVAL} {error.filename or ''}".encode())
    except (ValueError, MemoryError) as error:
        os.write(failing, f"{errno.EINVAL} {error}".encode())  # its limits cannot be set
    finally:
        os._exit(127)


def _execute(request: Request, streams: list[int]) -> None:
    """Sets up session, streams, limits, signals and folder, then executes the bot's program."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    if request.is_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    _prctl(_PARENT_DEATH, signal.SIGKILL)  # guard: killed-warden
    with contextlib.suppress(OSError):
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, b"1000")  # if memory runs out, bots are killed first
        os.close(score)
    for name, (soft, hard) in request.limits.items():
        number = getattr(resource, name)
        ceiling = resource.getrlimit(number)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(number, (soft, hard))  # guard: limits-of-the-kernel
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    os.chdir(request.cwd)
    program: str = request.argv[0]
    try:
        os.execvpe(program, request.argv, request.env)
    except OSError as error:  # its file name is the last entry of the path that was tried
        raise OSError(error.errno, error.strerror, program) from None


# --- The launcher, where wardens come from -------------------------------------------------------------


def main(descriptor: int) -> None:
    """Starts wardens until the referee is gone, and ends after the last of them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # meant for the referee
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _prctl(_SUBREAPER, 1)  # for the processes of bots that kill their warden
    gc.disable()  # there is little garbage, and collection would touch memory that forks share
    wardens: set[int] = set()
    referee = socket.socket(fileno=descriptor)
    wake = _Wake()
    poll = select.poll()
    poll.register(referee, select.POLLIN)
    poll.register(wake.descriptor, select.POLLIN)
    strays = False
    while True:
        ready = {number for number, _ in poll.poll(1 if strays else WATCH_S * 1000 if wardens else None)}
        wake.clear()
        strays = _reap_wardens(wardens)
        if descriptor in ready:
            data, controls = _with_descriptors(referee, len(NEW_WARDEN), 1)
            if data != NEW_WARDEN or not controls:
                break
            control = socket.socket(fileno=controls[0])
            try:
                warden = os.fork()
            except OSError as error:
                _refuse(control, error)
            else:
                if warden == 0:
                    _run_warden(control, referee, wake)
                wardens.add(warden)
            control.close()
    deadline = time.monotonic() + 6 * UNKILLABLE_S
    while (_reap_wardens(wardens) or wardens) and time.monotonic() < deadline:
        wake.wait(_RETRY_S)


def _run_warden(control: socket.socket, referee: socket.socket, wake: _Wake) -> None:
    """In the new process: runs a warden, without the launcher's descriptors."""
    try:
        referee.close()
        wake.close()
        _run_bots(control)
    except BaseException:
        import traceback

        traceback.print_exc()  # a bug in this program, which is reported nowhere else
    finally:
        os._exit(0)


def _reap_wardens(wardens: set[int]) -> bool:
    """Reaps wardens that have ended, wakes the others, and kills processes that a killed warden left behind.
    Returns whether there were any.
    """
    for pid in list(wardens):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        wardens.discard(pid)
    for pid in wardens:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGCONT)  # its bot may have stopped it
    return _kill_children(wardens)  # guard: killed-warden-tree


if __name__ == "__main__":
    main(int(sys.argv[1]))
