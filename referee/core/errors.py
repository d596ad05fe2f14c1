"""All errors of the referee, with their exit codes.

    RefereeError                 1  an error of the referee itself, or a game that stayed void
      UsageError                 2  wrong usage: options, names, files, programs
        GameOptionError             an option of a game
        TimeControlError            a time control
      Stopped                    3  stopped by a signal; finished games are kept
      StorageError               4  a result could not be stored
      EnvironmentLacksError      5  the machine lacks what is required
        ProcessLostError            a process of the referee was killed or hangs
        KeptWaitingError            a bot lost on time that got no processor
      RecordError                6  a record does not verify
      CheckFailed                7  a bot that was checked failed a step
      BotFaulted                 8  `--strict` was given, and a bot was at fault
      NotBetter                  8  a bot that was tested is not better than its last version

A bot's fault is not an error but a result (`referee.gameplay.events.Ending`). All messages have one form:
what is wrong, where, and what was expected, in one line, with names in backticks and without a full stop.
"""

from __future__ import annotations

from typing import ClassVar


class RefereeError(Exception):
    """The base class of all errors that the referee raises on purpose."""

    exit_code: ClassVar[int] = 1


class UsageError(RefereeError):
    """Wrong usage: the command cannot be carried out as it was given."""

    exit_code = 2


class GameOptionError(UsageError):
    """An option that the game does not have, or a value that the option does not accept."""


class TimeControlError(UsageError):
    """A text that is not a valid time control."""


class Stopped(RefereeError):
    """A signal stopped the run."""

    exit_code = 3


class StorageError(RefereeError):
    """A result could not be stored, so it does not count."""

    exit_code = 4


class EnvironmentLacksError(RefereeError):
    """The machine lacks what is required."""

    exit_code = 5


class ProcessLostError(EnvironmentLacksError):
    """A process of the referee that starts or watches bots was killed, or does not answer."""

    def __init__(self, what: str, bot: str = "") -> None:
        """`bot`: the bot that the process watched over, if it was one of that kind."""
        super().__init__(what)
        self.bot = bot


class KeptWaitingError(EnvironmentLacksError):
    """A bot lost on time because it got no processor, for which nobody is to blame."""


class RecordError(RefereeError):
    """A record is damaged, or does not play again to the same result."""

    exit_code = 6


class CheckFailed(RefereeError):
    """A bot that was checked failed a step."""

    exit_code = 7


class BotFaulted(RefereeError):
    """A bot was at fault, and `--strict` makes that an error."""

    exit_code = 8


class NotBetter(RefereeError):
    """A bot that was tested was not found to be better than the version that it was tested against."""

    exit_code = 8
