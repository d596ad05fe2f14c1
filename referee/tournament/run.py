"""A run as it is read from its folder, and what lies there beside its records."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.regular import open_without_links
from referee.core.text import shown
from referee.records import journal
from referee.records.amendments import amendments_of
from referee.records.heads import Head, Heads
from referee.records.played_on import PlayedOn, played_on_of_line
from referee.records.record import parse_json
from referee.records.run_files import DIALOGUES, TOML, VOID
from referee.tournament.run_state import RunState, check_attempt
from referee.tournament.voids import VoidGame

_BEGINNING = b'{"kind":"tournament",'


class Run(RunState):
    """A run as it was read from its folder, up to some line of its records."""

    def __init__(self, folder: Path) -> None:
        """Creates the reader; nothing is read yet."""
        super().__init__()
        self.folder = folder
        self.torn = 0
        """Bytes of the torn last line; 0 if there is none."""

    @classmethod
    def new(cls, folder: Path, header: dict[str, Any]) -> Run:
        """A run of which nothing has been played, and nothing is written yet."""
        run = cls(folder)
        line, digest = journal.chained(journal.body_of(header), journal.FIRST)
        run.take(line[:-1], digest)
        return run

    def read_voids(self) -> None:
        """Reads which further games became void. This is stored before a later attempt at such a game is
        recorded, so it is to be read before the line of that attempt is taken. Raises `UsageError`.
        """
        for void in _read_voids(self.folder)[len(self.all_voids) :]:
            self.take_void(void)

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
            raise RecordError(f"{_where(self.folder, line)}: {error}") from None


def read_run(folder: Path) -> Run:
    """A run from its folder. Reads the heads of the records, not their moves.

    Raises `UsageError` where there is no run, `RecordError` where a line is damaged or is not of this run.
    """
    run = Run(folder)
    run.read_voids()
    for line in journal.read(folder):
        run.take_line(line)
    if not run.lines:
        raise RecordError(f"`{shown(str(folder / journal.NAME))}` has no complete first line")
    run.check_voids()
    return run


def read_lines(folder: Path) -> Iterator[tuple[bytes, Head | dict[str, Any]]]:
    """The lines of a run, each with what it says, of a game its head; without a torn one.

    Raises `RecordError` where a line is damaged.
    """
    heads = Heads()
    for line in journal.read(folder):
        if line.torn:
            return
        if line.error:
            raise RecordError(f"{_where(folder, line)}: {line.error}")
        yield line.text, heads.read(line.text)


def _where(folder: Path, line: journal.JournalLine) -> str:
    return f"line {line.number} of `{shown(str(folder / journal.NAME))}`"


def lines_of(run: Run, games: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """These games of a run, each id with its line. Raises `RecordError`."""
    for line, said in read_lines(run.folder):
        if not isinstance(said, Head) or said.game.id not in games:
            continue
        if said.game.attempt > run.amendments.attempts_before(said.game.id):
            yield said.game.id, line


def places_of(run: Run, games: Collection[str]) -> dict[str, PlayedOn]:
    """Reads where these games of a run were played, by id; those of earlier versions are missing.

    Raises `RecordError`.
    """
    found = {}
    for game_id, line in lines_of(run, games) if games else ():
        try:
            place = played_on_of_line(line)
        except RecordError as error:
            raise RecordError(f"game `{shown(game_id)}` of `{shown(str(run.folder))}`: {error}") from None
        if place:
            found[game_id] = place
    return found


def check_attempts(folder: Path, header: Mapping[str, Any], attempts: Mapping[str, int]) -> None:
    """Raises `RecordError` where the last attempts at games, by id, do not agree with the file of failed ones
    and the changes in the header.
    """
    failed: dict[str, list[int]] = {}
    for void in _read_voids(folder):
        failed.setdefault(void.id, []).append(void.attempt)
    for game_id, attempt in attempts.items():
        check_attempt(game_id, attempt, failed.get(game_id, ()), amendments_of(header))


def find_run(folder: Path) -> Run | None:
    """The run in a folder, or None: there is one if its file of records has a complete first line.

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
    return None


def dialogues(folder: Path, games: Collection[str]) -> dict[str, str]:
    """The kept dialogues of these games, each of the last attempt. Raises `UsageError`."""
    return {
        str(value["id"]): str(value.get("dialogue"))
        for value in objects_in(folder / DIALOGUES)
        if value.get("id") in games
    }


def _read_voids(folder: Path) -> tuple[VoidGame, ...]:
    """The games that became void, in their order. Raises `UsageError`."""
    found = []
    for value in objects_in(folder / VOID):
        suspects = value.get("suspects")  # none in older runs
        bots = frozenset(map(str, suspects)) if isinstance(suspects, list) else frozenset[str]()
        attempt = value.get("attempt")
        number = attempt if isinstance(attempt, int) else 1
        found.append(VoidGame(str(value.get("id")), bots, value.get("lost") is True, number))
    return tuple(found)


def objects_in(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file beside the records, if there is one; damaged lines are left out.

    Raises `UsageError`.
    """
    try:
        with os.fdopen(open_without_links(path), "rb") as file:
            for text, _, _ in journal.bounded_lines(file):
                with suppress(RecordError):
                    yield parse_json(text)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None
