"""`referee verify`: plays every record again and compares everything."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.given import game_option, given_game
from referee.cli.output import say, show_data
from referee.core.errors import RecordError
from referee.core.text import shown
from referee.records import journal
from referee.records.record import parse_json
from referee.records.replay import RunVerifier

_SHOWN = 20
"""Complaints that are written out; a file that is no record at all would give one a line."""


@click.command(short_help="Plays all games of a run again and compares.")
@click.argument("file", type=click.Path(path_type=Path))
@game_option
def verify(file: Path, game: str | None) -> None:
    """Plays every game in FILE again, through rules and clocks, and compares all of it.

    FILE is a file of records, or the folder that holds one. Prints how many games there are and the hash
    of the last line: whoever kept that hash can tell whether the whole file was written anew.
    """
    audit = RunVerifier(given_game(game))
    wrong = 0
    head = journal.FIRST
    for line in journal.read(file):
        complaints = [line.error] if line.error else []
        name = ""
        try:
            value = parse_json(line.text)
            if value.get("kind") == "game":
                name = f" (game {shown(str(value.get('id')), 100)})"
            audit.take(value)
        except RecordError as error:
            complaints += [] if complaints and not name else [str(error)]
        head = line.hash
        if complaints:
            wrong += 1
            if wrong <= _SHOWN:
                say(f"line {line.number}{name}: {'; '.join(complaints)}")
    if wrong:
        raise RecordError(f"{wrong} × a line of `{shown(str(file))}` does not verify")
    if not audit.ids:
        raise RecordError(f"there is no game in `{shown(str(file))}`")
    show_data(f"{len(audit.ids)} games verified, last hash {head}")
