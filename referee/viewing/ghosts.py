"""What a move would add to the board, for a person who may choose the move by clicking on it. Pure.

It is what the picture after the move has besides, so no game needs code for this. In a game with hidden
information the positions after the move are made from the news of the seat alone, and two of them: only what
both have is drawn, so nothing is foretold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from referee.core.seeds import Stream
from referee.games.api import Game, Options, Seat, State
from referee.games.picture import Mark, Picture, Plane
from referee.viewing.drawn_board import planes_of
from referee.viewing.svg import Layout

MOST_MOVES = 60  # maximum number of moves that persons can choose from at once, without typing

PlacedMark = tuple[int, Mark]
"""A mark, and the number of its panel."""


def added_marks(
    game: Game[Any],
    options: Options,
    state: State[Any],
    seat: Seat,
    moves: Sequence[Any],
    shown: Callable[[Picture], Picture] = planes_of,
) -> list[list[PlacedMark]]:
    """For each of some legal moves the marks that it adds to the panels that are shown, in the order in which
    they are painted. None where there are more than `MOST_MOVES`, and where several seats act.
    """
    if len(moves) > MOST_MOVES or len(state.to_act()) > 1:
        return [[] for _ in moves]
    positions = [state]
    if not game.is_open:
        rng, news = Stream(b"ghosts"), state.seen(seat)
        positions = [game.imagine(options, seat, news, rng) for _ in range(2)]
    before = set(_marks(shown(state.picture(seat))))
    taken = set(map(_place, before))
    found = []
    for move in moves:
        after = (position.play({seat: move}).picture(seat) for position in positions)
        first, *others = (list(_marks(shown(picture))) for picture in after)
        new = [one for one in first if one not in before and all(one in other for other in others)]
        # Not what changes elsewhere, such as the tile that was laid last before.
        found.append([one for one in new if _place(one) not in taken] or new)
    by_all = set(found[0]).intersection(*found) if len(found) > 1 else set()
    return [[one for one in new if one not in by_all] for new in found]


def ghost(marks: Sequence[PlacedMark], layout: Layout, picture: Picture) -> str:
    """These marks as SVG over a picture that is drawn in this layout; they may reach beyond its edges."""
    return "".join(
        layout.drawn_over(picture, number, [mark for at, mark in marks if at == number])
        for number in sorted({number for number, _ in marks})
    )


def _marks(picture: Picture) -> Iterator[PlacedMark]:
    """The marks that stand for something: they have a title, and do not only point out the last move."""
    for number, panel in enumerate(picture):
        if isinstance(panel, Plane):
            marks = (mark for mark in panel.marks if isinstance(mark, Mark))
            yield from ((number, mark) for mark in marks if mark.title and not _points_out(mark))


def _points_out(mark: Mark) -> bool:
    """Whether a mark is drawn in the paint of the last move alone, with gaps around it."""
    shapes = mark.symbol.shapes if mark.symbol else ()
    paints = {getattr(shape, name, None) for shape in shapes for name in ("fill", "line", "paint")}
    return "fresh" in paints and paints <= {"fresh", "page", None}


def _place(one: PlacedMark) -> tuple[int, float, float]:
    number, mark = one
    return number, mark.x, mark.y
