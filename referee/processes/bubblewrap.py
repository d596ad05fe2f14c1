"""The command of `bwrap`, which runs a bot in namespaces of its own.

Bubblewrap is the sandbox of Flatpak: a small program in the packages of every distribution. The bot sees only
the files that are bound into its namespace, its own processes, and no network.

Most of these files belong to the machine, and each takes time to bind, since `bwrap` then reads the list of
all mounts. So they are bound once below a folder in a namespace that bots are started from, which `bwrap`
makes too (`prepared.py` has that done), and a bot gets them with few binds, each of a whole folder. The
devices are made there too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from referee.processes.messages import FILTER_DESCRIPTOR, STDIN_INSIDE, STDOUT_INSIDE, WRITABLE_INSIDE

PROGRAM = "bwrap"

SCRATCH = WRITABLE_INSIDE[0]
"""Where the bot's scratch folder is, inside."""

_BEYOND = 1 << 20
"""Bytes that fit into its file systems beyond the limit, so that more than the limit can be seen."""

_FRESH = ("/proc", "/dev", *WRITABLE_INSIDE)
"""What is not as on the machine."""

_DEVICES = "/dev"

_DEVICE_LINKS = {
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "fd": "/proc/self/fd",
    "core": "/proc/kcore",
    "ptmx": "pts/ptmx",
}

_PREPARED = "/sys"
"""The folder below which files are prepared. It exists everywhere, and nothing else of it is needed there."""

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")

_OF_ITS_OWN = ("/dev/", "/proc/", "/sys/", "/var/tmp")
"""The beginnings of paths that lead to other places in its namespace."""

SYSTEM_FILES = (Path("/sys/devices/system"),)
"""What runtimes read to learn of the machine's processors."""


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
    own: Collection[Path]
    """The other paths that it may read."""
    links: Mapping[str, str]
    """Symbolic links, and their texts."""
    hidden: Collection[tuple[Path, bool]]
    """The paths that it may not read, and whether each is a folder."""
    writable: Collection[Path] = ()
    """Folders that it may write to."""


class SharedMounts(NamedTuple):
    """Mounts that many bots have in common, made in one of two ways: by adding `words` to the command of a
    bot, or by preparing them once, and adding `prepared` to the command of each bot that is started there.
    """

    before: int
    """The number of words of the command before those that are added."""
    sources: tuple[str, ...]
    """The paths that are bound."""
    words: tuple[str, ...]
    preparing: tuple[str, ...]
    """The command that prepares them: it prints its process id when they are ready, and stays until its input
    ends.
    """
    prepared: tuple[str, ...]


class Wrapping(NamedTuple):
    """How a bot is started in namespaces of its own."""

    argv: tuple[str, ...]
    """The words to execute, without those of `shared`."""
    shared: SharedMounts


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
    namespaces = [each for each in _NAMESPACES if not (network and each == "--unshare-net")]
    rights = ["--die-with-parent", "--cap-drop", "ALL"]
    identity = ["--cap-add", kept_capability] if kept_capability else ["--unshare-user"]
    words = [argv[0], *namespaces, *rights, *identity]
    words += ["--seccomp", str(FILTER_DESCRIPTOR), "--proc", "/proc", "--symlink", SCRATCH, "/var/tmp"]
    before, tops = len(words), _tops(files, cwd)
    shared = [_read_only(path) for path in tops]
    fresh = _flat((*size, "--perms", "1777", "--tmpfs", folder) for folder in WRITABLE_INSIDE)
    others = (path for path in (*SYSTEM_FILES, *files.installed) if path not in tops)
    words += _flat(_read_only(path) for path in (*others, *files.own))
    for path in map(str, files.writable):
        words += ["--bind", path, path]
    # Else root could also write to the settings of the kernel, even without capabilities.
    words += ["--remount-ro", "/proc"]  # guard: own-oom-score
    for link in _links(files):
        if set(tops.values()).isdisjoint(Path(link[-1]).parents):
            words += link
        else:
            shared.append(link)
    for place, is_folder in sorted(files.hidden):  # a folder comes before what is in it
        words += ["--tmpfs", str(place)] if is_folder else ["--ro-bind", "/dev/null", str(place)]
    words += ["--dir", str(cwd)]
    for folder in (*(str(place) for place, is_folder in sorted(files.hidden) if is_folder), "/"):
        words += _closed(folder)
    words += ["--chdir", str(cwd), "--", *_SHELL, *argv[1:]]
    user = [] if kept_capability else ["--unshare-user"]
    program = (argv[0], *rights, *user)
    return Wrapping(tuple(words), _shared(before, program, fresh, shared, set(tops.values())))


_Mount = tuple[str, str, str]
"""An option of `bwrap`, what is mounted, and where."""


def _shared(
    before: int,
    program: Sequence[str],
    fresh: Sequence[str],
    mounts: Sequence[_Mount],
    tops: Collection[Path],
) -> SharedMounts:
    """The devices, and these mounts, which lie in the folders `tops`. `program`: the beginning of a command
    that can prepare them; `fresh`: the words between devices and mounts that each bot has for itself.
    """
    inside = [(option, source, _PREPARED + target) for option, source, target in mounts]
    around, devices = ("--dev-bind", "/", "/", "--tmpfs", _PREPARED), _PREPARED + _DEVICES
    return SharedMounts(
        before,
        tuple(source for option, source, _ in mounts if option != _LINK),
        (*_devices(_DEVICES), *fresh, *_flat(mounts)),
        (*program, *around, *_devices(devices), *_flat(inside), *_closed(_PREPARED), "--", *_TELLING),
        (
            *("--dev-bind", devices, _DEVICES, *fresh),
            *_flat(("--ro-bind", f"{_PREPARED}{top}", str(top)) for top in sorted(tops)),
        ),
    )


def _devices(folder: str) -> tuple[str, ...]:
    """The words that make a folder of devices, which is read-only."""
    # Not `--dev`, which adds terminals: they have no size, and all bots share those of the machine.
    words = ["--tmpfs", folder, "--dir", f"{folder}/shm", "--dir", f"{folder}/pts"]
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        words += ["--dev-bind", f"/dev/{name}", f"{folder}/{name}"]
    for name, to in _DEVICE_LINKS.items():
        words += [_LINK, to, f"{folder}/{name}"]
    return (*words, *_closed(folder))


def _tops(files: VisibleFiles, cwd: Path) -> dict[Path, Path]:
    """For each installed path that can be shared, the highest folder around it in which nothing of the bot
    lies, and nothing that is made for it.
    """
    hidden = (place for place, _ in files.hidden)
    bots = {*map(Path, _FRESH), *files.own, *files.writable, *hidden, cwd}
    around = {folder for path in bots for folder in (path, *path.parents)}
    if Path(_PREPARED) in around:  # it could not be read there
        return {}
    found = {}
    for path in (*SYSTEM_FILES, *files.installed):
        if top := next((each for each in (*reversed(path.parents), path) if each not in around), None):
            found[path] = top
    return found


def _closed(folder: str) -> tuple[str, ...]:
    """The words that make a file system read-only which has no size, and in which nothing is counted."""
    return ("--remount-ro", folder)  # guard: read-only-mounts


def _read_only(path: Path) -> _Mount:
    return "--ro-bind-try", str(path), str(path)


def _links(files: VisibleFiles) -> Iterator[_Mount]:
    readable = {*files.installed, *files.own}
    for link, text in files.links.items():
        if readable.isdisjoint(Path(link).parents) and not link.startswith(_OF_ITS_OWN):
            yield _LINK, text, link


def _flat(words: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(words))
