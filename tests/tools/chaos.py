"""Plays tournaments while the processes of the referee are killed, stopped and starved at random moments.

    python -m tests.tools.chaos [--kills N] [--formats swiss,...] [--levels none,...] [--seed S]

For each format and level of isolation a run is played undisturbed, without workers. Then it is played by two
workers, as often as it takes for its share of the kills, and each time a game has been stored something
happens to a worker, a launcher, a warden or a `bwrap` process: it is killed, stopped for a while, or stopped
and continued many times in short order; the referee itself is only stopped. Afterwards the exit code has to
be 0, the table and the games, event by event, have to be those of the undisturbed run, no bot may be at
fault, the records have to verify, and no process, temporary file or pipe may be left. Where bots could reach
these processes, a game that becomes void twice is held against them: there, nothing happens until all games
that became void have been played again.

Prints for each format and level how many times what happened, how many attempts at games became void, and
what was wrong. Exits with 1 where something was.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.core.settings import LEVELS
from referee.processes import owned
from referee.processes.isolation import reaches_referee
from referee.processes.levels import reason
from referee.processes.program import Program
from referee.processes.stamped import SHARED_MEMORY
from tests.command import ROOT
from tests.holdings import below, processes
from tests.processes.runs import games, voids
from tests.tools.crash_points import WORKERS, Scenario, quick_bot

FORMATS = {
    "round robin": Scenario("rounds = 8", "abcd"),
    "gauntlet": Scenario("format = 'gauntlet'\nagainst = ['a']\nrounds = 12", "abcde"),
    "swiss": Scenario("format = 'swiss'\nrounds = 5", "abcdefghijklmnop"),
    "knockout": Scenario("format = 'knockout'\nbest_of = 5\nthird_place = true", "abcdefgh"),
    "stages": Scenario(
        bots="abcdefghij",
        more="[options]\nsize = 3\n[[stage]]\nname = 'groups'\ngroups = 2\nadvance = 2\n"
        "[[stage]]\nname = 'finals'\nformat = 'knockout'\nbest_of = 5\nthird_place = true",
    ),
    "league": Scenario("format = 'league'\nbudget = 100", "abcdef"),
}
"""Runs of about a hundred games each, so that one has many moments."""

LONGEST_S = 1.0
"""The longest time for which something is stopped."""

PULSES = 30
"""How often what is starved is stopped: more often than a worker may be during a task."""

GOES_ON_S = 30.0
"""Seconds that are waited for a game after an event, before the next one happens anyway."""

END_S = 300.0
"""Seconds in which a run has to end."""

LEFT_S = 5.0
"""Seconds in which what a run leaves behind has to be gone."""

WHAT = ("kill", "kill", "kill", "kill", "stop", "starve")
"""What happens, by its weight."""


class Seen(NamedTuple):
    """What came of a run."""

    code: int
    table: str
    games: dict[str, dict[str, object]]
    """By id, without what differs where a game had another attempt."""


def victims(run: int) -> dict[str, list[int]]:
    """The processes of a run, by what they are; bots and what they start are not among them. A bot whose
    program was not executed yet has the command of its warden, so that only its parent tells it apart.
    """
    listed = processes()
    family = [one for one in below(run, listed) if not one.state.startswith("Z")]
    found = {"referee": [run]}
    for kind, parents, word in (
        ("worker", "referee", "tournament.worker"),
        ("launcher", "worker", "processes.warden"),
        ("warden", "launcher", "processes.warden"),
        ("wrapper", "warden", "bwrap"),
    ):
        found[kind] = [one.pid for one in family if one.parent in found[parents] and word in one.command]
    return {kind: pids for kind, pids in found.items() if pids}


def send(number: signal.Signals, pid: int) -> None:
    """Sends a signal to a process that may be gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


