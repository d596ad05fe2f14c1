"""Monitors one bot until its processes have ended, for its warden."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import time

from referee.processes import scratch, tree
from referee.processes.cgroups import Group, killed_for_memory
from referee.processes.messages import (
    ENDED,
    ESCAPED,
    EXCEEDED,
    EXITED,
    ORPHAN,
    OUT_OF_MEMORY,
    STARTED,
    TERMINATE,
    UNKILLABLE,
    WRAPPER_KILLED,
    Request,
    line,
    notify,
)
from referee.processes.refusals import Refusals
from referee.processes.tree import RETRY_S, UNKILLABLE_S
from referee.processes.usage import Excess, LimitChecker

_INFO = struct.Struct("=QQ12i")
"""`struct pidfd_info`: the mask of what is asked and answered first, the exit status last."""

_GET_INFO = 3 << 30 | _INFO.size << 16 | 0xFF << 8 | 11
"""The number of the request: it reads and writes, the size, the kind, its number."""

_EXIT = 1 << 3  # in the mask: how the process ended


class FirstProcess:
    """The first process of the namespace that a program makes for a bot."""

    def __init__(self, program: int) -> None:
        self._program = program
        self._pid = 0
        self._descriptor = -1
        self.bot = 0  # the bot's process inside the namespace, once it has been found
        self.bot_descriptor = -1  # it can be read when that has exited

    @property
    def is_found(self) -> bool:
        """Whether it and the bot have been found."""
        return self.bot_descriptor >= 0

    def find(self) -> bool:
        """Looks for it and the bot; stops the program when they are found, and returns whether that is now.
        Where the system has no descriptors of processes, they never are.
        """
        if self.is_found or not hasattr(os, "pidfd_open"):
            return False
        with contextlib.suppress(OSError):
            if self._descriptor < 0:
                self._pid = next(iter(tree.children(self._program)), 0)
                self._descriptor = os.pidfd_open(self._pid)
            self.bot = next(iter(tree.children(self._pid)), 0)
            self.bot_descriptor = os.pidfd_open(self.bot)
            os.kill(self._program, signal.SIGSTOP)
        return self.is_found

    def others(self) -> list[int]:
        """The bot's other processes, once it has been found and until `let_exit`."""
        return [pid for pid in tree.descendants(self._pid) if pid != self.bot] if self.is_found else []

    def let_exit(self) -> None:
        """Lets the program exit, which it does once the bot has exited."""
        self._pid = 0
        with contextlib.suppress(OSError):
            os.kill(self._program, signal.SIGCONT)

    def was_killed(self) -> bool:
        """Whether it was found and SIGKILL has ended it."""
        if self._descriptor < 0:
            return False
        info = bytearray(_INFO.pack(_EXIT, *[0] * 13))
        try:
            fcntl.ioctl(self._descriptor, _GET_INFO, info, True)
        except OSError:  # an older kernel
            return False
        mask, *_, status = _INFO.unpack(info)
        return bool(mask & _EXIT) and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    def close(self) -> None:
        """Closes the descriptors."""
        for descriptor in (self._descriptor, self.bot_descriptor):
            if descriptor >= 0:
                os.close(descriptor)


SIGNALLED = 128
"""The status of a program that runs another and was ended by a signal is the signal's number beyond this."""

_SIGNALS = frozenset(map(int, signal.valid_signals()))

REPORTED = 10
"""Maximum number of processes left behind that are named."""

FIND_S = 0.01
"""Seconds between two looks for the first process of a namespace, which begins a few milliseconds after the
program that makes it.
"""


