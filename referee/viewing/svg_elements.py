"""Draws the pieces of a picture in SVG, and measures how much space they take. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape
from itertools import accumulate
from math import dist, inf
from typing import NamedTuple, get_args
from unicodedata import east_asian_width

from referee.core.text import shown
from referee.games.picture import (
    Circle,
    Letters,
    Mark,
    Paint,
    Piece,
    Point,
    Polygon,
    Region,
    Row,
    Shape,
    Span,
    Stroke,
    Symbol,
    Trace,
)

UNIT = 40  # how many pixels are as long as 1 on a plane

_CAPTION = 0.4  # the usual height of the letters of a caption
_ROW_LETTERS = 0.4
_ROW_SYMBOL = 0.75  # the size of a symbol in a row, as long as it is not higher than 1
_ROW_HEIGHT, _SYMBOL_ROW_HEIGHT = 0.6, 0.9
_INDENT = 1.0  # where the second line of a row begins
_ADVANCE = 0.61
"""How wide a character is at height 1; those of the usual monospaced fonts are from 0.55 to 0.61."""
_ADVANCES = {**dict.fromkeys(" .,:;'|!()[]ijlftr", 0.36), **dict.fromkeys("mwMW@%", 0.95)}
"""The narrow and wide characters of other fonts; the others are at most about as wide as monospaced ones."""
_BASELINE = 0.35  # how far the baseline is below the middle of letters of height 1
_RIM = 0.045  # the width of a region's outline
_DASH = 0.13  # the length of the dashes along a trace
_BEND = 0.3  # the largest radius of a trace's bends
_MOST = 300  # maximum number of characters of a text


class Box(NamedTuple):
    """A rectangle, by its sides."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """The distance from the left to the right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """The distance from the top to the bottom."""
        return self.bottom - self.top

    def moved(self, x: float, y: float, size: float = 1) -> Box:
        """The box at another size, and then moved."""
        return Box(self.left * size + x, self.top * size + y, self.right * size + x, self.bottom * size + y)


class Placed(NamedTuple):
    """A span with the place in its row at which it begins: across, and the middle of its line."""

    x: float
    y: float
    span: Span
    in_columns: bool = False  # whether its letters are monospaced


Drawable = Piece | Placed


@lru_cache(maxsize=1 << 16)
def element(piece: Drawable, prefix: str, with_part: bool = False) -> str:
    """Draws a piece of a picture, in its panel's group; empty if nothing is drawn. `with_part`: it is
    in a group with the part of a move that it stands for as `data-part`.
    """
    part = ""
    match piece:
        case Mark():
            parts, title, part = _mark(piece, prefix), piece.title, piece.part
        case Trace():
            parts, title = _trace(piece), piece.title
        case Region():
            parts, title = _region(piece), piece.title
        case Placed(_, _, span):
            parts, title, part = _span(piece, prefix), span.title, span.part
    drawn = _titled(parts, title)
    return f'<g data-part="{escaped(part)}">{drawn}</g>' if with_part and part and drawn else drawn


def _titled(parts: Sequence[str], title: str) -> str:
    """The elements that a piece consists of as one that has its title."""
    if not (parts and title):
        return "".join(parts)
    named = f"<title>{escaped(title)}</title>"
    if len(parts) > 1:
        return f"<g>{named}{''.join(parts)}</g>"
    if parts[0].endswith("/>"):
        tag = parts[0][1:].partition(" ")[0]
        return f"{parts[0].removesuffix('/>')}>{named}</{tag}>"
    return parts[0].replace(">", f">{named}", 1)


def _mark(mark: Mark, prefix: str) -> list[str]:
    parts = []
    if mark.symbol:
        parts.append(_use(mark.symbol, mark.paint, prefix, mark.x, mark.y, mark.size))
    if mark.caption:
        kind = _text_class(mark.paint, mark.symbol, mark.paint)
        parts.append(_letters(mark.x, mark.y, mark.caption, kind, _caption_size(mark)))
    return parts


