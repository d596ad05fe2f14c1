"""A run open for more games: this module alone stores what its folder has, and it says which games are still
to be played, void ones included.

In the folder are the file of records (`games.jsonl`), the last copy of the tournament file
(`tournament.toml`), kept dialogues (`dialogues.jsonl`), and a lock file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.core.errors import StorageError
from referee.core.files import open_without_links
from referee.core.text import shown
from referee.ratings.standings import Facts
from referee.records import journal
from referee.records.header import change_line
from referee.records.record import Summary
from referee.records.run_files import DIALOGUES, NEW_TOML, TOML, AppendOnlyFile, ChangedByOthers, write_all
from referee.tournament.formats import Amount
from referee.tournament.run.progress import facts_of
from referee.tournament.run.run import StoredRun
from referee.tournament.run.voids import ATTEMPTS, PAUSES_S
from referee.tournament.workers.task import Void

DIALOGUES_CAP = 256 << 20  # maximum number of bytes of dialogues that are kept of a run


class OpenRun:
    """A run that is open for more games. Its folder must be `locked` meanwhile."""

    def __init__(self, run: StoredRun, records: journal.Journal, hidden_seed: str | None) -> None:
        """Takes over a run, and the open file of its records, positioned after the run's last line.

        `hidden_seed` is the seed of the games to come, where the records have only its hash.
        """
        self.state = run
        """The state of the run according to the stored lines; a line counts once it is on disk."""
        self.folder = run.folder
        self._failed: Counter[str] = Counter()
        """How often each game became void without suspects since the run was opened, by id."""
        self._records = records
        self._dialogues = _DialogueFile(run.folder / DIALOGUES)
        self._hidden_seed = hidden_seed

    @classmethod
    def begin(
        cls, folder: Path, header: dict[str, Any], toml: bytes, hidden_seed: str | None = None
    ) -> OpenRun:
        """A new run. Raises `UsageError` and `StorageError`."""
        path = folder / journal.NAME
        if os.path.lexists(path):  # at most a torn first line
            records = journal.Journal.reopen(folder, journal.FIRST, 0, path.lstat().st_size)
        else:
            records = journal.Journal.create(folder)
        return cls(StoredRun(folder), records, hidden_seed)._with(header, toml)

    @classmethod
    def resume(
        cls, run: StoredRun, change: dict[str, Any], toml: bytes, hidden_seed: str | None = None
    ) -> OpenRun:
        """Continues a run, and stores what is new in it, if anything is. Raises `StorageError`."""
        records = journal.Journal.reopen(run.folder, run.last_hash, run.length, run.torn)
        run.torn = 0  # it was removed
        return cls(run, records, hidden_seed)._with(change_line(change) if change else None, toml)

    def _with(self, line: dict[str, Any] | None, toml: bytes) -> OpenRun:
        """The same, after a first line was stored and the tournament file; closed where that fails."""
        try:
            if line:
                self._store([journal.body_of(line)])
            _copy_config(self.folder, toml)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _store(self, bodies: Iterable[bytes]) -> None:
        """Stores lines, which count once all of them are on disk. Raises `StorageError`."""
        for line in self._records.extend(bodies):
            self.state.take(line.text, line.hash)

    def __enter__(self) -> OpenRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._dialogues.close()
        self._records.close()

    def reveal_seed(self) -> None:
        """Stores the seed where it was hidden; no more games may be played with it. Raises `StorageError`."""
        seed, self._hidden_seed = self._hidden_seed, None
        if seed is None:
            return
        if self._records.is_whole:  # guard: whole-lines
            self.add_change({"seed": seed})

    @property
    def facts(self) -> Facts:
        """What tables say of the run besides its games."""
        return facts_of(self.state, self.is_open)

    @property
    def games_in_all(self) -> Amount:
        """How many games the run has, those included of bots that are left out for now."""
        amount = self.state.games_in_all
        assert amount is not None, "a run that can be continued has a schedule"
        return amount

    def check(self) -> None:
        """Raises `StorageError` where the file of records is not what was written; see `Journal.check`."""
        self._records.check()

    def is_open(self, game: str) -> bool:
        """Whether a game is still to be played before the run is closed."""
        if self._failed[game] >= ATTEMPTS:  # guard: endless-attempts
            return False
        return self.state.is_open(game)

    def pause_s(self, game: str) -> float:
        """Seconds to wait before a game is played again that became void."""
        return (0.0, *PAUSES_S, 0.0)[self._failed[game]]

    def add_games(self, bodies: Iterable[bytes]) -> None:
        """Stores finished games, given as the bodies of their records. They count once all of them are on
        disk.

        Raises `StorageError`; then none counts, though some may be found when the run is continued.
        """
        self._store(bodies)

    def add_change(self, change: dict[str, Any]) -> None:
        """Stores a change of the header, and of what follows from it. Raises `StorageError`."""
        self._store([journal.body_of(change_line(change))])

    def add_batch(self, batch: list[str]) -> None:
        """Stores encounters that a league has chosen. Raises `StorageError`."""
        self.add_change({"encounters": batch})

    def take_out(self, bot: str, games: str, reason: str) -> None:
        """Stores that a bot is out, and what becomes of its games; see `records.amendments`. From now on this
        holds for the games to come, and for those that were played. Raises `StorageError`.
        """
        self.add_change({"out": {bot: {"games": games, "reason": reason}}})

    def add_void(self, void: Void) -> frozenset[str]:
        """Stores that the referee itself failed at a game, and which bots may be the cause.

        Returns the bots that are held responsible since. Raises `StorageError`.
        """
        line = {
            "kind": "void",
            "id": void.id,
            "attempt": void.attempt,
            "when": _now(),
            "suspects": sorted(void.suspects),
            **({"lost": True} if void.lost else {}),
            "error": void.error,
        }
        before = self._responsible()
        self._store([journal.body_of(line)])
        self._failed[void.id] += not (void.suspects or void.lost)
        return self._responsible() - before

    def _responsible(self) -> frozenset[str]:
        return self.state.suspicion.responsible(self.state.header.bots)

    def keep_dialogue(self, game: Summary, dialogue: str) -> None:
        """Stores a dialogue, up to `DIALOGUES_CAP` in all. Raises `StorageError`."""
        self._dialogues.append({"id": game.id, "attempt": game.attempt, "dialogue": dialogue})


class _DialogueFile:
    """The file of dialogues, which is created with its first line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: AppendOnlyFile | None = None

    def append(self, value: dict[str, Any]) -> None:
        """Adds a line, unless the file would have more than `DIALOGUES_CAP` bytes. Raises `StorageError`."""
        data = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        try:
            if self._file is None:
                self._file = AppendOnlyFile(self._path, os.O_CREAT)
                if not self._file.ends_a_line():  # torn by a crash
                    data = b"\n" + data
            if self._file.length + len(data) <= DIALOGUES_CAP:
                self._file.append(data, sync=False)
            self._file.check()
        except OSError as error:
            raise StorageError(f"cannot write to `{shown(str(self._path))}`: {error.strerror}") from None
        except ChangedByOthers as error:
            raise StorageError(f"`{shown(str(self._path))}` {error}") from None

    def close(self) -> None:
        if self._file:
            self._file.close()


def _copy_config(folder: Path, toml: bytes) -> None:
    """Keeps a copy of the tournament file beside the results, unless it is there: a run that was killed may
    have none, or an earlier one.
    """
    new = folder / NEW_TOML
    try:
        if _has(folder / TOML, toml):
            return
        new.unlink(missing_ok=True)
        file = open_without_links(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            write_all(file, toml)
        finally:
            os.close(file)
        new.replace(folder / TOML)
    except OSError as error:
        raise StorageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None


def _has(path: Path, data: bytes) -> bool:
    """Whether a file is there and has just these bytes. Raises `OSError`."""
    try:
        with os.fdopen(open_without_links(path), "rb") as file:
            return file.read(len(data) + 1) == data
    except FileNotFoundError:
        return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
