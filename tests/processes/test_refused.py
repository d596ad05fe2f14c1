"""What confined bots are refused: files of their user that they may not change, and the machine's network."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from referee.processes import levels
from referee.processes.bot import Bot
from tests.processes.programs import PYTHON, run

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
    if why := levels.reason(level):
        pytest.skip(why)
    other = tmp_path / "other"
    other.touch()
    before = other.stat()
    # Not a word of the command, since a bot may read the files that it names.
    program = ATTEMPTS.replace("sys.argv[1]", repr(str(other)))
    said, complaints, _ = run(Bot("x", (PYTHON, "-I", "-S", "-c", program), Path("/"), isolation=level))
    assert (set(said.splitlines()), complaints) == (ALLOWED[level], "")
    assert other.stat() == before
