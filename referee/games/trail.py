"""The news of a game, shared by successive positions."""

from __future__ import annotations

from abc import ABC, abstractmethod

Audience = int | None  # A seat, or None for a spectator who sees all

TrailLines = tuple[str, ...]

Heard = dict[Audience, TrailLines]
"""All lines up to a position, by the audiences that have read them there."""


class Trail(ABC):
    """The positions of a game as a linked list, each of which adds its own lines to the news.

    Lines are made when they are read, so a search that plays a million positions without reading pays next to
    nothing; a reader makes each line once. Reading moves the lines from position to position, but `lines`
    always returns the same.
    """

    __slots__ = ()

    before: Trail | None
    """The position before this one."""
    heard: Heard
    """Empty for a new position."""

    @abstractmethod
    def told(self, audience: Audience) -> TrailLines:
        """The lines that this position adds, for an audience. Only where there is a position before it."""

    def lines(self, audience: Audience = None) -> TrailLines:
        """All lines for an audience up to this position, oldest first."""
        if (before := self.before) is not None and audience in before.heard:
            # The usual case: whoever reads here has read up to the position before.
            lines = self.heard[audience] = before.heard.pop(audience) + self.told(audience)
            return lines
        unread: list[Trail] = []
        node: Trail | None = self
        while node is not None and audience not in node.heard:
            unread.append(node)
            node = node.before
        # Moved, not copied: a game keeps one list per audience, not one per position.
        lines = node.heard.pop(audience) if node is not None else ()
        for position in reversed(unread):
            if position.before is not None:
                lines += position.told(audience)
        self.heard[audience] = lines
        return lines
