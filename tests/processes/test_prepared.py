"""The files of bots in namespaces of their own are prepared once, and no start leaves a trace in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.processes import bubblewrap, prepared
from referee.processes.messages import Request
from referee.processes.prepared import MOST, Mounts, PreparedMounts
from referee.processes.program import Program
from tests.processes.programs import PYTHON, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no isolation")

VIEW = """
import os
kept = []
for line in open("/proc/self/mountinfo"):
    fields, _, system = line.partition(" - ")
    path, options = fields.split()[4:6]
    names = os.listdir(path) if os.path.isdir(path) and not path.startswith("/proc") else []
    kind = system.split()[0]
    print(path, options, kind, *sorted(names), sep="|")
    if kind == "tmpfs" and path not in ("/tmp", "/dev/shm"):
        for folder, names, _ in os.walk(path):
            kept.append(folder)
            names[:] = [name for name in names if os.lstat(f"{folder}/{name}").st_dev == os.stat(path).st_dev]
"""
"""Prints all mounts and the names in them, and notes the folders in prepared file systems."""

TRACES = """
import ctypes
libc = ctypes.CDLL(None)
print("prepared", [(path, os.stat(path)) for path in sorted(set(kept))])
for path in [*kept, "/", "/dev", "/usr", "/tmp", "/dev/shm", "/dev/pts"]:
    for remount in (0x1020, 0x20, 0x1000):
        libc.mount(path.encode(), path.encode(), None, remount, None)
    libc.umount2(path.encode(), 2)
    for leave in (
        lambda: open(path + "/trace", "w").close(),
        lambda: os.mkdir(path + "/trace-folder"),
        lambda: os.symlink("trace", path + "/trace-link"),
        lambda: os.chmod(path, 0o777),
        lambda: os.utime(path, (1, 1)),
        lambda: os.setxattr(path, "user.trace", b"1"),
        lambda: [os.rename(f"{path}/{name}", f"{path}/trace-{name}") for name in os.listdir(path)],
        lambda: [os.rmdir(f"{path}/{name}") for name in os.listdir(path)],
    ):
        try:
            leave()
        except OSError:
            pass
"""
"""Prints what can be seen of these folders, and then tries to leave something there."""


def seen(name: str, program: str, user: str, folder: Path) -> list[str]:
    """What a program says of its mounts, which it has in the order in which they were made."""
    bot = Program(name, (PYTHON, "-I", "-S", "-c", program), folder, isolation="bwrap", user=user)
    said, complaints, _ = run(bot)
    assert not complaints
    return sorted(said.splitlines())


@pytest.mark.slow
def test_a_bot_finds_no_trace_of_the_one_before_it(user: str, open_folder: Path) -> None:
    """Both have the same warden, which has prepared what they share."""
    first, second = (seen("x", VIEW + TRACES, user, open_folder) for _ in range(2))
    (folders,) = (line for line in first if line.startswith("prepared"))
    assert "'/etc'" in folders
    assert first == second


def test_a_bot_has_its_folder_where_an_earlier_one_lay_elsewhere(
    user: str, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of the second lies beside programs that both can read. The first shares the folder around
    them, which the second must not: it would cover its own.
    """
    programs = open_folder / "around" / "bin"
    apart, beside = open_folder / "apart", open_folder / "around" / "bot"
    for folder in (programs, apart, beside):
        folder.mkdir(parents=True)
    shutil.copy("/bin/sh", programs / "tool")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    for folder in (apart, beside):
        bot = Program("x", ("/bin/sh", "-c", "tool -c pwd"), folder, isolation="bwrap", user=user)
        assert run(bot)[:2] == (f"{folder}\n", "")


@pytest.mark.slow
def test_a_bot_sees_the_same_where_nothing_can_be_prepared(
    user: str, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = seen("x", VIEW, user, open_folder)
    monkeypatch.setattr(bubblewrap, "_TELLING", ("/bin/false",))
    alone = seen("y", VIEW, user, open_folder)
    assert set(alone) == set(shared)  # what lies in `/tmp` is mounted there twice
    covers = [line for line in shared if line.startswith("/proc/")]
    assert not covers, "each takes time to mount, and `/proc` is read-only anyway"


def test_what_the_machine_mounts_later_is_seen_and_cannot_be_written_to(user: str, open_folder: Path) -> None:
    (later := open_folder / "later").mkdir()
    command = ("/bin/sh", "-c", "ls later; touch later/new")
    bot = Program("x", command, open_folder, isolation="bwrap", user=user)
    before = run(bot)[0]
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "mode=777", "none", later], capture_output=True
    ).returncode:
        pytest.skip("needs the right to mount")
    try:
        (later / "file").touch()
        seen, complaints, _ = run(bot)
    finally:
        subprocess.run(["umount", later], check=True)
    assert (before, seen) == ("", "file\n") and "Read-only" in complaints


# --- What a warden keeps, without processes -------------------------------------------------------------


def request(source: Path, preparing: str = "prepare", user: tuple[int, int] | None = None) -> Request:
    shared = bubblewrap.Root(1, (str(source),), ("alone",), (preparing,), ("shared",))
    return Request("", (), "/", {}, False, {}, None, None, None, None, (user,), b"filter", b"", tuple(shared))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Counts what is prepared. A command that is named `fail` fails."""
    commands: list[str] = []
    opened: set[int] = set()

    def prepare(command: tuple[str, ...], _: object) -> tuple[int, ...]:
        commands.append(command[0])
        if command[0] == "fail":
            return ()
        opened.add(namespace := os.open("/dev/null", os.O_RDONLY))
        return (namespace,)

    monkeypatch.setattr(prepared, "_prepare", prepare)
    yield commands
    for namespace in opened:
        os.close(namespace)


def test_mounts_are_prepared_once_until_a_file_is_replaced(made: list[str], tmp_path: Path) -> None:
    source, known = tmp_path / "file", PreparedMounts()
    source.touch()
    first = known.of(request(source))
    assert first.words == ("shared",) and len(first.namespaces) == 1
    assert known.of(request(source)) == first and made == ["prepare"]
    (tmp_path / "new").touch()
    (tmp_path / "new").rename(source)
    assert known.of(request(source)).words == ("shared",)
    assert made == ["prepare"] * 2
    assert known.of(request(source, user=(1, 1))).words == ("shared",)
    assert made == ["prepare"] * 3, "another user sees other files"


def test_each_bot_takes_what_is_prepared_as_its_own_request_says(made: list[str], tmp_path: Path) -> None:
    """How large its file systems are depends on its limits."""
    known, one = PreparedMounts(), request(tmp_path)
    assert one.root
    other = one._replace(root=(*one.root[:-1], ("other",)))
    assert [known.of(each).words for each in (one, other, one)] == [("shared",), ("other",), ("shared",)]
    assert made == ["prepare"]


def test_what_cannot_be_prepared_is_mounted_for_each_bot(made: list[str], tmp_path: Path) -> None:
    known = PreparedMounts()
    assert [known.of(request(tmp_path, "fail")) for _ in range(2)] == [Mounts(("alone",), ())] * 2
    assert made == ["fail"], "it is not tried again"
    several = [known.of(request(tmp_path, str(number))).words for number in range(MOST)]
    assert several == [("shared",)] * (MOST - 1) + [("alone",)]
    assert known.of(request(tmp_path)._replace(root=None)) == Mounts((), ())
    bot = request(tmp_path)._replace(argv=("bwrap", "bot"))
    assert known.of(bot).command(bot) == ("bwrap", "alone", "bot")
