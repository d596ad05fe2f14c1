"""The compiled start of a bot does what the start in Python does, and is used only where it is whole."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from referee.core.settings import CONFINED, LEVELS
from referee.processes.launcher import STARTS, Launcher, compiled_starter
from referee.processes.limits import Limits
from referee.processes.process import BotProcess
from referee.processes.program import Program
from tests.processes.programs import PYTHON, run
from tests.programs import needs, needs_level

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere bots are started in Python"),
    needs("cc"),
]

FACTS = """
import ctypes, json, os, resource, signal, stat
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
kept = "Umask Uid Gid Groups SigBlk SigIgn SigCgt CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp"
death = ctypes.c_int()
ctypes.CDLL(None).prctl(2, ctypes.byref(death))
try: score = open("/proc/self/oom_score_adj").read()
except OSError: score = "closed"
def attempt(call, *arguments):
    try: call(*arguments)
    except OSError as error: return error.errno
print(json.dumps({
    **{name: status[name] for name in kept.split()},
    "killed with its parent": death.value,
    "score": score,
    "limits": [resource.getrlimit(number) for number in range(16)],
    "session": os.getsid(0) == os.getpgid(0) == os.getpid(),
    "folder": os.getcwd(),
    "descriptors": sorted(os.listdir("/proc/self/fd")),
    "owners": [os.fstat(number).st_uid for number in range(3)],
    "scratch": [os.stat(os.environ["TMPDIR"]).st_uid, oct(os.stat(os.environ["TMPDIR"]).st_mode)],
    "variables": sorted(os.environ),
    "files": [attempt(os.listdir, folder) for folder in ("/proc/self", "/var", "/root", "/proc/1")],
    "written": attempt(open, "/tmp/referee-starter", "w"),
    "signal": attempt(os.kill, os.getppid(), 0),
    "trace": ctypes.CDLL(None, use_errno=True).ptrace(0, 0, 0, 0),
    "x32": [ctypes.CDLL(None, use_errno=True).syscall(0x40000000 + 39), ctypes.get_errno()],
}))
"""


@pytest.fixture(autouse=True)
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that it is compiled into."""
    monkeypatch.delenv(STARTS, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    anew()
    yield tmp_path / "cache" / "game-referee" / "starter"
    monkeypatch.undo()
    anew()


def anew() -> None:
    """Has the next bot be started by another launcher."""
    Launcher.close()


def in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STARTS, "python")
    anew()


CASES = [
    *(pytest.param(level, "nobody", id=f"{level} as nobody") for level in (*reversed(CONFINED), "none")),
    *(pytest.param(level, "", id=level) for level in LEVELS),
]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("level", "user"), CASES)
def test_a_compiled_start_leaves_a_bot_what_one_in_python_does(
    level: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_level(level, user)
    limits = Limits(open_files=77, file_size=1 << 20, cpu=50)
    command = (PYTHON if user else sys.executable, "-I", "-S", "-c", FACTS)
    bot = Program("x", command, Path("/usr"), isolation=level, user=user, limits=limits)
    said, complaints, _ = run(bot)
    assert complaints == ""
    compiled = json.loads(said)
    in_python(monkeypatch)
    assert compiled == json.loads(run(bot)[0])
    assert compiled["score"] in ("1000\n", "closed")
    assert compiled["session"] or level == "bwrap", "which has a process of its own between"
    assert compiled["killed with its parent"] == 9
    assert compiled["x32"] == [-1, errno.ENOSYS if level == "none" else errno.EPERM]


def errors(bots: list[Program]) -> list[tuple[int | None, str | None]]:
    found = []
    for bot in bots:
        with pytest.raises(OSError) as caught:
            BotProcess(bot)
        found.append((caught.value.errno, caught.value.filename))
    return found


@pytest.mark.slow
def test_what_cannot_be_started_is_told_in_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"no-program": "text", "no-interpreter": "#!/no/such\n", "closed": "#!/bin/sh\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o644 if name == "closed" else 0o755)
    programs = ("./nothing", "nothing-in-path", *(f"./{name}" for name in texts))
    bots = [Program("x", (program,), tmp_path, isolation="none") for program in programs]
    bots.append(replace(bots[0], cwd=tmp_path / "nowhere"))
    path = (("PATH", f"/nowhere:{tmp_path}:/bin"),)
    bots.append(Program("x", ("closed",), tmp_path, env=path, isolation="none"))
    compiled = errors(bots)
    in_python(monkeypatch)
    assert compiled == errors(bots)


def path_of_library() -> Path:
    library = compiled_starter()
    assert library
    with library:
        return Path(f"/proc/self/fd/{library.fileno()}").readlink()


@pytest.mark.slow
def test_a_library_is_compiled_once_and_again_where_it_is_damaged(library: Path) -> None:
    path = path_of_library()
    assert path.parent == library and library.stat().st_mode & 0o777 == 0o700
    content, changed_ns = path.read_bytes(), path.stat().st_mtime_ns
    assert path_of_library() == path and path.stat().st_mtime_ns == changed_ns
    path.write_bytes(content[:-1] + b"x")
    again = path_of_library()
    assert again.read_bytes() == content and list(library.iterdir()) == [again]


WITNESS = """
#include <fcntl.h>
__attribute__((constructor)) static void loaded(void) { creat("%s", 0600); }
long start(void *start) { return -1; }
"""
"""A library that leaves a file when it is loaded, and leaves the start of bots to Python."""


def test_a_library_that_was_put_in_the_place_of_the_checked_one_is_not_loaded(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As whoever owns a folder above it can do between the check and the start of a bot."""
    checked, other = (tmp_path / name for name in ("checked.c", "other.c"))
    for source in (checked, other):
        source.write_text(WITNESS % source.with_suffix(".loaded"))
    monkeypatch.setattr("referee.processes.launcher.SOURCE", checked)
    Launcher.get()
    (path,) = library.iterdir()
    library.parent.rename(tmp_path / "away")
    library.mkdir(parents=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, other], check=True)
    assert run(Program("x", ("echo", "hello"), Path("/"), isolation="none"))[0] == "hello\n"
    assert [path.stem for path in tmp_path.glob("*.loaded")] == ["checked"]


@pytest.mark.parametrize(
    "how", ["open to others", "no compiler", "broken compiler", "no home", "Python alone"]
)
def test_without_a_library_bots_are_started_in_python(
    how: str, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "open to others":
        library.mkdir(parents=True)
        library.chmod(0o755)
    elif how == "no compiler":
        monkeypatch.setattr(shutil, "which", lambda _: None)
    elif how == "broken compiler":
        monkeypatch.setattr(shutil, "which", lambda _: "false")
    elif how == "no home":
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    else:
        monkeypatch.setenv(STARTS, "python")
    assert compiled_starter() is None
    assert run(Program("x", ("echo", "hello"), Path("/"), isolation="none"))[0] == "hello\n"


def test_a_library_that_cannot_be_loaded_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = partial(open, os.devnull, "rb")
    monkeypatch.setattr("referee.processes.launcher.compiled_starter", nothing)
    assert run(Program("x", ("echo", "hello"), Path("/"), isolation="none"))[0] == "hello\n"
