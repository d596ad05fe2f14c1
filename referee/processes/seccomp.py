"""The filter of system calls for isolated bots, as a program for the kernel.

It denies what no bot needs and what reaches beyond a process: other processes' limits and processors, and,
for confined bots, their memory, key rings, namespaces and mounts, and the kernel itself. Confined bots are
also denied every call of another architecture than the machine's own (as 32-bit programs make). What is
denied fails with EPERM, or with ENOSYS where programs have another way then.

The form of the program is that of seccomp(2); the numbers are those of the kernel's headers.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from typing import NamedTuple


class _Call(NamedTuple):
    """A system call: its number on x86-64, and on the architectures with the kernel's generic table."""

    x86_64: int | None
    generic: int | None


_DENIED = {
    # The memory and the descriptors of other processes.
    "ptrace": _Call(101, 117),
    "process_vm_readv": _Call(310, 270),
    "process_vm_writev": _Call(311, 271),
    "process_madvise": _Call(440, 440),
    "process_mrelease": _Call(448, 448),
    "pidfd_getfd": _Call(438, 438),
    "kcmp": _Call(312, 272),
    "move_pages": _Call(279, 239),
    "migrate_pages": _Call(256, 238),
    # Key rings, which processes of one user share.
    "add_key": _Call(248, 217),
    "request_key": _Call(249, 218),
    "keyctl": _Call(250, 219),
    # Parts of the kernel that no bot needs.
    "bpf": _Call(321, 280),
    "perf_event_open": _Call(298, 241),
    "userfaultfd": _Call(323, 282),
    "fanotify_init": _Call(300, 262),
    "lookup_dcookie": _Call(212, 18),
    "modify_ldt": _Call(154, None),
    # Mounts and namespaces.
    "mount": _Call(165, 40),
    "umount2": _Call(166, 39),
    "pivot_root": _Call(155, 41),
    "chroot": _Call(161, 51),
    "open_tree": _Call(428, 428),
    "move_mount": _Call(429, 429),
    "fsopen": _Call(430, 430),
    "fsconfig": _Call(431, 431),
    "fsmount": _Call(432, 432),
    "fspick": _Call(433, 433),
    "mount_setattr": _Call(442, 442),
    "open_tree_attr": _Call(467, 467),
    "unshare": _Call(272, 97),
    "setns": _Call(308, 268),
    # Files by another way than their path.
    "open_by_handle_at": _Call(304, 265),
    "name_to_handle_at": _Call(303, 264),
    # The machine.
    "kexec_load": _Call(246, 104),
    "kexec_file_load": _Call(320, 294),
    "init_module": _Call(175, 105),
    "finit_module": _Call(313, 273),
    "delete_module": _Call(176, 106),
    "reboot": _Call(169, 142),
    "swapon": _Call(167, 224),
    "swapoff": _Call(168, 225),
    "acct": _Call(163, 89),
    "quotactl": _Call(179, 60),
    "quotactl_fd": _Call(443, 443),
    "settimeofday": _Call(164, 170),
    "clock_settime": _Call(227, 112),
    "adjtimex": _Call(159, 171),
    "clock_adjtime": _Call(305, 266),
    "iopl": _Call(172, None),
    "ioperm": _Call(173, None),
    "syslog": _Call(103, 116),
    "sethostname": _Call(170, 161),
    "setdomainname": _Call(171, 162),
    "vhangup": _Call(153, 58),
}

_MISSING = {
    # Calls that the filter cannot look into; programs have another way where the kernel lacks them.
    "io_uring_setup": _Call(425, 425),
    "io_uring_enter": _Call(426, 426),
    "io_uring_register": _Call(427, 427),
    "clone3": _Call(435, 435),
}

_OWN_ALONE = {
    # By call, which of its arguments names a process: 0, the caller itself, is allowed.
    "sched_setaffinity": (_Call(203, 122), 0),
    "sched_setscheduler": (_Call(144, 119), 0),
    "sched_setparam": (_Call(142, 118), 0),
    "sched_setattr": (_Call(314, 274), 0),
    "prlimit64": (_Call(302, 261), 0),
    "setpriority": (_Call(141, 140), 1),
    "ioprio_set": (_Call(251, 30), 1),
}

_NOT_ALL_OF_A_USER = {
    # By call, the value of its first argument that means all processes of the caller's user.
    _OWN_ALONE["setpriority"][0]: 2,
    _OWN_ALONE["ioprio_set"][0]: 3,
}

_SHARED = {
    # What processes without namespaces of their own share with others.
    "msgget": _Call(68, 186),
    "semget": _Call(64, 190),
    "mq_open": _Call(240, 180),
    # Events of files that the bot may not even read.
    "inotify_add_watch": _Call(254, 27),
    # Owners, permissions and attributes of files, which Landlock does not confine.
    "chmod": _Call(90, None),
    "fchmod": _Call(91, 52),
    "fchmodat": _Call(268, 53),
    "fchmodat2": _Call(452, 452),
    "chown": _Call(92, None),
    "fchown": _Call(93, 55),
    "lchown": _Call(94, None),
    "fchownat": _Call(260, 54),
    "setxattr": _Call(188, 5),
    "lsetxattr": _Call(189, 6),
    "fsetxattr": _Call(190, 7),
    "setxattrat": _Call(463, 463),
    "removexattr": _Call(197, 14),
    "lremovexattr": _Call(198, 15),
    "fremovexattr": _Call(199, 16),
    "removexattrat": _Call(466, 466),
    "file_setattr": _Call(469, 469),
}

