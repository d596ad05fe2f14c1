"""A position as a person sees it: the tree with its rings, and the hands that are known. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from math import ceil

from referee.core.text import counted
from referee.games.api import Seat
from referee.games.picture import (
    SEATS,
    Circle,
    Mark,
    Paint,
    Picture,
    Piece,
    Plane,
    Polygon,
    Region,
    Row,
    Shape,
    Span,
    Stroke,
    Symbol,
    badge,
    row_of,
)
from referee.games.thetree.tree import NAMES, SYMBOLS, TILES, Laying, Tree, tiles_of
from referee.games.trail import Audience

_RINGS = tuple(
    "".join(mark if symbol & ring else " " for ring, mark in ((1, "."), (2, "o"), (4, "O")))
    for symbol in SYMBOLS
)
"""Symbols in characters: `.` the pip, `o` the small circle, `O` the big one."""

_COLUMNS = 5  # characters of half a tile, which is 1 wide on the plane


_FRAME = (11.2, 10.5)  # the width and height in which a tree is drawn, whatever its size

_LEAST_LABEL = 1.15
"""How large the numbers at the edges are in the frame, in relation to the usual size, where a tree is drawn
smaller than usual: so that they can be read on a phone.
"""


def _half(symbol: int, added: int, x: float, size: float = 1) -> list[Shape]:
    """The shapes of half a tile around a middle: its rings, some of which were added to those below."""

    def ring(kind: int, radius: float) -> Circle:
        paint: Paint = "added" if added & kind else "wood"
        if kind == 1:
            return Circle(x * size, 0, radius * size, paint)
        return Circle(x * size, 0, radius * size, None, paint, 0.075 * size)

    return [ring(kind, radius) for kind, radius in ((4, 0.36), (2, 0.22), (1, 0.1)) if symbol & kind]


def _outline(width: float, height: float) -> tuple[tuple[float, float], ...]:
    """The corners of a tile, cut off a little."""
    x, y, cut = width / 2 - 0.03, height / 2 - 0.03, 0.07
    return (
        *((-x + cut, -y), (x - cut, -y), (x, -y + cut), (x, y - cut)),
        *((x - cut, y), (-x + cut, y), (-x, y - cut), (-x, -y + cut)),
    )


@cache
def _tile(left: int, right: int) -> Symbol:
    """A tile in a hand."""
    size = 0.8
    return Symbol(
        f"tile {left}-{right}",
        (
            Polygon(_outline(2 * size, size), "tile", "edge"),
            Stroke(((0, -0.36 * size), (0, 0.36 * size)), "edge", 0.03),
            *_half(left, 0, -0.5, size),
            *_half(right, 0, 0.5, size),
        ),
    )


@cache
def _laid_tile(left: int, right: int, added: tuple[int, int], seat: Seat | None) -> Symbol:
    """A tile of the tree, with the rings that it added and a bar of as many pieces as the number of who laid
    it.
    """
    shapes: list[Shape] = [
        Polygon(_outline(1.96, 0.96), "tile", "edge"),
        Stroke(((0, -0.36), (0, 0.3)), "edge", 0.03),
        *_half(left, added[0], -0.5),
        *_half(right, added[1], 0.5),
    ]
    if seat is not None:
        length = 1.7 / (seat + 1)
        starts = [-0.85 + length * piece for piece in range(seat + 1)]
        shapes += [
            Stroke(((start + 0.06, 0.4), (start + length - 0.06, 0.4)), SEATS[seat], 0.07) for start in starts
        ]
    rings = "".join(map(str, added))
    words = f"tile {left}-{right} that added {rings}, laid by {0 if seat is None else seat + 1}"
    return Symbol(words, tuple(shapes))


_BACK = Symbol("hidden tile", (Polygon(_outline(0.42, 0.8), "back", "edge"),))
"""The back of a tile that stands on end."""


@cache
def _just_drawn(symbol: Symbol) -> Symbol:
    """A tile that was drawn at the end of this step: with a line below it, and room above it."""
    above, below = (Stroke(((-0.15, y), (0.15, y)), paint, 0.08) for y, paint in _LINES_OF_THE_DRAWN)
    return Symbol(f"{symbol.name}, just drawn", (above, *symbol.shapes, below))


_LINES_OF_THE_DRAWN: tuple[tuple[float, Paint], ...] = ((-0.46, "page"), (0.46, "fresh"))
_CORNERS = _outline(2.05, 1.05)
_LAST = Symbol(
    "frame of the tile laid last",
    (
        Stroke((*_CORNERS, _CORNERS[0]), "page", 0.1),
        *(Stroke((*line, line[0]), "fresh", 0.08) for line in (_outline(2.19, 1.19),)),
    ),
)
_ADDED = Symbol("added ring", (Circle(0, 0, 0.3, None, "added", 0.08),))


def picture(
    tree: Tree,
    laid: dict[Laying, Seat],
    hands: Sequence[int],
    drawn: Mapping[Seat, Collection[str]],
    out: Collection[Seat],
    supply: int,
    audience: Audience,
) -> Picture:
    """The tree with its rings, and who laid its tiles, the last one last; hands as far as the seat knows
    them, and what was just drawn, by seat: names of tiles, empty where the tile is hidden.
    """
    last = next(reversed(laid), None)
    rows = []
    for seat, hand in enumerate(hands):
        new = drawn.get(seat, ())
        if audience in (None, seat):  # guard: hidden-hands
            rows.append(_hand(seat, hand, seat in out, tuple(new)))
        else:
            rows.append(_back(seat, hand.bit_count(), seat in out, len(new)))
    below = row_of(Span(f"supply: {counted(supply, 'tile')}", "faint", caption=""))
    if not tree.tiles:
        return Plane((), (), _COLUMNS, 2, frame=_FRAME), *rows, below
    first, end = min(x for x, _ in tree.tiles), max(x for x, _ in tree.tiles) + 2
    top = max(y for _, y in tree.tiles)
    halves = {(x + side, y): tile[side] for (x, y), tile in tree.tiles.items() for side in (0, 1)}
    size = _label_size(end - first, top + 1)
    marks: list[Piece] = [_soil(first, end)]
    marks += [mark for y in range(top + 1) for mark in _level(y, first, size)]
    marks += [_column(x, size) for x in range(first, end)]
    for (x, y), (left, right) in tree.tiles.items():
        laying = Laying(left, right, x, y)
        added = (_added(left, halves.get((x, y - 1))), _added(right, halves.get((x + 1, y - 1))))
        marks.append(_laid(laying, added, laid.get(laying), laying == last))
    if last:
        marks.append(_frame(last.x, last.y))
    plane = Plane(tuple(marks), (), _COLUMNS, 2, margin=2 - (top > 9), frame=_FRAME)
    return plane, _legend(first, supply), *rows, below


def _added(symbol: int, below: int | None) -> int:
    """The rings of half a tile that the half below it has not."""
    return 0 if below is None else symbol & ~below


@cache
def _laid(laying: Laying, added: tuple[int, int], seat: Seat | None, is_last: bool) -> Mark:
    """A tile of the tree: its middle is between its halves, and the tree grows upwards."""
    left, right, x, y = laying
    before, behind = "<>" if is_last else "[]"
    text = f"{before} {left}    {right} {behind}\n{before}{_RINGS[left]}  {_RINGS[right]}{behind}"
    paint: Paint = "fresh" if is_last else ""
    title = f"tile {left}-{right} at {x},{y}"
    return Mark(x + 1, -y, text, _laid_tile(left, right, added, seat), paint=paint, title=title)


@cache
def _frame(x: int, y: int) -> Mark:
    return Mark(x + 1, -y, symbol=_LAST, paint="fresh", title=f"laid last: {x},{y}")


@cache
def _soil(first: int, end: int) -> Region:
    """What the tree stands on; only in drawings."""
    return Region((((first - 0.4, 0.58), (end + 0.4, 0.58)),), "back", "back", 0.02, "the ground")


def _label_size(width: int, height: int) -> float:
    """The size of the numbers at the edges of a tree with so many columns and rows: larger where all of it is
    drawn smaller.
    """
    size = 1.0
    for _ in range(3):  # larger numbers leave the tree less room
        scale = min(_FRAME[0] / (width + 0.8 * size), _FRAME[1] / (height + 0.2 + 0.6 * size))
        size = max(1.0, _LEAST_LABEL / scale)
    return round(size, 1)


@cache
def _level(y: int, first: int, size: float) -> tuple[Mark, Mark]:
    """The number of a row of tiles, at its left: as text, and for drawings, which have as many as there is
    room for.
    """
    caption = "" if y % ceil(0.45 * size) else str(y)
    return (
        Mark(first - 0.6, -y, f"{y:>3}\n ", paint="faint"),
        Mark(first - 0.3 - 0.3 * size, -y, caption=caption, paint="faint", size=size),
    )


@cache
def _column(x: int, size: float) -> Mark:
    """The number of a column of halves, below the tree, where there is room for it; only in drawings."""
    caption = "" if x % ceil(0.8 * size) else str(x)
    return Mark(x + 0.5, 0.7 + 0.25 * size, caption=caption, paint="faint", size=size)


@cache
def _legend(first: int, supply: int) -> Row:
    """What the marks mean; in drawings also the supply, one tile of which stands for all."""
    words = f" laid last; the leftmost half is at x = {first}"
    pile = [Span("", "", _BACK)] if supply else []
    return row_of(
        Span("< >", "faint", _LAST),
        Span(words, "faint", caption=" laid last   "),
        Span("", "", _ADDED, "an added ring"),
        Span("", "faint", caption=" added ring   "),
        *pile,
        Span("", "faint", caption=f" supply: {supply}"),
    )


def _who(seat: Seat, is_out: bool) -> Span:
    span = badge(seat, f"seat {seat + 1}{' (out)' if is_out else ''}: ")
    return span._replace(caption=" out " if is_out else "")


_HELD = tuple(
    Span(name, "", _tile(*tile), f"tile {name}", "", name) for name, tile in zip(NAMES, TILES, strict=True)
)


def _hand(seat: Seat, hand: int, is_out: bool, drawn: tuple[str, ...]) -> Row:
    """A hand that the reader knows."""
    if not hand:
        return row_of(_who(seat, is_out), Span("none", caption=" none left"), seat=seat)
    spans = [_who(seat, is_out), Span("", "", caption=f" {hand.bit_count()} left ")]
    for tile in tiles_of(hand):
        held = _HELD[tile]
        if held.text in drawn and held.symbol:
            held = held._replace(symbol=_just_drawn(held.symbol), title=f"{held.title}, just drawn")
        spans += (held, Span(" ", caption=""))
    return Row(tuple(spans[:-1]), seat)


@cache
def _back(seat: Seat, tiles: int, is_out: bool, drawn: int) -> Row:
    """A hand of which the reader knows only how many tiles it has, and how many were just drawn."""
    who = _who(seat, is_out)
    backs = [Span("", "", _BACK)] * max(0, tiles - drawn)
    backs += [Span("", "", _just_drawn(_BACK), "a tile just drawn")] * min(drawn, tiles)
    return row_of(who._replace(text=who.text[:-1]), *backs, f" {counted(tiles, 'tile')}", seat=seat)
