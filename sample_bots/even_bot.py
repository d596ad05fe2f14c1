"""Plays Even Groups: at random at first, and perfectly as soon as the end of the game can be searched.

Every legal turn changes both colours' groups by an even number or both by an odd one, so it either keeps or
swaps who would win, and only the last turns decide. The bot keeps the board from the news; when few cells
are empty it looks for a move after which the opponent has no winning one.
"""

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

from referee.protocol.bot import Game, play

SEARCHED_CELLS = 10
"""The largest number of empty cells with which it searches."""

POSITIONS = 25_000
"""The most positions that are searched for a move: about 0.2 s."""

PER_MS = 25
"""The most positions for each millisecond that the move may take: about a quarter of that time."""

Stone = tuple[int, int]
"""Cell and colour, 0 for white and 1 for orange."""


class SearchLimit(Exception):
    """The search has reached its limit of positions."""


class Position(NamedTuple):
    """All that the rest of the game depends on, except for who moves."""

    empty: tuple[int, ...]
    groups: tuple[bytes, bytes]
    """By colour and cell: the number of the group that the stone of this colour belongs to, or 0."""
    counts: tuple[int, int]
    """The number of groups of each colour."""


class Board:
    """A hexagonal board, and the results of the search on it."""

    def __init__(self, side: int) -> None:
        rows = 2 * side - 1
        places = [(row, i) for row in range(rows) for i in range(rows - abs(side - 1 - row))]
        self.names = [f"{chr(ord('A') + row)}{i + 1}" for row, i in places]
        # With x in units of half a cell, neighbours differ by one of these steps.
        shifted = {(row, 2 * i + abs(side - 1 - row)): cell for cell, (row, i) in enumerate(places)}
        steps = ((0, -2), (0, 2), (-1, -1), (-1, 1), (1, -1), (1, 1))
        self.near = [
            [shifted[row + r, x + c] for r, c in steps if (row + r, x + c) in shifted] for row, x in shifted
        ]
        nothing = bytes(len(places))
        self.now = Position(tuple(range(len(places))), (nothing, nothing), (0, 0))
        self.wins: dict[tuple[bytes, bytes], bool] = {}
        self.budget = 0
        """The number of positions that may still be searched."""

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
        remaining = tuple(cell for cell in empty if all(cell != filled for filled, _ in stones))
        return Position(remaining, (groups[0], groups[1]), (numbers[0], numbers[1]))

    def turns(self, position: Position) -> Iterator[tuple[tuple[Stone, Stone], Position]]:
        """The legal moves, and what each leads to. Raises `SearchLimit`."""
        for (one, other), colours in product(combinations(position.empty, 2), product((0, 1), repeat=2)):
            stones = (one, colours[0]), (other, colours[1])
            following = self.after(position, *stones)
            self.budget -= 1
            if self.budget < 0:
                raise SearchLimit
            if sum(following.counts) % 2:
                yield stones, following

    def won(self, position: Position, mover: int) -> bool:
        """Whether the mover, 0 for White, wins with the best play. Raises `SearchLimit`."""
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
        """A random legal turn, all equally likely."""
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
    if len(board.now.empty) <= SEARCHED_CELLS:
        board.budget = min(POSITIONS, PER_MS * (game.allowance_ms + game.reserve_ms // 20))
        try:
            for stones, following in board.turns(board.now):
                if not board.won(following, 2 - game.seat):
                    chosen = list(stones)
                    game.info("value 1")
                    break
            else:
                game.info("value 0 against best play")
        except SearchLimit:
            pass
    return " ".join(f"{'WO'[colour]}:{board.names[cell]}" for cell, colour in chosen)


play(choose, start, only="evengroups")
