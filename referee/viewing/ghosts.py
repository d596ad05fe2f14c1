"""What a move would add to the board, as a person sees it who may choose the move by clicking on it. Pure.

The marks come from the position after the move, so that no game needs code for this. In a game with hidden
information that position is made from the news of the seat alone, and twice: what differs is not foretold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from referee.core.seeds import Stream
from referee.games.api import Game, Options, Seat, State
from referee.games.picture import Mark, Picture, Plane
from referee.viewing.drawn_board import planes_of
from referee.viewing.svg import Layout
from referee.viewing.svg_elements import element

MOST = 60  # how many moves are shown so at once

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
    """For each of some legal moves the marks that it adds to what is shown of the picture. None where there
    are too many moves, where several seats act, and for moves that add something in the same place.
    """
    if len(moves) > MOST or len(state.to_act()) > 1:
        return [[] for _ in moves]
    positions = [state]
    if not game.is_open:
        rng, news = Stream(b"ghosts"), state.seen(seat)
        positions = [game.imagine(options, seat, news, rng) for _ in range(2)]
    before = list(_marks(shown(state.picture(seat))))
    drawn_before, taken = set(map(_drawn, before)), set(map(_place, before))
    found = []
    for move in moves:
        afters = (position.play({seat: move}) for position in positions)
        first, *others = (list(_marks(shown(after.picture(seat)))) for after in afters)
        new = [one for one in first if _drawn(one) not in drawn_before and all(one in o for o in others)]
        # What changes besides, such as a tile over the one that is laid, is seen when the move is made.
        found.append([one for one in new if _place(one) not in taken] or new)
    by_all = set(found[0]).intersection(*found) if len(found) > 1 else set()
    found = [[one for one in new if one not in by_all] for new in found]
    moves_at = Counter(place for new in found for place in set(map(_place, new)))
    return [new if all(moves_at[_place(one)] == 1 for one in new) else [] for new in found]


def ghost(marks: Sequence[PlacedMark], layout: Layout, picture: Picture) -> str:
    """These marks as SVG, over a picture that is drawn in this layout; they may stand beyond its edges."""
    return "".join(
        layout.drawn_over(picture, number, [mark for at, mark in marks if at == number])
        for number in sorted({number for number, _ in marks})
    )


def _marks(picture: Picture) -> Iterator[PlacedMark]:
    """The marks that are something: those with a title."""
    for number, panel in enumerate(picture):
        if isinstance(panel, Plane):
            yield from ((number, mark) for mark in panel.marks if isinstance(mark, Mark) and mark.title)


def _drawn(one: PlacedMark) -> tuple[int, str]:
    number, mark = one
    return number, element(mark, "")


def _place(one: PlacedMark) -> tuple[int, float, float]:
    number, mark = one
    return number, mark.x, mark.y
