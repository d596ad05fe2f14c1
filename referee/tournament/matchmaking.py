"""The settings that decide which encounters a run has: its bots, format and stopping rule. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from referee.core.settings import STANDARD_POINTS, UNLIMITED, PointScale, TimeLimit
from referee.records.header import REPEATS, Header
from referee.tournament.formats import Format
from referee.tournament.stopping import NEVER, Stopping, StoppingRule, stopping_rule_from_header


@dataclass(frozen=True)
class Matchmaking:
    """The part of a tournament that decides which encounters are played."""

    names: tuple[str, ...]  # the names of the bots, in the order in which they were given
    seats: Mapping[str, int]  # by section, how many bots play a game
    format: Format
    stopping: StoppingRule = NEVER  # when it stops before its schedule ends
    repeats: str = REPEATS[0]  # how games count that are the same as others; one of `REPEATS`
    points: PointScale = STANDARD_POINTS  # how many points a game gives
    limit: TimeLimit = UNLIMITED  # until when games begin

    def new_stopping(self, out: Collection[str]) -> Stopping:
        """The stopping rule of a section, before its first game, where some bots are `out`."""
        return Stopping(self.stopping, self.names, self.format.tested(self.names), self.repeats, out)


def matchmaking_of_header(header: Header, run_format: Format, seats: Mapping[str, int]) -> Matchmaking:
    """The matchmaking of a run from its header. Raises `RecordError`."""
    stopping = stopping_rule_from_header(header.members)
    return Matchmaking(
        tuple(header.bots), seats, run_format, stopping, header.repeats, header.points, header.limit
    )
