"""Starts the process of a bot: forks, sets up streams, limits and confinement, and executes its program.

`starter.c` does the same without Python, where it was compiled.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import signal
import socket
import termios
from collections.abc import Mapping, Sequence

from referee.processes import libc
from referee.processes.cgroups import Group
from referee.processes.confinement import (
    Confinement,
    confine,
    keep_from_proc,
    make_rules,
    make_ruleset,
    protect_devices,
)
from referee.processes.messages import FILTER_DESCRIPTOR, STDIN_INSIDE, STDOUT_INSIDE, Request
from referee.processes.starter import Preparation, Starter

_LISTENER = b"L"  # A byte that is sent together with the listener, since a descriptor cannot be sent alone


def start_bot(
    request: Request,
    streams: list[int],
    scratch: str,
    group: Group | None,
    namespaces: Sequence[int],
    starter: Starter | None,
) -> tuple[int, int]:
    """Starts the bot, in its control group if it has one, and in namespaces that were prepared, if any.
    Returns its process, and the descriptor of the listener to its filter of system calls, -1 if nobody
    listens. The `starter` is used unless mounts are made in the new process.

    Raises `OSError` where its program cannot be executed.
    """
    writable = (scratch, *(f"/proc/self/fd/{stream}" for stream in streams))
    confinement = Confinement(*request.confinement)
    if confinement.user:
        own: tuple[int | str, ...] = (*streams, scratch)
        for each in own:
            os.chown(each, *confinement.user[:2])
    if request.program_filter and os.path.isdir(request.cwd):
        _check(request)
    ruleset, rules = make_ruleset(confinement), make_rules(confinement, writable)
    try:
        prepared = Preparation(request, streams, _limits(request.limits), ruleset, rules, namespaces)
        parent, child = socket.socketpair()
        with parent:
            with child:
                bot = -1
                if starter and (namespaces or not request.program_filter or os.geteuid() != 0):
                    bot = _start_compiled(starter, prepared, group, child)
                if bot < 0:
                    bot = group.fork() if group else os.fork()  # guard: own-group
                if bot == 0:
                    _execute_or_report(prepared, child)
            listener, error = _outcome(parent)
    finally:
        if ruleset >= 0:
            os.close(ruleset)
    if error:
        if listener >= 0:
            os.close(listener)
        os.waitpid(bot, 0)
        number, _, name = error.decode("utf-8", "replace").partition(" ")
        raise OSError(int(number), os.strerror(int(number)), name)
    return bot, listener


def _start_compiled(
    starter: Starter, prepared: Preparation, group: Group | None, report: socket.socket
) -> int:
    """Starts the bot without Python. Returns its process; a negative number where that cannot be done."""
    places = _places(prepared.request.argv[0], prepared.request.env)
    with contextlib.suppress(OSError), group.folder() if group else contextlib.nullcontext(-1) as folder:
        return starter.start(prepared, folder, report, places)
    return -1


def _outcome(parent: socket.socket) -> tuple[int, bytes]:
    """The listener to the bot's filter or -1, and why its program was not executed; empty if it was."""
    data, descriptors, _, _ = socket.recv_fds(parent, 65_536, 1)
    if not descriptors:
        return -1, data
    os.set_inheritable(descriptors[0], False)
    return descriptors[0], data.removeprefix(_LISTENER) + parent.recv(65_536)


def _execute_or_report(prepared: Preparation, parent: socket.socket) -> None:
    """Runs in the new process: executes the bot's program, or reports why that fails."""
    try:
        _execute(prepared, parent)
    except OSError as error:
        parent.sendall(f"{error.errno or errno.EINVAL} {error.filename or ''}".encode())
    except (ValueError, MemoryError) as error:
        parent.sendall(f"{errno.EINVAL} {error}".encode())  # its limits cannot be set
    finally:
        os._exit(127)