def _trace(trace: Trace) -> list[str]:
    if not trace.points:
        return []
    path, width = _path(trace.points), trace.width
    lines: list[tuple[Paint, float]] = [(trace.paint, width)]
    if edge := _PAINTS.get(f"{trace.paint}-edge"):
        lines = [(edge, width + 0.05), *lines]
    if trace.fresh:  # a line along both sides, with a gap
        lines = [("fresh", width * 3), ("page", width * 2.1), *lines]
    found = [_wide(path, paint, width) for paint, width in lines]
    if trace.dashes:
        found.append(_wide(path, trace.dashes, width * 0.3, _dash(_DASH)))
    return found


def _region(region: Region) -> list[str]:
    if not region.lines:
        return []
    path = "".join(
        f"M{_point(first)}{''.join(f'L{_point(point)}' for point in rest or [first])}"
        for first, *rest in region.lines
    )
    inside = [_wide(path, region.paint, region.width)] if region.paint != region.line else []
    return [_wide(path, region.line, region.width + 2 * _RIM), *inside]


def _wide(path: str, paint: Paint, width: float, dashes: str = "") -> str:
    kind = f'class="line-{_name(paint)}"{dashes} stroke-width="{_px(width)}"'
    return f'<path {kind} d="{path}" fill="none"/>'


def _span(placed: Placed, prefix: str) -> list[str]:
    span = placed.span
    text = shown(_drawn_text(span), _MOST)
    before, after = _blanks(text, placed.in_columns)
    x = placed.x + before
    if span.symbol:
        box = _symbol_box(span.symbol)
        size = _row_size(span.symbol)
        # In the middle of the characters that it stands for.
        x += (_span_width(span, placed.in_columns) - before - after - box.width * size) / 2 - box.left * size
        y = placed.y - (box.top + box.bottom) / 2 * size
        return [_use(span.symbol, span.paint, prefix, x, y, size)]
    # Blanks next to each other would become one.
    text = re.sub("  +", lambda blanks: "\u00a0" * len(blanks[0]), text.strip(" "))
    if not text:
        return []
    written = escape(text)  # guard: drawn-rows
    y = placed.y + _BASELINE * _ROW_LETTERS
    place = f'x="{_px(x)}" y="{_px(y)}" font-size="{_px(_ROW_LETTERS)}"'
    kind = f"text-{_name(span.paint)}{' mono' if placed.in_columns else ''}"
    return [f'<text class="{kind}" {place}>{written}</text>']


@lru_cache(maxsize=1 << 12)
def placed(row: Row, most: float) -> tuple[Placed, ...]:
    """The spans of a row with their places, in several lines where its words and symbols reach beyond `most`.
    Without such a limit, where rows are all there is, they may be a board of characters, in columns.
    """
    in_columns = most == inf
    ends = list(accumulate((_span_width(span, in_columns) for span in row.spans), initial=0.0))
    if ends[-1] <= most:
        return tuple(Placed(x, 0, span, in_columns) for x, span in zip(ends, row.spans, strict=False))
    x, y = 0.0, 0.0
    found: list[Placed] = []
    for span in row.spans:
        begun = False  # whether this line has words of the span
        for word in _words(span):
            text = _drawn_text(word)
            before, after = _blanks(text, False)
            is_drawn = span.symbol or text.strip(" ")
            if is_drawn and x > _INDENT and x + _span_width(word, False) - after > most:
                x, y, begun = _INDENT - before, y + _line_height(row), False
            if begun:
                last = found.pop()
                found.append(last._replace(span=span._replace(text=last.span.text + text, caption=None)))
            else:
                found.append(Placed(x, y, word))
            x += _span_width(word, False)
            begun = True
    return tuple(found)


def _words(span: Span) -> list[Span]:
    """The pieces of a span that may stand on lines of their own."""
    if span.symbol:
        return [span]
    words = re.findall(" *[^ ]+(?: +$)?|^ +$", _drawn_text(span))
    return [span._replace(text=word, caption=None) for word in words]


