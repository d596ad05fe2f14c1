"""Tables of results: of a match of two, of a pool, and of bots that play alone. Pure functions of the
summaries of games.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tabulate import tabulate, tabulate_formats

from referee.core.pairing import Pairing
from referee.games.api import share_beaten
from referee.ratings.pool import Pool, Rating, Result, fit
from referee.ratings.two import Comparison, compare
from referee.records.record import Summary

FORMATS = ("csv", "json", *tabulate_formats)


@dataclass
class Tally:
    """One bot's results."""

    by_seat: dict[int, list[int]] = field(default_factory=dict)
    """By seat, its losses, draws and wins."""
    points: float = 0
    """A game gives the share of opponents that it beat, where a tie counts half: for two seats, wins and half
    the draws. For a bot that plays alone, a win gives 1.
    """
    faults: Counter[str] = field(default_factory=Counter)
    """How often it committed a fault, by the word of the fault."""

    @property
    def counts(self) -> list[int]:
        """Losses, draws, wins."""
        return [sum(column) for column in zip([0, 0, 0], *self.by_seat.values(), strict=True)]

    @property
    def games(self) -> int:
        """How many of its games were rated."""
        return sum(self.counts)

    def add(self, name: str, game: Summary) -> None:
        """Adds a game of the bot."""
        seat = game.bots.index(name)
        if game.faults[seat]:
            self.faults[game.faults[seat]] += 1
        if game.rated:
            self.by_seat.setdefault(seat, [0, 0, 0])[score(name, game)] += 1
            self.points += share_beaten(game.ranks, seat)


def tally(name: str, games: Iterable[Summary]) -> Tally:
    """A bot's results in these games."""
    found = Tally()
    for game in games:
        if name in game.bots:
            found.add(name, game)
    return found


def score(name: str, game: Summary) -> int:
    """0 for a bot that is not first, 1 for a shared first place, 2 for first place alone."""
    own = game.ranks[game.bots.index(name)]
    return 0 if own > 1 else 1 if game.ranks.count(1) > 1 else 2


def _faults(found: Tally) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(found.faults.items())) or "–"


def _percent(found: Tally) -> str:
    return f"{100 * found.points / found.games:.1f} %" if found.games else "–"


# --- A match of two ------------------------------------------------------------------------------------


def match_table(names: Sequence[str], games: Sequence[Summary]) -> str:
    """The table of a match of two bots, a row each, with the Elo difference to the other."""
    headers = ["bot", "games", "wins", "draws", "losses", "points", "Elo ± 95 %"]
    headers += ["seat 1 w–d–l", "seat 2 w–d–l", "faults"]
    rows: list[list[object]] = []
    notes = set()
    for name in names:
        found = tally(name, games)
        losses, draws, wins = found.counts
        comparison = _comparison(name, games, found)
        if comparison.clamped:
            notes.add("* scores below 0.1 % or above 99.9 % are clamped for Elo")
        seats = [found.by_seat.get(seat, [0, 0, 0]) for seat in (0, 1)]
        rows.append(
            [name, found.games, wins, draws, losses, _percent(found), _difference(comparison)]
            + [f"{w}–{d}–{lost}" for lost, d, w in seats]
            + [_faults(found)]
        )
    return "\n".join([tabulate(rows, headers, disable_numparse=True), *sorted(notes), *_remarks(games)])


def _comparison(name: str, games: Sequence[Summary], found: Tally) -> Comparison:
    """Compares by pairs of games with the seats swapped if all games form such pairs, else by games."""
    pairs: dict[tuple[str, ...], list[Summary]] = {}
    for game in games:
        pairs.setdefault(Pairing.parse(game.id).encounter, []).append(game)
    if not all(len(pair) == 2 and all(game.rated for game in pair) for pair in pairs.values()):
        return compare(found.counts)
    counts = [0] * 5
    for pair in pairs.values():
        counts[sum(score(name, game) for game in pair)] += 1
    return compare(counts)


def _difference(comparison: Comparison) -> str:
    if not comparison.trials:
        return "–"
    half = "" if comparison.half_width is None else f" ± {comparison.half_width:.0f}"
    return f"{round(comparison.elo):+d}{half}{'*' if comparison.clamped else ''}"