class Chaos:
    """A run that is disturbed."""

    def __init__(self, folder: Path, words: list[str], rng: random.Random, level: str) -> None:
        self.happened: Counter[str] = Counter()
        self.owners: set[owned.Owner] = set()
        """All processes of the referee that were seen."""
        self._folder = folder
        self._rng = rng
        self._run = _begun(folder, [*words, "--isolation", level])
        self._blames = reaches_referee(Program("a", ("true",), Path("/"), isolation=level))
        """Whether a game that becomes void twice is held against a bot."""

    def stored(self) -> list[bytes]:
        """The lines that are stored."""
        path = self._folder / "run" / "games.jsonl"
        return path.read_bytes().split(b"\n")[:-1] if path.exists() else []

    def _has_void_game(self) -> bool:
        """Whether a game that became void has not been played again yet."""
        last = {line.get("id"): line["kind"] for line in map(json.loads, self.stored())}
        return "void" in last.values()

    def disturb(self, kills: int) -> int:
        """Disturbs the run until it ends, with so many kills at most; its exit code."""
        end_s = time.monotonic() + END_S
        while self._run.poll() is None:
            if not self._goes_on(end_s):
                break
            time.sleep(self._rng.uniform(0, 0.1))
            if self.happened["kill"] < kills:
                self._event()
        if self._run.poll() is None and time.monotonic() > end_s:
            self._run.kill()
        return self._run.wait()

    def _goes_on(self, end_s: float) -> bool:
        """Waits until another game is stored, or for long enough; whether the run has not ended."""
        before, until_s = len(self.stored()), min(end_s, time.monotonic() + GOES_ON_S)
        while self._run.poll() is None and len(self.stored()) == before and time.monotonic() < until_s:
            time.sleep(0.01)
        return self._run.poll() is None and time.monotonic() < end_s

    def _event(self) -> None:
        found = victims(self._run.pid)
        self.owners.update(owned.own(pid) for pids in found.values() for pid in pids)
        what = self._rng.choice(WHAT)
        kinds = sorted(kind for kind in found if kind != "referee" or what == "stop")
        if not kinds:
            return
        kind = self._rng.choice(kinds)
        pid = self._rng.choice(found[kind])
        if self._blames and self._has_void_game():
            return
        self.happened.update([what, f"{what} {kind}"])
        if what == "kill":
            send(signal.SIGKILL, pid)
        elif what == "stop":
            send(signal.SIGSTOP, pid)
            time.sleep(self._rng.uniform(0.01, LONGEST_S))
            send(signal.SIGCONT, pid)
        else:
            for _ in range(PULSES):
                send(signal.SIGSTOP, pid)
                time.sleep(self._rng.uniform(0.001, 2 * LONGEST_S / PULSES))
                send(signal.SIGCONT, pid)


def _begun(folder: Path, words: list[str]) -> subprocess.Popen[bytes]:
    scratch = folder / "tmp"
    scratch.mkdir()
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "referee", *words],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )


def _seen(code: int, folder: Path) -> Seen:
    if not (folder / "run" / "games.jsonl").exists():
        return Seen(code, "", {})
    found = {name: {**game, "attempt": 0} for name, game in games(folder / "run").items()}
    return Seen(code, (folder / "stdout").read_text(), found)


def difference(found: Seen, whole: Seen) -> str:
    """How a disturbed run differs from the undisturbed one; empty where it does not."""
    if found.code != whole.code:
        return f"exit code {found.code}"
    if at_fault := [name for name, game in found.games.items() if any(map(bool, _faults(game)))]:
        return f"faults in {', '.join(at_fault[:5])}"
    if found.games.keys() != whole.games.keys():
        return f"games {sorted(found.games.keys() ^ whole.games.keys())[:5]} more or less"
    if others := [name for name, game in found.games.items() if game != whole.games[name]]:
        return f"other games: {', '.join(others[:5])}"
    return "another table" if found.table != whole.table else ""


def _faults(game: dict[str, object]) -> list[object]:
    faults = game["faults"]
    assert isinstance(faults, list)
    return faults


