"""Confines the calling process: its user, capabilities, files, signals and system calls.

That is done between fork and exec, so it cannot be undone by the program. Landlock (landlock(7)) is the
kernel's interface for processes that give up rights: to all files but those that are listed, and to signals
and abstract sockets across the border of the sandbox. Whatever its rules are, a process in a sandbox cannot
trace, or read the memory of, one outside of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import sys
from collections import namedtuple
from collections.abc import Iterable
from functools import cache

from referee.processes import libc

SIGNALS, FILES, FILES_ALONE = "signals", "files", "files alone"
"""What a sandbox of Landlock confines: only signals and tracing, or files too, and all that can be, or all of
that but the network.
"""

SIGNALS_ABI = 6  # the version of Landlock that confines signals and abstract sockets

LIST, READ, WRITE = 1, 2, 3
"""Rights to a file or folder and all below it: to list names, to read and execute, to do all."""

CAPABILITY_KEPT = "CAP_DAC_READ_SEARCH"
"""Bots of root keep the right to read: their own files may belong to other users."""

_OVERRIDE, _READ_SEARCH = 1, 2  # the numbers of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
_DROPPED = tuple(number for number in range(64) if number != _READ_SEARCH)
"""The numbers of all other capabilities, also of some that no kernel has yet."""

# landlock(7)
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
"""The rights that a file can have, and not only a folder."""
_TCP = 0b11
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1, 2
_RULE = struct.Struct("=Qi")

# prctl(2), capset(2)
_NO_NEW_PRIVILEGES = 38
_DROP_FROM_BOUNDING_SET = 24
_AMBIENT, _CLEAR = 47, 4
_SECCOMP, _FILTER = 22, 2
# seccomp(2)
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5
_CAPSET, _SET_SECCOMP = (126, 317) if os.uname().machine == "x86_64" else (91, 277)
_CAPABILITIES_VERSION = 0x20080522


# unshare(2), mount(2), setns(2)
_UNSHARE, _MOUNT, _ENTER = (272, 165, 308) if os.uname().machine == "x86_64" else (97, 40, 268)
_NEW_MOUNTS = 0x20000
_READ_ONLY, _NO_SET_USER, _REMOUNT, _BIND, _RECURSIVE, _SLAVE = 1, 2, 1 << 5, 1 << 12, 1 << 14, 1 << 19

DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
"""What every bot may read and write."""


class Confinement(namedtuple("Confinement", "user drops_capabilities sandbox rights seccomp asking")):
    """How a bot is confined, apart from its resources.

    `user`: None, or its user id, its group id and the ids of its other groups; `drops_capabilities`: whether
    a bot of root loses root's rights, and any bot the way to gain new ones; `sandbox`: empty, `SIGNALS` or
    `FILES`; `rights`: pairs of a path and `LIST`, `READ` or `WRITE`, for `FILES`; `seccomp`: the filter of
    system calls, or empty bytes; `asking`: one that asks about calls, so that they can be counted, and takes
    the place of the other where the kernel has such filters; or empty bytes.
    """


NONE = Confinement(None, False, "", (), b"", b"")


@cache
def landlock_abi() -> int:
    """The version of Landlock in this kernel; 0 where there is none."""
    try:
        return libc.syscall(_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def confine(
    confinement: Confinement,
    ruleset: int = -1,
    rules: Iterable[tuple[str, int]] = (),
    namespaces: Iterable[int] = (),
) -> int:
    """Confines this process. Returns the descriptor of whoever is to listen to its filter; -1 where it does
    not ask. Raises `OSError` where the kernel refuses.

    `ruleset` and `rules`: what `make_ruleset` and `make_rules` return; `namespaces`: descriptors of those
    that it enters, as its user, who made them.
    """
    if confinement.user:
        become(*confinement.user)  # guard: user
    for namespace in namespaces:
        libc.syscall(_ENTER, namespace, 0)
    if confinement.drops_capabilities:
        _drop_capabilities()  # guard: capabilities
        libc.prctl(_NO_NEW_PRIVILEGES, 1)  # guard: no-new-privileges
    if ruleset >= 0:
        _allow(ruleset, rules)
        libc.syscall(_RESTRICT_SELF, ruleset, 0)  # guard: landlock
    if confinement.seccomp or confinement.asking:
        return _install(confinement.seccomp, confinement.asking)  # guard: system-calls
    return -1


def protect_devices() -> None:
    """Where root does this, mounts `DEVICES` read-only, for this process and those that it starts: what is
    written to a device still arrives, but root cannot change the modes, owners and times of the machine's
    files.

    Raises `OSError`.
    """
    if os.geteuid() != 0:
        return
    libc.syscall(_UNSHARE, _NEW_MOUNTS)
    _mount(b"/", _RECURSIVE | _SLAVE)  # else the machine would see the mounts below
    for path in map(os.fsencode, DEVICES):
        if os.path.exists(path):
            _mount(path, _BIND)
            _mount(path, _REMOUNT | _BIND | _READ_ONLY | _NO_SET_USER)  # guard: devices


def keep_from_proc() -> None:
    """Takes the right to write to everything from a program that confines bots of root: with it, the program
    would mount some folders of `/proc` read-only, one by one, before it does so with all of `/proc`.
    """
    libc.prctl(_DROP_FROM_BOUNDING_SET, _OVERRIDE)


def _mount(path: bytes, flags: int) -> None:
    libc.syscall(_MOUNT, path, path, None, flags, None)


def become(user: int, group: int, groups: tuple[int, ...]) -> None:
    """Makes this process one of another user, which only root can. Raises `OSError`."""
    os.setgroups(groups)
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def _drop_capabilities() -> None:
    """Drops all capabilities but one. A process that has none is left as it is."""
    if sys.platform != "linux":
        return
    libc.drop_each(_DROP_FROM_BOUNDING_SET, _DROPPED)
    if os.geteuid() != 0:
        return
    libc.prctl(_AMBIENT, _CLEAR)
    kept = 1 << _READ_SEARCH
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    libc.syscall(_CAPSET, header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def make_ruleset(confinement: Confinement) -> int:
    """Makes a set for the rules of Landlock. Returns its descriptor; -1 where a process is not to confine
    itself. Raises `OSError`.
    """
    if not confinement.sandbox:
        return -1
    abi, confines_files = landlock_abi(), confinement.sandbox != SIGNALS
    scopes = _SCOPE_SIGNALS | (_SCOPE_ABSTRACT_SOCKETS if confines_files else 0)
    # The structure has grown with the versions; a kernel refuses one with fields that it does not know.
    fields = [
        _rights_of(abi) if confines_files else 0,
        _TCP if confinement.sandbox == FILES and abi >= 4 else 0,
        scopes if abi >= SIGNALS_ABI else 0,
    ][: 3 if abi >= SIGNALS_ABI else 2 if abi >= 4 else 1]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    return libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)


def make_rules(confinement: Confinement, writable: Iterable[str]) -> list[tuple[str, int]]:
    """The rules of Landlock: paths, and the rights to each, of which a file gets those of `ON_FILES`. The
    process that confines itself adds them, since some paths lead each process to its own files.

    `writable`: the paths of folders and files that it may write to as well.
    """
    if confinement.sandbox not in (FILES, FILES_ALONE):
        return []
    handled = _rights_of(landlock_abi())
    granted = {
        LIST: _READ_DIR,
        READ: _EXECUTE | _READ_FILE | _READ_DIR,
        WRITE: handled & ~(_MAKE_CHAR | _MAKE_BLOCK),
    }
    rights = (*confinement.rights, *((path, WRITE) for path in writable))
    return [(path, handled & granted[right]) for path, right in rights]


def _rights_of(abi: int) -> int:
    """All rights to files that a version of Landlock knows."""
    count = 13 if abi == 1 else 14 if abi == 2 else 15 if abi < 5 else 16
    return (1 << count) - 1


def _allow(ruleset: int, rules: Iterable[tuple[str, int]]) -> None:
    """Adds rules for what exists at these paths. What is not there, or not for this user, needs no rule."""
    add = libc.caller(_ADD_RULE, int, int, bytes, int)
    for path, rights in rules:
        with contextlib.suppress(OSError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            if add(ruleset, _PATH_BENEATH, _RULE.pack(rights, place), 0) < 0:
                add(ruleset, _PATH_BENEATH, _RULE.pack(rights & ON_FILES, place), 0)
            os.close(place)


def _install(program: bytes, asking: bytes) -> int:
    """Installs a filter of system calls, if possible the one that asks. Returns the descriptor of its
    listener; -1 where the kernel has no such filters (before Linux 5.19) or this process has one already.
    Raises `OSError`.

    The descriptor is closed when a program is executed: a bot that had it could allow itself all calls.
    """
    if asking:
        libc.prctl(_NO_NEW_PRIVILEGES, 1)
        with contextlib.suppress(OSError):
            flags = _NEW_LISTENER | _WAIT_KILLABLE
            return libc.syscall(_SET_SECCOMP, _SET_FILTER, flags, _pointer(asking))  # guard: counted-refusals
    if program and not libc.prctl(_SECCOMP, _FILTER, _pointer(program)):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), "seccomp")
    return -1


def _pointer(program: bytes) -> bytes:
    """The structure that points to a filter."""
    return struct.pack("@HP", len(program) // 8, libc.address(program))
