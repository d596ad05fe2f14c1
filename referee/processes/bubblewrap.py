"""The command of `bwrap`, which runs a bot in namespaces of its own.

Bubblewrap is the sandbox of Flatpak: a small program in the packages of every distribution. The bot sees only
the files that are bound into its namespace, its own processes, and no network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from referee.processes.messages import FILTER_DESCRIPTOR, STDIN_INSIDE, STDOUT_INSIDE, WRITABLE_INSIDE

PROGRAM = "bwrap"

SCRATCH = WRITABLE_INSIDE[0]
"""Where the bot's scratch folder is, inside."""

_BEYOND = 1 << 20
"""Bytes that fit into its file systems beyond the limit, so that more than the limit can be seen."""

_KERNEL_SETTINGS = "/proc/sys"
"""Root could write there, even without capabilities; bwrap itself closes the other settings in `/proc`."""

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")

_OF_ITS_OWN = ("/dev/", "/proc/", "/sys/", "/var/tmp")
"""The beginnings of paths that lead to other places in its namespace."""

SYSTEM_FILES = ("/sys/devices/system",)
"""What runtimes read to learn of the machine's processors."""


_SHELL = (
    *("/bin/sh", "-c"),
    f'exec "$@" <&{STDIN_INSIDE} >&{STDOUT_INSIDE} {STDIN_INSIDE}<&- {STDOUT_INSIDE}>&-',
    "sh",
)
"""Gives the bot its streams; see `STDIN_INSIDE`."""


class VisibleFiles(NamedTuple):
    """The files of the machine that a bot sees."""

    read: Collection[Path]
    """The paths that it may read."""
    links: Mapping[str, str]
    """Symbolic links, and their texts."""
    hidden: Collection[tuple[Path, bool]]
    """The paths that it may not read, and whether each is a folder."""
    writable: Collection[Path] = ()
    """Folders that it may write to."""


def command(
    argv: Sequence[str],
    cwd: Path,
    files: VisibleFiles,
    most_bytes: int | None,
    kept_capability: str = "",
    network: bool = False,
) -> tuple[str, ...]:
    """The words to execute.

    `argv`: the path of `bwrap`, and the bot's command; `most_bytes`: the size of each file system that it may
    write to, which lie in memory; `kept_capability`: what it keeps where root starts it, so that no user
    namespace is needed; empty where another user does; `network`: whether it has that of the machine.
    """
    size = ("--size", str(most_bytes + _BEYOND)) if most_bytes else ()
    namespaces = [each for each in _NAMESPACES if not (network and each == "--unshare-net")]
    words = [argv[0], *namespaces, "--die-with-parent", "--cap-drop", "ALL"]
    words += ["--cap-add", kept_capability] if kept_capability else ["--unshare-user"]
    words += ["--seccomp", str(FILTER_DESCRIPTOR), "--proc", "/proc", "--dev", "/dev"]
    for folder in WRITABLE_INSIDE:
        words += [*size, "--perms", "1777", "--tmpfs", folder]
    words += ["--symlink", SCRATCH, "/var/tmp"]
    for path in (_KERNEL_SETTINGS, *SYSTEM_FILES, *map(str, files.read)):
        words += ["--ro-bind-try", path, path]
    for path in map(str, files.writable):
        words += ["--bind", path, path]
    words += ["--remount-ro", "/proc"]  # guard: own-oom-score
    words += _links(files)
    for place, is_folder in sorted(files.hidden):  # a folder comes before what is in it
        words += ["--tmpfs", str(place)] if is_folder else ["--ro-bind", "/dev/null", str(place)]
    words += ["--dir", str(cwd)]
    closed = (str(place) for place, is_folder in sorted(files.hidden) if is_folder)
    for path in ("/", "/dev", *closed):  # what is mounted above has no size, and is not counted
        words += ["--remount-ro", path]  # guard: read-only-mounts
    return (*words, "--chdir", str(cwd), "--", *_SHELL, *argv[1:])


def _links(files: VisibleFiles) -> Iterator[str]:
    readable = set(files.read)
    for link, text in files.links.items():
        if readable.isdisjoint(Path(link).parents) and not link.startswith(_OF_ITS_OWN):
            yield from ("--symlink", text, link)
