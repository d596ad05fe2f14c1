"""The levels of isolation: how a bot of each level is confined."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from referee.core.errors import EnvironmentLacksError
from referee.core.settings import LEVELS
from referee.processes import bubblewrap, needs, seccomp
from referee.processes.confinement import (
    CAPABILITY_KEPT,
    DEVICES,
    FILES,
    FILES_ALONE,
    LIST,
    NONE,
    READ,
    SIGNALS,
    SIGNALS_ABI,
    WRITE,
    Confinement,
    landlock_abi,
)
from referee.processes.program import Program
from referee.processes.scratch import variables
from referee.processes.seccomp import Scope

_DEVICES = tuple((device, WRITE) for device in DEVICES)

_OF_ITSELF = tuple(
    f"/proc/self/{name}"
    for name in (
        *("cgroup", "cmdline", "limits", "maps", "mountinfo", "mounts"),
        *("smaps", "smaps_rollup", "stat", "statm", "status"),
    )
)
"""What runtimes read of their own process; not `net`, which has the connections of the whole machine."""

_SYSTEM_FILES = (
    *(*_OF_ITSELF, "/proc/meminfo", "/proc/cpuinfo", "/proc/filesystems", "/proc/version", "/proc/uptime"),
    *("/proc/loadavg", "/proc/stat", "/proc/sys/vm", "/proc/sys/kernel", "/proc/cgroups"),
    *("/sys/fs/cgroup", "/sys/kernel/mm", *map(str, bubblewrap.SYSTEM_FILES)),
)
"""What runtimes read to learn of themselves and of the machine's processors and memory."""


_NETWORK_FILES = tuple(
    Path("/etc", name)
    for name in (
        *("resolv.conf", "hosts", "services", "ssl/certs", "ca-certificates", "pki/tls"),
        *("pip.conf", "debian_version", "mime.types"),
    )
)
"""What programs read to find other machines and to trust them, and what pip reads as it starts."""


_User = tuple[int, int, tuple[int, ...]]  # the ids of a user, of its group, and of all its groups


class IsolatedStart(NamedTuple):
    """How to start an isolated bot."""

    argv: tuple[str, ...]
    confinement: Confinement
    environment: dict[str, str]  # variables that are added to its environment
    program_filter: bytes
    """The filter of system calls that the program in `argv`, which confines the bot, gets on a descriptor;
    empty where `argv` is the bot's own command.
    """
    deferring_filter: bytes = b""
    """The filter that it gets instead where the outer filter asks about the bot's calls."""
    root: bubblewrap.Root | None = None
    """The files of the bot, whose words are added to `argv`; see `Wrapping`."""


@lru_cache(maxsize=1024)
def isolated(bot: Program) -> IsolatedStart:
    """Prepares the start of a bot at its level. Raises `EnvironmentLacksError` where its user does not exist,
    `AssertionError` where its level is not settled: whoever has bots started has forgotten it.
    """
    if bot.isolation not in LEVELS:  # guard: settled-level
        raise AssertionError(
            f"bot `{bot.name}` is to be started at isolation `{bot.isolation}`, which was not settled; "
            f"expected one of {', '.join(LEVELS)}"
        )
    user = user_of(bot)
    if bot.isolation == "none":
        return IsolatedStart(bot.argv, NONE._replace(user=user), {}, b"")
    if bot.isolation == "basic":
        sandbox = SIGNALS if landlock_abi() >= SIGNALS_ABI else ""
        mild = (seccomp.mild_program(), seccomp.mild_asking()) if seccomp.AVAILABLE else (b"", b"")
        return IsolatedStart(bot.argv, Confinement(user, True, sandbox, (), *mild), {}, b"")
    read = (*bot.read, *filter(Path.exists, _NETWORK_FILES)) if bot.network else bot.read
    needed = needs.find(bot.argv, bot.cwd, bot.environment(), read)
    shown = (path for path in needed.readable if not needs.is_below(path, bot.hidden))  # guard: hidden-names
    readable = [path for path in shown if user is None or _is_reachable(path, *user)]
    if bot.isolation == "landlock":
        return IsolatedStart(bot.argv, _landlocked(bot, user, readable), {}, b"")
    return _wrapped(bot, user, needed._replace(readable=readable))


