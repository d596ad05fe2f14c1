"""A run as read from its folder, and what lies there beside its records."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import RecordError, UsageError
from referee.core.files import open_without_links
from referee.core.text import shown
from referee.core.work import Advance, untold
from referee.records import journal
from referee.records.finding import read_whole
from referee.records.header import Header
from referee.records.heads import Head, Heads
from referee.records.record import PlayedOn, Summary, parse_json, played_on_of_line
from referee.records.run_files import DIALOGUES, TOML
from referee.tournament.run.run_state import RunState

_BEGINNING = b'{"kind":"tournament",'


class StoredRun(RunState):
    """A run as it was read from its folder, up to some line of its records."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.torn = 0  # bytes of the torn last line; 0 if there is none

    @classmethod
    def new(cls, folder: Path, header: Header) -> StoredRun:
        """A run of which nothing has been played, and nothing is written yet."""
        run = cls(folder)
        line, digest = journal.chained(journal.body_of(header.members), journal.FIRST)
        run.take(line[:-1], digest)
        return run

    def take_line(self, line: journal.JournalLine) -> Head | dict[str, Any] | None:
        """Takes the next line as it was read; what it says. A torn line is only noted.

        Raises `RecordError` where the line is damaged or is not of this run.
        """
        self.torn = line.size if line.torn else 0
        if line.torn:
            return None
        try:
            if line.error:
                raise RecordError(line.error)
            return self.take(line.text, line.hash)
        except RecordError as error:
            raise RecordError(f"{_where(self.folder, line.number)}: {error}") from None


def read_run(folder: Path, advance: Advance = untold) -> StoredRun:
    """A run from its folder. Reads the heads of the records, not their moves; `advance` as in `journal.read`.

    Raises `UsageError` where there is no run, `RecordError` where a line is damaged or is not of this run.
    """
    run = StoredRun(folder)
    for line in journal.read(folder, advance):
        run.take_line(line)
    if not run.lines:
        raise _no_first_line(folder)
    return run


def _no_first_line(path: Path) -> RecordError:
    return RecordError(f"{_shown_file(path)} has no complete first line")


class ReadableRun(NamedTuple):
    """A run as far as it can be read."""

    run: StoredRun  # up to the first line that is damaged
    games: list[PlacedGame]
    """All games of the file, in its order: also those that do not count, and those after what is damaged."""
    damage: RecordError | None  # what is wrong with that line; None where nothing is


def read_what_can_be(path: Path) -> ReadableRun:
    """A run from its folder or from a file of records, of which lines may be damaged.

    Raises `UsageError` where it cannot be read, `RecordError` where there is nothing to be read.
    """
    run, games, damage, at = StoredRun(path), list[PlacedGame](), None, 0
    for line in journal.read(path):
        said: Head | dict[str, Any] | None = None
        try:
            said = run.take_line(line) if damage is None else read_whole(line.text)
        except RecordError as error:
            if damage is None:
                damage = error
                with suppress(RecordError):
                    said = read_whole(line.text)
        if isinstance(said, Head):
            games.append(PlacedGame(said.game, at, line.size, "" if line.error else line.hash))
        at += line.size
    if not run.lines and not games:
        raise damage or _no_first_line(path)
    return ReadableRun(run, games, damage)


def read_lines(run: StoredRun) -> Iterator[tuple[journal.JournalLine, Head | dict[str, Any]]]:
    """The lines of a run as far as it was read, each with what it says, of a game its head.

    Raises `RecordError` where a line is damaged.
    """
    heads = Heads()
    for line in islice(journal.read(run.folder), run.lines):
        if line.error:
            raise RecordError(f"{_where(run.folder, line.number)}: {line.error}")
        yield line, heads.read(line.text)


class PlacedGame(NamedTuple):
    """A game of a run, and where its record is."""

    game: Summary
    at: int  # where its line begins
    size: int  # the bytes of the line
    digest: str  # the hash of the line; empty where that is wrong


class StoredGame(NamedTuple):
    """A game of a run, and its line."""

    game: Summary
    number: int  # that of the line, counted from 1
    text: bytes  # the line, without its newline


def game_lines(run: StoredRun, games: Collection[str]) -> Iterator[StoredGame]:
    """Those of these games of a run that count, with their lines, in the order in which they were finished.

    Raises `RecordError`.
    """
    for line, said in read_lines(run):
        if isinstance(said, Head) and said.game.id in games and run.games.get(said.game.id) == said.game:
            yield StoredGame(said.game, line.number, line.text)


def numbers_of(run: StoredRun) -> dict[str, int]:
    """The number of each game that counts, by id: its place among the games of the file, from 1, also those
    that no longer count.

    Raises `RecordError`.
    """
    played = (said.game for _, said in read_lines(run) if isinstance(said, Head))
    return {game.id: number for number, game in enumerate(played, 1) if run.games.get(game.id) == game}


def wrong_line(run: StoredRun, line: StoredGame, error: RecordError) -> RecordError:
    """The error that a line has, with the place of the line."""
    return RecordError(f"{_where(run.folder, line.number)}: {error}")


def _where(path: Path, number: int) -> str:
    return f"line {number} of {_shown_file(path)}"


def _shown_file(path: Path) -> str:
    """The file of records that is meant by it, or by the folder that it is in."""
    return f"`{shown(str(path if path.is_file() else path / journal.NAME))}`"


def places_of(run: StoredRun, games: Collection[str]) -> dict[str, PlayedOn]:
    """Reads where these games of a run were played, by id. Raises `RecordError`."""
    found = {}
    for line in game_lines(run, games) if games else ():
        try:
            found[line.game.id] = played_on_of_line(line.text)
        except RecordError as error:
            raise RecordError(
                f"game `{shown(line.game.id)}` of `{shown(str(run.folder))}`: {error}"
            ) from None
    return found


def find_run(folder: Path) -> StoredRun:
    """The run in a folder: one without lines if its file of records has no complete first line yet.

    Raises `UsageError` where the folder has other files of that name, `RecordError` where a line is damaged,
    or the only line is incomplete and not the beginning of a header.
    """
    path = folder / journal.NAME
    first = next(journal.read(folder), None) if os.path.lexists(path) else None
    if first and not first.torn:
        return read_run(folder)
    if first and not (first.text.startswith(_BEGINNING) or _BEGINNING.startswith(first.text)):
        raise RecordError(f"line 1 of `{shown(str(path))}`: {first.error}")
    if (folder / TOML).exists():
        raise UsageError(f"`{shown(str(folder))}` has a `{TOML}` but no results, expected a new folder")
    return StoredRun(folder)


def dialogues(folder: Path, games: Collection[str]) -> dict[str, str]:
    """The kept dialogues of these games, each of the last attempt. Raises `UsageError`."""
    return {
        str(value["id"]): str(value.get("dialogue"))
        for value in _kept_dialogues(folder / DIALOGUES)
        if value.get("id") in games
    }


def _kept_dialogues(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of the file of dialogues, if there is one; damaged ones are left out. Raises `UsageError`."""
    try:
        with os.fdopen(open_without_links(path), "rb") as file:
            for text, _, _ in journal.bounded_lines(file):
                with suppress(RecordError):
                    yield parse_json(text)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None
