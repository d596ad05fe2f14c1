"""Remarks: what a check shows that is no failure, and that the author of the bot should know. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from referee.core.text import counted, shown

NOISE_HINT = (
    "stdout is only for the protocol: write debug output to stderr (in Python `print(..., "
    "file=sys.stderr)`), or as lines `log TEXT`, which the record keeps; a line that begins with one of the "
    "protocol's words would lose the game"
)
STALE_HINT = "send exactly one line `move N TEXT` for each `ask`"
STATUS_HINT = (
    "exit with status 0 on `quit` and at the end of the input; the bot's stderr may say what went wrong"
)
SEED_HINT = (
    "this is not required; to make its games repeatable, derive all randomness from `seed` "
    "and do not depend on the time"
)


class Remark(NamedTuple):
    """One remark: what happened, a hint, and the lines that show it."""

    cause: str  # what identifies it: each cause is told once in a check
    what: str
    hint: str
    lines: tuple[str, ...] = ()


class Remarks:
    """The remarks of a check that were not reported yet; each cause is reported once."""

    def __init__(self) -> None:
        self._causes: set[str] = set()
        self._new: list[Remark] = []

    def add(self, remark: Remark) -> None:
        """Adds a remark, unless there was one of the same cause."""
        if remark.cause not in self._causes:
            self._causes.add(remark.cause)
            self._new.append(remark)

    def take(self) -> tuple[Remark, ...]:
        """The remarks since the last call."""
        new, self._new = self._new, []
        return tuple(new)


def of_noise(lines: Sequence[bytes], count: int) -> Remark:
    """A remark on lines that are no messages: the first of them, and how many there were."""
    texts = [shown(line, 100) for line in lines]
    if count > len(lines):
        texts.append(f"… and {count - len(lines)} more")
    what = "a line that is not a message" if count == 1 else "lines that are not messages"
    return Remark("noise", f"the bot wrote {what} to stdout", NOISE_HINT, tuple(texts))


def of_stale_answers(count: int) -> Remark:
    """A remark on answers to questions that were closed already."""
    was = "was dropped: its question was" if count == 1 else "were dropped: their questions were"
    return Remark("stale", f"{counted(count, 'answer')} {was} already closed", STALE_HINT)
