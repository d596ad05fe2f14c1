"""Plays Blooms one turn deep: capture as much as possible, then leave the opponent little to capture.

It keeps the board from the news, and rates every single stone and a random sample of pairs by what the move
captures, what is in danger of capture, and how much room each side has afterwards.
"""

from referee.protocol.bot import Game, play

Cell = tuple[int, int]
"""The row and the place in the row, both from 0."""

Stone = tuple[int, str]
"""The seat and the shade, `L` or `D`."""

PAIRS = 60
"""The number of pairs of stones that are rated for a move."""


class Board:
    """Stones on a hexagonal board."""

    def __init__(self, side: int) -> None:
        rows = 2 * side - 1
        self.cells: list[Cell] = []
        for row in range(rows):
            self.cells += [(row, i) for i in range(rows - abs(side - 1 - row))]
        # With x in units of half a cell, neighbours differ by one of these steps.
        shifted = {(row, 2 * i + abs(side - 1 - row)): (row, i) for row, i in self.cells}
        steps = ((0, -2), (0, 2), (-1, -1), (-1, 1), (1, -1), (1, 1))
        self.near = {
            cell: [shifted[row + r, x + c] for r, c in steps if (row + r, x + c) in shifted]
            for (row, x), cell in shifted.items()
        }
        self.stones: dict[Cell, Stone] = {}

    def hear(self, news: str) -> None:
        """Follows a line of news."""
        kind, seat, *rest = news.split()
        for part in rest:
            if kind == "move":
                shade, _, name = part.partition(":")
                self.stones[read_cell(name)] = (int(seat), shade)
            else:
                del self.stones[read_cell(part)]

    def empty(self) -> list[Cell]:
        return [cell for cell in self.cells if cell not in self.stones]

    def blooms(self) -> list[tuple[int, int, int]]:
        """The seat, the size and the number of empty neighbour cells of each bloom."""
        found = []
        remaining = set(self.stones)
        while remaining:
            start = remaining.pop()
            stone, bloom, room = self.stones[start], [start], set()
            for cell in bloom:
                for near in self.near[cell]:
                    if near not in self.stones:
                        room.add(near)
                    elif near in remaining and self.stones[near] == stone:
                        remaining.remove(near)
                        bloom.append(near)
            found.append((stone[0], len(bloom), len(room)))
        return found

    def worth(self, seat: int, move: list[tuple[str, Cell]]) -> float:
        """The value of the board for a seat after its move; more is better."""
        for shade, cell in move:
            self.stones[cell] = (seat, shade)
        value = 0.0
        for owner, size, room in self.blooms():
            sign = -1 if owner == seat else 1
            if room == 0:
                value += sign * size * (10 if owner != seat else 9)
            elif room <= 2:
                value += sign * size * (3 if room == 1 else 1)
            value -= sign * 0.1 * room
        for _, cell in move:
            del self.stones[cell]
        return value


def read_cell(name: str) -> Cell:
    return ord(name[0]) - ord("A"), int(name[1:]) - 1


def write(move: list[tuple[str, Cell]]) -> str:
    return " ".join(f"{shade}:{chr(ord('A') + row)}{i + 1}" for shade, (row, i) in move)


board = Board(4)


def start(game: Game) -> None:
    global board
    board = Board(int(game.options["size"]))


def choose(game: Game) -> str:
    for line in game.fresh:
        board.hear(line)
    empty = board.empty()
    moves = [[(shade, cell)] for cell in empty for shade in "LD"]
    if game.news and len(empty) > 1:
        for _ in range(PAIRS):
            light, dark = game.random.sample(empty, 2)
            moves.append([("L", light), ("D", dark)])
    game.random.shuffle(moves)
    values = [board.worth(game.seat, move) for move in moves]
    best = max(range(len(moves)), key=values.__getitem__)
    game.info(f"score {values[best]:.1f} of {len(moves)} moves")
    return write(moves[best])


play(choose, start, only="blooms")
