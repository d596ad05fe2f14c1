"""A tournament as a value: what is to be played, whether a file, options or a program describe it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from referee.core.errors import EnvironmentLacksError, UsageError
from referee.core.pairing import Pairing
from referee.core.settings import ORDER, ORDERS, STANDARD_POINTS, UNLIMITED, PointScale, TimeLimit
from referee.processes.limits import share_of
from referee.processes.program import Program
from referee.records.amendments import LeftOut, Strikes
from referee.records.header import REPEATS, Header
from referee.records.record import FORMAT
from referee.records.run_files import TOML, results_folder
from referee.tournament.formats import Amount, Format, total
from referee.tournament.plan import BotOrigin, Entrant, Plan, entrant_json
from referee.tournament.stopping import NEVER, Stopping, StoppingRule, stopping_rule_from_header

KEEP = ("faults", "all", "nothing")


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

    @classmethod
    def of_header(cls, header: Header, run_format: Format, seats: Mapping[str, int]) -> Matchmaking:
        """That of a run. Raises `RecordError`."""
        stopping = stopping_rule_from_header(header.members)
        return cls(
            tuple(header.bots), seats, run_format, stopping, header.repeats, header.points, header.limit
        )

    def new_stopping(self, out: Collection[str]) -> Stopping:
        """The stopping rule of a section, before its first game, where some bots are `out`."""
        return Stopping(self.stopping, self.names, self.format.tested(self.names), self.repeats, out)


class TournamentFile(NamedTuple):
    """The file that describes a tournament, or that a run stores where there was none."""

    path: Path = Path(TOML)
    text: bytes = b""
    where: str = ""  # the beginning of its errors, which names the file; empty for a command line

    @property
    def folder(self) -> Path:
        """The default folder of the results: beside the file."""
        return results_folder(self.path)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Has errors of what the file says, also those that are found later, begin with its name."""
        try:
            yield
        except (UsageError, EnvironmentLacksError) as error:
            raise type(error)(f"{self.where}{error}") from None


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
    left_out: tuple[LeftOut, ...] = ()  # the bots that the file names and that do not play
    keep: str = KEEP[0]  # which dialogues are kept; one of `KEEP`
    workers: int = 0
    pin: bool = False
    cluster: str = ""  # the address of the cluster that plays; empty where the file names none
    file: TournamentFile = field(default=TournamentFile(), compare=False)
    format_among: Callable[[Sequence[str], Collection[str]], Format] | None = field(
        default=None, repr=False, compare=False
    )
    """The format for bots with these names, where those others are left out; None where it is the same for
    all. Raises `UsageError`.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bots, in the order in which they were given."""
        return self.plans[0].names

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """The bots, with their clocks in the first section."""
        return self.plans[0].entrants

    @property
    def origins(self) -> dict[str, BotOrigin]:
        """What the tables of the bots say about their files, by name."""
        return {entrant.bot.name: entrant.origin for entrant in self.entrants}

    def private(self, folder: Path) -> tuple[Path, ...]:
        """What belongs to the referee and to no bot: the folder of the run, and the tournament file."""
        return folder.resolve(), self.file.path.resolve()

    def without(self, left_out: Iterable[LeftOut]) -> Tournament:
        """The tournament without further bots. Raises `UsageError` where the others cannot play it alone."""
        out = (*self.left_out, *left_out)
        gone = {one.bot for one in out}
        names = [name for name in self.names if name not in gone]
        plans = tuple(plan.among(names) for plan in self.plans)
        for plan in plans:
            plan.check_seats()
        form = self.format_among(names, gone) if self.format_among else self.format
        return replace(self, plans=plans, format=form, left_out=out)

    def with_bots(self, bots: Sequence[Program]) -> Tournament:
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
