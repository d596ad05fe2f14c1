"""Names in folders that all programs share: each says which process owns it.

What a process that was killed has left there is removed when a later one starts bots.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from referee.processes import cgroups, scratch, tree

REMOVE_S = 2.0
"""About the most seconds for which the removal of what others left holds up a start. The rest is left to the
next start.
"""

MAX_NAMES = 100_000  # maximum number of names in a folder that are looked at

_NAME = re.compile(r"referee-([0-9a-f]{6})\.([1-9][0-9]{0,8})\.([0-9]{1,18})-.+", re.DOTALL)


class Owner(NamedTuple):
    """A process, named so that no later process with the same id is taken for it."""

    space: str  # where its id is valid: see `_space`
    pid: int
    began_ticks: int  # when it began, as `tree.began_ticks` gives it

    @property
    def is_gone(self) -> bool:
        """Whether this process certainly does not exist any more."""
        if self.space != _space():  # guard: owners-elsewhere
            return False
        with contextlib.suppress(PermissionError):
            try:
                os.kill(self.pid, 0)
            except ProcessLookupError:
                return True
        now = tree.began_ticks(self.pid)
        return 0 not in (now, self.began_ticks) and now != self.began_ticks


def prefix(purpose: str = "") -> str:
    """Returns the prefix for the names of what this process makes; `purpose` is a word for people, if any."""
    space, pid, began_ticks = own(os.getpid())
    return f"referee-{space}.{pid}.{began_ticks}-{purpose}{'-' if purpose else ''}"


@cache
def own(pid: int) -> Owner:
    """This process, whose id is `pid`: a fork has another one."""
    return Owner(_space(), pid, tree.began_ticks(pid))


def owner(name: str) -> Owner | None:
    """The process that a name says; None where `prefix` did not begin it."""
    if found := _NAME.fullmatch(name):
        return Owner(found[1], int(found[2]), int(found[3]))
    return None


def remove_left(*folders: str) -> None:
    """Removes what processes that are gone have left in these folders, and their control groups.

    Bots and other users can make such names too: only FIFOs and folders of this user are removed, and no link
    is followed.
    """
    deadline = time.monotonic() + REMOVE_S
    if groups := cgroups.parent_of_groups():
        for path in _left_in(groups):
            if time.monotonic() < deadline:
                cgroups.remove_all(path)
    for path in (path for folder in folders for path in _left_in(folder)):
        if (rest_s := deadline - time.monotonic()) < 0:
            return
        with contextlib.suppress(OSError):
            found = os.lstat(path)
            if found.st_uid != os.geteuid():  # guard: left-by-others
                continue
            if stat.S_ISFIFO(found.st_mode):
                os.unlink(path)  # noqa: PTH108 - paths are texts here
            elif stat.S_ISDIR(found.st_mode):  # guard: left-links
                scratch.remove(path, rest_s)


def _left_in(folder: str) -> Iterator[str]:
    """The paths in a folder that are named after processes that are gone."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, MAX_NAMES):
            if (named := owner(entry.name)) and named.is_gone:  # guard: living-owners
                yield entry.path


@cache
def _space() -> str:
    """Identifies the process ids of this machine since it was started, as opposed to those of other machines
    and of other containers, with which a folder may be shared.
    """
    parts = []
    for look in (
        Path("/proc/sys/kernel/random/boot_id").read_text,
        Path("/proc/self/ns/pid").readlink,
        Path("/proc/self/ns/time").readlink,
    ):
        with contextlib.suppress(OSError):
            parts.append(str(look()))
    return sha256("\n".join(parts).encode()).hexdigest()[:6]
