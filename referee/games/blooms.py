"""Blooms, by Nick Bentley: fence in the other side's blooms and capture them.

Two seats, open information, on a hexagonal board. Each seat has a light and a dark colour. A bloom is a
maximal connected group of one colour of one seat; it is fenced when no cell beside it is empty. The
notation, the options and the order of reasons are those of `protocol/games/blooms.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from typing import NamedTuple

from referee.core.rng import Random
from referee.core.timecontrol import TimeControl
from referee.games.api import (
    Illegal,
    NotAMove,
    NumberOption,
    OpenGame,
    Options,
    Outcome,
    Picture,
    Seat,
    Span,
    State,
    placing,
    walkover,
)
from referee.games.grid import HexBoard
from referee.games.trail import Trail

EMPTY = 0
"""A cell holds EMPTY, or 1 + 2 × seat for the seat's light colour, one more for its dark one."""

NOWHERE = -1

_INKS = ("", "bright_red", "red", "bright_blue", "blue")
_STONES = ("·", "1L", "1D", "2L", "2D")
_PART = re.compile(r"([LDld]):([A-Za-z])(0|[1-9][0-9]*)")
_FORM = "one or two parts such as `L:D4 D:D6`"


class Growth(NamedTuple):
    """A move: where the light stone goes and where the dark one, or NOWHERE for one of them."""

    light: int
    dark: int


class Rules(NamedTuple):
    """What the states of one game share."""

    board: HexBoard
    target: int
    around: tuple[tuple[int, ...], ...]
    """By cell: it, and its neighbours."""
    beside: tuple[int, ...]
    """By cell: its neighbours as a set, an integer with bit *i* for cell *i*."""

    @classmethod
    @cache
    def of(cls, side: int, target: int) -> Rules:
        """The rules on a board of some side."""
        board = HexBoard.of_side(side)
        around = tuple((cell, *near) for cell, near in enumerate(board.neighbours))
        beside = tuple(sum(1 << other for other in near) for near in board.neighbours)
        return cls(board, target, around, beside)


