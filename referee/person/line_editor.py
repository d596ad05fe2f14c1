"""A terminal with an editor for the line: with completion, history, and a status that follows the typing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.shortcuts import CompleteStyle

from referee.core.stop import Closing, Interrupted
from referee.person.console import CLOSED, HEARD, SLICE_S, TIME_UP, Asking, End

_CLEARED = "\x1b[2J\x1b[H"

_OTHER_SCREEN, _OWN_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
"""The alternate screen of a terminal keeps nothing that was scrolled off it."""

REFRESH_S = 0.5
"""How often a clock is drawn again."""


class _Interrupt(Exception):
    """Ctrl-C was typed."""


class _Late(Exception):
    """The time is up."""


class _Parts(Completer):
    """Completes the last part of the line."""

    def __init__(self, complete: Callable[[str], list[str]]) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """The ways to go on."""
        text = document.text_before_cursor
        last = text.rpartition(" ")[2]
        for part in self._complete(text):
            yield Completion(part, start_position=-len(last))


class LineEditor:
    """A `Console` in a terminal. The editor of a line stays open while a bot is heard."""

    is_screen = True

    def __init__(self, in_colour: bool) -> None:
        self._runner = asyncio.Runner()
        self._in_colour = in_colour
        self._sessions: dict[int, PromptSession[str]] = {}
        """By seat, so that nobody calls back the lines of another person."""
        self._task: asyncio.Task[str] | None = None
        self._is_covered = False

    def read(self, asking: Asking, heed: Callable[[], bool]) -> str | End:
        """A line of the terminal. Raises `Interrupted` on Ctrl-C and on signals."""
        loop = self._runner.get_loop()
        with Closing(lambda: loop.call_soon_threadsafe(self._cancel)):
            try:
                return self._runner.run(self._read(asking, heed))
            except _Interrupt:
                raise Interrupted("stopped by SIGINT") from None
            except asyncio.CancelledError:
                return CLOSED  # a signal came, and `Closing` raises

    async def _read(self, asking: Asking, heed: Callable[[], bool]) -> str | End:
        session = self._sessions.get(asking.seat) or self._session(asking.seat)
        if self._task is None:
            self._task = asyncio.create_task(
                session.prompt_async(
                    asking.prompt,
                    completer=_Parts(asking.complete),
                    bottom_toolbar=lambda: asking.status(session.default_buffer.text),
                    refresh_interval=REFRESH_S if asking.deadline_ns else 0,
                    handle_sigint=False,
                )
            )
        while not (await asyncio.wait({self._task}, timeout=SLICE_S))[0]:
            if asking.is_late and session.app.is_running and not session.app.is_done:
                session.app.exit(exception=_Late)
            elif heed():
                return HEARD
        done, self._task = self._task, None
        try:
            return done.result()
        except EOFError:
            return CLOSED
        except _Late:
            return TIME_UP

    def _session(self, seat: int) -> PromptSession[str]:
        """The editor of a seat. No room is kept for a menu, which would push the board off the screen."""
        session: PromptSession[str] = PromptSession(
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            reserve_space_for_menu=0,
            color_depth=None if self._in_colour else ColorDepth.DEPTH_1_BIT,
            interrupt_exception=_Interrupt,
        )
        self._sessions[seat] = session
        return session

    def _cancel(self) -> None:
        if self._task:
            self._task.cancel()

    def curtain(self) -> None:
        """Changes to the alternate screen, and clears it."""
        self._write(_CLEARED if self._is_covered else _OTHER_SCREEN + _CLEARED)
        self._is_covered = True

    def uncover(self) -> None:
        """Clears the alternate screen and leaves it."""
        if self._is_covered:
            self._is_covered = False
            self._write(_CLEARED + _OWN_SCREEN)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def close(self) -> None:
        """Ends an editor that is open, and leaves the alternate screen."""
        self._runner.close()
        self.uncover()
