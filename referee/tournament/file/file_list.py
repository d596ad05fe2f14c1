"""The files of a bot, and whether they have changed: those that its table lists, or its folder.

Without a list these are the bot's working directory, where its table names one, and the folders of the files
that its command names. What tools make and what belongs to others is left out: runs, repositories' data,
caches, virtual environments, versions of bots, and what the caller says.

A bot's folder was written by the bot's author. So a symbolic link in it counts as the file that it leads to
only if that lies in the bot's own folders too; other links, links to folders, and whatever is no regular file
are left out, and never opened.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import shutil
import stat
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from referee.core.errors import UsageError
from referee.core.files import FileHashes, is_regular, read_start
from referee.core.text import shown
from referee.core.units import about_size
from referee.core.work import DutyCycle
from referee.processes import needs
from referee.processes.program import Program
from referee.records.header import ALL_FILES
from referee.records.run_files import RECORDS
from referee.tournament.plan import BotOrigin

MAX_FILES = 10_000  # maximum number of files of a bot

MAX_BYTES = 1 << 30  # maximum number of bytes of all files of a bot together

_MAX_ENTRIES = 20 * MAX_FILES  # maximum number of entries of folders that are looked at for a bot

_TOOLS = {".git", ".hg", ".svn", "__pycache__"}  # folders that tools make

VERSIONS = "versions.toml"  # the list of the versions of a bot that passed its test

_MARKS = (RECORDS, "pyvenv.cfg", "CACHEDIR.TAG", VERSIONS)
"""Files that say what their folder is: a run, a virtual environment, a cache (as of Cargo), versions."""

_MACHINE_CODE = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
"""How files of machine code begin on Linux and macOS, and Java's classes: what builds make."""


class File(NamedTuple):
    """A file of a bot."""

    path: str  # relative to the root of the bot's files, with `/`
    sha256: str
    size: int
    executable: bool


class FileList(NamedTuple):
    """The files of a bot, as they lie on this machine."""

    root: Path  # the folder that has all of them, and the working directory
    cwd: str  # the working directory, relative to the root
    files: dict[str, Path]  # where each file is read, by its path relative to the root
    folders: tuple[Path, ...]  # the folders that were searched for them


class _Entry(NamedTuple):
    """A file or folder that belongs to a bot."""

    path: Path
    own: Path
    """What counts as the bot's own: the same without links, where no link of the bot's author may be among
    them.
    """


def file_list(bot: Program, origin: BotOrigin, left_out: Collection[Path] = ()) -> FileList:
    """The files of a bot, without those that are `left_out` and what lies in these; resolved paths.

    Raises `UsageError` where its table lists what does not exist, or there are too many or too large files.
    """
    entries, own = _entries(bot, origin)
    folders = tuple({entry.own: None for entry in entries if entry.own.is_dir()})
    search = _FileSearch(bot, own, {*left_out}, has_build=bool(origin.build))
    for folder in folders:
        search.walk(folder)
    alone = [entry.path for entry in entries if entry.own not in folders]
    for path in alone:
        search.add(path)
    if origin.files is not None:
        _check_links(bot, [path for path in alone if path not in search.found])
    for path in _words_paths(bot):
        search.add(path)
    search.check()
    root = Path(os.path.commonpath([bot.cwd, *(path.parent for path in search.found)]))
    files = {path.relative_to(root).as_posix(): place for path, place in sorted(search.found.items())}
    return FileList(root, bot.cwd.relative_to(root).as_posix(), files, folders)


def _entries(bot: Program, origin: BotOrigin) -> tuple[list[_Entry], set[Path]]:
    """Lists what belongs to a bot according to its table and command, and what counts as the bot's own."""
    entries = list(_entries_named(bot) if origin.files is None else _listed(bot, origin.files))
    own = {entry.own for entry in entries}
    if bot.cwd in needs.files(bot.argv, bot.cwd, bot.environment()).own:
        if origin.files is not None:
            own.add(bot.cwd)
        elif origin.has_cwd or not entries:
            entries.append(_Entry(bot.cwd, bot.cwd))
            own.add(bot.cwd)
    return entries, own


def _check_links(bot: Program, not_found: Iterable[Path]) -> None:
    """Raises `UsageError` where one of the listed files that were not found is a link."""
    for path in not_found:
        if path.is_symlink():
            raise UsageError(
                f"bot `{bot.name}`: `{shown(str(path))}` in its `files` is a link to a place outside "
                "the bot's files, expected a file"
            )


