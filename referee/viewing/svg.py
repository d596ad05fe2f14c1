"""Pictures as SVG, in a frame that all pictures of a game have in common. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import NamedTuple

from referee.games.picture import Mark, Paint, Picture, Piece, Plane, Row, Span, Symbol
from referee.viewing.svg_elements import (
    UNIT,
    Box,
    Drawable,
    Placed,
    box_of,
    element,
    escaped,
    group,
    placed,
    row_box,
    symbol_definition,
    union,
)

SVG_START = "<svg"  # how every file begins that is made here

_ROW_WIDTH = 11.1
"""Where rows are broken into lines, unless a board is wider: so that they can be read on a phone."""
SMALLEST_ROWS = 0.65
"""How much smaller than usual rows are drawn that are wider than a small board, which fills more of the width
then; so that they can be read on a phone.
"""
_LARGEST = 1.5  # how much larger than usual a position may be drawn in a frame
_GAP = 0.3  # the space between panels and round the picture


@dataclass(frozen=True, slots=True)
class Layout:
    """A frame that several pictures have in common, so that nothing moves from one to the next."""

    prefix: str  # what the ids of all symbols begin with
    width: int  # in pixels
    height: int  # in pixels
    symbols: Mapping[str, str]
    """The definition of each symbol of the pictures by its id, for `<defs>`. The id depends on what is drawn,
    so that the symbols of several layouts may be put together.
    """
    ground: str  # what is below everything, in all pictures
    row_width: float  # where rows are broken into lines
    panels: tuple[_Panel, ...]  # the places of the panels
    with_parts: bool
    """Whether what stands for a part of a move has it as `data-part`, to be clicked."""

    @classmethod
    def of(cls, pictures: Iterable[Picture], prefix: str = "s-", with_parts: bool = False) -> Layout:
        """The frame for these pictures: panels with the same number have the same place in each."""
        return draw(pictures, prefix, with_parts=with_parts)[0]

    @property
    def view_box(self) -> str:
        """The value of the attribute `viewBox` of `<svg>`."""
        return f"0 0 {self.width} {self.height}"

    @property
    def grows(self) -> bool:
        """Whether a board is drawn as large as fits in the frame."""
        return any(panel.frame for panel in self.panels)

    @property
    def defs(self) -> str:
        """The element `<defs>` with all symbols."""
        return f"<defs>{''.join(self.symbols.values())}</defs>"

    def elements(self, picture: Picture) -> list[str]:
        """Draws one of the layout's pictures over its ground. The strings are to be joined: one may begin a
        group that another ends.
        """
        drawing = Drawing(self.prefix, with_parts=self.with_parts)
        return [drawing.elements[index] for index in drawing.indexes(drawing.take(picture), self)]

    def drawn_over(self, picture: Picture, number: int, marks: Sequence[Mark]) -> str:
        """Marks over a plane of one of the layout's pictures, with the symbols that the layout lacks; they
        may reach beyond its edges.
        """
        panel = picture[number]
        assert isinstance(panel, Plane)
        used = (symbol_definition(mark.symbol, mark.paint, self.prefix) for mark in marks if mark.symbol)
        defs = "".join(text for name, text in dict(used).items() if name not in self.symbols)
        drawn = "".join(element(mark, self.prefix) for mark in marks)
        return f"<defs>{defs}</defs>{self.panels[number].beginning(_box_of(panel.marks))}{drawn}</g>"

    def svg(self, picture: Picture, style: str, title: str, description: str = "") -> str:
        """A whole SVG file for one of the layout's pictures, with a style sheet and, for those who do not see
        it, a title and a description.
        """
        return (
            f'{SVG_START} xmlns="http://www.w3.org/2000/svg" class="picture" viewBox="{self.view_box}"'
            f' width="{self.width}" height="{self.height}" role="img"'
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


@dataclass(frozen=True, slots=True)
class SvgParts:
    """Pictures as strings that stand one after the other in the `<svg>`, over the layout's ground."""

    elements: tuple[str, ...]
    """The different strings. Not each is an element by itself: one may begin a group that another ends."""
    pictures: tuple[tuple[int, ...], ...]
    """For each picture the indexes of its strings, in the order in which they are painted."""


def draw(
    pictures: Iterable[Picture],
    prefix: str = "s-",
    row_width: float | None = None,
    with_parts: bool = False,
) -> tuple[Layout, SvgParts]:
    """A frame for these pictures, and all of them drawn in it. `row_width`: where rows are broken into lines,
    if no board is wider. `with_parts`: what stands for a part of a move has it as `data-part`.
    """
    drawing = Drawing(prefix, row_width, with_parts)
    taken = [drawing.take(picture) for picture in pictures]
    layout = drawing.layout()
    drawn = tuple(tuple(drawing.indexes(picture, layout)) for picture in taken)
    return layout, SvgParts(tuple(drawing.elements), drawn)


