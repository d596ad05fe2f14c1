"""The filter of system calls: what it says of each call, compared with the kernel's tables."""

from __future__ import annotations

import errno
import re
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pytest

from referee.processes import bpf, seccomp, system_calls
from referee.processes.refusals import OTHERS
from referee.processes.seccomp import Scope
from referee.processes.system_calls import (
    ALLOWED,
    ATTRIBUTES,
    CONDITIONAL,
    FETCHING,
    FORBIDDEN,
    GROUPS,
    MISSING,
    OF_NAMESPACES,
)
from tests.programs import path_of

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
ALLOW, ASK, ERRNO = 0x7FFF0000, 0x7FC00000, 0x00050000

HEADERS = {
    "x86_64": ("asm/unistd_64.h", ""),
    "generic": (
        "asm-generic/unistd.h",
        "-D__ARCH_WANT_RENAMEAT -D__ARCH_WANT_NEW_STAT -D__ARCH_WANT_SET_GET_RLIMIT "
        "-D__ARCH_WANT_SYS_CLONE3 -D__ARCH_WANT_MEMFD_SECRET",
    ),
}
NO_CALLS = {"arch_specific_syscall", "syscalls"}


def result(program: bytes, number: int, arguments: tuple[int, ...] = (), machine: str = "x86_64") -> int:
    """What the kernel would do: the value that the program returns for a call."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, ARCHITECTURES[machine], 0, *padded)
    code = list(struct.iter_unpack("=HBBI", program))
    at = loaded = 0
    while True:
        operation, if_true, if_false, value = code[at]
        at += 1
        match operation:
            case 0x20:
                (loaded,) = struct.unpack_from("=I", data, value)
            case 0x54:
                loaded &= value
            case 0x05:
                at += value
            case 0x15 | 0x35 | 0x45:
                holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[operation]
                at += if_true if holds else if_false
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"no such instruction: {operation:#x}")


def number_of(name: str, machine: str = "x86_64") -> int:
    call = next(group[name] for group in GROUPS if name in group)
    number = call.x86_64 if machine == "x86_64" else call.generic
    assert number is not None
    return number


def outcome(name: str, *arguments: int, scope: Scope = Scope.SHARED, machine: str = "x86_64") -> int | None:
    """The error with which a call fails; None where it is allowed."""
    found = result(seccomp.program(scope, machine), number_of(name, machine), arguments, machine)
    return None if found == ALLOW else found & 0xFFFF


def numbered(group: Mapping[str, system_calls.SystemCall], machine: str) -> Iterator[tuple[str, int]]:
    for name, call in group.items():
        number = call.x86_64 if machine == "x86_64" else call.generic
        if number is not None:
            yield name, number


def kernel_table(table: str) -> dict[str, int]:
    """The numbers in the kernel's headers, by name."""
    header, options = HEADERS[table]
    command = [path_of("cc"), "-E", "-dM", *options.split(), "-x", "c", "-"]
    done = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no header {header}")
    defined: dict[str, str] = dict(re.findall(r"^#define (__NR\w*) (\w+)$", done.stdout, re.MULTILINE))
    found = {}
    for name, value in defined.items():
        number = defined.get(value, value)
        if name.startswith("__NR_") and number.isdigit() and name[5:] not in NO_CALLS:
            found[name[5:]] = int(number)
    return found


@pytest.mark.parametrize("table", ["x86_64", "generic"])
def test_each_call_of_the_kernel_s_headers_is_in_a_group(table: str) -> None:
    known = {name: getattr(call, table) for group in GROUPS for name, call in group.items()}
    theirs = kernel_table(table)
    assert len(theirs) > 300
    assert {name: known.get(name) for name in theirs} == theirs


def test_no_call_is_in_two_groups_and_no_number_is_used_twice() -> None:
    names = [name for group in GROUPS for name in group]
    assert len(names) == len(set(names))
    for machine in ARCHITECTURES:
        numbers = [number for group in GROUPS for _, number in numbered(group, machine)]
        assert len(numbers) == len(set(numbers))


PROBE = """
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in map(int, sys.argv[1:]):
    ctypes.set_errno(0)
    bad = ctypes.c_long(-1)
    if libc.syscall(ctypes.c_long(number), *[bad] * 6) != -1 or ctypes.get_errno() != errno.ENOSYS:
        print(number)
"""


