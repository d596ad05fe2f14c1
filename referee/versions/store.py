"""The folder of versions: a copy of each, a list that says how it passed its test, and the runs.

The folder `versions` in a bot's folder has:

- `versions.toml`: the list. It also says to all who look for the files of a bot that these are none.
- `1`, `2` …: the folder of each version, as it was when it was tested.
- `built/HASH`: copies that are built and played with.
- `tests/NEW-OLD-TERMS-results`: the run of each test, so that a test that was stopped is continued.
"""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.files import write_whole
from referee.core.rows import Column, Grid
from referee.core.text import meant, shown, signed
from referee.ratings.columns import NONE, estimate_text
from referee.ratings.pool import Result, fit
from referee.ratings.sprt import SprtResult
from referee.ratings.tally import clusters, results_of
from referee.records.run_files import make_folder
from referee.tournament.file.config import parse, read_file, written
from referee.tournament.file.file_list import VERSIONS as LIST
from referee.tournament.run.run import find_run
from referee.versions.bot_folder import VERSIONS, BotFolder

_HEAD = b"# The versions of a bot that passed `referee test`, oldest first\n\n"

_IGNORED = b"/built/\n/tests/\n/lock\n"  # of version control: what can be made again

_COLUMNS = (
    Column("version", "version", left=True),
    Column("date", "date", left=True),
    Column("elo", "Elo", text=lambda elo: NONE if elo is None else signed(elo)),
    Column("games", "games"),
    Column("against", "against", left=True),
    Column("gain", "gain", left=True),
    Column("note", "note", left=True),
    Column("sha256", "files", left=True, text=lambda digest: str(digest)[:12]),
)


class Version(NamedTuple):
    """A version that passed."""

    number: int  # counts from 1
    sha256: str
    date: str  # when it passed, as `2026-12-01 20:00`, in UTC
    note: str
    against: str  # the name of the version that it was tested against; empty for the first
    gain: str  # the difference in Elo after the test, with its interval
    result: str  # how it passed, in a sentence


class Versions:
    """The versions of a bot."""

    def __init__(self, bot: BotFolder) -> None:
        """Reads the list, if there is one. Raises `UsageError`."""
        self._bot = bot
        self._folder = bot.folder / VERSIONS
        self._list = self._folder / LIST
        self.all = self._read() if self._list.exists() else ()

    def _read(self) -> tuple[Version, ...]:
        file = read_file(self._list)
        with file.named():
            fields = Fields(parse(file.text), "", UsageError, examples={})
            fields.only("version")
            found = []
            for one in fields.objects("version") if fields.has("version") else ():
                one.only(*Version._fields)
                found.append(Version(one.number("number", 1), *map(one.text, Version._fields[1:])))
            numbers = [version.number for version in found]
            if numbers != sorted(set(numbers)):
                raise UsageError("the numbers of the versions do not increase")
        return tuple(found)

    def _write(self, *versions: Version) -> None:
        text = written({"version": [one._asdict() for one in versions]}).replace("\n[[", "\n\n[[").encode()
        parse(text)  # a list that is too large is refused now, not when it is read
        write_whole(self._list, _HEAD + text, b"", "a list of versions")

    def name(self, version: Version) -> str:
        """What users call a version."""
        return f"{self._bot.name}@{version.number}"

    def named(self, text: str | None) -> Version | None:
        """The version that a user names as `NAME@NUMBER`, by default the last one; None where no version has
        passed yet. Raises `UsageError`.
        """
        names = {self.name(version): version for version in self.all}
        if text and text not in names:
            expected = meant(text, names) if names else "no `--against` before the first version has passed"
            raise UsageError(f"there is no version `{shown(text, 80)}`, expected {expected}")
        return names[text] if text else self.all[-1] if self.all else None

    def load(self, version: Version) -> BotFolder:
        """The folder of a version. Raises `UsageError` where its files are not those that passed."""
        folder = self._folder / str(version.number)
        with suppress(UsageError):
            if (found := BotFolder.load(folder)).sha256 == version.sha256:
                return found
        raise UsageError(
            f"the files in `{shown(str(folder))}` are not those of `{self.name(version)}` that passed, "
            f"expected them unchanged: restore them, or remove this version from `{LIST}`"
        )

    def built(self, *bots: BotFolder) -> list[BotFolder]:
        """Copies that can be built and played with; those of earlier tests are removed. Raises what
        `BotFolder.copy` raises.
        """
        make_folder(self._folder / "tests")
        if not self._list.exists():
            write_whole(self._folder / ".gitignore", _IGNORED, b"", "a list of what git ignores")
            self._write()
        shutil.rmtree(self._folder / "built", ignore_errors=True)
        return [one.copy(self._folder / "built" / one.sha256) for one in bots]

    def add(self, bot: BotFolder, note: str, old: Version | None, test: SprtResult | None) -> Version:
        """Takes a copy as the next version, whether built or not; its test against an old version is None for
        the first. Raises `StorageError`, and `UsageError` where its files have changed since it was made.
        """
        version = Version(
            self.all[-1].number + 1 if self.all else 1,
            bot.sha256,
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
            note,
            self.name(old) if old else "",
            estimate_text(test) if test else NONE,
            str(test) if test else "it is the first and passed the check",
        )
        bot.copy(self._folder / str(version.number))
        self._write(*self.all, version)
        return version

    def table(self) -> Grid:
        """The versions, oldest first, with ratings from all games between them that were played here. Their
        mean is 0; they have no intervals, since sequential tests end when the results are extreme. A version
        without games has no rating. Raises `RecordError`.
        """
        keys = [version.sha256[:16] for version in self.all]
        results: list[Result] = []
        for path in sorted(self._folder.glob("tests/*-*-*-results")):
            new, old, terms, _ = path.name.split("-", 3)
            if new != old and {new, old} <= {*keys} and (run := find_run(path)).lines and len(run.names) == 2:
                called = dict(zip(run.names, (new, old), strict=True))
                games = run.shown_games
                results += [
                    Result(tuple(called[bot] for bot in one.bots), one.ranks, (path, one.cluster), terms)
                    for one in results_of(games, clusters(games, run.header.repeats).of)
                ]
        ratings = fit(results, keys).ratings
        counts = Counter(key for result in results for key in result.bots)
        rows = []
        for version, key in zip(self.all, keys, strict=True):
            elo = round(ratings[key].elo, 2) if ratings[key].is_known else None
            texts = map(shown, (version.against, version.gain, version.note, version.sha256))
            rows.append([self.name(version), shown(version.date), elo, counts[key], *texts])
        return Grid(_COLUMNS, rows)
