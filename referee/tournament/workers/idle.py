"""Bot processes that are kept from one encounter to the next, and how bot processes are ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from referee.processes.bot import Bot
from referee.processes.exit_report import ExitReport
from referee.wire.connection import BotConnection, end_connections

IDLE_PER_SEAT = 4  # how many idle processes are kept at most, for each seat of the game

OnExit = Callable[[str, ExitReport], None]
"""Called for every bot whose processes were ended, with its name and exit report."""


class IdleBots:
    """The connections of bots that wait for their next encounter, longest wait first."""

    def __init__(self) -> None:
        self._links: dict[Bot, BotConnection] = {}

    def take(self, bot: Bot) -> BotConnection | None:
        """Removes and returns the connection of a bot, or None."""
        connection = self._links.pop(bot, None)
        if connection and connection.process:
            connection.process.resume()
        return connection

    def put(self, connection: BotConnection) -> None:
        """Adds a connection that can play another game."""
        if connection.process:
            connection.process.pause()
        self._links[connection.bot] = connection

    def pop_beyond(self, room: int) -> list[BotConnection]:
        """Removes and returns the connections that waited longest, so that at most `room` remain."""
        return [self._links.pop(bot) for bot in list(self._links)[: max(0, len(self._links) - room)]]


def end_and_report(
    connections: Iterable[BotConnection], on_exit: OnExit | None, patient: bool = False
) -> None:
    """Ends the processes of some connections together, and reports each exit. `patient`: they have as long as
    they take.
    """
    ending = list(connections)
    end_connections(ending, patient)
    for connection in ending:
        if on_exit and connection.process and connection.process.exit_report:
            ignored_quit = connection.fit and connection.process.ignored_end
            report = connection.process.exit_report._replace(ignored_quit=ignored_quit)
            on_exit(connection.bot.name, report)
