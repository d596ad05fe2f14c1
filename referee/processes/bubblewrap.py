"""The command of `bwrap`, which runs a bot in namespaces of its own.

Bubblewrap is the sandbox of Flatpak: a small program in the packages of every distribution. The bot sees only
the files that are bound into its namespace, its own processes, and no network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

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


def command(
    program: str,
    argv: Iterable[str],
    cwd: Path,
    read: Collection[Path],
    links: Mapping[str, str],
    hidden: Iterable[tuple[Path, bool]],
    most_bytes: int | None,
    as_root: bool,
    kept_capability: str,
    writable: Collection[Path] = (),
    network: bool = False,
) -> tuple[str, ...]:
    """The words to execute.

    `program`: the path of `bwrap`; `read`: what the bot may read; `links`: symbolic links, and their texts;
    `hidden`: what it may not read, and whether that is a folder; `most_bytes`: the size of each file system
    that it may write to, which lie in memory; `as_root`: whether it is started by root, so that no user
    namespace is needed; `writable`: folders of the machine that it may write to; `network`: whether it has
    that of the machine.
    """
    size = ("--size", str(most_bytes + _BEYOND)) if most_bytes else ()
    namespaces = [each for each in _NAMESPACES if not (network and each == "--unshare-net")]
    words = [program, *namespaces, "--die-with-parent", "--cap-drop", "ALL"]
    words += ["--cap-add", kept_capability] if as_root else ["--unshare-user"]
    words += ["--seccomp", str(FILTER_DESCRIPTOR), "--proc", "/proc", "--dev", "/dev"]
    for folder in WRITABLE_INSIDE:
        words += [*size, "--perms", "1777", "--tmpfs", folder]
    words += ["--symlink", SCRATCH, "/var/tmp"]
    for path in (_KERNEL_SETTINGS, *SYSTEM_FILES, *map(str, read)):
        words += ["--ro-bind-try", path, path]
    for path in map(str, writable):
        words += ["--bind", path, path]
    readable = set(read)
    words += ["--remount-ro", "/proc"]  # guard: own-oom-score
    for link, text in links.items():
        if readable.isdisjoint(Path(link).parents) and not link.startswith(_OF_ITS_OWN):
            words += ["--symlink", text, link]
    closed = ["/", "/dev"]
    for place, is_folder in sorted(hidden):  # a folder comes before what is in it
        words += ["--tmpfs", str(place)] if is_folder else ["--ro-bind", "/dev/null", str(place)]
        if is_folder:
            closed.append(str(place))
    words += ["--dir", str(cwd)]
    for path in closed:  # what is mounted above has no size, and is not counted
        words += ["--remount-ro", path]  # guard: read-only-mounts
    return (*words, "--chdir", str(cwd), "--", *_SHELL, *argv)