def _landlocked(bot: Program, user: _User | None, readable: Iterable[Path]) -> Confinement:
    """The confinement of a bot that may read some files and folders."""
    rights = [("/proc/self", LIST), *((path, READ) for path in _SYSTEM_FILES)]
    for path in readable:
        rights += [(str(part), READ if whole else LIST) for part, whole in needs.without(path, bot.hidden)]
    rights += [(str(path), WRITE) for path in bot.writes]
    scope = Scope.SHARED_NETWORK if bot.network else Scope.SHARED
    return Confinement(
        user,
        True,
        FILES_ALONE if bot.network else FILES,
        (*_DEVICES, *rights),
        seccomp.program(scope),
        seccomp.asking(scope),
    )


def _wrapped(bot: Program, user: _User | None, needed: needs.Needs) -> IsolatedStart:
    """Prepares the start of a bot in namespaces of its own, in which it may read some files and folders."""
    folders = set(needed.readable)
    hidden = [
        (path, path.is_dir()) for path in bot.hidden if not folders.isdisjoint(path.parents) and path.exists()
    ]
    installed = [path for path in needed.readable if path not in needed.own]
    own = [path for path in needed.readable if path in needed.own]
    files = bubblewrap.VisibleFiles(installed, own, needed.links, hidden, bot.writes)
    program = shutil.which(bubblewrap.PROGRAM) or bubblewrap.PROGRAM
    argv, root = bubblewrap.wrapping(
        (program, *bot.argv),
        bot.cwd,
        files,
        min(filter(None, (bot.limits.scratch, bot.limits.memory_of_all)), default=None),
        CAPABILITY_KEPT if os.geteuid() == 0 and user is None else "",
        bot.network,
    )
    environment = variables(bubblewrap.SCRATCH)
    asking = b"" if _gains_privileges(program) else seccomp.asking_around()
    confinement = NONE._replace(user=user, asking=asking)
    filters = seccomp.program(Scope.OWN), seccomp.deferring()
    return IsolatedStart(argv, confinement, environment, *filters, root)


def reaches_referee(bot: Program) -> bool:
    """Whether a bot could end or stop the referee's processes. Where it could not, it is never held
    responsible for what happens to them.
    """
    if bot.isolation == "landlock":
        return landlock_abi() < SIGNALS_ABI
    return bot.isolation != "bwrap"


def lacking(level: str) -> str:
    """Names what this machine lacks for a level, with the remedy; empty where nothing is known to be missing.
    A level can still fail when it is tried.
    """
    if level in ("none", "basic"):
        return ""
    if sys.platform != "linux":
        return "it needs Linux"
    if not seccomp.AVAILABLE:
        return f"there is no filter of system calls for the architecture `{seccomp.MACHINE}`"
    if level == "landlock" and not landlock_abi():
        return (
            "the kernel has no Landlock, or it is switched off; it needs Linux 5.13, and `landlock` among "
            "the security modules of the kernel's command line (`lsm=landlock,...`)"
        )
    if level == "bwrap" and shutil.which(bubblewrap.PROGRAM) is None:
        return "there is no program `bwrap`; install the package `bubblewrap`"
    return ""


def _gains_privileges(program: str) -> bool:
    """Whether a program is executed with rights that a filter around it would take from it, if it exists."""
    try:
        return bool(Path(program).stat().st_mode & stat.S_ISUID)
    except OSError:
        return False


def user_of(bot: Program) -> _User | None:
    """The user that a bot is run as; None if it is the referee's. Raises `EnvironmentLacksError`."""
    if not bot.user:
        return None
    given = f"bot `{bot.name}`: `user` is `{bot.user}`"
    if os.geteuid() != 0:
        raise EnvironmentLacksError(f"{given}, but only root can run bots as another user")
    try:
        entry = pwd.getpwnam(bot.user)
    except KeyError:
        raise EnvironmentLacksError(f"{given}, but this system has no such user") from None
    return entry.pw_uid, entry.pw_gid, tuple(os.getgrouplist(bot.user, entry.pw_gid))


def _is_reachable(path: Path, user: int, group: int, groups: tuple[int, ...]) -> bool:
    """Whether a user may enter all folders above a path."""
    for folder in path.parents:
        found = folder.stat()
        shift = 6 if found.st_uid == user else 3 if found.st_gid in (group, *groups) else 0
        if not found.st_mode >> shift & 1:
            return False
    return True
