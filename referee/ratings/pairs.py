"""Head-to-head results of each two bots, and statistics of their pairs of games. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from referee.core.pairing import Pairing
from referee.records.record import Summary

Counts = list[int]  # losses, draws, wins; or pairs of games by their points: 0, ½, 1, 1½, 2


def crosstable(games: Iterable[Summary]) -> dict[tuple[str, str], Counts]:
    """The losses, draws and wins of the first bot against the second, for all that met, either way round.

    In a game with more than two seats a bot wins against those that it is placed before.
    """
    counts: dict[tuple[str, str], Counts] = defaultdict(lambda: [0, 0, 0])
    for game in games:
        if not game.rated:
            continue
        for (one, rank), (other, other_rank) in combinations(zip(game.bots, game.ranks, strict=True), 2):
            result = 1 + (rank < other_rank) - (rank > other_rank)
            counts[one, other][result] += 1
            counts[other, one][2 - result] += 1
    return dict(counts)


def pentanomial(
    games: Sequence[Summary], clusters: Sequence[int], bots: Collection[str]
) -> dict[tuple[str, str], Counts]:
    """Counts, for games of two of these bots with two seats, the pairs by the points of the first bot, for
    bots in alphabetical order.

    A pair is the two rated games of an encounter, both played, one in either seating. `clusters` has the
    cluster of each game: a pair in a cluster that has one already is a repeat, and does not count.
    """
    halves: dict[tuple[str, ...], Summary] = {}
    seen: set[tuple[str, str, int]] = set()
    counts: dict[tuple[str, str], Counts] = defaultdict(lambda: [0] * 5)
    for game, cluster in zip(games, clusters, strict=True):
        if len(game.bots) != 2 or not game.is_evidence or any(bot not in bots for bot in game.bots):
            continue
        encounter = Pairing.parse(game.id).encounter
        before = halves.pop(encounter, None)
        if before is None or before.bots == game.bots:
            halves[encounter] = game
            continue
        one, other = sorted(game.bots)
        if (one, other, cluster) in seen:  # guard: repeated-pairs
            continue
        seen.add((one, other, cluster))
        counts[one, other][_halves(before, one) + _halves(game, one)] += 1
    return dict(counts)


def _halves(game: Summary, bot: str) -> int:
    """Twice the points of a bot in a game with two seats."""
    own = game.bots.index(bot)
    return 1 + (game.ranks[own] < game.ranks[1 - own]) - (game.ranks[own] > game.ranks[1 - own])
