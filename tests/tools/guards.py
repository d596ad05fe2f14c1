"""Whether the tests guard the guards: `python -m tests.tools.guards [--list] [NAME ...]`.

Each guard of the referee against its bots is switched off in a copy of the project, and a test has to fail
for it. Prints which; ends with an error where a guard can be taken away unseen.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from tests.command import ROOT

HANGS_S = 90
"""Without some guards a test never ends, which nobody overlooks either."""


class Guard(NamedTuple):
    """A piece of the source, what it is without the guard, and where tests are that should notice."""

    name: str
    file: str
    there: str
    gone: str
    tests: str
    """What pytest is told to run."""


PROCESSES = "tests/processes/test_processes.py"
WARDENS = "tests/processes/test_wardens.py"
WATCHES = "tests/unit/test_stopwatch.py"

GUARDS = [
    Guard(
        "absolute deadline: output arms it anew",
        "referee/wire/pipes.py",
        "read.append((place, time.monotonic_ns(), place.watch.cpu_ns(), data))",
        "read.append((place, time.monotonic_ns(), place.watch.cpu_ns(), data)); "
        "place.watch.deadline_ns = time.monotonic_ns() + 200_000_000",
        f"{PROCESSES} -k deadline",
    ),
    Guard(
        "absolute deadline: a rejection arms it anew",
        "referee/wire/pipes.py",
        "        else:\n            watch.start(",
        "        if True:\n            watch.start(",
        f"{PROCESSES} -k rejection",
    ),
    Guard(
        "a last look before silence",
        "referee/wire/pipes.py",
        "        self._read(place)\n        if place.heard:",
        "        if place.heard:",
        f"{PROCESSES} -k written_in_time",
    ),
    Guard(
        "output cap of a turn",
        "referee/wire/channel.py",
        "if self._in_turn > TURN_CAP:",
        "if False:",
        f"{PROCESSES} -k flood",
    ),
    Guard(
        "cap of lines of a turn",
        "referee/wire/channel.py",
        "elif self._lines_in_turn > LINES_CAP:",
        "elif False:",
        f"{PROCESSES} -k flood",
    ),
    Guard(
        "output cap of a line",
        "protocol/messages.py",
        "if len(self._partial) + len(data) - start >= self._cap:",
        "if False:",
        f"{PROCESSES} tests/unit/test_messages.py -k flood or line",
    ),
    Guard(
        "cap of requests for legal moves",
        "referee/wire/channel.py",
        "if self._lists > LIST_CAP:",
        "if False:",
        "tests/unit/test_sessions.py tests/unit/test_match.py",
    ),
    Guard(
        "group kill: SIGTERM",
        "referee/processes/warden.py",
        "os.killpg(self._bot, number)",
        "os.kill(self._bot, number)",
        WARDENS,
    ),
    Guard(
        "warden: adopts what a bot leaves behind",
        "referee/processes/warden.py",
        "    os.setsid()\n    _prctl(_SUBREAPER, 1)\n",
        "",
        WARDENS,
    ),
    Guard(
        "warden: ends all when its referee is gone",
        "referee/processes/warden.py",
        "                if command != TERMINATE:\n                    break",
        "                if command != TERMINATE:\n                    return",
        WARDENS,
    ),
    Guard(
        "warden: the bot dies with it",
        "referee/processes/warden.py",
        "    _prctl(_PARENT_DEATH, signal.SIGKILL)\n",
        "",
        WARDENS,
    ),
    Guard(
        "launcher: ends what a killed warden leaves",
        "referee/processes/warden.py",
        "return _kill_children(wardens)",
        "return False",
        WARDENS,
    ),
    Guard(
        "launcher: replaced when it was killed",
        "referee/processes/launcher.py",
        "if cls._only and cls._only._process.poll() is not None:",
        "if False:",
        WARDENS,
    ),
    Guard(
        "launcher: replaced when it is killed at the last moment",
        "referee/processes/launcher.py",
        "for _ in range(2):",
        "for _ in range(1):",
        WARDENS,
    ),
    Guard(
        "limit of processes",
        "referee/processes/warden.py",
        "(count := sum(map(_threads, tree))) > self._processes:",
        "(count := 0) > self._processes:",
        WARDENS,
    ),
    Guard(
        "limit of memory of all together",
        "referee/processes/warden.py",
        "if memory > self._memory_bytes:",
        "if False:",
        WARDENS,
    ),
    Guard(
        "limits of the kernel",
        "referee/processes/warden.py",
        "resource.setrlimit(number, (soft, hard))",
        "pass",
        WARDENS,
    ),
    Guard(
        "escaping",
        "referee/core/text.py",
        'text = "".join(c if c.isprintable() else _escape(c) for c in text[:most])',
        "text = text[:most]",
        "tests/processes/test_escaping.py",
    ),
    Guard(
        "drain of stderr",
        "referee/processes/process.py",
        "        if not self.stderr_open:\n            return\n        try:",
        "        return\n        try:",
        f"{PROCESSES} -k stderr",
    ),
    Guard(
        "what is said off turn is read before the question",
        "referee/wire/pipes.py",
        "self._places[seat].unasked = self._places[seat].link.catch_up()",
        "pass",
        f"{PROCESSES} -k thought",
    ),
    Guard(
        "a death is seen though the output is open",
        "referee/wire/pipes.py",
        "asked and process.control_open,",
        "False,",
        f"{PROCESSES} -k gone",
    ),
    Guard(
        "the kernel's stamp",
        "referee/wire/stopwatch.py",
        "found = self._stamp_ns()\n",
        "found = None\n",
        WATCHES,
    ),
    Guard(
        "a stamp is not believed after the clock was set",
        "referee/wire/stopwatch.py",
        "> _CLOCK_SET_NS:",
        "> 1 << 62:",
        WATCHES,
    ),
    Guard(
        "stoppages of the referee are noticed",
        "referee/wire/pipes.py",
        "if late_ns > LATE_NS:",
        "if False:",
        f"{PROCESSES} -k stop",
    ),
    Guard(
        "no garbage is collected during a game",
        "referee/tournament/encounter.py",
        "    gc.disable()\n",
        "",
        WATCHES,
    ),
    Guard(
        "the margin widens the test for losing",
        "referee/gameplay/clock.py",
        "return used_us > self.budget_us + margin_us",
        "return used_us > self.budget_us",
        "tests/unit/test_match.py tests/unit/test_clock.py",
    ),
    Guard(
        "a bot that broke something gets a fresh process",
        "referee/tournament/encounter.py",
        "seated[seat].faulted = bool(fault)",
        "pass",
        PROCESSES,
    ),
    Guard(
        "environment: only what is named passes",
        "referee/processes/bot.py",
        "if _PASSED.fullmatch(name) or name in self.pass_env",
        "if True",
        PROCESSES,
    ),
]


def main(names: list[str]) -> None:
    """Switches off those guards whose name begins with one of these, or all."""
    guards = [guard for guard in GUARDS if not names or guard.name.startswith(tuple(names))]
    rows = []
    with tempfile.TemporaryDirectory(prefix="referee-guards-") as folder:
        copy = Path(folder, "project")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache", "*-results"))
        for guard in guards:
            failed = without(guard, copy)
            rows.append([guard.name, failed or "NOTHING FAILS"])
            print("." if failed else "!", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(tabulate(rows, ["without", "fails"]))
    if any(failed == "NOTHING FAILS" for _, failed in rows):
        sys.exit(1)


def without(guard: Guard, copy: Path) -> str:
    """The first test that fails without a guard."""
    path = copy / guard.file
    text = path.read_text()
    if text.count(guard.there) != 1:
        sys.exit(f"`{guard.there}` is not there once in {guard.file}")
    path.write_text(text.replace(guard.there, guard.gone))
    tests, _, wanted = guard.tests.partition(" -k ")
    choice = ["-k", wanted] if wanted else []
    pytest = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*pytest, *tests.split(), *choice],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            timeout=HANGS_S,
        )
    except subprocess.TimeoutExpired:
        return "(a test never ends)"
    finally:
        path.write_text(text)
    return next((line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAILED")), "")


if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(guard.name for guard in GUARDS))
    else:
        main(sys.argv[1:])
