"""What a bot's program has to read in order to start: found from its command, for isolated bots.

A command names programs and files. A program may be a script with an interpreter, which may be a symbolic
link into a virtual environment, whose own interpreter lies elsewhere, and so on. What belongs to
each of them is the folder that it was installed into.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

SYSTEM = tuple(
    Path(path)
    for path in (
        *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
        *("/nix/store", "/gnu/store", "/run/current-system/sw"),
    )
)
"""Where systems keep programs and libraries: readable by everybody, and by every bot."""

_SETTINGS = (
    *("ld.so.*", "alternatives", "localtime", "timezone", "locale.*", "os-release", "*-release", "*_version"),
    *("passwd", "group", "nsswitch.conf", "host.conf", "hosts", "resolv.conf", "gai.conf", "services"),
    *("protocols", "ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "ca-certificates*", "crypto-policies"),
    *("java*", "jvm*", "maven", "python*", "perl*", "ruby*", "lua*", "node*", "php*", "R", "julia*", "ghc*"),
    *(
        "dotnet",
        "mono",
        "octave*",
        "fonts",
        "mime.types",
        "magic*",
        "inputrc",
        "terminfo",
        "vulkan",
        "OpenCL",
    ),
)
"""The settings in `/etc` that programs and their libraries read; nothing in them is secret."""

_ENVIRONMENT = ("VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH")
"""Variables that name folders of installed programs and libraries."""

_READ_BYTES = 4096
"""How much of a file is read to find its interpreter, or the folders that it names."""

_MOST_STEPS = 40
"""The most symbolic links and interpreters that are followed from one program."""


def without(folder: Path, hidden: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """What has to be allowed so that a folder can be read, but not what is hidden in it: paths, each with
    whether all below it can be read; otherwise only names can be listed.
    """
    within = [path for path in hidden if path.is_relative_to(folder)]
    if folder in within or any(folder.is_relative_to(path) for path in hidden):
        return
    yield folder, not within
    if within:
        with contextlib.suppress(OSError):
            for entry in folder.iterdir():
                if not entry.is_symlink():
                    yield from without(entry, within)


def outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths without those that lie in another of them."""
    found = set(paths)
    return sorted(path for path in found if found.isdisjoint(path.parents))


def settings() -> list[Path]:
    """The files and folders in `/etc` that programs read."""
    return [Path(path) for pattern in _SETTINGS for path in glob.glob(f"/etc/{pattern}")]  # noqa: PTH207


def installed(command: Iterable[str], cwd: Path, environment: dict[str, str]) -> list[Path]:
    """The folders outside of the system's own that the programs of a command were installed into, with their
    packages, and the folders with packages that were installed for the user.
    """
    found: dict[Path, None] = {}
    for text in environment.get("PATH", os.defpath).split(os.pathsep):
        if text.startswith("/"):  # scripts find their programs there
            found.update(dict.fromkeys(_installation(Path(text) / "program")))
    for word in command:
        for program in _programs(word, cwd, environment):
            for place in _chain(program):
                found.update(dict.fromkeys(_installation(place)))
    for name in _ENVIRONMENT:
        for text in environment.get(name, "").split(os.pathsep):
            if text.startswith("/"):
                found[Path(text)] = None
    home = Path(environment.get("HOME", "/nonexistent"))
    found.update(dict.fromkeys((home / ".local/lib", home / ".local/bin")))
    for folder in list(found):
        found.update(dict.fromkeys(_package_folders(folder)))
    return [path for path in found if path.exists() and not _is_wide(path, home) and not _is_system(path)]


def own(command: Iterable[str], cwd: Path, home: Path) -> list[Path]:
    """A bot's own folder and files: its working directory, and the folders of the files that its command
    names. A folder that holds much else, such as a home folder, does not count; the files in it do.
    """
    found: dict[Path, None] = {}
    for folder in (cwd, *(path.parent for path in named(command, cwd))):
        if not _is_wide(folder, home) and not _is_system(folder):
            found[folder] = None
    found.update(dict.fromkeys(named(command, cwd)))
    return list(found)


