"""Starts, monitors and ends bots. A separate program.

`main` gets the descriptor of a socket to the referee, which asks for *wardens* over it: this program, the
launcher, forks one for each socket that it receives. A warden is the parent of one bot at a time, and on
Linux it adopts the orphans of the bot's processes, so that none of them can escape it by a double fork or a
new session. The referee tells it over its socket which bot to start and when to end it; when all processes
of the bot have ended it waits for the next one. When the socket is closed, even because the referee was
killed by SIGKILL, the warden kills all its descendants and exits. It is a process between the two because
it must outlive the referee and still be an ancestor of all the bot's processes.

The referee's side of these sockets is `launcher.py`. This program imports few modules: it starts in a few
milliseconds, has little memory for a fork to copy, and has one thread, so it can safely fork and set limits,
which a program as large as the referee cannot.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import select
import signal
import socket
import time
from collections import namedtuple

from referee.processes import cgroups, libc, scratch, tree
from referee.processes.confinement import Confinement
from referee.processes.execution import Starter, start_bot
from referee.processes.messages import HEAD, LONGEST, NEW_WARDEN, STREAMS, TAKEN, Request, notify, refuse
from referee.processes.prepared import PreparedMounts
from referee.processes.refusals import Refusals
from referee.processes.tree import RETRY_S, UNKILLABLE_S
from referee.processes.watch import BotMonitor, Wake

WATCH_S = 0.1
"""Seconds between two looks of the launcher at its wardens."""


_HANDLED = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGPIPE,
    signal.SIGXFSZ,
)
"""Signals that are meant for the referee, or that it ignores. Here they are handled, by doing nothing: those
that are ignored would be ignored in a bot's program too.
"""


class Prefixes(namedtuple("Prefixes", "scratch group")):
    """The beginnings of the paths of scratch folders and control groups; None where there are no groups."""

    def of_warden(self, pid: int) -> Prefixes:
        """The beginnings of the paths of one warden."""
        return Prefixes(f"{self.scratch}{pid}-", f"{self.group}{pid}-" if self.group else None)

    def remove_all(self) -> None:
        """Removes everything whose path begins with one of them."""
        if self.group:
            cgroups.remove_all(self.group)
        scratch.remove_all(self.scratch)


def _run_bots(control: socket.socket, prefixes: Prefixes, library: int) -> None:
    """The main loop of a warden: runs bots one after the other, until the referee is gone."""
    os.setsid()
    libc.prctl(libc.SUBREAPER, 1)  # guard: orphans
    wake = Wake()
    prepared = PreparedMounts()
    starter = _starter(library)
    while (received := _receive(control)) is not None:
        request, streams = received
        notify(control, TAKEN)
        folder, group = "", None
        try:
            folder = scratch.make(prefixes.scratch)
            group = _group(prefixes.group, request)
            mounts = prepared.of(request)
            env = {**scratch.variables(folder), **request.env}
            request = request._replace(argv=mounts.command(request), env=env)
            bot, listener = start_bot(request, streams, folder, group, mounts.namespaces, starter)
        except OSError as error:
            scratch.remove(folder)
            if group:
                group.remove()
            refuse(control, error)
            continue
        finally:
            for stream in streams:
                os.close(stream)
        program = request.program_filter or Confinement(*request.confinement).seccomp
        refusals = Refusals(listener, program, control)
        if not BotMonitor(control, wake, request, bot, folder, group, refusals).run():
            break


def _starter(library: int) -> Starter | None:
    """The compiled part of starting a bot, where there is one."""
    if library >= 0:
        with contextlib.suppress(OSError):
            return Starter(f"/proc/self/fd/{library}")
    return None


def _group(prefix: str | None, request: Request) -> cgroups.Group | None:
    """A control group for a bot, where one can be made."""
    if prefix:
        with contextlib.suppress(OSError):
            return cgroups.Group(prefix, request.memory_bytes, request.processes, request.processes_around)
    return None


def _receive(control: socket.socket) -> tuple[Request, list[int]] | None:
    """The next request, with the bot's ends of its streams in the order of `STREAMS`; None when the referee
    is gone.
    """
    data, streams = _with_descriptors(control, 65_536, len(STREAMS))
    size = HEAD.unpack_from(data)[0] if len(data) >= HEAD.size else 0
    if len(streams) == len(STREAMS) and size <= LONGEST:
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


def main(scratch_prefix: str, descriptor: int, library: int = -1) -> None:
    """Starts wardens until the referee is gone, and ends after the last of them. The paths of all scratch
    folders begin with `scratch_prefix`; `descriptor` and `library` are those of the socket to the referee and
    of the compiled starter, -1 without one.
    """
    if library >= 0:
        os.set_inheritable(library, False)
    _prepare()
    groups = cgroups.parent_of_groups()
    name = scratch_prefix.rpartition("/")[2]
    prefixes = Prefixes(scratch_prefix, f"{groups}/{name}" if groups else None)
    wake = Wake()
    wardens: set[int] = set()
    _start_wardens(socket.socket(fileno=descriptor), wake, prefixes, wardens, library)
    deadline = time.monotonic() + 6 * UNKILLABLE_S
    while (_reap_wardens(wardens) or wardens) and time.monotonic() < deadline:
        wake.wait(RETRY_S)
    prefixes.remove_all()


def _prepare() -> None:
    """Makes this process one that outlives signals, adopts orphans, and is cheap to fork."""
    for number in _HANDLED:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    libc.prctl(libc.SUBREAPER, 1)  # for the processes of bots that kill their warden
    libc.prctl(libc.PARENT_DEATH, signal.SIGCONT)  # guard: stopped-launcher
    libc.hide()
    gc.disable()  # there is little garbage, and collection would touch memory that forks share


def _start_wardens(
    referee: socket.socket, wake: Wake, prefixes: Prefixes, wardens: set[int], library: int
) -> None:
    """Starts wardens for the referee until it is gone, and removes what those left that have ended."""
    poll = select.poll()
    poll.register(referee, select.POLLIN)
    poll.register(wake.descriptor, select.POLLIN)
    strays = False
    killed: set[int] = set()
    """Wardens that have ended and may have left something."""
    while True:
        ready = {number for number, _ in poll.poll(1 if strays else WATCH_S * 1000 if wardens else None)}
        wake.clear()
        before = set(wardens)
        strays = _reap_wardens(wardens)
        killed |= before - wardens
        while killed and not strays:
            prefixes.of_warden(killed.pop()).remove_all()
        if referee.fileno() in ready:
            data, controls = _with_descriptors(referee, len(NEW_WARDEN), 1)
            if data != NEW_WARDEN or not controls:
                break
            control = socket.socket(fileno=controls[0])
            try:
                warden = os.fork()
            except OSError as error:
                refuse(control, error)
            else:
                if warden == 0:
                    _run_warden(control, referee, wake, prefixes, library)
                wardens.add(warden)
            control.close()


def _run_warden(
    control: socket.socket, referee: socket.socket, wake: Wake, prefixes: Prefixes, library: int
) -> None:
    """Runs a warden in the new process, without the launcher's descriptors."""
    try:
        referee.close()
        wake.close()
        _run_bots(control, prefixes.of_warden(os.getpid()), library)
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
    return tree.kill_children(wardens)  # guard: killed-warden-tree
