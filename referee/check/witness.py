"""What passed between the referee and a bot: the last lines of it, and when something was first said."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from protocol.messages import LINE_CAP
from referee.core.text import shown

_KEPT = 8
"""Rows; alike lines that follow each other are one."""

_WIDTH = 100

_SPEAKERS = {"<": "REF", ">": "BOT"}

_STAMPED = {("<", b"prepare"), (">", b"hello"), (">", b"ready")}


@dataclass
class _Row:
    """Lines of one speaker that begin with the same word."""

    direction: str
    word: bytes
    first: bytes
    last: bytes
    count: int = 1
    ended: bool = True
    """Whether its newline came."""


class Witness:
    """A tap for a link. It holds little, however much passes."""

    def __init__(self) -> None:
        self._began_ns = time.monotonic_ns()
        self._rows: deque[_Row] = deque(maxlen=_KEPT)
        self._partial = {"<": b"", ">": b""}
        self._stamps: dict[tuple[str, bytes], int] = {}

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """What passed."""
        if direction == "<" and (partial := self._partial[">"]):
            self._rows.append(_Row(">", b"", partial, partial, ended=False))
            self._partial[">"] = b""
        *lines, rest = (self._partial[direction] + data).split(b"\n")
        self._partial[direction] = rest[:LINE_CAP]
        for line in lines:
            self._take(direction, line)

    def _take(self, direction: str, line: bytes) -> None:
        word = line[:LINE_CAP].strip().partition(b" ")[0]
        if (direction, word) in _STAMPED:
            self._stamps.setdefault((direction, word), time.monotonic_ns())
        last = self._rows[-1] if self._rows else None
        if last and (last.direction, last.word) == (direction, word):
            last.last = line
            last.count += 1
        else:
            self._rows.append(_Row(direction, word, line, line))

    def when_us(self, direction: str, word: bytes) -> int | None:
        """How long after the beginning a line with this word first passed; None if none did."""
        stamp = self._stamps.get((direction, word))
        return None if stamp is None else (stamp - self._began_ns) // 1000

    def lines(self) -> tuple[str, ...]:
        """The last that passed, as the protocol's own examples have it."""
        rows = [*self._rows]
        if partial := self._partial[">"]:
            rows.append(_Row(">", b"", partial, partial, ended=False))
        lines: list[str] = []
        for row in rows:
            speaker = _SPEAKERS[row.direction]
            lines.append(f"{speaker}: {shown(row.first, _WIDTH)}")
            if row.count > 2:
                lines.append(f"# … {row.count - 2} more such lines")
            if row.count > 1:
                lines.append(f"{speaker}: {shown(row.last, _WIDTH)}")
            if not row.ended:
                lines.append("# … without a newline")
        return tuple(lines)
