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
from referee.processes.messages import Request


def start_bot(request: Request, streams: list[int]) -> int:
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
    libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)  # guard: killed-warden
    libc.hide(False)  # else the file would be root's
    with contextlib.suppress(OSError):
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, b"1000")  # if memory runs out, bots are killed first
        os.close(score)
    libc.hide()
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