def _use(symbol: Symbol, paint: Paint, prefix: str, x: float, y: float, size: float) -> str:
    place = f'x="{_px(x)}" y="{_px(y)}"'
    if size != 1:
        place = f'transform="translate({_px(x)} {_px(y)})scale({_number(size, 3)})"'
    return f'<use href="#{_symbol_id(symbol, paint, prefix)}" {place}/>'


def _letters(x: float, y: float, text: str, kind: str, size: float) -> str:
    place = f'x="{_px(x)}" y="{_px(y + _BASELINE * size)}" font-size="{_px(size)}"'
    return f'<text class="{kind}" {place}>{escaped(text)}</text>'


def group(x: float, y: float, attributes: str = "", size: float = 1) -> str:
    """The beginning of a group of elements that is moved, at another size."""
    scaled = "" if size == 1 else f"scale({_number(size, 3)})"
    return f'<g transform="translate({_px(x)} {_px(y)}){scaled}"{attributes and " "}{attributes}>'


@lru_cache(maxsize=1 << 12)
def _symbol_id(symbol: Symbol, paint: Paint, prefix: str) -> str:
    drawn = hashlib.sha256("".join(_shapes(symbol, paint)).encode()).hexdigest()[:6]
    return f"{prefix}{_name(symbol.name.replace(' ', '-'))}-{drawn}"


@lru_cache(maxsize=1 << 12)
def symbol_definition(symbol: Symbol, paint: Paint, prefix: str) -> tuple[str, str]:
    """The id of a symbol in a paint, and what `<use>` with this id draws."""
    name = _symbol_id(symbol, paint, prefix)
    anchor = ' text-anchor="middle"' if any(isinstance(shape, Letters) for shape in symbol.shapes) else ""
    return name, f'<g id="{name}"{anchor}>{"".join(_shapes(symbol, paint))}</g>'


def _shapes(symbol: Symbol, own: Paint) -> Iterator[str]:
    for number, shape in enumerate(symbol.shapes):
        match shape:
            case Polygon(points, fill, line, width):
                kinds = _classes(fill and _paint(fill, own), line and _paint(line, own))
                yield f'<polygon {kinds}{_width(width, line)} points="{_points(points)}"/>'
            case Circle(x, y, radius, fill, line, width, dash):
                kinds = f"{_classes(fill and _paint(fill, own), line and _paint(line, own))}{_dash(dash)}"
                yield f'<circle {kinds}{_width(width, line)} cx="{_px(x)}" cy="{_px(y)}" r="{_px(radius)}"/>'
            case Stroke(points, line, width, dash):
                kinds = f"{_classes(None, _paint(line, own))}{_dash(dash)}"
                yield f'<polyline {kinds}{_width(width, line)} points="{_points(points)}"/>'
            case Letters(x, y, text, paint, size):
                below = symbol._replace(shapes=symbol.shapes[:number])
                kind = _text_class(_paint(paint, own), below, own, (x, y))
                yield _letters(x, y, text, kind, size)


_PAINTS: dict[str, Paint] = {paint: paint for paint in get_args(Paint)}
_WITHOUT: dict[str, Paint] = {"edge": "edge", "second": "own", "tint": "board"}
"""Stands for the outline, the light colour and the shade of what has none of its own."""


@lru_cache(maxsize=1 << 12)
def _paint(paint: Paint, own: Paint) -> Paint:
    """The paint of a shape in a symbol, given that of the mark."""
    owner, _, kind = paint.partition("-")
    if owner != "own":
        return paint
    base = own.partition("-")[0]
    if kind in ("", "first"):
        return own if kind == "" else _PAINTS.get(base, own)
    return _PAINTS.get(f"{base}-{kind}") or _paint(_WITHOUT[kind], own)


