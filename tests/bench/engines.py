"""How fast the rules are: `python -m tests.bench.engines [--games N] [--rounds N] [--against CHECKOUT]`.

For every game: the time to judge the text of a move (`read`), to apply it and to see whether the game is
over, over random games; what a search does, in processor time: a whole random game (`playout` of the kit),
and where information is hidden a position that agrees with news (`imagine`), the first for these news and
further ones; and for Beautiful Vine Tree the test for its end over positions that were found by looking for
bad ones (`vinetree_positions.txt`), from nothing, without what a game remembers.

Machines differ and drift, ratios tell more. Beside each time stands its multiple of one step of a calibration
loop, which is plain Python on the same core in the same run. With `--against`, what a search does is measured
with another checkout of the project too, in turns, and each time has how many times as fast it is here.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tabulate import tabulate

from referee import kit
from referee.check.rules import is_chance
from referee.core.seeds import Stream
from referee.games import GAMES
from referee.games.api import State
from referee.games.vinetree import VineTreeState
from referee.games.vinetree.growing import NOTHING_KNOWN, known_after

ROOT = Path(__file__).parents[2]
POSITIONS = Path(__file__).with_name("vinetree_positions.txt")

CASES: list[tuple[str, dict[str, str]]] = [
    ("blooms", {"size": "3"}),
    ("blooms", {}),
    ("blooms", {"size": "5"}),
    ("vinetree", {}),
    ("vinetree", {"size": "13"}),
    ("evengroups", {}),
    ("evengroups", {"size": "8"}),
    ("floral", {}),
    ("thetree", {}),
    ("thetree", {"players": "1"}),
    ("thetree", {"players": "4"}),
]

Turn = tuple[State[Any], dict[int, str]]
"""A position, and what each seat says in it."""


def turns_of(slug: str, given: dict[str, str], games: int) -> list[list[Turn]]:
    """Random games as texts, so that only judging and applying them is timed."""
    game = GAMES[slug]
    found = []
    for number in range(games):
        rng = Stream(f"{slug} {number}".encode())
        state = game.start(game.settle(given))
        turns: list[Turn] = []
        while state.outcome() is None:
            if is_chance(state):
                state = state.chance(state.draw(rng))
                continue
            moves = {seat: state.sample(seat, rng) for seat in state.to_act()}
            turns.append((state, {seat: state.write(move) for seat, move in moves.items()}))
            state = state.play(moves)
        if turns:  # a seat that plays alone may have no move
            found.append(turns)
    return found


def calibration_us(clock_ns: Callable[[], int] = time.perf_counter_ns) -> float:
    """One step of a loop that adds and indexes: what Python costs here and now."""
    items = list(range(64))
    total = 0
    began = clock_ns()
    for number in range(300_000):
        total += items[number & 63]
    return (clock_ns() - began) / 300_000 / 1000


def per_turn_us(games: list[list[Turn]]) -> tuple[float, float]:
    """µs a turn: of reading alone, and of reading, applying and asking whether the game is over."""
    turns = [turn for game in games for turn in game]
    began = time.perf_counter_ns()
    for state, texts in turns:
        for seat, text in texts.items():
            state.read(seat, text)
    read = time.perf_counter_ns() - began
    whole = 0
    for game in games:
        state = game[0][0]
        began = time.perf_counter_ns()
        for _, texts in game:
            # As the match does it: on the state that the turn before gave, with what that remembers.
            state = state.play({seat: state.read(seat, text) for seat, text in texts.items()})
            state.outcome()
            if is_chance(state):
                break  # a deal is no move
        whole += time.perf_counter_ns() - began
    played = sum(_until_chance(game) for game in games)
    return read / len(turns) / 1000, whole / played / 1000


def _until_chance(game: list[Turn]) -> int:
    """The turns of a game before chance comes between them."""
    for number, (state, texts) in enumerate(game, 1):
        if is_chance(state.play({seat: state.read(seat, text) for seat, text in texts.items()})):
            return number
    return len(game)


def cpu_us(action: Callable[[], object], times: int) -> float:
    """µs of processor time."""
    began = time.process_time_ns()
    for _ in range(times):
        action()
    return (time.process_time_ns() - began) / times / 1000


def search_us(slug: str, given: dict[str, str], games: int, rounds: int) -> list[float]:
    """µs of processor time for a random game from its first position; where information is hidden also for
    the first position that is imagined from news, and for each further one, over positions of four games.
    """
    start, rng = kit.new(slug, given, seed=1), kit.Quick(1)
    found = [best_of(rounds, partial(cpu_us, partial(start.playout, rng), games))]
    if GAMES[slug].is_open:
        return found
    first, further = [], []
    for seed in range(4):
        rng, course = kit.Quick(seed), [kit.new(slug, given, seed=seed)]
        while not (position := course[-1]).is_over:
            moves = {seat: position.sample(rng, seat) for seat in position.to_act()}
            course.append(position.play(moves))
        for part in (0.1, 0.4, 0.7, 0.95):
            position = course[int(part * (len(course) - 1))]
            imagine = partial(position.imagine, position.to_act()[0], rng)
            position.news(position.to_act()[0])
            first.append(cpu_us(imagine, 1))
            further.append(cpu_us(imagine, games))
    return [*found, statistics.mean(first), statistics.mean(further)]


def search_in_us(checkout: Path, slug: str, given: dict[str, str], games: int, rounds: int) -> list[float]:
    """The same with the engines of a checkout, in a process of its own."""
    numbers = ["--games", str(games), "--rounds", str(rounds)]
    order = [sys.executable, __file__, *numbers, "--search", json.dumps([slug, given])]
    env = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    done = subprocess.run(order, env=env, stdout=subprocess.PIPE, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def search_row(
    checkout: Path | None, slug: str, given: dict[str, str], games: int, rounds: int, loop: float
) -> list[str]:
    """What a search does with a game, per second."""
    here, there = [], []
    for _ in range(rounds):
        here.append(search_in_us(ROOT, slug, given, games, rounds))
        if checkout:
            there.append(search_in_us(checkout, slug, given, games, rounds))
    best = [min(times) for times in zip(*here, strict=True)]
    row = [f"{best[0] / 1000:.2f}", f"{best[0] / loop / 1000:.1f}"]
    ratios = [min(times) / us for times, us in zip(zip(*there, strict=True), best, strict=False)]
    for number in range(3):
        row.append(f"{1e6 / best[number]:,.0f}" if number < len(best) else "")
        if checkout:
            row.append(f"{ratios[number]:.2f}" if number < len(best) else "")
    return row


def positions() -> list[tuple[int, VineTreeState]]:
    """The bad positions, with their boards' sizes."""
    found = []
    for line in POSITIONS.read_text().splitlines():
        size, bend, moves = line.split(" ", 2)
        game = GAMES["vinetree"]
        state = game.start(game.settle({"size": size, "bend": bend}))
        for text in moves.split(", "):
            (seat,) = state.to_act()
            state = state.play({seat: state.read(seat, text)})
        assert isinstance(state, VineTreeState)
        found.append((int(size), state))
    return found


