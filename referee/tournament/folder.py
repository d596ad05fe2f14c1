"""A run's folder: read as a value, locked by one referee at a time, and open for more games.

In it are the file of records (`games.jsonl`), the last copy of the tournament file (`tournament.toml`), the
games the referee itself failed at (`void.jsonl`), kept dialogues (`dialogues.jsonl`), and a lock file, which
the kernel unlocks when its holder dies.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, StorageError, UsageError
from referee.core.pairing import Pairing
from referee.core.regular import open_regular
from referee.core.text import shown
from referee.records import journal
from referee.records.header import apply_change, read_header
from referee.records.record import LINE_CAP, Summary, head_of, parse_json, summary

VOIDS = 2
"""How often the referee itself may fail at a game before it is not tried again."""

DIALOGUES_CAP = 256 << 20
"""The most bytes of dialogues that are kept of a run."""

TOML = "tournament.toml"
_DIALOGUES = "dialogues.jsonl"
_LOCK = "lock"
_VOID = "void.jsonl"
_BEGINNING = b'{"kind":"tournament",'


@dataclass(frozen=True)
class Run:
    """A run's folder as it was read: the plan, and every game that counts."""

    folder: Path
    header: dict[str, Any]
    """The first line, with later changes applied."""
    games: dict[str, Summary]
    """By id, in the order in which they were finished."""
    voids: Counter[str]
    """By id, how often the referee itself failed at a game."""
    last_hash: str
    length: int
    """Bytes of the file of records, without a torn last line."""
    torn: int
    """Bytes of the torn last line; 0 if there is none."""


def read_run(folder: Path) -> Run:
    """A run from its folder. Reads the heads of the records, not their moves.

    Raises `UsageError` where there is no run, `RecordError` where a line is damaged.
    """
    header: dict[str, Any] = {}
    games: dict[str, Summary] = {}
    last_hash, length, torn = journal.FIRST, 0, 0
    for line in journal.read(folder):
        where = f"line {line.number} of `{shown(str(folder / journal.NAME))}`"
        if line.torn:
            torn = len(line.text)
            break
        if line.error:
            raise RecordError(f"{where}: {line.error}")
        try:
            value = head_of(line.text)
            if line.number == 1:
                header = read_header(value)
            elif value.get("kind") == "game":
                game = summary(value)
                if not all(name in header["bots"] for name in game.bots):
                    raise RecordError("a bot is not in this run")
                games.setdefault(game.id, game)
            elif value.get("kind") == "change":
                apply_change(header, value)
        except RecordError as error:
            raise RecordError(f"{where}: {error}") from None
        last_hash = line.hash
        length += len(line.text) + 1
    if not header:
        raise RecordError(f"`{shown(str(folder / journal.NAME))}` has no complete first line")
    return Run(folder, header, games, _read_voids(folder), last_hash, length, torn)


def find_run(folder: Path) -> Run | None:
    """The run in a folder, or None: there is one if its file of records has a complete first line.

    Raises `UsageError` where the folder has other files of that name, `RecordError` where a line is damaged,
    or the only line is incomplete and not the beginning of a header.
    """
    path = folder / journal.NAME
    first = next(journal.read(folder), None) if path.exists() else None
    if first and not first.torn:
        return read_run(folder)
    if first and not (first.text.startswith(_BEGINNING) or _BEGINNING.startswith(first.text)):
        raise RecordError(f"line 1 of `{shown(str(path))}`: {first.error}")
    if (folder / TOML).exists():
        raise UsageError(f"`{shown(str(folder))}` has a `{TOML}` but no results, expected a new folder")
    return None


def dialogues(folder: Path, games: Collection[str]) -> dict[str, str]:
    """The kept dialogues of these games, each of the last attempt."""
    return {
        str(value["id"]): str(value.get("dialogue"))
        for value in _lines(folder / _DIALOGUES)
        if value.get("id") in games
    }