def _classes(fill: Paint | None, line: Paint | None) -> str:
    if fill is None:
        return 'fill="none"' if line is None else f'fill="none" class="line-{_name(line)}"'
    return f'class="fill-{_name(fill)}{"" if line is None else f" line-{_name(line)}"}"'


def _dash(length: float) -> str:
    return f' stroke-dasharray="{_px(length)}"' if length else ""


def _width(width: float, line: Paint | None) -> str:
    return "" if line is None else f' stroke-width="{_px(width)}"'


@lru_cache(maxsize=1 << 12)
def _text_class(paint: Paint, symbol: Symbol | None, own: Paint, at: Point = (0, 0)) -> str:
    """The class of a text over a symbol: what is below decides the colour of ordinary text, and of any text
    on a strong colour.
    """
    below = _below(symbol, own, at) if symbol else None
    if below is None or (below == "board" and paint not in ("", below)):
        return f"text-{_name(paint)}"
    return f"over-{_name(below)}"


def _below(symbol: Symbol, own: Paint, at: Point) -> Paint | None:
    """The paint of a symbol at a point; None where it is empty."""
    found: Paint | None = None
    for shape in symbol.shapes:
        match shape:
            case Polygon(points, fill) if fill is not None and _contains(points, at):
                found = _paint(fill, own)
            case Circle(x, y, radius, fill) if fill is not None and dist((x, y), at) < radius:
                found = _paint(fill, own)
    return found


def _contains(points: Sequence[Point], at: Point) -> bool:
    """Whether a point is in a polygon: whether a ray from it crosses an odd number of sides."""
    x, y = at
    inside = False
    for (x1, y1), (x2, y2) in zip(points, (*points[1:], *points[:1]), strict=True):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            inside = not inside
    return inside


def _caption_size(mark: Mark) -> float:
    size = _CAPTION * mark.size
    if mark.symbol and _below(mark.symbol, mark.paint, (0, 0)) is not None:
        most = 0.9 * _symbol_box(mark.symbol).width * mark.size
        size = min(size, most / _text_width(mark.caption, 1))
    return size


@lru_cache(maxsize=1 << 16)
def box_of(mark: Piece) -> Box | None:
    """The box of what is drawn for a mark on its plane; None where nothing is."""
    if isinstance(mark, Trace):
        return _box_round(mark.points, mark.width * 1.5) if mark.points else None
    if isinstance(mark, Region):
        points = [point for line in mark.lines for point in line]
        return _box_round(points, mark.width / 2 + _RIM) if points else None
    boxes = []
    if mark.symbol and mark.symbol.shapes:
        boxes.append(_symbol_box(mark.symbol).moved(mark.x, mark.y, mark.size))
    if mark.caption:
        boxes.append(_text_box(mark.x, mark.y, mark.caption, _caption_size(mark)))
    return union(boxes) if boxes else None


@lru_cache(maxsize=1 << 12)
def _symbol_box(symbol: Symbol) -> Box:
    boxes = [_shape_box(shape) for shape in symbol.shapes]
    return union(boxes) if boxes else Box(0, 0, 0, 0)


def _shape_box(shape: Shape) -> Box:
    match shape:
        case Polygon(points, _, line, width):
            return _box_round(points, 0 if line is None else width / 2)
        case Circle(x, y, radius, _, line, width):
            return _box_round([(x, y)], radius + (0 if line is None else width / 2))
        case Stroke(points, _, width):
            return _box_round(points, width / 2)
        case Letters(x, y, text, _, size):
            return _text_box(x, y, text, size)


def _box_round(points: Sequence[Point], margin: float) -> Box:
    across, down = zip(*points, strict=True)
    return Box(min(across) - margin, min(down) - margin, max(across) + margin, max(down) + margin)


def _text_box(x: float, y: float, text: str, size: float) -> Box:
    half = _text_width(text, size) / 2
    return Box(x - half, y - size / 2, x + half, y + size / 2)


