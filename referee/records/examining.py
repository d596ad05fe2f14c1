"""Examines the lines of a file of records, in several processes where there are many lines."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from referee.core.errors import EnvironmentLacksError
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

AHEAD = 4
"""How many chunks for each process are read before the first of them has been examined."""

_SIGNALS = {signal.SIGINT, signal.SIGHUP, signal.SIGTERM}


def examined_lines(
    lines: Iterable[JournalLine], workers: int
) -> Generator[tuple[JournalLine, ExaminedLine], None, None]:
    """The lines in their order, each with what the verification of it alone found.

    They are examined as `each_line` does it; raises `EnvironmentLacksError` as it does.
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

    They are examined by this many processes, or by this one: for 0 or 1 workers, or if there are only a few
    lines. Raises `EnvironmentLacksError` where a process ends unasked.
    """
    chunks = _chunks(lines)
    first = list(islice(chunks, 2))
    chunks = chain(first, chunks)
    if workers < 2 or len(first) < 2:
        for line in chain.from_iterable(chunks):
            yield line, examine(line.text)
        return
    with _Examiners(workers, examine) as examiners:
        yield from examiners.examine(chunks)


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


class _Examiners(Generic[T]):
    """Processes that examine lines. They end with this one, however that ends, since nobody else holds the
    other ends of their connections.
    """

    def __init__(self, count: int, examine: Callable[[bytes], T]) -> None:
        self._count = count
        self._examine = examine
        self._idle: list[Connection] = []
        self._processes: list[BaseProcess] = []
        self._given: dict[Connection, int] = {}
        """The numbers of the chunks that are being examined."""

    def __enter__(self) -> _Examiners[T]:
        context = multiprocessing.get_context("fork")
        # A signal is to be taken by this process alone, also if it comes before the others ignore it.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            for _ in range(self._count):
                ours, theirs = context.Pipe()
                self._idle.append(ours)
                args = (theirs, list(self._idle), blocked, self._examine)
                process = context.Process(target=_work, args=args, daemon=True)
                process.start()
                self._processes.append(process)
                theirs.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in (*self._idle, *self._given):
            connection.close()
        for process in self._processes:
            process.kill()
            process.join()
            process.close()

    def examine(self, chunks: Iterable[list[L]]) -> Iterator[tuple[L, T]]:
        """The lines of all chunks, in their order, each with what was found."""
        numbered = enumerate(chunks)
        lines: dict[int, list[L]] = {}
        found: dict[int, list[T]] = {}
        number = 0
        try:
            while True:
                # Only a process that waits for lines is sent any: so neither side waits for the other.
                while self._idle and len(lines) < AHEAD * self._count and (item := next(numbered, None)):
                    lines[item[0]] = item[1]
                    connection = self._idle.pop()
                    self._given[connection] = item[0]
                    connection.send([line.text for line in item[1]])
                if not self._given:
                    return
                for ready in wait(list(self._given)):
                    assert isinstance(ready, Connection)
                    found[self._given[ready]] = ready.recv()
                    del self._given[ready]
                    self._idle.append(ready)
                while number in found:
                    yield from zip(lines.pop(number), found.pop(number), strict=True)
                    number += 1
        except (EOFError, ConnectionError):
            raise EnvironmentLacksError(
                "a process that read records was ended by something else; "
                "with `--workers 1` there are no such processes"
            ) from None


def _work(
    connection: Connection,
    others: list[Connection],
    blocked: set[signal.Signals],
    examine: Callable[[bytes], object],
) -> None:
    """Examines the lines that come, until nobody is left to send any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    for other in others:
        other.close()
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            connection.send([examine(line) for line in connection.recv()])
