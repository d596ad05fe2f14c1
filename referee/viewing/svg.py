"""Pictures as SVG, in a frame that all pictures of a game have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from referee.games.picture import Mark, Paint, Picture, Plane, Row, Span, Symbol, Trace
from referee.viewing.svg_elements import (
    UNIT,
    Box,
    Piece,
    box_of,
    element,
    escaped,
    group,
    placed,
    row_box,
    symbol_definition,
    union,
)

SVG_START = "<svg"
"""How every file begins that is made here."""

_GAP = 0.3
"""The space between panels and round the picture."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Pictures drawn: strings that stand one after the other in the `<svg>`, each of them kept once."""

    elements: tuple[str, ...]
    """The different strings. Not each is an element by itself: one may begin a group that another ends."""
    pictures: tuple[tuple[int, ...], ...]
    """For each picture the indexes of its strings, in the order in which they are painted, without the
    layout's ground.
    """


@dataclass(frozen=True, slots=True)
class Layout:
    """A frame that several pictures have in common, so that nothing moves from one to the next."""

    prefix: str
    """What the ids of all symbols begin with."""
    width: int
    """In pixels."""
    height: int
    """In pixels."""
    symbols: Mapping[str, str]
    """The definition of each symbol of the pictures by its id, for `<defs>`. The id depends on what is drawn,
    so that the symbols of several layouts may be put together.
    """
    ground: str
    """What is below everything, in all pictures."""
    panels: tuple[_Panel, ...]
    """The places of the panels."""

    @classmethod
    def of(cls, pictures: Iterable[Picture], prefix: str = "s-") -> Layout:
        """The frame for these pictures: panels with the same number have the same place in each."""
        slots = _slots(pictures)
        width = max((slot.width for slot in slots), default=0.0)
        panels = []
        y = _GAP
        for before, slot in zip((None, *slots), slots, strict=False):
            if before and (before.has_plane or slot.has_plane):
                y += _GAP
            panels.append(slot.panel(_GAP, y, width))
            y += slot.height
        symbols = {pair for slot in slots for pair in slot.symbols()}
        return cls(
            prefix,
            round((width + 2 * _GAP) * UNIT),
            round((y + _GAP) * UNIT),
            dict(sorted(symbol_definition(*pair, prefix) for pair in symbols)),
            "".join(_ground(panel, prefix) for panel in panels if panel.ground),
            tuple(panels),
        )

    @property
    def view_box(self) -> str:
        """The value of the attribute `viewBox` of `<svg>`."""
        return f"0 0 {self.width} {self.height}"

    @property
    def defs(self) -> str:
        """The element `<defs>` with all symbols."""
        return f"<defs>{''.join(self.symbols.values())}</defs>"

    def elements(self, picture: Picture) -> list[str]:
        """What is drawn for one of the layout's pictures over its ground. The strings are to be joined: one
        may begin a group that another ends.
        """
        drawn = self.drawn([picture])
        return [drawn.elements[index] for index in drawn.pictures[0]]

    def drawn(self, pictures: Iterable[Picture]) -> Drawn:
        """The layout's pictures drawn, without its ground, which is the same in all of them."""
        indexes = _Indexes(self.prefix)
        found = tuple(self._indexed(picture, indexes) for picture in pictures)
        return Drawn(tuple(indexes.texts), found)

    def _indexed(self, picture: Picture, indexes: _Indexes) -> tuple[int, ...]:
        found: list[int] = []
        for place, panel in zip(self.panels, picture, strict=False):
            pieces: Sequence[Piece]
            if isinstance(panel, Row):
                beginning, pieces = place.row, placed(panel)
            else:
                beginning = place.plane
                pieces = panel.marks if place.ground else (*panel.ground, *panel.marks)
            if drawn := list(filter(None, map(indexes.__getitem__, pieces))):
                found += [indexes.of_text(beginning), *drawn, indexes.of_text("</g>")]
        return tuple(found)

    def svg(
        self, picture: Picture, style: str, title: str, description: str = "", width: int | None = None
    ) -> str:
        """A whole SVG file for one of the layout's pictures, with a style sheet and, for those who do not
        see it, a title and a description; on request so many pixels wide.
        """
        wide = self.width if width is None else width
        return (
            f'{SVG_START} xmlns="http://www.w3.org/2000/svg" class="picture" viewBox="{self.view_box}"'
            f' width="{wide}" height="{max(1, round(self.height * wide / self.width))}" role="img"'
            f' aria-labelledby="{self.prefix}title {self.prefix}description">\n'
            f'<title id="{self.prefix}title">{escaped(title)}</title>\n'
            f'<desc id="{self.prefix}description">{escaped(description)}</desc>\n'
            f"<style>{style}</style>\n"
            f"{self.defs}\n"
            f'<rect class="fill-page" width="{self.width}" height="{self.height}"/>\n'
            f"{self.ground}\n"
            f"{''.join(self.elements(picture))}\n"
            "</svg>\n"
        )


