"""`referee status`: how far a run is, also while it is on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import run_argument, tournament_format_option
from referee.cli.output import show_data, table_width
from referee.core.text import counted, shown
from referee.core.units import about_seconds

if TYPE_CHECKING:
    from referee.ratings.standings import RankedBot
    from referee.tournament.run.progress import BotOrder, RunProgress

ROWS = 20  # maximum number of lines of the standings


@click.command()
@run_argument
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON.")
@tournament_format_option
def status(path: Path, as_json: bool) -> None:
    """Shows the progress of a run, without disturbing it: games, rate, remaining time, standings, faults.

    RUN is the run's folder or its tournament file. Games in progress are not shown.

    \b
    Examples:
      referee status results
      referee status results --json
    """
    from referee.tournament.run.durations import last_games
    from referee.tournament.run.lock import is_locked
    from referee.tournament.run.progress import order_of, progress_of
    from referee.tournament.run.reading import run_folder
    from referee.tournament.run.run import read_run

    folder = run_folder(path)
    is_running = is_locked(folder)
    run = read_run(folder)
    progress, order = progress_of(run, last_games(folder), is_running), order_of(run)
    show_data(json.dumps(_data(progress, order), indent=2) if as_json else _text(progress, order))


def _text(progress: RunProgress, order: BotOrder) -> str:
    from referee.ratings import grids
    from referee.ratings.columns import brief, test_text
    from referee.ratings.notes import left_out_lines, order_by_rating, withdrawn_lines

    of = f" of {progress.in_all.text}" if progress.in_all else ""
    is_running = "a referee is running" if progress.is_running else "no referee is running"
    running = "finished" if progress.is_over else is_running
    lines = [f"{shown(progress.game, 80)}, {progress.bots:,} bots: {progress.played:,}{of} games; {running}"]
    stages = order.facts.stages
    lines += [f"{section}: {stage}" if section else stage for section, stage in stages.items()]
    pace = [progress.rate_text] if progress.rate_text else []
    if progress.remaining_us is not None:
        most = "" if progress.planned and progress.planned.is_exact else "at most "
        pace.append(f"{most}about {about_seconds(progress.remaining_us)} remaining")
    if (idle_us := _idle_us(progress)) is not None:
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
    width = table_width()
    lines = [grids.said(lines, "simple", width)]
    if progress.played:
        if order.facts.unknown_format:
            lines += ["", grids.said([order_by_rating(order.facts.unknown_format)], "simple", width)]
        lines += ["", *brief(order.tallies, order.shown_pool, progress.seats, ROWS, width, order.places)]
    if not progress.is_over:
        lines += _pairings(order)
    return "\n".join(lines)


def _pairings(order: BotOrder) -> Iterator[str]:
    """Who meets whom in the current round, where the format pairs by round."""
    from referee.ratings import grids

    for section in order.facts.tables:
        if found := order.facts.of_format(section).get("pairings"):
            grid, _ = grids.fitted(found.grid._replace(rows=found.grid.rows[:ROWS]), "simple", table_width())
            yield from ["", *([section] if section else []), grid.drawn()]
            if len(found.grid.rows) > ROWS:
                yield f"… and {len(found.grid.rows) - ROWS:,} more"


def _idle_us(progress: RunProgress) -> int | None:
    """The time since the last game ended; None where there was none."""
    return None if progress.ended_us is None else max(0, time.time_ns() // 1000 - progress.ended_us)


def _data(progress: RunProgress, order: BotOrder) -> dict[str, Any]:
    from referee.ratings.data import tests_json
    from referee.records.amendments import left_out_json

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
        "idle_us": _idle_us(progress),
        "faults": dict(sorted(order.faults.items())),
        "standings": [_standing(order, place) for place in order.places],
    }


def _standing(order: BotOrder, place: RankedBot) -> dict[str, Any]:
    from referee.ratings.data import rating_json

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
