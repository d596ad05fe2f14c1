"""The end of the dialogue with a bot: its last lines, and when certain messages were first sent."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from referee.core.text import shown
from referee.protocol.messages import LINE_CAP, WORDS_OF, Speaker
from referee.wire.dialogue import SPEAKERS, STDERR

_MAX_ROWS = 8  # consecutive lines of one sender that begin with the same word count as one row

_WIDTH = 100

_TIMED_MESSAGES = {("<", b"prepare"), ("<", b"ask"), (">", b"hello"), (">", b"ready"), (">", b"move")}

NOISE_KEPT = 3  # the first lines that are no messages are kept; all of them are counted


@dataclass
class _Row:
    """Consecutive lines of one sender that begin with the same word."""

    direction: str
    word: bytes
    first: bytes
    last: bytes
    count: int = 1
    ended: bool = True  # whether the last line ended with a newline


class DialogueTail:
    """A tap for a connection, with bounded memory however long the dialogue is."""

    def __init__(self) -> None:
        self._began_ns = time.monotonic_ns()
        self._rows: deque[_Row] = deque(maxlen=_MAX_ROWS)
        self._partial = {"<": b"", ">": b""}
        self._times_ns: dict[tuple[str, bytes], int] = {}
        self.noise: list[bytes] = []  # the first lines of the bot that are no messages
        self.noise_count = 0

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes bytes that were sent in one direction: `<` to the bot, `>` from it. Its stderr is shown
        elsewhere.
        """
        if direction == STDERR:
            return
        if direction == "<" and (partial := self._partial[">"]):
            self._rows.append(_Row(">", b"", partial, partial, ended=False))
            self._partial[">"] = b""
        *lines, rest = (self._partial[direction] + data).split(b"\n")
        self._partial[direction] = rest[:LINE_CAP]
        for line in lines:
            self._take(direction, line)

    def _take(self, direction: str, line: bytes) -> None:
        word = line[:LINE_CAP].strip().partition(b" ")[0]
        if (direction, word) in _TIMED_MESSAGES:
            self._times_ns.setdefault((direction, word), time.monotonic_ns())
        if direction == ">" and word.decode("ascii", "replace") not in WORDS_OF[Speaker.BOT]:
            self.noise_count += 1
            self.noise += [line] * (self.noise_count <= NOISE_KEPT)
        last = self._rows[-1] if self._rows else None
        if last and (last.direction, last.word) == (direction, word):
            last.last = line
            last.count += 1
        else:
            self._rows.append(_Row(direction, word, line, line))

    def when_us(self, direction: str, word: bytes) -> int | None:
        """Microseconds from the start to the first line with this word, or None if there was none."""
        time_ns = self._times_ns.get((direction, word))
        return None if time_ns is None else (time_ns - self._began_ns) // 1000

    def lines(self) -> tuple[str, ...]:
        """The last lines, in the format of the protocol's examples."""
        rows = [*self._rows]
        if partial := self._partial[">"]:
            rows.append(_Row(">", b"", partial, partial, ended=False))
        lines: list[str] = []
        for row in rows:
            sender = SPEAKERS[row.direction]
            lines.append(f"{sender}: {shown(row.first, _WIDTH)}")
            if row.count > 2:
                lines.append(f"# … {row.count - 2} more such lines")
            if row.count > 1:
                lines.append(f"{sender}: {shown(row.last, _WIDTH)}")
            if not row.ended:
                lines.append("# … without a newline")
        return tuple(lines)
