"""A terminal with an editor for the line: with completion, history, and a status that follows the typing."""

from __future__ import annotations

import asyncio
import shutil
import sys
import textwrap
from collections.abc import Callable
from os.path import commonprefix

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth

from referee.core.stop import Closing, Interrupted
from referee.person.console import BOT_REPLIED, CLOSED, SLICE_S, TIME_UP, InputEnd, LineRequest
from referee.person.words import in_columns

_CLEARED = "\x1b[2J\x1b[H"
_BLANK_LINE = "\r\x1b[2K"

_OTHER_SCREEN, _OWN_SCREEN = "\x1b[?1049h", "\x1b[?1049l"
"""The alternate screen of a terminal keeps nothing that was scrolled off it."""

REFRESH_S = 0.5
"""How often a clock is drawn again."""


class _Interrupt(Exception):
    """Ctrl-C was typed."""


class _Late(Exception):
    """The time is up."""


class LineEditor:
    """A `Console` in a terminal. The editor stays open while the reply of a bot is taken."""

    is_looked_at = True

    def __init__(self, show: Callable[[str], object], in_colour: bool) -> None:
        """`show` prints lines."""
        self._show = show
        self._runner = asyncio.Runner()
        self._in_colour = in_colour
        self._sessions: dict[int, PromptSession[str]] = {}
        """One for each seat, so that nobody can recall the lines of another person."""
        self._task: asyncio.Task[str] | None = None
        self._is_cleared = False
        self._has_note = False

    @property
    def room(self) -> tuple[int, int]:
        """The size of the terminal."""
        size = shutil.get_terminal_size((0, 0))
        return size.columns, size.lines

    def show(self, text: str) -> None:
        """Shows lines of text in place of a note."""
        self._end_note()
        self._show(text)

    def note(self, text: str) -> None:
        """Shows a line until something else is shown."""
        self._write(f"{_BLANK_LINE}{text}")
        self._has_note = True

    def _end_note(self) -> None:
        if self._has_note:
            self._has_note = False
            self._write(_BLANK_LINE)

    def read(self, request: LineRequest, poll_bots: Callable[[], bool]) -> str | InputEnd:
        """A line of the terminal. Raises `Interrupted` on Ctrl-C and on signals."""
        self._end_note()
        loop = self._runner.get_loop()
        with Closing(lambda: loop.call_soon_threadsafe(self._cancel)):
            try:
                return self._runner.run(self._read(request, poll_bots))
            except _Interrupt:
                raise Interrupted("stopped by SIGINT") from None
            except asyncio.CancelledError:
                return CLOSED  # a signal came, and `Closing` raises

    async def _read(self, request: LineRequest, poll_bots: Callable[[], bool]) -> str | InputEnd:
        session = self._sessions.get(request.seat) or self._session(request.seat)
        if self._task is None:
            self._task = asyncio.create_task(
                session.prompt_async(
                    request.prompt,
                    key_bindings=self._keys(request.complete),
                    bottom_toolbar=lambda: self._status(session, request),
                    refresh_interval=REFRESH_S if request.deadline_ns else 0,
                    handle_sigint=False,
                )
            )
        while not (await asyncio.wait({self._task}, timeout=SLICE_S))[0]:
            if request.is_late and session.app.is_running and not session.app.is_done:
                session.app.exit(exception=_Late)
            elif poll_bots():
                return BOT_REPLIED
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
            reserve_space_for_menu=0,
            color_depth=None if self._in_colour else ColorDepth.DEPTH_1_BIT,
            interrupt_exception=_Interrupt,
        )
        self._sessions[seat] = session
        return session

    def _status(self, session: PromptSession[str], request: LineRequest) -> str:
        """The status in as many lines as it takes."""
        text = request.status(session.default_buffer.text)
        return "\n".join(textwrap.wrap(text, session.output.get_size().columns))

    def _keys(self, complete: Callable[[str], list[str]]) -> KeyBindings:
        """Tab completes the last part of the line as far as there is one way, and then lists the ways."""
        keys = KeyBindings()

        @keys.add("tab")
        def _(event: KeyPressEvent) -> None:
            before = event.current_buffer.document.text_before_cursor
            last = before.rpartition(" ")[2]
            parts = complete(before)
            common = commonprefix(parts)  # noqa: RUF071 - characters are meant
            if len(common) > len(last) or (len(parts) == 1 and common != last):
                event.current_buffer.delete_before_cursor(len(last))
                event.current_buffer.insert_text(common)
            elif parts:
                run_in_terminal(lambda: self._show("\n".join(in_columns(parts))))

        return keys

    def _cancel(self) -> None:
        if self._task:
            self._task.cancel()

    def clear(self) -> None:
        """Changes to the alternate screen, and clears it."""
        self._write(_CLEARED if self._is_cleared else _OTHER_SCREEN + _CLEARED)
        self._is_cleared = True

    def restore(self) -> None:
        """Clears the alternate screen and leaves it."""
        if self._is_cleared:
            self._is_cleared = False
            self._write(_CLEARED + _OWN_SCREEN)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def close(self) -> None:
        """Ends an editor that is open, and leaves the alternate screen."""
        self._end_note()
        self._runner.close()
        self.restore()
