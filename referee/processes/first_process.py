"""The first process of a bot's own namespace, whose children are the bot and its orphans.

When it is killed, all others of the namespace are, and `bwrap` exits as it does for a bot that killed itself.
Only the kernel tells the two apart: from Linux 6.15 on, a descriptor of a process tells how it ended, also
when its parent has reaped it (`PIDFD_GET_INFO` in `linux/pidfd.h`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct

from referee.processes import tree

_INFO = struct.Struct("=QQ12i")
"""`struct pidfd_info`: the mask of what is asked and answered first, the exit status last."""

_GET_INFO = 3 << 30 | _INFO.size << 16 | 0xFF << 8 | 11
"""The number of the request: it reads and writes, the size, the kind, its number."""

_EXIT = 1 << 3
"""In the mask: how the process ended."""


class FirstProcess:
    """The first process of the namespace that a program makes for a bot."""

    def __init__(self, program: int) -> None:
        self._program = program
        self._descriptor = -1

    @property
    def is_found(self) -> bool:
        """Whether it has been found."""
        return self._descriptor >= 0

    def find(self) -> None:
        """Looks for it, unless it has been found. Where the system has no descriptors of processes, it never
        is.
        """
        if not self.is_found and hasattr(os, "pidfd_open"):
            for pid in tree.children(self._program):
                with contextlib.suppress(OSError):
                    self._descriptor = os.pidfd_open(pid)
                    return

    def was_killed(self) -> bool:
        """Whether it was found and SIGKILL has ended it."""
        if not self.is_found:
            return False
        info = bytearray(_INFO.pack(_EXIT, *[0] * 13))
        try:
            fcntl.ioctl(self._descriptor, _GET_INFO, info, True)
        except OSError:  # an older kernel
            return False
        mask, *_, status = _INFO.unpack(info)
        return bool(mask & _EXIT) and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    def close(self) -> None:
        """Closes the descriptor, if it has been found."""
        if self.is_found:
            os.close(self._descriptor)
            self._descriptor = -1
