"""The tables of a knockout: the bracket, and the series of the current stage. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from referee.core.rows import Column, Grid
from referee.ratings.format_tables import FormatTable, halves, name_column

MAX_STAGES = 4  # of a larger bracket the last stages are drawn; its data has all

THIRD_PLACE = "third place"

BY_SEED = "*"  # what marks the points of a bot that goes on by its seed


class SeriesScore(NamedTuple):
    """A series as far as it was played, or a bye."""

    stage: int  # counted from 1
    place: int  # its place in the stage, from the top, counted from 0; −1 of the match for the third place
    bots: tuple[str, str]  # in the order of the bracket; one of a bye is empty
    points: tuple[float, float]
    games: int  # how many games were played
    winner: str  # empty while it is not decided

    @property
    def decided_by(self) -> str | None:
        """What decided it: points, the seed or a bye."""
        if not all(self.bots):
            return "bye"
        if not self.winner:
            return None
        return "seed" if self.points[0] == self.points[1] else "points"

    def points_text(self, at: int) -> str:
        """The points of one of the bots, marked where they did not decide."""
        if not all(self.bots):
            return "bye" if self.bots[at] else ""
        if not self.games:
            return ""
        by_seed = self.decided_by == "seed" and self.winner == self.bots[at]
        return f"{halves(self.points[at])}{BY_SEED * by_seed}"


def stage_name(left: int) -> str:
    """The name of a stage, by how many stages are left with it."""
    return {1: "final", 2: "semifinals", 3: "quarterfinals"}.get(left, f"last {2**left}")


def _named(left: int) -> tuple[str, str]:
    """The name of a stage, and the one over its column, not longer than a name may be shortened to."""
    return stage_name(left), f"top {2**left}" if left > 1 else stage_name(left)


def bracket_table(series: Sequence[SeriesScore], stages: int, shown: Callable[[str], str]) -> FormatTable:
    """All series: as text, a column for each stage, in which neighbours meet; the winner between them goes on
    to the next column.
    """
    first = max(1, stages - MAX_STAGES + 1)
    rows = [[""] * (2 * (stages - first + 1) + 1) for _ in range(2 ** (stages - first + 1))]
    columns = [
        column
        for number in range(first, stages + 1)
        for name, heading in [_named(stages - number + 1)]
        for column in (name_column(heading, name), Column(f"points of {name}", ""))
    ]
    for one in series:
        if one.stage < first:
            continue
        level, at = one.stage - first, 2 * (one.stage - first)
        if one.place < 0:
            rows += [[""] * len(rows[0]) for _ in range(3)]
            rows[-3][at] = f"{THIRD_PLACE}:"
            top = len(rows) - 2
        else:
            top = (2 * one.place + 1) * 2**level - 1
        for number, bot in enumerate(one.bots):
            rows[top + number][at : at + 2] = [shown(bot) if bot else "", one.points_text(number)]
        if one.stage == stages and one.place >= 0 and one.winner:
            rows[top][-1] = shown(one.winner)
    if any(one.decided_by == "seed" and one.stage >= first for one in series):
        rows.append([f"{BY_SEED} seed", *[""] * (len(rows[0]) - 1)])
    columns.append(name_column("winner"))
    return FormatTable("bracket", Grid(columns, rows), [_data(one, stages, shown) for one in series])


def stage_table(series: Sequence[SeriesScore], stages: int, shown: Callable[[str], str]) -> FormatTable:
    """The series of the stage that is played now."""
    now = [one for one in series if one.stage == series[-1].stage and all(one.bots)]
    columns = [Column("stage", "stage", left=True), name_column("bot"), Column("result", "result")]
    columns += [name_column("against")]
    rows = []
    for one in now:
        result = "–".join(map(halves, one.points)) if one.games else ""
        rows.append(
            [
                _stage_of(one, stages),
                shown(one.bots[0]),
                result + ("" if one.winner else " …" if result else "…"),
                shown(one.bots[1]),
            ]
        )
    return FormatTable("pairings", Grid(columns, rows), [_data(one, stages, shown) for one in now])


def _stage_of(one: SeriesScore, stages: int) -> str:
    return THIRD_PLACE if one.place < 0 else stage_name(stages - one.stage + 1)


def _data(one: SeriesScore, stages: int, shown: Callable[[str], str]) -> dict[str, Any]:
    bot, against = (shown(name) if name else None for name in one.bots)
    return {
        "stage": _stage_of(one, stages),
        "bot": bot,
        "against": against,
        "points": one.points[0],
        "against_points": one.points[1],
        "winner": shown(one.winner) if one.winner else None,
        "decided_by": one.decided_by,
    }
