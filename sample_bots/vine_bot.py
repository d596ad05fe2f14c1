"""Plays Beautiful Vine Tree: solves the end of the game, and chooses by random games before that.

Who makes the last move loses, so what counts is whether an even or an odd number of moves remains. While
there are many, the bot plays the move after which random games end best for it. As soon as few moves
remain, it searches all of them.
"""

from __future__ import annotations

from referee.protocol.bot import Game, play

CANDIDATES = 14
"""The number of moves that are tried with random games."""

GAMES = 3
"""Random games per move and round; only the better half of the moves goes on to the next round."""

VINES = 80
"""The most vines that are listed for a flower; with more, its moves are not listed."""

MOVES = 300
"""The most moves of a position that is to be solved."""

POSITIONS = 300
"""The most positions that are searched to solve the rest of the game."""

FULL_SEARCH_MS = 200
"""With less time for a move than this, it searches less in proportion."""

TRIES = 4
"""The number of random walks from a flower before its moves are listed."""

LAST_TRIES = 20
"""The number of random walks from a flower that has too many vines to list."""

Move = tuple[int, str, str]
"""The flower and both vines."""


class TooMany(Exception):
    """There are more moves or positions than the limits allow."""


class Tree:
    """The board: sets of cells as bits of integers, with an unused bit after each row."""

    def __init__(self, size: int, bend: str) -> None:
        self.width = size + 1
        self.bend_counts = bend == "included"
        self.steps = {"D": self.width, "L": -1, "R": 1, "U": -self.width}
        centre = (self.width + 1) * (size // 2)
        board = sum(1 << row * self.width + column for row in range(size) for column in range(size))
        self.room = board & ~(1 << centre)
        self.flowers = 1 << centre
        self.right = self.down = 0
        self.growing = [centre]
        """The flowers that are not known to be dead."""

    def copy(self) -> Tree:
        twin = Tree.__new__(Tree)
        twin.__dict__.update(self.__dict__)
        twin.growing = self.growing[:]
        return twin

    def cell(self, name: str) -> int:
        return (ord(name[0]) - ord("A")) * self.width + int(name[1:]) - 1

    def name(self, cell: int) -> str:
        row, column = divmod(cell, self.width)
        return f"{chr(ord('A') + row)}{column + 1}"

    def grow(self, flower: int, *vines: str) -> None:
        for vine in vines:
            cell = flower
            for letter in vine:
                before, cell = cell, cell + self.steps[letter]
                self.room &= ~(1 << cell)
                if letter in "LR":
                    self.right |= 1 << min(before, cell)
                else:
                    self.down |= 1 << min(before, cell)
            self.flowers |= 1 << cell
            self.growing.append(cell)

    def length(self, flower: int) -> int:
        longest = 0
        for step, joins, back in (
            (1, self.right, 0),
            (-1, self.right, 1),
            (self.width, self.down, 0),
            (-self.width, self.down, self.width),
        ):
            cell, count = flower, 0
            while cell >= back and joins >> cell - back & 1:
                cell += step
                count += 1
            if count and not self.bend_counts and not self.flowers >> cell & 1:
                count -= 1
            longest = max(longest, count)
        return longest + 1

    def vines(self, flower: int, length: int) -> list[tuple[str, int]]:
        """All vines that fit when the other is ignored, with their cells. Raises `TooMany`."""
        found = [("", flower, 0)]
        for _ in range(length):
            longer = []
            for vine, head, cells in found:
                free = self.room & ~cells
                for letter, step in self.steps.items():
                    cell = head + step
                    if cell >= 0 and free >> cell & 1:
                        longer.append((vine + letter, cell, cells | 1 << cell))
            if len(longer) > VINES:
                raise TooMany
            found = longer
        return [(vine, cells) for vine, _, cells in found]

    def moves_of(self, flower: int) -> list[Move]:
        """All moves of a flower. Raises `TooMany`."""
        vines = self.vines(flower, self.length(flower))
        return [
            (flower, one, other)
            for i, (one, cells) in enumerate(vines)
            for other, others in vines[i + 1 :]
            if not cells & others
        ]

    def moves(self) -> list[Move]:
        """All moves; removes flowers without moves from `growing`. Raises `TooMany`."""
        found = []
        for flower in self.growing[:]:
            moves = self.moves_of(flower)
            if not moves:
                self.growing.remove(flower)
            found += moves
            if len(found) > MOVES:
                raise TooMany
        return found

    def blind(self, game: Game, flower: int) -> Move | None:
        """Two vines by random walks from a flower; None if a walk gets stuck."""
        room, vines, length = self.room, [], self.length(flower)
        for _ in range(2):
            cell, vine = flower, ""
            for _ in range(length):
                ways = [
                    letter
                    for letter, step in self.steps.items()
                    if cell + step >= 0 and room >> cell + step & 1
                ]
                if not ways:
                    return None
                vine += game.random.choice(ways)
                cell += self.steps[vine[-1]]
                room ^= 1 << cell
            vines.append(vine)
        one, other = sorted(vines)
        return flower, one, other

    def any_move(self, game: Game) -> Move | None:
        """A random move; None where none is found, which almost always means that there is none."""
        while self.growing:
            flower = game.random.choice(self.growing)
            for _ in range(TRIES):
                move = self.blind(game, flower)
                if move:
                    return move
            try:
                moves = self.moves_of(flower)
            except TooMany:
                moves = [move for _ in range(LAST_TRIES) if (move := self.blind(game, flower))]
            if moves:
                return game.random.choice(moves)
            self.growing.remove(flower)
        return None


class Solver:
    """Solves positions by complete search, of at most `most` positions."""

    def __init__(self, most: int) -> None:
        self.known: dict[tuple[int, int, int], bool] = {}
        self.most = most
        self.searched = 0

    def wins(self, tree: Tree) -> bool:
        """Whether the seat to move wins; it has won if it cannot move. Raises `TooMany`."""
        key = (tree.room, tree.right, tree.down)
        if key not in self.known:
            self.searched += 1
            if self.searched > self.most:
                raise TooMany
            moves = tree.moves()
            self.known[key] = not moves or any(not self.wins(after(tree, move)) for move in moves)
        return self.known[key]


def after(tree: Tree, move: Move) -> Tree:
    tree = tree.copy()
    tree.grow(*move)
    return tree


def wins_at_random(game: Game, tree: Tree) -> bool:
    """Whether the seat to move wins a random game."""
    tree, mine = tree.copy(), True
    while move := tree.any_move(game):
        tree.grow(*move)
        mine = not mine
    return mine


tree = Tree(9, "excluded")


def start(game: Game) -> None:
    global tree
    tree = Tree(int(game.options["size"]), game.options["bend"])


def choose(game: Game) -> str:
    for line in game.fresh:
        flower, *vines = line.split()[2:]
        tree.grow(tree.cell(flower), *vines)
    ms = min(FULL_SEARCH_MS, game.allowance_ms + game.reserve_ms // 20)
    candidates = max(1, CANDIDATES * ms // FULL_SEARCH_MS)
    solver = Solver(POSITIONS * ms // FULL_SEARCH_MS)
    try:
        moves = tree.moves()
        game.random.shuffle(moves)
        for move in moves:
            if not solver.wins(after(tree, move)):
                game.info(f"value 1 nodes {solver.searched}")
                return write(move)
    except TooMany:
        position = tree.copy()  # it removes flowers that only seem to be dead
        drawn = [position.any_move(game) for _ in range(candidates)]
        moves = list(dict.fromkeys(move for move in drawn if move))
    return write(try_out(game, moves[:candidates])) if moves else game.legal(most=1)[0]


def try_out(game: Game, moves: list[Move]) -> Move:
    """The move after which the other side wins the fewest random games, by sequential halving."""
    lost = dict.fromkeys(moves, 0)
    games = 0
    while len(moves) > 1:
        games += GAMES
        for move in moves:
            position = after(tree, move)
            lost[move] += sum(wins_at_random(game, position) for _ in range(GAMES))
        moves = sorted(moves, key=lost.__getitem__)[: len(moves) // 2]
    if games:
        game.info(f"value {1 - lost[moves[0]] / games:.2f} of {len(lost)} moves")
    return moves[0]


def write(move: Move) -> str:
    flower, one, other = move
    return f"{tree.name(flower)} {one} {other}"


play(choose, start, only="vinetree")