def best_of(rounds: int, measure: Callable[[], float]) -> float:
    """The least of several: what is above it is the machine's doing."""
    return min(measure() for _ in range(rounds))


def end_test_ms(state: VineTreeState) -> float:
    began = time.perf_counter_ns()
    known_after(NOTHING_KNOWN, state.position)
    return (time.perf_counter_ns() - began) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the rules are.")
    parser.add_argument("--games", type=int, default=30, help="random games of each kind")
    parser.add_argument("--rounds", type=int, default=5, help="of which the best counts")
    parser.add_argument("--against", type=Path, help="another checkout that the engines are compared with")
    parser.add_argument("--search", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    rounds: int = arguments.rounds
    if arguments.search:
        slug, given = json.loads(arguments.search)
        print(json.dumps(search_us(slug, given, arguments.games, rounds)))
        return
    loop = best_of(rounds, calibration_us)
    rows = []
    for slug, given in CASES:
        games = turns_of(slug, given, arguments.games)
        times = [per_turn_us(games) for _ in range(rounds)]
        read, whole = (min(column) for column in zip(*times, strict=True))
        name = " ".join([slug, *(f"{option}={value}" for option, value in given.items())])
        rows.append([name, f"{read:.1f}", f"{whole:.1f}", f"{whole / loop:.0f}", f"{1e6 / whole:,.0f}"])
    print(tabulate(rows, ["a turn", "µs to read", "µs in all", "loops", "turns/s"], disable_numparse=True))
    print()
    rows = []
    loop_cpu = best_of(rounds, partial(calibration_us, time.process_time_ns))
    for slug, given in CASES:
        name = " ".join([slug, *(f"{option}={value}" for option, value in given.items())])
        rows.append([name, *search_row(arguments.against, slug, given, arguments.games, rounds, loop_cpu)])
    head = ["a playout", "ms", "thousand loops"]
    for column in ("playouts/s", "first imagined/s", "imagined/s"):
        head += [column, "× there"] if arguments.against else [column]
    print(tabulate(rows, head, disable_numparse=True))
    print()
    ends: list[list[str]] = []
    by_size: dict[int, list[float]] = {}
    for size, state in positions():
        by_size.setdefault(size, []).append(best_of(rounds, partial(end_test_ms, state)))
    for size, found in sorted(by_size.items()):
        middle, worst = statistics.median(found), max(found)
        ends.append(
            [
                f"{size} × {size}",
                str(len(found)),
                f"{middle:.2f}",
                f"{worst:.2f}",
                f"{worst * 1000 / loop:.0f}",
            ]
        )
    headers = ["end of vinetree", "positions", "median ms", "worst ms", "worst in loops"]
    print(tabulate(ends, headers, disable_numparse=True))
    print(f"\none step of the calibration loop: {loop * 1000:.1f} ns")


if __name__ == "__main__":
    main()
