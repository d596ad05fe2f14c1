"""Beautiful Vine Tree, by RedsToad: grow flowers, and leave the last growth to the other side.

Two seats, open information, on a square board. A move grows two vines out of a flower, each as long as
the longest straight segment of vine that comes out of it, with a new flower at each end. Who makes the
last move loses. The notation, the options and the order of reasons are those of
`protocol/games/vinetree.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import NamedTuple, Protocol, TypeVar

from referee.core.errors import GameOptionError
from referee.core.rng import Random
from referee.core.text import shown
from referee.core.timecontrol import TimeControl
from referee.games.api import (
    ChoiceOption,
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
from referee.games.grid import SquareBoard
from referee.games.trail import Trail

T = TypeVar("T")

Cells = int
"""A set of cells, bit by bit as the board numbers them."""

NO_WAY = -1

_PARTS = re.compile(r"([A-Za-z])(0|[1-9][0-9]*) ([DLRUdlru]+) ([DLRUdlru]+)")
_FORM = "a flower and two vines such as `E5 LLU UUR`"
_SIDES = {"D": "down", "L": "left", "R": "right", "U": "up"}

BLIND_TRIES = 12
"""Random pairs of vines that a sample tries before it looks where it goes. On most boards one of the
first few fits, and they cost little.
"""

_VINES = {"DU": "│║", "LR": "─═", "LU": "┘╝", "RU": "└╚", "DL": "┐╗", "DR": "┌╔", "": "··"}
"""What is drawn on a cell that vine leaves by some sides: before the last move, and in it."""


class Arrange(Protocol):
    """The order in which what can be chosen is tried."""

    def __call__(self, items: list[T]) -> list[T]:
        """The items in that order."""


class Growth(NamedTuple):
    """A move: a flower, and the steps of the two vines that grow out of it, in alphabetical order."""

    flower: int
    one: str
    other: str


class Life(NamedTuple):
    """Proof that a flower lives: where two vines of its length fit."""

    flower: int
    length: int
    cells: Cells


class Rules(NamedTuple):
    """What the states of one game share."""

    board: SquareBoard
    bend_counts: bool


class VineTreeState(State[Growth]):
    """A position: who moves, what is empty, the flowers, which cells are joined by vine."""

    __slots__ = (
        "_dead",
        "_life",
        "_searched",
        "down",
        "flowers",
        "last",
        "left",
        "mover",
        "right",
        "room",
        "rules",
        "trail",
        "turn",
    )

    def __init__(
        self,
        rules: Rules,
        room: Cells,
        flowers: Cells,
        right: Cells = 0,
        down: Cells = 0,
        turn: int = 0,
        last: Growth | None = None,
        trail: Trail | None = None,
        left: frozenset[Seat] = frozenset(),
        life: Life | None = None,
        dead: Cells = 0,
    ) -> None:
        self.rules = rules
        self.room = room
        """The empty cells."""
        self.flowers = flowers
        self.right = right
        """Cells that are joined with the next one to the right."""
        self.down = down
        """Cells that are joined with the next one below."""
        self.turn = turn
        """Moves made before this position."""
        self.mover: Seat = turn % 2
        self.last = last
        """The move that led here."""
        self.trail = trail or Trail()
        self.left = left
        self._life = life
        """A flower that lived one or more moves before; once `_searched`, one that lives now."""
        self._dead = dead
        """Some of the dead flowers. They stay dead: cells never become empty again, and lengths never
        become smaller.
        """
        self._searched = False

    def to_act(self) -> tuple[Seat, ...]:
        """The mover, or nobody."""
        return () if self._over() else (self.mover,)

    def length(self, flower: int) -> int:
        """How many steps the vines have that grow out of a flower."""
        right, down, steps = self.right, self.down, self.rules.board.steps
        longest = 0
        for step, joins, back in (
            (steps["R"], right, 0),
            (steps["L"], right, 1),
            (steps["D"], down, 0),
            (steps["U"], down, steps["D"]),
        ):
            # A join is kept with the upper or left one of its two cells, so looking up or left it is
            # that of the cell `back` from here.
            cell = flower
            while cell >= back and joins >> (cell - back) & 1:
                cell += step
            if cell != flower:
                count = abs((cell - flower) // step)
                if not self.rules.bend_counts and not self.flowers >> cell & 1:
                    count -= 1  # vine that does not go on straight and bears no flower turns
                longest = max(longest, count)
        return 1 + longest

    def _joined(self, cell: int, letter: str) -> bool:
        """Whether vine leaves a cell by a side."""
        joins = self.right if letter in "LR" else self.down
        first = cell if letter in "RD" else cell + self.rules.board.steps[letter]
        return first >= 0 and bool(joins >> first & 1)

    def read(self, seat: Seat, text: str) -> Growth:
        """A flower's cell and two vines, in either order and case."""
        match = _PARTS.fullmatch(" ".join(part for part in text.split(" ") if part))
        if not match:
            raise NotAMove(_FORM)
        board = self.rules.board
        name = match[1].upper() + match[2]
        vines = (match[3].upper(), match[4].upper())
        if name not in board.cells:
            raise Illegal("no-such-cell", f"there is no cell {name[:20]} on a board of size {board.size}")
        flower = board.cells[name]
        if not self.flowers >> flower & 1:
            raise Illegal("no-flower", f"there is no flower on {name}")
        length = self.length(flower)
        for vine in vines:
            if len(vine) != length:
                steps = "1 step" if length == 1 else f"{length} steps"
                sentence = f"a vine out of {name} takes {steps}, and {shown(vine, 20)} has {len(vine)}"
                raise Illegal("wrong-length", sentence)
        if vines[0][0] == vines[1][0]:
            raise Illegal("same-side", f"both vines leave {name} {_SIDES[vines[0][0]]}")
        for vine in vines:
            if self._joined(flower, vine[0]):
                raise Illegal("side-used", f"{name} has a vine {_SIDES[vine[0]]} already")
        paths = [self._path(flower, vine) for vine in vines]
        for vine, path in zip(vines, paths, strict=True):
            self._check_room(vine, path)
        for cell in paths[0]:
            if cell in paths[1]:
                raise Illegal("vines-cross", f"the vines cross on {board.names[cell]}")
        return Growth(flower, *sorted(vines))

    def _path(self, flower: int, vine: str) -> list[int]:
        """The cells of a vine, from the flower outward. Raises `Illegal` where it leaves the board."""
        board = self.rules.board
        path = [flower]
        for letter in vine:
            cell = path[-1] + board.steps[letter]
            if cell not in board.names:
                edge = f"at {board.names[path[-1]]}, step {len(path)}"
                raise Illegal("leaves-board", f"{vine} leaves the board {edge}")
            path.append(cell)
        return path[1:]

    def _check_room(self, vine: str, path: list[int]) -> None:
        """Raises `Illegal` where a new vine runs into something."""
        for i, cell in enumerate(path):
            if self.flowers >> cell & 1:
                what = "a flower"
            elif not self.room >> cell & 1:
                what = "a vine"
            elif cell in path[:i]:
                what = "itself"
            else:
                continue
            where = f"on {self.rules.board.names[cell]}, step {i + 1}"
            raise Illegal("runs-into", f"{vine} runs into {what} {where}")

    def write(self, move: Growth) -> str:
        """The flower, then the vines in alphabetical order."""
        return f"{self.rules.board.names[move.flower]} {move.one} {move.other}"

    def play(self, moves: Mapping[Seat, Growth]) -> VineTreeState:
        """Grow both vines."""
        move = moves[self.mover]
        steps = self.rules.board.steps
        room, flowers, right, down = self.room, self.flowers, self.right, self.down
        for vine in (move.one, move.other):
            cell = move.flower
            for letter in vine:
                before, cell = cell, cell + steps[letter]
                room ^= 1 << cell
                if letter in "LR":
                    right |= 1 << min(before, cell)
                else:
                    down |= 1 << min(before, cell)
            flowers |= 1 << cell
        return VineTreeState(
            self.rules,
            room,
            flowers,
            right,
            down,
            self.turn + 1,
            move,
            Trail(self.trail, partial(self._turn_news, move)),
            frozenset(),
            self._life,
            self._dead,
        )

    def legal(self, seat: Seat) -> Iterator[Growth]:
        """By flower, row by row, then by the sides that the vines leave by, then by alphabet."""
        return self._growths(_as_they_are)

    def any_legal(self, seat: Seat) -> bool:
        """Whether a flower lives."""
        return self._lives()

    def sample(self, seat: Seat, rng: Random) -> Growth:
        """Not uniform: flowers, sides and steps are drawn one by one."""
        flowers = [cell for cell in _members(self.flowers) if len(self._ways(self.room, 1 << cell)) > 1]
        for _ in range(BLIND_TRIES):
            move = self._blind_growth(rng.choice(flowers), rng)
            if move:
                return move

        def shuffled(items: list[T]) -> list[T]:
            rng.shuffle(items)
            return items

        return next(self._growths(shuffled))

    def _blind_growth(self, flower: int, rng: Random) -> Growth | None:
        """Two random walks out of a flower, or None where one gets stuck."""
        room = self.room
        vines = ["", ""]
        length = self.length(flower)
        for i in range(2):
            head = 1 << flower
            for _ in range(length):
                ways = self._ways(room, head)
                if not ways:
                    return None
                letter, head = rng.choice(ways)
                room ^= head
                vines[i] += letter
        return Growth(flower, *sorted(vines))

    def _ways(self, room: Cells, head: Cells) -> list[tuple[str, Cells]]:
        """The steps that lead from a cell into `room`, and where to."""
        ways = []
        for letter, step in self.rules.board.steps.items():
            cell = room & (head << step if step > 0 else head >> -step)
            if cell:
                ways.append((letter, cell))
        return ways

    def _growths(self, arranged: Arrange) -> Iterator[Growth]:
        """The legal moves; `arranged` says in which order what can be chosen is tried."""
        fit = Fit(self.rules.board)
        for flower in arranged(_members(self.flowers)):
            length = self.length(flower)
            # Known before or found out here: what is arranged next must not depend on that.
            if self._dead >> flower & 1 or not self._room_of(fit, flower, length):
                continue
            sides = combinations(self._ways(self.room, 1 << flower), 2)
            for (one, head), (other, end) in arranged(list(sides)):
                room = self.room & ~head & ~end
                for rest, other_rest in self._finish(fit, arranged, room, head, end, length - 1, length - 1):
                    yield Growth(flower, one + rest, other + other_rest)

    def _finish(
        self, fit: Fit, arranged: Arrange, room: Cells, one: Cells, other: Cells, steps: int, other_steps: int
    ) -> Iterator[tuple[str, str]]:
        """The ways to finish two vines, the first one first.

        No step is taken from which they cannot be finished, so the next way is never far.
        """
        if fit.two(room, one, other, steps, other_steps) is None:
            return
        if steps:
            for letter, head in arranged(self._ways(room, one)):
                rests = self._finish(fit, arranged, room ^ head, head, other, steps - 1, other_steps)
                for rest, other_rest in rests:
                    yield letter + rest, other_rest
        elif other_steps:
            for letter, head in arranged(self._ways(room, other)):
                for _, other_rest in self._finish(fit, arranged, room ^ head, one, head, 0, other_steps - 1):
                    yield "", letter + other_rest
        else:
            yield "", ""

    def drop(self, seats: Iterable[Seat]) -> VineTreeState:
        """The position with these seats gone, which ends the game."""
        return self._again(self.left | frozenset(seats), self._life, self._dead)

    def forgetful(self) -> VineTreeState:
        """The same position without what the moves before it told about living and dead flowers: its end
        test starts from nothing.
        """
        return self._again(self.left, None, 0)

    def _again(self, left: frozenset[Seat], life: Life | None, dead: Cells) -> VineTreeState:
        return VineTreeState(
            self.rules,
            self.room,
            self.flowers,
            self.right,
            self.down,
            self.turn,
            self.last,
            self.trail,
            left,
            life,
            dead,
        )

    def _over(self) -> bool:
        return bool(self.left) or not self._lives()

    def _lives(self) -> bool:
        """Whether a flower lives. Found out once for a position."""
        if not self._searched:
            if not self._still_lives():
                self._life = self._search()
            self._searched = True
        return self._life is not None

    def _still_lives(self) -> bool:
        """Whether the flower that lived before has kept its room and its length, as nearly always."""
        life = self._life
        return life is not None and not life.cells & ~self.room and life.length == self.length(life.flower)

    def _search(self) -> Life | None:
        """A flower that lives; those that turn out to be dead before it are remembered.

        Short vines come first: they fit more often, and whether they do takes less time.
        """
        fit = Fit(self.rules.board)
        flowers = _members(self.flowers & ~self._dead)
        for length, flower in sorted((self.length(flower), flower) for flower in flowers):
            cells = self._room_of(fit, flower, length)
            if cells:
                return Life(flower, length, cells)
            self._dead |= 1 << flower
        return None

    def _room_of(self, fit: Fit, flower: int, length: int) -> Cells:
        """Cells that two vines out of a flower can take; none where it is dead."""
        for (_, one), (_, other) in combinations(self._ways(self.room, 1 << flower), 2):
            paths = fit.two(self.room & ~one & ~other, one, other, length - 1, length - 1)
            if paths:
                return one | other | paths[0] | paths[1]
        return 0

    def dead(self) -> set[int]:
        """The flowers that cannot be grown any more."""
        fit = Fit(self.rules.board)
        flowers = _members(self.flowers)
        return {flower for flower in flowers if not self._room_of(fit, flower, self.length(flower))}

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """`move SEAT MOVE` for each move."""
        return self.trail.lines()

    def _turn_news(self, move: Growth, audience: Seat | None) -> tuple[str, ...]:
        return (f"move {self.mover + 1} {self.write(move)}",)

    def outcome(self) -> Outcome | None:
        """Who made the last move loses, and so does a seat that left. The score is 1 for the win."""
        if self.left:
            return walkover(self.left, (int(0 not in self.left), int(1 not in self.left)))
        if not self._over():
            return None
        winner, loser = self.mover, 1 - self.mover
        sentence = f"seat {loser + 1} made the last move, every flower is dead"
        return Outcome(placing(2, [[winner], [loser]]), (1 - winner, winner), sentence)

    def picture(self, seat: Seat | None) -> Picture:
        """The board with its vines; `*` is a flower that lives, `x` a dead one. What the last move grew is
        drawn in double lines, with `[ ]` round its new flowers and `( )` round the one it grew.
        """
        board, last, dead = self.rules.board, self.last, self.dead()
        vines = [self._path(last.flower, vine) for vine in last[1:]] if last else []
        grown = {cell for vine in vines for cell in vine}
        marks = {vine[-1]: ("[", "]") for vine in vines}
        if last:
            marks[last.flower] = ("(", ")")
        numbers = "".join(f"{i + 1:^4}" for i in range(board.size))
        lines: Picture = [[Span(f"  {numbers}".rstrip(), "bright_black")]]
        for row in board.rows:
            line = [Span(f"{board.names[row[0]][0]} ", "bright_black")]
            below = [Span("  ")]
            for cell in row:
                sides = "".join(side for side in "DLRU" if self._joined(cell, side))
                # Whatever touches a cell that the last move grew was grown by it.
                before, behind, under = (
                    not grown.isdisjoint((cell, cell + step))
                    for step in (board.steps["L"], board.steps["R"], board.steps["D"])
                )
                vine_left = "─═"[before] if "L" in sides else " "
                vine_right = "─═"[behind] if "R" in sides else " "
                opening, closing = marks.get(cell, (vine_left, vine_right))
                if not self.flowers >> cell & 1:
                    middle = Span(_VINES[sides][cell in grown], "green")
                elif cell in dead:
                    middle = Span("x", "bright_black")
                else:
                    middle = Span("*", "bright_magenta")
                line += [Span(opening, "green"), middle, Span(closing + vine_right, "green")]
                below.append(Span(f" {'│║'[under]}  " if "D" in sides else "    ", "green"))
            lines += [line, below]
        lines[-1] = [Span("* flower, x dead flower", "bright_black")]
        if last:
            lines.append([Span("( ) grown by the last move, [ ] its new flowers", "bright_black")])
        return lines