class _Panel(NamedTuple):
    """The place of a panel in the frame."""

    plane: str
    """The beginning of the group that it is in where it is a plane."""
    row: str
    """The beginning of the group that it is in where it is a row."""
    ground: tuple[Mark | Trace, ...]
    """The ground, if it is the same in all pictures."""


class _Slot:
    """What the panels with one number are in all pictures."""

    def __init__(self, planes: Sequence[Plane], rows: set[Row], in_all: bool) -> None:
        """`in_all` says whether each picture has such a plane."""
        self._rows = rows
        self._marks: set[Mark | Trace] = set().union(*(plane.marks for plane in planes))
        ground = planes[0].ground if planes else ()
        is_common = in_all and all(plane.ground == ground for plane in planes)
        self._ground = ground if is_common else ()
        self._marks.update(*([ground] if is_common else [plane.ground for plane in planes]))
        boxes = [box for mark in self._marks if (box := box_of(mark))]
        self._plane_box = union(boxes) if boxes else Box(0, 0, 0, 0)
        self._row_box = union([row_box(row) for row in rows]) if rows else Box(0, 0, 0, 0)
        self.has_plane = bool(planes)
        self.width = max(self._plane_box.width, self._row_box.width)
        self.height = max(self._plane_box.height, self._row_box.height)

    def panel(self, left: float, top: float, width: float) -> _Panel:
        """The place of the panel in a column of a width: planes are in the middle of it, rows on the left."""
        plane, row = self._plane_box, self._row_box
        x = left + (width - plane.width) / 2 - plane.left
        return _Panel(
            group(x, top - plane.top, 'text-anchor="middle"'), group(left, top - row.top), self._ground
        )

    def symbols(self) -> set[tuple[Symbol, Paint]]:
        """The symbols with the paint in which each is drawn."""
        spans = {span for row in self._rows for span in row.spans}
        pieces: Iterable[Mark | Trace | Span] = (*self._marks, *spans)
        return {(p.symbol, p.paint) for p in pieces if not isinstance(p, Trace) and p.symbol}


@lru_cache(maxsize=1 << 8)
def _ground(panel: _Panel, prefix: str) -> str:
    return f"{panel.plane}{''.join(element(mark, prefix) for mark in panel.ground)}</g>"


def _slots(pictures: Iterable[Picture]) -> list[_Slot]:
    panels: list[list[Plane]] = []
    rows: list[set[Row]] = []
    count = 0
    for picture in pictures:
        count += 1
        panels += [[] for _ in picture[len(panels) :]]
        rows += [set() for _ in picture[len(rows) :]]
        for number, panel in enumerate(picture):
            if isinstance(panel, Row):
                rows[number].add(panel)
            else:
                panels[number].append(panel)
    return [
        _Slot(planes, of_rows, len(planes) == count) for planes, of_rows in zip(panels, rows, strict=True)
    ]


class _Indexes(dict[Piece, int]):
    """The indexes of the strings of pieces; 0 is that of a piece for which nothing is drawn."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self.texts = [""]
        self._by_text = {"": 0}

    def __missing__(self, piece: Piece) -> int:
        self[piece] = index = self.of_text(element(piece, self._prefix))
        return index

    def of_text(self, text: str) -> int:
        """The index of a string."""
        if text not in self._by_text:
            self._by_text[text] = len(self.texts)
            self.texts.append(text)
        return self._by_text[text]