def manifest(bot: Program, found: FileList, hashes: FileHashes) -> tuple[File, ...]:
    """The files with their hashes. Raises `UsageError` where one cannot be read."""
    files = []
    for path, place in found.files.items():
        hashed = hashes.of(place)
        if hashed is None:
            raise UsageError(f"bot `{bot.name}`: cannot read its file `{shown(str(place))}`")
        files.append(File(path, *hashed))
    return tuple(files)


def digest_of(files: Iterable[File], cwd: str, build: Iterable[str]) -> str:
    """The SHA-256 of a bot's files together, with the command that builds them and the folder where."""
    digest = hashlib.sha256()
    for text in (cwd, *build):
        digest.update(os.fsencode(text) + b"\0")
    for file in sorted(files):
        mode = "x" if file.executable else "-"
        digest.update(f"\n{file.sha256} {mode} ".encode() + os.fsencode(file.path) + b"\0")
    return digest.hexdigest()


def paths_in(word: str) -> Iterator[str]:
    """The parts of a word that may be paths: the whole, `VALUE` of `--name=VALUE`, and those between `:`."""
    yield from dict.fromkeys((word, *word.split("=", 1)[1:], *word.split(os.pathsep)))


def _entries_named(bot: Program) -> Iterator[_Entry]:
    """The files and folders that the bot's command names, the folders of these files, and what else it may
    read.
    """
    for named in needs.named(bot.argv, bot.cwd, bot.environment()):
        if not needs.is_interpreter(named.path):
            yield _Entry(Path(os.path.normpath(named.path)), named.place)
            for folder in named.folders:
                yield _Entry(folder, folder)
    for read in needs.named(map(str, bot.read), bot.cwd, bot.environment()):
        yield _Entry(read.path, read.place)


def _listed(bot: Program, patterns: Iterable[str]) -> Iterator[_Entry]:
    """Lists the files in the bot's table. Raises `UsageError` where that does not exist."""
    for pattern in patterns:
        found = [pattern]
        if glob.has_magic(pattern) and not os.path.lexists(bot.cwd / pattern):
            found = sorted(glob.glob(pattern, root_dir=bot.cwd, recursive=True))  # noqa: PTH207
        paths = [Path(os.path.normpath(bot.cwd / name)) for name in found if "\0" not in name]
        if not any(is_regular(path) or path.is_dir() for path in paths):
            raise UsageError(
                f"bot `{bot.name}`: its `files` have `{shown(pattern)}`, but there is no such file or "
                f"folder in `{shown(str(bot.cwd))}`"
            )
        for path in paths:
            yield _Entry(path, path)


def _words_paths(bot: Program) -> Iterator[Path]:
    """The paths of existing files that words of the bot's command name, as they are written there."""
    for word in bot.command:
        for text in paths_in(word):
            path = Path(os.path.normpath(bot.cwd / text))
            if "\0" not in text and is_regular(path) and not needs.is_interpreter(path):
                yield path


class _FileSearch:
    """Collects the files of a bot."""

    def __init__(self, bot: Program, own: set[Path], left_out: set[Path], *, has_build: bool) -> None:
        self._bot = bot
        self._own = own
        self._left_out = left_out
        self._has_build = has_build
        self._entries = 0  # how many entries of folders were looked at
        self.found: dict[Path, Path] = {}  # where each file is read, by the path that it has for the bot
        self._sizes: Counter[Path] = Counter()  # bytes by the folder or file below a walked folder
        self._counts: Counter[Path] = Counter()  # files, likewise

    def walk(self, top: Path) -> None:
        pending, is_real = [top], top.resolve() == top
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    names = sorted(entry.name for entry in entries)
            except OSError:
                continue
            if folder != top and not {*names}.isdisjoint(_MARKS):
                continue
            for name in names:
                path = folder / name
                self._entries += 1
                if self._entries > _MAX_ENTRIES:
                    self._refuse(f"more than {_MAX_ENTRIES} files and folders", self._counts)
                if path not in self._left_out and name not in _TOOLS:
                    with contextlib.suppress(OSError):
                        found = path.lstat()
                        if stat.S_ISDIR(found.st_mode):
                            pending.append(path)
                        elif is_real and stat.S_ISREG(found.st_mode):
                            self._add(path, path, found, top)
                        else:
                            self.add(path, top)

    def add(self, path: Path, top: Path | None = None) -> None:
        """Adds a file, where it may be sent: one that lies below the folder `top`, or that is named."""
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            place = path.resolve(strict=True)
            self._add(path, place, place.stat(), top)

    def _add(self, path: Path, place: Path, found: os.stat_result, top: Path | None) -> None:
        if path in self.found or not stat.S_ISREG(found.st_mode):
            return
        if not self._is_own(place):  # guard: links-of-files
            return
        if self._is_left_out(path) or self._is_left_out(place):  # guard: files-left-out
            return
        if self._has_build and read_start(place, 4) in _MACHINE_CODE:
            return
        self.found[path] = place
        part = top / path.relative_to(top).parts[0] if top else path
        self._counts[part] += 1
        self._sizes[part] += found.st_size
        if len(self.found) > MAX_FILES:
            self._refuse(f"more than {MAX_FILES} files", self._counts)

    def check(self) -> None:
        """Raises `UsageError` where the files are too large together."""
        if (size := sum(self._sizes.values())) > MAX_BYTES:
            self._refuse(f"{about_size(size)}, expected at most {about_size(MAX_BYTES)}", self._sizes)

    def _refuse(self, much: str, by_part: Counter[Path]) -> None:
        part, most = by_part.most_common(1)[0] if by_part else (self._bot.cwd, 0)
        in_part = about_size(most) if by_part is self._sizes else f"{most} files"
        raise UsageError(
            f"bot `{self._bot.name}` has {much}; the largest part is `{shown(str(part))}` with "
            f"{in_part}: list what it needs as `files` in its table"
        )

    def _is_own(self, place: Path) -> bool:
        """Whether a place is one of the bot's files, or in one of its folders."""
        return place in self._own or not self._own.isdisjoint(place.parents)

    def _is_left_out(self, path: Path) -> bool:
        return path in self._left_out or not self._left_out.isdisjoint(path.parents)


