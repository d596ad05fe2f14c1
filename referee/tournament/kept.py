"""Bots' processes that are kept from one encounter to the next, and how any of them are ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from referee.processes.bot import Bot
from referee.processes.exit_report import ExitReport
from referee.wire.link import Link, end_links

KEPT_TABLES = 4
"""So many times the seats of a table is how many processes are kept while nobody plays with them."""

OnExit = Callable[[str, ExitReport], None]
"""Told of every bot whose processes were ended: its name, and what was found."""


class Kept:
    """The links of bots that wait for their next encounter, those that waited longest first."""

    def __init__(self) -> None:
        self._links: dict[Bot, Link] = {}

    def take(self, bot: Bot) -> Link | None:
        """The link of a bot, if one waits."""
        return self._links.pop(bot, None)

    def put(self, link: Link) -> None:
        """Has a link wait that is fit for another game."""
        self._links[link.bot] = link

    def beyond(self, room: int) -> list[Link]:
        """Gives away the links that waited longest, so that at most `room` are left."""
        return [self._links.pop(bot) for bot in list(self._links)[: max(0, len(self._links) - room)]]


def end(links: Iterable[Link], on_exit: OnExit | None) -> None:
    """Ends the processes of some links together, and says what was found of each."""
    ending = list(links)
    end_links(ending)
    for link in ending:
        if on_exit and link.process and link.process.exit_report:
            on_exit(link.bot.name, link.process.exit_report)
