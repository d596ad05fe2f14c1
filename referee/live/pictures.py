"""A picture as JSON, for slots: written by a worker, read back without trust. Pure.

    {"panels": [PANEL, …], "symbols": [[NAME, [SHAPE, …]], …]}

A panel is `["row", SEAT, [SPAN, …]]` or `["plane", SEAT, [PIECE, …], [PIECE, …], FRAME, COLUMNS, ROWS]`, with
its marks and its ground. Shapes, spans and pieces begin with the word for their kind, after which come the
fields that `_KINDS` names; a symbol is its index. What only clicks need is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, get_args

from referee.core.errors import RecordError
from referee.games.api import MAX_SEATS
from referee.games.picture import (
    Circle,
    Letters,
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
    Trace,
)

_KINDS: dict[str, tuple[type, tuple[str, ...]]] = {
    "mark": (Mark, ("x", "y", "text", "symbol", "caption", "paint", "title", "size")),
    "trace": (Trace, ("points", "paint", "width", "title", "fresh", "dashes")),
    "region": (Region, ("lines", "paint", "line", "width", "title")),
    "span": (Span, ("text", "paint", "symbol", "title", "caption")),
    "polygon": (Polygon, ("points", "fill", "line", "width")),
    "circle": (Circle, ("x", "y", "radius", "fill", "line", "width", "dash")),
    "stroke": (Stroke, ("points", "line", "width", "dash")),
    "letters": (Letters, ("x", "y", "text", "paint", "size")),
}
"""What a picture is made of, with the fields that are written."""

_WORDS = {kind: word for word, (kind, _) in _KINDS.items()}

_LARGEST = 10_000  # maximum distance from the middle of a plane

_MOST_CHARACTERS = 20  # maximum number of characters that are as wide or as high as 1 on a plane

_LONGEST = 1_000  # maximum number of characters of a text


def picture_json(picture: Picture) -> dict[str, Any]:
    """A picture as JSON."""
    symbols: dict[Symbol, int] = {}

    def written(value: Any) -> Any:
        if isinstance(value, Symbol):
            return symbols.setdefault(value, len(symbols))
        if word := _WORDS.get(type(value)):
            return [word, *(written(getattr(value, name)) for name in _KINDS[word][1])]
        return value

    panels = [
        ["row", panel.seat, [*map(written, panel.spans)]]
        if isinstance(panel, Row)
        else [
            *("plane", panel.seat, [*map(written, panel.marks)], [*map(written, panel.ground)], panel.frame),
            *(panel.columns, panel.rows),
        ]
        for panel in picture
    ]
    return {"panels": panels, "symbols": [[one.name, [*map(written, one.shapes)]] for one in symbols]}


def picture_of(value: object) -> Picture:
    """The picture that a JSON value is. Raises `RecordError` where it is none."""
    try:
        return _picture(value)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"not a picture: {type(error).__name__}") from None


def _picture(value: Any) -> Picture:
    symbols = [
        Symbol(_text(name), tuple(_piece(shape, get_args(Shape), ()) for shape in shapes))
        for name, shapes in value["symbols"]
    ]
    panels: list[Plane | Row] = []
    for word, seat, *rest in value["panels"]:
        if seat is not None and seat not in range(MAX_SEATS):
            raise ValueError
        if word == "row":
            (spans,) = rest
            panels.append(Row(tuple(_piece(span, (Span,), symbols) for span in spans), seat))
        else:
            *pieces, size, columns, rows = rest
            marks, ground = (tuple(_piece(one, get_args(Piece), symbols) for one in some) for some in pieces)
            frame = size and (abs(_number(size[0])), abs(_number(size[1])))
            panels.append(Plane(marks, ground, _scale(columns), _scale(rows), frame=frame, seat=seat))
    return tuple(panels)


def _piece(value: Sequence[Any], kinds: Sequence[type], symbols: Sequence[Symbol]) -> Any:
    word, *fields = value
    kind, names = _KINDS[word]
    if kind not in kinds:
        raise ValueError
    made = {}
    for name, field in zip(names, fields, strict=True):
        if name == "symbol":
            made[name] = None if field is None else symbols[range(len(symbols))[field]]
        else:
            made[name] = _READERS[name](field)
    return kind(**made)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    if not (isfinite(value) and abs(value) <= _LARGEST):
        raise ValueError
    return value


def _scale(value: Any) -> float:
    return min(_MOST_CHARACTERS, max(0, _number(value)))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    if not value.replace("\n", "").isprintable():
        raise ValueError
    return value[:_LONGEST]


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _paint(value: Any) -> Paint:
    return _PAINTS[value]


def _paint_or_none(value: Any) -> Paint | None:
    return None if value is None else _PAINTS[value]


def _points(value: Any) -> tuple[tuple[float, float], ...]:
    return tuple((_number(x), _number(y)) for x, y in value)


def _lines(value: Any) -> tuple[tuple[tuple[float, float], ...], ...]:
    return tuple(map(_points, value))


_PAINTS: dict[str, Paint] = {paint: paint for paint in get_args(Paint)}

_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("x", "y", "size", "width", "radius", "dash"), _number),
    **dict.fromkeys(("text", "title"), _text),
    "caption": _text_or_none,
    "paint": _paint,
    **dict.fromkeys(("fill", "line", "dashes"), _paint_or_none),
    "fresh": bool,
    "points": _points,
    "lines": _lines,
}
"""How the fields are read, by their names."""
