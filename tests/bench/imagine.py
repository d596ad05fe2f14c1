"""How long it takes to imagine what is hidden: `python -m tests.bench.imagine [--calls N]`.

For every game with hidden information: positions at random from random games, under several options, and
for each of them one full position that agrees with what a seat was told, from nothing but its news. The
seats take turns. Search asks for such a position again and again, so the worst case counts too.

The times are processor time. Beside each stands its multiple of one step of the calibration loop of
`tests.bench.engines`, in thousands.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

from tabulate import tabulate

from referee.check.rules import is_chance, random_game
from referee.core.rng import Stream
from referee.games import GAMES
from referee.games.api import Game, Options, State
from tests.bench.engines import ROUNDS, best_of, calibration_us
from tests.rules.random_play import SETTINGS

EACH = 10
"""Positions of a game."""


def positions(game: Game[Any], settings: list[dict[str, str]]) -> Iterator[tuple[Options, State[Any]]]:
    """Positions in which somebody is asked, without end; each position of a game is as likely."""
    number = 0
    while True:
        options = game.settle(settings[number % len(settings)])
        found = [state for state in random_game(game, options, f"imagine {number}") if not is_chance(state)]
        rng = Stream(f"positions {number}".encode())
        for _ in range(EACH):
            yield options, rng.choice(found)
        number += 1


def times_ms(game: Game[Any], settings: list[dict[str, str]], calls: int) -> list[float]:
    """Of so many calls, ascending."""
    rng = Stream(b"imagined")
    found = []
    for number, (options, state) in zip(range(calls), positions(game, settings), strict=False):
        seat = number % game.seats(options)
        news = list(state.seen(seat))
        began = time.process_time_ns()
        game.imagine(options, seat, news, rng)
        found.append((time.process_time_ns() - began) / 1e6)
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description="How long it takes to imagine what is hidden.")
    parser.add_argument("--calls", type=int, default=2000, help="positions of each game")
    arguments = parser.parse_args()
    loop = best_of(ROUNDS, calibration_us)
    rows = []
    for slug, game in GAMES.items():
        if not game.is_open:
            times = times_ms(game, [{}, *SETTINGS[slug]], arguments.calls)
            figures = (statistics.median(times), times[len(times) * 99 // 100], times[-1])
            told = (text for ms in figures for text in (f"{ms:.2f}", f"{ms / loop:.0f}"))
            rows.append([slug, str(len(times)), *told])
    headers = ["", "calls", "median ms", "k loops", "99 % ms", "k loops", "worst ms", "k loops"]
    print(tabulate(rows, headers, disable_numparse=True))
    print(f"\none step of the calibration loop: {loop * 1000:.1f} ns")


if __name__ == "__main__":
    main()
