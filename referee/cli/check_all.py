"""What `referee check` prints of all bots of a tournament file."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from textwrap import fill

from referee.check.all_bots import FAILED, CheckedBot, check_all
from referee.cli.colour import console_at_stderr
from referee.cli.output import say, show_data, table_width
from referee.core.errors import CheckFailed
from referee.core.rows import as_text
from referee.core.text import counted, listed, shown
from referee.tournament.file.config import load
from referee.tournament.run.readiness import builder

_LEAST = 30  # minimum width of the texts beside the names


def check_file(file: Path, steps: Collection[int], seed: str, isolation: str | None, as_json: bool) -> None:
    """Checks all bots of a tournament file and prints a table of them. Raises `CheckFailed` where one failed,
    `UsageError` where the file is wrong.
    """
    results: list[CheckedBot] = []
    config = load(file, elsewhere=False)
    with console_at_stderr().status("") as status:
        for one in check_all(config, isolation, steps, seed, builder(say), status.update):
            results.append(one)
            say(f"{one.bot}: {one.result}")
    show_data(json.dumps([one.as_json() for one in results]) if as_json else _table(results, table_width()))
    if failed := dict.fromkeys(one.bot for one in results if one.result == FAILED):
        in_all = counted(len({one.bot for one in results}), "bot")
        raise CheckFailed(f"{len(failed)} of {in_all} failed: {listed(failed)}")


def _table(results: Sequence[CheckedBot], width: int) -> str:
    headings = ("bot", "game", "result")
    rows = [(one.bot, one.game or "–", one.result) for one in results]
    left = sum(max(map(len, column)) + 2 for column in zip(headings, *rows, strict=True))
    whys = [_why(one, max(_LEAST, width - left)) for one in results]
    return as_text([(*row, why) for row, why in zip(rows, whys, strict=True)], (*headings, "why"))


def _why(one: CheckedBot, width: int) -> str:
    lines = [fill(shown(one.why, 1000), width, break_on_hyphens=False), *(f"| {line}" for line in one.output)]
    lines += [fill(f"hint: {one.hint}", width, break_on_hyphens=False)] if one.hint else []
    return "\n".join(filter(None, lines))
