"""The command of `bwrap`, which runs a bot in namespaces of its own. *Pure.*

Bubblewrap is the sandbox of Flatpak: a small program in the packages of every distribution. The bot sees only
the files that are bound into its namespace, its own processes, and no network.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from referee.processes.messages import FILTER_DESCRIPTOR

PROGRAM = "bwrap"

SCRATCH = "/tmp"
"""Where the bot's scratch folder is, inside."""

_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")

SYSTEM_FILES = ("/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm")
"""What runtimes read to learn of the machine's processors and memory."""


def command(
    program: str,
    argv: Iterable[str],
    cwd: Path,
    read: Iterable[Path],
    hidden: Iterable[tuple[Path, bool]],
    scratch_bytes: int,
    as_root: bool,
    kept_capability: str,
) -> tuple[str, ...]:
    """The words to execute.

    `program`: the path of `bwrap`; `read`: what the bot may read; `hidden`: what it may not read of that, and
    whether that is a folder; `scratch_bytes`: the size of each file system that it may write to; `as_root`:
    whether it is started by root, so that no user namespace is needed.
    """
    size = ("--size", str(scratch_bytes))
    words = [program, *_NAMESPACES, "--die-with-parent", "--cap-drop", "ALL"]
    words += ["--cap-add", kept_capability] if as_root else ["--unshare-user"]
    words += ["--seccomp", str(FILTER_DESCRIPTOR), "--proc", "/proc", "--dev", "/dev"]
    words += [*size, "--perms", "1777", "--tmpfs", "/dev/shm", *size, "--perms", "1777", "--tmpfs", SCRATCH]
    words += ["--symlink", SCRATCH, "/var/tmp"]
    for path in (*SYSTEM_FILES, *sorted(map(str, read))):  # a folder comes before what is in it
        words += ["--ro-bind-try", path, path]
    for path, is_folder in sorted(hidden):
        words += ["--tmpfs", str(path)] if is_folder else ["--ro-bind", "/dev/null", str(path)]
    return (*words, "--dir", str(cwd), "--chdir", str(cwd), "--", *argv)
