"""Starts the process of a bot: forks, sets up streams, limits and signals, and executes its program."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import signal
import termios

from referee.processes import libc
from referee.processes.cgroups import Group
from referee.processes.confinement import FILES, WRITE, Confinement, confine
from referee.processes.messages import FILTER_DESCRIPTOR, Request


def start_bot(request: Request, streams: list[int], scratch: str, group: Group | None) -> int:
    """Starts the bot, in its control group if it has one.

    Raises `OSError` where its program cannot be executed.
    """
    failed, failing = os.pipe()
    try:
        bot = os.fork()
        if bot == 0:
            _execute_or_report(request, streams, scratch, group, failing)
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


def _execute_or_report(
    request: Request, streams: list[int], scratch: str, group: Group | None, failing: int
) -> None:
    """In the new process: executes the bot's program, or reports why that fails."""
    try:
        if group:
            group.enter()  # guard: own-group
        _execute(request, streams, scratch)
    except OSError as error:
        os.write(failing, f"{error.errno or errno.EINVAL} {error.filename or ''}".encode())
    except (ValueError, MemoryError) as error:
        os.write(failing, f"{errno.EINVAL} {error}".encode())  # its limits cannot be set
    finally:
        os._exit(127)


def _execute(request: Request, streams: list[int], scratch: str) -> None:
    """Sets up session, streams, limits, signals and folder, then executes the bot's program."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    if request.is_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)  # guard: killed-warden
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
    confinement = Confinement(*request.confinement)
    if confinement.user:
        for own in (0, 1, 2, scratch):
            os.chown(own, *confinement.user[:2])
    if request.program_filter:
        _hand_over(request.program_filter)
    if confinement.sandbox == FILES:
        confinement = confinement._replace(rights=(*confinement.rights, (scratch, WRITE)))
    confine(confinement)
    libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)  # a change of user has reset it
    _run(program, request.argv, request.env)


def _run(program: str, argv: tuple[str, ...], env: dict[str, str]) -> None:
    """Executes a program, which is searched for along the path as a shell does. Raises `OSError`.

    Not with `os.execvpe`, which imports a module at this moment: in a sandbox it cannot be read.
    """
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    error = errno.ENOENT
    for path in [program] if "/" in program else [f"{folder or '.'}/{program}" for folder in folders]:
        try:
            os.execve(path, argv, env)
        except OSError as failed:
            # A file that exists but cannot be executed says more than one that does not exist.
            if failed.errno not in (errno.ENOENT, errno.ENOTDIR):
                error = error if error != errno.ENOENT else failed.errno or errno.EINVAL
    raise OSError(error, os.strerror(error), program)


def _hand_over(program_filter: bytes) -> None:
    """Puts the filter of system calls on its descriptor, for the program that will install it."""
    file = os.memfd_create("filter")
    os.write(file, program_filter)
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, FILTER_DESCRIPTOR)
