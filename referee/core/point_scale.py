"""How many points a game gives: 1, ½ and 0 for a win, a draw and a loss, or other numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from referee.core.fields import Fields

KEY = "points"  # the key of a tournament file, and the member of a header

ORDER = "order"
"""The key of a tournament file, and the member of a header, that says what bots are ordered by."""

ORDERS = ("rating", "points")  # what bots can be ordered by; the first one is the default

MAX_POINTS = 1000


@dataclass(frozen=True, slots=True)
class PointScale:
    """The points of a tournament: whole numbers or halves, so that sums are exact."""

    win: float = 1.0
    draw: float = 0.5
    loss: float = 0.0
    bye: float = 2.0  # the points of a round without a game; by default as many as two games won

    @classmethod
    def read(cls, fields: Fields) -> PointScale:
        """The scale from the table `[tournament]` of a tournament file, or from the header of a run. Raises
        the error of `fields`.
        """
        if not fields.has(KEY):
            return STANDARD
        table = fields.object(KEY)
        table.only("win", "draw", "loss", "bye")
        win, draw = _number(table, "win"), _number(table, "draw")
        loss = _number(table, "loss", 0.0)
        if not loss <= draw <= win:
            raise table.wrong("draw", f"a number from {loss:g} to {win:g}, as a loss and a win give")
        if loss == win:
            raise table.wrong("win", f"more than a loss gives, which is {loss:g}")
        return cls(win, draw, loss, _number(table, "bye", 2 * win))

    def header(self) -> dict[str, Any]:
        """The member for the header of a run; none for the standard scale."""
        return {} if self == STANDARD else {KEY: asdict(self)}

    def halves(self, ranks: Sequence[int], seat: int) -> int:
        """Twice the points of a seat in a game, times the number of its opponents (1 if it plays alone):
        always a whole number.
        """
        own = ranks[seat]
        others = [rank for other, rank in enumerate(ranks) if other != seat]
        if not others:
            return round(2 * (self.win if own == 1 else self.loss))
        return round(
            2 * sum(self.win if own < rank else self.draw if own == rank else self.loss for rank in others)
        )

    def of(self, ranks: Sequence[int], seat: int) -> float:
        """The points of a seat in a game: with several opponents, the mean of what each of them gives."""
        return self.halves(ranks, seat) / (2 * max(1, len(ranks) - 1))


STANDARD = PointScale()  # the scale of a tournament that names none


def _number(table: Fields, name: str, default: float | None = None) -> float:
    number = table.real(name, default)
    if not 0 <= number <= MAX_POINTS or 2 * number % 1:
        raise table.wrong(name, f"a whole number or a half from 0 to {MAX_POINTS}")
    return number
