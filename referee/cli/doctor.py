"""`referee doctor`: what works on this machine, what to install, and how many games fit at once."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

from referee.cli.output import show_data
from referee.core.errors import EnvironmentLacksError
from referee.core.text import counted

if TYPE_CHECKING:
    from referee.machine import Check

_WIDTH = 78  # width of the texts beside the names of the checks


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the checks as one JSON object.")
def doctor(as_json: bool) -> None:
    """Checks this machine: what works here, what to install, and how many games fit at once.

    Exits with 5 if no tournament can be run here.

    \b
    Examples:
      referee doctor
      referee doctor --json
    """
    from referee import machine

    room = machine.room()
    games = min(room.values())
    found = [*machine.checks(room, Path())]
    lacks = [check for check in found if check.level is machine.Level.LACK]
    if as_json:
        rows = [{**check._asdict(), "level": check.level.value} for check in found]
        show_data(json.dumps({"can_run": not lacks, "games": games, "checks": rows}, indent=2))
    else:
        show_data(page_of(found, games))
    if lacks:
        raise EnvironmentLacksError(lacks[0].found)


def page_of(checks: list[Check], games: int) -> str:
    """The verdict, and below it all checks with their marks."""
    from referee.core.rows import Grid, text_columns
    from referee.machine import Level

    if any(check.level is Level.LACK for check in checks):
        verdict = "No tournament can be run here (see `!!`)."
    else:
        warnings = sum(check.level is Level.WARNING for check in checks)
        marked = f", with {counted(warnings, 'warning')} (marked `!`)" if warnings else ""
        fit = f"{counted(games, 'game')} at a time: `workers = {games}`"
        verdict = f"Tournaments can be run here{marked}, {fit}"
    marks = {Level.OK: "", Level.WARNING: "!", Level.LACK: "!!"}
    rows = [[marks[check.level], check.about, _text(check)] for check in checks]
    return f"{verdict}\n\n{Grid(text_columns('', 'check', 'found'), rows).drawn()}"


def _text(check: Check) -> str:
    lines = [check.found, f"→ {check.advice}"] if check.advice else [check.found]
    return "\n".join(fill(line, _WIDTH, break_on_hyphens=False) for line in lines)
