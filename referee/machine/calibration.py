"""How fast this machine computes: fixed work, alone and with as many programs at once as games."""

from __future__ import annotations

import bz2
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from statistics import median_low
from typing import IO, NamedTuple

from referee.core.errors import EnvironmentLacksError
from referee.core.stop import SIGNALS
from referee.games import GAMES
from referee.kit.numbers import Quick
from referee.kit.playouts import step

ROUNDS = 16
"""How often each work is done; the fastest round counts, since whatever disturbs a round makes it slower.

Processor time is measured, not the time on the wall: what other programs take is no property of the machine.
"""

BLOCK_BYTES = 100_000
"""How much text is compressed in a round, which takes about a megabyte of memory."""

GAMES_A_ROUND = 30

_ALONE, _TOGETHER = b"1", b"n"


class Rates(NamedTuple):
    """How much of the fixed work a program gets done in a second of processor time."""

    native: int
    """Thousands of bytes compressed by libbz2: compiled code, with integers, branches and memory."""
    python: int
    """Moves in random games of Blooms, on the engine in Python."""
    share_percent: int
    """How much of a core the program got meanwhile: less than 100 where cores are busy, few or rationed."""


class Speed(NamedTuple):
    """How fast a machine computes."""

    alone: Rates
    """One program, while this measurement runs no other."""
    together: Rates
    """The median program of as many at once as games are played at a time."""


def calibrate(workers: int) -> Speed:
    """The speed of this machine with this many games at a time, which takes about two seconds.

    Raises `EnvironmentLacksError` if the programs cannot be started.
    """
    count = max(1, workers)
    programs: list[subprocess.Popen[bytes]] = []
    orders, reports = os.pipe(), os.pipe()  # one of each for all, so that many programs need few descriptors
    try:
        with os.fdopen(orders[1], "wb", buffering=0) as told, os.fdopen(reports[0], "rb") as lines:
            try:
                for _ in range(count):
                    programs.append(_start(orders[0], reports[1]))
            except OSError as error:
                raise EnvironmentLacksError(
                    f"cannot start {count} programs at the same time: {error.strerror}"
                ) from None
            finally:
                os.close(orders[0])
                os.close(reports[1])
            _lines(lines, count)  # all are ready
            told.write(_ALONE)
            (alone,) = map(_rates, _lines(lines, 1))
            told.write(_TOGETHER * count)
            return Speed(alone, _typical(map(_rates, _lines(lines, count))))
    finally:
        for program in programs:
            program.kill()
            program.wait()


def _start(orders: int, reports: int) -> subprocess.Popen[bytes]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # they are meant for this process alone
    try:
        return subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import sys; sys.path[:] = {sys.path}; from referee.machine.calibration import main; main()",
            ],
            stdin=orders,
            stdout=reports,
            stderr=subprocess.DEVNULL,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _lines(source: IO[bytes], count: int) -> list[bytes]:
    """The next lines that the programs wrote. Raises `EnvironmentLacksError` if they have ended before."""
    lines = [source.readline() for _ in range(count)]
    if not all(line.endswith(b"\n") for line in lines):
        raise EnvironmentLacksError("the programs that measure the speed exited too early")
    return lines


def _rates(line: bytes) -> Rates:
    return Rates(*json.loads(line))


def _typical(measured: Iterable[Rates]) -> Rates:
    return Rates(*map(median_low, zip(*measured, strict=True)))


# --- In each of the programs ------------------------------------------------------------------------------


def main() -> None:
    """Measures whenever it is told to, and ends after it has measured together with others."""
    text, _ = text_to_compress(), random_moves()  # everything is imported and computed once before the start
    _say([])
    while order := os.read(0, 1):  # each program reads one order, whichever is first
        began, used = time.monotonic_ns(), time.process_time_ns()
        native = len(text) / 1000 / _fastest_s(lambda: bz2.compress(text, 1))
        python = random_moves() / _fastest_s(random_moves)
        share = (time.process_time_ns() - used) / (time.monotonic_ns() - began)
        _say([round(native), round(python), round(100 * share)])
        if order == _TOGETHER:
            break


def _say(rates: list[int]) -> None:
    os.write(1, json.dumps(rates).encode() + b"\n")  # one write, so lines of several programs do not mix


def _fastest_s(work: Callable[[], object]) -> float:
    def once() -> int:
        began = time.process_time_ns()
        work()
        return time.process_time_ns() - began

    return min(once() for _ in range(ROUNDS)) / 1e9


def text_to_compress() -> bytes:
    """Text that can be compressed to about half, the same everywhere."""
    numbers = Quick(1)
    words = [b"%x " % numbers.below(16 ** (1 + numbers.below(6))) for _ in range(BLOCK_BYTES // 2)]
    return b"".join(words)[:BLOCK_BYTES]


def random_moves() -> int:
    """Plays random games, the same everywhere, and returns the number of their moves."""
    game = GAMES["blooms"]
    options = game.settle({"size": "6"})
    moves = 0
    for number in range(GAMES_A_ROUND):
        numbers = Quick(number)
        state = game.start(options)
        while state.to_act():
            state = step(state, numbers)
            moves += 1
    return moves
