"""Everything that can go wrong, and the exit code it ends with.

    RefereeError                 1  our own fault, or nobody's
      UsageError                 2  what was asked for cannot be done: options, names, files, programs
        GameOptionError             an option of a game
        TimeControlError            a time control
      Stopped                    3  a signal; what was finished is kept
      StorageError               4  a result could not be stored
      EnvironmentLacksError      5  the machine lacks what is required
      RecordError                6  a record does not verify
      CheckFailed                7  a bot that was checked failed a step
      BotFaulted                 8  asked to be strict, and a bot was at fault

A bot's fault is none of these: it is a result (`referee.gameplay.events.Ending`). Messages have one voice:
what, where, expected what, in one line, names in backticks, no full stop.
"""

from __future__ import annotations

from typing import ClassVar


class RefereeError(Exception):
    """Base of all that the referee raises on purpose."""

    exit_code: ClassVar[int] = 1


class UsageError(RefereeError):
    """What was asked for cannot be done."""

    exit_code = 2


class GameOptionError(UsageError):
    """An option that the game does not know, or a value that it does not take."""


class TimeControlError(UsageError):
    """A text that is no time control."""


class Stopped(RefereeError):
    """A signal asked us to stop."""

    exit_code = 3


class StorageError(RefereeError):
    """A result could not be stored, so it does not count."""

    exit_code = 4


class EnvironmentLacksError(RefereeError):
    """The machine lacks what is required."""

    exit_code = 5


class RecordError(RefereeError):
    """A record is damaged, or does not play again to the same result."""

    exit_code = 6


class CheckFailed(RefereeError):
    """A bot that was checked failed a step."""

    exit_code = 7


class BotFaulted(RefereeError):
    """A bot was at fault, and `--strict` makes that an error."""

    exit_code = 8