class Drawing:
    """Pictures of one game that are taken one after the other; a frame for all of them so far."""

    def __init__(self, prefix: str = "s-", row_width: float | None = None, with_parts: bool = False) -> None:
        """As in `draw`."""
        self._row_width = row_width
        self._texts = _Texts(prefix, with_parts)
        self._slots: list[_Slot] = []
        self._count = 0  # how many pictures were taken
        self._layout: tuple[list[Hashable], Layout] | None = None  # the last frame, and what it depends on

    @property
    def elements(self) -> Sequence[str]:
        """The different strings so far, as in `SvgParts`. It only grows."""
        return self._texts.all

    def take(self, picture: Picture) -> list[Row | _Marks]:
        """Takes the next picture, which `indexes` draws in the frame of all."""
        slots = self._slots
        slots += [_Slot(self._texts) for _ in picture[len(slots) :]]
        self._count += 1
        return [slot.take(panel) for slot, panel in zip(slots, picture, strict=False)]

    def layout(self) -> Layout:
        """The frame for the pictures so far: the same one as long as it has room for them."""
        shapes = [slot.shape(self._count) for slot in self._slots]
        if self._layout is None or self._layout[0] != shapes:
            self._layout = shapes, _layout(self._slots, self._count, self._texts, self._row_width)
        return self._layout[1]

    def indexes(self, taken: Sequence[Row | _Marks], layout: Layout) -> list[int]:
        """The indexes of the strings of a picture that was taken, in the order in which they are painted."""
        texts, found = self._texts, []
        for slot, place, panel in zip(self._slots, layout.panels, taken, strict=False):
            if isinstance(panel, Row):
                beginning, inside = place.row, slot.indexes.of(placed(panel, layout.row_width))
            else:
                below = [] if place.ground else slot.indexes.of(panel.ground)
                beginning, inside = place.beginning(panel.box), [*below, *panel.indexes]
            if inside:
                found += [texts.index(beginning), *inside, texts.index("</g>")]
        return found


def _layout(slots: Sequence[_Slot], count: int, texts: _Texts, row_width: float | None) -> Layout:
    prefix, with_parts = texts.prefix, texts.with_parts
    planes = [slot.plane_box() for slot in slots]
    has_planes = any(slot.has_planes for slot in slots)
    # Where there are rows alone, these may be a board of characters.
    if row_width is None:
        row_width = _ROW_WIDTH if has_planes else inf
    row_width = max(row_width, *(box.width for box in planes)) if planes else row_width
    rows = [slot.row_box(row_width) for slot in slots]
    widest_plane = max((box.width for box in planes), default=0.0)
    widest_row = max((box.width for box in rows), default=0.0)
    size = 1.0
    if 0 < widest_plane < widest_row:
        size = max(SMALLEST_ROWS, widest_plane / widest_row)
        rows = [box.moved(0, 0, size) for box in rows]
    width = max(widest_plane, widest_row * size)
    panels: list[_Panel] = []
    y = _GAP
    before = True
    for slot, plane, row in zip(slots, planes, rows, strict=True):
        y += _GAP if panels and (before or slot.has_planes) else 0
        before = slot.has_planes
        x = _GAP + (width - plane.width) / 2 - plane.left
        in_the_middle = group(x, y - plane.top, 'text-anchor="middle"')
        frame = plane.moved(x, y - plane.top) if slot.frame else None
        panels.append(
            _Panel(in_the_middle, group(_GAP, y - row.top, size=size), slot.common_ground(count), frame)
        )
        y += max(plane.height, row.height)
    symbols = {pair for slot in slots for pair in slot.symbols}
    return Layout(
        prefix,
        round((width + 2 * _GAP) * UNIT),
        round((y + _GAP) * UNIT),
        dict(sorted(symbol_definition(*pair, prefix) for pair in symbols)),
        "".join(_ground(panel, prefix, with_parts) for panel in panels if panel.ground),
        row_width,
        tuple(panels),
        with_parts,
    )


