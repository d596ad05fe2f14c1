"""The status of a run, also while it is played: for people as text, for programs as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.core.text import WIDTH, counted, shown
from referee.core.units import about_seconds
from referee.ratings import grids
from referee.ratings.columns import brief, test_text
from referee.ratings.data import rating_json, tests_json
from referee.ratings.notes import left_out_lines, order_by_rating, withdrawn_lines
from referee.ratings.standings import RankedBot
from referee.records.amendments import left_out_json
from referee.tournament.run.durations import last_games
from referee.tournament.run.lock import is_locked
from referee.tournament.run.progress import BotOrder, RunProgress, order_of, progress_of
from referee.tournament.run.run import read_run

MAX_ROWS = 20  # maximum number of lines of the standings


@dataclass(frozen=True, repr=False)
class RunStatus:
    """How far a run was when it was read, and the order of its bots then."""

    progress: RunProgress
    order: BotOrder

    @property
    def data(self) -> dict[str, Any]:
        """What `referee status --json` prints."""
        progress, order = self.progress, self.order
        return {
            "game": progress.game,
            "running": progress.is_running,
            "finished": progress.is_over,
            "decision": progress.decision,
            "stages": dict(order.facts.stages),
            "pairings": {
                section: list(found.data)
                for section in order.facts.tables
                if (found := order.facts.of_format(section).get("pairings"))
            },
            "tests": tests_json(progress.tests),
            "played": progress.played,
            "games": progress.planned.games if progress.planned else None,
            "voids": progress.voids,
            "left_out": left_out_json(progress.left_out),
            "games_a_second": progress.rate,
            "remaining_us": progress.remaining_us,
            "idle_us": self.idle_us,
            "faults": dict(sorted(order.faults.items())),
            "standings": [_standing(order, place) for place in order.places],
        }

    def __str__(self) -> str:
        return self.text(WIDTH)

    def __repr__(self) -> str:
        return f"<{self.text(0).splitlines()[0]}>"

    def text(self, width: int) -> str:
        """The lines for people, in this many columns; 0 for no limit."""
        progress, order = self.progress, self.order
        is_running = "a referee is running" if progress.is_running else "no referee is running"
        running = "finished" if progress.is_over else is_running
        played, in_all = progress.played, progress.in_all
        games = in_all.progress_text(played) if in_all else counted(played, "game")
        lines = [f"{shown(progress.game, 80)}, {progress.bots:,} bots: {games}; {running}"]
        stages = order.facts.stages
        lines += [f"{section}: {stage}" if section else stage for section, stage in stages.items()]
        pace = [progress.rate_text] if progress.rate_text else []
        if progress.remaining_us is not None:
            is_exact = progress.planned and progress.planned.part(progress.played)[1].is_exact
            most = "" if is_exact else "at most "
            pace.append(f"{most}about {about_seconds(progress.remaining_us)} remaining")
        if (idle_us := self.idle_us) is not None:
            pace.append(f"the last game ended {about_seconds(idle_us)} ago")
        lines += [", ".join(pace)] if pace else []
        if progress.tests:
            lines += [
                f"{f'{test.section}: ' if test.section else ''}{test_text(test)}" for test in progress.tests
            ]
        elif progress.decision:
            lines.append(progress.decision)
        faults = ", ".join(f"{count} {word}" for word, count in sorted(order.faults.items()))
        lines += [f"faults: {faults}"] if faults else []
        lines += [f"{counted(progress.voids, 'attempt')} at games became void"] if progress.voids else []
        lines += [*left_out_lines(progress.left_out), *withdrawn_lines(order.facts.withdrawn)]
        lines = [grids.said(lines, "simple", width)]
        if progress.played:
            if order.facts.unknown_format:
                lines += ["", grids.said([order_by_rating(order.facts.unknown_format)], "simple", width)]
            seats = progress.seats
            lines += ["", *brief(order.tallies, order.shown_pool, seats, MAX_ROWS, width, order.places)]
        if not progress.is_over:
            lines += self._pairings(width)
        return "\n".join(lines)

    @property
    def idle_us(self) -> int | None:
        """The time from when the last game ended to now; None where there was none."""
        ended_us = self.progress.ended_us
        return None if ended_us is None else max(0, time.time_ns() // 1000 - ended_us)

    def _pairings(self, width: int) -> Iterator[str]:
        """Who meets whom in the current round, where the format pairs by round."""
        for section in self.order.facts.tables:
            if found := self.order.facts.of_format(section).get("pairings"):
                grid, _ = grids.fitted(found.grid._replace(rows=found.grid.rows[:MAX_ROWS]), "simple", width)
                yield from ["", *([section] if section else []), grid.drawn()]
                if len(found.grid.rows) > MAX_ROWS:
                    yield f"… and {len(found.grid.rows) - MAX_ROWS:,} more"


def status_of(folder: Path) -> RunStatus:
    """The status of the run in a folder. This takes long where there are many games.

    Raises `UsageError` where there is no run, and `RecordError`.
    """
    is_running = is_locked(folder)  # before it is read, so that no run that just ended seems to be unfinished
    run = read_run(folder)
    return RunStatus(progress_of(run, last_games(folder), is_running), order_of(run))


def _standing(order: BotOrder, place: RankedBot) -> dict[str, Any]:
    rank, name, columns = place
    tally = order.tallies[name]
    losses, draws, wins = tally.counts
    return {
        "rank": rank,
        "bot": name,
        "withdrawn": order.facts.withdrawn.get(name),
        **rating_json(order.pool.ratings[name] if order.pool else None),
        "games": tally.games,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "points": round(tally.points, 6),
        "faults": dict(sorted(tally.faults.items())),
        **columns,  # the points of a format have its byes, as in the table
    }
