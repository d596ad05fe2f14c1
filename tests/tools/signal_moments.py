"""Sends signals to commands at many moments of their life, and looks at how they end.

    python -m tests.tools.signal_moments [--commands run,table,...] [MOMENTS]

Each command gets one signal in each run, SIGINT, SIGTERM and SIGHUP in turn, at moments that are spread
evenly from the one where the referee handles signals (before the first of its imports) to after its end; with
`twice`, a second one follows at a random moment. It has to end with 3 and exactly one line that says so, or
with 0 and all that it prints when undisturbed; a run that was stopped has to continue to its end. Prints how
often each ending was seen, and every other ending in full.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from tests.command import PLAIN, ROOT
from tests.processes.runs import toml
from tests.waiting import TOO_LONG_S

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ending(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str
    began_s: float
    """How long after its start it handled signals."""
    took_s: float
    """How long it ran from then on."""


class Command(NamedTuple):
    """A command: its words, in a new folder, after what is prepared there; and what a stopped one leaves."""

    words: tuple[str, ...]
    prepare: Callable[[Path], None] = lambda folder: None
    continues: bool = False
    """Whether the same command continues what was stopped."""
    counted: str = ""
    """How the lines of its output begin whose number does not depend on how busy the machine is."""

    def lines(self, out: str) -> int:
        """The number of such lines."""
        return len(re.findall(f"^{self.counted}.*\n", out, re.MULTILINE))


def _file(folder: Path) -> None:
    toml(folder / "t.toml", dict.fromkeys("abc", PLAIN), rounds=1, workers=1)


def _played(folder: Path) -> None:
    _file(folder)
    words = [sys.executable, "-m", "referee", "run", "t.toml"]
    subprocess.run(words, cwd=folder, env=_environment(), check=True, capture_output=True)


MATCH = ("match", "blooms", PLAIN, PLAIN, "--option", "size=3", "-n", "3", "--seed", "s")

COMMANDS = {
    "run": Command(("run", "t.toml"), _file, continues=True),
    "run here": Command(("run", "t.toml", "--workers", "0"), _file, continues=True),
    "run again": Command(("run", "t.toml"), _played, continues=True),
    "match": Command(MATCH),
    "table": Command(("table", "t-results"), _played),
    "verify": Command(("verify", "t-results"), _played),
    "find": Command(("find", "t-results"), _played),
    "check": Command(("check", "blooms", PLAIN), counted=r" ?\d+ passed "),
    "games": Command(("games",)),
    "doctor": Command(("doctor",)),
}


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "REFEREE_ISOLATION": "basic"}


def _handles_signals(pid: int) -> bool:
    """Whether a process handles the signals, or ignores them as it does at its end, or has ended."""
    found = dict(re.findall(r"^(Sig\w+):\s+(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE))
    wanted = sum(1 << (number - 1) for number in SIGNALS)
    return any(int(found.get(kind, "0"), 16) & wanted == wanted for kind in ("SigCgt", "SigIgn"))


def ended(
    words: tuple[str, ...], folder: Path, signals: tuple[tuple[float, signal.Signals], ...] = ()
) -> Ending:
    """Runs a command in a folder, with signals at so many seconds after it handles signals."""
    before_s = time.monotonic()
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        subprocess.Popen(
            [sys.executable, "-m", "referee", *words],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        ) as process,
    ):
        with contextlib.suppress(OSError):
            while process.poll() is None and not _handles_signals(process.pid):
                time.sleep(0.0005)
        began_s = time.monotonic()
        for after_s, number in signals:
            time.sleep(max(0.0, began_s + after_s - time.monotonic()))
            process.send_signal(number)
        code = process.wait(TOO_LONG_S)
        took_s = time.monotonic() - began_s
        out.seek(0)
        err.seek(0)
        return Ending(code, out.read().decode(), err.read().decode(), began_s - before_s, took_s)


def judged(command: Command, found: Ending, undisturbed: Ending, folder: Path) -> str:
    """What is wrong with how a command ended; empty if nothing is."""
    if "Traceback" in found.err or "Exception ignored" in found.err:
        return "traceback"
    last = [line for line in found.err.splitlines() if line.startswith("referee: ")]
    if found.code == 0:
        if last or command.lines(found.out) != command.lines(undisturbed.out):
            return "0, but not all was done"
    elif found.code != 3:
        return f"ended with {found.code}"
    elif len(last) != 1 or not re.match(r"referee: stopped (at once )?by SIG[A-Z]+", last[0]):
        return f"{len(last)} last lines"
    if command.continues:
        again = ended(command.words, folder)
        if again.code or command.lines(again.out) != command.lines(undisturbed.out):
            return f"continued with {again.code}"
    return ""


def played(
    name: str, moments: int, at_a_time: int = 3, twice: bool = False
) -> tuple[Counter[str], list[str]]:
    """Runs a command so often, each time with a signal at another moment: how often it ended in which way,
    and the wrong endings in full.
    """
    command = COMMANDS[name]
    with tempfile.TemporaryDirectory() as temporary:
        top = Path(temporary)
        prepared = top / "prepared"
        prepared.mkdir()
        command.prepare(prepared)

        def new_folder() -> Path:
            return Path(shutil.copytree(prepared, Path(tempfile.mkdtemp(dir=top), "here")))

        def undisturbed() -> Ending:
            return ended(command.words, new_folder())

        usual = undisturbed()
        assert usual.code == 0, usual
        with ThreadPoolExecutor(at_a_time) as together:
            usual = max(together.map(lambda _: undisturbed(), range(at_a_time)), key=lambda one: one.took_s)

        def one(moment: int) -> tuple[str, str]:
            number = SIGNALS[moment % 3]
            after_s = moment / moments * usual.took_s * 1.05
            folder = new_folder()
            signals = [(after_s, number)]
            if twice:
                signals.append((after_s + random.Random(moment).random() ** 3 * usual.took_s, number))
            found = ended(command.words, folder, tuple(signals))
            wrong = judged(command, found, usual, folder)
            told = f"{name}, {number.name} after {after_s:.3f} s: {wrong or found.code}\n{found.err}"
            return (f"WRONG: {wrong}", told) if wrong else (str(found.code), "")

        with ThreadPoolExecutor(at_a_time) as together:
            all_found = list(together.map(one, range(moments)))
    endings = Counter(ending for ending, _ in all_found)
    return endings, [told for _, told in all_found if told]


def main() -> None:
    """Plays all commands and prints a table; exits with 1 if an ending was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("moments", type=int, nargs="?", default=100)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--at-a-time", type=int, default=3)
    parser.add_argument("--twice", action="store_true")
    words = parser.parse_args()
    for number in SIGNALS:  # a shell has what it runs in the background ignore some
        signal.signal(number, signal.SIG_DFL)
    rows, all_wrong = [], []
    for name in words.commands.split(","):
        endings, wrong = played(name, words.moments, words.at_a_time, words.twice)
        all_wrong += wrong
        rows.append((name, words.moments, endings.pop("0", 0), endings.pop("3", 0), dict(endings) or ""))
        print(rows[-1], file=sys.stderr, flush=True)
    print(tabulate(rows, ("command", "signals", "ended with 0", "ended with 3", "wrong")))
    print(*all_wrong, sep="\n", end="")
    sys.exit(1 if all_wrong else 0)


if __name__ == "__main__":
    main()