def left(folder: Path, owners: set[owned.Owner]) -> str:
    """What a run left behind; empty where that is nothing. What ends is waited for."""
    deadline = time.monotonic() + LEFT_S
    while True:
        pids = {owner.pid for owner in owners if not owner.is_gone}
        found = [
            f"process {one.pid}"
            for one in processes()
            if (one.pid in pids or str(folder) in one.command) and not one.state.startswith("Z")
        ]
        found += [f"file {path.name}" for path in (folder / "tmp").iterdir()]
        found += [
            f"file {path.name}" for path in Path(SHARED_MEMORY).iterdir() if owned.owner(path.name) in owners
        ]
        if not found or time.monotonic() > deadline:
            return ", ".join(found[:5])
        time.sleep(0.05)


class Report(NamedTuple):
    """What was seen of a format at a level."""

    happened: Counter[str]
    runs: int
    games: int
    voids: int
    wrong: list[str]


def disturbed(scenario: Scenario, level: str, bot: str, top: Path, kills: int, seed: str) -> Report:
    """Plays a scenario undisturbed, then disturbed until there were so many kills."""
    top.mkdir(parents=True)
    words = scenario.prepare(top, bot, 0)
    whole = _seen(_begun(top, [*words, "--isolation", level]).wait(), top)
    happened: Counter[str] = Counter()
    failed, wrong = 0, []
    if whole.code:
        return Report(happened, 0, 0, 0, [f"the undisturbed run: {(top / 'stderr').read_text()[-300:]}"])
    for number in count(1):
        folder = top / str(number)
        folder.mkdir()
        words = scenario.prepare(folder, bot, WORKERS)
        chaos = Chaos(folder, words, random.Random(f"{seed} {number}"), level)
        code = chaos.disturb(kills - happened["kill"])
        happened += chaos.happened
        problem = difference(_seen(code, folder), whole) or left(folder, chaos.owners)
        verify = [sys.executable, "-m", "referee", "verify", "run"]
        if not problem and subprocess.run(verify, cwd=folder, capture_output=True).returncode:
            problem = "it does not verify"
        failed += len(voids(folder / "run"))
        if problem:
            wrong.append(f"run {number}: {problem}\n{(folder / 'stderr').read_text()[-1500:]}")
        else:
            shutil.rmtree(folder)
        if happened["kill"] >= kills or len(wrong) > 3:
            return Report(happened, number, len(whole.games), failed, wrong)
    raise AssertionError


def _chosen(text: str, known: Iterator[str] | tuple[str, ...]) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in tuple(known)]:
        raise SystemExit(f"unknown: {', '.join(unknown)}")
    return names


def main() -> None:
    """Disturbs all runs and prints a table; exits with 1 if one was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="in all")
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--seed", default="s")
    words = parser.parse_args()
    formats, levels = _chosen(words.formats, tuple(FORMATS)), _chosen(words.levels, LEVELS)
    for level in levels:
        if why := reason(level):
            raise SystemExit(f"`{level}` does not work here: {why}")
    os.environ.pop("REFEREE_ISOLATION", None)
    rows: list[tuple[object, ...]] = []
    all_wrong = False
    share = -(-words.kills // (len(formats) * len(levels)))
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        bot = quick_bot(Path(temporary))
        for name in formats:
            for level in levels:
                top = Path(temporary) / name.replace(" ", "-") / level
                seed = f"{words.seed} {name} {level}"
                report = disturbed(FORMATS[name], level, bot, top, share, seed)
                what = [report.happened[one] for one in ("kill", "stop", "starve")]
                rows.append((name, level, report.games, report.runs, *what, report.voids, len(report.wrong)))
                all_wrong |= bool(report.wrong)
                kinds = ", ".join(f"{one} {n}" for one, n in sorted(report.happened.items()) if " " in one)
                print(f"{name}, {level}: {kinds}", *report.wrong, sep="\n", file=sys.stderr, flush=True)
    head = ("format", "level", "games", "runs", "killed", "stopped", "starved", "void", "wrong")
    print(tabulate(rows, head))
    sys.exit(all_wrong)


if __name__ == "__main__":
    main()
