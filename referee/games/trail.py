"""The lines of a game's news, shared by the positions that it runs through."""

from __future__ import annotations

from collections.abc import Callable


class Trail:
    """A list of lines to which each position adds its own, behind those of the position before.

    Lines are made when somebody reads them, so a search that plays a million positions and reads none
    pays one small object each; a reader pays for each line once.
    """

    __slots__ = ("_all", "_before", "_own")

    def __init__(self, before: Trail | None = None, own: Callable[[], tuple[str, ...]] = tuple) -> None:
        self._before = before
        self._own = own
        self._all: tuple[str, ...] | None = None

    def lines(self) -> tuple[str, ...]:
        """All lines up to here, oldest first."""
        unread = []
        node: Trail | None = self
        while node is not None and node._all is None:
            unread.append(node)
            node = node._before
        lines = node._all if node is not None and node._all is not None else ()
        for node in reversed(unread):
            lines += node._own()
            node._all = lines
            node._before = None  # all that was needed of it
        return lines
