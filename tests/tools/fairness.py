"""Whether time is measured fairly: `python -m tests.tools.fairness [MOVES] [--busy LOOPS] [--stop]`.

Bots write down by their own clock when they answered (`tests/bots/stamping_bot.py`), and that is compared
with what the referee charged them for, and with whom it let lose on time. `--busy` has so many busy loops
take the processors away meanwhile; `--stop` stops the referee's worker for a second now and then.

A bot that lost though its answer was written within allowance and reserve was wronged; one that played on
though it answered beyond allowance, reserve and margin was spared. Ends with an error where there is any.
At how many moves the referee had itself been stopped is told; on an idle machine it should be few.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from referee.core.defaults import MARGIN_US
from referee.core.seeds import bot_seed
from referee.core.timecontrol import TimeControl
from referee.games import GAMES
from referee.processes.bot import Bot
from referee.tournament.file.config import default_workers
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.task import Finished, Report, Task, Void
from tests.command import ROOT
from tests.needed import need_program
from tests.tools import stamps
from tests.tools.play_tasks import play_tasks

CLOCKS = [TimeControl.parse(text) for text in ("200ms", "200ms+100ms", "250ms+200ms/50ms", "200ms+50ms^10ms")]

PROGRAM = ("{python}", "-I", "-S", str(ROOT / "tests" / "bots" / "stamping_bot.py"))

STOP = 'while sleep 1; do pkill -STOP -P "$1" -f tournament.worker; done'
"""The referee continues its workers when it notices."""


class Answered(NamedTuple):
    """One question by both clocks; times count from when the referee began to write it."""

    accepted: bool
    read_us: int | None
    """When the bot had read it; None where it never did."""
    before_us: int | None
    """When the bot was about to answer; None where it never was."""
    after_us: int | None
    """When it had answered; None where it was ended before."""
    charged_us: int
    stopped_us: int
    """What the referee took off, because it was itself not running."""
    budget_us: int
    """Allowance and reserve."""
    margin_us: int
    talked: bool = False
    """Whether it wrote more behind its answer, so that the kernel's stamp is not that of the answer."""

    @property
    def wronged(self) -> bool:
        """Whether it lost on time though its answer was written in time."""
        return self._lost_in_time(self.before_us if self.after_us is None else self.after_us)

    @property
    def in_doubt(self) -> bool:
        """Whether it lost after it had been held up between its stamps, and so nobody knows when it wrote."""
        return self._lost_in_time(self.before_us) and not self.wronged

    def _lost_in_time(self, answered_us: int | None) -> bool:
        return not self.accepted and answered_us is not None and answered_us <= self.budget_us

    @property
    def spared(self) -> bool:
        """Whether it was accepted though it was too late. A referee that is stopped before the bot has read
        the question starts its time too early, and takes that off again. Of a bot that wrote more behind its
        answer, nobody knows when it answered while the referee was stopped, so all of that is taken off.
        """
        uncharged_us = self.stopped_us if self.talked else min(self.stopped_us, self.read_us or 0)
        late_us = self.budget_us + self.margin_us + uncharged_us
        return self.accepted and self.before_us is not None and self.before_us > late_us

    @property
    def over_us(self) -> int:
        """What was charged beyond what the bot itself measured."""
        return self.charged_us - (self.before_us or 0)


def answers_of(record: dict[str, Any], folder: Path) -> Iterator[Answered]:
    """Every question of a game, from its record and its bots' stamps."""
    measured = record["measured"]
    controls = [TimeControl.parse(text) for text in record["clocks"]]
    reserves_us = [control.reserve_us for control in controls]
    questions: list[Iterator[tuple[int, ...]]] = []
    for seat in range(len(controls)):
        path = folder / str(bot_seed(bytes.fromhex(record["seed"]), seat))
        questions.append(iter(stamps.read(str(path))))
        path.unlink()
    for event, times in zip(record["events"], measured["events"], strict=True):
        seat = event["seat"] - 1
        asked_us = measured["mono_us"] + times.get("asked_us", 0)
        read_us, before_us, after_us, talked_us = (
            time_ns // 1000 - asked_us if time_ns else None for time_ns in next(questions[seat])
        )
        yield Answered(
            "move" in event,
            read_us,
            before_us,
            after_us,
            times["used_us"],
            times.get("stopped_us", 0),
            controls[seat].move_us + reserves_us[seat],
            record["margin_us"],
            talked_us is not None,
        )
        if "move" in event:
            reserves_us[seat] = times["reserve_us"]