def named(command: Iterable[str], cwd: Path) -> list[Path]:
    """The existing files and folders that the words of a command name, outside of the system's folders."""
    found: dict[Path, None] = {}
    for word in command:
        for text in (word, *word.split("=", 1)[1:], *word.split(os.pathsep)):
            with contextlib.suppress(OSError, ValueError):
                if text not in ("", "/") and (path := cwd / text).exists() and not _is_system(path):
                    found[Path(os.path.normpath(path))] = None
                    found[path.resolve()] = None
    return list(found)


def _programs(word: str, cwd: Path, environment: dict[str, str]) -> Iterator[Path]:
    """The programs that a word of a command may mean."""
    with contextlib.suppress(OSError, ValueError):
        if "/" in word:
            if (cwd / word).is_file():
                yield Path(os.path.normpath(cwd / word))
        elif re.fullmatch(r"[\w.+-]+", word) and (
            program := shutil.which(word, path=environment.get("PATH", os.defpath))
        ):
            yield Path(program).absolute()


def _chain(program: Path) -> Iterator[Path]:
    """A program, what it links to, its interpreter, and so on."""
    pending, seen = [program], set[Path]()
    while pending and len(seen) < _MOST_STEPS:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        yield path
        with contextlib.suppress(OSError, ValueError):
            if path.is_symlink():
                pending.append(Path(os.path.normpath(path.parent / path.readlink())))
            resolved_folder = path.parent.resolve()
            if resolved_folder != path.parent:
                pending.append(resolved_folder / path.name)
            first, _, _ = _beginning(path).partition(b"\n")
            if first.startswith(b"#!"):
                words = shlex.split(os.fsdecode(first[2:]))
                pending += [Path(word) for word in words if word.startswith("/")]
                pending += [Path(which) for word in words[1:] if (which := shutil.which(word))]


def _installation(program: Path) -> Iterator[Path]:
    """The folder that a program was installed into: the one above `bin`, where that has libraries too."""
    folder = program.parent
    if folder.name in ("bin", "sbin", "shims", "Scripts"):
        prefix = folder.parent
        parts = ("lib", "lib64", "libexec", "include", "pyvenv.cfg", "conf", "share", "versions")
        yield prefix if any((prefix / part).exists() for part in parts) else folder
        with contextlib.suppress(OSError):
            for line in _beginning(prefix / "pyvenv.cfg").decode(errors="replace").splitlines():
                name, _, value = line.partition("=")
                if name.strip() == "home" and value.strip().startswith("/"):
                    yield Path(value.strip()).parent
    else:
        yield program


def _package_folders(prefix: Path) -> Iterator[Path]:
    """The folders that packages of a Python installation lie in although they are not below it: packages that
    are being developed, which a file `*.pth` names.
    """
    for pattern in ("lib/python*/site-packages/*.pth", "python*/site-packages/*.pth"):
        for path in prefix.glob(pattern):
            with contextlib.suppress(OSError):
                for line in _beginning(path).decode(errors="replace").splitlines():
                    if line.startswith("/"):
                        yield Path(line.strip())


def _beginning(path: Path) -> bytes:
    """The first bytes of a regular file; empty for anything else."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _READ_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in SYSTEM)


_WIDE = (
    "/",
    "/home",
    "/root",
    "/etc",
    "/var",
    "/dev",
    "/proc",
    "/sys",
    "/run",
    "/boot",
    "/mnt",
    "/media",
    "/opt",
)


def _is_wide(path: Path, home: Path) -> bool:
    """Whether a folder holds much that is not the bot's: one of the system's, the temporary one, a home
    folder, or one above any of these.
    """
    places = (home, Path.home(), Path(tempfile.gettempdir()), Path("/var/tmp"), *map(Path, _WIDE))
    return any(place.is_relative_to(path) for place in places)
