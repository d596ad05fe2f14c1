"""Signals that stop the referee: what they do at each moment, from the first import to the exit.

The process goes through these phases, and only this module knows in which it is:

1. *Imports*: there is nothing to lose, so a signal ends the process at once.
2. *A command* (`Interruptible`): a signal interrupts it by the exception `Interrupted`.
3. *Playing* (`StopSignals`): the first signal lets the games in progress finish, the second interrupts.
4. *Summing up*, once a `StopSignals` is left: the games are stored, and only their table is still to come.
   The first signal is told and lets that finish, the second interrupts, also if the first came while playing.
5. *A screen* (`Closing`): a signal closes it, and interrupts the command when that is done.
6. *The end*, when the command is over: signals change nothing any more.

A signal that comes after an interruption, while that is cleaned up, ends the process at once: whatever it
started ends with it. Every way but the last has the exit code of `Stopped`, and says one line on stderr.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import TracebackType

from referee.core.errors import Stopped

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal interrupted a command. It is no `Exception`, so that nothing takes it for an error."""


def take_signals() -> None:
    """Handles signals from now on, for the life of the process: by the phases above, beginning with 1."""
    for number in _heeded():
        signal.signal(number, lambda number, _: _act(signal.Signals(number).name))
    sys.unraisablehook = _take_unraisable


def ignore_signals() -> None:
    """Ignores signals until the process ends: the interpreter removes its handlers before it exits."""
    for number in _heeded():
        signal.signal(number, signal.SIG_IGN)


def _heeded() -> list[signal.Signals]:
    """Lists the signals to handle. An ignored one stays ignored: that is how `nohup` keeps a run alive."""
    return [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]


class Interruptible:
    """A context manager: in it a signal raises `Interrupted`; after it signals change nothing any more."""

    def __enter__(self) -> None:
        _enter(_interrupt)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _enter(_do_nothing)
        cause = error.__cause__ if isinstance(error, RuntimeError) else None
        if isinstance(cause, Interrupted):  # Python before 3.12 wraps what `__set_name__` raises
            raise cause


class StopSignals:
    """A context manager for playing: notes the first signal; the second raises `Interrupted`."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.asked = ""  # the name of the first signal; empty as long as none has come
        self._say = say  # called from a signal handler, so it must not write through a buffer

    def __enter__(self) -> StopSignals:
        _enter(self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, Interrupted):
            _enter(_interrupt_at_once if self.asked else _let_finish)

    def _take(self, name: str) -> None:
        if self.asked:
            _interrupt_at_once(name)
        self.asked = name
        self._say(f"{name}: stopping after this game; a second signal stops at once")


class Closing:
    """A context manager for what must be left in order, such as the screen of a terminal: the first signal
    calls `close`, and `Interrupted` is raised when it is left.
    """

    def __init__(self, close: Callable[[], object]) -> None:
        self._close = close  # called from a signal handler; it brings what is running to its end
        self._asked = ""

    def __enter__(self) -> Closing:
        _enter(self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._asked:
            _enter(_interrupt)
        elif error is None:
            raise Interrupted(f"stopped by {self._asked}")

    def _take(self, name: str) -> None:
        _enter(_end_process)
        self._asked = name
        self._close()


def _end_process(name: str) -> None:
    _say(f"referee: stopped by {name}")
    os._exit(Stopped.exit_code)


def _interrupt(name: str) -> None:
    _enter(_end_process)
    raise Interrupted(f"stopped by {name}")


def _interrupt_at_once(name: str) -> None:
    _enter(_end_process)
    raise Interrupted(f"stopped at once by {name}")


def _let_finish(name: str) -> None:
    _enter(_interrupt_at_once)
    _say(f"{name}: only the table remains to be printed; a second signal stops at once")


def _do_nothing(name: str) -> None:
    pass


_act: Callable[[str], None] = _end_process  # what the next signal does; called with its name


def _enter(act: Callable[[str], None]) -> None:
    global _act
    _act = act


def _say(line: str) -> None:
    """Writes a line to stderr, bypassing the buffer, which may be in use."""
    with contextlib.suppress(OSError):
        os.write(2, f"{line}\n".encode())


def _take_unraisable(found: sys.UnraisableHookArgs) -> None:
    """An interruption that came where nothing can be raised, as in a finalizer, is not lost."""
    if isinstance(found.exc_value, Interrupted):
        _say(f"referee: {found.exc_value}")
        os._exit(Stopped.exit_code)
    sys.__unraisablehook__(found)
