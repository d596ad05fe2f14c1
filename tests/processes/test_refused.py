"""What bots are refused, such as files of their user that they may not change; it is counted."""

from __future__ import annotations

import errno
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.core.units import TimeControl
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import seccomp
from referee.processes.process import BotProcess
from referee.processes.program import Program
from referee.processes.refusals import MAX_COUNTED, MAX_KINDS
from referee.records.record import GameRecord
from referee.tournament.workers.encounter import play_encounter
from referee.viewing.words import fault_report
from tests.processes.encounters import LONG, LONG_US
from tests.processes.programs import PYTHON, run
from tests.programs import needs_level

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no isolation")

ATTEMPTS = """
import ctypes, fcntl, os, socket
other, scratch = sys.argv[1], os.environ["TMPDIR"]
own = scratch + "/own"
open(own, "w").close()
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

def signals():
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())

for name, attempt in {
    "times": lambda: os.utime(other, (0, 0)),
    "times of a link": lambda: os.utime(other, (0, 0), follow_symlinks=False),
    "mode": lambda: os.chmod(other, 0),
    "owner": lambda: os.chown(other, os.getuid(), os.getgid()),
    "attribute": lambda: os.setxattr(other, "user.x", b"x"),
    "signals": signals,
    "news of folders": lambda: fcntl.fcntl(os.open(scratch, os.O_RDONLY), fcntl.F_NOTIFY, 1),
    "personality": lambda: call("personality", 0x40000),
    "hiding": lambda: call("prctl", 4, 0, 0, 0, 0),
    "secret memory": lambda: call("syscall", 447, 0),
    "segments of memory": lambda: call("shmat", 0, None, 0),
    "own times": lambda: os.utime(own),
    "own lock": lambda: fcntl.flock(os.open(own, os.O_RDONLY), fcntl.LOCK_EX),
    "datagrams": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "pair": lambda: socket.socketpair(),
    "connections": lambda: open("/proc/net/tcp").close(),
    "connections of a thread": lambda: open(f"/proc/self/task/{os.getpid()}/net/tcp").close(),
    "own memory": lambda: open("/proc/self/status").close(),
}.items():
    try:
        attempt()
        print(name)
    except OSError:
        pass
"""
"""Prints what it may do."""

ALWAYS = {"own lock", "pair", "own memory"}
ALLOWED = {
    "landlock": ALWAYS,
    "bwrap": {*ALWAYS, "own times", "datagrams", "connections", "connections of a thread"},
}
"""At `bwrap`, files outside are not there, and the connections are those of its own network."""


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("level", ALLOWED)
def test_a_bot_changes_nothing_outside_and_sees_no_connections(level: str, tmp_path: Path) -> None:
    needs_level(level)
    other = tmp_path / "other"
    other.touch()
    before = other.stat()
    # Not a word of the command, since a bot may read the files that it names.
    program = ATTEMPTS.replace("sys.argv[1]", repr(str(other)))
    said, complaints, _ = run(Program("x", (PYTHON, "-I", "-S", "-c", program), Path("/"), isolation=level))
    assert (set(said.splitlines()), complaints) == (ALLOWED[level], "")
    assert other.stat() == before


REFUSED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def times(count, number):
    errors = set()
    for _ in range(count):
        libc.syscall(number, 0, 0)
        errors.add(ctypes.get_errno())
    return errors