class BloomsState(State[Growth]):
    """A position: who moves, the stones, the scores, and what the last turn did."""

    __slots__ = ("captured", "cells", "empty", "last", "left", "mover", "rules", "scores", "trail", "turn")

    def __init__(
        self,
        rules: Rules,
        cells: bytes,
        turn: int,
        scores: tuple[int, int] = (0, 0),
        last: Growth | None = None,
        captured: tuple[int, ...] = (),
        trail: Trail | None = None,
        left: frozenset[Seat] = frozenset(),
        empty: int | None = None,
    ) -> None:
        self.rules = rules
        self.cells = cells
        if empty is None:
            empty = sum(1 << cell for cell, value in enumerate(cells) if value == EMPTY)
        self.empty = empty
        """The empty cells as a set; it follows from `cells`."""
        self.turn = turn
        """Turns played before this position."""
        self.mover: Seat = turn % 2
        self.scores = scores
        self.last = last
        """The move that led here."""
        self.captured = captured
        """The cells that this move emptied, ascending."""
        self.trail = trail or Trail()
        self.left = left

    def to_act(self) -> tuple[Seat, ...]:
        """The mover, or nobody."""
        return () if self._over() else (self.mover,)

    def read(self, seat: Seat, text: str) -> Growth:
        """One or two parts `COLOUR:CELL`, in either order and case."""
        parts = text.split(" ") if "  " not in text else [part for part in text.split(" ") if part]
        if len(parts) > 2:
            raise NotAMove(_FORM)
        stones = []
        for part in parts:
            match = _PART.fullmatch(part)
            if not match:
                raise NotAMove(_FORM)
            stones.append((match[1].upper(), match[2].upper() + match[3]))
        if len(stones) == 2 and self.turn == 0:
            raise Illegal("two-stones", "the first turn of the game places one stone")
        board = self.rules.board
        for _, name in stones:
            if name not in board.cells:
                raise Illegal("no-such-cell", f"there is no cell {name[:20]} on a board of side {board.side}")
        if len(stones) == 2:
            (colour, cell), (other_colour, other_cell) = stones
            if cell == other_cell:
                raise Illegal("same-cell", f"both stones are on {cell}")
            if colour == other_colour:
                raise Illegal("same-colour", "two stones must be of different colours")
        where = {"L": NOWHERE, "D": NOWHERE}
        for colour, name in stones:
            where[colour] = cell_index = board.cells[name]
            if self.cells[cell_index] != EMPTY:
                raise Illegal("occupied", f"{name} is occupied")
        return Growth(where["L"], where["D"])

    def write(self, move: Growth) -> str:
        """Light before dark."""
        names = self.rules.board.names
        if move.dark == NOWHERE:
            return f"L:{names[move.light]}"
        if move.light == NOWHERE:
            return f"D:{names[move.dark]}"
        return f"L:{names[move.light]} D:{names[move.dark]}"

    def play(self, moves: Mapping[Seat, Growth]) -> BloomsState:
        """Grow, then capture every fenced bloom of the opponent at once."""
        move = moves[self.mover]
        mover = self.mover
        cells = bytearray(self.cells)
        empty = self.empty
        for shade, cell in enumerate(move):
            if cell != NOWHERE:
                cells[cell] = 1 + 2 * mover + shade
                empty ^= 1 << cell
        captured = self._fenced(cells, empty, move)
        for cell in captured:
            cells[cell] = EMPTY
            empty ^= 1 << cell
        score = self.scores[mover] + len(captured)
        scores = (score, self.scores[1]) if mover == 0 else (self.scores[0], score)
        trail = Trail(self.trail, partial(self._turn_news, move, captured))
        return BloomsState(
            self.rules, bytes(cells), self.turn + 1, scores, move, captured, trail, self.left, empty
        )

    def _fenced(self, cells: bytearray, empty: int, move: Growth) -> tuple[int, ...]:
        """The cells of the opponent's fenced blooms, ascending, after the mover's stones were placed.

        Only blooms at a cell that one of the last two turns filled need looking at: after the mover's
        turn before, none of the opponent's was fenced (those were captured), and since then cells were
        filled by the opponent's turn (`self.last`) and by this one, and by no other.
        """
        around, beside = self.rules.around, self.rules.beside
        theirs = (3 - 2 * self.mover, 4 - 2 * self.mover)
        fenced: list[int] = []
        walked: set[int] = set()
        for spot in move if self.last is None else move + self.last:
            if spot != NOWHERE:
                for start in around[spot]:
                    # Nearly always there is an empty cell beside, and no need to walk the bloom.
                    if not beside[start] & empty and cells[start] in theirs and start not in walked:
                        bloom, closed = self._walk(cells, empty, start)
                        walked.update(bloom)
                        if closed:
                            fenced += bloom
        return tuple(sorted(fenced)) if fenced else ()

    def _walk(self, cells: bytearray, empty: int, start: int) -> tuple[list[int], bool]:
        """The cells of a stone's bloom, and that no empty one is beside; or some of them, and that one is."""
        beside, neighbours = self.rules.beside, self.rules.board.neighbours
        colour = cells[start]
        bloom = [start]
        found = 1 << start
        for cell in bloom:
            if beside[cell] & empty:
                return bloom, False
            for near in neighbours[cell]:
                if cells[near] == colour and not found >> near & 1:
                    found |= 1 << near
                    bloom.append(near)
        return bloom, True

    def _empty(self) -> list[int]:
        return [cell for cell, value in enumerate(self.cells) if value == EMPTY]

    def legal(self, seat: Seat) -> Iterator[Growth]:
        """Single stones first, then pairs."""
        empty = self._empty()
        for cell in empty:
            yield Growth(cell, NOWHERE)
            yield Growth(NOWHERE, cell)
        if self.turn:
            for light in empty:
                for dark in empty:
                    if light != dark:
                        yield Growth(light, dark)

    def count(self, seat: Seat) -> int:
        """2e single stones and e (e − 1) pairs on e empty cells."""
        e = self.cells.count(EMPTY)
        return e * (e + 1) if self.turn else 2 * e

    def sample(self, seat: Seat, rng: Random) -> Growth:
        """Uniform."""
        empty = self._empty()
        e = len(empty)
        number = rng.below(self.count(seat))
        if number < 2 * e:
            cell = empty[number // 2]
            return Growth(cell, NOWHERE) if number % 2 == 0 else Growth(NOWHERE, cell)
        light, dark = divmod(number - 2 * e, e - 1)
        return Growth(empty[light], empty[dark + (dark >= light)])

    def drop(self, seats: Iterable[Seat]) -> BloomsState:
        """The position with these seats gone, which ends the game."""
        return BloomsState(
            self.rules,
            self.cells,
            self.turn,
            self.scores,
            self.last,
            self.captured,
            self.trail,
            self.left | frozenset(seats),
            self.empty,
        )

    def _over(self) -> bool:
        return bool(self.left) or max(self.scores) >= self.rules.target

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """`move SEAT MOVE` for each turn, followed by `captured SEAT CELL ...` where it captured."""
        return self.trail.lines()

    def _turn_news(self, move: Growth, captured: tuple[int, ...], audience: Seat | None) -> tuple[str, ...]:
        names = self.rules.board.names
        moved = f"move {self.mover + 1} {self.write(move)}"
        if not captured:
            return (moved,)
        return (moved, f"captured {self.mover + 1} {' '.join(names[cell] for cell in captured)}")

    def outcome(self) -> Outcome | None:
        """The first to reach the target wins; a seat that left loses."""
        if self.left:
            return walkover(self.left, self.scores)
        if not self._over():
            return None
        winner = 1 - self.mover
        sentence = f"seat {winner + 1} has captured {self.scores[winner]} of {self.rules.target}"
        return Outcome(placing(2, [[winner], [1 - winner]]), self.scores, sentence)

    def picture(self, seat: Seat | None) -> Picture:
        """The board, `1L` for a light stone of seat 1; `[ ]` round what the last turn placed, `( )`
        where it captured.
        """
        board = self.rules.board
        lines: Picture = []
        for row in board.rows:
            name = board.names[row[0]][0]
            line = [Span(f"{name} ", "bright_black"), Span("  " * (2 * board.side - 1 - len(row)))]
            for cell in row:
                stone = self.cells[cell]
                text = f"{_STONES[stone]:^2}"
                if cell in self.captured and stone == EMPTY:
                    line += [Span("("), Span(text), Span(")")]
                elif self.last and cell in self.last:
                    line += [Span("["), Span(text, _INKS[stone]), Span("]")]
                else:
                    line += [Span(" "), Span(text, _INKS[stone]), Span(" ")]
            line.append(Span(f" {name}{len(row)}", "bright_black"))
            lines.append(line)
        for player in (0, 1):
            score = f"{self.scores[player]} of {self.rules.target} captured"
            lines.append([Span(f"seat {player + 1}: ", _INKS[2 + 2 * player]), Span(score)])
        if self.last:
            lines.append([Span("[ ] placed, ( ) captured by this turn", "bright_black")])
        return lines


class Blooms(OpenGame[Growth]):
    """The rules of Blooms."""

    slug = "blooms"
    name = "Blooms"
    rules = 1
    options = (
        NumberOption("size", 3, 8, 4, "side of the hexagonal board"),
        NumberOption("target", 1, 100, None, "captured stones that win; 5 × size − 5 where it is not given"),
    )
    clock = TimeControl.parse("90s+600s/10s")
    summary = (
        "Each of two seats has a light and a dark colour. A turn places one stone, or one of each\n"
        "colour, on empty cells; the very first turn places one. Then every connected group of one of\n"
        "the opponent's colours that touches no empty cell is captured. Who has captured `target`\n"
        "stones wins."
    )
    notation = (
        "`L:D4 D:D6`: a light stone on D4 and a dark one on D6; or one part alone. Rows are letters\n"
        "from the top, cells are numbered from the left within their row."
    )

    def default_of(self, name: str, settled: Options) -> int:
        """The target of a size: 15 on side 4, five more for each side more."""
        return 5 * int(settled["size"]) - 5

    def seats(self, options: Options) -> int:
        """Two."""
        return 2

    def longest(self, options: Options) -> int:
        """Every turn places a stone. Before the last one nobody has captured `target` stones, and the
        others lie on the board, which is not full.
        """
        cells = len(HexBoard.of_side(int(options["size"])).names)
        return cells + 2 * (int(options["target"]) - 1)

    def start(self, options: Options) -> BloomsState:
        """The empty board."""
        rules = Rules.of(int(options["size"]), int(options["target"]))
        return BloomsState(rules, bytes(len(rules.board.names)), 0)
