"""What the referee costs per move, beside the least that a referee can do, in one run.

    python -m tests.bench.overhead [--games N] [--rounds N] [--beside FOLDER ...]

Both play the same games of Blooms on side 5, move by move, with the same instant bot in C
(`sample_bots/c_bot.c`). The referee does all it does in a tournament: rules, clocks, stderr, dialogue, a
record of each game on the disk. The other one (`minimal_referee.c`) relays moves and knows no rules: what is
captured stands in a script. They take turns, pinned to one core and free; what counts are the ratios, since a
machine's speed drifts. Time in which the journal waits for the disk is left out and has a column of its own,
since the minimal referee keeps no records.

`--beside` names the folder of another checkout, whose referee takes its turn in each round: an earlier
commit, say, in a folder that `git worktree add ../before HEAD~5` makes. Beside each time stands the ratio of
the shortest times and the median of the ratios of the rounds. On a machine that does other work too, trust
the processor time, the shortest times, and many short rounds. All checkouts are run by the same interpreter,
whose build the last line names: one that was compiled with optimisation is a tenth faster.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.core.seeds import bot_seed
from referee.gameplay.events import Moved
from referee.games.api import State
from referee.records.record import GameRecord
from referee.tournament.workers.encounter import play_encounter
from tests.bench.moves import Measured, plan_of, terms_of
from tests.needed import compiled

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def ours(checkout: Path, bot: Path, games: int) -> Measured:
    """What a move takes the referee of a checkout, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": f"{checkout}{os.pathsep}{HERE}"}
    program = [sys.executable, "-c", "from moves import main; main()", str(bot), str(games)]
    done = subprocess.run(program, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the referee in `{checkout}` cannot be measured:\n{done.stderr}")
    folder, *times = json.loads(done.stdout)
    if Path(folder) != checkout:
        raise SystemExit(f"`{checkout}` has no referee: the one in `{folder}` was found")
    return Measured(*times)


def minimal(program: Path, bot: Path, script: Path) -> float:
    """Microseconds per move of the minimal referee."""
    done = subprocess.run([program, bot, script], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1000


def script_of(record: GameRecord) -> str:
    """A game as the script of the minimal referee has it."""
    terms = record.terms
    state: State[object] = terms.game.start(terms.options)
    captured = []
    for event in record.events:
        assert isinstance(event, Moved)
        before = len(state.seen(None))
        state = state.play({event.seat: state.read(event.seat, event.text)})
        captured.append("\n".join(state.seen(None)[before + 1 :]))
    seeds = " ".join(str(bot_seed(terms.seed, seat)) for seat in range(2))
    return "\n".join((f"{seeds} {len(captured)}", *captured, ""))


def build() -> str:
    """The interpreter: its version, and how it was compiled."""
    version = f"{sys.implementation.name} {sys.version.split()[0]}"
    flags = (sysconfig.get_config_var("PY_CFLAGS") or "").split()
    options = (sysconfig.get_config_var("CONFIG_ARGS") or "").replace("'", "").split()
    chosen = [flag for flag in flags if flag.startswith(("-O", "-flto", "-fprofile"))]
    chosen += [option for option in options if option in ("--enable-optimizations", "--with-lto")]
    return f"{version}, compiled by {sys.version.partition('[')[2].rstrip(']')} with {' '.join(chosen)}"


class Round(NamedTuple):
    """What was measured in turn, in microseconds per move."""

    ours: list[Measured]
    """Of each checkout; this one comes first."""
    minimal: float


HEADERS = (
    *("µs per move: shortest, median", "referee", "elapsed", "beside minimal"),
    *("own CPU", "beside this checkout", "sync"),
)


def rows_of(names: Sequence[str], rounds: Sequence[Round]) -> list[list[str]]:
    """The rows of the table: one for each checkout, and one for the minimal referee."""
    least = [each.minimal for each in rounds]
    first = [each.ours[0].cpu for each in rounds]
    rows = []
    for name, one in zip(names, zip(*(each.ours for each in rounds), strict=True), strict=True):
        wall, cpu = [each.wall for each in one], [each.cpu for each in one]
        sync = statistics.median(each.sync for each in one)
        rows.append(
            [name, _times(wall), _ratios(wall, least), _times(cpu), _ratios(cpu, first), f"{sync:.1f}"]
        )
    return [*rows, ["minimal, in C", _times(least)]]


def _times(times: Sequence[float]) -> str:
    return f"{min(times):.1f}, {statistics.median(times):.1f}"


def _ratios(times: Sequence[float], others: Sequence[float]) -> str:
    """The ratio of the shortest, and the median of the ratios of the rounds."""
    ratio = statistics.median(one / other for one, other in zip(times, others, strict=True))
    return f"{min(times) / min(others):.2f}, {ratio:.2f}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--beside", type=Path, action="append", default=[], metavar="FOLDER")
    arguments = parser.parse_args()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    checkouts = [ROOT, *(folder.resolve() for folder in arguments.beside)]
    names = ["this checkout", *map(str, arguments.beside)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        bot = compiled(ROOT / "sample_bots" / "c_bot.c", Path(folder))
        program = compiled(HERE / "minimal_referee.c", Path(folder))
        script = Path(folder) / "script"
        plan = plan_of(bot)
        records = play_encounter([one.bot for one in plan.entrants], terms_of(plan, arguments.games + 1))
        script.write_text("".join(map(script_of, records)))
        for how, affinity in (
            ("pinned to one core", {min(cores)} if cores else None),
            ("free", cores or None),
        ):
            if affinity:
                os.sched_setaffinity(0, affinity)
            rounds = [
                Round(
                    [ours(checkout, bot, arguments.games) for checkout in checkouts],
                    minimal(program, bot, script),
                )
                for _ in range(arguments.rounds)
            ]
            rows += [[how, *row] for row in rows_of(names, rounds)]
    print(tabulate(rows, HEADERS, disable_numparse=True))
    print(f"{arguments.rounds} rounds of {arguments.games} games each; isolation none; {build()}")


if __name__ == "__main__":
    main()
