"""The command line, run in this process or in one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple
from unittest import mock

import pytest

from referee.cli import main
from tests.waiting import TOO_LONG_S

ROOT = Path(__file__).parent.parent

THIS_PYTHON = shlex.quote(sys.executable)
"""The interpreter that runs the tests, for a shell."""


def in_python(file: Path, *options: str) -> str:
    """A bot in Python as it is named on a command line, whatever its path."""
    return " ".join(("{python}", *options, shlex.quote(str(file))))


RANDOM = in_python(ROOT / "sample_bots" / "random_bot.py")
GREEDY = in_python(ROOT / "sample_bots" / "greedy_bot.py")
PLAIN = in_python(ROOT / "sample_bots" / "plain_bot.py", "-I", "-S")
BAD = in_python(ROOT / "tests" / "bots" / "bad_bot.py", "-I", "-S")


HERE = ("--workers", "0")
"""Games are played in the referee's own process: a worker takes longer to start than most of them to play."""


def sh(script: str) -> str:
    """A bot in a line or two of sh, with the words of `bad_bot.sh`, as it is named on a command line."""
    return shlex.join(sh_words(script))


def sh_words(script: str) -> tuple[str, ...]:
    """The words of its command."""
    return ("sh", "-c", f'. "$0"; {script}', str(ROOT / "tests" / "bots" / "bad_bot.sh"))


PARENT = (
    "parent() { while read -r key value; do [ $key = PPid: ] && echo $value && return; done"
    " </proc/$1/status; false; }; "
)
"""A function of the shell, on Linux: prints the parent of a process. Small systems have no `ps`."""


def environment_of_contributors() -> dict[str, str]:
    """The environment without what the tests set for their own sake: bots get the level that they get at a
    contributor's.
    """
    return {name: value for name, value in os.environ.items() if name != "REFEREE_ISOLATION"}


def at_start(code: str, folder: Path) -> dict[str, str]:
    """The environment in which each Python runs this code before all else, with the modules of this checkout:
    another one may be installed. `folder`: where the code is written.
    """
    (folder / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


class Done(NamedTuple):
    code: int
    out: str
    err: str


def referee(*words: str) -> Done:
    """Runs `referee` to its end in this process, which spares the start of Python and all imports.

    What is tested by this need not be a process of its own: bots and workers are processes all the same.
    """
    written_out, written_err = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(to, "utf-8", write_through=True) for to in (written_out, written_err))
    with (
        mock.patch.object(sys, "argv", ["referee", *words]),
        open(os.devnull) as nothing,  # noqa: PTH123
        mock.patch.object(sys, "stdin", nothing),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        ended_after(TOO_LONG_S),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    code = ended.value.code
    assert isinstance(code, int)
    return _fit_to_be_seen(code, written_out.getvalue().decode(), written_err.getvalue().decode())


def referee_process(*words: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Done:
    """Runs `referee` to its end in a process of its own, as a user does."""
    command = [sys.executable, "-m", "referee", *words]
    done = subprocess.run(
        command, capture_output=True, timeout=TOO_LONG_S, cwd=cwd, env={**os.environ, **(env or {})}
    )
    return _fit_to_be_seen(done.returncode, done.stdout.decode(), done.stderr.decode())


def _fit_to_be_seen(code: int, out: str, err: str) -> Done:
    """It never shows a traceback nor a control character."""
    assert "Traceback" not in err, err
    assert (out + err).replace("\n", "").isprintable(), out + err
    return Done(code, out, err)


@contextlib.contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Raises `AssertionError` in what takes longer; a handler of `OSError` would take `TimeoutError`."""

    def end(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
