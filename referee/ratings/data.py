"""A table as data: JSON and CSV with everything. `TABLE.md` describes both for people. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from referee.core.rows import as_csv
from referee.ratings.blocks import meetings, seat_results
from referee.ratings.format_tables import FORMAT_TABLES
from referee.ratings.pool import Rating
from referee.ratings.sprt import SprtResult, estimate
from referee.ratings.standings import Facts, Standings, StandingsRow
from referee.ratings.tally import crosstable
from referee.ratings.times import MoveTimes

VERSION = 1  # version of the shape of the JSON. Members may be added in the same version.

_PAIRS = ("ll", "ld", "dd", "wd", "ww")
"""What pairs of games are counted by: which of the two were lost, drawn and won."""

QUANTILES = {"median_us": 0.5, "p99_us": 0.99}


def to_json(table: Standings, parts: Sequence[Standings], notes: Sequence[str], facts: Facts) -> str:
    """The JSON of a report: the whole, and each section where there are several."""
    value = {
        "table": VERSION,
        **_table(table, facts),
        "notes": list(notes),
        "tests": tests_json(facts.tests),
        "sections": [{"section": part.section, **_table(part, facts)} for part in parts],
    }
    members = [f"{json.dumps(name)}: {_lines(what)}" for name, what in value.items()]
    return "{\n" + ",\n".join(members) + "\n}"


def _lines(value: object) -> str:
    """A member as JSON; of a list each item on a line of its own, so that it can be read and compared."""
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n]"


def _table(table: Standings, facts: Facts) -> dict[str, Any]:
    return {
        "played": sorted({game.game for game in table.games}),
        "seats": table.seats,
        "games": len(table.games),
        "unrated": table.tallies.unrated,
        "repeats": table.clusters.repeats,
        "standings": [_standing(row, table, facts) for row in table.rows],
        "crosstable": _crosstable(table),
        "los": _los(table),
        "advantages": _advantages(table),
        "by_seat": _by_seat(table),
        "pairs": _pairs(table),
        "groups": table.pool.groups,
        "stage": facts.stages.get(table.section),
        **{name: _of_format(table, facts, name) for name in FORMAT_TABLES},
    }


def _standing(row: StandingsRow, table: Standings, facts: Facts) -> dict[str, Any]:
    after = row.next
    value: dict[str, Any] = {
        "rank": row.rank,
        "bot": row.bot,
        **row.columns,
        **rating_json(row.rating),
        "ranks": dict(zip(("first", "last"), row.ranks or (None, None), strict=True)),
        "to_next": rating_json(after.difference if after else None),
        "superiority": _rounded(after.superiority if after else None, 4),
        "games": row.tally.games,
        **_counts(row.tally.counts),
        "points": _rounded(row.tally.points, 6),
        "score": _rounded(row.tally.score, 6),
        "expected": _rounded(row.expected if row.is_rated else None, 3),
        "encounters": row.encounters,
        "mean_score": _rounded(row.tally.scores / row.tally.games if row.tally.games else None, 6),
        "seats": [_counts(row.tally.by_seat.get(seat, (0, 0, 0))) for seat in range(table.seats)],
        "faults": dict(sorted(row.tally.faults.items())),
    }
    if facts.times and not table.section:
        value["times"] = _times_of(row.bot, facts)
        value["metrics"] = _metrics_of(row.bot, facts)
    return {**value, **row.columns}  # the points of a format have its byes, as in the text


def tests_json(tests: Sequence[SprtResult]) -> list[dict[str, Any]]:
    """The sequential tests of a run as JSON."""
    return [_test(test) for test in tests]


def _test(test: SprtResult) -> dict[str, Any]:
    value = test._asdict()
    return {
        **value,
        "counts": list(test.counts),
        "llr": _rounded(test.llr, 4),
        "bounds": [_rounded(bound, 4) for bound in test.bounds],
        "accepted": test.accepted or None,
        **_ends(estimate(test)),
    }


def rating_json(rating: Rating | None) -> dict[str, Any]:
    """An Elo and the ends of its interval, null where there is none."""
    return _ends(rating if rating and rating.is_known else None)


def _ends(found: Iterable[float | None] | None) -> dict[str, Any]:
    """A difference and the ends of its interval."""
    return {
        name: _rounded(value, 2) for name, value in zip(Rating._fields, found or (None,) * 3, strict=True)
    }


def _counts(counts: Sequence[int]) -> dict[str, int]:
    losses, draws, wins = counts
    return {"wins": wins, "draws": draws, "losses": losses}


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None or math.isinf(value) else round(value, digits)


def _times_of(bot: str, facts: Facts) -> dict[str, int | None]:
    times = (facts.times.by_bot if facts.times else {}).get(bot, MoveTimes())
    return {
        "moves": times.moves,
        **{name: times.quantile(share) if times.moves else None for name, share in QUANTILES.items()},
        "max_us": times.longest_us if times.moves else None,
        "used_us": times.used_us,
        "over": times.over,
        "late": times.late,
        "cpu_us": times.cpu_us,
    }


def _metrics_of(bot: str, facts: Facts) -> dict[str, float | None]:
    metrics = (facts.times.by_bot if facts.times else {}).get(bot, MoveTimes()).metrics
    return {name: _rounded(metrics.mean(name), 6) for name in metrics.names}


def _crosstable(table: Standings) -> list[dict[str, Any]]:
    """All that met, each pair from both points of view, in the order of the standings."""
    counts = crosstable(table.games)
    return [
        {"bot": one, "against": other, **_counts(counts[one, other])}
        for one in table.names
        for other in table.names
        if (one, other) in counts
    ]


def _los(table: Standings) -> list[list[float | None]]:
    """The likelihood that the bot of the row is stronger than that of the column, by rank."""
    return [[_rounded(value, 4) for value in row] for row in table.pool.superiorities(table.names)]


def _advantages(table: Standings) -> list[dict[str, Any]]:
    return [
        {"section": section, "seats": seats, "seat": number, **rating_json(rating)}
        for (section, seats), ratings in sorted(table.pool.advantages.items())
        for number, rating in enumerate(ratings, 1)
    ]


def _by_seat(table: Standings) -> list[dict[str, Any]]:
    return [
        {
            "seat": number,
            "games": sum(counts),
            **_counts(counts),
            "points": _rounded(points, 6),
            **rating_json(advantage),
        }
        for number, (counts, points, advantage) in enumerate(seat_results(table), 1)
    ]


def _pairs(table: Standings) -> list[dict[str, Any]]:
    return [
        {
            "bot": bot,
            "against": against,
            "counts": counts,
            "elo": _rounded(found.elo, 2),
            "low": _rounded(found.low, 2),
            "high": _rounded(found.high, 2),
            "nelo": _rounded(found.nelo, 2),
            "nelo_half_width": _rounded(found.nelo_half_width, 2),
            "superiority": _rounded(superiority, 4),
            "draw_ratio": _rounded(found.draw_ratio, 4),
            "pairs_ratio": _rounded(found.pairs_ratio, 4),
        }
        for bot, against, counts, found, superiority in meetings(table)
    ]


def to_csv(
    table: Standings, parts: Sequence[Standings], facts: Facts, block: str = "", delimiter: str = ","
) -> str:
    """One of the `BLOCKS` as CSV, or the standings with the crosstable beside them: rows of each section and
    of the whole.
    """
    return as_csv(flat_rows(table, parts, facts, block), delimiter=delimiter)


def flat_rows(
    table: Standings, parts: Sequence[Standings], facts: Facts, block: str = "", with_results: bool = True
) -> list[dict[str, Any]]:
    """The rows of one of the `BLOCKS`, or of the standings, of each section and of the whole: values by name,
    those of inner members by both names. With results, the standings have those against each other bot.
    """
    return [
        {"section": each.section, **row}
        for each in (*parts, table)
        for row in (
            _of_format(each, facts, block) or ()
            if block in FORMAT_TABLES
            else _rows(each, facts, block, with_results)
        )
    ]


def _rows(table: Standings, facts: Facts, block: str, with_results: bool) -> Iterator[dict[str, Any]]:
    match block:
        case "crosstable":
            yield from _crosstable(table)
        case "los":
            for name, likelihoods in zip(table.names, _los(table), strict=True):
                yield {"bot": name, **dict(zip(table.names, likelihoods, strict=True))}
        case "seats":
            yield from _by_seat(table)
        case "pairs":
            for pair in _pairs(table):
                counts = dict(zip(_PAIRS, pair.pop("counts"), strict=True))
                yield {"bot": pair.pop("bot"), "against": pair.pop("against"), **counts, **pair}
        case "faults":
            for row in table.rows:
                yield {"bot": row.bot, "games": row.tally.games, **_faults(row, table)}
        case "times":
            for row in table.rows:
                yield {"bot": row.bot, **_times_of(row.bot, facts)}
        case "sprt":
            yield from () if table.section else map(_flat_test, facts.tests)
        case _:
            yield from _wide(table, facts, with_results)


def _of_format(table: Standings, facts: Facts, name: str) -> list[Mapping[str, Any]] | None:
    """The rows of a table of the format; None where it has none."""
    found = facts.of_format(table.section).get(name)
    return list(found.data) if found else None


def _flat_test(test: SprtResult) -> dict[str, Any]:
    found = _test(test)
    counts = dict(zip(_PAIRS, found.pop("counts"), strict=True))
    lower, upper = found.pop("bounds")
    return {**found, **counts, "lower": lower, "upper": upper}


def _wide(table: Standings, facts: Facts, with_results: bool) -> Iterator[dict[str, Any]]:
    """The standings, maybe with columns for the results against each other bot."""
    counts = crosstable(table.games) if with_results else {}
    for row in table.rows:
        flat = _flat(_standing(row, table, facts)) | _faults(row, table)
        for other in table.names if with_results and table.seats > 1 else ():
            for word, count in _counts(counts.get((row.bot, other), (0, 0, 0))).items():
                flat[f"{word} vs {other}"] = count
        yield flat


def _flat(standing: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a standing without members of members."""
    flat: dict[str, Any] = {}
    for name, value in standing.items():
        if name == "seats":
            for number, counts in enumerate(value, 1):
                flat |= {f"seat_{number}_{word}": count for word, count in counts.items()}
        elif isinstance(value, dict):
            flat |= {f"{name}_{word}": what for word, what in value.items() if name != "faults"}
        else:
            flat[name] = value
    return flat


def _faults(row: StandingsRow, table: Standings) -> dict[str, int]:
    words = sorted({word for each in table.rows for word in each.tally.faults})
    return {f"faults_{word}": row.tally.faults[word] for word in words}