class Ledger:
    """Collects the answers of all games that are reported."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: list[Answered] = []
        self.complaints: list[str] = []

    def take(self, reports: Sequence[Report]) -> None:
        """What the workers say."""
        for report in reports:
            match report:
                case Finished(game) if game.ending in ("time", "rules"):
                    self.answers += answers_of(report.record(), self.folder)
                case Finished(game):
                    self.complaints.append(f"{game.id}: {game.sentence}")
                case Void(void, error=error):
                    self.complaints.append(f"{void}: the referee itself failed: {error}")


def tasks(folder: Path, seed: str) -> Iterator[Task]:
    """Encounters without end, with one clock after the other."""
    game = GAMES["blooms"]
    options = game.settle({"size": "4", "target": "100"})
    for number in count(1):
        control = CLOCKS[number % len(CLOCKS)]
        entrants = tuple(
            Entrant(Bot(name, (*PROGRAM, str(folder), str(MARGIN_US)), Path("/")), control) for name in "ab"
        )
        plan = Plan(game, options, entrants, seed)
        pairings = encounter(number, plan.names).games
        yield Task(plan, tuple((pairing, 1) for pairing in pairings), "nothing")


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """So many other programs that compute, and end with this one."""
    loop = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
    running = [subprocess.Popen([sys.executable, "-I", "-S", "-c", loop]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


@contextlib.contextmanager
def stopping() -> Iterator[None]:
    """A helper stops the workers now and then."""
    need_program("pkill")
    helper = subprocess.Popen(["sh", "-c", STOP, "sh", str(os.getpid())])
    try:
        yield
    finally:
        helper.kill()
        helper.wait()


def run(moves: int, seed: str, workers: int, loops: int = 0, stops: bool = False) -> Ledger:
    """Plays so many moves, or a few more."""
    with tempfile.TemporaryDirectory() as folder, busy(loops):
        ledger = Ledger(Path(folder))
        pool = local_backend(workers)(ledger.take, lambda: False)
        try:
            with stopping() if stops else contextlib.nullcontext():
                play_tasks(pool, tasks(Path(folder), seed), lambda: len(ledger.answers) >= moves)
        finally:
            pool.close()
    return ledger


def verdict(ledger: Ledger) -> list[str]:
    """What there is to complain of."""
    found = list(ledger.complaints)
    for what in ("wronged", "spared"):
        found += [f"{what}: {answer}" for answer in ledger.answers if getattr(answer, what)]
    return found


def show(ledger: Ledger) -> None:
    """The figures."""
    answers = ledger.answers
    stopped = sum(answer.stopped_us > 0 for answer in answers)
    print(
        f"{len(answers)} moves, {sum(not answer.accepted for answer in answers)} lost on time; "
        f"the referee was stopped at {stopped} ({100 * stopped / len(answers):.2f} %)\n"
        f"{sum(answer.wronged for answer in answers)} wronged, "
        f"{sum(answer.spared for answer in answers)} spared; "
        f"{sum(answer.in_doubt for answer in answers)} lost that were held up while they answered\n"
    )
    rows: list[tuple[str | int, ...]] = []
    for name, when in (("running", False), ("stopped meanwhile", True)):
        over = sorted(
            answer.over_us for answer in answers if answer.accepted and (answer.stopped_us > 0) == when
        )
        if over:
            shares = (over[len(over) * share // 1000] for share in (0, 500, 990, 999))
            rows.append((name, len(over), *shares, over[-1]))
    print("µs charged beyond what the bot measured, of the answers that were accepted")
    print(tabulate(rows, ["the referee was", "moves", "least", "median", "99 %", "99.9 %", "most"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("moves", nargs="?", type=int, default=20_000)
    parser.add_argument("--busy", type=int, default=0, metavar="LOOPS")
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--seed", default="fairness")
    parser.add_argument("--workers", type=int, default=default_workers())
    given = parser.parse_args()
    ledger = run(given.moves, given.seed, given.workers, given.busy, given.stop)
    show(ledger)
    found = verdict(ledger)
    print("\n".join(found), file=sys.stderr)
    sys.exit(bool(found))
