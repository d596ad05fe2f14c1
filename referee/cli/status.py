"""`referee status`: how far a run is, also while it is on."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from referee.cli.output import amount_text, show_data
from referee.core.errors import RecordError
from referee.core.text import counted, listed, shown
from referee.core.units import about
from referee.ratings.brief import brief, fitted, ranking
from referee.ratings.pool import Pool
from referee.ratings.tally import Tallies
from referee.records.durations import Timed, last_games
from referee.records.header import sections_of
from referee.tournament.facts import facts_of
from referee.tournament.formats import Amount
from referee.tournament.lock import is_locked
from referee.tournament.reading import run_folder
from referee.tournament.run import Run, read_run

ROWS = 20
"""The most lines of the standings."""

RECENT_US = 600_000_000
"""The rate is that of the games that ended in this time before the last one, ten minutes."""


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the same as JSON.")
def status(folder: Path, as_json: bool) -> None:
    """Shows how far the run in DIR is, without disturbing it: games, rate, remaining time, standings, faults.

    Whether a referee is running there is known from the lock of the folder, and the games that count from the
    records; which games are in progress is known only to the run itself.
    """
    found = _status(run_folder(folder))
    show_data(json.dumps(found.data(), indent=2) if as_json else found.text())


@dataclass(frozen=True)
class Status:
    """What is known of a run."""

    game: str
    seats: int
    played: int
    planned: Amount | None
    voids: int
    """How many attempts at games became void."""
    is_running: bool
    """Whether a referee is at work in the folder."""
    rate: float | None
    """Games a second lately; None where too few were played to tell."""
    idle_us: int | None
    """The time since the last game ended; None where there was none."""
    tallies: Tallies
    pool: Pool | None
    """The ratings; None where there are none."""
    order: list[str]
    """The bots, best first: by the order of the format if it has one, else by their ratings."""

    @property
    def remaining_us(self) -> int | None:
        """The estimated time until all games are played; None where it cannot be told."""
        if self.planned is None or not self.rate or not self.is_running:
            return None
        return round((self.planned.games - self.played) / self.rate * 1_000_000)

    @property
    def faults(self) -> Counter[str]:
        """How often each fault happened, by its word."""
        return sum((tally.faults for tally in self.tallies.by_bot.values()), Counter[str]())

    def text(self) -> str:
        """The status for people."""
        of = "" if self.planned is None else f" of {amount_text(self.planned)}"
        running = "a referee is running" if self.is_running else "no referee is running"
        lines = [
            f"{shown(self.game, 80)}, {len(self.tallies.by_bot)} bots: {self.played}{of} games; {running}"
        ]
        pace = []
        if self.rate:
            per = "second" if self.rate >= 1 else "minute" if self.rate * 60 >= 1 else "hour"
            factor = {"second": 1, "minute": 60, "hour": 3600}[per]
            pace.append(f"{self.rate * factor:.1f} games a {per}")
        if self.remaining_us is not None:
            most = "" if self.planned and self.planned.is_exact else "at most "
            pace.append(f"{most}about {about(self.remaining_us)} remaining")
        if self.idle_us is not None:
            pace.append(f"the last game ended {about(self.idle_us)} ago")
        lines += [", ".join(pace)] if pace else []
        faults = ", ".join(f"{count} {word}" for word, count in sorted(self.faults.items()))
        lines += [f"faults: {faults}"] if faults else []
        lines += [f"{counted(self.voids, 'attempt')} at games became void"] if self.voids else []
        if self.played:
            lines += ["", *brief(self.tallies, self.pool, self.seats, ROWS, order=self.order)]
        return "\n".join(lines)

    def data(self) -> dict[str, Any]:
        """The status as JSON."""
        return {
            "game": self.game,
            "running": self.is_running,
            "played": self.played,
            "games": self.planned.games if self.planned else None,
            "voids": self.voids,
            "games_a_second": self.rate,
            "remaining_us": self.remaining_us,
            "idle_us": self.idle_us,
            "faults": dict(sorted(self.faults.items())),
            "standings": [self._standing(name) for name in self.order],
        }

    def _standing(self, name: str) -> dict[str, Any]:
        tally = self.tallies[name]
        rating = self.pool.ratings[name] if self.pool else None
        losses, draws, wins = tally.counts
        return {
            "bot": name,
            "elo": rating.elo if rating else None,
            "half_width": rating.half_width if rating else None,
            "bound": rating.bound if rating else "",
            "games": tally.games,
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "points": tally.points,
            "faults": dict(sorted(tally.faults.items())),
        }


def _status(folder: Path) -> Status:
    """The status of a run. Raises `UsageError` and `RecordError` as `read_run` does."""
    is_running = is_locked(folder)
    run = _read(folder, is_running)
    games = run.shown_games
    seats = max(run.seats.values())
    names = run.names
    last = last_games(folder)
    tallies, pool = Tallies(names, games), fitted(names, games) if seats > 1 and games else None
    places = facts_of(run.header, run.games, run.annulled, run.is_open).places
    (order, *others) = places.values() or [()]
    return Status(
        game=listed(sorted({section["game"] for section in sections_of(run.header).values()})),
        seats=seats,
        played=len(games),
        planned=run.games_in_all,
        voids=len(run.voids),
        is_running=is_running,
        rate=rate(last),
        idle_us=max(0, time.time_ns() // 1000 - max(game.ended_us for game in last)) if last else None,
        tallies=tallies,
        pool=pool,
        order=[bot for _, bot, _ in order] if order and not others else ranking(tallies, pool),
    )


def _read(folder: Path, is_running: bool) -> Run:
    """The run in a folder. While it is on, a game may become void and be played again between the reading of
    two of its files, which then do not agree: they are read once more.
    """
    try:
        return read_run(folder)
    except RecordError:
        if not is_running:
            raise
        return read_run(folder)


def rate(games: list[Timed]) -> float | None:
    """Games a second, by the games that ended last; None where there are too few."""
    if not games:
        return None
    ends = sorted(game.ended_us for game in games)
    recent = [end for end in ends if end >= ends[-1] - RECENT_US]
    passed_us = recent[-1] - recent[0]
    return (len(recent) - 1) * 1_000_000 / passed_us if passed_us else None
