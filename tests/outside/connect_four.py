"""Connect Four, a game from outside the package: drop discs into columns, four in a line win."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from referee.core.seeds import Random
from referee.core.units import TimeControl
from referee.games.api import (
    Illegal,
    NotAMove,
    NumberOption,
    OpenGame,
    Options,
    Outcome,
    Seat,
    State,
    placing,
    walkover,
)
from referee.games.picture import DISC, SQUARE, Mark, Picture, Plane, label


@dataclass(frozen=True, slots=True)
class ConnectFourState(State[int]):
    """A position: the discs of each column from the bottom, as seats, and the moves that led here."""

    columns: tuple[tuple[Seat, ...], ...]
    rows: int
    moves: tuple[int, ...] = ()
    left: frozenset[Seat] = frozenset()
    won: bool = False
    """Whether the last move made a line."""

    def to_act(self) -> tuple[Seat, ...]:
        """The mover, or nobody."""
        over = self.won or self.left or len(self.moves) == len(self.columns) * self.rows
        return () if over else (len(self.moves) % 2,)

    def read(self, seat: Seat, text: str) -> int:
        """A column's number, from 1."""
        number = text.strip(" ")
        if not (number.isascii() and number.isdigit() and len(number) <= 2 and number[0] != "0"):
            raise NotAMove("a column's number such as `4`")
        if int(number) > len(self.columns):
            raise Illegal("no-such-column", f"there are {len(self.columns)} columns")
        if len(self.columns[int(number) - 1]) == self.rows:
            raise Illegal("full", f"column {number} is full")
        return int(number) - 1

    def write(self, move: int) -> str:
        """The column's number, from 1."""
        return str(move + 1)

    def play(self, moves: Mapping[Seat, int]) -> ConnectFourState:
        """The disc falls onto those that are there."""
        ((seat, move),) = moves.items()
        column = (*self.columns[move], seat)
        columns = (*self.columns[:move], column, *self.columns[move + 1 :])
        won = any(1 + sum(run(columns, move, step) for step in line) >= 4 for line in LINES)
        return replace(self, columns=columns, moves=(*self.moves, move), won=won)

    def legal(self, seat: Seat) -> Iterator[int]:
        """From left to right."""
        return (move for move, column in enumerate(self.columns) if len(column) < self.rows)

    def sample(self, seat: Seat, rng: Random) -> int:
        """Uniform."""
        return rng.choice(list(self.legal(seat)))

    def drop(self, seats: Iterable[Seat]) -> ConnectFourState:
        """The position with these seats gone, which ends the game."""
        return replace(self, left=self.left | frozenset(seats))

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """`move SEAT MOVE` for each move."""
        return tuple(f"move {turn % 2 + 1} {move + 1}" for turn, move in enumerate(self.moves))

    def outcome(self) -> Outcome | None:
        """Who made a line wins; a full board without one is a draw."""
        if self.left:
            return walkover(self.left, (0, 0))
        if self.to_act():
            return None
        if not self.won:
            return Outcome((1, 1), (0, 0), "the board is full, and nobody has four in a line")
        winner = (len(self.moves) - 1) % 2
        ranks = placing(2, [[winner], [1 - winner]])
        return Outcome(ranks, (1 - winner, winner), f"seat {winner + 1} has four in a line")

    def picture(self, seat: Seat | None) -> Picture:
        """The board, `X` for a disc of seat 1 and `O` for one of seat 2."""
        marks = [
            disc(seat, x, self.rows - height)
            for x, column in enumerate(self.columns)
            for height, seat in enumerate(column, 1)
        ]
        return (Plane(tuple(marks), board(len(self.columns), self.rows), columns=2),)


@cache
def board(columns: int, rows: int) -> tuple[Mark, ...]:
    """What is the same in all positions: the empty cells, with the numbers of the columns below."""
    cells = [
        Mark(x, y, "·", SQUARE, title=f"column {x + 1}", part=str(x + 1))
        for x in range(columns)
        for y in range(rows)
    ]
    return (*cells, *(label(x, rows, str(x + 1)) for x in range(columns)))


@cache
def disc(seat: Seat, x: int, y: int) -> Mark:
    """A disc; anyone who cannot see its colour can read its letter."""
    title = f"disc of seat {seat + 1} in column {x + 1}"
    return Mark(x, y, "XO"[seat], DISC, "XO"[seat], "seat2" if seat else "seat1", title)


LINES = (((0, -1),), ((1, 0), (-1, 0)), ((1, 1), (-1, -1)), ((1, -1), (-1, 1)))
"""The directions in which a line may run on from a new disc, columns first."""


def run(columns: tuple[tuple[Seat, ...], ...], column: int, step: tuple[int, int]) -> int:
    """How many discs of the same seat follow the top one of a column in a direction."""
    row, seat, length = len(columns[column]) - 1, columns[column][-1], 0
    while True:
        column, row = column + step[0], row + step[1]
        inside = 0 <= column < len(columns) and 0 <= row < len(columns[column])
        if not inside or columns[column][row] != seat:
            return length
        length += 1


class ConnectFour(OpenGame[int]):
    """The rules of Connect Four."""

    slug = "connect4"
    name = "Connect Four"
    rules = 1
    options = (
        NumberOption("columns", 4, 20, 7, "width of the board"),
        NumberOption("rows", 4, 20, 6, "height of the board"),
    )
    clock = TimeControl.parse("5s+30s")
    summary = (
        "The seats take turns to drop a disc into a column. The first with four discs in a line wins:\n"
        "across, upwards or slanting. A full board without a line is a draw."
    )
    notation = "`4`: the number of a column, from the left."

    def seats(self, options: Options) -> int:
        """Two."""
        return 2

    def longest(self, options: Options) -> int:
        """Until the board is full."""
        return int(options["columns"]) * int(options["rows"])

    def start(self, options: Options) -> ConnectFourState:
        """The empty board."""
        return ConnectFourState(((),) * int(options["columns"]), int(options["rows"]))


GAME = ConnectFour()
