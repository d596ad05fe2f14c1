"""Blooms, by Nick Bentley: fence in the other side's blooms and capture them. Pure.

Two seats, open information, on a hexagonal board. Each seat has a light and a dark colour. A bloom is a
maximal connected group of one colour of one seat; it is fenced when no cell beside it is empty. The
notation, the options and the order of reasons are those of `protocol/games/blooms.md`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from referee.core.seeds import Random
from referee.core.units import TimeControl
from referee.core.value import value
from referee.games.api import Illegal, NotAMove, NumberOption, Options, Outcome, Seat, parts_of
from referee.games.grid import Cells, HexBoard, members, spread
from referee.games.picture import (
    FRESH,
    GONE,
    Circle,
    Paint,
    Picture,
    Piece,
    Polygon,
    Row,
    Shape,
    Span,
    Stroke,
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
from referee.games.trail import Audience, TrailLines
from referee.games.twoseat import TwoSeatGame, TwoSeatState

_COLOURS = "LD"
_LIGHT: Paint = "own-second"
_DARK: Paint = "own-first"


def _stone(seat: Seat, is_light: bool) -> Symbol:
    """A stone, marked with a circle for seat 1 and a diamond for seat 2: hollow on light, filled on dark."""
    fill, mark = (_LIGHT, _DARK) if is_light else (_DARK, _LIGHT)
    inside: Paint | None = None if is_light else mark
    shape: Shape = Circle(0, 0, 0.12, inside, mark, 0.06)
    if seat:
        shape = Polygon(regular(4, 0.14), inside, mark, 0.06)
    words = f"{'light' if is_light else 'dark'} stone of seat {seat + 1}"
    return Symbol(words, (Circle(0, 0, 0.38, fill, "own-edge"), shape))


def _gone(seat: Seat) -> Symbol:
    """What is left of a captured stone: the outline of either kind, with its mark."""
    _, shape = _stone(seat, True).shapes
    outline = Circle(0, 0, 0.36, "own-tint", "own-edge", 0.04, 0.1)
    return Symbol(f"captured stone of seat {seat + 1}", (outline, shape))


def _kind(seat: Seat, is_light: bool, paint: Paint) -> StoneKind:
    symbol = _stone(seat, is_light)
    return StoneKind(f"{seat + 1}{'DL'[is_light]}", symbol, paint, symbol.name)


_GONE: tuple[tuple[Symbol, Paint], ...] = ((_gone(0), "seat1"), (_gone(1), "seat2"))
_KINDS = (
    _kind(0, True, "seat1-second"),
    _kind(0, False, "seat1"),
    _kind(1, True, "seat2-second"),
    _kind(1, False, "seat2"),
)
_BRIDGE = 0.26  # how wide the bridges between the stones of a bloom are
_PLACE = Symbol("place for a captured stone", (Circle(0, 0, 0.23, "board", "edge", 0.02),))
_CAPTURED = Symbol("captured stone", (Circle(0, 0, 0.23, "own", "own-edge"),))
_CAPTURED_NOW = Symbol(
    "stone captured by this turn",
    (
        Stroke(((-0.2, -0.42), (0.2, -0.42)), "page", 0.07),
        *_CAPTURED.shapes,
        Stroke(((-0.2, 0.42), (0.2, 0.42)), "fresh", 0.07),
    ),
)
"""With a line below it, and room above it, so that it is in the middle."""
_MOST_IN_ROW = 20  # how many places for captured stones are in a row
_LEGEND = row_of(
    Span("[ ]", "faint", FRESH),
    Span(" placed, ", "faint", caption=" placed  "),
    Span("( )", "faint", GONE),
    Span(" captured by this turn", "faint"),
)
_FORM = "one or two parts such as `L:D4 D:D6`"


Stones = tuple[Cells, Cells]
"""The cells of light and dark stones: all stones of a seat, or those of a move, at most one of each. A
plain tuple, since a named one takes ten times as long to make.
"""


@value
class BloomsRules:
    """What the states of one game share."""

    board: HexBoard
    apart: int
    """The step to the same cell of a second board, so far away that no set spreads from one to the other."""
    target: int
    cells: tuple[Cells, ...]  # each cell as a set, in the order of cells
    single: dict[str, Stones]  # moves of one stone, by each of their spellings
    written: tuple[dict[Cells, str], ...]  # the canonical spellings of a stone, by colour and cell as a set

    @classmethod
    @cache
    def of(cls, side: int, target: int) -> BloomsRules:
        """The rules on a board of some side."""
        board = HexBoard.of_side(side)
        single = {
            text: (0, 1 << cell) if colour else (1 << cell, 0)
            for text, colour, cell in spellings(board, _COLOURS)
        }
        written = tuple(
            {1 << cell: f"{colour}:{name}" for cell, name in board.names.items()} for colour in _COLOURS
        )
        apart = board.all.bit_length() + board.width + 1
        return cls(board, apart, target, tuple(1 << cell for cell in board.names), single, written)


@value
class BloomsState(TwoSeatState[Stones]):
    """A position: the stones, how many each seat has captured, and what the last turn did."""

    rules: BloomsRules
    own: Stones  # the stones of the seat that is to move
    opponent: Stones  # the stones of the other seat
    empty: Cells  # the cells without stones
    captures: tuple[int, int]  # how many stones each seat has captured
    captured: Cells  # the cells that the last turn emptied

    def read(self, seat: Seat, text: str) -> Stones:
        """One or two parts `COLOUR:CELL`, in either order and case."""
        parts = parts_of(text)
        single = self.rules.single
        try:
            stones = [*map(single.__getitem__, parts)]
        except KeyError:
            raise self._misread(parts) from None
        if len(stones) == 2 and self.turn:
            (one_light, one_dark), (other_light, other_dark) = stones
            light, dark = one_light | other_light, one_dark | other_dark
            if light == dark or not light or not dark:
                raise self._no_pair(stones)
        elif len(stones) == 1:
            light, dark = stones[0]
        else:
            raise self._misread(parts)
        taken = (light | dark) & ~self.empty
        if taken:
            written = zip(parts, stones, strict=True)
            name = next(part[2:] for part, (light, dark) in written if taken & (light | dark))
            raise Illegal("occupied", f"{name.upper()} is occupied")
        return light, dark

    def _misread(self, parts: list[str]) -> NotAMove | Illegal:
        """Why these are not the stones of one turn on this board."""
        if not well_formed(parts, _COLOURS):
            return NotAMove(_FORM)
        if len(parts) == 2 and not self.turn:
            return Illegal("two-stones", "the first turn of the game places one stone")
        return no_such_cell(parts, self.rules.board)

    def _no_pair(self, stones: list[Stones]) -> Illegal:
        """Why these two stones are not those of one turn."""
        cell, other = map(sum, stones)
        if cell == other:
            name = self.rules.board.names[cell.bit_length() - 1]
            return Illegal("same-cell", f"both stones are on {name}")
        return Illegal("same-colour", "two stones must be of different colours")

    def write(self, move: Stones) -> str:
        """The canonical spelling, light before dark."""
        lights, darks = self.rules.written
        light, dark = move
        if light and dark:
            return f"{lights[light]} {darks[dark]}"
        return lights[light] if light else darks[dark]

    def play(self, moves: Mapping[Seat, Stones]) -> BloomsState:
        """Places the stones, then captures every fenced bloom of the opponent at once."""
        mover = self.turn & 1
        move = moves[mover]
        own, opponent, empty, captured = _after(self.rules, self.own, self.opponent, self.empty, move)
        over, captures = False, self.captures
        if captured:
            score = captures[mover] + captured.bit_count()
            captures = (captures[0], score) if mover else (score, captures[1])
            over = score >= self.rules.target
        return BloomsState(
            self.turn + 1,
            move,
            over,
            self,
            {},
            self.left,
            self.rules,
            own,
            opponent,
            empty,
            captures,
            captured,
        )

    def playout(self, rng: Random) -> Outcome:
        """As by `sample` and `play`, but in place."""
        rules, turn, captures, over = self.rules, self.turn, list(self.captures), self.over
        own, opponent, empty, vacant = self.own, self.opponent, self.empty, self._vacant()
        below = rng.below
        while not over:
            e = len(vacant)
            move = _taken(vacant, below(e * (e + 1) if turn else 2 * e))
            own, opponent, empty, captured = _after(rules, own, opponent, empty, move)
            if captured:
                mover = turn & 1
                captures[mover] += captured.bit_count()
                over = captures[mover] >= rules.target
                vacant = [cell for cell in rules.cells if cell & empty]
            turn += 1
        one, other = captures
        outcome = BloomsState(
            turn, None, True, None, {}, self.left, rules, own, opponent, empty, (one, other), 0
        ).outcome()
        assert outcome is not None, "it is over"
        return outcome

    def legal(self, seat: Seat) -> Iterator[Stones]:
        """All legal moves: single stones first, then pairs."""
        vacant = self._vacant()
        return (_taken(vacant.copy(), number) for number in range(self.count(seat)))

    def candidates(self, seat: Seat, parts: Sequence[str]) -> Iterator[Stones]:
        """With a cell, the moves on it alone, and on it and each other one."""
        number = self.rules.board.cells.get(parts[0]) if parts else None
        if number is None:
            return self.legal(seat)
        cell = 1 << number & self.empty
        others = [0, *self._vacant()] if self.turn else [0]
        pairs = ((cell, other) for other in others if cell and other != cell)
        return (move for one, other in pairs for move in ((one, other), (other, one)))

    def count(self, seat: Seat) -> int:
        """2e single stones and e (e − 1) pairs on e empty cells."""
        e = self.empty.bit_count()
        return e * (e + 1) if self.turn else 2 * e

    def pick(self, seat: Seat, numbers: Sequence[int]) -> list[Stones]:
        """The moves with these numbers, computed directly."""
        vacant = self._vacant()
        return [_taken(vacant.copy(), number) for number in numbers]

    def sample(self, seat: Seat, rng: Random) -> Stones:
        """A random legal move, uniform."""
        return _taken(self._vacant(), rng.below(self.count(seat)))

    def _vacant(self) -> list[Cells]:
        """The empty cells in their order, each as a set."""
        empty = self.empty
        return [cell for cell in self.rules.cells if cell & empty]

    def told(self, audience: Audience) -> TrailLines:
        """`move SEAT MOVE` and `captured SEAT CELL ...`."""
        lines = TwoSeatState.told(self, audience)
        if not self.captured:
            return lines
        names = " ".join(map(self.rules.board.names.__getitem__, members(self.captured)))
        return (*lines, f"captured {2 - self.mover} {names}")

    def scores(self) -> tuple[int, int]:
        """How many stones each seat has captured."""
        return self.captures

    def lead(self, seat: Seat) -> int:
        """In captured stones."""
        return self.captures[seat] - self.captures[1 - seat]

    def key(self) -> Hashable:
        """The stones, the captures, and whose turn it is; the first turn of a game has moves of its own."""
        return self.own, self.opponent, self.captures, min(self.turn, 2 + self.mover)

    def winner(self) -> Seat:
        """The seat that moved last, which reached the target."""
        return 1 - self.mover

    def reason(self, winner: Seat) -> str:
        """A sentence with the number of captured stones."""
        return f"seat {winner + 1} has captured {self.captures[winner]} of {self.rules.target}"

    def picture(self, seat: Seat | None) -> Picture:
        """The board, `1L` for a light stone of seat 1; `[ ]` round what the last turn placed, `( )`
        where it captured. Each row of a seat has a place for every stone that it needs to capture.
        """
        board = _drawn(self.rules.board.side)
        stones = (*self.opponent, *self.own) if self.mover else (*self.own, *self.opponent)
        pieces: list[Piece] = [*_bridges(board, stones)]
        for kind, cells in zip(board.stones, stones, strict=True):
            pieces += map(kind.__getitem__, members(cells))
        pieces += [board.captured[cell][self.turn & 1] for cell in members(self.captured)]
        plane = board.plane(pieces, members(self.last[0] | self.last[1]) if self.last else ())
        now = self.captured.bit_count()
        scores = (
            row
            for player, captures in enumerate(self.captures)
            for row in _score(player, captures, 0 if player == self.mover else now, self.rules.target)
        )
        return (plane, *scores, _LEGEND) if self.last else (plane, *scores)


@cache
def _drawn(side: int) -> StoneBoard:
    return stone_board(HexBoard.of_side(side), "· ", "[  ]", _KINDS, _GONE)


def _bridges(board: StoneBoard, stones: Sequence[Cells]) -> Iterator[Piece]:
    """The blooms of several stones."""
    for kind, cells in zip(_KINDS, stones, strict=True):
        while cells:
            bloom = cells & -cells
            while (wider := spread(bloom, board.board.width) & cells) != bloom:
                bloom = wider
            cells ^= bloom
            if bloom & (bloom - 1):
                yield _bridge(board.board.side, _KINDS.index(kind), bloom)


@lru_cache(maxsize=1 << 12)
def _bridge(side: int, kind: int, bloom: Cells) -> Piece:
    edge: Paint = "seat2-edge" if kind > 1 else "seat1-edge"
    stones = members(bloom)
    title = f"bloom of {len(stones)} {_KINDS[kind].title.replace('stone', 'stones')}"
    return _drawn(side).region(stones, _KINDS[kind].paint, edge, _BRIDGE, title)


@cache
def _score(seat: Seat, captures: int, now: int, target: int) -> tuple[Row, ...]:
    """What a seat has captured, and how many of them by this turn."""
    other = _KINDS[3 - 2 * seat].paint
    places = [
        Span("", other, _PLACE if n >= captures else _CAPTURED if n < captures - now else _CAPTURED_NOW)
        for n in range(target)
    ]
    rows = [places[first : first + _MOST_IN_ROW] for first in range(0, target, _MOST_IN_ROW)]
    who = badge(seat, f"seat {seat + 1}:")
    count = f" {captures} of {target} captured"
    first, *rest = rows
    return (
        Row((who, *first, Span(count, "", None, "", f" {captures} of {target}")), seat),
        *(Row((*more,), seat) for more in rest),
    )


def _after(
    rules: BloomsRules, own: Stones, opponent: Stones, empty: Cells, move: Stones
) -> tuple[Stones, Stones, Cells, Cells]:
    """What a move leads to: the stones of the next mover and of the other seat, the empty cells, and those of
    them that it captured.
    """
    light, dark = move
    empty ^= light | dark
    captured = _fenced(rules, opponent, empty)
    if captured:
        empty |= captured
        opponent = opponent[0] & ~captured, opponent[1] & ~captured
    return opponent, (own[0] | light, own[1] | dark), empty, captured


def _fenced(rules: BloomsRules, stones_of_one: Stones, empty: Cells) -> Cells:
    """The cells of the fenced blooms of a seat, given its stones and the empty cells.

    It spreads sets of cells as `grid.spread` does, written out since this is done several times a move.
    Both colours are spread at once, as if dark stones were on a board of their own.
    """
    width, apart = rules.board.width, rules.apart
    light, dark = stones_of_one
    stones = light | dark << apart
    right, left = empty | empty << 1, empty | empty >> 1
    beside_empty = right | left | right << width | left >> width
    # What is beside an empty cell, then what is connected with that, until nothing is added.
    free = stones & (beside_empty | beside_empty << apart)
    while free != stones:
        right, left = free | free << 1, free | free >> 1
        wider = (right | left | right << width | left >> width) & stones
        if wider == free:
            fenced = stones ^ free
            return (fenced | fenced >> apart) & rules.board.all
        free = wider
    return 0


def _taken(vacant: list[Cells], number: int) -> Stones:
    """The legal move of a number, in the order of `legal`, where these cells are empty; they are taken out of
    the list.
    """
    pair = number - 2 * len(vacant)
    if pair < 0:
        cell = vacant.pop(number // 2)
        return (0, cell) if number % 2 else (cell, 0)
    # The dark stone goes to one of the cells but that of the light one.
    light, dark = divmod(pair, len(vacant) - 1)
    return vacant.pop(light), vacant.pop(dark)


class Blooms(TwoSeatGame[Stones]):
    """The rules of Blooms."""

    slug = "blooms"
    name = "Blooms"
    rules = 1
    options = (
        NumberOption("size", 3, 8, 4, "side of the hexagonal board"),
        NumberOption("target", 1, 100, None, "captured stones needed to win, by default 5 × size − 5"),
    )
    clock = TimeControl.parse("90s+600s/10s")
    summary = (
        "Each of two seats has a light and a dark colour. A turn places one stone, or one of each\n"
        "colour, on empty cells; the very first turn places one. Then every connected group of one of\n"
        "the opponent's colours that touches no empty cell is captured. The first seat to capture\n"
        "`target` stones wins."
    )
    notation = (
        "`L:D4 D:D6`: a light stone on D4 and a dark one on D6; or one part alone. Rows are letters\n"
        "from the top; cells are numbered from the left within their row."
    )
    counted = "captures"

    def aim(self, options: Options) -> str:
        """How many captures win."""
        return f"the first to capture {options['target']} stones wins"

    def default_of(self, name: str, settled: Options) -> int:
        """The target of a size: 15 on side 4, five more for each side more."""
        return 5 * int(settled["size"]) - 5

    def zone(self, options: Options, cell: str) -> str:
        """A corner or an edge of the board."""
        return HexBoard.of_side(int(options["size"])).zone(cell)

    def longest(self, options: Options) -> int:
        """Every turn places a stone. Before the last one nobody has captured `target` stones, and the
        others lie on the board, which is not full.
        """
        cells = len(HexBoard.of_side(int(options["size"])).names)
        return cells + 2 * (int(options["target"]) - 1)

    def start(self, options: Options) -> BloomsState:
        """The empty board."""
        rules = BloomsRules.of(int(options["size"]), int(options["target"]))
        return BloomsState(
            turn=0,
            last=None,
            over=False,
            before=None,
            heard={},
            left=frozenset(),
            rules=rules,
            own=(0, 0),
            opponent=(0, 0),
            empty=rules.board.all,
            captures=(0, 0),
            captured=0,
        )
