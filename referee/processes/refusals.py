"""Refuses a bot's system calls in place of its filter, and counts them, for its warden.

The kernel has a filter that asks instead of refusing (seccomp_unotify(2)): the call waits until whoever
listens to the filter answers. The answer here is always an error, the one that the filter itself would have
given, so nothing that a bot does can have a call made that is not on the list. Once nobody listens any more,
because there were too many calls or the warden is gone, the kernel answers all of them with ENOSYS.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct

from referee.processes import bpf
from referee.processes.messages import DENIED, line, notify

MAX_COUNTED = 1000  # maximum number of calls that are counted: beyond, a bot would keep its warden busy

TOLD = 100
"""Number of calls that the referee is told of at once. It learns of the others when the bot has ended, so
that the buffer of the socket to it never fills.
"""

MAX_KINDS = 32  # maximum number of calls that are counted each for itself, so that few lines tell of them

OTHERS = (-1, 0)  # in the place of a call: those beyond `MAX_KINDS`

_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND
_ASKED = struct.Struct("=QII64s")  # the number of the question, the process, flags, and what filters look at
_CALL = struct.Struct("=iI")
_ANSWER = struct.Struct("=QqiI")
"""The number of the question, a result, the negative number of an error, flags."""


class Refusals:
    """The calls that one bot was refused."""

    def __init__(self, listener: int, program: bytes, control: socket.socket) -> None:
        """`listener`: the descriptor of the filter that asks; `program`: the filter that refuses; `control`:
        the socket to the referee.
        """
        self.listener = listener
        self._control = control
        self._program = program
        self._total = 0
        self.counts: dict[tuple[int, int], int] = {}
        """How often each call was refused, by its number and architecture; the last one refused comes last.
        """

    def refuse_one(self) -> bool:
        """Refuses the call that waits, if it still does. Returns whether more are counted.

        The listener must be readable: then this does not block. The referee is told before the bot goes on,
        so that it knows of the call when the bot's next answer comes.
        """
        asked = bytearray(_ASKED.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, asked)
            question, _, _, call = _ASKED.unpack(asked)
        except OSError:
            return True  # the process was killed meanwhile
        kind = _CALL.unpack_from(call)
        if kind not in self.counts and len(self.counts) >= MAX_KINDS:
            kind = OTHERS
        self.counts[kind] = self.counts.pop(kind, 0) + 1
        self._total += 1
        if self._total <= TOLD:
            notify(self._control, DENIED, *kind, self.counts[kind])
        error = bpf.error_of(self._program, call)
        with contextlib.suppress(OSError):  # the process was killed meanwhile
            fcntl.ioctl(self.listener, _SEND, _ANSWER.pack(question, 0, -error, 0))
        return self._total < MAX_COUNTED  # guard: most-refusals

    def notices(self) -> list[bytes]:
        """What tells the referee of all calls."""
        return [line(DENIED, *kind, count) for kind, count in self.counts.items()]

    def close(self) -> None:
        """Makes the kernel refuse all further calls."""
        if self.listener >= 0:
            os.close(self.listener)
            self.listener = -1
