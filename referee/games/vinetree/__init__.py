"""Beautiful Vine Tree, by RedsToad: grow flowers, and leave the last growth to the other side. Pure.

Two seats, open information, on a square board. A move grows two vines out of a flower, each as long as
the longest straight segment of vine that comes out of it, with a new flower at each end. The seat that
makes the last move loses. The notation, the options and the order of reasons are those of
`protocol/games/vinetree.md`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from referee.core.errors import GameOptionError
from referee.core.seeds import Random
from referee.core.text import shown
from referee.core.units import TimeControl
from referee.core.value import value
from referee.games.api import ChoiceOption, Chosen, NumberOption, Options, Seat
from referee.games.grid import SquareBoard
from referee.games.picture import Picture
from referee.games.twoseat import TwoSeatGame, TwoSeatState
from referee.games.vinetree import choosing
from referee.games.vinetree.growing import NOTHING_KNOWN, Known, growths, known_after, sample
from referee.games.vinetree.picture import Vine, picture
from referee.games.vinetree.position import Growth, VinePosition, VineRules, read, write


@value
class VineTreeState(TwoSeatState[Growth]):
    """A position, with what is known of which flowers can grow."""

    position: VinePosition
    known: Known

    def read(self, seat: Seat, text: str) -> Growth:
        """A flower's cell and two vines, in either order and case."""
        return read(self.position, text)

    def write(self, move: Growth) -> str:
        """The flower, then the vines in alphabetical order."""
        return write(self.position.rules.board, move)

    def play(self, moves: Mapping[Seat, Growth]) -> VineTreeState:
        """Grows both vines."""
        move = moves[self.mover]
        position = self.position.grown(move)
        known = known_after(self.known, position)
        return VineTreeState(
            self.turn + 1,
            move,
            known.life is None,
            self,
            {},
            self.left,
            position,
            known,
        )

    def legal(self, seat: Seat) -> Iterator[Growth]:
        """All legal moves by flower, row by row, then by the sides of the vines, then alphabetically."""
        return growths(self.position, self.known.dead)

    def parts(self, move: Growth) -> tuple[str, ...]:
        """The flower, then the cells of one vine and of the other, in this order."""
        return choosing.parts(self.position, move)

    def chosen(self, seat: Seat, parts: Sequence[str]) -> Chosen[Growth]:
        """The cells in which the vines can go on, so that both can be finished."""
        return choosing.chosen(self.position, parts)

    def any_legal(self, seat: Seat) -> bool:
        """Whether a flower can grow."""
        return self.known.life is not None

    def sample(self, seat: Seat, rng: Random) -> Growth:
        """A random legal move, not uniform: flowers, sides and steps are drawn one by one."""
        return sample(self.position, self.known.dead, rng)

    def key(self) -> Hashable:
        """The vines and flowers, and whose turn it is."""
        position = self.position
        return position.right, position.down, position.flowers, self.mover

    def scores(self) -> tuple[int, int]:
        """1 for the winner, 0 for the loser."""
        if self.left:
            return int(0 not in self.left), int(1 not in self.left)
        return 1 - self.mover, self.mover

    def winner(self) -> Seat:
        """The seat that did not make the last move."""
        return self.mover

    def reason(self, winner: Seat) -> str:
        """A sentence that says who made the last move."""
        return f"seat {2 - winner} made the last move, every flower is dead"

    def picture(self, seat: Seat | None) -> Picture:
        """The board with its vines and flowers, living and dead, and what the last move grew."""
        board = self.position.rules.board
        vines = []
        for line in self.lines():
            match line.split():
                case ["move", number, flower, *grown]:
                    first = board.cells[flower]
                    cells = (self.position.cells_of(first, vine) for vine in grown)
                    vines += [Vine(int(number) - 1, (first, *rest)) for rest in cells]
        return picture(self.position, vines, self.last)


@dataclass(frozen=True, slots=True)
class OddNumberOption(NumberOption):
    """An option that is an odd number."""

    @property
    def values_text(self) -> str:
        """The values it takes, for people."""
        return f"odd, {self.low} to {self.high}"

    def read(self, text: str) -> int:
        """The value of a text. Raises `GameOptionError`."""
        for number in range(self.low, self.high + 1, 2):
            if text == str(number):
                return number
        wanted = f"an odd number from {self.low} to {self.high}"
        raise GameOptionError(f"option `{self.name}` is `{shown(text, 80)}`, expected {wanted}")


class VineTree(TwoSeatGame[Growth]):
    """The rules of Beautiful Vine Tree."""

    slug = "vinetree"
    name = "Beautiful Vine Tree"
    rules = 1
    options = (
        OddNumberOption("size", 3, 13, 9, "rows and columns of the square board"),
        ChoiceOption(
            "bend", ("excluded", "included"), "whether the cell where a vine turns counts towards the length"
        ),
    )
    clock = TimeControl.parse("180s+300s")
    summary = (
        "The centre starts with a flower. A move grows two vines out of any flower, on two sides that no\n"
        "vine uses yet, through empty cells. Each vine has as many steps as there are cells in the\n"
        "longest straight segment of vine at the flower, its own cell included, and ends in a new\n"
        "flower. The seat that makes the last possible move loses."
    )
    notation = (
        "`E5 LLU UUR`: out of the flower on E5 one vine goes left, left and up, the other up, up and\n"
        "right. Rows are letters from the top; columns are numbers from the left."
    )

    def aim(self, options: Options) -> str:
        """Who loses."""
        return "whoever makes the last move loses"

    def zone(self, options: Options, cell: str) -> str:
        """A corner or an edge of the board."""
        return SquareBoard.of_size(int(options["size"])).zone(cell)

    def longest(self, options: Options) -> int:
        """The moves until the board is full: each fills at least two cells, and the centre is full from the
        start.
        """
        return (int(options["size"]) ** 2 - 1) // 2

    def start(self, options: Options) -> VineTreeState:
        """A flower in the centre."""
        board = SquareBoard.of_size(int(options["size"]))
        middle = board.size // 2
        centre = 1 << board.rows[middle][middle]
        rules = VineRules(board, options["bend"] == "included")
        position = VinePosition(rules, board.all & ~centre, centre, 0, 0)
        known = known_after(NOTHING_KNOWN, position)
        return VineTreeState(
            turn=0,
            last=None,
            over=False,
            before=None,
            heard={},
            left=frozenset(),
            position=position,
            known=known,
        )
