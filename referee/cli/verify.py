"""`referee verify`: replays every record and compares everything."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.options import game_option, outside_game
from referee.cli.output import say, show_data
from referee.core.errors import RecordError
from referee.core.text import shown
from referee.records import journal
from referee.records.record import parse_json
from referee.records.replay import RunVerifier

_MAX_SHOWN = 20
"""How many lines with problems are printed; a file that is not a file of records has one in every line."""


@click.command(short_help="Replays all games of a run and compares.")
@click.argument("file", type=click.Path(path_type=Path))
@game_option
def verify(file: Path, game: str | None) -> None:
    """Replays every game in FILE, with its rules and clocks, and compares everything.

    FILE is a file of records, or a folder with one. Prints the number of games and the hash of the last
    line: compare it with a hash that you noted before, to detect that the whole file was rewritten.
    """
    audit = RunVerifier(outside_game(game))
    failed_lines = 0
    head = journal.FIRST
    for line in journal.read(file):
        problems = [line.error] if line.error else []
        name = ""
        try:
            value = parse_json(line.text)
            if value.get("kind") == "game":
                name = f" (game {shown(str(value.get('id')), 100)})"
            audit.take(value)
        except RecordError as error:
            problems += [] if problems and not name else [str(error)]
        head = line.hash
        if problems:
            failed_lines += 1
            if failed_lines <= _MAX_SHOWN:
                say(f"line {line.number}{name}: {'; '.join(problems)}")
    if failed_lines:
        raise RecordError(
            f"{failed_lines} line{'s' * (failed_lines > 1)} of `{shown(str(file))}` failed verification"
        )
    if not audit.ids:
        raise RecordError(f"no games in `{shown(str(file))}`, expected at least one")
    if audit.unverified_seeds:
        say(
            f"the seeds of {audit.unverified_seeds} games are not verified: the seed that they follow from "
            "is not revealed here; a run reveals it when it ends or is stopped, but not when it is killed"
        )
    show_data(f"{len(audit.ids)} games verified, last hash {head}")
