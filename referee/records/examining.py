"""Examines the lines of a file of records, in several processes where there are many lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import Protocol, TypeVar

from referee.processes.parallel import in_order
from referee.records.journal import JournalLine
from referee.records.replay import ExaminedLine, examined, openings_of_run

T = TypeVar("T")


class HasText(Protocol):
    """What has the text of a line."""

    @property
    def text(self) -> bytes:
        """Without its newline."""


L = TypeVar("L", bound=HasText)

CHUNK_BYTES = 1 << 16
"""How many bytes of lines a process is given at once, at least: enough that a few games take longer than to
send them, and little enough that the processes end at about the same time.
"""


def examined_lines(
    lines: Iterable[JournalLine], workers: int
) -> Generator[tuple[JournalLine, ExaminedLine], None, None]:
    """The lines in their order, each with what the verification of it alone found.

    They are examined as `each_line` does it; raises what it raises.
    """
    lines = iter(lines)
    first = next(lines, None)
    if first is not None:
        openings = openings_of_run(first.text)
        yield from each_line(chain([first], lines), workers, lambda text: examined(text, openings))


def each_line(
    lines: Iterable[L], workers: int, examine: Callable[[bytes], T]
) -> Generator[tuple[L, T], None, None]:
    """The lines in their order, each with what `examine` gives for its text; that is sent as a pickle.

    They are divided among processes as `in_order` does it, some at a time, so that a few lines need no other
    process; raises what it raises.
    """
    taken: deque[list[L]] = deque()

    def texts() -> Iterator[list[bytes]]:
        for chunk in _chunks(lines):
            taken.append(chunk)
            yield [line.text for line in chunk]

    def examine_all(chunk: list[bytes]) -> list[T]:
        return [examine(text) for text in chunk]

    with closing(in_order(examine_all, texts(), workers)) as results:
        for found in results:
            yield from zip(taken.popleft(), found, strict=True)


def _chunks(lines: Iterable[L]) -> Iterator[list[L]]:
    chunk: list[L] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line.text)
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