@pytest.mark.skipif(not seccomp.AVAILABLE, reason="there is no filter for this architecture")
def test_the_running_kernel_has_no_call_that_is_in_no_group() -> None:
    known = {number for group in GROUPS for _, number in numbered(group, seccomp.MACHINE)}
    unknown = [str(number) for number in range(600) if number not in known]
    done = subprocess.run([sys.executable, "-c", PROBE, *unknown], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("scope", Scope)
def test_the_filter_allows_what_the_groups_say_and_nothing_else(machine: str, scope: Scope) -> None:
    program = seccomp.program(scope, machine)
    assert len(program) // 8 <= 4096
    expected = dict.fromkeys(range(1000), ERRNO | errno.ENOSYS)
    for group in (*FORBIDDEN, *OF_NAMESPACES):
        expected.update((number, ERRNO | errno.EPERM) for _, number in numbered(group, machine))
    expected.update((number, ERRNO | errno.ENOTSUP) for _, number in numbered(ATTRIBUTES, machine))
    more = {Scope.OWN: OF_NAMESPACES, Scope.SHARED: (), Scope.SHARED_NETWORK: FETCHING}
    for group in (ALLOWED, *more[scope]):
        expected.update((number, ALLOW) for _, number in numbered(group, machine))
    conditional = {number for _, number in numbered(CONDITIONAL, machine)}
    for number, what in expected.items():
        if number not in conditional:
            assert (number, result(program, number, machine=machine)) == (number, what)


I386 = 0x40000003
X32 = 0x40000000

OF_OTHERS = [(seccomp.mild_program, seccomp.mild_asking)]
OF_OTHERS += [(partial(seccomp.program, scope), partial(seccomp.asking, scope)) for scope in Scope]


@pytest.mark.parametrize(("refusing", "asking"), OF_OTHERS)
def test_calls_of_other_architectures_are_refused(
    refusing: Callable[[str], bytes], asking: Callable[[str], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of x32 are calls of x86-64 by their architecture, and have numbers of their own."""
    monkeypatch.setitem(ARCHITECTURES, "i386", I386)
    names = ("read", "prlimit64", "setpriority", "sched_setaffinity", "shmget", "kill")
    calls = [(X32 + number_of(name), "x86_64") for name in names]
    calls += [(number, other) for number in (4, 340, 395) for other in ("i386", "aarch64")]
    for number, machine in (*calls, (X32, "x86_64"), (0xFFFFFFFF, "x86_64")):
        assert result(refusing("x86_64"), number, machine=machine) == ERRNO | errno.EPERM
        assert result(asking("x86_64"), number, machine=machine) == ASK
        call = struct.pack("=IIQ6Q", number, ARCHITECTURES[machine], 0, *[0] * 6)
        assert bpf.error_of(refusing("x86_64"), call) == errno.EPERM
    allowed = X32 - 1 if refusing is seccomp.mild_program else number_of("read")
    assert result(refusing("x86_64"), allowed) == result(asking("x86_64"), allowed) == ALLOW


CALLS = [
    *((number, arguments) for number in range(600) for arguments in ((), (1, 0x5412), (3, 3), (0x10000011,))),
    (X32, ()),
]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("scope", Scope)
def test_the_filter_that_asks_allows_nothing_that_the_other_refuses(machine: str, scope: Scope) -> None:
    refusing = seccomp.program(scope, machine)
    asking = seccomp.asking(scope, machine)
    for number, arguments in CALLS:
        refused, asked = (result(program, number, arguments, machine) for program in (refusing, asking))
        if number == number_of("clone3", machine):
            assert asked == refused
        else:
            assert (number, asked) == (number, ALLOW if refused == ALLOW else ASK)
        if refused != ALLOW:
            padded = (*arguments, *[0] * 6)[:6]
            call = struct.pack("=IIQ6Q", number, ARCHITECTURES[machine], 0, *padded)
            assert (number, bpf.error_of(refusing, call)) == (number, refused & 0xFFFF)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_two_filters_one_around_the_other_allow_nothing_that_the_one_refuses(machine: str) -> None:
    refusing = seccomp.program(Scope.OWN, machine)
    around, inside = seccomp.asking_around(machine), seccomp.deferring(machine)
    asked = set()
    for number, arguments in CALLS:
        refused, outer, inner = (
            result(program, number, arguments, machine) for program in (refusing, around, inside)
        )
        assert (inner == ALLOW) == (refused == ALLOW), "it needs no other filter to refuse"
        first = min(outer, inner)
        if first == ASK:
            asked.add(number)
        assert (number, first) in ((number, refused), (number, ASK if refused != ALLOW else ALLOW))
        assert inner in (ALLOW, refused) or first == ASK, "a tracer is never asked"
    assert {number_of(name, machine) for name in ("ptrace", "io_uring_setup", "ioctl", "bpf")} < asked
    assert all(
        result(around, number_of(name, machine), machine=machine) == ALLOW
        for name in ("mount", "unshare", "clone")
    )
    assert result(around, number_of("read"), machine="aarch64" if machine == "x86_64" else "x86_64") == ASK


def test_names_of_calls() -> None:
    assert seccomp.name_of(442, ARCHITECTURES["x86_64"], "x86_64") == "mount_setattr"
    assert seccomp.name_of(97, ARCHITECTURES["riscv64"], "riscv64") == "unshare"
    assert seccomp.name_of(9999, ARCHITECTURES["x86_64"], "x86_64") == "unknown"
    assert seccomp.name_of(*OTHERS, "x86_64") == "unknown"
    assert seccomp.name_of(340, I386, "x86_64") == "32-bit call"
    assert seccomp.name_of(X32 + 302, ARCHITECTURES["x86_64"], "x86_64") == "32-bit call"


CLONE_OF_A_THREAD, CLONE_OF_A_USER_NAMESPACE = 0x3D0F00, 0x10000011
UNIX, INTERNET, OF_MACHINES, STREAM, DATAGRAM, CLOSE_ON_EXECUTION = 1, 2, 40, 1, 2, 0x80000

WITH_ARGUMENTS = [
    # The call, its arguments, and the error where the bot shares namespaces, and where it does not.
    ("ioctl", (0, 0x5401), None, None),  # TCGETS
    ("ioctl", (0, 0x541B), None, None),  # FIONREAD
    ("ioctl", (0, 0x80045430), None, None),  # TIOCGPTN
    ("ioctl", (0, 0x5412), errno.EPERM, errno.EPERM),  # TIOCSTI
    ("ioctl", (0, 0x40086602), errno.ENOTTY, errno.ENOTTY),  # FS_IOC_SETFLAGS
    ("ioctl", (0, 0x8901), errno.ENOTTY, None),  # FIOSETOWN
    ("fcntl", (0, 6), None, None),  # F_SETLK
    ("fcntl", (0, 1030), None, None),  # F_DUPFD_CLOEXEC
    ("fcntl", (0, 8), errno.EINVAL, errno.EINVAL),  # F_SETOWN
    ("fcntl", (0, 1024), errno.EINVAL, errno.EINVAL),  # F_SETLEASE
    ("fcntl", (0, 1026), errno.EINVAL, errno.EINVAL),  # F_NOTIFY
    ("fcntl", (0, 1036), errno.EINVAL, errno.EINVAL),  # F_SET_RW_HINT
    ("prctl", (15,), None, None),  # PR_SET_NAME
    ("prctl", (4,), errno.EINVAL, errno.EINVAL),  # PR_SET_DUMPABLE
    ("prctl", (62,), errno.EINVAL, errno.EINVAL),  # PR_SCHED_CORE
    ("personality", (0xFFFFFFFF,), None, None),
    ("personality", (0x40000,), errno.EPERM, errno.EPERM),
    ("clone", (CLONE_OF_A_THREAD,), None, None),
    ("clone", (CLONE_OF_A_USER_NAMESPACE,), errno.EPERM, errno.EPERM),
    ("socket", (UNIX, STREAM), errno.EPERM, None),
    ("socket", (INTERNET, STREAM), errno.EPERM, None),
    ("socket", (OF_MACHINES, STREAM), errno.EPERM, errno.EPERM),
    ("socketpair", (UNIX, STREAM | CLOSE_ON_EXECUTION), None, None),
    ("socketpair", (UNIX, DATAGRAM), errno.EPERM, None),
    ("socketpair", (INTERNET, STREAM), errno.EPERM, errno.EPERM),
    ("sched_setaffinity", (0,), None, None),
    ("sched_setaffinity", (7,), errno.EPERM, errno.EPERM),
    ("prlimit64", (7,), errno.EPERM, errno.EPERM),
    ("setpriority", (0, 0), None, None),
    ("setpriority", (0, 7), errno.EPERM, errno.EPERM),
    ("setpriority", (2, 0), errno.EPERM, errno.EPERM),
    ("ioprio_set", (1, 0), None, None),
    ("ioprio_set", (3, 0), errno.EPERM, errno.EPERM),
]


@pytest.mark.parametrize(("name", "arguments", "shared", "own"), WITH_ARGUMENTS)
def test_arguments_decide(name: str, arguments: tuple[int, ...], shared: int | None, own: int | None) -> None:
    connects = (name, *arguments[:1]) == ("socket", INTERNET)
    expected = {Scope.SHARED: shared, Scope.OWN: own, Scope.SHARED_NETWORK: None if connects else shared}
    for machine in ARCHITECTURES:
        found = {scope: outcome(name, *arguments, scope=scope, machine=machine) for scope in Scope}
        assert found == expected, machine


def test_each_conditional_call_is_tried_with_arguments() -> None:
    tried = {name for name, *_ in WITH_ARGUMENTS}
    assert set(CONDITIONAL) - tried == {"sched_setscheduler", "sched_setparam", "sched_setattr"}
    assert all(outcome(name, 7) == errno.EPERM for name in set(CONDITIONAL) - tried)


def test_the_mild_filter_denies_the_settings_of_others_alone() -> None:
    refusing, asking = seccomp.mild_program("x86_64"), seccomp.mild_asking("x86_64")
    calls = {name: number for group in GROUPS for name, number in numbered(group, "x86_64")}
    denied = {name for name, number in calls.items() if result(refusing, number, (7, 7)) != ALLOW}
    own = {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "prlimit64"}
    assert denied == {*own, "setpriority", "ioprio_set", "shmget"}
    assert denied == {name for name, number in calls.items() if result(asking, number, (7, 7)) == ASK}


def test_programs_have_another_way_for_what_is_said_to_be_missing() -> None:
    assert {outcome(name) for name in MISSING} == {errno.ENOSYS}
