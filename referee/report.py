"""Tables of results, through tabulate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tabulate import tabulate

from referee.events import Left
from referee.ratings.two import Comparison, compare
from referee.record import GameRecord


@dataclass
class Tally:
    """One bot's results of a match of two."""

    by_seat: list[list[int]] = field(default_factory=lambda: [[0, 0, 0], [0, 0, 0]])
    """For each seat: losses, draws, wins."""
    faults: dict[str, int] = field(default_factory=dict)
    """How often it left a game by a fault, by the fault's word."""

    @property
    def counts(self) -> list[int]:
        """Losses, draws, wins."""
        return [one + other for one, other in zip(*self.by_seat, strict=True)]


def match_table(names: Sequence[str], records: Iterable[GameRecord]) -> str:
    """The table of a match of two bots: one row each, the Elo difference from its own side."""
    games = list(records)
    tallies = {name: _tally(name, games) for name in names}
    headers = ["bot", "games", "wins", "draws", "losses", "points", "Elo ± 95 %"]
    headers += ["seat 1 w–d–l", "seat 2 w–d–l", "faults"]
    rows, notes = [], set()
    for name, tally in tallies.items():
        losses, draws, wins = tally.counts
        comparison = _comparison(name, games, tally)
        if comparison.clamped:
            notes.add("* beyond the scores of 0.1 % and 99.9 %, where Elo is cut off")
        rows.append(
            [
                name,
                losses + draws + wins,
                wins,
                draws,
                losses,
                f"{100 * comparison.score:.1f} %" if comparison.trials else "–",
                _elo(comparison),
                *(f"{w}–{d}–{lost}" for lost, d, w in tally.by_seat),
                ", ".join(f"{count} {word}" for word, count in sorted(tally.faults.items())) or "–",
            ]
        )
    unrated = sum(not game.verdict.rated for game in games)
    if unrated:
        notes.add(f"{unrated} games in which no bot started are not counted")
    return "\n".join([tabulate(rows, headers, disable_numparse=True), *sorted(notes)])


def _tally(name: str, games: list[GameRecord]) -> Tally:
    tally = Tally()
    for game in games:
        if name not in game.terms.bots:
            continue
        seat = game.terms.bots.index(name)
        for event in game.events:
            if isinstance(event, Left) and event.seat == seat and event.ending.is_fault:
                tally.faults[event.ending.word] = tally.faults.get(event.ending.word, 0) + 1
        if game.verdict.rated:
            tally.by_seat[seat][_points(name, game)] += 1
    return tally


def _points(name: str, game: GameRecord) -> int:
    """0 for a loss, 1 for a draw, 2 for a win."""
    seat = game.terms.bots.index(name)
    ranks = game.verdict.outcome.ranks
    own, other = ranks[seat], ranks[1 - seat]
    return 1 + (own < other) - (own > other)


def _comparison(name: str, games: list[GameRecord], tally: Tally) -> Comparison:
    """By pairs of games with the seats swapped where all games come in such pairs, else by games."""
    pairs: dict[str, list[GameRecord]] = {}
    for game in games:
        pairs.setdefault(game.terms.id.partition(":")[0], []).append(game)
    if not all(len(pair) == 2 and all(game.verdict.rated for game in pair) for pair in pairs.values()):
        return compare(tally.counts)
    counts = [0] * 5
    for pair in pairs.values():
        counts[sum(_points(name, game) for game in pair)] += 1
    return compare(counts)


def _elo(comparison: Comparison) -> str:
    if not comparison.trials:
        return "–"
    half = "" if comparison.half_width is None else f" ± {comparison.half_width:.0f}"
    return f"{round(comparison.elo):+d}{half}{'*' if comparison.clamped else ''}"
