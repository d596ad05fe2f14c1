"""The terms of a game, and its verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from referee.core.settings import MARGIN_US, REJECTIONS
from referee.core.units import TimeControl
from referee.gameplay.events import Drawn, Ending, Preset
from referee.games.api import Game, Options, Outcome


@dataclass(frozen=True, slots=True)
class Terms:
    """What a game is played under; together with the bots' answers and their times it decides all."""

    id: str
    game: Game[Any]
    options: Options
    bots: tuple[str, ...]  # names, by seat
    controls: tuple[TimeControl, ...]  # by seat
    seed: bytes  # this game's own; whatever is random in the game is drawn from it, except for what is shared
    shared_seed: bytes = b""
    """The seed of what the games of an encounter, or all bots that play alone in a round, have in common."""
    margin_us: int = MARGIN_US
    rejections: int = REJECTIONS
    opening: tuple[str, ...] = ()  # the first moves, which the referee makes in the name of the seats to move
    start: tuple[Drawn | Preset, ...] = ()
    """The events of an earlier game with which this one begins, outcomes of chance included."""

    def with_names(self, shown_name: Callable[[str], str]) -> Terms:
        """The same terms with other names of the bots; `shown_name` gives them."""
        return replace(self, bots=tuple(map(shown_name, self.bots)))


class Verdict(NamedTuple):
    """How a game ended."""

    outcome: Outcome
    ending: Ending  # `rules` where the game came to its own end, else what the seat that left last did
    rated: bool  # false where no bot that could be started was left to win: nothing was played
