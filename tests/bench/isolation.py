"""What each level of isolation costs, beside no isolation, in one run.

    python -m tests.bench.isolation [--starts N] [--games N] [--rounds N]

The start of a bot is measured from the request to its first answer, and a move as `tests.bench.overhead` does
it. The levels take turns. On a machine that does other work too, only the shortest times mean much.
"""

from __future__ import annotations

import argparse
import select
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

from referee.core.isolation import LEVELS
from referee.processes import levels
from referee.processes.bot import Bot
from referee.processes.ending import end_processes
from referee.processes.process import BotProcess
from tests.bench.moves import measured
from tests.bench.overhead import ROOT
from tests.needed import compiled


def start_ms(bot: Bot) -> float:
    """Milliseconds from the request to start a bot to its first answer."""
    began = time.perf_counter()
    process = BotProcess(bot)
    try:
        process.write(b"hello 1\n")
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        poll.poll(60_000)
        ended = time.perf_counter()
        if not (process.read() or b"").startswith(b"hello"):
            raise SystemExit(f"the bot did not start at `{bot.isolation}`: {process.complaints.text()}")
        return (ended - began) * 1e3
    finally:
        end_processes([process])


def starts(name: str, command: tuple[str, ...], count: int, used: list[str]) -> list[list[str]]:
    """A row of the table for each level."""
    took: dict[str, list[float]] = {level: [] for level in used}
    bots = {level: Bot(name, command, ROOT, isolation=level) for level in used}
    for bot in bots.values():
        start_ms(bot)  # what is found once for all starts of a bot
    for _ in range(count):
        for level, bot in bots.items():
            took[level].append(start_ms(bot))
    first = took[used[0]]
    return [
        [
            name,
            level,
            f"{min(times):.1f}",
            f"{statistics.median(times):.1f}",
            f"{min(times) - min(first):+.1f}",
            f"{statistics.median(times) - statistics.median(first):+.1f}",
        ]
        for level, times in took.items()
    ]


def moves(bot: Path, games: int, rounds: int, used: list[str]) -> list[list[str]]:
    """A row of the table for each level."""
    took: dict[str, list[float]] = {level: [] for level in used}
    for _ in range(rounds):
        for level in used:
            took[level].append(measured(bot, games, level).wall)
    first = took[used[0]]
    return [
        [
            level,
            f"{min(times):.1f}",
            f"{min(times) / min(first):.3f}",
            f"{statistics.median(one / other for one, other in zip(times, first, strict=True)):.3f}",
        ]
        for level, times in took.items()
    ]


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--starts", type=int, default=100)
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    used = [level for level in LEVELS if not levels.reason(level)]
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(ROOT / "sample_bots" / "c_bot.c", Path(folder))
        python = (sys.executable, str(ROOT / "sample_bots" / "plain_bot.py"))
        rows = starts("C", (str(program),), arguments.starts, used)
        rows += starts("Python", python, arguments.starts, used)
        headers = ["start, ms", "level", "shortest", "median", "more, shortest", "more, median"]
        print(tabulate(rows, headers, disable_numparse=True), end="\n\n")
        headers = ["move, µs", "shortest", "ratio of the shortest", "ratio, median of the rounds"]
        print(
            tabulate(moves(program, arguments.games, arguments.rounds, used), headers, disable_numparse=True)
        )
    print(f"{arguments.starts} starts; {arguments.rounds} rounds of {arguments.games} games each")


if __name__ == "__main__":
    main()
