"""The filter of system calls for isolated bots, as a program for the kernel.

A confined bot may make the calls that programs need for their own work (`system_calls.ALLOWED`), some others
with arguments that reach nobody else, and none besides. What is refused fails with EPERM; with ENOSYS, as
where the kernel lacks it, if programs have another way then; or with ENOTSUP, as on a file system without
attributes, which `cp` and others accept. Bots that are not confined are only denied the settings of other
processes. All calls of another architecture than the machine's own are refused to every bot: the numbers of
their calls are others, so that a filter would have to know them too.

The form of the program is that of seccomp(2); the numbers are those of the kernel's headers.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache

from referee.processes import bpf, system_calls
from referee.processes.bpf import instruction
from referee.processes.system_calls import SystemCall


class Scope(Enum):
    """What a confined bot shares with the rest of the machine; its list of calls depends on that."""

    OWN = "network, IPC and file systems are its own"
    SHARED = "they are the machine's"
    SHARED_NETWORK = "they are the machine's, and it may use the network, as a build that fetches packages"


_UNIX = 1
_NETWORK = (2, 10, 16)
"""IPv4, IPv6, netlink: with `_UNIX` the families of sockets that a network namespace confines. Others, such
as those of virtual machines, are not.
"""

_FAMILIES = {Scope.OWN: (_UNIX, *_NETWORK), Scope.SHARED: (), Scope.SHARED_NETWORK: _NETWORK}

_ALLOWED_IN = {
    Scope.OWN: system_calls.OF_NAMESPACES,
    Scope.SHARED: (),
    Scope.SHARED_NETWORK: system_calls.FETCHING,
}

_STREAM, _PACKETS, _TYPE_OF_SOCKET = 1, 5, 0xF
"""Pairs of these types reach nobody but each other; those of datagrams can be sent to any address."""

_NEW_NAMESPACES = 0x7E020080  # all flags of clone(2) that make a namespace

_PERSONALITIES = (0, 0xFFFFFFFF)
"""The usual one, and the question which it is; the others change how memory is laid out and protected."""

_OF_TERMINALS, _OF_SOCKETS, _KIND_OF_REQUEST = 0x5400, 0x8900, 0xFF00
"""Requests of ioctl(2), by the byte that says what they are for. Others are for devices, which no bot has,
and for attributes of files.
"""

_RISKY_REQUESTS = (0x5412, 0x541C, 0x541D, 0x5423)
"""TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD: they put input into a terminal, take its output, or change how the
kernel treats it.
"""

_FILE_COMMANDS = (*range(8), 36, 37, 38, 1030, 1031, 1032, 1033, 1034)
"""Commands of fcntl(2): descriptors and their flags, locks, the sizes of pipes and the seals of files in
memory. Not among them: signals to whoever is named (F_SETOWN), leases, news of folders (F_NOTIFY), and hints
that stay with a file.
"""

_OWN_SETTINGS = (
    *(1, 2, 3, 7, 8, 13, 14, 15, 16, 21, 22, 23, 25, 26, 29, 30, 34, 36, 37, 38, 39, 40, 41, 42, 45, 46),
    *(50, 51, 52, 53, 54, 55, 56, 60, 61, 63, 64, 65, 66, 69, 70, 71, 74, 75, 76, 78, 0x53564D41),
)
"""Options of prctl(2): of the caller's own name, timers, processor features and memory. Not among them:
PR_SET_DUMPABLE, with which a bot would hide from its limits, and what is for administrators.
"""

_ALL_OF_A_USER = {"setpriority": 2, "ioprio_set": 3}
"""The value of the first argument that means all processes of the caller's user."""

_NOT_ASKED = ("clone3",)  # what ordinary programs with threads try first

_OF_NAMESPACES = (*system_calls.MOUNTS, "clone", "prctl")
"""What a program does that makes namespaces for a bot."""

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
_NUMBER, _ARCHITECTURE = 0, 4
"""Offsets of the number of the call and of the architecture in what a filter looks at."""

_X32 = 1 << 30
"""From this number on, the calls of x86-64 are those of x32, with pointers of 32 bits; others have none."""

OF_32_BITS = "32-bit call"  # what a call is named that is not one of the machine's own 64 bits

_FARTHEST = 255  # maximum number of instructions that a comparison can jump over

MACHINE = os.uname().machine if sys.platform == "linux" else ""

AVAILABLE = MACHINE in _ARCHITECTURES  # whether there is a filter for this machine's architecture


