"""The games to see on the page of each pair of bots, chosen by the rules of the first screen. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from referee.core.pairing import section_of
from referee.pages.report.front import GameToSee, ListedGame, games_to_see


class PairOfBots(NamedTuple):
    """Two bots that met."""

    bots: tuple[str, str]  # in alphabetical order
    section: str | None  # where; None for all sections together


def pairs_to_see(
    games: Sequence[ListedGame], elo: Mapping[str, float], bots: Collection[str]
) -> dict[PairOfBots, Sequence[GameToSee]]:
    """The games to see of each pair of these bots that met, and where there are several sections also of its
    games in each; `elo` has the bots' ratings.
    """
    sections = [section_of(each.game.id) for each in games]
    several = len({*sections}) > 1
    own: dict[PairOfBots, list[ListedGame]] = defaultdict(list)
    for each, section in zip(games, sections, strict=True):
        for pair in combinations(sorted(bot for bot in each.game.bots if bot in bots), 2):
            for within in (None, section) if several else (None,):
                own[PairOfBots(pair, within)].append(each)
    return {met: games_to_see(found, elo) for met, found in own.items()}