class Fit:
    """Whether vines fit into empty cells. One for each search: it remembers what does not fit.

    A cell is given as the set of itself. The cells that vines may take (`room`) never hold their heads.

    Every answer is exact. In general such questions take exponential time; here a vine is never longer
    than a row of the board, and where there is much room some vine is found soon, while where there is
    little there are few ways to go. `tests/bench/vinetree_positions.txt` has the worst cases known.
    """

    def __init__(self, board: SquareBoard) -> None:
        self._row = board.steps["D"]
        self._too_small: set[tuple[Cells, int, Cells]] = set()
        """Heads, steps and all the cells within so many steps, where no path was found."""

    def _beside(self, cells: Cells) -> Cells:
        """The cells beside some; also some that are no cells, which the room they are cut with leaves out."""
        return cells << 1 | cells >> 1 | cells << self._row | cells >> self._row

    def one(self, room: Cells, head: Cells, steps: int) -> Cells:
        """The cells of some path of so many steps from a head through a room, or NO_WAY.

        Depth first, narrow places first. A branch is given up when what can be reached has too few cells
        of either colour of a chequered board, or when it failed before.
        """
        near = self._beside(head) & room
        if steps < 2:
            return (near & -near or NO_WAY) if steps else 0
        odd = edge = near
        even = 0
        beyond = room & ~near
        for distance in range(2, steps + 1):
            edge = self._beside(edge) & beyond
            if not edge:
                break
            beyond ^= edge
            if distance & 1:
                odd |= edge
            else:
                even |= edge
        if even.bit_count() < steps // 2 or odd.bit_count() < steps - steps // 2:
            return NO_WAY
        reached = odd | even
        key = (head, steps, reached)
        if key in self._too_small:
            return NO_WAY
        nexts = []
        while near:
            cell = near & -near
            near ^= cell
            ways = (self._beside(cell) & reached).bit_count()
            if ways:
                nexts.append((ways, cell))
        for _, cell in sorted(nexts):
            rest = self.one(reached ^ cell, cell, steps - 1)
            if rest != NO_WAY:
                return rest | cell
        self._too_small.add(key)
        return NO_WAY

    def two(
        self, room: Cells, one: Cells, other: Cells, steps: int, other_steps: int
    ) -> tuple[Cells, Cells] | None:
        """The cells of two paths that share none, of so many steps from two heads; None if there are none."""
        return self._apart(room, room, one, other, steps, other_steps)

    def _apart(
        self,
        room: Cells,
        other_room: Cells,
        one: Cells,
        other: Cells,
        steps: int,
        other_steps: int,
        path: Cells = NO_WAY,
        other_path: Cells = NO_WAY,
    ) -> tuple[Cells, Cells] | None:
        """Two paths that share no cell, each in its own room; `path` and `other_path` are known to fit.

        If some path of the one fits beside some path of the other, done. Else both want some cell, and in
        any solution one of them does without it: so it is taken out of either room in turn. Where vines
        have to pass through the same gap, that gap soon is the cell, and neither fits without it.
        """
        if path == NO_WAY:
            path = self.one(room, one, steps)
            if path == NO_WAY:
                return None
        beside = self.one(other_room & ~path, other, other_steps)
        if beside != NO_WAY:
            return path, beside
        if other_path == NO_WAY:
            other_path = self.one(other_room, other, other_steps)
            if other_path == NO_WAY:
                return None
        beside = self.one(room & ~other_path, one, steps)
        if beside != NO_WAY:
            return beside, other_path
        wanted = path & other_path
        reached = one | other
        while not reached & wanted:
            reached |= self._beside(reached) & (room | other_room)
        cell = reached & wanted
        cell &= -cell
        return self._apart(
            room & ~cell, other_room, one, other, steps, other_steps, NO_WAY, other_path
        ) or self._apart(room, other_room & ~cell, one, other, steps, other_steps, path, NO_WAY)


