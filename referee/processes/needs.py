"""What a bot's program reads to start, found from its command, for isolated bots.

The operator's command, working directory and environment say what a bot may read: the folders of the files
that they name, and the programs that they name with all that was installed with them. What lies in a bot's
own folder was written by the bot's author, so a file or link there gives access to nothing outside, except
for the interpreter of an installation.

A program may be a script with an interpreter, or a symbolic link into a virtual environment, whose own
interpreter lies elsewhere, and so on. What belongs to each of them are a few folders beside its `bin`.
"""

from __future__ import annotations

import ast
import contextlib
import errno
import glob
import itertools
import os
import re
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from referee.core.files import read_start
from referee.processes.program import INTERPRETERS

BIN = ("bin", "sbin", "shims", "Scripts")  # the names of folders of programs

_BESIDE_BIN = (
    *("bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "conf"),
    *("pyvenv.cfg", "ssl", "release"),
    *("shims", "versions", "version", "installs", "plugins", "pyenv.d"),
)
"""What may belong to an installation, beside its folder of programs. Other files, such as those in `etc`, are
not read by interpreters, and may be secret.
"""

_READ_BYTES = 65_536  # how much of a file is read to find what it names

_MAX_FILES = 2000  # maximum number of entries of a folder with packages that are looked at

_MAPPING = re.compile(rb"^MAPPING(?:: [^=]+)? = (\{.*\})$", re.MULTILINE)
"""How setuptools writes where the packages are that are being developed."""


def parts(program: Path) -> list[Path]:
    """The folders that belong to an installed program, or the program itself where it was not installed."""
    prefix = program.parent.parent
    if program.parent.name not in BIN:
        return [program]
    if prefix.name == ".local":  # `share` beside it has the user's data
        return [program.parent, prefix / "lib"]
    return [prefix / name for name in _BESIDE_BIN]


def is_interpreter(program: Path) -> bool:
    """Whether a program is an interpreter of an installation, as its name and the folders beside it show."""
    return (
        program.parent.name == "bin"
        and INTERPRETERS.fullmatch(program.name) is not None
        and is_program(program)
        and any((program.parent.parent / name).is_dir() for name in ("lib", "lib64"))
    )


def is_program(path: Path) -> bool:
    """Whether a file can be executed: as machine code, or as a script that names its interpreter."""
    return os.access(path, os.X_OK) and _beginning(path, 4).startswith((b"\x7fELF", b"#!"))


def needed_programs(program: Path, search: str) -> list[Path]:
    """The programs that a program names: the interpreters in its first line, which are searched for along the
    path `search`, and the one that its virtual environment was made from.
    """
    named = []
    with contextlib.suppress(ValueError):
        first, _, _ = _beginning(program, 4096).partition(b"\n")
        if first.startswith(b"#!"):
            words = shlex.split(os.fsdecode(first[2:]))
            named += [word for word in words if word.startswith("/")]
            if words and os.path.basename(words[0]) == "env":  # noqa: PTH119
                named += [found for word in words[1:] if (found := shutil.which(word, path=search))]
    settings = _beginning(program.parent.parent / "pyvenv.cfg") if program.parent.name in BIN else b""
    for line in settings.decode(errors="replace").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home" and value.strip().startswith("/"):
            named.append(f"{value.strip()}/python3")
    return [Path(path) for path in named if "\0" not in path]


def developed(folder: Path) -> Iterator[Path]:
    """The folders of packages that are being developed: which a Python installation uses although they do
    not lie in its folder `lib`, since a file beside its packages names them.
    """
    for packages in folder.glob("python*/*-packages"):
        try:
            with os.scandir(packages) as entries:
                names = [entry.name for entry in itertools.islice(entries, _MAX_FILES)]
        except OSError:
            continue
        for name in names:
            if name.endswith(".pth"):
                for line in _beginning(packages / name).decode(errors="replace").splitlines():
                    if line.startswith("/") and "\0" not in line:
                        yield Path(line.strip())
            elif name.startswith("__editable__") and name.endswith("_finder.py"):
                for mapping in _MAPPING.findall(_beginning(packages / name)):
                    with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                        found = ast.literal_eval(mapping.decode())
                        yield from (Path(str(path)) for path in found.values() if str(path).startswith("/"))


def _beginning(path: Path, size: int = _READ_BYTES) -> bytes:
    """The first bytes of a regular file; empty for anything else, and where it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        return read_start(path, size)
    return b""


_MAX_LINKS = 40  # maximum number of links in one path; the kernel follows no more


class FollowedPath(NamedTuple):
    """The target of a path, with the links on the way."""

    path: str  # the same place without symbolic links
    links: tuple[tuple[str, str], ...]
    """The links on the way: where each lies, itself without links, and its text."""


def follow(path: str) -> FollowedPath:
    """Follows an absolute path to its end. Raises `OSError` or `ValueError` where nothing exists there."""
    real = ""
    links: list[tuple[str, str]] = []
    pending = path.split("/")[::-1]
    while pending:
        part = pending.pop()
        if part == "..":
            real = real.rpartition("/")[0]
        elif part not in ("", "."):
            place = f"{real}/{part}"
            if not stat.S_ISLNK(os.lstat(place).st_mode):
                real = place
                continue
            if len(links) == _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            text = os.readlink(place)  # noqa: PTH115 - pathlib changes the text
            links.append((place, text))
            if text.startswith("/"):
                real = ""
            pending += text.split("/")[::-1]
    return FollowedPath(real or "/", tuple(links))


SYSTEM = tuple(
    Path(path)
    for path in (
        *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
        *("/nix/store", "/gnu/store", "/run/current-system/sw"),
    )
)
"""Where systems keep programs and libraries: readable by everybody, and by every bot."""

_SETTINGS = (
    *(
        "ld.so.cache",
        "ld.so.preload",
        "alternatives",
        "localtime",
        "timezone",
        "os-release",
        "passwd",
        "group",
    ),
    *(
        "nsswitch.conf",
        "ssl/openssl.cnf",
        "pki/tls/openssl.cnf",
        "crypto-policies",
        "java*",
        "jvm*",
        "python*",
    ),
    *(
        "perl*",
        "ruby*",
        "lua*",
        "php*",
        "R",
        "julia*",
        "ghc*",
        "dotnet",
        "mono",
        "octave*",
        "OpenCL",
        "vulkan",
    ),
)
"""The settings in `/etc` that programs read as they start; nothing in them is secret. The list is short:
bots without a network need no settings of it.
"""

_ENVIRONMENT = (
    *("VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH"),
    *("CLASSPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB"),
)
"""Variables that name folders of installed programs and libraries."""

_MAX_STEPS = 40  # maximum number of symbolic links and interpreters that are followed from one program

_SYSTEM_FOLDERS = frozenset((*SYSTEM, *map(Path, ("/dev", "/proc", "/sys"))))

_WIDE = tuple(
    map(
        Path,
        (
            *("/", "/home", "/root", "/etc", "/var", "/var/tmp", "/var/lib", "/run", "/boot", "/srv", "/opt"),
            *("/mnt", "/media", "/tmp", "/dev/shm"),
        ),
    )
)


_HOMES = Path("/home")


class Needs(NamedTuple):
    """What a bot needs to read."""

    readable: list[Path]
    """Folders and files, without symbolic links, and without those that lie in another of them."""
    links: dict[str, str]
    """The symbolic links that lead there from the paths that programs use: where each lies, and its text."""
    own: frozenset[Path]
    """The readable paths that are the bot's own, or that it was given: others belong to the machine."""


def find(
    command: Iterable[str], cwd: Path, environment: Mapping[str, str], read: Iterable[Path] = ()
) -> Needs:
    """Finds what a bot needs to read; `read` is what else it may read."""
    search = _NeedsSearch(command, cwd, environment)
    for path in (*SYSTEM, *_settings()):
        search.add(path, whatever=True)
    given = search.add_given(read)
    search.add_installed()
    given |= search.add_given(search.own())
    return Needs(outermost(search.readable), search.links, given)


class CommandFiles(NamedTuple):
    """A bot's files, as its command tells them."""

    named: list[Path]
    """The existing files and folders that the words of the command name, outside of the system's folders. A
    link in the bot's own folder that leads out of it names nothing.
    """
    own: list[Path]
    """Its own folder and files: its working directory, and the folders of the files that its command names.
    A folder that holds much else, such as a home folder, does not count; the files in it do.
    """


def files(command: Iterable[str], cwd: Path, environment: Mapping[str, str]) -> CommandFiles:
    """The files of the bot that has this command."""
    search = _NeedsSearch(command, cwd, environment)
    return CommandFiles([Path(real.path) for _, real in search.named], search.own())


class NamedFile(NamedTuple):
    """A file or folder that a bot's command names."""

    path: Path  # the path as the command has it
    place: Path  # the same without symbolic links
    folders: tuple[Path, ...]
    """The folders that it lies in, where it is one of the bot's own files; none that holds much else."""


def named(command: Iterable[str], cwd: Path, environment: Mapping[str, str]) -> Iterator[NamedFile]:
    """The files and folders of `CommandFiles.named`, except for folders with much else in them."""
    search = _NeedsSearch(command, cwd, environment)
    for path, real in search.named:
        place = Path(real.path)
        if not search.is_wide(place):
            yield NamedFile(path, place, () if place.is_dir() else tuple(search.folders_of(path, real)))


def without(folder: Path, hidden: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Lists what has to be allowed so that a folder can be read, but not what is hidden in it: paths, each
    with whether all below it can be read; otherwise only names can be listed.
    """
    closed = set(hidden)
    yield from _without(folder, closed, {above for path in closed for above in path.parents})


def _without(path: Path, closed: set[Path], above: set[Path]) -> Iterator[tuple[Path, bool]]:
    """Does the work of `without`; `above`: the folders that have something closed in them."""
    if path in closed:
        return
    yield path, path not in above
    if path in above:
        with contextlib.suppress(OSError):
            for entry in path.iterdir():
                if not entry.is_symlink():
                    yield from _without(entry, closed, above)


def is_below(path: Path, folders: Collection[Path]) -> bool:
    """Whether a path is one of the folders, or in one of them."""
    return path in folders or any(folder in folders for folder in path.parents)


def outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths without those that lie in another of them."""
    found = set(paths)
    return sorted(path for path in found if found.isdisjoint(path.parents))


def _settings() -> list[Path]:
    """The files and folders in `/etc` that programs read."""
    return [Path(path) for pattern in _SETTINGS for path in glob.glob(f"/etc/{pattern}")]  # noqa: PTH207


class _NeedsSearch:
    """The search for what one bot needs."""

    def __init__(self, command: Iterable[str], cwd: Path, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._cwd = cwd
        self._path = environment.get("PATH", os.defpath)
        self._home = Path(environment.get("HOME", "/nonexistent"))
        self._words = list(command)
        places = (self._home, Path.home(), Path(tempfile.gettempdir()), *_WIDE)
        self._wide = {folder for place in places for folder in (place, *place.parents)}
        self.readable: dict[Path, None] = {}
        self.links: dict[str, str] = {}
        self._operators = self._operators_folders()
        """The folders of programs that the operator's environment names: links in them are the operator's."""
        existing = list(self._existing())
        self._authors = self._authors_folders(existing)
        """The folders whose files and links the bot's author may have made."""
        self.named = [
            (path, real)
            for number, (path, real) in enumerate(existing)
            if not self._leads_out(real) or (number == 0 and self._is_program(path, real))
        ]
        """The files and folders that the command names: their paths, and where these lead."""

    def own(self) -> list[Path]:
        found: dict[Path, None] = {}
        if not self.is_wide(self._cwd) and not _is_system(self._cwd):
            found[self._cwd] = None
        for path, real in self.named:
            place = Path(real.path)
            if self.is_wide(place):
                continue
            found[place] = None
            found |= dict.fromkeys(self.folders_of(path, real))
        return list(found)

    def folders_of(self, path: Path, real: FollowedPath) -> Iterator[Path]:
        """The folders that a named file of the bot lies in, except for those that hold much else."""
        if not self._leads_out(real) and not is_interpreter(path):
            for folder in (Path(real.path).parent, Path(follow(str(path.parent)).path)):
                if not self.is_wide(folder) and not _is_system(folder):
                    yield folder

    def add(self, path: Path, whatever: bool = False) -> None:
        """Makes a folder or file readable, if it exists and, unless `whatever` is set, if it holds nothing
        else than what was installed there.
        """
        with contextlib.suppress(OSError, ValueError):
            real = follow(str(path))
            place = Path(real.path)
            if whatever or not (self.is_wide(place) or _is_system(place) or self._leads_out(real)):
                self.readable[place] = None
                self.links.update(real.links)

    def add_given(self, paths: Iterable[Path]) -> frozenset[Path]:
        """Makes folders and files readable, whatever they hold. Returns those that exist."""
        places = set()
        for path in paths:
            self.add(path, whatever=True)
            with contextlib.suppress(OSError, ValueError):
                places.add(Path(follow(str(path)).path))
        return frozenset(places)

    def add_installed(self) -> None:
        """Adds the folders outside of the system's own that the programs of the command were installed into,
        with their packages, and the folders with packages that were installed for the user.
        """
        for text in _folders(self._path):  # scripts find programs there
            self.add(Path(text))
            self._add_parts(Path(text) / "program", True)
        for word in self._words:
            for program in self._programs(word):
                self._add_program(program)
            for inner in _words_of_script(word, str(self._home)):
                for program in self._programs(inner):
                    if is_program(program):  # not all that a script names is meant to be read
                        self._add_program(program)
        for name in _ENVIRONMENT:
            for text in _folders(self._environment.get(name, "")):
                self.add(Path(text))
        self.add(self._home / ".local/bin")
        for folder in (self._home / ".local/lib", Path("/usr/local/lib"), Path("/usr/lib")):
            self._add_with_packages(folder)

    def _add_program(self, program: Path) -> None:
        """Adds a program, what it links to, its interpreter, and so on."""
        pending, seen = [(program, True)], set[Path]()
        while pending and len(seen) < _MAX_STEPS:
            path, by_operator = pending.pop()
            with contextlib.suppress(OSError, ValueError):
                above = follow(str(path.parent))
                place = Path(above.path) / path.name
                if place in seen:
                    continue
                seen.add(place)
                by_operator &= not self._leads_out(above)
                if by_operator or (is_interpreter(place) and _is_open(place)):  # guard: named-by-bots
                    self.links.update(above.links)
                    self._add_parts(place, by_operator)
                by_operator &= not self._is_authors(place)
                if place.is_symlink():
                    pending.append((place.parent / place.readlink(), by_operator))
                needed = needed_programs(place, self._path)
                pending += [(other, by_operator) for other in needed]

    def _add_parts(self, program: Path, by_operator: bool) -> None:
        """Adds what belongs to an installed program; `by_operator`: with its packages that lie elsewhere, and
        the folder of a program that was not installed.
        """
        if _is_system(program):
            return
        if program.parent.name in BIN and self.is_wide(program.parent.parent):
            self.add(program.parent)  # folders beside it have the user's own files
            return
        found = parts(program)
        for part in found:
            if by_operator:
                self._add_with_packages(part)
            else:
                self.add(part)
        if by_operator and found == [program]:
            self.add(program.parent)

    def _add_with_packages(self, folder: Path) -> None:
        if folder not in self.readable:
            self.add(folder)
            if not self._is_authors(folder):
                with contextlib.suppress(PermissionError):  # in a folder that this user may not enter
                    for package in developed(folder):
                        self.add(package)

    def _programs(self, word: str) -> Iterator[Path]:
        """The programs that a word of the command may mean."""
        with contextlib.suppress(OSError, ValueError):
            if "/" in word:
                if (self._cwd / word).is_file():
                    yield self._cwd / word
            elif re.fullmatch(r"[\w.+-]+", word) and (program := shutil.which(word, path=self._path)):
                yield Path(program).absolute()

    def _existing(self) -> Iterator[tuple[Path, FollowedPath]]:
        for word in self._words:
            for text in dict.fromkeys((word, *word.split("=", 1)[1:], *word.split(os.pathsep))):
                with contextlib.suppress(OSError, ValueError):
                    path = self._cwd / text
                    real = follow(str(path))
                    if text and real.path != "/" and not _is_system(Path(real.path)):
                        yield path, real

    def _operators_folders(self) -> set[Path]:
        folders = [Path(folder) for folder in _folders(self._path)]
        prefixes = (
            sys.prefix,
            *(self._environment.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")),
        )
        folders += [Path(prefix) / name for prefix in prefixes if prefix for name in ("bin", "lib")]
        found = set()
        for folder in folders:
            with contextlib.suppress(OSError, ValueError):
                found.add(Path(follow(str(folder)).path))
        return found

    def _authors_folders(self, existing: Iterable[tuple[Path, FollowedPath]]) -> set[Path]:
        found = {self._cwd}
        for path, real in existing:
            place = Path(real.path)
            if place.is_dir():
                found.add(place)
            elif not is_interpreter(path):
                found |= {place.parent, Path(follow(str(path.parent)).path)}
        return {folder for folder in found if not self.is_wide(folder)}

    def _is_authors(self, place: Path) -> bool:
        """Whether the bot's author may have made what lies at a place."""
        return is_below(place, self._authors) and not is_below(place, self._operators)

    def _leads_out(self, real: FollowedPath) -> bool:
        """Whether a link of the bot's author leads out of the author's folder."""
        links = [Path(place) for place, _ in real.links]
        around = [folder for folder in self._authors if Path(real.path).is_relative_to(folder)]
        return any(
            self._is_authors(link) and not is_below(link, around) for link in links
        )  # guard: links-of-bots

    def _is_program(self, path: Path, real: FollowedPath) -> bool:
        return path.is_symlink() and is_program(path) and _is_open(Path(real.path))

    def is_wide(self, path: Path) -> bool:
        """Whether a folder holds much that is not the bot's: one of the system's, the temporary one, a home
        folder, or one above any of these.
        """
        return path.parent == _HOMES or path in self._wide


def _words_of_script(word: str, home: str) -> Iterator[str]:
    """The words in a shell's script that is a word of a command."""
    if re.search(r"\s", word):
        script = shlex.shlex(word, posix=True, punctuation_chars=True)
        script.whitespace_split = True
        script.commenters = ""
        with contextlib.suppress(ValueError):
            for part in script:
                yield re.sub(r"^(~|\$HOME|\$\{HOME\})(?=/)", lambda _: home, part)


def _folders(text: str) -> list[str]:
    """The absolute paths in the value of a variable such as PATH."""
    return [folder for folder in text.split(os.pathsep) if folder.startswith("/")]


def _is_open(path: Path) -> bool:
    """Whether a program is this user's own, or everybody may read it."""
    found = path.stat()
    if found.st_uid == os.geteuid():
        return True
    return bool(found.st_mode & 4) and all(folder.stat().st_mode & 1 for folder in path.parents)


def _is_system(path: Path) -> bool:
    return is_below(path, _SYSTEM_FOLDERS)
