"""The first process of a bot's own namespace, whose children are the bot and its orphans.

When the bot has exited, `bwrap` exits too, and the kernel ends all that is left in the namespace. So `bwrap`
is stopped while the bot runs, until somebody has looked at what is left.

When the first process is killed, all others of the namespace are, and `bwrap` exits as it does for a bot that
killed itself. Only the kernel tells the two apart: from Linux 6.15 on, a descriptor of a process tells how it
ended, also when its parent has reaped it (`PIDFD_GET_INFO` in `linux/pidfd.h`).
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
