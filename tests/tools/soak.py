"""A long soak: `python -m tests.tools.soak [GAMES]` plays that many random games of every game (10,000).

Prints how long they were. Ends with an error where a game raises, or does not end within its bound.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections import Counter

from tabulate import tabulate

from referee.check.rules import is_chance
from referee.games import GAMES
from referee.games.api import Options
from referee.kit import Quick

GAMES_EACH = 10_000

OPTIONS: dict[str, list[dict[str, str]]] = {
    "thetree": [{"players": "1"}, {"players": "2"}, {"players": "3"}, {"players": "4"}],
}
"""Where the game's own are not all that matters."""


def main(count: int) -> None:
    rows = []
    for slug, game in GAMES.items():
        for given in OPTIONS.get(slug, [{}]):
            options = game.settle(given)
            began = time.monotonic()
            lengths = []
            best: Counter[tuple[int, ...]] = Counter()
            for number in range(count):
                moves, ranks = play(slug, options, number)
                lengths.append(moves)
                best[ranks] += 1
            name = " ".join([slug, *(f"{option}={value}" for option, value in given.items())])
            results = ", ".join(f"{100 * n / count:.1f} % {ranks}" for ranks, n in best.most_common(4))
            rows.append([name, min(lengths), statistics.mean(lengths), max(lengths), game.longest(options)])
            rows[-1] += [f"{time.monotonic() - began:.0f}", results]
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(tabulate(rows, ["game", "shortest", "mean", "longest", "bound", "s", "ranks"], floatfmt=".1f"))


def play(slug: str, options: Options, seed: int) -> tuple[int, tuple[int, ...]]:
    """A random game: how many moves it had, and the ranks."""
    game, rng = GAMES[slug], Quick(random.Random(seed))
    state = game.start(options)
    bound = game.longest(options)
    moves = 0
    while (outcome := state.outcome()) is None:
        if is_chance(state):
            state = state.chance(state.draw(rng))
            continue
        acting = state.to_act()
        state = state.play({seat: state.sample(seat, rng) for seat in acting})
        moves += len(acting)
        if moves > bound:
            raise SystemExit(f"{slug}, seed {seed}: more than {bound} moves")
    state.seen(None)
    return moves, outcome.ranks


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else GAMES_EACH)