HashesByBot = dict[str, dict[str, str]]
"""For each bot, the SHA-256 of each file that its command names, its program first; and of all its files
together, as `ALL_FILES`, where these are listed or sent.
"""

_SHARE = 0.02  # maximum share of the time that is spent on the files that bots list


class Programs:
    """The programs of bots: which of them are different from the last time."""

    def __init__(self, hashes_of: Callable[[Program], Mapping[str, str] | None] | None = None) -> None:
        """`hashes_of` gives what is known of a bot's files, or None where nothing is; the default are the
        files of its command.
        """
        hashes = FileHashes()
        self._hashes_of = hashes_of or (lambda bot: hashes_of_words(bot, hashes))
        self._last: HashesByBot = {}

    def changes(self, bots: Iterable[Program]) -> HashesByBot:
        """The bots whose files are different from the last time that they were asked for, or were not asked
        for yet, each with all its files.
        """
        found = {bot.name: self._hashes_of(bot) for bot in bots if not bot.is_person}
        now = {name: dict(files) for name, files in found.items() if files is not None}
        changed = {name: files for name, files in now.items() if self._last.get(name) != files}
        self._last |= changed
        return changed


class ListedFiles:
    """The hashes of bots whose tables may list files: for `Programs`, where bots play on this machine."""

    def __init__(self, origins: Mapping[str, BotOrigin], left_out: Collection[Path]) -> None:
        """`left_out`: what belongs to no bot, such as the folder of the run."""
        self._origins = origins
        self._left_out = left_out
        self._hashes = FileHashes()
        self._digests: dict[str, str] = {}
        self._rations: dict[str, DutyCycle] = {}

    def of(self, bot: Program) -> dict[str, str]:
        """The hashes of the files that the bot's command names, and of those that its table lists."""
        found = hashes_of_words(bot, self._hashes)
        origin = self._origins.get(bot.name, BotOrigin())
        if origin.files is not None:
            duty_cycle = self._rations.setdefault(bot.name, DutyCycle(time.monotonic, _SHARE))
            if duty_cycle.is_due:
                with duty_cycle.spent():
                    self._digests[bot.name] = self._digest(bot, origin)
            found[ALL_FILES] = self._digests[bot.name]
        return found

    def _digest(self, bot: Program, origin: BotOrigin) -> str:
        """The hash of all files that the bot's table lists; empty where some cannot be read."""
        try:
            files = file_list(bot, origin, self._left_out)
            return digest_of(manifest(bot, files, self._hashes), files.cwd, origin.build)
        except UsageError:
            return ""


def hashes_of_words(bot: Program, hashes: FileHashes) -> dict[str, str]:
    """The hashes of the files that the words of a bot's command name, by word."""
    files = ((word, hashes.of(path)) for word, path in _files_named(bot))
    return {word: found.sha256 for word, found in files if found}


def _files_named(bot: Program) -> Iterator[tuple[str, Path]]:
    """The words of a bot's command that may be files, and where these are."""
    program, *rest = bot.argv
    if bot.command[0].startswith("@"):
        yield bot.command[0], Path(rest.pop(0))
    elif bot.command[0] != "{python}":
        path = shutil.which(program, path=bot.search_path)
        yield bot.command[0], bot.cwd / (path or program)
    for word in rest:
        yield word, bot.cwd / word
