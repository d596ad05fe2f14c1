"""A state of the game: the position, its history, and what is known of the end. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from referee.core.seeds import Random
from referee.core.value import value
from referee.games.api import Seat
from referee.games.picture import Picture
from referee.games.trail import Trail
from referee.games.twoseat import TwoSeatState
from referee.games.vinetree.life import NOTHING_KNOWN, Known, known_after
from referee.games.vinetree.moves import growths, sample
from referee.games.vinetree.picture import Vine, picture
from referee.games.vinetree.position import Growth, VinePosition
from referee.games.vinetree.reading import read, write


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
            Trail(self.trail, partial(self.told, move)),
            self.left,
            position,
            known,
        )

    def legal(self, seat: Seat) -> Iterator[Growth]:
        """All legal moves by flower, row by row, then by the sides of the vines, then alphabetically."""
        return growths(self.position, self.known.dead)

    def any_legal(self, seat: Seat) -> bool:
        """Whether a flower can grow."""
        return self.known.life is not None

    def sample(self, seat: Seat, rng: Random) -> Growth:
        """A random legal move, not uniform: flowers, sides and steps are drawn one by one."""
        return sample(self.position, self.known.dead, rng)

    def with_fresh_end_test(self) -> VineTreeState:
        """The same position with the end test done afresh, without what is known from earlier moves about
        living and dead flowers.
        """
        known = known_after(NOTHING_KNOWN, self.position)
        return replace(self, known=known, over=bool(self.left) or known.life is None)

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
        for line in self.trail.lines():
            match line.split():
                case ["move", number, flower, *grown]:
                    first = board.cells[flower]
                    cells = (self.position.cells_of(first, vine) for vine in grown)
                    vines += [Vine(int(number) - 1, (first, *rest)) for rest in cells]
        return picture(self.position, vines, self.last)
