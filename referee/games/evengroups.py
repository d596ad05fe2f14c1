"""Even Groups, by RedsToad: leave your own colour with an even number of groups. Pure.

Two seats, open information, on a hexagonal board. Seat 1 is White, seat 2 is Orange, and either places
stones of both colours. The notation, the options and the order of reasons are those of
`protocol/games/evengroups.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

from referee.core.seeds import Random
from referee.core.units import TimeControl
from referee.core.value import value
from referee.games.api import Illegal, NotAMove, NumberOption, Options, Seat, parts_of
from referee.games.grid import HexBoard
from referee.games.picture import (
    FRESH,
    Circle,
    Letters,
    Mark,
    Paint,
    Picture,
    Piece,
    Polygon,
    Region,
    Row,
    Span,
    Symbol,
    badge,
    regular,
    row_of,
)
from referee.games.stones import (
    StoneBoard,
    StoneKind,
    no_such_cell,
    spellings,
    stone_board,
    well_formed,
)
from referee.games.twoseat import TwoSeatGame, TwoSeatState

Stone = int  # 2 × the cell it goes to + the seat whose colour it has

Placement = tuple[Stone, ...]  # A move: the stones in ascending order, which is that of their cells

_COLOURS = "WO"
_COLOUR_NAMES = ("white", "orange")
_KINDS = (
    StoneKind(" W", Symbol("white stone", (Circle(0, 0, 0.28, "own", "own-edge"),)), "white", "white stone"),
    StoneKind(
        " O",
        Symbol("orange stone", (Polygon(regular(6, 0.28), "own", "own-edge", 0.05),)),
        "orange",
        "orange stone",
    ),
)
_OUTLINES: tuple[tuple[Paint, Paint], ...] = (("white-tint", "white-edge"), ("orange-tint", "orange-edge"))
"""The shade and the outline of the groups of each colour."""
_PILL = ((-0.64, -0.22), (0.64, -0.22), (0.64, 0.22), (-0.64, 0.22))
_PARITIES = (
    Symbol("even", (Polygon(_PILL, "", "", 0.14), Letters(0, 0, "EVEN", "", 0.43))),
    Symbol(
        "odd",
        (
            Polygon(_PILL, "faint", "faint", 0.14),
            Polygon(_PILL, "page", "page", 0.06),
            Letters(0, 0, "ODD", "", 0.43),
        ),
    ),
)
"""By the remainder of the number of groups."""
_LEGEND = row_of(Span("[ ]", "faint", FRESH), Span(" placed by this turn", "faint"))
_STONES = bytes((0, *(1,) * 255))  # turns the numbers of groups into whether there is a stone
_FORM = "two parts such as `O:B4 W:F6`, or one on the first turn"
_TRIES = 50
"""Random placements that a sample tries: usually half of all placements are legal, so after this many
failures they are rare.
"""


class EvenGroupsRules(NamedTuple):
    """What the states of one game share."""

    board: HexBoard
    near: Mapping[int, Callable[[bytes], tuple[int, ...]]]
    """By cell, a function that picks the entries of the adjacent cells out of an array."""
    stones: dict[str, Stone]  # stones by each of their spellings

    @classmethod
    @cache
    def of_side(cls, side: int) -> EvenGroupsRules:
        """The rules on a board of some side."""
        board = HexBoard.of_side(side)
        stones = {text: 2 * cell + colour for text, colour, cell in spellings(board, _COLOURS)}
        near = {cell: itemgetter(*cells) for cell, cells in board.neighbours.items()}
        return cls(board, near, stones)


@value
class EvenGroupsState(TwoSeatState[Placement]):
    """A position: the stones, and which group each of them belongs to."""

    rules: EvenGroupsRules
    empty: bytes  # the empty cells, ascending
    groups: tuple[bytes, bytes]
    """By colour, for each cell: 0, or for a stone of this colour its group's number, which is 1 + the cell
    of one of the group's stones.
    """
    counts: tuple[int, int]  # how many groups each colour has

    def read(self, seat: Seat, text: str) -> Placement:
        """Parts `COLOUR:CELL`: one on the first turn, then two, in either order and case."""
        parts = parts_of(text)
        known = self.rules.stones
        try:
            stones = [known[part] for part in parts]
        except KeyError:
            raise self._misread(parts) from None
        if len(stones) != (2 if self.turn else 1):
            raise self._misread(parts)
        if len(stones) == 2 and stones[0] >> 1 == stones[1] >> 1:
            raise Illegal("same-cell", f"both stones are on {self._name(stones[0])}")
        if not self.turn and stones[0] & 1 == 0:
            raise Illegal("first-orange", "the first stone of the game must be orange")
        for stone in stones:
            if stone >> 1 not in self.empty:
                raise Illegal("occupied", f"{self._name(stone)} is occupied")
        if not self.turn:
            return (stones[0],)
        one, other = stones
        total = self.total_after(one, other)
        if total % 2 == 0:
            raise Illegal("even-total", f"there would be {total} groups, expected an odd number")
        return (one, other) if one < other else (other, one)

    def _misread(self, parts: list[str]) -> NotAMove | Illegal:
        """Why these are not the stones of this turn."""
        if not well_formed(parts, _COLOURS):
            return NotAMove(_FORM)
        if len(parts) != (2 if self.turn else 1):
            due = "a turn places two stones" if self.turn else "the first turn places one stone"
            return Illegal("wrong-number", due)
        return no_such_cell(parts, self.rules.board)

    def write(self, move: Placement) -> str:
        """The canonical spelling, in the order of the cells."""
        return " ".join(f"{_COLOURS[stone & 1]}:{self._name(stone)}" for stone in move)

    def _name(self, stone: Stone) -> str:
        return self.rules.board.names[stone >> 1]

    def _beside(self, stone: Stone) -> set[int]:
        """The numbers of the groups that a stone would join, and 0."""
        return {0, *self.rules.near[stone >> 1](self.groups[stone & 1])}

    def total_after(self, one: Stone, other: Stone) -> int:
        """How many groups there would be after placing these stones on two different empty cells."""
        joined, beside = self._beside(one), self._beside(other)
        total = sum(self.counts) + 4 - len(joined) - len(beside)
        if (one ^ other) & 1 == 0:
            # The groups that the first stone joins, with itself, are one group for the second.
            shared = len(joined & beside) - 1
            if shared or other >> 1 in self.rules.board.neighbours[one >> 1]:
                total += shared - 1
        return total

    def play(self, moves: Mapping[Seat, Placement]) -> EvenGroupsState:
        """Places the stones: each forms a new group, or merges those that it touches."""
        move = moves[self.mover]
        near = self.rules.near
        groups = list(self.groups)
        counts = list(self.counts)
        for stone in move:
            cell, colour = stone >> 1, stone & 1
            own = groups[colour]
            joined = {0, *near[cell](own)}
            counts[colour] += 2 - len(joined)
            joined.remove(0)
            number = bytes((joined.pop() if joined else cell + 1,))
            for other in joined:
                own = own.replace(bytes((other,)), number)
            groups[colour] = own[:cell] + number + own[cell + 1 :]
        after = EvenGroupsState(
            self.turn + 1,
            move,
            False,
            self,
            {},
            self.left,
            self.rules,
            self.empty.translate(None, bytes([stone >> 1 for stone in move])),
            (groups[0], groups[1]),
            (counts[0], counts[1]),
        )
        return after if after.any_legal(after.mover) else replace(after, over=True)

    def legal(self, seat: Seat) -> Iterator[Placement]:
        """All legal moves, by pairs of cells."""
        if not self.turn:
            return iter([(2 * cell + 1,) for cell in self.empty])
        return self._legal_on(combinations(self.empty, 2))

    def candidates(self, seat: Seat, parts: Sequence[str]) -> Iterator[Placement]:
        """With a cell, the moves on it and each other one."""
        cell = self.rules.board.cells.get(parts[0]) if self.turn and parts else None
        if cell is None:
            return self.legal(seat)
        others = self.empty.replace(bytes((cell,)), b"") if cell in self.empty else b""
        return self._legal_on((min(cell, other), max(cell, other)) for other in others)

    def _legal_on(self, pairs: Iterable[tuple[int, int]]) -> Iterator[Placement]:
        """The legal moves on pairs of empty cells, in ascending order."""
        for one, other in pairs:
            for colour in (0, 1):
                for other_colour in (0, 1):
                    move = (2 * one + colour, 2 * other + other_colour)
                    if self.total_after(*move) % 2:
                        yield move

    def any_legal(self, seat: Seat) -> bool:
        """Whether there is a legal move; nearly always one of the first pairs of empty cells is."""
        if not self.turn:
            return True
        if len(self.empty) < 2:
            return False
        # Stones of different colours do not touch each other's groups, so a pair of them is legal when
        # both change the number of groups by an even number, or both by an odd one.
        first = self.empty[0]
        white, orange = self._flips(2 * first), self._flips(2 * first + 1)
        for cell in self.empty[1:]:
            if self._flips(2 * cell) == orange or self._flips(2 * cell + 1) == white:
                return True
        return next(self.legal(seat), None) is not None

    def _flips(self, stone: Stone) -> bool:
        """Whether placing one stone changes the number of groups by an odd number."""
        return len(self._beside(stone)) % 2 == 1

    def sample(self, seat: Seat, rng: Random) -> Placement:
        """A random legal move, uniform."""
        empty = self.empty
        e = len(empty)
        if not self.turn:
            return (2 * empty[rng.below(e)] + 1,)
        for _ in range(_TRIES):
            number, colours = divmod(rng.below(4 * e * (e - 1)), 4)
            one, other = divmod(number, e - 1)
            other += other >= one
            stones = (2 * empty[one] + colours // 2, 2 * empty[other] + colours % 2)
            if self.total_after(*stones) % 2:
                return stones if one < other else stones[::-1]
        return rng.choice(list(self.legal(seat)))

    def key(self) -> Hashable:
        """The stones, without which of them gave a group its number; they tell whose turn it is."""
        white, orange = self.groups
        return white.translate(_STONES), orange.translate(_STONES)

    def scores(self) -> tuple[int, int]:
        """The number of groups of each seat's colour."""
        return self.counts

    def winner(self) -> Seat:
        """The seat with an even number of groups."""
        return self.counts[0] % 2

    def reason(self, winner: Seat) -> str:
        """A sentence with both numbers of groups."""
        has = f"seat {winner + 1} has an even number of groups, {self.counts[winner]}"
        return f"{has}, and seat {2 - winner} an odd one, {self.counts[1 - winner]}"

    def picture(self, seat: Seat | None) -> Picture:
        """The board, `W` for a white stone and `O` for an orange one; `[ ]` round what the last turn
        placed. In drawings, groups have an outline, and the groups of a colour are counted.
        """
        side = self.rules.board.side
        board = _drawn(side)
        regions: list[Piece] = []
        stones: list[Piece] = []
        for colour, groups in enumerate(self.groups):
            cells: dict[int, list[int]] = {}
            for cell in board.points:
                if group := groups[cell]:
                    cells.setdefault(group, []).append(cell)
            numbers = {group[0]: number for number, group in enumerate(cells.values(), 1)}
            regions += [_outlined(side, colour, tuple(group)) for group in cells.values()]
            stones += [
                _stone(side, colour, cell, numbers.get(cell, 0)) for cell in board.points if groups[cell]
            ]
        plane = board.plane((*regions, *stones), [stone >> 1 for stone in self.last or ()])
        scores = (_score(player, count) for player, count in enumerate(self.counts))
        return (plane, *scores, _LEGEND) if self.last else (plane, *scores)


