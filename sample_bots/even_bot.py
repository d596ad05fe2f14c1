"""Plays Even Groups: at random until the end of the game can be foreseen, and perfectly from there on.

Every legal turn changes both colours' groups by an even number or both by an odd one, so it either keeps or
swaps who would win, and only the last turns decide. The bot keeps the board from the news; when few cells
are empty it looks for a move after which the opponent has no winning one.
"""

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

from protocol.bot import Game, play

FORESEEN = 10
"""With more empty cells than this it does not search."""

POSITIONS = 25_000
"""Positions that are looked at for a move: at most some 0.2 s …"""

PER_MS = 25
"""… and no more than these for each millisecond that it may take: some quarter of it."""

Stone = tuple[int, int]
"""Cell and colour, 0 for white and 1 for orange."""


class Unforeseen(Exception):
    """Too many positions."""


class Position(NamedTuple):
    """What the rest of the game depends on, but for the mover."""

    empty: tuple[int, ...]
    groups: tuple[bytes, bytes]
    """By colour and cell: 0, or the number of the group that a stone of this colour is in."""
    counts: tuple[int, int]
    """Groups of each colour."""


class Board:
    """A hexagonal board, and what has been searched on it."""

    def __init__(self, side: int) -> None:
        rows = 2 * side - 1
        places = [(row, i) for row in range(rows) for i in range(rows - abs(side - 1 - row))]
        self.names = [f"{chr(ord('A') + row)}{i + 1}" for row, i in places]
        # Moved half a row's difference to the right, cells that touch differ by one of these.
        shifted = {(row, 2 * i + abs(side - 1 - row)): cell for cell, (row, i) in enumerate(places)}
        steps = ((0, -2), (0, 2), (-1, -1), (-1, 1), (1, -1), (1, 1))
        self.near = [
            [shifted[row + r, x + c] for r, c in steps if (row + r, x + c) in shifted] for row, x in shifted
        ]
        nothing = bytes(len(places))
        self.now = Position(tuple(range(len(places))), (nothing, nothing), (0, 0))
        self.wins: dict[tuple[bytes, bytes], bool] = {}
        self.left = 0
        """Positions that may still be looked at."""

    def hear(self, news: str) -> None:
        """Follows a line of news."""
        for part in news.split()[2:]:
            self.now = self.after(self.now, (self.names.index(part[2:]), "WO".index(part[0])))

    def after(self, position: Position, *stones: Stone) -> Position:
        empty, (white, orange), counts = position
        groups, numbers = [white, orange], list(counts)
        for cell, colour in stones:
            own = groups[colour]
            joined = {own[near] for near in self.near[cell]} - {0}
            numbers[colour] += 1 - len(joined)
            group = bytes([min(joined, default=cell + 1)])
            for other in joined:
                own = own.replace(bytes([other]), group)
            groups[colour] = own[:cell] + group + own[cell + 1 :]
        left = tuple(cell for cell in empty if all(cell != filled for filled, _ in stones))
        return Position(left, (groups[0], groups[1]), (numbers[0], numbers[1]))

    def turns(self, position: Position) -> Iterator[tuple[tuple[Stone, Stone], Position]]:
        """The legal moves, and what each leads to. Raises `Unforeseen`."""
        for (one, other), colours in product(combinations(position.empty, 2), product((0, 1), repeat=2)):
            stones = (one, colours[0]), (other, colours[1])
            following = self.after(position, *stones)
            self.left -= 1
            if self.left < 0:
                raise Unforeseen
            if sum(following.counts) % 2:
                yield stones, following

    def won(self, position: Position, mover: int) -> bool:
        """Whether the mover, 0 for White, wins with the best play. Raises `Unforeseen`."""
        known = self.wins.get(position.groups)
        if known is not None:
            return known
        over, win = True, False
        for _, following in self.turns(position):
            over = False
            if not self.won(following, 1 - mover):
                win = True
                break
        win = win or (over and position.counts[mover] % 2 == 0)
        self.wins[position.groups] = win
        return win

    def random_turn(self, game: Game) -> list[Stone]:
        """Of the legal ones, each with the same chance."""
        while True:
            stones = [(cell, game.random.randrange(2)) for cell in game.random.sample(self.now.empty, 2)]
            if sum(self.after(self.now, *stones).counts) % 2:
                return stones


board = Board(5)


def start(game: Game) -> None:
    global board
    board = Board(int(game.options["size"]))


def choose(game: Game) -> str:
    for line in game.fresh:
        board.hear(line)
    if not game.news:
        return f"O:{game.random.choice(board.names)}"
    chosen = board.random_turn(game)
    if len(board.now.empty) <= FORESEEN:
        board.left = min(POSITIONS, PER_MS * (game.allowance_ms + game.reserve_ms // 20))
        try:
            for stones, following in board.turns(board.now):
                if not board.won(following, 2 - game.seat):
                    chosen = list(stones)
                    game.info("wins")
                    break
            else:
                game.info("loses against the best play")
        except Unforeseen:
            pass
    return " ".join(f"{'WO'[colour]}:{board.names[cell]}" for cell, colour in chosen)


play(choose, start)
