"""The tables of a Swiss tournament: the cross table by rounds, and the pairings of a round. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from referee.core.rows import Column, Grid
from referee.ratings.format_tables import RANK, FormatTable, halves, name_column
from referee.tournament.formats.standing import SectionResults
from referee.tournament.formats.tie_breaks import Met, Scores


def rounds_table(scores: Scores, order: Sequence[str], results: SectionResults) -> FormatTable:
    """By bot and round, the opponent's number in the table and the points against it: `5:1½`. What follows
    while the encounter is played is `…`; a bot that is not paired any more has `–`.
    """
    numbers = {bot: str(number) for number, bot in enumerate(order, 1)}

    def cell(met: Met | None) -> str:
        if met is None:
            return "–"
        if met.encounter is None:
            return "bye"
        so_far = halves(met.points) if met.points or _is_over(met, results) else ""
        return f"{numbers[met.opponent]}:{so_far}{'' if _is_over(met, results) else '…'}"

    rounds = range(1, len(scores.rounds) + 1)
    columns = [RANK, name_column("bot"), Column("points", "points")]
    columns += [Column(f"round {number}", str(number)) for number in rounds]
    cells = {bot: [cell(met) for _, met in zip_longest(rounds, scores.course[bot])] for bot in order}
    rows = [[numbers[bot], results.shown(bot), halves(scores.points[bot]), *cells[bot]] for bot in order]
    data = [
        {"number": int(numbers[bot]), "bot": results.shown(bot), "points": scores.points[bot]}
        | {f"round_{number}": text for number, text in zip(rounds, cells[bot], strict=True)}
        for bot in order
    ]
    return FormatTable("rounds", Grid(columns, rows), data, fixed=3)


def pairings_table(scores: Scores, results: SectionResults) -> FormatTable:
    """The pairings of the last round that is known, which may not have begun, with the points before it."""
    encounters, bye = scores.rounds[-1]
    number = len(scores.rounds)

    def before(bot: str) -> float:
        return sum(met.points for met in scores.course[bot][:-1])

    data: list[dict[str, Any]] = []
    for one, other in [one.games[0].bots for one in encounters] + ([(bye, "")] if bye else []):
        met = scores.course[one][-1]
        data.append(
            {
                "round": number,
                "bot": results.shown(one),
                "bot_before": before(one),
                "against": results.shown(other) if other else None,
                "against_before": before(other) if other else None,
                "points": met.points,
                "against_points": scores.course[other][-1].points if other else None,
                "over": _is_over(met, results),
            }
        )
    columns = [Column("round", "round"), name_column("bot"), Column("before", "before")]
    columns += [Column("result", "result"), name_column("against"), Column("before against", "before")]
    return FormatTable("pairings", Grid(columns, [_pairing(row) for row in data]), data)


def _pairing(row: dict[str, Any]) -> list[str]:
    points, others = halves(row["points"]), row["against_points"]
    if row["against"] is None:
        return [str(row["round"]), row["bot"], halves(row["bot_before"]), points, "bye", ""]
    result = f"{points}–{halves(others)}"
    if not row["over"]:
        result = f"{result} …" if row["points"] or others else "…"
    against = [row["against"], halves(row["against_before"])]
    return [str(row["round"]), row["bot"], halves(row["bot_before"]), result, *against]


def _is_over(met: Met, results: SectionResults) -> bool:
    return met.encounter is None or all(results.is_over(game.id) for game in met.encounter.games)
