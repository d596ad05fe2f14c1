"""What `referee check` says of broken bots: `python -m tests.tools.broken_bots [--write] [NAME ...]`.

`tests/bots/broken_bot.py` makes one mistake at a time, as the bots of other languages in `tests/bots/broken/`
do, whose first comments name theirs. They are checked, some at a time, and the table in
`tests/BROKEN_BOTS.md` says which step names the mistake, and what hint its author gets; `--write` replaces
it. Ends with an error where a bot is not told what the table says.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from referee.check.steps import run_steps
from referee.check.tested_bot import SCALE, CheckSettings, scaled_clocks
from referee.core.units import parse_period
from referee.games import GAMES
from referee.processes.program import Program
from tests.bots.broken_bot import MISTAKES
from tests.catalogue import ways
from tests.catalogue.row import Checked
from tests.command import ROOT, in_python

BROKEN_BOT = ROOT / "tests" / "bots" / "broken_bot.py"
FOLDER = ROOT / "tests" / "bots" / "broken"
TABLE = ROOT / "tests" / "BROKEN_BOTS.md"
HEAD = "| hint | bots, with the step and their mistake |\n|---|---|\n"
INTRODUCTION = """\
# What the authors of broken bots are told

`python -m tests.tools.broken_bots --write` makes this table. Each bot makes one mistake, in Blooms: a name \
without a dot is one of `tests/bots/broken_bot.py`, the others are files in `tests/bots/broken`. The \
[step](../referee/docs/CHECK.md#steps) of `referee check` is the first that is not simply passed: \
it fails, unless there is a warning. Bots without a hint do what is allowed.

"""

ALLOWED = "passes"
"""The step of a bot whose mistake is none."""

FAILED = " failed"
"""Follows the number of a step that failed, which stands alone in the table."""

NEXT = "<br>"
"""Stands between the bots that are given the same hint."""

AT_A_TIME = 3 * (os.cpu_count() or 1)
"""Most of the bots wait most of the time."""


class Named(NamedTuple):
    """What was said of a bot."""

    bot: str
    mistake: str
    step: str
    """The number and result of the first step that is not simply passed."""
    hint: str


def bots() -> list[Checked]:
    """All broken bots of the catalogue, by name."""
    return sorted(ways(Checked), key=lambda bot: bot.name)


def mistake(bot: Checked) -> str:
    """What a bot does wrong, by the docstring of its class or by its first comment."""
    if in_class := MISTAKES.get(bot.name):
        return in_class.__doc__ or ""
    text = (FOLDER / bot.name).read_text()
    found = re.search(r"(?:/\* |// |^# )(.+?)(?: \*/|$)", text, re.MULTILINE)
    assert found
    return found[1]


def command(bot: Path, folder: Path) -> str:
    """How a bot is started, after it was built in a folder; empty where a program is missing."""
    match bot.suffix:
        case "":
            return f"{in_python(BROKEN_BOT, '-E', '-S')} {bot.name}"
        case ".sh":
            return shlex.join(["sh", str(bot)])
        case ".js":
            return shlex.join(["node", str(bot)]) if shutil.which("node") else ""
        case ".java" if shutil.which("javac"):
            subprocess.run(["javac", "-d", folder, bot], check=True)
            return f"java -Xshare:auto -cp {folder} {bot.stem}"
        case ".c" if compiler := shutil.which("cc"):
            subprocess.run([compiler, "-o", folder / bot.stem, bot], check=True)
            return str(folder / bot.stem)
    return ""


def checked(task: tuple[Checked, str]) -> Named:
    """What a bot with this command is told."""
    bot, start = task
    tested = replace(Program.parse(f"broken={start}", ROOT), isolation="basic")
    blooms = GAMES["blooms"]
    settings = CheckSettings(
        tested,
        blooms,
        {},
        "s",
        scaled_clocks(blooms.clock),
        parse_period(bot.start),
        500 << 20,
        scale=SCALE,
    )
    for result in run_steps(settings, bot.steps):
        step = f"{result.number} {result.result}"
        hint = result.failure.hint if result.failure else ""
        if hint or result.remarks:
            hint = re.sub(r" \(this machine was busy: .*?\)", "", hint or result.remarks[0].hint)
            return Named(bot.name, mistake(bot), step, hint)
    return Named(bot.name, mistake(bot), ALLOWED, "")


def all_checked(chosen: Iterable[Checked]) -> list[Named]:
    """What bots are told, several at a time; without those whose language is not installed."""
    with tempfile.TemporaryDirectory() as built, get_context("spawn").Pool(AT_A_TIME) as pool:
        tasks = [(bot, command(FOLDER / bot.name, Path(built))) for bot in chosen]
        if missing := [bot.name for bot, start in tasks if not start]:
            print(f"skipped, as their language is not installed: {', '.join(missing)}", file=sys.stderr)
        tasks = [(bot, start) for bot, start in tasks if start]
        tasks.sort(key=lambda task: not task[0].steps)  # the slowest first
        return pool.map(checked, tasks, chunksize=1)


def table(told: Iterable[Named]) -> str:
    """The table, by the steps at which hints are first given."""
    by_hint: dict[str, list[str]] = {}
    for bot, wrong, step, hint in sorted(told, key=lambda named: (number_of(named.step), named.bot)):
        by_hint.setdefault(hint.replace("|", "\\|"), []).append(
            f"`{bot}` ({step.removesuffix(FAILED)}): {wrong}"
        )
    return HEAD + "".join(f"| {hint} | {NEXT.join(given)} |\n" for hint, given in by_hint.items())


def number_of(step: str) -> int:
    """The number of a step with its result; 0 where the bot passes."""
    return int(step.split()[0]) if step != ALLOWED else 0


def written() -> dict[str, Named]:
    """What the table says, by bot."""
    found: dict[str, Named] = {}
    _, _, rows = TABLE.read_text().partition(HEAD)
    for row in rows.splitlines():
        hint, given = (cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1])
        for bot, step, wrong in re.findall(rf"`(.+?)` \((.+?)\): (.+?)(?:{NEXT}|$)", given):
            said = f"{step}{FAILED}" if step.isdigit() else step
            found[bot] = Named(bot, wrong, said, hint.replace("\\|", "|"))
    return found


def main(words: list[str]) -> None:
    """Prints the table of the bots with these names, or of all, and compares or replaces it."""
    names = [word for word in words if not word.startswith("-")]
    chosen = [bot for bot in bots() if not names or bot.name in names]
    found = {named.bot: named for named in all_checked(chosen)}
    print(table(found.values()), end="")
    before = written()
    if "--write" in words:
        known = {bot.name for bot in bots()}
        after = {**before, **found}
        TABLE.write_text(INTRODUCTION + table(after[bot] for bot in after.keys() & known))
    elif others := [bot for bot, named in found.items() if before.get(bot) != named]:
        sys.exit(f"not as in {TABLE.name}: {', '.join(others)}")


if __name__ == "__main__":
    main(sys.argv[1:])
