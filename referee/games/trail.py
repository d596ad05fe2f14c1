"""The news of a game, stored so that successive positions share lines."""

from __future__ import annotations

from collections.abc import Callable

Audience = int | None  # A seat, or None for a spectator who sees all

TrailLines = tuple[str, ...]


def _nothing(audience: Audience) -> TrailLines:
    return ()


class Trail:
    """A linked list of lines, to which each position appends its own.

    Lines are computed when they are read, so a search that plays a million positions without reading pays one
    small object each; a reader computes each line once. Reading moves the cache of computed lines, but
    `lines` always returns the same.
    """

    __slots__ = ("_before", "_known", "own")

    def __init__(self, before: Trail | None = None, own: Callable[[Audience], TrailLines] = _nothing) -> None:
        self._before = before
        self.own = own  # the lines that this position adds, by audience
        self._known: dict[Audience, TrailLines] = {}

    def until(self, count: int) -> Trail:
        """The trail with only the first lines, so many, of those that this position adds."""
        own = self.own
        return Trail(self._before, lambda audience: own(audience)[:count])

    def lines(self, audience: Audience = None) -> TrailLines:
        """All lines for an audience up to this position, oldest first."""
        if (before := self._before) is not None and audience in before._known:
            # The usual case: whoever reads here has read up to the position before.
            lines = self._known[audience] = before._known.pop(audience) + self.own(audience)
            return lines
        unread = []
        node: Trail | None = self
        while node is not None and audience not in node._known:
            unread.append(node)
            node = node._before
        # Moved, not copied: a game keeps one list per audience, not one per position.
        lines = node._known.pop(audience) if node is not None else ()
        for node in reversed(unread):
            lines += node.own(audience)
        self._known[audience] = lines
        return lines
