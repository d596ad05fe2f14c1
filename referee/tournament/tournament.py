"""A tournament as a value: the plans of its sections, its format, and how both stand in the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from referee.core.errors import UsageError
from referee.core.pairing import Pairing
from referee.core.settings import ORDER, ORDERS, STANDARD_POINTS, UNLIMITED, PointScale, TimeLimit
from referee.processes.bot import Bot
from referee.processes.limits import share_of
from referee.records.amendments import Strikes
from referee.records.header import REPEATS, Header
from referee.records.record import FORMAT
from referee.tournament.file.config import Config
from referee.tournament.formats import Amount, Format, total
from referee.tournament.matchmaking import Matchmaking
from referee.tournament.plan import Entrant, Plan, checked_seed, entrant_json
from referee.tournament.stopping import NEVER, StoppingRule


@dataclass(frozen=True)
class Tournament:
    """What is played, and who meets whom, with all settings."""

    plans: tuple[Plan, ...]  # A plan for each section; all have the same bots
    format: Format
    strikes: Strikes | None = None  # after how many faults a bot is out; None where that is unlimited
    stopping: StoppingRule = NEVER  # when it stops before its schedule ends
    repeats: str = REPEATS[0]  # how games count that are the same as others; one of `REPEATS`
    points: PointScale = STANDARD_POINTS  # how many points a game gives
    limit: TimeLimit = UNLIMITED  # until when games begin
    order: str = ORDERS[0]
    """What bots are ordered by, where the format has no order of its own; one of `ORDERS`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bots, in the order in which they were given."""
        return self.plans[0].names

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """The bots, with their clocks in the first section."""
        return self.plans[0].entrants

    def with_bots(self, bots: Sequence[Bot]) -> Tournament:
        """The tournament with other settings of its bots, which are given in the same order."""
        return replace(self, plans=tuple(plan.with_bots(bots) for plan in self.plans))

    def sharing(self, memory: int, games: int) -> Tournament:
        """The tournament where bots have their shares of this many bytes of memory, if this many games are
        played at once.
        """
        share = share_of(memory, games * max(plan.seats for plan in self.plans))
        bots = (entrant.bot for entrant in self.entrants)
        return self.with_bots([replace(bot, limits=replace(bot.limits, share=share)) for bot in bots])

    @cached_property
    def _by_section(self) -> dict[str, Plan]:
        return {plan.section: plan for plan in self.plans}

    def plan(self, game: Pairing) -> Plan:
        """The plan of the section that a game belongs to."""
        return self._by_section[game.section]

    @cached_property
    def matchmaking(self) -> Matchmaking:
        """What decides which encounters are played."""
        seats = {plan.section: plan.seats for plan in self.plans}
        return Matchmaking(
            self.names, seats, self.format, self.stopping, self.repeats, self.points, self.limit
        )

    @cached_property
    def games_in_all(self) -> Amount:
        """How many games there are in all sections."""
        amounts = [self.format.games_in_all(len(plan.names), plan.seats) for plan in self.plans]
        return total(amounts, may_stop=bool(self.stopping.header() or self.limit.header()))

    def check(self) -> None:
        """Raises `UsageError` where the format does not fit the number of bots or seats."""
        for plan in self.plans:
            self.format.check(len(plan.names), plan.seats)
            self.stopping.check(len(plan.names), plan.seats, self.format.tested(plan.names))
        if self.order != ORDERS[0] and self.format.pairs_by_round:
            raise UsageError(
                f"`{ORDER}` is `{self.order}`, but the format `{self.format.name}` has an order of its own, "
                f"expected no `{ORDER}`"
            )
        if self.strikes and self.strikes.games != "forfeit" and self.format.follows_results:
            raise UsageError(
                f"`strikes.games` is `{self.strikes.games}`, expected `forfeit` with "
                f"the format `{self.format.name}`"
            )

    @cached_property
    def header(self) -> Header:
        """The tournament as the first line of a file of records has it."""
        first = self.plans[0]
        alone = not first.section
        games = {plan.section: {**plan.game_json(), "seats": plan.seats} for plan in self.plans}
        bots = {}
        for number, entrant in enumerate(first.entrants):
            clocks = {plan.section: str(plan.entrants[number].control) for plan in self.plans}
            clock = {"clock": clocks[""]} if alone else {"clocks": clocks}
            bots[entrant.bot.name] = entrant_json(entrant, clock)
        members = {
            "kind": "tournament",
            "record": FORMAT,
            **(first.game_json() if alone else {"games": games}),
            **first.terms_json(),
            "bots": bots,
            **self.format.header(),
            **self.stopping.header(),
            **(self.strikes.header() if self.strikes else {}),
            # Only what differs from the default, which keeps headers short.
            **({} if self.repeats == REPEATS[0] else {"repeats": self.repeats}),
            **self.points.header(),
            **({} if self.order == ORDERS[0] else {ORDER: self.order}),
            **self.limit.header(),
        }
        return Header.read(members)


def tournament_of(config: Config) -> Tournament:
    """The tournament that a file or a command line describes, with a drawn seed where none was given."""
    seed = checked_seed(config.seed)
    plans = [
        Plan(
            section.game,
            section.options,
            section.entrants,
            seed,
            config.margin_us,
            config.rejections,
            config.start_us,
            seed_is_hidden=config.seed is None,
            openings=section.openings,
            section=section.name,
        )
        for section in config.sections
    ]
    return Tournament(
        tuple(plans),
        config.format,
        config.strikes,
        config.stopping,
        config.repeats,
        config.points,
        config.limit,
        config.order,
    )
