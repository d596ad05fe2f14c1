"""Finds one game among the records of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.text import shown
from referee.gameplay.events import Ending
from referee.games.api import Game
from referee.records import journal
from referee.records.header import game_of, other_origin, read_header
from referee.records.heads import Head, Heads
from referee.records.record import GameRecord, Summary, from_json, parse_json, summary

Warn = Callable[[str], None]
"""What a warning, one line, is passed to."""


def find_game(
    file: Path, game_id: str | None, given: Game[Any] | None, warn: Warn
) -> GameRecord | list[Summary]:
    """The record with an id, or with a number that is counted from 1. Without an id, the only game of the
    file, or all games if there are several. `given` is the game that was played, if it came from a file.

    Warns of damage and of a game that has changed. Raises `RecordError` where a record cannot be read, and
    `UsageError` where there is no such game.
    """
    heads = Heads()
    summaries: list[Summary] = []
    header: dict[str, Any] = {}
    last = b""
    found: journal.JournalLine | None = None
    for line in journal.read(file):
        try:
            # What is damaged is read whole, since its moves may not be there.
            read = heads.read if not line.error else _read_whole
            match read(line.text):
                case Head(game, _):
                    summaries.append(game)
                case {"kind": "tournament", "origin": _} as value:
                    header = read_header(value)
                    continue
                case _:
                    continue
            if game_id is not None and game_id in (game.id, str(len(summaries))):
                found = line
                if Ending.VOID.word not in game.faults:
                    break
                # It may have been played again.
        except RecordError as error:
            raise RecordError(f"line {line.number} of `{shown(str(file))}`: {error}") from None
        last = line.text
    if found:
        if found.error:
            warn(f"warning: line {found.number} of the file: {found.error}")
        return _record(parse_json(found.text), header, given, warn)
    if game_id is not None:
        raise UsageError(
            f"there is no game `{shown(game_id, 80)}` in `{shown(str(file))}`, expected an ID or a "
            f"number from 1 to {len(summaries)}"
        )
    if not summaries:
        raise RecordError(f"no games in `{shown(str(file))}`, expected at least one")
    return _record(parse_json(last), header, given, warn) if len(summaries) == 1 else summaries


def _read_whole(line: bytes) -> Head | dict[str, Any]:
    value = parse_json(line)
    return Head(summary(value), b"") if value.get("kind") == "game" else value


def _record(value: dict[str, Any], header: dict[str, Any], given: Game[Any] | None, warn: Warn) -> GameRecord:
    difference = other_origin(header, game_of(header or value, given)) if header or given else ""
    if difference:
        warn(f"warning: {difference}")
    try:
        record = from_json(value)
    except RecordError as error:
        raise RecordError(f"game {shown(str(value.get('id')), 100)}: {error}") from None
    rules = record.terms.game.rules
    if record.rules != rules:
        warn(
            f"warning: this game was played with version {record.rules} of the rules, but this referee has "
            f"version {rules}"
        )
    return record
