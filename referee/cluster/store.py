"""Bots' files on a machine of a cluster: a folder for each bot, built once.

The content of all files of a bot arrives as one archive, which is kept only until it is unpacked. The folder
of a store has:

- `bots/KEY/files`: the files of a bot in their folders, and whatever its build made. `KEY` stands for the
  files, the build command, and for what else a build depends on. `bots/KEY/ready` says that all of this was
  completed, and which files the build replaced; `bots/KEY/use` is locked by every process that plays with the
  bot.
- `lock`: locked by the process that changes `bots`; other processes wait.

What was not used for a month is removed. Everything belongs to its owner alone, but the files of bots that
run as another user.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import platform
import pwd
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import BinaryIO

from referee.cluster.bot_files import PART_BYTES, BotFiles
from referee.core.errors import EnvironmentLacksError, UsageError
from referee.core.files import FileHashes, open_without_links
from referee.core.text import shown
from referee.processes import building, levels, scratch
from referee.processes.program import INTERPRETERS, Program
from referee.records.amendments import LeftOut
from referee.tournament.file.config import lacking
from referee.tournament.file.file_list import MAX_BYTES, MAX_FILES, File, hashes_of_words
from referee.tournament.run.readiness import not_built, refused

KEPT_DAYS = 30  # after so many days without use files are removed

_REMOVE_S = 60.0  # the most seconds that removing a folder takes

_LONGEST_PATH = 2000  # maximum number of characters of a path in a bot's files


def default_store() -> Path:
    """Where the store of this machine is unless something else is said: in the folder for caches of this
    user, or of the system, if this is root, since bots that run as another user have no access to its home
    folder.
    """
    if (cache := os.environ.get("XDG_CACHE_HOME", "")).startswith("/"):
        return Path(cache) / "referee"
    if os.geteuid() == 0:
        return Path("/var/cache/referee")
    with contextlib.suppress(RuntimeError):
        if os.access(home := Path.home(), os.W_OK):
            return home / ".cache" / "referee"
    return Path(gettempdir()) / f"referee-{os.geteuid()}"


class BotUnfit(EnvironmentLacksError):
    """A bot cannot be prepared on this machine, though others can."""

    def __init__(self, bot: LeftOut) -> None:
        super().__init__(bot.error)
        self.bot = bot


class FileStore:
    """The store of a machine. Several processes may use one at the same time."""

    def __init__(self, folder: Path, note: Callable[[str], None] = lambda line: None) -> None:
        """Opens or makes a store; `note` is called with lines for the user. Raises `EnvironmentLacksError`
        where the folder cannot be written.
        """
        self.folder = folder.resolve()
        self._note = note
        self._bots = self.folder / "bots"
        self._hashes = FileHashes()
        self._archives: dict[str, BinaryIO] = {}
        """By digest, the archives that have arrived, or a part of them. These files have no names, so that no
        bot can read them.
        """
        self._in_use: dict[str, int] = {}  # descriptors of the locks of the bots that this process plays with
        with writing(f"a store of files in `{shown(str(self.folder))}`"):
            _make(self.folder, 0o711)
            _make(self._bots, 0o711)
            self._remove_old()

    def close(self) -> None:
        """Gives up what was not unpacked; bots of this process may be removed when they are old."""
        self.forget_archives()
        for lock in self._in_use.values():
            os.close(lock)
        self._in_use.clear()

    def lacking(self, bots: Iterable[BotFiles]) -> list[str]:
        """The digests of the bots whose files are not here as they should be, each once."""
        return [*dict.fromkeys(files.digest for files in bots if files.files and not self._has(files))]

    def _has(self, files: BotFiles) -> bool:
        folder = self._bots / _key(files)
        complete = _complete(folder, files)
        if complete is None or self._differing(folder / "files", complete):
            return False
        with contextlib.suppress(OSError):
            os.utime(folder / "use")
        return True

    def add(self, digest: str, offset: int, part: bytes) -> None:
        """Adds a part of the archive of the bot with this digest; the parts come in their order. What is in
        it is checked when it is unpacked. Raises `EnvironmentLacksError` where it cannot be stored.
        """
        with writing("a bot's files"):
            if offset == 0:
                self._forget(digest)
                self._archives[digest] = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115
            archive = self._archives.get(digest)
            if not archive or archive.tell() != offset or offset + len(part) > MAX_BYTES:
                self._forget(digest)
                raise EnvironmentLacksError("a bot's files came in another order, or are too large")
            archive.write(part)

    def forget_archives(self) -> None:
        """Removes what has arrived: all of it was unpacked, or will not be."""
        for digest in [*self._archives]:
            self._forget(digest)

    def _forget(self, digest: str) -> None:
        if archive := self._archives.pop(digest, None):
            archive.close()

    def ready(self, files: BotFiles) -> Program:
        """The bot as it is started on this machine: unpacked, built where that was not done yet, and checked.

        Raises `BotUnfit` where the bot is at fault or this machine lacks something for it,
        `EnvironmentLacksError` where the machine cannot prepare any bot.
        """
        bot = files.bot
        for program in files.needs:
            if shutil.which(program) is None:
                raise BotUnfit(lacking(bot, program))
        check(files)
        if files.cwd:
            with self._locked():
                bot = placed(files, self._unpacked(files))
        try:
            bot.check()
        except UsageError as error:
            raise BotUnfit(refused(bot, error)) from None
        if missing := next((path for path in bot.read if not path.exists()), None):
            reason = f"`{shown(str(missing))}`, which it must be able to read, does not exist on this machine"
            raise BotUnfit(LeftOut(bot.name, reason))
        if files.shared:
            self._check_shared(files, bot)
        return bot

    def changed(self, files: BotFiles) -> str:
        """A file of a bot that is not any more what it was when the bot was ready; empty where all are."""
        if not files.cwd:
            return ""
        folder = self._bots / _key(files)
        complete = _complete(folder, files)
        if complete is None:
            return "files"
        return next((file.path for file in self._differing(folder / "files", complete)), "")

    def _check_shared(self, files: BotFiles, bot: Program) -> None:
        """Raises `BotUnfit` where a bot that is here is another one than on the referee's machine, as far as
        the referee knows it.
        """
        here = hashes_of_words(bot, self._hashes)
        for word, expected in files.words:
            is_own = files.cwd == "" or word.startswith("/") or word == files.bot.command[0]
            if not is_own or INTERPRETERS.fullmatch(Path(word).name):
                continue
            found = here.get(word)
            if found != expected:  # guard: shared-bots
                seen = f"SHA-256 {found}" if found else "it does not exist"
                reason = f"`{shown(word)}` differs on this machine: {seen}, expected {expected}"
                raise BotUnfit(LeftOut(bot.name, reason))

    def _unpacked(self, files: BotFiles) -> Path:
        """The folder with the files of a bot, complete and built. The store is locked meanwhile."""
        bot, folder = files.bot, self._bots / _key(files)
        top, ready = folder / "files", folder / "ready"
        with writing(f"files of bot `{bot.name}`"):
            _make(folder, 0o711)
            self._use(folder)
            complete = _complete(folder, files)
            if complete is not None:
                damaged = self._differing(top, complete)
                if not damaged:
                    return top
                which = ", ".join(f"`{shown(file.path, 80)}`" for file in damaged[:5])
                self._note(f"bot `{bot.name}`: restoring files that were changed on this machine: {which}")
                ready.unlink()
            _remove(top)  # also what a process left that ended before it was complete
            _make(top, 0o700)
            self._unpack(files, top)
        if files.build:
            self._build(files, top)
        with writing(f"files of bot `{bot.name}`"):
            if bot.user:
                _open_to(bot, top)
            self._store_complete(ready, top, files)
        return top

    def _store_complete(self, ready: Path, top: Path, files: BotFiles) -> None:
        """Notes that a bot is complete, and which of its files its build replaced or removed."""
        replaced = [file.path for file in self._differing(top, files.files)]
        made = {path: found for path in replaced if (found := self._hashes.of(top / path))}
        new = ready.with_name("ready.new")
        new.write_text(json.dumps({"replaced": replaced, "made": made}))
        new.replace(ready)

    def _build(self, files: BotFiles, top: Path) -> None:
        name = files.bot.name
        self._note(f"building {name}")
        (bot,) = levels.settled([placed(files, top)])
        command = placed_build(files, top)
        if failure := building.build(bot, command, files.build_network):
            raise BotUnfit(not_built(bot, failure))

    def _differing(self, top: Path, files: Iterable[File]) -> list[File]:
        """The files that are not in their places, or not what they should be."""
        folders: dict[Path, bool] = {}  # whether each is a folder, and not behind a link
        found = []
        for file in files:
            path = top / file.path
            if path.parent not in folders:
                folders[path.parent] = os.path.realpath(path.parent) == str(path.parent)
            is_here = folders[path.parent] and not path.is_symlink()
            expected = (file.sha256, file.size, file.executable)
            if not (is_here and self._hashes.of(path) == expected):  # guard: changed-files
                found.append(file)
        return found

    def _unpack(self, files: BotFiles, top: Path) -> None:
        """Puts the files of a bot in a new folder. Raises `EnvironmentLacksError` where they are not here."""
        _folder(top, files.cwd)
        if not files.files:
            return
        archive = self._archives.get(files.digest)
        if not archive:
            raise EnvironmentLacksError(f"bot `{files.bot.name}`: its files are missing on this machine")
        archive.seek(0)
        for file in files.files:
            path = top / file.path
            _folder(top, os.path.dirname(file.path))  # noqa: PTH120
            with path.open("xb") as new:
                os.fchmod(new.fileno(), 0o700 if file.executable else 0o600)
                if not _is_copied(archive, file, new):
                    raise EnvironmentLacksError(
                        f"bot `{files.bot.name}`: `{shown(file.path)}` was damaged in transfer, "
                        f"expected SHA-256 {file.sha256}"
                    )

    def _use(self, folder: Path) -> None:
        """Keeps the folder of a bot from being removed until this process ends. The store is locked."""
        path = folder / "use"
        if folder.name not in self._in_use:
            lock = open_without_links(path, os.O_RDWR | os.O_CREAT)
            fcntl.flock(lock, fcntl.LOCK_SH)
            self._in_use[folder.name] = lock
        os.utime(path)

    @contextmanager
    def _locked(self, wait: bool = True) -> Iterator[bool]:
        """Locks what is in `bots` for this process; whether that was possible, where it does not wait."""
        with writing("a store of files"):
            lock = open_without_links(self.folder / "lock", os.O_RDWR | os.O_CREAT)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))  # guard: store-lock
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(lock)

    def _remove_old(self) -> None:
        oldest_s = time.time() - KEPT_DAYS * 86_400
        with self._locked(wait=False) as is_locked:
            if not is_locked:
                return
            for folder in self._bots.iterdir():
                with contextlib.suppress(OSError):
                    if (folder / "use").lstat().st_mtime < oldest_s:
                        _remove_unused(folder)


def _complete(folder: Path, files: BotFiles) -> list[File] | None:
    """The files of a bot as they are where it is complete: as they were sent, or as its build left them. None
    where it is not complete.
    """
    try:
        known = json.loads((folder / "ready").read_bytes())
        sent = [file for file in files.files if file.path not in known["replaced"]]
        return sent + [File(path, *made) for path, made in known["made"].items()]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):  # missing, or not of this version
        return None


def _remove_unused(folder: Path) -> None:
    """Removes the folder of a bot, unless a process plays with it. Raises `OSError`."""
    lock = open_without_links(folder / "use", os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # guard: bots-in-use
        (folder / "ready").unlink(missing_ok=True)
        _remove(folder)
    finally:
        os.close(lock)


def _key(files: BotFiles) -> str:
    """The name of the folder of a bot: the same for bots that have all of it in common. Builds depend on the
    machine too, where several have this folder in common.
    """
    bot, parts = files.bot, [files.digest, files.bot.user]
    if files.build:
        parts += [sys.executable, platform.node(), platform.machine(), *(f"{n}={v}" for n, v in bot.env)]
    if not files.files:
        parts.append(bot.name)
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


def _open_to(bot: Program, top: Path) -> None:
    """Lets the user that a bot runs as read its files. Raises `OSError`, `EnvironmentLacksError`."""
    try:
        group = pwd.getpwnam(bot.user).pw_gid
    except KeyError:
        raise EnvironmentLacksError(
            f"bot `{bot.name}`: there is no user `{bot.user}` on this machine"
        ) from None
    for folder, _, names in os.walk(top):
        for path in (Path(folder), *(Path(folder) / name for name in names)):
            if not path.is_symlink():
                os.chown(path, -1, group)
                mode = path.stat().st_mode & 0o700
                path.chmod(mode | (mode & 0o500) >> 3)


def _make(folder: Path, mode: int) -> None:
    """Makes a folder where it is missing, and those above it. Raises `OSError`, and `EnvironmentLacksError`
    where it is another user's.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode)
        folder.chmod(mode)  # whatever the umask
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():  # guard: owner-of-store
        raise EnvironmentLacksError(
            f"`{shown(str(folder))}` is not a folder owned by this user, expected a store that is "
            "(`XDG_CACHE_HOME` sets its place)"
        )


