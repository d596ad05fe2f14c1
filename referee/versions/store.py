"""The folder of versions: a copy of each, and a list that says how it passed its test.

The folder `versions` in a bot's folder has:

- `versions.toml`: the list. It also says to all who look for the files of a bot that these are none.
- `1`, `2` …: the files of each version, as they were when it was tested.
- `built/KEY`: copies of files that are built and played with. What no test needs is removed by the next one.
- `tests/NEW-OLD-CONDITIONS.toml`: a tournament file for each test, named by the hashes of both versions and
  of what else the test depends on, and the run beside it. So a test that was stopped is continued.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import StorageError, UsageError
from referee.core.fields import Fields
from referee.core.files import is_regular, write_whole
from referee.core.text import meant, shown
from referee.ratings.sprt import Estimate, SprtResult, estimate
from referee.records.run_files import RECORDS
from referee.tournament.file.config import parse, read_text, written
from referee.tournament.file.file_list import VERSIONS as LIST
from referee.tournament.run.run import StoredRun, read_run
from referee.tournament.tournament import Tournament
from referee.versions.bot_file import BotFile
from referee.versions.snapshot import BotSnapshot, snapshot_of

_HEAD = b"# The versions of a bot that passed `referee test`, oldest first\n\n"

_IGNORED = "/built/\n/tests/\n/lock\n"  # of version control: what can be made again

_TEST = re.compile(r"([0-9a-f]{16})-([0-9a-f]{16})-([0-9a-f]{8})-results")


class Version(NamedTuple):
    """A version that passed."""

    number: int  # counts from 1
    sha256: str  # that of its snapshot
    date: str  # when it passed, as `2026-12-01 20:00`, in UTC
    note: str
    against: int  # the version that it was tested against; 0 of the first
    gain: dict[str, float]
    """The difference in Elo after the test, `elo`, and the ends of its 95 % interval, `low` and `high`, each
    where it is known.
    """
    result: str  # how it passed, in a sentence
    bot: dict[str, Any]  # its table, without its name

    @classmethod
    def read(cls, fields: Fields) -> Version:
        """A version from the list. Raises `UsageError`."""
        fields.only(*cls._fields)
        fields.object("bot")
        bot, gain = fields.value("bot"), fields.object("gain")
        assert isinstance(bot, dict)
        gain.only(*Estimate._fields)
        found = cls(
            fields.number("number", 1),
            fields.text("sha256"),
            fields.text("date"),
            fields.text("note"),
            fields.number("against"),
            {name: gain.real(name) for name in gain.names()},
            fields.text("result"),
            bot,
        )
        if not re.fullmatch("[0-9a-f]{64}", found.sha256):
            raise fields.wrong("sha256", "a hash of 64 hexadecimal digits")
        return found


class PlayedTest(NamedTuple):
    """A test between two versions, as far as it was played."""

    new: int
    old: int
    conditions: str  # the same for tests under the same terms
    run: StoredRun


class Versions:
    """The versions of a bot."""

    def __init__(self, bot: BotFile) -> None:
        """Reads the list, if there is one. Raises `UsageError`."""
        self._bot = bot
        self._list = bot.versions / LIST
        self.all: tuple[Version, ...] = self._read() if self._list.exists() else ()

    def _read(self) -> tuple[Version, ...]:
        try:
            fields = Fields(parse(read_text(self._list)), "", UsageError, examples={})
            fields.only("version")
            found = tuple(map(Version.read, fields.objects("version"))) if fields.has("version") else ()
            numbers = [version.number for version in found]
            if numbers != sorted(set(numbers)):
                raise UsageError("the numbers of the versions do not increase")
        except UsageError as error:
            raise UsageError(f"`{shown(str(self._list))}`: {error}") from None
        return found

    def name(self, version: Version) -> str:
        """What users call a version."""
        return f"{self._bot.name}@{version.number}"

    @property
    def last(self) -> Version | None:
        """The version that passed last; None where none has passed yet."""
        return self.all[-1] if self.all else None

    def of(self, snapshot: BotSnapshot) -> Version | None:
        """The version that has these files, the last one of several; None where none has."""
        return next((one for one in reversed(self.all) if one.sha256 == snapshot.sha256), None)

    def named(self, text: str) -> Version:
        """The version that a user names as `NAME@NUMBER`. Raises `UsageError`."""
        names = {self.name(version): version for version in self.all}
        if text not in names:
            expected = (
                meant(text, names) if names else f"none, because no version of `{self._bot.name}` passed yet"
            )
            raise UsageError(f"there is no version `{shown(text, 80)}`, expected {expected}")
        return names[text]

    def snapshot(self, version: Version) -> BotSnapshot:
        """The files of a version. Raises `UsageError` where they are not those that passed."""
        folder = self._bot.versions / str(version.number)
        try:
            found = snapshot_of(self._bot.name, version.bot, folder, ())
            wrong = found.sha256 != version.sha256
        except UsageError:
            wrong = True
        if wrong:
            raise UsageError(
                f"the files in `{shown(str(folder))}` are not those of `{self.name(version)}` that passed, "
                f"expected them unchanged: restore them, or remove this version from `{LIST}`"
            )
        return found

    def prepare(self) -> None:
        """Makes the folder, where it is new. Raises `StorageError`."""
        try:
            (self._bot.versions / "tests").mkdir(parents=True, exist_ok=True)
            if not self._list.exists():
                self._list.write_bytes(_HEAD)
                (self._bot.versions / ".gitignore").write_text(_IGNORED)
        except OSError as error:
            raise _unwritable(self._bot.versions, error) from None

    def built(self, snapshots: Sequence[BotSnapshot]) -> list[BotSnapshot]:
        """Copies of these files that can be built and played with; those of other tests are removed. Raises
        `StorageError`, and `UsageError` where the files have changed.
        """
        top = self._bot.versions / "built"
        keys = {snapshot.key for snapshot in snapshots}
        for path in top.iterdir() if top.is_dir() else ():
            if path.name not in keys:
                shutil.rmtree(path, ignore_errors=True)
        return [snapshot.copy(top / snapshot.key) for snapshot in snapshots]

    def add(
        self, snapshot: BotSnapshot, note: str, against: Version | None, test: SprtResult | None
    ) -> Version:
        """Takes files as the next version, from the place where they were tested; the test against another
        version is None for the first. Raises `StorageError`, and `UsageError` where they have changed since.
        """
        found = estimate(test) if test else None
        gain = {name: value for name, value in found._asdict().items() if value is not None} if found else {}
        version = Version(
            self.all[-1].number + 1 if self.all else 1,
            snapshot.sha256,
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
            note,
            against.number if against else 0,
            {name: round(value, 2) for name, value in gain.items()},
            str(test) if test else "it is the first and passed the check",
            dict(snapshot.table),
        )
        folder = self._bot.versions / str(version.number)
        shutil.rmtree(folder, ignore_errors=True)  # of a referee that was killed before the list had it
        versions = (*self.all, version)
        text = written({"version": [one._asdict() for one in versions]}).replace("\n[[", "\n\n[[")
        parse(text.encode())  # a list that is too large is refused now, not when it is read
        snapshot.copy(folder)
        write_whole(self._list, _HEAD + text.encode(), b"", "a list of versions")
        self.all = versions
        return version

    def tests(self) -> Iterator[PlayedTest]:
        """The tests between versions that were played here. Raises `RecordError`."""
        numbers = {version.sha256[:16]: version.number for version in self.all}
        folder = self._bot.versions / "tests"
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            found = _TEST.fullmatch(path.name)
            if not found or found[1] == found[2] or not {found[1], found[2]} <= numbers.keys():
                continue
            if is_regular(path / RECORDS) and len((run := read_run(path)).names) == 2:
                yield PlayedTest(numbers[found[1]], numbers[found[2]], found[3], run)


def write_test(test: Tournament) -> None:
    """Writes the file of a test. Raises `StorageError`."""
    try:
        test.file.path.write_bytes(test.file.text)
    except OSError as error:
        raise _unwritable(test.file.path, error) from None


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(f"cannot write `{shown(str(path))}`: {error.strerror}")