def _isolation(games: Iterable[Summary]) -> list[str]:
    """Under which isolation the bots played, as a note; none where the records do not have it."""
    names: dict[str, dict[str, None]] = {}
    for game in games:
        for name, level in zip(game.bots, game.isolation, strict=bool(game.isolation)):
            names.setdefault(level, {})[name] = None
    if len(names) < 2:
        return [f"isolation: {level}" for level in names]
    groups = [f"{level} for {', '.join(sorted(found))}" for level, found in names.items()]
    return [f"isolation: {'; '.join(groups)}"]


def _remarks(games: Sequence[Summary]) -> list[str]:
    """What is said under every table."""
    return [*_unrated(games), *_isolation(games)]


def _unrated(games: Iterable[Summary]) -> list[str]:
    count = sum(not game.rated for game in games)
    return [f"{count} × no bot of a game started, not counted"] if count else []


# --- A pool --------------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """A row of the table of a pool."""

    rank: int
    bot: str
    elo: float
    half_width: float | None
    """Half the 95 % interval; None for a bot that has not met any other."""
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    faults: dict[str, int]


class Standings(NamedTuple):
    """The table of a pool, best first, with notes."""

    rows: list[Standing]
    pool: Pool
    notes: list[str]


def standings(names: Sequence[str], games: Iterable[Summary]) -> Standings:
    """The table of all bots. It depends only on the set of games, not on their order."""
    ordered = sorted(games, key=lambda game: game.id)
    rated = [game for game in ordered if game.rated]
    pool = fit((Result(g.bots, g.ranks, Pairing.parse(g.id).encounter) for g in rated), sorted(names))
    rows: list[Standing] = []
    for name in sorted(names, key=lambda name: (-round(pool.fitted[name], 6), name)):
        found = tally(name, ordered)
        losses, draws, wins = found.counts
        rating = pool.ratings[name]
        faults = dict(sorted(found.faults.items()))
        rows.append(
            Standing(
                len(rows) + 1,
                name,
                rating.elo,
                rating.half_width,
                *(found.games, wins, draws, losses),
                found.points,
                faults,
            )
        )
    return Standings(rows, pool, [*_notes(pool), *_remarks(ordered)])


def _notes(pool: Pool) -> list[str]:
    notes = []
    for seat_1, *_ in pool.advantages.values():
        if seat_1.half_width is not None:
            notes.append(f"seat 1 is worth {round(seat_1.elo):+d} ± {seat_1.half_width:.0f} Elo")
    met = [group for group in pool.groups if len(group) > 1]
    if len(met) > 1:
        groups = " | ".join(" ".join(group) for group in met)
        notes.append(f"not all bots have met, directly or through others; compare Elo within: {groups}")
    return notes


def pool_table(table: Standings, seats: int = 2, form: str = "simple") -> str:
    """The standings as text."""
    counts = ["wins", "draws", "losses"] if seats == 2 else ["first", "shared", "behind"]
    headers = ["", "bot", "Elo ± 95 %", "games", *counts, "points", "faults"]
    rows = [
        [
            row.rank,
            row.bot,
            "–" if row.half_width is None else f"{round(row.elo):+d} ± {row.half_width:.0f}",
            *(row.games, row.wins, row.draws, row.losses),
            f"{100 * row.points / row.games:.1f} %" if row.games else "–",
            ", ".join(f"{count} {word}" for word, count in row.faults.items()) or "–",
        ]
        for row in table.rows
    ]
    align = ("right", "left", "right", *["right"] * 5, "left")
    return tabulate(rows, headers, tablefmt=form, disable_numparse=True, colalign=align if rows else None)


def crosstable(names: Sequence[str], games: Iterable[Summary], form: str = "simple") -> str:
    """Wins–draws–losses of each pair of bots, from the point of view of the row."""
    counts: dict[tuple[str, str], list[int]] = {}
    for game in games:
        for one in game.bots if game.rated else ():
            for other in game.bots:
                if one != other:
                    rank, other_rank = (game.ranks[game.bots.index(name)] for name in (one, other))
                    counts.setdefault((one, other), [0, 0, 0])[
                        1 + (rank < other_rank) - (rank > other_rank)
                    ] += 1
    rows: list[list[object]] = []
    for number, one in enumerate(names, 1):
        cells = []
        for other in names:
            lost, draws, wins = counts.get((one, other), [0, 0, 0])
            cells.append("·" if one == other else f"{wins}–{draws}–{lost}")
        rows.append([number, one, *cells])
    headers = ["", "wins–draws–losses", *map(str, range(1, len(names) + 1))]
    align = ("right", "left", *["center"] * len(names))
    return tabulate(rows, headers, tablefmt=form, disable_numparse=True, colalign=align if rows else None)


