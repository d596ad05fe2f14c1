"""Finds positions of Beautiful Vine Tree in which it takes long to see whether a flower lives.

    python -m tests.bench.find_vinetree_positions [--climbs N] [--games N] [--seed N] > positions.txt

It climbs: a game is cut at a random move, goes on with another one, then with as many of its old moves as
are still legal, then at random; it is kept when its worst position has become no easier. What counts is
how often the search for paths is entered when the end test starts from nothing, so the same seed finds the
same games on every machine. It prints the games up to their worst position, one a line:
`SIZE BEND MOVE, MOVE, ...`.

The first 24 lines of `vinetree_positions.txt` are what it found without options, in ten minutes. The others
are from climbs with other random moves, which found worse ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import product

from referee.core.rng import Stream, derive
from referee.games.api import Illegal
from referee.games.grid import members
from referee.games.vinetree import VineTree
from referee.games.vinetree.life import search
from referee.games.vinetree.paths import Fit
from referee.games.vinetree.position import Growth
from referee.games.vinetree.state import VineTreeState

GAME = VineTree()
CANDIDATES = 4
"""Moves that a greedy continuation draws to take the one with the longest segment after it."""


class CountingFit(Fit):
    """Counts how often a path is looked for."""

    entered = 0

    def one(self, room: int, head: int, steps: int) -> int:
        """A path, counted."""
        self.entered += 1
        return super().one(room, head, steps)


def effort(state: VineTreeState) -> int:
    """What the end test of a position costs when it starts from nothing."""
    fit = CountingFit(state.position.rules.board)
    search(state.position, 0, fit)
    return fit.entered


def longest(state: VineTreeState) -> int:
    """The length of the longest vines; those have the most ways to go."""
    position = state.position
    return max(position.length(cell) for cell in members(position.flowers))


def random_move(state: VineTreeState, rng: Stream) -> VineTreeState:
    """One move on; one in two prefers straight vines."""
    tries = CANDIDATES if rng.below(2) else 1
    return max((state.play({state.mover: state.sample(state.mover, rng)}) for _ in range(tries)), key=longest)


def go_on(state: VineTreeState, moves: Iterable[Growth], rng: Stream) -> Iterator[VineTreeState]:
    """The positions after a new move, then after those of the old moves that are legal, then to the end."""
    if state.to_act():
        state = random_move(state, rng)
        yield state
    for move in moves:
        try:
            state = state.play({state.mover: state.read(state.mover, state.write(move))})
        except Illegal:
            continue
        yield state
    while state.to_act():
        state = random_move(state, rng)
        yield state


def climb(size: int, bend: str, games: int, rng: Stream) -> tuple[int, list[Growth]]:
    """The worst position that a climb finds: its effort and the moves that lead to it."""
    best = [GAME.start(GAME.settle({"size": str(size), "bend": bend}))]
    most, worst = 0, 0
    for _ in range(games):
        kept = 1 + rng.below(worst + 1)
        dropped = kept + rng.below(3)
        moves = [state.last for state in best[dropped:] if state.last]
        game = best[:kept]
        game += go_on(game[-1], moves, rng)
        found, at = max(((effort(game[i]), i) for i in range(kept, len(game))), default=(0, 0))
        if found >= most:
            best, most, worst = game, found, at
    return most, [state.last for state in best[1 : worst + 1] if state.last]


def main() -> None:
    """Prints the games."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--climbs", type=int, default=6, help="for each size and bend")
    parser.add_argument("--games", type=int, default=4000, help="in each climb")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for size, bend, number in product((9, 13), ("excluded", "included"), range(given.climbs)):
        rng = Stream(derive(str(given.seed).encode(), str(size), bend, str(number)))
        _, moves = climb(size, bend, given.games, rng)
        write = GAME.start(GAME.settle({"size": str(size)})).write
        print(size, bend, ", ".join(map(write, moves)), flush=True)


if __name__ == "__main__":
    main()