def mild_program(machine: str = MACHINE) -> bytes:
    """The filter for bots that are not confined: it denies the settings of other processes, and memory that
    would outlive the bot.
    """
    blocks = {**_own_alone(), "shmget": _fail(errno.EPERM)}
    calls = system_calls.CONDITIONAL | system_calls.SYSTEM_V
    denied = {name: (calls[name], block) for name, block in blocks.items()}
    return _program(denied, _ALLOW, _fail(errno.EPERM), machine)


def mild_asking(machine: str = MACHINE) -> bytes:
    """The filter for bots that are not confined that asks about the calls that `mild_program` refuses."""
    return bpf.instead(mild_program(machine), bpf.ASK)


def program(scope: Scope, machine: str = MACHINE) -> bytes:
    """The filter for confined bots: instructions of 8 bytes each.

    Where a bot shares namespaces with the machine it gets no sockets but pairs, or at most those of the
    network, and cannot change the attributes of files.
    """
    return _program(_blocks(scope), _fail(errno.ENOSYS), _fail(errno.EPERM), machine)


def asking(scope: Scope, machine: str = MACHINE) -> bytes:
    """The filter for confined bots that asks about the calls that `program` refuses."""
    return _asking(_blocks(scope), machine)


def asking_around(machine: str = MACHINE) -> bytes:
    """The filter that asks about the calls of a bot in namespaces of its own, and of the program that makes
    them: it allows what that program has to do. The bot needs `deferring` too.
    """
    allowed = {
        name: (call, _ALLOW) for name, (call, _) in _blocks(Scope.OWN).items() if name in _OF_NAMESPACES
    }
    return _asking(_blocks(Scope.OWN) | allowed, machine)


def deferring(machine: str = MACHINE) -> bytes:
    """The filter for a bot in namespaces of its own, where one around it asks: where that one asks, its
    answer counts, and without it the call fails with ENOSYS. All else is as with `program`.
    """
    blocks = _blocks(Scope.OWN)
    kept = {name: blocks[name] for name in (*_OF_NAMESPACES, *_NOT_ASKED)}
    return _instead(blocks, bpf.TRACE, kept, machine)


def _asking(blocks: Mapping[str, tuple[SystemCall, bytes]], machine: str) -> bytes:
    return _instead(blocks, bpf.ASK, {name: blocks[name] for name in _NOT_ASKED}, machine)


def _instead(
    blocks: Mapping[str, tuple[SystemCall, bytes]],
    result: int,
    kept: Mapping[str, tuple[SystemCall, bytes]],
    machine: str,
) -> bytes:
    """The filter with this result for the calls that fail in these blocks, except for those that are kept."""
    changed = {name: (call, bpf.instead(block, result)) for name, (call, block) in blocks.items()}
    returned = instruction(bpf.RETURN, result)
    return _program(changed | dict(kept), returned, returned, machine)


def _blocks(scope: Scope) -> dict[str, tuple[SystemCall, bytes]]:
    """Returns the instructions that decide on each call of a confined bot; other calls fail with ENOSYS."""
    refused = (*system_calls.FORBIDDEN, *system_calls.OF_NAMESPACES)
    treated: list[tuple[Mapping[str, SystemCall], bytes]] = [
        *((group, _fail(errno.EPERM)) for group in refused),
        (system_calls.ATTRIBUTES, _fail(errno.ENOTSUP)),
        *((group, _ALLOW) for group in (system_calls.ALLOWED, *_ALLOWED_IN[scope])),
        (system_calls.MISSING, _fail(errno.ENOSYS)),
    ]
    conditions = _conditions(scope)
    blocks = {name: (call, block) for group, block in treated for name, call in group.items()}
    return blocks | {name: (call, conditions[name]) for name, call in system_calls.CONDITIONAL.items()}


def name_of(number: int, architecture: int, machine: str = MACHINE) -> str:
    """The name of a system call: `OF_32_BITS` for another architecture, `unknown` where it has none."""
    if architecture == _ARCHITECTURES[machine] and number < _X32:
        return _names(machine).get(number, "unknown")
    return OF_32_BITS if architecture else "unknown"


@cache
def _names(machine: str) -> dict[int, str]:
    both = [(name, call) for group in system_calls.GROUPS for name, call in group.items()]
    numbers = [(name, call.x86_64 if machine == "x86_64" else call.generic) for name, call in both]
    return {number: name for name, number in numbers if number is not None}