def _read_voids(folder: Path) -> Counter[str]:
    return Counter(str(value.get("id")) for value in _lines(folder / _VOID))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file that is for people only; damaged lines are left out. No file is an empty one.

    Raises `UsageError` where it cannot be read.
    """
    try:
        with open_regular(path) as file:
            while line := file.readline(LINE_CAP):
                with suppress(RecordError):
                    yield parse_json(line)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Makes a folder where it is missing, and locks it until the end, or until this process dies.

    Raises `UsageError` where another referee has locked it, or it cannot be written.
    """
    journal.make_folder(folder)
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(
                f"another referee is running in `{shown(str(folder))}`, expected one at a time"
            ) from None
        yield
    finally:
        os.close(lock)


class OpenRun:
    """A run that is open for more games. Its folder must be `locked` meanwhile."""

    def __init__(self, run: Run, records: journal.Journal) -> None:
        """Takes over the open file of records, positioned after the run's last line."""
        self.folder = run.folder
        self.games = run.games
        """The games that count so far, by id."""
        self.voids = run.voids
        """By id, how often the referee itself failed at a game."""
        self._records = records

    @classmethod
    def begin(cls, folder: Path, header: dict[str, Any], toml: bytes) -> OpenRun:
        """A new run. Raises `UsageError` and `StorageError`."""
        (folder / journal.NAME).unlink(missing_ok=True)  # at most a torn first line
        records = journal.Journal.create(folder)
        try:
            records.append(header)
            _copy_config(folder, toml)
        except BaseException:
            records.close()
            raise
        return cls(Run(folder, header, {}, Counter(), "", 0, 0), records)

    @classmethod
    def resume(cls, run: Run, change: dict[str, Any], toml: bytes) -> OpenRun:
        """Continues a run, and stores what is new in it, if anything is. Raises `StorageError`."""
        records = journal.Journal.reopen(run.folder, run.last_hash, run.length)
        try:
            if change:
                records.append({"kind": "change", "when": _now(), **change})
                _copy_config(run.folder, toml)
        except BaseException:
            records.close()
            raise
        return cls(run, records)

    def __enter__(self) -> OpenRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._records.close()

    @property
    def unscored(self) -> list[str]:
        """The games that stay void."""
        return [game for game, count in self.voids.items() if count >= VOIDS and game not in self.games]

    @property
    def suspects(self) -> Counter[str]:
        """How often each bot played in a game that became void: a bot may be the cause."""
        seen: Counter[str] = Counter()
        for game, count in self.voids.items():
            for name in set(Pairing.parse(game).bots):
                seen[name] += count
        return seen

    def is_open(self, game: str) -> bool:
        """Whether a game is still to be played."""
        return game not in self.games and self.voids[game] < VOIDS

    def add_games(self, games: Sequence[tuple[Summary, bytes]]) -> None:
        """Stores finished games with the bodies of their records. They count once all of them are on disk.

        Raises `StorageError`; then none counts, though some may be found when the run is continued.
        """
        self._records.extend(body for _, body in games)
        self.games.update((game.id, game) for game, _ in games)

    def add_void(self, game: str, attempt: int, error: str) -> None:
        """Stores that the referee itself failed at a game. Raises `StorageError`."""
        self.voids[game] += 1
        _append(self.folder / _VOID, {"id": game, "attempt": attempt, "when": _now(), "error": error})

    def keep_dialogue(self, game: Summary, dialogue: str) -> None:
        """Stores a dialogue, up to `DIALOGUES_CAP` in all. Raises `StorageError`."""
        path = self.folder / _DIALOGUES
        size = path.stat().st_size if path.exists() else 0
        if size + len(dialogue) <= DIALOGUES_CAP:
            _append(path, {"id": game.id, "attempt": game.attempt, "dialogue": dialogue})


def _copy_config(folder: Path, toml: bytes) -> None:
    """Keeps a copy of the tournament file beside the results."""
    new = folder / f"{TOML}.new"
    try:
        new.unlink(missing_ok=True)
        new.write_bytes(toml)
        new.replace(folder / TOML)
    except OSError as error:
        raise StorageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None


def _append(path: Path, value: dict[str, Any]) -> None:
    """Adds a line to a file that is for people only."""
    try:
        with path.open("a", encoding="ascii") as file:
            file.write(json.dumps(value, separators=(",", ":")) + "\n")
    except OSError as error:
        raise StorageError(f"cannot write to `{shown(str(path))}`: {error.strerror}") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
