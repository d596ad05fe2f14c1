"""What the live view costs the referee: milliseconds for a picture and for a game, and its share of the time.

    python -m tests.bench.live_view [--games N] [--bots N,N] [--rate GAMES]

A run with N games that are played is shown on a terminal of 120 columns and 40 lines, which discards what is
drawn. Then games finish at a rate for a minute by a scripted clock, which stands still but for what the view
itself takes: so what is measured is the view's processor time, and the share is what it would have of a core
that does all else in no time.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections import Counter

from rich.console import Console
from tabulate import tabulate

from referee.cli.live_view import LiveView
from referee.cli.progress import RunInfo
from referee.records.record import Summary
from referee.tournament.formats.round_robin import round_robin
from referee.tournament.workers.task import Finished

SECONDS = 60
TICK_S = 0.1


class Clock:
    """A clock that is set forward by hand, and that goes on while something is computed."""

    def __init__(self) -> None:
        self._added_s = -time.process_time()

    def __call__(self) -> float:
        return time.process_time() + self._added_s

    def wait_until(self, at_s: float) -> None:
        """Sets it forward, unless it is later already."""
        self._added_s += max(0.0, at_s - self())


def played(bots: int, games: int) -> list[Summary]:
    """Games of a round robin, in which the bot with the lower number mostly wins."""
    names = [f"bot-{number:03d}" for number in range(bots)]
    found: list[Summary] = []
    for encounter in round_robin(names, 2, games):
        for pairing in encounter.games:
            if len(found) == games:
                return found
            ranks = (1, 2) if (pairing.bots[0] < pairing.bots[1]) == (len(found) % 3 > 0) else (2, 1)
            found.append(summary(pairing.id, pairing.bots, ranks))
    return found


def summary(game: str, bots: tuple[str, ...], ranks: tuple[int, ...]) -> Summary:
    """The head of a record of Blooms."""
    sentence = "seat 1 has captured 15 of 15"
    return Summary(game, 1, "blooms", bots, ranks, (15, 0), "rules", sentence, True, ("", ""))


def shares(bots: int, games: int, rate: int) -> list[str]:
    """A row of the table."""
    clock = Clock()
    all_games = played(bots, games + rate * SECONDS)
    known = {game.id: game for game in all_games[:games]}
    info = RunInfo(tuple(sorted({b for g in all_games for b in g.bots})), 2, len(all_games), known, 2)
    began_s = clock()
    terminal = Console(file=io.StringIO(), force_terminal=True, width=120, height=40)
    view = LiveView(info, clock, terminal)
    with view:
        view.tick()
        opened_s = clock() - began_s
        pictures = Counter[str]()
        draw, fit = view._draw, view._fitted.refresh

        def counted_draw() -> None:
            before_s = clock()
            draw()
            pictures["drawn"] += 1
            pictures["us"] += round(1_000_000 * (clock() - before_s))

        def counted_fit() -> None:
            before_s, fitted = clock(), view._fitted.games
            fit()
            pictures["fits"] += fitted != view._fitted.games
            pictures["fit us"] += round(1_000_000 * (clock() - before_s))

        view._draw, view._fitted.refresh = counted_draw, counted_fit  # type: ignore[method-assign]
        waiting = iter(all_games[games:])
        began_s, spent_s, ticks, finished = clock(), 0.0, 0, 0
        while clock() < began_s + SECONDS:
            ticks += 1
            clock.wait_until(began_s + ticks * TICK_S)
            before_s = clock()
            while finished < rate * (clock() - began_s) and (game := next(waiting, None)):
                finished += 1
                view.began(game.id)
                known[game.id] = game
                view.finished(Finished(game, json.dumps({}).encode(), Counter(), Counter(), ""))
            view.tick()
            spent_s += clock() - before_s
            terminal.file = io.StringIO()
    return [
        str(bots),
        f"{opened_s:.2f}",
        f"{pictures['us'] / max(1, pictures['drawn']) / 1000:.1f}",
        str(pictures["drawn"]),
        f"{pictures['fit us'] / max(1, pictures['fits']) / 1000:.0f}",
        str(pictures["fits"]),
        f"{100 * spent_s / (clock() - began_s):.1f} %",
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--bots", default="2,16,64,256")
    parser.add_argument("--rate", type=int, default=100, help="games a second")
    arguments = parser.parse_args()
    rows = [shares(int(bots), arguments.games, arguments.rate) for bots in arguments.bots.split(",")]
    headers = ["bots", "opened, s", "ms a picture", "pictures", "ms a fit", "fits", "share of the time"]
    print(tabulate(rows, headers, disable_numparse=True))
    print(f"{arguments.games} games played, {arguments.rate} more a second for {SECONDS} s")


if __name__ == "__main__":
    main()
