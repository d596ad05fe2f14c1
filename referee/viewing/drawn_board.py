"""The board of a game in play, drawn position by position for a page that is told what is new. Pure.

A board is a JSON object:

    {"id", "bots": [NAME, …], "game": SLUG, "clocks": [[MOVE_US, RESERVE_US] or null, …],
     "box": "0 0 WIDTH HEIGHT", "ground": SVG, "defs": SVG,
     "from": NUMBER, "new": [SVG, …], "draw": [INDEX, …],
     "turn": [SEAT, …], "reserves": [RESERVE_US or null, …], "at": US,
     "moves": NUMBER, "last": TEXT, "rows": {SEAT: TEXT, …}}

The position is `"ground"` and the elements with the indexes of `"draw"`, over the symbols of `"defs"`. An
element is a piece of SVG, which may begin a group that another ends. A game only gains elements: `"new"` are
those from index `"from"` on. `"turn"` are the seats that are asked, counted from 1, since `"at"` on the
monotonic clock of the machine; `"reserves"` are what they had then. `"moves"` counts the turns, `"last"` is
the last of them in words, and `"rows"` is what the picture says of each seat.

A patch has only the members that differ from the board before it. All SVG is escaped; the rest is plain text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from referee.core.text import shown
from referee.core.units import TimeControl
from referee.games.api import Seat
from referee.games.picture import Picture, Plane, Row, Span, panels_of_seat
from referee.viewing.svg import Drawing, Layout

LONGEST_ROW = 200  # maximum number of characters of what is said of a seat


class DrawnBoard:
    """A board, and what of it a page was not told yet."""

    def __init__(
        self,
        game_id: str,
        game: str,
        bots: Sequence[str],
        controls: Sequence[TimeControl],
        with_parts: bool = False,
        row_width: float | None = None,
    ) -> None:
        """`game` is the slug; bots and time controls by seat. `with_parts`: what stands for a part of a move
        has it as `data-part`. `row_width` as in `viewing.svg.draw`.
        """
        self._drawing = Drawing(row_width=row_width, with_parts=with_parts)
        self._told: dict[str, Any] = {}  # the members that the last patch or those before it had
        self._elements_told = 0  # how many elements these had
        self._board: dict[str, Any] = {
            "id": game_id,
            "bots": list(bots),
            "game": game,
            "clocks": [[one.move_us, one.reserve_us] if one.timed else None for one in controls],
        }

    def show(
        self,
        picture: Picture,
        *,
        turn: Sequence[Seat],
        reserves_us: Sequence[int | None],
        at_us: int,
        moves: int,
        last: str,
        rows: Mapping[str, str],
    ) -> None:
        """Draws the next position; `rows` as `seat_rows` gives them."""
        taken = self._drawing.take(picture)
        layout = self._drawing.layout()
        self._board |= {
            "box": layout.view_box,
            "ground": layout.ground,
            "defs": "".join(layout.symbols.values()),
            "draw": self._drawing.indexes(taken, layout),
            "turn": [seat + 1 for seat in turn],
            "reserves": list(reserves_us),
            "at": at_us,
            "moves": moves,
            "last": last,
            "rows": dict(rows),
        }

    @property
    def layout(self) -> Layout:
        """The frame of the present position."""
        return self._drawing.layout()

    def whole(self) -> dict[str, Any]:
        """The board with all its elements, as the last patch left it; the present one if there was none."""
        if not self._told:
            self.patch()
        return {**self._told, "from": 0, "new": list(self._drawing.elements[: self._elements_told])}

    def patch(self) -> dict[str, Any]:
        """What differs from the last patch; empty where nothing does."""
        told, known = self._told, self._elements_told
        self._told = self._board.copy()
        self._elements_told = len(self._drawing.elements)
        changed = {name: value for name, value in self._board.items() if told.get(name, ...) != value}
        if self._elements_told > known:
            changed |= {"from": known, "new": list(self._drawing.elements[known:])}
        return changed


def planes_of(picture: Picture) -> Picture:
    """What a small board shows of a picture: its planes, or where it has none the rows about no seat."""
    return tuple(panel for panel in picture if isinstance(panel, Plane)) or panels_of_seat(picture, None)


def seat_rows(picture: Picture, seats: int) -> dict[str, str]:
    """What a picture says in its rows about each seat, by the number of the seat, as one line."""
    found = {}
    for seat in range(seats):
        rows = [_said(panel) for panel in panels_of_seat(picture, seat) if isinstance(panel, Row)]
        # Of a row that has labels alone, nothing is said.
        texts = [_text(spans) for spans in rows if _text([span for span in spans if span.paint != "faint"])]
        if texts:
            found[str(seat + 1)] = shown(" · ".join(texts), LONGEST_ROW)
    return found


def _said(row: Row) -> list[Span]:
    """What of a row is said in words. A symbol with a title is a thing, such as a tile, and not described."""
    return [span for span in row.spans if not (span.symbol and span.title)]


def _text(spans: Sequence[Span]) -> str:
    texts = [span.text if span.caption is None or span.symbol else span.caption for span in spans]
    return " ".join("".join(texts).split()).strip(" :,")