def union(boxes: Sequence[Box]) -> Box:
    """The box round all of several boxes; empty for none."""
    if not boxes:
        return Box(0, 0, 0, 0)
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


def _text_width(text: str, size: float) -> float:
    text = shown(text, _MOST)
    return size * (
        sum(_ADVANCES.get(character, _ADVANCE) for character in text) + _ADVANCE * _wide_characters(text)
    )


def _wide_characters(text: str) -> int:
    return 0 if text.isascii() else sum(east_asian_width(character) in "WF" for character in text)


@lru_cache(maxsize=1 << 12)
def row_box(row: Row, most: float) -> Box:
    """The box of a row, which begins at 0, with the middle of its first line at 0."""
    half = _line_height(row) / 2
    pieces = placed(row, most)
    right = max((piece.x + _span_width(piece.span, most == inf) for piece in pieces), default=0.0)
    return Box(0, -half, right, max((piece.y for piece in pieces), default=0.0) + half)


def _line_height(row: Row) -> float:
    if not any(span.symbol or _drawn_text(span) for span in row.spans):
        return 0  # it is for terminals
    return _SYMBOL_ROW_HEIGHT if any(span.symbol for span in row.spans) else _ROW_HEIGHT


def _row_size(symbol: Symbol) -> float:
    """The size of a symbol in a row, where it is not to be higher than the row."""
    box = _symbol_box(symbol)
    return _ROW_SYMBOL / max(1, box.height)


@lru_cache(maxsize=1 << 12)
def _span_width(span: Span, in_columns: bool) -> float:
    """Returns the width of a span: that of its characters, so that what stands in columns stays in columns,
    or its symbol with the blanks around it.
    """
    text = shown(_drawn_text(span), _MOST)
    width = _text_width(text, _ROW_LETTERS)
    if in_columns:
        width = (len(text) + _wide_characters(text)) * _ADVANCE * _ROW_LETTERS
    if span.symbol:
        drawn = _symbol_box(span.symbol).width
        symbol_width = drawn * _row_size(span.symbol) + min(0.2, drawn / 4)
        width = max(width, symbol_width + sum(_blanks(text, in_columns)))
    return width


def _drawn_text(span: Span) -> str:
    return span.text if span.caption is None else span.caption


def _blanks(text: str, in_columns: bool) -> tuple[float, float]:
    """Returns the widths of the blanks before and after a text of a row."""
    blank = (_ADVANCE if in_columns else _ADVANCES[" "]) * _ROW_LETTERS
    before = len(text) - len(text.lstrip(" "))
    after = len(text) - len(text.rstrip(" ")) if before < len(text) else 0
    return before * blank, after * blank


def _path(points: Sequence[Point]) -> str:
    parts = [f"M{_point(points[0])}"]
    for before, bend, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(_BEND, dist(before, bend) / 2, dist(bend, after) / 2)
        parts += [f"L{_point(_towards(bend, before, radius))}"]
        parts += [f"Q{_point(bend)} {_point(_towards(bend, after, radius))}"]
    return "".join([*parts, f"L{_point(points[-1])}"])


def _towards(start: Point, end: Point, way: float) -> Point:
    """The point that is so far from the one on the way to the other."""
    share = way / (dist(start, end) or 1)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{_px(x)},{_px(y)}" for x, y in points)


def _point(point: Point) -> str:
    return f"{_px(point[0])} {_px(point[1])}"


def _px(length: float) -> str:
    """A length on a plane in pixels, to a tenth of one."""
    return _number(length * UNIT)


def _number(number: float, digits: int = 1) -> str:
    text = f"{number:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _name(text: str) -> str:
    """The part of a class or an id that stands for a paint or a symbol; ordinary ink is `ink`."""
    return re.sub("[^a-z0-9-]", "", text.lower()) or "ink"


def escaped(text: str) -> str:
    """A text as it stands in XML: whatever XML does not allow becomes an escape such as `\\x1b`."""
    return escape(shown(text, _MOST))  # guard: drawn-text
