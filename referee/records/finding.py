"""Finds one game in a file of records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, RefereeError, UsageError
from referee.core.fields import Fields
from referee.core.text import shown
from referee.gameplay.events import Ending
from referee.games.api import Game
from referee.records import journal
from referee.records.amendments import Amendments, check_amendments
from referee.records.header import Header, SectionGame
from referee.records.heads import Head, Heads
from referee.records.record import GameRecord, Summary, from_json, parse_json, summary

_CHANGE = b'{"kind":"change",'  # the beginning of a line that changes a run

Warn = Callable[[str], None]  # what a warning, one line, is passed to


def find_game(
    file: Path, game_id: str | None, given: Game[Any] | None, warn: Warn, as_played: bool = False
) -> GameRecord | list[Summary]:
    """The record with an id, or with a number that is counted from 1. Without an id, the only game of the
    file, or all games if there are several. `given` is the game that was played, if it came from a file.
    Bots have the names to which they were renamed in the file, or those under which they played if
    `as_played`.

    Warns of damage and of a game that has changed. Raises `RecordError` where a record cannot be read, and
    `UsageError` where there is no such game.
    """
    heads = Heads()
    summaries: list[Summary] = []
    played: SectionGame | None = None  # as the header says
    renamed: dict[str, str] = {}
    last = b""
    found: journal.JournalLine | None = None
    is_settled = False
    for line in journal.read(file):
        if is_settled and (line.error or not line.text.startswith(_CHANGE)):
            continue  # only a new name still matters
        try:
            # What is damaged is read whole, since its moves may not be there.
            read = heads.read if not line.error else read_whole
            match read(line.text):
                case Head(game, _):
                    summaries.append(game)
                case {"kind": "tournament", "origin": _} as value:
                    (played,) = Header.read(value).sections.values()
                    continue
                case {"kind": "change", "renamed": dict(names)} as value if not as_played:
                    check_amendments(value, names)  # where lines are damaged, not all bots are known
                    renamed.update(names)
                    continue
                case _:
                    continue
            if game_id is not None and game_id in (game.id, str(len(summaries))):
                found = line
                is_settled = Ending.VOID.word not in game.faults  # else it may have been played again
        except RecordError as error:
            raise RecordError(f"line {line.number} of `{shown(str(file))}`: {error}") from None
        last = line.text
    shown_name = Amendments(renamed=renamed).shown
    if found:
        if found.error:
            warn(f"warning: line {found.number} of the file: {found.error}")
        return _record(parse_json(found.text), played, given, warn).with_names(shown_name)
    if game_id is not None or not summaries:
        raise _no_game(file, game_id, len(summaries))
    if len(summaries) == 1:
        return _record(parse_json(last), played, given, warn).with_names(shown_name)
    return [game.with_names(shown_name) for game in summaries]


def _no_game(file: Path, game_id: str | None, games: int) -> RefereeError:
    if game_id is None:
        return RecordError(f"no games in `{shown(str(file))}`, expected at least one")
    return UsageError(
        f"there is no game `{shown(game_id, 80)}` in `{shown(str(file))}`, expected an ID or a "
        f"number from 1 to {games}"
    )


def read_whole(line: bytes) -> Head | dict[str, Any]:
    """The head of a game, or the object of any other line, which may be damaged. Raises `RecordError`."""
    value = parse_json(line)
    return Head(summary(value), b"") if value.get("kind") == "game" else value


def _record(
    value: dict[str, Any], played: SectionGame | None, given: Game[Any] | None, warn: Warn
) -> GameRecord:
    if played or given:
        section = played or SectionGame.read(Fields(value, "", RecordError))
        if difference := section.other_origin(section.available(given)):
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