def _folder(top: Path, path: str) -> None:
    for part in Path(path).parts:
        top /= part
        top.mkdir(0o700, exist_ok=True)


def _is_copied(archive: BinaryIO, file: File, to: BinaryIO) -> bool:
    """Copies the next file of an archive; whether it has its hash. Raises `OSError`."""
    digest, left = hashlib.sha256(), file.size
    while left and (part := archive.read(min(left, PART_BYTES))):
        digest.update(part)
        left -= len(part)
        to.write(part)
    return digest.hexdigest() == file.sha256  # guard: content-of-archives


def _remove(path: Path) -> None:
    """Removes a folder or file, if there is any. Raises `OSError` where something is left."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    elif not scratch.remove(str(path), _REMOVE_S):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Raises `EnvironmentLacksError` in the place of `OSError`."""
    try:
        yield
    except OSError as error:
        where = f" `{shown(str(error.filename))}`" if error.filename else ""
        raise EnvironmentLacksError(f"cannot write {what}: {error.strerror}{where}") from None


def check(files: BotFiles) -> None:
    """Raises `EnvironmentLacksError` where the files have paths that lead elsewhere, or are too many."""
    paths = [file.path for file in files.files]
    folders = [path for path in (files.cwd, *(path for _, path in files.places)) if path not in ("", ".")]
    for path in (*paths, *folders):
        parts = path.split("/")
        if not {"", ".", ".."}.isdisjoint(parts) or "\0" in path or len(path) > _LONGEST_PATH:
            raise EnvironmentLacksError(  # guard: paths-in-files
                f"bot `{files.bot.name}`: `{shown(path)}` is not a path inside its folder"
            )
    if len(paths) > MAX_FILES or sum(file.size for file in files.files) > MAX_BYTES:
        raise EnvironmentLacksError(f"bot `{files.bot.name}` has too many files, or files that are too large")
    if len({*paths}) < len(paths):
        raise EnvironmentLacksError(f"bot `{files.bot.name}` has two files with the same path")


def placed(files: BotFiles, top: Path) -> Program:
    """The bot with its files in the folder `top`."""
    bot, places = files.bot, _places(files, top)
    return replace(
        bot,
        cwd=Path(os.path.normpath(top / files.cwd)),
        command=tuple(_word(word, places) for word in bot.command),
        env=tuple((name, _word(value, places)) for name, value in bot.env),
        read=tuple(Path(places.get(str(path), path)) for path in bot.read),
    )


def placed_build(files: BotFiles, top: Path) -> tuple[str, ...]:
    """The words of the bot's build command with its files in the folder `top`."""
    places = _places(files, top)
    return tuple(_word(word, places) for word in files.build)


def _places(files: BotFiles, top: Path) -> dict[str, str]:
    """Maps paths on the referee's machine to paths on this one."""
    return {text: os.path.normpath(top / path) for text, path in files.places}


def _word(word: str, places: Mapping[str, str]) -> str:
    """A word with other paths: the whole, or its parts between `=` and `:`."""
    if word in places:
        return places[word]
    return "".join(places.get(part, part) for part in re.split("([=:])", word))
