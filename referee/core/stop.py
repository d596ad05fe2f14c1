"""Signals that ask a run to stop: the first lets the game that is on finish, the second ends it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType

from referee.core.errors import Stopped

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop:
    """While it is entered, `asked` says whether a signal came; a second one raises `Stopped`."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.asked = ""
        """The signal's name, once it came."""
        self._say = say
        """Called from a signal's handler: it must not write through a buffer."""

    def __enter__(self) -> Stop:
        # What is ignored stays so: that is how `nohup` keeps a run alive.
        heeded = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._take) for number in heeded}
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
        self._say(f"{self.asked}: stopping after this game, at once with a second signal")
