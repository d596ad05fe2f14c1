"""What a bot's own clock said, in a file that outlives the bot: for each question of a game when it had
been read, when the answer was about to be written, when that was done, and when more followed it.

The clock is the system's monotonic one, which all processes share. Written by `tests/bots/stamping_bot.py`,
whose start this must not hold up.
"""

from __future__ import annotations

import mmap
import os

QUESTIONS = 256
"""More than a seat has in a game here."""

READ, BEFORE, AFTER, TALKED = range(4)

_TIME = 8
_ROW = 4 * _TIME


class Stamps:
    """The file of one game and seat, open for writing. What is written is there at once for all to see."""

    def __init__(self, path: str) -> None:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(file, QUESTIONS * _ROW)
        self._map = mmap.mmap(file, 0)
        os.close(file)

    def put(self, question: int, which: int, time_ns: int) -> None:
        """Writes down a time; questions count from 1."""
        at = (question - 1) * _ROW + which * _TIME
        self._map[at : at + _TIME] = time_ns.to_bytes(_TIME, "little")


def read(path: str) -> list[tuple[int, ...]]:
    """By question the four times, 0 for what did not come to pass."""
    with open(path, "rb") as file:  # noqa: PTH123
        data = file.read()
    numbers = [int.from_bytes(data[at : at + _TIME], "little") for at in range(0, len(data), _TIME)]
    return list(zip(*(numbers[which::4] for which in (READ, BEFORE, AFTER, TALKED)), strict=True))
