"""Messages between referee, launcher and wardens.

A request is a `Request` with the descriptors of `STREAMS`; what a warden reports are notices: lines of ASCII,
a word and its arguments, with names escaped as in Python.
"""

from __future__ import annotations

import contextlib
import errno
import marshal
import socket
import struct
from collections import namedtuple

NEW_WARDEN = b"W"  # to the launcher, with one descriptor, the socket of a new warden

STREAMS = ("stdin", "stdout", "stderr")
"""The descriptors that are sent with a request to a warden, in this order: the bot's ends of its streams."""

HEAD = struct.Struct("!I")  # before a request: its length in bytes

TERMINATE = b"T"  # to a warden: send SIGTERM to the bot's group

KILL = b"K"
"""To a warden: kill all processes of the bot, report, and wait for the next one. Any other byte means the
same; the end of the socket means that there is no next one.
"""

LONGEST = 1 << 24
"""Maximum number of bytes of a request: far more than the system allows for arguments and environment."""


STDIN_INSIDE, STDOUT_INSIDE = 8, 9
"""The descriptors of a program that confines the bot on which it gets the bot's stdin and stdout: it passes
them on without holding them open itself, as it would do with 0 and 1, so that it is seen when the bot closes
one.
"""

FILTER_DESCRIPTOR = 3
"""The descriptor of a program that confines the bot on which it gets the filter of system calls."""


WRITABLE_INSIDE = ("/tmp", "/dev/shm")
"""The folders that a bot in namespaces of its own can write to; each is a file system of its own."""


class Request(
    namedtuple(
        "Request",
        "program argv cwd env is_terminal limits memory_bytes processes scratch_bytes scratch_files "
        "confinement program_filter deferring_filter root",
    )
):
    """The request to start a bot.

    `program`: the bot's program; `argv`: what is executed, perhaps another program that confines the bot;
    `limits`: soft and hard value of each limit that the kernel enforces, by its name in `resource`;
    `memory_bytes` and `processes`: the limits of the whole process tree, or None; `scratch_bytes` and
    `scratch_files`: those of its scratch folder; `confinement`: the fields of a `Confinement`;
    `program_filter`: where `argv` is a program that confines the bot and runs it, what that program gets on
    its descriptor `FILTER_DESCRIPTOR`, else empty; `deferring_filter`: what it gets instead where a filter
    around it asks about the bot's calls; `root`: the fields of the `Root` of `argv`, or None.
    """

    @property
    def processes_around(self) -> int:
        """How many processes of the program that confines the bot count with those of the bot."""
        return 2 if self.program_filter else 0

    def encode(self) -> bytes:
        """The bytes to send. Both ends run the same interpreter, so `marshal` is enough."""
        body = marshal.dumps(tuple(self))
        return HEAD.pack(len(body)) + body


TAKEN = "taken"  # the request has come, and the bot is being started: its bot may end the warden from now on

LOST_WARDEN = "was ended when the process that watches over it was killed"
"""How a bot ended whose warden ended before it, for people."""

STARTED = "started"  # the bot's process and the warden's

REFUSED = "refused"  # the bot could not be started: the number of the error, and the file that it concerns

EXITED = "exited"  # the bot's own process ended: its status, as `subprocess` counts it

EXCEEDED = "exceeded"
"""The bot is killed because it exceeded a limit: which, what it had, and what is allowed."""

WRAPPER_KILLED = "wrapper-killed"
"""A signal ended the program that confines the bot, or the first process of the bot's namespace, and the bot
with it. No bot can reach either, so unless the bot had exceeded a limit, something outside sent the signal.
"""

DENIED = "denied"
"""A system call that the bot was refused: its number, its architecture, and how often until now."""

MEMORY, PROCESSES, SCRATCH_BYTES, SCRATCH_FILES = "memory", "processes", "scratch", "scratch_files"
"""The limits of a bot's whole process tree, by the names that users give them."""

SCRATCH_DEPTH = "scratch_depth"
"""Folders in the scratch folder that lie too deep in one another to be counted."""

OUT_OF_MEMORY = "out-of-memory"
"""In the place of a limit: the machine, or the referee's control group, had no memory left, and the system
killed the bot.
"""

ORPHAN, ESCAPED, UNKILLABLE = "orphan", "escaped", "unkillable"
"""A process that the bot left behind, that had left its group, or that could not be killed."""

ENDED = "ended"
"""All processes of the bot have ended: microseconds of processor time, and peak bytes of its largest process.
"""


def line(word: str, *rest: object) -> bytes:
    """The bytes of a notice."""
    return " ".join([word, *map(str, rest)]).encode("unicode_escape") + b"\n"


def notify(control: socket.socket, word: str, *rest: object) -> None:
    """Sends a notice to the referee, if it still listens."""
    with contextlib.suppress(OSError):  # the referee is gone
        control.sendall(line(word, *rest))


def refuse(control: socket.socket, error: OSError) -> None:
    """Tells the referee that the bot could not be started."""
    notify(control, REFUSED, error.errno or errno.EINVAL, error.filename or "")