"""
"""`times` makes a system call several times, and returns the errors."""
FIRST, SECOND = 425, 438
"""`io_uring_setup`, which is refused with ENOSYS, and `pidfd_getfd`, with EPERM."""


def refused(level: str, program: str) -> tuple[str, BotProcess]:
    """What a program writes to stdout, and its process."""
    needs_level(level)
    command = (PYTHON, "-I", "-S", "-c", REFUSED + program)
    said, complaints, process = run(Program("x", command, Path("/"), isolation=level))
    assert complaints == ""
    return said, process


def counted(process: BotProcess) -> tuple[tuple[str, int], ...]:
    assert process.exit_report
    return process.exit_report.refused


@pytest.mark.parametrize("level", ALLOWED)
def test_refused_calls_are_counted_by_name_and_fail_with_the_error_of_the_filter(level: str) -> None:
    pairs = ((SECOND, 3), (FIRST, 2), (9999, 1), (SECOND, 1))
    said, process = refused(level, f"print(*[times(count, number) for number, count in {pairs}])")
    errors = (errno.EPERM, errno.ENOSYS, errno.ENOSYS, errno.EPERM)
    assert said == " ".join(f"{{{error}}}" for error in errors) + "\n"
    assert counted(process) == (("io_uring_setup", 2), ("unknown", 1), ("pidfd_getfd", 4))


GATE = """
import ctypes, errno, mmap, os
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("b814000000 cd80 c3"))  # mov eax, 20; int 0x80; ret
getpid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
libc = ctypes.CDLL(None, use_errno=True)
x32 = libc.syscall(0x40000000 + 39)
print(getpid if getpid < 0 else getpid == os.getpid(), errno.errorcode.get(ctypes.get_errno()))
"""
"""Makes the call `getpid` by the number of 32-bit programs, and by that of x32. Prints what came of them."""


@pytest.mark.skipif(seccomp.MACHINE != "x86_64", reason="the calls are those of an x86-64 kernel")
@pytest.mark.parametrize("level", ["basic", *ALLOWED])
def test_a_bot_cannot_make_the_calls_of_32_bit_programs(level: str) -> None:
    """At no level with a filter, which knows the numbers of its own architecture alone."""
    needs_level(level)
    bot = Program("x", (PYTHON, "-I", "-S", "-c", GATE), Path("/"), isolation=level)
    if not run(replace(bot, isolation="none"))[0].startswith("True"):
        pytest.skip("this kernel does not run 32-bit programs")
    said, complaints, process = run(bot)
    assert (said, complaints) == (f"{-errno.EPERM} EPERM\n", "")
    assert counted(process) == (("32-bit call", 2),)


@pytest.mark.parametrize("level", ALLOWED)
def test_a_program_with_threads_that_does_nothing_forbidden_is_refused_nothing(level: str) -> None:
    _, process = refused(
        level, "import threading; thread = threading.Thread(target=print); thread.start(); thread.join()"
    )
    assert counted(process) == ()


@pytest.mark.parametrize("level", ALLOWED)
def test_only_so_many_refused_calls_are_counted_and_the_others_are_refused_still(level: str) -> None:
    script = f"times({MAX_COUNTED}, {SECOND}); print(times(9, {FIRST}), times(9, {SECOND}))"
    said, process = refused(level, script)
    assert said == f"{{{errno.ENOSYS}}} {{{errno.ENOSYS}}}\n"
    assert counted(process) == (("pidfd_getfd", MAX_COUNTED),)


@pytest.mark.parametrize("level", ALLOWED)
def test_few_kinds_of_refused_calls_are_told_apart(level: str) -> None:
    _, process = refused(level, "for number in range(5000, 5100): times(1, number)")
    assert counted(process) == (("unknown", 100),)
    assert len(process._denied) == MAX_KINDS + 1


@pytest.mark.parametrize("level", ALLOWED)
def test_many_threads_that_make_refused_calls_end_with_their_bot(level: str) -> None:
    """It is killed while some of them wait for an answer."""
    said, process = refused(
        level,
        f"""
import threading, time
for _ in range(16):
    threading.Thread(target=times, args=({MAX_COUNTED}, {SECOND}), daemon=True).start()
os.kill(os.getpid(), 9)
""",
    )
    assert (said, process.exit_code) == ("", -9)
    assert process.exit_report and not process.lost_warden


@pytest.mark.parametrize("level", ALLOWED)
def test_each_record_counts_the_refused_calls_so_far(level: str) -> None:
    """Also those of a process that plays on."""
    program = f"""{REFUSED}
for line in sys.stdin:
    match line.split():
        case ["hello", *_]:
            print("hello 1", flush=True)
        case ["prepare", *_]:
            print("ready", flush=True)
        case ["ask", number, *_]:
            times(2, {FIRST})
            print("resign", number, flush=True)
"""
    first, second = played(program, level, games=2)
    assert first.measured["seats"][0]["refused_calls"] == {"io_uring_setup": 2}
    assert second.measured["seats"][0]["refused_calls"] == {"io_uring_setup": 4}


def played(program: str, level: str, games: int) -> list[GameRecord]:
    """Games of a program that is alone in each of them."""
    needs_level(level)
    game = GAMES["thetree"]
    bot = Program("x", (PYTHON, "-I", "-S", "-c", program), Path("/"), isolation=level)
    control = TimeControl.parse(LONG)
    terms = Terms("x", game, game.settle({"players": "1"}), ("x",), (control,), b"")
    return list(play_encounter([bot], [terms] * games, start_us=LONG_US))


@pytest.mark.parametrize("level", ALLOWED)
def test_who_exits_after_a_refused_call_is_told_of_it_and_the_record_counts_it(level: str) -> None:
    (record,) = played(REFUSED + f"input(); times(2, {FIRST}); sys.exit(3)", level, games=1)
    assert record.measured["seats"][0]["refused_calls"] == {"io_uring_setup": 2}
    hint = f"the last system call that isolation `{level}` refused was `io_uring_setup`"
    assert hint in "\n".join(fault_report(record))
