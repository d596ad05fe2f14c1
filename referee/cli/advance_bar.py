"""How far a command is that takes long: a bar on the terminal, which is gone when the command has ended."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from referee.cli.colour import can_draw, console_at_stderr
from referee.cli.output import say
from referee.core.advance import Advance

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

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
        """Removes the bar."""
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
