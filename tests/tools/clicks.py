"""Clicks random legal moves of each game part by part, in random order where the game allows any:
`python -m tests.tools.clicks [MOVES]`.

Prints for each game and some options how many of so many moves (3,000 unless told otherwise) could not be
clicked, how many choices turned out to be illegal, and how long the slowest click took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import count, islice
from typing import Any, NamedTuple

from tabulate import tabulate

from referee.check.clicks import parts_to_click
from referee.check.rules import is_chance, random_game
from referee.core.seeds import Stream
from referee.games import GAMES
from referee.games.api import Game, Options, Refusal, Seat, State
from tests.outside.connect_four import GAME as CONNECT_FOUR
from tests.outside.high_card import GAME as HIGH_CARD

CASES: list[tuple[Game[Any], dict[str, str]]] = [
    (GAMES["blooms"], {}),
    (GAMES["blooms"], {"size": "8"}),
    (GAMES["vinetree"], {}),
    (GAMES["vinetree"], {"size": "5", "bend": "included"}),
    (GAMES["vinetree"], {"size": "13"}),
    (GAMES["evengroups"], {}),
    (GAMES["evengroups"], {"size": "8"}),
    (GAMES["floral"], {}),
    (GAMES["thetree"], {}),
    (GAMES["thetree"], {"players": "3"}),
    (GAMES["thetree"], {"players": "4"}),
    (CONNECT_FOUR, {}),
    (HIGH_CARD, {}),
]


class Clicked(NamedTuple):
    """What came of it."""

    moves: int
    not_reached: list[str]
    illegal: list[str]
    worst_ms: float


def click_moves(game: Game[Any], given: dict[str, str], moves: int) -> Clicked:
    """Clicks so many random legal moves of random games."""
    options = game.settle(given)
    rng = Stream(b"clicks")
    not_reached, illegal, worst = [], [], 0.0
    for state, seat in islice(_turns(game, options), moves):
        move = state.sample(seat, rng)
        parts = parts_to_click(state, seat, move)
        if type(state).chosen is State.chosen:
            rng.shuffle(parts)
        for number in range(len(parts) + 1):
            began = time.thread_time()
            chosen = state.chosen(seat, parts[:number])
            worst = max(worst, time.thread_time() - began)
            if number < len(parts) and parts[number] not in chosen.next:
                not_reached.append(state.write(move))
                break
            illegal += [text for text in map(state.write, chosen.moves) if not _reads(state, seat, text)]
        else:
            not_reached += [] if move in chosen.moves else [state.write(move)]
    return Clicked(moves, not_reached, illegal, worst * 1000)


def _turns(game: Game[Any], options: Options) -> Iterator[tuple[State[Any], Seat]]:
    for number in count():
        for state in random_game(game, options, f"clicks {number}"):
            yield from ((state, seat) for seat in ([] if is_chance(state) else state.to_act()))


def _reads(state: State[Any], seat: Seat, text: str) -> bool:
    try:
        return state.write(state.read(seat, text)) == text
    except Refusal:
        return False


def main() -> None:
    """Prints a table of all cases."""
    moves = int(sys.argv[1]) if sys.argv[1:] else 3000
    rows = []
    for game, given in CASES:
        clicked = click_moves(game, given, moves)
        words = " ".join(f"{name}={value}" for name, value in given.items())
        counts = (clicked.moves, len(clicked.not_reached), len(clicked.illegal))
        rows.append((game.slug, words, *counts, f"{clicked.worst_ms:.1f}"))
    print(tabulate(rows, ("game", "options", "moves", "not reached", "illegal", "worst click, ms")))


if __name__ == "__main__":
    main()
