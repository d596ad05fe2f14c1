"""A position of The Tree as a person sees it: the tree with its rings, and the hands that are known. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from referee.games.api import Seat
from referee.games.picture import (
    Circle,
    Letters,
    Mark,
    Paint,
    Picture,
    Plane,
    Polygon,
    Row,
    Shape,
    Span,
    Stroke,
    Symbol,
    row_of,
)
from referee.games.thetree.tiles import NAMES, SYMBOLS, TILES, tiles_of
from referee.games.thetree.tree import Laying, Tree
from referee.games.trail import Audience

_PAINTS: tuple[Paint, ...] = ("seat1", "seat2", "seat3", "seat4")
_RINGS = tuple(
    "".join(mark if symbol & ring else " " for ring, mark in ((1, "."), (2, "o"), (4, "O")))
    for symbol in SYMBOLS
)
"""Symbols in characters: `.` the pip, `o` the small circle, `O` the big one."""

_COLUMNS = 5
"""Characters of half a tile, which is 1 wide on the plane."""


def _half(symbol: int, x: float) -> list[Shape]:
    """The shapes of half a tile around a middle: its rings, and in a corner its number."""
    shapes: list[Shape] = []
    if symbol & 4:
        shapes.append(Circle(x, 0, 0.3, None, "", 0.055))
    if symbol & 2:
        shapes.append(Circle(x, 0, 0.18, None, "", 0.055))
    if symbol & 1:
        shapes.append(Circle(x, 0, 0.08, ""))
    return [*shapes, Letters(x - 0.36 if x < 0 else x + 0.36, -0.31, str(symbol), "faint", 0.24)]


def _outline(width: float, height: float) -> tuple[tuple[float, float], ...]:
    """The corners of a tile, cut off a little."""
    x, y, cut = width / 2 - 0.03, height / 2 - 0.03, 0.07
    return (
        *((-x + cut, -y), (x - cut, -y), (x, -y + cut), (x, y - cut)),
        *((x - cut, y), (-x + cut, y), (-x, y - cut), (-x, -y + cut)),
    )


@cache
def _tile(left: int, right: int) -> Symbol:
    middle = Stroke(((0, -0.36), (0, 0.36)), "edge", 0.03)
    flat = Polygon(_outline(2, 1), "tile", "edge")
    return Symbol(f"tile {left}-{right}", (flat, middle, *_half(left, -0.5), *_half(right, 0.5)))


_BACK = Symbol(
    "hidden tile", (Polygon(_outline(0.5, 1), "tile", "edge"), Polygon(_outline(0.32, 0.82), "edge", "edge"))
)
"""The back of a tile that stands on end."""

_FRAME = _outline(2.08, 1.08)  # its numbers are not to be covered
_LAST = Symbol("frame of the tile laid last", (Stroke((*_FRAME, _FRAME[0]), "fresh", 0.1),))


def picture(
    tree: Tree,
    last: Laying | None,
    hands: Sequence[int],
    out: Collection[Seat],
    supply: int,
    audience: Audience,
) -> Picture:
    """The tree with its rings; hands as far as the seat knows them."""
    rows = []
    for seat, hand in enumerate(hands):
        if audience in (None, seat):  # guard: hidden-hands
            rows.append(_hand(seat, hand, seat in out))
        else:
            rows.append(_back(seat, hand.bit_count(), seat in out))
    below = _supply(supply)
    if not tree.tiles:
        return Plane((), (), _COLUMNS, 2), *rows, below
    first, end = min(x for x, _ in tree.tiles), max(x for x, _ in tree.tiles) + 2
    top = max(y for _, y in tree.tiles)
    marks = [_level(y, first) for y in range(top + 1)]
    marks += [_column(x) for x in range(first, end)]
    for (x, y), (left, right) in tree.tiles.items():
        marks.append(_laid(left, right, x, y, last is not None and (x, y) == (last.x, last.y)))
    if last:
        marks.append(_frame(last.x, last.y))
    plane = Plane(tuple(marks), (), _COLUMNS, 2, margin=2 - (top > 9))
    return plane, _legend(first), *rows, below


@cache
def _laid(left: int, right: int, x: int, y: int, is_last: bool) -> Mark:
    """A tile of the tree: its middle is between its halves, and the tree grows upwards."""
    before, behind = "<>" if is_last else "[]"
    text = f"{before} {left}    {right} {behind}\n{before}{_RINGS[left]}  {_RINGS[right]}{behind}"
    paint: Paint = "fresh" if is_last else ""
    title = f"tile {left}-{right} at {x},{y}"
    return Mark(x + 1, -y, text, _tile(left, right), paint=paint, title=title)


@cache
def _frame(x: int, y: int) -> Mark:
    return Mark(x + 1, -y, symbol=_LAST, paint="fresh", title=f"laid last: {x},{y}")


@cache
def _level(y: int, first: int) -> Mark:
    """The number of a row of tiles, at its left."""
    return Mark(first - 0.6, -y, f"{y:>3}\n ", caption=str(y), paint="faint")


@cache
def _column(x: int) -> Mark:
    """The number of a column of halves, below the tree; only in drawings."""
    return Mark(x + 0.5, 0.8, caption=str(x), paint="faint")


@cache
def _legend(first: int) -> Row:
    words = f" laid last; the leftmost half is at x = {first}"
    return Row((Span("< >", "faint", _LAST), Span(words, "faint")))


def _who(seat: Seat, is_out: bool) -> Span:
    return Span(f"seat {seat + 1}{' (out)' if is_out else ''}: ", _PAINTS[seat])


_HELD = tuple(Span(name, "", _tile(*tile), f"tile {name}") for name, tile in zip(NAMES, TILES, strict=True))
"""The tiles in a hand."""


def _hand(seat: Seat, hand: int, is_out: bool) -> Row:
    """A hand that the reader knows."""
    spans = [_who(seat, is_out)]
    for tile in tiles_of(hand):
        spans += (_HELD[tile], Span(" "))
    return Row(tuple(spans[:-1])) if hand else row_of(*spans, "none")


@cache
def _supply(tiles: int) -> Row:
    """One tile stands for all of the supply."""
    pile = [Span("", "", _BACK)] if tiles else []
    return row_of(Span("supply:", "faint"), *pile, Span(f" {tiles} tiles", "faint"))


@cache
def _back(seat: Seat, tiles: int, is_out: bool) -> Row:
    """A hand of which the reader knows only how many tiles it has."""
    who = _who(seat, is_out)
    return row_of(who._replace(text=who.text[:-1]), *[Span("", "", _BACK)] * tiles, f" {tiles} tiles")