class Wake:
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
    """Returns a child's exit code as `subprocess` has it; None while it runs. The child stays a zombie."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13: it is reaped here
        ended, status = os.waitpid(pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if ended else None
    result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if result is None:
        return None
    return result.si_status if result.si_code == os.CLD_EXITED else -result.si_status


class BotMonitor:
    """Monitors one bot, from its start until all its processes have ended."""

    def __init__(
        self,
        control: socket.socket,
        wake: Wake,
        request: Request,
        bot: int,
        scratch_folder: str,
        group: Group | None,
        refusals: Refusals,
    ) -> None:
        self._usage = LimitChecker(request, bot, scratch_folder, group)
        self._killed_before = killed_for_memory()
        self._group = group
        self._scratch_folder = scratch_folder
        self._refusals = refusals
        self._control = control
        self._wake = wake
        self._bot = bot
        self._first_process = FirstProcess(bot) if request.program_filter else None
        """Where the bot's process is a program that runs the bot in namespaces of its own: its child."""
        self._status: int | None = None
        """How the bot exited, once it has: it stays a zombie until the end, so that its process id and group
        id are not reused.
        """
        self._exited_itself: bool | None = None
        """Whether the bot had exited before it was told to end; None while it has not been told."""
        self._left: dict[int, str] = {}
        """The names of its other processes that were noted."""
        self._escaped: set[int] = set()
        """Those of them that had left its group."""
        self._computed_s = 0.0
        self._largest = 0
        """The peak memory of its reaped processes."""

    def run(self) -> bool:
        """Monitors the bot until the referee ends it. Returns whether all its processes have ended: those
        that hang in the kernel cannot be killed.
        """
        notify(self._control, STARTED, self._bot, os.getpid())
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake.descriptor, select.POLLIN)
        if (listener := self._refusals.listener) >= 0:
            poll.register(listener, select.POLLIN)
        while True:
            ready = dict(poll.poll(self._wait_ms()))
            if (first := self._first_process) and first.find():
                poll.register(first.bot_descriptor, select.POLLIN)
            if first and first.bot_descriptor in ready:
                poll.unregister(first.bot_descriptor)
                self._note_others()
                first.let_exit()
            # One call at a time: a bot that makes very many delays nothing else.
            if listener in ready and not (ready[listener] & select.POLLIN and self._refusals.refuse_one()):
                poll.unregister(listener)
                self._refusals.close()
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
            if excess := self._usage.check():
                notify(self._control, EXCEEDED, *excess)
                self._kill_together()
                self._end_others()
                self._reap()
        return self._end()

    def _wait_ms(self) -> float | None:
        """Milliseconds until something is to be looked at; None where all that matters is told."""
        if self._first_process and not self._first_process.is_found:
            return FIND_S * 1000
        return self._usage.wait_ms()

    def _reap(self) -> None:
        """Notes the bot's exit, and reaps orphans that have ended."""
        if self._status is None and (status := _status(self._bot)) is not None:
            first, killed = self._first_process, False
            if first:
                # Any other signal the bot can make the kernel send to its group, such as SIGHUP.
                killed = status == -signal.SIGKILL or first.was_killed()  # guard: first-process
                if status - SIGNALLED in _SIGNALS:
                    status = SIGNALLED - status
            self._status = status
            if excess := self._usage.enforced() or self._lack_of_memory(status):
                notify(self._control, EXCEEDED, *excess)
            elif killed:
                notify(self._control, WRAPPER_KILLED)
            with contextlib.suppress(OSError):  # the referee is gone
                self._control.sendall(b"".join([*self._refusals.notices(), line(EXITED, status)]))
        for pid in tree.own_children():
            if pid != self._bot:
                self._reap_child(pid)

    def _lack_of_memory(self, status: int) -> Excess | None:
        """Whether the system killed the bot since there was no memory left. Bots are the first that it kills
        (`execution`), and of them the one that has the most.
        """
        if status not in (-signal.SIGKILL, SIGNALLED + signal.SIGKILL):  # the second as a shell tells it
            return None
        killed = self._group.killed_for_memory() if self._group else None
        if killed is None:
            killed = killed_for_memory() - self._killed_before
        if killed > 0:  # guard: out-of-memory
            return OUT_OF_MEMORY, 0, 0
        return None

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
        if self._first_process and number != signal.SIGKILL:
            # Not the program around the bot, and not the first process of its namespace.
            first = tree.children(self._bot)
            for pid in tree.descendants(self._bot):
                if pid not in first and not self._has_left_the_group(pid):
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, number)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._bot, number)  # guard: group-kill

    def _kill_together(self) -> None:
        """Kills as many processes at once as the system can."""
        if self._group:
            self._group.kill()
        self._signal_group(signal.SIGKILL)

    def _end(self) -> bool:
        """Kills all remaining processes, and reports them. Returns whether all have ended."""
        if self._group:
            self._group.freeze()  # many that fork all the time leave no time to look at them
        self._reap()
        if self._exited_itself is None:
            self._exited_itself = self._status is not None
        self._note_others()
        orphans = [*self._left.values()] if self._exited_itself else []
        self._kill_together()
        stuck = self._end_all()
        self._refusals.close()
        if self._first_process:
            self._first_process.close()
        scratch.remove(self._scratch_folder)
        if self._group:
            self._group.remove()
        notices = [
            line(word, name)
            for word, names in (
                (ORPHAN, orphans),
                (ESCAPED, [name for pid, name in self._left.items() if pid in self._escaped]),
                (UNKILLABLE, [tree.name(pid) for pid in stuck]),
            )
            for name in names[:REPORTED]
        ]
        notices += self._refusals.notices()
        largest = self._largest * (1 if sys.platform == "darwin" else 1024)
        notices.append(line(ENDED, round(self._computed_s * 1_000_000), largest))
        with contextlib.suppress(OSError):  # the referee is gone
            self._control.sendall(b"".join(notices))
        return not stuck

    def _note_others(self) -> None:
        for pid in self._others():
            if not tree.is_dead(pid):
                self._left[pid] = tree.name(pid)
                if self._has_left_the_group(pid):
                    self._escaped.add(pid)

    def _others(self) -> list[int]:
        """The bot's other processes. Once it has exited, they are descendants of this process, or of the
        first process of a namespace of their own.
        """
        if self._first_process:
            return self._first_process.others()
        if self._status is not None and tree.own_children() in ([], [self._bot]):
            return []
        return [pid for pid in tree.descendants(os.getpid()) if pid != self._bot]

    def _end_others(self) -> None:
        """Kills all but the bot's own process, until none is left or `UNKILLABLE_S` has passed."""
        deadline = time.monotonic() + UNKILLABLE_S
        while others := [pid for pid in tree.own_children() if pid != self._bot]:
            for pid in others:
                tree.kill(pid)
            if sum(self._reap_child(pid) for pid in others) == 0:
                self._wake.wait(RETRY_S)
            if time.monotonic() > deadline:
                break

    def _end_all(self) -> list[int]:
        """Kills and reaps until there are no children. Returns those that cannot be killed.

        Children of killed processes are reparented to this process, and killed in turn.
        """
        first_seen: dict[int, float] = {}
        began = time.monotonic()
        while True:
            living = tree.own_children()
            for pid in living:
                tree.kill(pid)
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
                self._wake.wait(RETRY_S)

    def _has_left_the_group(self, pid: int) -> bool:
        try:
            return os.getpgid(pid) != self._bot
        except OSError:
            return False