def _execute(prepared: Preparation, parent: socket.socket) -> None:
    """Sets up session, streams, limits and folder, then executes the bot's program."""
    request, streams, limits, ruleset, rules, namespaces = prepared
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    if request.is_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    _die_with_warden()
    libc.hide(False)  # else the file would be root's
    with contextlib.suppress(OSError):
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, b"1000")  # if memory runs out, bots are killed first
        os.close(score)
    libc.hide()
    for number, values in limits:
        resource.setrlimit(number, values)  # guard: limits-of-the-kernel
    os.chdir(request.cwd)
    confinement = Confinement(*request.confinement)
    if request.program_filter:
        if not namespaces:  # in which it was done
            protect_devices()
        keep_from_proc()
    if (listener := confine(confinement, ruleset, rules, namespaces)) >= 0:
        # Until the program is executed, nobody listens: nothing here makes a call that is refused.
        socket.send_fds(parent, [_LISTENER], [listener])
    if request.program_filter:
        _hand_over(request.program_filter if listener < 0 else request.deferring_filter)
    _die_with_warden()  # a change of user has reset it
    _run(request.argv, request.env)


def _die_with_warden() -> None:
    """Has the kernel end this process when its warden ends."""
    libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)  # guard: killed-warden


def _limits(named: Mapping[str, tuple[int, int]]) -> list[tuple[int, tuple[int, int]]]:
    """Limits of the kernel by their numbers, from their names in `resource`, as far as those of this process
    allow them.
    """
    found = []
    for name, (soft, hard) in named.items():
        number = getattr(resource, name)
        ceiling = resource.getrlimit(number)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        found.append((number, (soft, hard)))
    return found


def _run(argv: tuple[str, ...], env: dict[str, str]) -> None:
    """Executes a program, which is searched for along the path as a shell does. Raises `OSError`.

    Not with `os.execvpe`, which imports a module at this moment: in a sandbox it cannot be read.
    """
    error = errno.ENOENT
    for path in _places(argv[0], env):
        try:
            os.execve(path, argv, env)
        except OSError as failed:
            # A file that exists but cannot be executed says more than one that does not exist.
            if failed.errno not in (errno.ENOENT, errno.ENOTDIR):
                error = error if error != errno.ENOENT else failed.errno or errno.EINVAL
    raise OSError(error, os.strerror(error), argv[0])


def _check(request: Request) -> None:
    """Raises the `OSError` that executing a program would raise: another program, which confines the bot,
    executes it later and would only exit.
    """
    error = errno.ENOENT
    for place in _places(request.program, request.env):
        path = os.path.join(request.cwd, place)
        try:
            if not os.path.isfile(path):
                os.stat(path)
                error = errno.EACCES
            elif not os.access(path, os.X_OK):
                error = errno.EACCES
            elif not (reason := _unfit(path)):
                return
            else:
                error = reason
        except OSError:
            continue
    raise OSError(error, os.strerror(error), request.program)


def _unfit(path: str) -> int:
    """The number of the error with which the kernel would refuse a regular file as a program; 0 if none."""
    start, own = _start_of(path), _start_of("/proc/self/exe")
    if start.startswith(b"#!"):
        line = start[2:].partition(b"\n")[0].strip(b" \t")
        interpreter = line.replace(b"\t", b" ").partition(b" ")[0]  # with a carriage return, if there is one
        return 0 if interpreter and os.access(interpreter, os.X_OK) else errno.ENOENT
    is_program = start.startswith(b"\x7fELF") and start[4:6] == own[4:6] and start[18:20] == own[18:20]
    return 0 if is_program or not own else errno.ENOEXEC


def _start_of(path: str) -> bytes:
    """The first bytes of a file; empty where it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, 256)
    except OSError:
        return b""
    finally:
        os.close(file)


def _places(program: str, env: dict[str, str]) -> list[str]:
    """Returns the paths where a shell would search for a program."""
    if "/" in program:
        return [program]
    return [f"{folder or '.'}/{program}" for folder in env.get("PATH", os.defpath).split(os.pathsep)]


def _hand_over(program_filter: bytes) -> None:
    """Puts the filter of system calls and the streams on their descriptors, for the program that confines the
    bot.
    """
    os.dup2(0, STDIN_INSIDE)
    os.dup2(1, STDOUT_INSIDE)
    nothing = os.open("/dev/null", os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    file = os.memfd_create("filter")
    os.write(file, program_filter)
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, FILTER_DESCRIPTOR)
