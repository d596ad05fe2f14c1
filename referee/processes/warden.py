"""Starts bots for a referee, watches over them, and ends all that they started. A program of its own.

    python -I -S warden.py DESCRIPTOR

The descriptor is a socket to the referee, which asks for bots over it. For each bot this program forks a
*warden*: the bot's parent, which on Linux adopts whatever the bot's processes leave behind, so that nothing
of a bot's can get away from it, by no double fork and no session of its own. The warden hears one socket
from its referee: when that is closed, be it because the referee was killed with -9, the warden kills all
below it. It stands between the two because nobody else lives on in that moment and is still an ancestor.

The referee's end (`process.py`) takes the names of the commands from here, and `cpu.py` how a tree of
processes is found. It imports nothing of ours: it starts in a few milliseconds, has one thread, and so may
fork and set limits without the dangers that this has in a program as large as the referee.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios
import time
import traceback
from typing import Any

TERMINATE = b"T"
"""The referee says: SIGTERM to the bot's group. Everything else, and the end of the socket, means: kill."""

HEAD = struct.Struct("!I")
"""Before a request: its length in bytes."""

UNKILLABLE_S = 5.0
"""A process that SIGKILL does not end within this time hangs in the kernel; nobody waits for it."""

WATCH_S = 0.1
"""So often the limits are looked after that the kernel does not keep for a whole tree."""

MOST = 5000
"""So many processes of a tree are looked at."""

REPORTED = 10
"""Of the processes that a bot leaves behind, so many are named."""

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG


def _prctl(option: int, value: int) -> bool:
    """Calls prctl(2) where there is one."""
    if sys.platform != "linux":
        return False
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


# --- All that is below a process -----------------------------------------------------------------------


def children(pid: int) -> list[int]:
    """The children of a process, as far as the system tells."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def descendants(pid: int) -> list[int]:
    """All below a process, each parent before its children."""
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
    """Whether it is a zombie, or not there any more."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read(4096).rpartition(b")")[2].split()[0] == b"Z"
    return True


def _memory(pid: int) -> int:
    """Bytes of memory that a process takes, files that it has mapped apart."""
    total = 0
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
            if line.startswith((b"RssAnon:", b"RssShmem:", b"VmSwap:")):
                total += int(line.split()[1]) * 1024
    return total


def _threads(pid: int) -> int:
    """How many threads a process has."""
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/task"))
    return 1


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _await(pid: int) -> None:
    """Reaps a child that was killed."""
    deadline = time.monotonic() + UNKILLABLE_S
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(pid, os.WNOHANG)[0] == 0 and time.monotonic() < deadline:
            time.sleep(0.0002)


def _strike(spare: set[int]) -> list[int]:
    """Kills the children of this process but the `spare`, and reaps; those that were there are returned.

    What these had started, also while this goes on, comes to us with their death, for the next round.
    """
    living = [pid for pid in children(os.getpid()) if pid not in spare]
    for pid in living:
        _kill(pid)
    for pid in living:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return living


def _end_all(spare: set[int]) -> list[int]:
    """The same until nothing is left. What does not die is returned."""
    met: dict[int, float] = {}
    while living := _strike(spare):
        now = time.monotonic()
        met = {pid: met.get(pid, now) for pid in living}
        if all(now - since > UNKILLABLE_S for since in met.values()):
            break
    return living


class _Wake:
    """Wakes a poll when a child ends; nothing is done in the signal's handler itself."""

    def __init__(self) -> None:
        self.descriptor, self._waker = os.pipe()
        for end in (self.descriptor, self._waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def clear(self) -> None:
        """Takes note."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.descriptor, 4096)

    def close(self) -> None:
        """Ends it."""
        signal.set_wakeup_fd(-1)
        os.close(self.descriptor)
        os.close(self._waker)


def _status(pid: int) -> int | None:
    """How a child ended, as `subprocess` counts it; None while it lives. It stays a zombie."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13: it is reaped here
        ended, status = os.waitpid(pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if ended else None
    result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if result is None:
        return None
    return result.si_status if result.si_code == os.CLD_EXITED else -result.si_status


# --- The warden of one bot -----------------------------------------------------------------------------


class Warden:
    """The parent of one bot."""

    def __init__(self, request: dict[str, Any], descriptors: list[int]) -> None:
        *streams, control = descriptors
        self._control = socket.socket(fileno=control)
        self._memory_bytes: int | None = request["memory_bytes"]
        self._processes: int | None = request["processes"]
        self._status: int | None = None
        """The bot's, once it exited: it stays a zombie until the end, so that nobody else gets its number and
        its group's.
        """
        self._exited: bool | None = None
        """Whether it had ended by itself when it was to be ended."""
        _prctl(_SUBREAPER, 1)  # guard: orphans
        self._wake = _Wake()
        self._bot = _start(request, streams)
        for stream in streams:
            os.close(stream)

    def watch(self) -> None:
        """Until the referee has had enough; then nothing of the bot is left."""
        self._tell(pid=self._bot, warden=os.getpid())
        watches = self._memory_bytes is not None or self._processes is not None
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake.descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(WATCH_S * 1000 if watches else None)}
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
                self._exited = self._status is not None
                self._signal_group(signal.SIGTERM)
            if watches and (excess := self._excess()):
                self._tell(limit=excess)
                self._signal_group(signal.SIGKILL)
                _end_all({self._bot})
                self._reap()
        self._tell(**self._end())

    def _tell(self, **what: Any) -> None:
        with contextlib.suppress(OSError):  # nobody hears it any more
            self._control.sendall(json.dumps(what).encode() + b"\n")

    def _reap(self) -> None:
        """Notes the bot's exit; lets go of what it left behind and has ended since."""
        if self._status is None and (status := _status(self._bot)) is not None:
            self._status = status
            self._tell(status=status)
        for pid in children(os.getpid()):
            if pid != self._bot:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def _signal_group(self, number: signal.Signals) -> None:
        assert self._bot > 1  # killpg(1) and killpg(0) would reach others
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._bot, number)  # guard: group-kill

    def _excess(self) -> str:
        """What of its limits the tree exceeds, if any."""
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

    def _end(self) -> dict[str, Any]:
        """Kills all that is left, and says what that was."""
        self._reap()
        if self._exited is None:
            self._exited = self._status is not None
        others = [pid for pid in descendants(os.getpid()) if pid != self._bot and not _is_dead(pid)]
        escaped = [_name(pid) for pid in others if self._has_left_the_group(pid)]
        left = [_name(pid) for pid in others] if self._exited else []
        self._signal_group(signal.SIGKILL)
        stuck = _end_all(set())
        _await(self._bot)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "left": left[:REPORTED],
            "escaped": escaped[:REPORTED],
            "unkillable": [_name(pid) for pid in stuck[:REPORTED]],
            "cpu_us": round((used.ru_utime + used.ru_stime) * 1_000_000),
            "memory_bytes": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        }

    def _has_left_the_group(self, pid: int) -> bool:
        try:
            return os.getpgid(pid) != self._bot
        except OSError:
            return False


