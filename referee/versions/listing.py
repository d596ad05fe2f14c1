"""The versions as a table, with ratings over all games between them."""

from __future__ import annotations

from collections import Counter

from referee.core.rows import Column, Grid
from referee.core.text import shown, signed
from referee.ratings.columns import interval_text
from referee.ratings.pool import Result, fit
from referee.ratings.sprt import Estimate
from referee.ratings.tally import clusters, results_of
from referee.versions.store import Versions

GAINS = ("gain", "gain_low", "gain_high")


def listing(versions: Versions, is_data: bool) -> Grid:
    """The versions, oldest first. The mean of the ratings is 0; they have no intervals, since sequential
    tests end when the results are extreme. A version without games has no rating. As data, the gain has its
    interval in two columns of its own. Raises `RecordError`.
    """
    names = {version.number: versions.name(version) for version in versions.all}
    results: list[Result] = []
    for test in versions.tests():
        called = dict(zip(test.run.names, (names[test.new], names[test.old]), strict=True))
        games = test.run.shown_games
        results += [
            Result(
                tuple(called[bot] for bot in result.bots),
                result.ranks,
                (test.new, test.old, test.conditions, result.cluster),
                test.conditions,
            )
            for result in results_of(games, clusters(games, test.run.header.repeats).of)
        ]
    ratings = fit(results, [*names.values()]).ratings
    counts = Counter(bot for result in results for bot in result.bots)
    columns = [
        Column("version", "version", left=True),
        Column("date", "date", left=True),
        Column("elo", "Elo", text=lambda elo: "–" if elo is None else signed(elo)),
        Column("games", "games"),
        Column("against", "against", left=True),
        *(map(Column, GAINS, GAINS) if is_data else [Column("gain", "gain", left=True)]),
        Column("note", "note", left=True),
        Column("sha256", "files", left=True, text=lambda digest: str(digest)[:12]),
    ]
    rows = []
    for version in versions.all:
        name = names[version.number]
        rating = ratings[name]
        gain = [version.gain.get(part) for part in Estimate._fields]
        rows.append(
            [
                name,
                shown(version.date, 40),
                round(rating.elo, 2) if rating.is_known else None,
                counts[name],
                names.get(version.against, ""),
                *(gain if is_data else [interval_text(*gain)]),
                shown(version.note, 200),
                version.sha256,
            ]
        )
    return Grid(columns, rows)