class _Panel(NamedTuple):
    plane: str  # the beginning of the group that it is in where it is a plane, in the middle of the frame
    row: str  # the beginning of the group that it is in where it is a row, on the left
    ground: tuple[Piece, ...]  # the ground, if it is the same in all pictures
    frame: Box | None
    """Where it is a plane of which each position is drawn as large as fits: the place for it."""

    def beginning(self, box: Box) -> str:
        """The beginning of the group of a plane whose marks have this box: in a frame, in the middle of its
        lower edge.
        """
        frame = self.frame
        if frame is None or not (box.width and box.height):
            return self.plane
        size = min(_LARGEST, frame.width / box.width, frame.height / box.height)
        x = (frame.left + frame.right - size * (box.left + box.right)) / 2
        return group(x, frame.bottom - size * box.bottom, 'text-anchor="middle"', size)


@lru_cache(maxsize=1 << 8)
def _ground(panel: _Panel, prefix: str, with_parts: bool) -> str:
    return f"{panel.plane}{''.join(element(mark, prefix, with_parts) for mark in panel.ground)}</g>"


class _Texts:
    """Strings that are kept once each; index 0 is that of the empty string."""

    def __init__(self, prefix: str, with_parts: bool) -> None:
        self.prefix = prefix
        self.with_parts = with_parts
        self.all = [""]
        self._indexes = {"": 0}

    def index(self, text: str) -> int:
        if text not in self._indexes:
            self._indexes[text] = len(self.all)
            self.all.append(text)
        return self._indexes[text]


class _PieceIndexes(dict[Drawable, int]):
    def __init__(self, texts: _Texts) -> None:
        super().__init__()
        self._texts = texts
        self.new: list[Drawable] = []  # those that came since somebody emptied this list

    def __missing__(self, piece: Drawable) -> int:
        texts = self._texts
        self[piece] = index = texts.index(element(piece, texts.prefix, texts.with_parts))
        self.new.append(piece)
        return index

    def of(self, pieces: Iterable[Drawable]) -> list[int]:
        """The indexes of pieces for which anything is drawn."""
        return list(filter(None, map(self.__getitem__, pieces)))


class _Marks(NamedTuple):
    indexes: list[int]  # what is drawn for its marks
    ground: tuple[Piece, ...]
    box: Box  # the box of its marks


def _box_of(pieces: Iterable[Piece]) -> Box:
    return union([box for piece in pieces if (box := box_of(piece))])


class _Slot:
    """What the panels with one number are in all pictures."""

    def __init__(self, texts: _Texts) -> None:
        self.indexes = _PieceIndexes(texts)
        self.symbols: set[tuple[Symbol, Paint]] = set()  # with the paint in which each is drawn
        self._box: Box | None = None  # the box of all marks; None where there are none
        self._rows: set[Row] = set()
        self._grounds: list[tuple[Piece, ...]] = []
        self._planes = 0
        self.frame: tuple[float, float] | None = None  # the frame of its planes, if they have one

    def take(self, panel: Plane | Row) -> Row | _Marks:
        if isinstance(panel, Row):
            if panel not in self._rows:
                self._rows.add(panel)
                self._add_symbols(panel.spans)
            return panel
        self._planes += 1
        self.frame = panel.frame
        if panel.ground not in self._grounds:
            self._grounds.append(panel.ground)
            self._add_pieces(panel.ground)
        box = _box_of(panel.marks) if panel.frame else Box(0, 0, 0, 0)
        return _Marks(self.indexes.of(panel.marks), panel.ground, box)

    def shape(self, count: int) -> Hashable:
        """What its place in the frame of this many pictures depends on, as long as nothing is taken away."""
        new, self.indexes.new = self.indexes.new, []
        self._add_pieces([piece for piece in new if not isinstance(piece, Placed)])
        return self._box, len(self.symbols), len(self._rows), len(self._grounds), self._planes == count

    def _add_pieces(self, pieces: Sequence[Piece]) -> None:
        boxes = [box for piece in pieces if (box := box_of(piece))]
        if boxes:
            self._box = union([*boxes, self._box or boxes[0]])
        self._add_symbols(piece for piece in pieces if isinstance(piece, Mark))

    def _add_symbols(self, pieces: Iterable[Mark | Span]) -> None:
        self.symbols.update((piece.symbol, piece.paint) for piece in pieces if piece.symbol)

    @property
    def has_planes(self) -> bool:
        return self._planes > 0

    def common_ground(self, count: int) -> tuple[Piece, ...]:
        """The ground, if this many pictures have the same."""
        return self._grounds[0] if len(self._grounds) == 1 and self._planes == count else ()

    def plane_box(self) -> Box:
        """The box of all marks, or the frame that they are drawn in."""
        return Box(0, 0, *self.frame) if self.frame else self._box or Box(0, 0, 0, 0)

    def row_box(self, most: float) -> Box:
        return union([row_box(row, most) for row in self._rows])
