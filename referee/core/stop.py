"""Signals that stop a run: the first lets the games in progress finish, the second stops at once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType

from referee.core.errors import Stopped

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """A context manager: `asked` has the name of the first signal that came; the second raises `Stopped`."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.asked = ""
        """The name of the first signal; empty as long as none has come."""
        self._say = say
        """Called from a signal handler, so it must not write through a buffer."""

    def __enter__(self) -> Stop:
        # A signal that is ignored stays ignored: that is how `nohup` keeps a run alive.
        handled = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._take) for number in handled}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise Stopped(f"stopped at once by {signal.Signals(number).name}")
        self.asked = signal.Signals(number).name
        self._say(f"{self.asked}: stopping after this game; a second signal stops at once")
