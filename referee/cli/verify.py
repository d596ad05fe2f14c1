"""`referee verify`: plays every record again and compares everything."""

from __future__ import annotations

from pathlib import Path

import click

from referee import journal
from referee.cli.output import say, show_data
from referee.errors import RecordError
from referee.record import parse_json
from referee.replay import verify as verify_record
from referee.text import shown

_SHOWN = 20
"""Complaints that are written out; a file that is no record at all would give one a line."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def verify(file: Path) -> None:
    """Plays every game in FILE again, through rules and clocks, and compares all of it.

    FILE is a file of records, or the folder that holds one. Prints how many games there are and the hash
    of the last line: whoever kept that hash can tell whether the whole file was written anew.
    """
    games = wrong = 0
    head = journal.FIRST
    for line in journal.read(file):
        complaints = [line.flaw] if line.flaw else []
        name = ""
        try:
            value = parse_json(line.text)
            head = str(value.get("hash", ""))
            if value.get("kind") == "game":
                games += 1
                name = f" (game {shown(str(value.get('id')), 100)})"
                verify_record(value)
        except RecordError as error:
            complaints += [] if complaints and not name else [str(error)]
        if complaints:
            wrong += 1
            if wrong <= _SHOWN:
                say(f"line {line.number}{name}: {'; '.join(complaints)}")
    if wrong:
        raise RecordError(f"{wrong} lines of `{shown(str(file))}` do not verify")
    if games == 0:
        raise RecordError(f"there is no game in `{shown(str(file))}`")
    show_data(f"{games} games verified, last hash {head}")
