"""A position of The Tree as a person sees it: the tree with its rings, and the hands that a seat knows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from referee.games.api import Seat
from referee.games.picture import Paint, Picture, Span, row_of
from referee.games.thetree.tiles import NAMES, SYMBOLS, tiles_of
from referee.games.thetree.tree import Laying, Tree
from referee.games.trail import Audience

_INKS: tuple[Paint, ...] = ("seat1", "seat2", "seat3", "seat4")
_RINGS = tuple(
    "".join(mark if symbol & ring else " " for ring, mark in ((1, "."), (2, "o"), (4, "O")))
    for symbol in SYMBOLS
)


def picture(
    tree: Tree,
    last: Laying | None,
    hands: Sequence[int],
    out: Collection[Seat],
    supply: int,
    audience: Audience,
) -> Picture:
    """The tree with its rings, `.` the pip, `o` the small circle, `O` the big one; hands as far as the
    seat knows them.
    """
    lines = _tree_lines(tree, last)
    for seat, hand in enumerate(hands):
        if audience in (None, seat):
            held = " ".join(NAMES[tile] for tile in tiles_of(hand)) or "none"
        else:
            held = f"{hand.bit_count()} tiles"
        where = " (out)" if seat in out else ""
        lines.append([Span(f"seat {seat + 1}{where}: ", _INKS[seat]), Span(held)])
    lines.append([Span(f"supply: {supply} tiles", "faint")])
    return tuple(row_of(*line) for line in lines)


def _tree_lines(tree: Tree, last: Laying | None) -> list[list[Span]]:
    """Two lines of text a row, the top row first; a half is five characters wide."""
    tiles = tree.tiles
    lines: list[list[Span]] = []
    if not tiles:
        return lines
    first = min(x for x, _ in tiles)
    for y in range(max(y for _, y in tiles), -1, -1):
        numbers, rings = [Span(f"{y:>3} ", "faint")], [Span("    ")]
        at = first
        for x in sorted(x for x, row in tiles if row == y):
            blank = Span(" " * (5 * (x - at)))
            left, right = tiles[x, y]
            new = last and (x, y) == (last.x, last.y)
            ink: Paint = "fresh" if new else ""
            edge = "<>" if new else "[]"
            numbers += [blank, Span(f"{edge[0]} {left}    {right} {edge[1]}", ink)]
            rings += [blank, Span(f"{edge[0]}{_RINGS[left]}  {_RINGS[right]}{edge[1]}", ink)]
            at = x + 2
        lines += [numbers, rings]
    lines.append([Span(f"< > laid last; the leftmost half is at x = {first}", "faint")])
    return lines
