"""The lines of a game's news, shared by the positions that it runs through."""

from __future__ import annotations

from collections.abc import Callable

Audience = int | None
"""A seat, or None: a spectator who sees all."""

Lines = tuple[str, ...]


def _nothing(audience: Audience) -> Lines:
    return ()


class Trail:
    """A list of lines to which each position adds its own, behind those of the position before.

    Lines are made when somebody reads them, so a search that plays a million positions and reads none
    pays one small object each; a reader pays for each line once. Where made lines are kept changes with the
    reading; what `lines` gives never does.
    """

    __slots__ = ("_before", "_known", "own")

    def __init__(self, before: Trail | None = None, own: Callable[[Audience], Lines] = _nothing) -> None:
        self._before = before
        self.own = own
        """The lines that this position adds, for somebody."""
        self._known: dict[Audience, Lines] = {}

    def lines(self, audience: Audience = None) -> Lines:
        """All lines up to here that somebody is told, oldest first."""
        if (before := self._before) is not None and audience in before._known:
            # The usual case: whoever reads here has read up to the position before.
            lines = self._known[audience] = before._known.pop(audience) + self.own(audience)
            return lines
        unread = []
        node: Trail | None = self
        while node is not None and audience not in node._known:
            unread.append(node)
            node = node._before
        # Taken, not copied: a game keeps one list a reader, not one a position.
        lines = node._known.pop(audience) if node is not None else ()
        for node in reversed(unread):
            lines += node.own(audience)
        self._known[audience] = lines
        return lines