def _conditions(scope: Scope) -> dict[str, bytes]:
    """Returns the instructions that check the arguments of each call."""
    is_own = scope is Scope.OWN
    kinds = (_OF_TERMINALS, _OF_SOCKETS) if is_own else (_OF_TERMINALS,)
    types = range(_TYPE_OF_SOCKET) if is_own else (_STREAM, _PACKETS)
    denied = _fail(errno.EPERM)
    return {
        **_own_alone(),
        "ioctl": b"".join(_if(_low(1), bpf.EQUAL, request, then=denied) for request in _RISKY_REQUESTS)
        + _among(1, kinds, errno.ENOTTY, _KIND_OF_REQUEST),
        "fcntl": _among(1, _FILE_COMMANDS, errno.EINVAL),
        "prctl": _among(0, _OWN_SETTINGS, errno.EINVAL),
        "personality": _among(0, _PERSONALITIES, errno.EPERM),
        "clone": _if(_low(0), bpf.ANY_BIT, _NEW_NAMESPACES, then=denied) + _ALLOW,
        "socket": _among(0, _FAMILIES[scope], errno.EPERM),
        "socketpair": _if(_low(0), bpf.EQUAL, _UNIX, otherwise=denied)
        + _among(1, types, errno.EPERM, _TYPE_OF_SOCKET),
    }


def _own_alone() -> dict[str, bytes]:
    """Returns the instructions that deny calls on other processes than the caller, which is 0."""
    first = ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "prlimit64")
    blocks = {name: _among(0, (0,), errno.EPERM) for name in first}
    for name, value in _ALL_OF_A_USER.items():
        blocks[name] = _if(_low(0), bpf.EQUAL, value, then=_fail(errno.EPERM)) + _among(1, (0,), errno.EPERM)
    return blocks


def _program(
    blocks: Mapping[str, tuple[SystemCall, bytes]], otherwise: bytes, of_others: bytes, machine: str
) -> bytes:
    """A filter that executes for each call its block, which returns.

    `otherwise`: for all other calls; `of_others`: for those of other architectures.
    """
    numbers = {
        number: block
        for call, block in blocks.values()
        if (number := call.x86_64 if machine == "x86_64" else call.generic) is not None
    }
    starts = [0]
    for number in range(1, max(numbers) + 2):
        if numbers.get(number, otherwise) != numbers.get(number - 1, otherwise):
            starts.append(number)
    return b"".join(
        [
            _if(_ARCHITECTURE, bpf.EQUAL, _ARCHITECTURES[machine], otherwise=of_others),
            instruction(bpf.LOAD, _NUMBER),
            _search([*((start, numbers.get(start, otherwise)) for start in starts), (_X32, of_others)]),
        ]
    )


def _search(ranges: list[tuple[int, bytes]]) -> bytes:
    """Finds the range that a number lies in, by its beginnings, and executes its block."""
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    below, above = _search(ranges[:middle]), _search(ranges[middle:])
    size = len(below) // bpf.SIZE
    if size <= _FARTHEST:
        return instruction(bpf.AT_LEAST, ranges[middle][0], size, 0) + below + above
    return instruction(bpf.AT_LEAST, ranges[middle][0], 0, 1) + instruction(bpf.JUMP, size) + below + above


_ALLOW = instruction(bpf.RETURN, bpf.ALLOW)


def _fail(error: int) -> bytes:
    return instruction(bpf.RETURN, bpf.FAIL | error)


def _if(offset: int, test: int, value: int, then: bytes = b"", otherwise: bytes = b"") -> bytes:
    """Compares 32 bits and executes a block that returns: `then` where it is given, else `otherwise`."""
    size, other = len(then) // bpf.SIZE, len(otherwise) // bpf.SIZE
    head = instruction(bpf.LOAD, offset) + instruction(test, value, 0 if size else other, size if size else 0)
    return head + then + otherwise


def _among(index: int, values: Iterable[int], error: int, mask: int | None = None) -> bytes:
    """Allows a call if the masked bits of an argument have one of these values, as the kernel reads it for
    these calls: its lower 32 bits.
    """
    masked = b"" if mask is None else instruction(bpf.AND, mask)
    chosen = tuple(values)
    tests = [instruction(bpf.EQUAL, value, if_true=len(chosen) - at) for at, value in enumerate(chosen)]
    return b"".join([instruction(bpf.LOAD, _low(index)), masked, *tests, _fail(error), _ALLOW])


def _low(index: int) -> int:
    """The offset of the lower 32 bits of an argument."""
    return 16 + 8 * index + (4 if sys.byteorder == "big" else 0)
