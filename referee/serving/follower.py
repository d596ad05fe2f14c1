"""Follows a run that another process plays: reads what its files have gained, and each line once.

The files are opened for reading only, and a line without its newline is left for later, since it is being
written. What cannot be continued is noticed: a file that is gone, or damaged, or shorter than it was, or
another one than before.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from referee.core.errors import RecordError, UsageError
from referee.core.files import open_without_links
from referee.records import journal
from referee.records.heads import Head
from referee.records.run_files import RECORDS
from referee.tournament.run.durations import TimedGame, timed
from referee.tournament.run.run import PlacedGame, StoredRun

BATCH = 32 << 20  # about how many bytes are read at a time

TIMED = 50  # maximum number of games whose times are read


class RunFollower:
    """A run's folder, followed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.played: list[PlacedGame] = []
        """The games in the order in which they ended, also those that do not count. It only grows; when the
        run is read anew, there is a new list.
        """
        self.notice = ""
        """What happened to the files that one should know of, for people; empty where nothing did."""
        self.unread = 0  # the bytes that are still to be read
        self._run = StoredRun(folder)
        self._file: tuple[int, int] | None = None
        """The device and inode of the file that is followed; None as long as there is none."""
        self._damage = ""  # why the records cannot be read any further, for people
        self._failure = ""  # why the files could not be read this time, for people
        self._times: dict[str, TimedGame | None] = {}
        """The times of the last games when they were asked for, by the hashes of their lines."""

    @property
    def trouble(self) -> str:
        """Why nothing more can be read, for people; empty where nothing is wrong."""
        return self._damage or self._failure

    @property
    def reading(self) -> str:
        """How much was read of what there was before, for people; empty where that is all."""
        if not self.unread:
            return ""
        percent = 100 * self._run.length // (self._run.length + self.unread)
        return f"{percent} % of the records are read so far, and only these games are shown"

    @property
    def last_hash(self) -> str:
        """The hash of the last line that was read, which stands for all lines before it."""
        return self._run.last_hash

    @property
    def run(self) -> StoredRun | None:
        """The run as far as it was read; None as long as it has no first line."""
        return self._run.copy() if self._run.lines else None

    def last(self) -> list[TimedGame]:
        """The last games with their times, which are read now."""
        self._times = {
            one.digest: self._times[one.digest] if one.digest in self._times else self._timed(one)
            for one in self.played[-TIMED:]
        }
        return [*filter(None, self._times.values())]

    def _timed(self, one: PlacedGame) -> TimedGame | None:
        with suppress(RecordError, UsageError):  # the file is another one now, as the next look will see
            return timed(journal.line_at(self.folder, one.at, one.size, one.digest))
        return None

    def read(self) -> bool:
        """Reads what is new, or a part of it where that is much; says whether anything is different now."""
        before = self._state()
        self._failure = ""
        try:
            with os.fdopen(open_without_links(self.folder / RECORDS), "rb", journal.AHEAD) as file:
                found = os.fstat(file.fileno())
                self._compare(found)
                if not self._damage:
                    self._read_on(file, found.st_size)
        except FileNotFoundError:
            if self._file:
                self._failure = f"`{RECORDS}` is gone"
                self._file = (0, 0)  # whatever appears in its place is another file
        except OSError as error:
            self._failure = f"cannot read `{RECORDS}`: {error.strerror}"
        except UsageError as error:
            self._failure = str(error)
        except RecordError as error:
            self._damage = str(error)
            self.unread = 0
        return self._state() != before

    def _state(self) -> tuple[object, ...]:
        return self.last_hash, self.trouble, self.notice, self.unread > 0

    def _compare(self, found: os.stat_result) -> None:
        """Begins anew where the file is not the one that was read so far."""
        file = found.st_dev, found.st_ino
        if self._file not in (None, file):
            self._begin_anew("was replaced by another file")
        elif found.st_size < self._run.length:
            self._begin_anew("became shorter")
        self._file = file

    def _begin_anew(self, why: str) -> None:
        self.notice = f"`{RECORDS}` {why} while it was being followed, and was read again from the beginning"
        self.played = []
        self._damage = ""
        self._run = StoredRun(self.folder)

    def _read_on(self, file: BinaryIO, size: int) -> None:
        """Reads lines up to this size of the file. Raises `RecordError`, `UsageError`, `OSError`."""
        run, begin = self._run, self._run.length
        file.seek(begin)
        self.unread = 0
        for line in journal.lines_from(file, run.lines + 1, run.last_hash):
            if line.torn or run.length + line.size > size:
                break
            if run.length - begin > BATCH:
                self.unread = size - run.length
                break
            at = run.length
            if isinstance(said := run.take_line(line), Head):
                self.played.append(PlacedGame(said.game, at, line.size, line.hash))