def _as_they_are(items: list[T]) -> list[T]:
    return items


def _members(cells: Cells) -> list[int]:
    """The cells of a set, ascending."""
    members = []
    while cells:
        cell = cells & -cells
        cells ^= cell
        members.append(cell.bit_length() - 1)
    return members


@dataclass(frozen=True, slots=True)
class OddNumberOption(NumberOption):
    """An option that is an odd number."""

    @property
    def values_text(self) -> str:
        """The values it takes, for people."""
        return f"odd, {self.low} to {self.high}"

    def read(self, text: str) -> int:
        """The value of a text. Raises `GameOptionError`."""
        for value in range(self.low, self.high + 1, 2):
            if text == str(value):
                return value
        wanted = f"an odd number from {self.low} to {self.high}"
        raise GameOptionError(f"option `{self.name}` is `{shown(text, 80)}`, expected {wanted}")


class VineTree(OpenGame[Growth]):
    """The rules of Beautiful Vine Tree."""

    slug = "vinetree"
    name = "Beautiful Vine Tree"
    rules = 1
    options = (
        OddNumberOption("size", 3, 13, 9, "rows and columns of the square board"),
        ChoiceOption("bend", ("excluded", "included"), "whether the cell in which a vine turns counts"),
    )
    clock = TimeControl.parse("180s+300s")
    summary = (
        "The centre starts with a flower. A move grows two vines out of any flower, by two sides that no\n"
        "vine uses yet, through empty cells. Each has as many steps as the longest straight segment of\n"
        "vine that comes out of the flower has cells, the flower included, and ends in a new flower.\n"
        "Who makes the last possible move loses."
    )
    notation = (
        "`E5 LLU UUR`: out of the flower on E5 one vine goes left, left and up, the other up, up and\n"
        "right. Rows are letters from the top, columns are numbers from the left."
    )

    def seats(self, options: Options) -> int:
        """Two."""
        return 2

    def longest(self, options: Options) -> int:
        """Every move fills at least two cells, and the centre is full from the start."""
        return (int(options["size"]) ** 2 - 1) // 2

    def start(self, options: Options) -> VineTreeState:
        """A flower in the centre."""
        board = SquareBoard.of_size(int(options["size"]))
        middle = board.size // 2
        centre = 1 << board.rows[middle][middle]
        return VineTreeState(Rules(board, options["bend"] == "included"), board.all & ~centre, centre)
