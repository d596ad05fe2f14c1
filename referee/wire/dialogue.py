"""The dialogue between the referee and its bots, as lines of text with their times."""

from __future__ import annotations

import time
from collections.abc import Callable

from referee.core.text import shown
from referee.protocol.messages import LINE_CAP


class Dialogue:
    """Formats every line between the referee and its bots, with the seconds since this object was made."""

    def __init__(self, say: Callable[[str], None], began_ns: int | None = None) -> None:
        self._say = say
        self._began_ns = time.monotonic_ns() if began_ns is None else began_ns
        self._partial: dict[tuple[str, str], bytes] = {}

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes what passes now, as a `Tap`."""
        self.take(time.monotonic_ns(), name, direction, data)

    def take(self, now_ns: int, name: str, direction: str, data: bytes) -> None:
        """Takes what passed at a given time."""
        elapsed = (now_ns - self._began_ns) / 1e9
        *lines, rest = (self._partial.pop((name, direction), b"") + data).split(b"\n")
        self._partial[name, direction] = rest[:LINE_CAP]
        for line in lines:
            self._say(f"{elapsed:11.6f} {name} {direction} {shown(line, LINE_CAP)}")