@cache
def _drawn(side: int) -> StoneBoard:
    return stone_board(HexBoard.of_side(side), " ·", " [ ]", _KINDS)


@lru_cache(maxsize=1 << 12)
def _outlined(side: int, colour: int, group: tuple[int, ...]) -> Region:
    stones = f"{len(group)} {_COLOUR_NAMES[colour]} stone{'s' * (len(group) > 1)}"
    return _drawn(side).region(group, *_OUTLINES[colour], 0.84, f"group of {stones}")


@lru_cache(maxsize=1 << 12)
def _stone(side: int, colour: int, cell: int, number: int) -> Mark:
    """A stone; the first one of a group has its number."""
    return _drawn(side).stones[colour][cell]._replace(caption=str(number or ""))


@cache
def _score(seat: Seat, count: int) -> Row:
    kind, parity = _KINDS[seat], count % 2
    return row_of(
        badge(seat, f"seat {seat + 1}, {_COLOUR_NAMES[seat]}:"),
        kind.span(),
        f" {count} group{'s' * (count != 1)}",
        Span(f", {('even', 'odd')[parity]}", "", _PARITIES[parity], "", " "),
        seat=seat,
    )


class EvenGroups(TwoSeatGame[Placement]):
    """The rules of Even Groups."""

    slug = "evengroups"
    name = "Even Groups"
    rules = 1
    can_be_estimated = False
    options = (NumberOption("size", 2, 8, 5, "side of the hexagonal board"),)
    clock = TimeControl.parse("60s+300s")
    summary = (
        "Seat 1 is White, seat 2 is Orange; a group is a maximal connected set of stones of one colour.\n"
        "Seat 1 begins by placing one orange stone. Then every turn places two stones, each of either\n"
        "colour, on empty cells, so that the total number of groups is odd afterwards. When the seat to\n"
        "move has no legal move, the game ends, and the seat whose colour has an even number of groups wins."
    )
    notation = (
        "`O:B4 W:F6`: an orange stone on B4 and a white one on F6; the first move is one part such as\n"
        "`O:E5`. Rows are letters from the top; cells are numbered from the left within their row."
    )

    def aim(self, options: Options) -> str:
        """Whose groups are counted."""
        return "the colour with an even number of groups wins"

    def zone(self, options: Options, cell: str) -> str:
        """A corner or an edge of the board."""
        return HexBoard.of_side(int(options["size"])).zone(cell)

    def longest(self, options: Options) -> int:
        """The turns until the board is full: one stone, then two a turn, on an odd number of cells."""
        return (len(HexBoard.of_side(int(options["size"])).names) + 1) // 2

    def start(self, options: Options) -> EvenGroupsState:
        """The empty board."""
        rules = EvenGroupsRules.of_side(int(options["size"]))
        cells = bytes(rules.board.names)
        none = bytes(max(cells) + 1)
        return EvenGroupsState(
            turn=0,
            last=None,
            over=False,
            before=None,
            heard={},
            left=frozenset(),
            rules=rules,
            empty=cells,
            groups=(none, none),
            counts=(0, 0),
        )
