"""Pages that are lists, and need no script: its standings, its games, those with a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from referee.core.text import by_name
from referee.pages.environment import page, static
from referee.pages.report.front import lead_text
from referee.ratings.columns import (
    counts_text,
    faults_text,
    rank_text,
    rating_text,
    results_heading,
    score_text,
)
from referee.ratings.standings import NextInRank
from referee.ratings.tally import Tallies
from referee.serving.live import LiveRun, Snapshot
from referee.tournament.run.progress import BotOrder
from referee.viewing.words import placings


class GameRow(NamedTuple):
    """A game in a list."""

    number: int  # counted from 1, in the order in which the games ended
    id: str
    result: str
    sentence: str
    faults: Sequence[str]  # the bots that committed a fault
    counts: bool  # whether it counts: it is not annulled
    may_show: bool  # whether it may be looked at


class BotRow(NamedTuple):
    """A bot in the standings."""

    rank: str
    bot: str
    cells: Sequence[str]  # one for each of the `headings`


def games_page(snapshot: Snapshot, what: str, at: int, pages: int, numbers: Sequence[int]) -> str:
    """A page with the games that have these numbers: page `at` of so many, of `games` or of `faults`."""
    return page(
        "live_list.html",
        title={"games": "Games", "faults": "Games with a fault"}[what],
        styles=[static("live.css")],
        name=snapshot.name,
        what=what,
        at=at,
        pages=pages,
        rows=_rows(snapshot, numbers),
    )


def _rows(snapshot: Snapshot, numbers: Sequence[int]) -> list[GameRow]:
    run = snapshot.run
    if run is None:
        return []
    rows = []
    for number in numbers:
        game = snapshot.played[number - 1].game
        bots = run.shown_bots(game)
        rows.append(
            GameRow(
                number,
                game.id,
                placings(bots, game.ranks),
                by_name(game.sentence, bots),
                [bot for bot, word in zip(bots, game.faults, strict=True) if word],
                game.id not in run.annulled,
                snapshot.may_show(number),
            )
        )
    return rows


def standings_page(live: LiveRun, snapshot: Snapshot) -> str:
    """The page of the standings. All games are counted; ratings and ranks may be those of earlier games."""
    found, run = live.put_in_order(snapshot), snapshot.run
    order = found.order if found else None
    if order and run:
        order = replace(order, tallies=Tallies(run.names, run.shown_games, order.facts.points))
    has_ratings = order is not None and order.pool is not None
    results = results_heading(max(run.seats.values()) if run else 2)
    places = order.places if order else []
    return page(
        "live_standings.html",
        title="Standings",
        styles=[static("live.css")],
        name=snapshot.name,
        sentences=snapshot.sentences,
        headings=[*["Elo ± 95 %"][:has_ratings], "games", results, "score", "faults"],
        rows=[BotRow(rank_text(rank), bot, _cells(order, bot)) for rank, bot, _ in places] if order else [],
        first=first_text(order) if order else "",
        after=found.games if found and found.games < snapshot.count else None,
        has_ratings=has_ratings,
        has_report=snapshot.has_report,
    )


def first_text(order: BotOrder) -> str:
    """How sure it is that the first bot is stronger than the second; empty where nobody knows, or where
    there is no first and second.
    """
    if order.shown_pool is None or [rank for rank, _, _ in order.places[:2]] != [1, 2]:
        return ""
    pair = order.bots[0], order.bots[1]
    compared = NextInRank(order.shown_pool.difference(*pair), order.shown_pool.superiority(*pair))
    is_by_rating = not (order.facts.by_points or any(order.facts.places.values()))
    return lead_text(pair[1], compared, is_by_rating)


def _cells(order: BotOrder, bot: str) -> list[str]:
    """Lists the cells after a bot's name in the standings."""
    tally = order.tallies[bot]
    rating = [rating_text(order.pool.ratings[bot])] if order.pool else []
    return [*rating, f"{tally.games:,}", counts_text(tally.counts), score_text(tally), faults_text(tally)]