_CLONE = _Call(56, 220)
_IOCTL = _Call(16, 29)

_SHARED_MEMORY = _Call(29, 194)
"""`shmget`: nobody sees the memory of a segment that no process has attached, and it outlives the bot."""

_SOCKET = _Call(41, 198)

_FAMILIES = (1, 2, 10, 16)
"""Unix, IPv4, IPv6, netlink: the families of sockets that a network namespace confines. Others, such as those
of virtual machines, are not.
"""

_NEW_NAMESPACES = 0x7E020080
"""All flags of clone(2) that make a namespace."""

_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
"""Requests of ioctl(2) that put input into a terminal."""

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
_X32 = 0x40000000
"""The calls of another interface of x86-64 have this bit in their numbers."""

# Instructions of the classic BPF, and results of a filter.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE = 0, 4
"""Offsets of the number of the call and of the architecture in what a filter looks at."""

MACHINE = os.uname().machine if sys.platform == "linux" else ""

AVAILABLE = MACHINE in _ARCHITECTURES
"""Whether there is a filter for this machine's architecture."""


def mild_program() -> bytes:
    """The filter for bots that are not confined: it denies the settings of other processes, and memory that
    would outlive the bot.
    """
    code = [_if(_ARCHITECTURE, _EQUAL, _ARCHITECTURES[MACHINE], otherwise=_instruction(_RETURN, _ALLOW))]
    return b"".join(
        [
            *code,
            *_own_alone(),
            *_denials({"shmget": _SHARED_MEMORY}, errno.EPERM),
            _instruction(_RETURN, _ALLOW),
        ]
    )


def program(shares_namespaces: bool) -> bytes:
    """The filter for confined bots: instructions of 8 bytes each.

    `shares_namespaces`: whether the bot shares network, IPC and file systems with the rest of the machine;
    then it gets no sockets but pairs, no IPC objects with names, and cannot change permissions of files.
    """
    code = [_if(_ARCHITECTURE, _EQUAL, _ARCHITECTURES[MACHINE], otherwise=_fail(errno.EPERM))]
    if MACHINE == "x86_64":
        code.append(_if(_NUMBER, _AT_LEAST, _X32, then=_fail(errno.ENOSYS)))
    code += _denials({**_DENIED, "shmget": _SHARED_MEMORY}, errno.EPERM)
    if shares_namespaces:
        code += _denials({**_SHARED, "socket": _SOCKET}, errno.EPERM)
    else:
        code.append(_allow_among(_SOCKET, 0, _FAMILIES))
    code += _denials(_MISSING, errno.ENOSYS)
    code += _own_alone()
    code.append(_if_argument(_CLONE, 0, _ANY_BIT, _NEW_NAMESPACES, then=_fail(errno.EPERM)))
    for request in (_TIOCSTI, _TIOCLINUX):
        code.append(_if_argument(_IOCTL, 1, _EQUAL, request, then=_fail(errno.EPERM)))
    return b"".join([*code, _instruction(_RETURN, _ALLOW)])


def _denials(calls: dict[str, _Call], error: int) -> list[bytes]:
    numbers = [number for call in calls.values() if (number := _number(call)) is not None]
    return [_if(_NUMBER, _EQUAL, number, then=_fail(error)) for number in numbers]


def _own_alone() -> list[bytes]:
    """Denies the settings of other processes than the caller."""
    denied = _fail(errno.EPERM)
    return [
        *(_if_argument(call, number, _EQUAL, 0, otherwise=denied) for call, number in _OWN_ALONE.values()),
        *(_if_argument(call, 0, _EQUAL, value, then=denied) for call, value in _NOT_ALL_OF_A_USER.items()),
    ]


def _number(call: _Call) -> int | None:
    return call.x86_64 if MACHINE == "x86_64" else call.generic


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _fail(error: int) -> bytes:
    return _instruction(_RETURN, _ERRNO | error)


def _if(offset: int, test: int, value: int, then: bytes = b"", otherwise: bytes = b"") -> bytes:
    """Compares 32 bits and executes a block that returns: `then` where it is given, else `otherwise`."""
    size, other = len(then) // 8, len(otherwise) // 8
    head = _instruction(_LOAD, offset) + _instruction(test, value, 0 if size else other, size if size else 0)
    return head + then + otherwise


def _allow_among(call: _Call, index: int, values: tuple[int, ...]) -> bytes:
    """Denies a call unless its argument has one of these values."""
    number = _number(call)
    assert number is not None
    tests = [_instruction(_EQUAL, value, if_true=len(values) - at) for at, value in enumerate(values)]
    block = _instruction(_LOAD, _low(index)) + b"".join(tests) + _fail(errno.EPERM)
    return _instruction(_LOAD, _NUMBER) + _instruction(_EQUAL, number, 0, len(block) // 8) + block


def _low(index: int) -> int:
    """The offset of the lower 32 bits of an argument."""
    return 16 + 8 * index + (4 if sys.byteorder == "big" else 0)


def _if_argument(
    call: _Call, index: int, test: int, value: int, then: bytes = b"", otherwise: bytes = b""
) -> bytes:
    """Compares the lower 32 bits of a call's argument, as the kernel reads it for these calls."""
    block = _if(_low(index), test, value, then, otherwise)
    number = _number(call)
    assert number is not None
    return _instruction(_LOAD, _NUMBER) + _instruction(_EQUAL, number, 0, len(block) // 8) + block
