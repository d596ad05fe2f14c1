"""What commands print: data on stdout, everything else on stderr, with colours and a bar where the terminal
has them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING

import click

from referee.core.errors import StorageError
from referee.core.text import WIDTH, shown
from referee.core.work import Advance

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def open_closed_streams() -> None:
    """Opens the standard streams that this process was started without: from stdin nothing can be read, and
    writing to the others fails. Otherwise the next file that is opened would take the place of one of them.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDONLY)  # so writing fails
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


def table_width() -> int:
    """Returns the maximum width of a table in characters: that of the terminal, where stdout is one."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH


def show_data(text: str) -> bool:
    """Prints a command's result on stdout, without its colours where none are wanted, and returns whether
    anybody reads it still. Raises `StorageError` if it cannot be written.

    A closed pipe, as after `| head`, is not an error, nor is a terminal that is gone.
    """
    try:
        click.echo(text, color=in_colour(sys.stdout))
        return True
    except OSError as error:
        terminal = stat.S_ISCHR(os.fstat(sys.stdout.fileno()).st_mode)
        _discard(sys.stdout.fileno())
        if isinstance(error, BrokenPipeError) or (terminal and error.errno == errno.EIO):
            return False
        raise StorageError(f"cannot write to standard output: {error.strerror}") from None


_BATCH = 1000  # how many of many lines are written at once


def show_lines(lines: Iterable[str]) -> None:
    """Prints any number of lines as they come, as `show_data` does; stops making them once nobody reads."""
    source = iter(lines)
    while batch := list(islice(source, _BATCH)):
        if not show_data("\n".join(batch)):
            return


def put_text(path: Path | None, text: str, start: str, kind: str) -> None:
    """Writes a text as a file, as `write_whole` does, or to stdout where the path is `-` or missing."""
    text = text.removesuffix("\n")
    if is_stdout(path):
        show_data(text)
    elif path:
        from referee.core.files import write_whole  # few commands write files

        write_whole(path, f"{text}\n".encode(), start.encode(), kind)


def is_stdout(path: Path | None) -> bool:
    """Whether a path that a user gave, or none, means stdout."""
    return path is None or str(path) == "-"


def pasteable(*words: object) -> str:
    """A command of this program that can be pasted into a shell. The program is named as it was called if its
    name alone is not found there, as with an environment that is not activated.
    """
    called = sys.argv[0]
    is_path = Path(called).name == "referee" and not shutil.which("referee")
    return shown(shlex.join([called if is_path else "referee", *map(str, words)]), 2000)


def say(line: str) -> None:
    """Prints a line on stderr, without its colours where none are wanted; a closed stderr is not an error."""
    try:
        click.echo(line, err=True, color=in_colour(sys.stderr))
    except OSError:
        _discard(sys.stderr.fileno())


def say_now(line: str) -> None:
    """Prints a line on stderr from a signal handler, bypassing the buffer, which may be in use."""
    with contextlib.suppress(OSError, AttributeError):  # there may be no stderr at all
        os.write(sys.stderr.fileno(), f"{line}\n".encode())


def _discard(descriptor: int) -> None:
    """Discards what is still in the buffer, so that the interpreter does not fail again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def in_colour(stream: IO[str]) -> bool:
    """Whether text for this stream is coloured."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or can_draw(stream)


def can_draw(stream: IO[str]) -> bool:
    """Whether this stream is a terminal in which the cursor can be moved."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


def console_at_stderr() -> Console:
    """Returns a console for drawing progress on stderr, by the same rules. Where nothing can be drawn, it
    prints only lines that stay.
    """
    from rich.console import Console  # few commands need it

    draws = can_draw(sys.stderr)
    return Console(
        stderr=True, force_terminal=draws, force_interactive=draws, no_color=not in_colour(sys.stderr)
    )


WAIT_S = 1.0  # what takes less shows no bar

DRAWN_S = 0.1  # how often the bar is drawn at most


class AdvanceBar:
    """A context manager for the stages of a command. Where stderr is no terminal, nothing is drawn."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, console: Console | None = None) -> None:
        """`clock` gives seconds; `console` is the terminal at stderr if it is not given."""
        self._clock = clock
        self._console = console
        self._draws = console is not None or can_draw(sys.stderr)
        self._due_s = clock() + WAIT_S
        self._progress: Progress | None = None

    def __enter__(self) -> AdvanceBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hide()

    def stage(self, name: str) -> Advance:
        """Begins a stage, which is drawn from now on in place of the one before."""

        def advance(done: int, in_all: int) -> None:
            if self._draws and self._clock() >= self._due_s:
                self._draw(name, done, in_all)
                self._due_s = self._clock() + DRAWN_S

        return advance

    def say(self, line: str) -> None:
        """Prints a line on stderr, above the bar."""
        self._hide()
        say(line)

    def _draw(self, name: str, done: int, in_all: int) -> None:
        if self._progress is None:
            self._progress = self._new_progress()
        (task,) = self._progress.tasks
        if task.description != name:
            self._progress.reset(task.id, description=name)
        with contextlib.suppress(OSError):  # the terminal is gone
            self._progress.start()
            self._progress.update(task.id, completed=done, total=in_all, refresh=True)

    def _new_progress(self) -> Progress:
        from rich.progress import Progress  # few commands take as long

        progress = Progress(
            console=self._console or console_at_stderr(),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        progress.add_task("")
        return progress

    def _hide(self) -> None:
        if self._progress:
            with contextlib.suppress(OSError):
                self._progress.stop()
