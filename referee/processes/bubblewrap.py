"""The command of `bwrap`, which runs a bot in namespaces of its own.

Bubblewrap is the sandbox of Flatpak: a small program in the packages of every distribution. The bot sees only
the files that are bound into its namespace, its own processes, and no network.

Each of these files takes time to bind, since `bwrap` then reads the list of all mounts. So they are bound
once, below a folder in a namespace that the bot is started from each time; `bwrap` makes that too
(`prepared.py` has it done). A bot then gets all of them by one bind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from referee.processes.messages import FILTER_DESCRIPTOR, STDIN_INSIDE, STDOUT_INSIDE, WRITABLE_INSIDE

PROGRAM = "bwrap"

SCRATCH = WRITABLE_INSIDE[0]  # where the bot's scratch folder is, inside

_BEYOND = 1 << 20
"""Bytes that fit into its file systems beyond the limit, so that more than the limit can be seen."""

_DEVICES, _PROCESSES = "/dev", "/proc"

_DEVICE_LINKS = {
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "fd": "/proc/self/fd",
    "core": "/proc/kcore",
    "ptmx": "pts/ptmx",
}

_PREPARED = "/.prepared"
"""The folder below which files are prepared. Beside it there is only what `bwrap` needs itself."""

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")

_OF_ITS_OWN = ("/dev/", "/proc/", "/sys/", "/var/tmp")
"""The beginnings of paths that lead to other places in its namespace."""

SYSTEM_FILES = (Path("/sys/devices/system"),)  # what runtimes read to learn of the machine's processors


_SHELL = (
    *("/bin/sh", "-c"),
    f'exec "$@" <&{STDIN_INSIDE} >&{STDOUT_INSIDE} {STDIN_INSIDE}<&- {STDOUT_INSIDE}>&-',
    "sh",
)
"""Gives the bot its streams; see `STDIN_INSIDE`."""

_LINK = "--symlink"

_TELLING = ("/bin/sh", "-c", "echo $$; read _")
"""Tells its process id once the namespaces are ready, and keeps them until its input ends."""


class VisibleFiles(NamedTuple):
    """The files of the machine that a bot sees."""

    installed: Collection[Path]
    """The paths that it may read and that belong to no bot: programs, libraries and settings."""
    own: Collection[Path]  # the other paths that it may read
    links: Mapping[str, str]  # symbolic links, and their texts
    hidden: Collection[tuple[Path, bool]]  # the paths that it may not read, and whether each is a folder
    writable: Collection[Path] = ()  # folders that it may write to


class Root(NamedTuple):
    """The files of a bot, made in one of two ways: by adding `words` to its command, or by preparing them
    once for all its starts, and adding `prepared` to its command, which is then executed there.
    """

    before: int  # the number of words of the command before those that are added
    sources: tuple[str, ...]  # the paths that are bound; none where they cannot be prepared, or are not to be
    words: tuple[str, ...]
    preparing: tuple[str, ...]
    """The command that prepares them: it prints its process id when they are ready, and stays until its input
    ends.
    """
    prepared: tuple[str, ...]


class Wrapping(NamedTuple):
    """How a bot is started in namespaces of its own."""

    argv: tuple[str, ...]  # the words to execute, without those of `root`
    root: Root


def wrapping(
    argv: Sequence[str],
    cwd: Path,
    files: VisibleFiles,
    most_bytes: int | None,
    kept_capability: str = "",
    network: bool = False,
) -> Wrapping:
    """How to start a bot.

    `argv`: the path of `bwrap`, and the bot's command; `most_bytes`: the size of each file system that it may
    write to, which lie in memory; `kept_capability`: what it keeps where root starts it, so that no user
    namespace is needed; empty where another user does; `network`: whether it has that of the machine.
    """
    size = ("--size", str(most_bytes + _BEYOND)) if most_bytes else ()
    program = str(Path(argv[0]).resolve())
    namespaces = [each for each in _NAMESPACES if not (network and each == "--unshare-net")]
    rights = ["--die-with-parent", "--cap-drop", "ALL"]
    identity = ["--cap-add", kept_capability] if kept_capability else ["--unshare-user"]
    words = [program, *namespaces, *rights, *identity, "--seccomp", str(FILTER_DESCRIPTOR)]
    before = len(words)
    # Else root could also write to the settings of the kernel, even without capabilities.
    words += ["--remount-ro", _PROCESSES]  # guard: own-oom-score
    for place, is_folder in sorted(files.hidden):  # a folder comes before what is in it
        words += ["--tmpfs", str(place)] if is_folder else ["--ro-bind", "/dev/null", str(place)]
    words += _flat(_closed(str(place)) for place, is_folder in sorted(files.hidden) if is_folder)
    words += ["--chdir", str(cwd), "--", *_SHELL, *argv[1:]]
    user = [] if kept_capability else ["--unshare-user"]
    writable = _flat((*size, "--perms", "1777", "--tmpfs", folder) for folder in WRITABLE_INSIDE)
    fresh = ("--proc", _PROCESSES, *writable)
    return Wrapping(tuple(words), _root(before, (program, *rights, *user), fresh, files, cwd))


_Mount = tuple[str, str, str]  # an option of `bwrap`, what is mounted, and where


def _root(before: int, program: Sequence[str], fresh: Sequence[str], files: VisibleFiles, cwd: Path) -> Root:
    """`program`: the beginning of a command that can prepare it; `fresh`: the words that make what each start
    has for itself.
    """
    mounts = [*_binds(files), *_links(files)]
    replaced = (_PROCESSES, *WRITABLE_INSIDE)
    empty = _flat(("--dir", _PREPARED + folder) for folder in replaced)
    again = (
        (option, source, target) if option == _LINK else ("--dev-bind-try", _PREPARED + target, target)
        for option, source, target in mounts
        if f"{target}/".startswith(tuple(f"{folder}/" for folder in replaced))
    )
    around = _around(Path(program[0]), files, {target.split("/")[1] for _, _, target in mounts})
    is_kept = around and not files.writable  # what is built is started once
    return Root(
        before,
        tuple(source for option, source, _ in mounts if option != _LINK) if is_kept else (),
        _files("", fresh, mounts, cwd),
        (*program, *around, *_files(_PREPARED, empty, mounts, cwd), "--", *_TELLING),
        ("--dev-bind", _PREPARED, "/", *fresh, *_flat(again), "--dir", str(cwd)),
    )


def _around(program: Path, files: VisibleFiles, names: Collection[str]) -> list[str]:
    """The words that make what `bwrap` needs itself beside the prepared files: the machine's `/proc`, a
    folder for temporary mounts, its program under the path by which some systems know it, and its libraries.

    `names`: those in the folder of the prepared files. Returns nothing where no bot sees the program.
    """
    found = [folder for folder in program.parents if folder in files.installed]
    words = ["--bind", _PROCESSES, _PROCESSES, "--dir", SCRATCH]
    for folder in map(str, found):
        words += ["--ro-bind", folder, folder]
    for name in sorted({"dev", *names} - {"proc", "tmp", program.parts[1]}):
        words += [_LINK, f"{_PREPARED[1:]}/{name}", f"/{name}"]
    return words if found else []


def _files(at: str, fresh: Sequence[str], mounts: Iterable[_Mount], cwd: Path) -> tuple[str, ...]:
    """The words that make all files of a bot below a folder, and then close it: only what is fresh, or bound
    as writable, can still be changed.
    """
    # Not `--dev`, which adds terminals: they have no size, and all bots share those of the machine.
    devices = at + _DEVICES
    words = ["--tmpfs", devices, "--dir", f"{devices}/pts"]
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        words += ["--dev-bind", f"/dev/{name}", f"{devices}/{name}"]
    for name, to in _DEVICE_LINKS.items():
        words += [_LINK, to, f"{devices}/{name}"]
    words += [*fresh, _LINK, SCRATCH, f"{at}/var/tmp"]
    words += _flat((option, source, at + target) for option, source, target in mounts)
    return (*words, "--dir", f"{at}{cwd}", *_closed(devices), *_closed("/"))


def _closed(folder: str) -> tuple[str, ...]:
    """The words that make a file system read-only which has no size, and in which nothing is counted."""
    return ("--remount-ro", folder)  # guard: read-only-mounts


def _binds(files: VisibleFiles) -> Iterator[_Mount]:
    for path in map(str, (*SYSTEM_FILES, *files.installed, *files.own)):
        yield "--ro-bind-try", path, path
    for path in map(str, files.writable):
        yield "--bind", path, path


def _links(files: VisibleFiles) -> Iterator[_Mount]:
    readable = {*files.installed, *files.own}
    for link, text in files.links.items():
        if readable.isdisjoint(Path(link).parents) and not link.startswith(_OF_ITS_OWN):
            yield _LINK, text, link


def _flat(words: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(words))
