"""Bot processes that are kept from one encounter to the next, and how bot processes are ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from referee.processes.bot import Bot
from referee.processes.exit_report import ExitReport
from referee.wire.link import Link, end_links

IDLE_PER_SEAT = 4
"""How many idle processes are kept at most, for each seat of the game."""

OnExit = Callable[[str, ExitReport], None]
"""Called for every bot whose processes were ended, with its name and exit report."""


class IdleBots:
    """The links of bots that wait for their next encounter, longest wait first."""

    def __init__(self) -> None:
        self._links: dict[Bot, Link] = {}

    def take(self, bot: Bot) -> Link | None:
        """Removes and returns the link of a bot, or None."""
        return self._links.pop(bot, None)

    def put(self, link: Link) -> None:
        """Adds a link that can play another game."""
        self._links[link.bot] = link

    def pop_beyond(self, room: int) -> list[Link]:
        """Removes and returns the links that waited longest, so that at most `room` remain."""
        return [self._links.pop(bot) for bot in list(self._links)[: max(0, len(self._links) - room)]]


def end_and_report(links: Iterable[Link], on_exit: OnExit | None) -> None:
    """Ends the processes of some links together, and reports each exit."""
    ending = list(links)
    end_links(ending)
    for link in ending:
        if on_exit and link.process and link.process.exit_report:
            on_exit(link.bot.name, link.process.exit_report)