# --- Bots that play alone ------------------------------------------------------------------------------


class SoloStanding(NamedTuple):
    """A row of the table of bots that play alone, on the same deals."""

    rank: int
    bot: str
    games: int
    wins: int
    share: float
    """The share of games won."""
    left: float
    """The mean score of the games, such as tiles left; less is better."""
    faults: dict[str, int]


def solo_standings(names: Sequence[str], games: Sequence[Summary]) -> list[SoloStanding]:
    """The rows, best first: by share of wins, then by mean score."""
    rows = []
    for name in sorted(names):
        found = tally(name, games)
        left = [game.scores[0] for game in games if game.rated and game.bots == (name,)]
        played = max(1, found.games)
        rows.append((-found.points / played, sum(left) / played, name, found))
    return [
        SoloStanding(
            rank, name, found.games, found.counts[2], -share, left, dict(sorted(found.faults.items()))
        )
        for rank, (share, left, name, found) in enumerate(sorted(rows, key=lambda row: row[:3]), 1)
    ]


def solo_table(rows: Sequence[SoloStanding], form: str = "simple") -> str:
    """The table as text."""
    headers = ["", "bot", "games", "wins", "won", "mean left", "faults"]
    cells = [
        [row.rank, row.bot, row.games, row.wins]
        + ([f"{100 * row.share:.1f} %", f"{row.left:.2f}"] if row.games else ["–", "–"])
        + [", ".join(f"{count} {word}" for word, count in row.faults.items()) or "–"]
        for row in rows
    ]
    align = ("right", "left", *["right"] * 4, "left")
    return tabulate(cells, headers, tablefmt=form, disable_numparse=True, colalign=align if rows else None)


# --- Reports -------------------------------------------------------------------------------------------


def rendered(names: Sequence[str], games: Sequence[Summary], form: str, seats: int = 2) -> str:
    """The complete report of a pool of games with this number of seats, in one of `FORMATS`."""
    if seats == 1:
        return _rendered_solo(names, games, form)
    table = standings(names, games)
    if form == "json":
        return json.dumps(_json(table), indent=2)
    if form == "csv":
        return _csv(table)
    order = [row.bot for row in table.rows]
    return "\n".join([pool_table(table, seats, form), *table.notes, "", crosstable(order, games, form)])


def _rendered_solo(names: Sequence[str], games: Sequence[Summary], form: str) -> str:
    rows = solo_standings(names, games)
    if form == "json":
        return json.dumps(
            {"standings": [row._asdict() for row in rows], "notes": _remarks(games)},
            indent=2,
        )
    if form == "csv":
        cells = [[row.rank, _cell(row.bot), *row[2:4], f"{row.share:.4f}", f"{row.left:.4f}"] for row in rows]
        return _csv_text(SoloStanding._fields, cells, [row.faults for row in rows])
    return "\n".join([solo_table(rows, form), *_remarks(games)])


def _json(table: Standings) -> dict[str, Any]:
    advantage = next((seats[0] for seats in table.pool.advantages.values()), Rating(0.0, None))
    return {
        "standings": [row._asdict() for row in table.rows],
        "seat_1_advantage": {"elo": advantage.elo, "half_width": advantage.half_width},
        "notes": table.notes,
    }


def _csv(table: Standings) -> str:
    cells = [
        [row.rank, _cell(row.bot), f"{row.elo:.1f}"]
        + ["" if row.half_width is None else f"{row.half_width:.1f}", *row[4:9]]
        for row in table.rows
    ]
    return _csv_text(Standing._fields, cells, [row.faults for row in table.rows])


def _cell(name: str) -> str:
    """A bot's name as a cell: a leading + or -, which a spreadsheet would read as a formula, is quoted."""
    return f"'{name}" if name[0] in "+-" else name


def _csv_text(
    fields: Sequence[str], rows: Iterable[Sequence[object]], faults: Iterable[dict[str, int]]
) -> str:
    """CSV of the rows, with the faults as last column."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    for row, counts in zip(rows, faults, strict=True):
        writer.writerow([*row, " ".join(f"{word}:{count}" for word, count in counts.items())])
    return text.getvalue().rstrip("\n")
