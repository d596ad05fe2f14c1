"""How many games a second a tournament plays.

    python -m tests.bench.tournament [--games N] [--rounds N] [--isolation LEVEL]

Instant bots in C (`sample_bots/c_bot.c`) play Blooms on side 4, with everything as it is by default: at the
strongest level of isolation that works here, which is named below the table, unless `--isolation` names
another one; their processes are started for each encounter, and every game is on the disk before it counts.
What is counted are the games between the first that counts and the last, so the start of the workers is left
out. A machine's speed drifts: the rows take turns, and what to compare are the ratios. `referee's own` is
the processor time of the process that gives out the tasks and writes the records, of which there is only
one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.core.settings import AUTO, LEVELS
from referee.processes.levels import settled
from referee.processes.program import Program
from referee.tournament.file.config import load
from referee.tournament.playing import TournamentPlayer
from referee.tournament.run.lock import locked
from referee.tournament.run.opening import open_run
from referee.tournament.run.readiness import at_levels, programs_here, ready
from referee.tournament.run.run import find_run
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.task import Finished, Void, Waiting
from tests.needed import compiled

ROOT = Path(__file__).parent.parent.parent


class Row(NamedTuple):
    """A way to play."""

    name: str
    entrants: int = 2
    workers: int = 1
    pin: bool = False
    processes: str = "encounter"


ROWS = (
    Row("1 worker"),
    Row("2 workers", workers=2),
    Row("1 worker, pinned", pin=True),
    Row("2 workers, pinned", workers=2, pin=True),
    Row("1 worker, 1,000 entrants", entrants=1000),
    Row("2 workers, 1,000 entrants", entrants=1000, workers=2),
    Row('1 worker, processes = "worker"', processes="worker"),
    Row('1 worker, processes = "game"', processes="game"),
)
"""Each is compared with the first."""


class Stopwatch:
    """Is told how a tournament goes, and notes when games came to count."""

    def __init__(self, games: int) -> None:
        self._games = games
        self._first, self._last = 0.0, 0.0
        self._counted = -1

    @property
    def enough(self) -> bool:
        """Whether all games that are wanted count."""
        return self._counted >= self._games

    @property
    def per_second(self) -> float:
        """Games a second, after the first."""
        return self._counted / (self._last - self._first)

    def began(self, game: str) -> None:
        """Is nothing yet."""

    def waiting(self, waiting: Waiting) -> None:
        """Is nothing either."""

    def finished(self, finished: Finished) -> None:
        """Counts."""
        if any(finished.game.faults):
            sys.exit(f"{finished.game.id}: {finished.game.sentence}")
        self._last = time.perf_counter()
        self._first = self._first or self._last
        self._counted += 1

    def void(self, void: Void, then: str) -> None:
        """It would spoil the measurement."""
        sys.exit(void.error)

    def rule(self, line: str) -> None:
        """There is none."""

    def note(self, line: str) -> None:
        """A person should know it here too."""
        print(line, file=sys.stderr)

    def tick(self) -> None:
        """Is not waited for."""


def toml(row: Row, bot: Path) -> str:
    """The tournament of a row; it has more games than are played."""
    lines = ["[tournament]", 'game = "blooms"', "rounds = 1000000", 'seed = "bench"', 'clock = "10s"']
    lines += [f'processes = "{row.processes}"', "[options]", "size = 4"]
    for number in range(row.entrants):
        lines += ["[[bot]]", f'name = "bot-{number}"', f'cmd = ["{bot}"]']
    return "\n".join(lines)


def play(row: Row, bot: Path, games: int, isolation: str) -> tuple[float, float]:
    """Games a second, and the processor time of this process for each game in milliseconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bench.toml").write_text(toml(row, bot))
        at_level = at_levels(load(folder / "bench.toml"), isolation, is_here=True)
        with locked(folder / "run"):
            run = find_run(folder / "run")
            tournament = ready(at_level, run.folder, max(1, row.workers))
            programs = programs_here(tournament, run.folder)
            with open_run(tournament, run, programs, True, print) as opened:
                watch = Stopwatch(games)
                player = TournamentPlayer(tournament, opened, tournament.keep, watch, programs, row.workers)
                cpu = time.process_time()
                player.play(local_backend(row.workers, row.pin), lambda: watch.enough)
                cpu = time.process_time() - cpu
                return watch.per_second, cpu / len(opened.state.games) * 1000


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--isolation", choices=(*LEVELS, AUTO), default=AUTO)
    arguments = parser.parse_args()
    (asked,) = settled([Program("asked", ("true",), ROOT, isolation=arguments.isolation)])
    level = asked.isolation
    with tempfile.TemporaryDirectory() as folder:
        bot = compiled(ROOT / "sample_bots" / "c_bot.c", Path(folder))
        rows = [row for row in ROWS if not row.pin or hasattr(os, "sched_setaffinity")]
        rounds = [[play(row, bot, arguments.games, level) for row in rows] for _ in range(arguments.rounds)]
    table = []
    for place, row in enumerate(rows):
        base = 2 if row.pin else 0
        table.append(
            [
                row.name,
                f"{statistics.median(played[place][0] for played in rounds):.1f}",
                f"{statistics.median(played[place][0] / played[base][0] for played in rounds):.2f}",
                f"{statistics.median(played[place][1] for played in rounds):.2f}",
            ]
        )
    headers = ["games a second, median", "", "to 1 worker", "referee's own, ms a game"]
    print(tabulate(table, headers, disable_numparse=True))
    played = f"{arguments.rounds} rounds of {arguments.games} games each; isolation {level}"
    print(f"{played}; Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