def _start(request: dict[str, Any], streams: list[int]) -> int:
    """Starts the bot. Raises `OSError` where its program cannot be executed."""
    failed, failing = os.pipe()
    bot = os.fork()
    if bot == 0:
        try:
            _become(request, streams)
        except OSError as error:
            os.write(failing, f"{error.errno or errno.EINVAL} {error.filename or ''}".encode())
        except (ValueError, MemoryError) as error:
            os.write(failing, f"{errno.EINVAL} {error}".encode())  # its limits cannot be set
        finally:
            os._exit(127)
    os.close(failing)
    with os.fdopen(failed, "rb") as file:
        number, _, name = file.read().decode("utf-8", "replace").partition(" ")
    if number:
        raise OSError(int(number), os.strerror(int(number)), name)
    return bot


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """In the new process: a session of its own, its streams, limits, signals and folder; then its program."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    if request["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    _prctl(_PARENT_DEATH, signal.SIGKILL)  # guard: killed-warden
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb") as file:
        file.write(b"1000")  # if memory runs out, the bots go first
    for name, value in request["limits"].items():
        number = getattr(resource, name)
        soft, hard = value
        ceiling = resource.getrlimit(number)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(number, (soft, hard))  # guard: limits-of-the-kernel
    signal.set_wakeup_fd(-1)
    for one in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.chdir(request["cwd"])
    program: str = request["argv"][0]
    try:
        os.execvpe(program, request["argv"], request["env"])
    except OSError as error:  # its file name is where the path was searched last
        raise OSError(error.errno, error.strerror, program) from None


# --- The nursery, where wardens come from --------------------------------------------------------------


def receive(referee: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """What the referee asks for, with the descriptors that come with it; None when it is gone."""
    try:
        data, descriptors, _, _ = socket.recv_fds(referee, 65_536, 4, getattr(socket, "MSG_CMSG_CLOEXEC", 0))
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        while data and (len(data) < HEAD.size or len(data) < HEAD.size + HEAD.unpack_from(data)[0]):
            more = referee.recv(65_536)
            if not more:
                return None
            data += more
    except OSError:
        return None
    return (json.loads(data[HEAD.size :]), descriptors) if data else None


def main(descriptor: int) -> None:
    """Starts wardens until the referee is gone, and ends when the last of them has."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it is the referee that they are meant for
    _prctl(_SUBREAPER, 1)  # for the processes of bots that kill their warden
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
        strays = _bury(wardens)
        if descriptor in ready:
            asked = receive(referee)
            if asked is None:
                break
            request, descriptors = asked
            try:
                warden = os.fork()
            except OSError as error:
                _refuse(descriptors[-1], error)
            else:
                if warden == 0:
                    referee.close()
                    wake.close()
                    _serve(request, descriptors)
                wardens.add(warden)
            for one in descriptors:
                os.close(one)
    deadline = time.monotonic() + 6 * UNKILLABLE_S
    while (_bury(wardens) or wardens) and time.monotonic() < deadline:
        time.sleep(0.001)


def _bury(wardens: set[int]) -> bool:
    """Reaps wardens that are done, wakes the others, and strikes at what a killed one left. Whether there
    was any.
    """
    for pid in list(wardens):
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        wardens.discard(pid)
    for pid in wardens:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGCONT)  # its bot may have stopped it
    return bool(_strike(wardens))  # guard: killed-warden-tree


def _refuse(control: int, error: OSError) -> None:
    """Tells the referee that there will be no bot."""
    with contextlib.suppress(OSError):
        answer = {"errno": error.errno, "file": str(error.filename or "")}
        os.write(control, json.dumps(answer).encode() + b"\n")


def _serve(request: dict[str, Any], descriptors: list[int]) -> None:
    """In a process of its own: one bot, from its start to its end."""
    try:
        os.setsid()
        try:
            warden = Warden(request, descriptors)
        except OSError as error:
            _refuse(descriptors[-1], error)
        else:
            warden.watch()
    except BaseException:
        traceback.print_exc()  # a bug of ours; nobody else would hear of it
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
