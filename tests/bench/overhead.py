"""What the referee costs per move, beside the least that a referee can do, in one run.

    python -m tests.bench.overhead [--games N] [--rounds N] [--beside FOLDER ...]

Both play the same games of Blooms on side 5, move by move, with the same instant bot in C
(`sample_bots/c_bot.c`). The referee does all it does in a tournament: rules, clocks, stderr, dialogue, a
record of each game on the disk. The other one (`minimal_referee.c`) relays moves and knows no rules: what is
captured stands in a script. They take turns, pinned to one core and free; what counts are the ratios, since a
machine's speed drifts. Time in which the journal waits for the disk is left out and has a column of its own,
since the minimal referee keeps no records.

`--beside` names the folder of another checkout, whose referee takes its turn in each round: an earlier
commit, say, in a folder that `git worktree add ../before HEAD~5` makes. Its row has the ratio of its own
processor time to that of this checkout. Processor time drifts less than elapsed time: on a machine that does
other work too, compare the shortest times of many rounds. All are run by the same interpreter, whose build
the last line names: one that was compiled with optimisation is a tenth faster.
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
        raise SystemExit(f"the referee in `{checkout}` failed:\n{done.stderr}")
    return Measured(*json.loads(done.stdout))


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


def rows_of(
    how: str, names: Sequence[str], rounds: Sequence[tuple[Sequence[Measured], float]]
) -> list[list[str]]:
    """The rows of the table: one for each referee, and one for the minimal one."""
    rows = []
    least = [one for _, one in rounds]
    first = [taken[0] for taken, _ in rounds]
    for number, name in enumerate(names):
        one = [taken[number] for taken, _ in rounds]
        rows.append(
            [
                how,
                name,
                *_of([each.wall for each in one]),
                *_of([each.cpu for each in one]),
                f"{statistics.median(each.sync for each in one):.1f}",
                f"{min(each.wall for each in one) / min(least):.2f}",
                f"{statistics.median(each.wall / other for each, other in zip(one, least, strict=True)):.2f}",
                f"{min(each.cpu for each in one) / min(each.cpu for each in first):.3f}",
            ]
        )
    return [*rows, [how, "minimal, in C", *_of(least)]]


def _of(times: Sequence[float]) -> tuple[str, str]:
    return f"{min(times):.1f}", f"{statistics.median(times):.1f}"


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
                (
                    [ours(checkout, bot, arguments.games) for checkout in checkouts],
                    minimal(program, bot, script),
                )
                for _ in range(arguments.rounds)
            ]
            rows += rows_of(how, names, rounds)
    headers = [
        *("µs per move", "referee", "shortest", "median", "own CPU, shortest", "median", "sync"),
        *("ratio of the shortest", "ratio, median", "own CPU beside this checkout"),
    ]
    print(tabulate(rows, headers, disable_numparse=True))
    print(f"{arguments.rounds} rounds of {arguments.games} games each; isolation none; {build()}")


if __name__ == "__main__":
    main()
