"""Tuning: pairs of games of a bot with two sets of values of its parameters, which follow from the results,
and then a sequential test of the values found against those of the start. Pure.

The bot enters four times, under its name with a role behind it: `plus` and `minus` play the pairs, then
`tuned` plays `start`. Each round is one encounter. The values of a pair follow from the results of all pairs
but the last `ahead` before it, so that these are played at the same time, and the course depends on neither
the number of workers nor on when a run was stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.core.rows import Column, Grid
from referee.core.seeds import Stream, derive
from referee.core.settings import MAX_SPRT_GAMES
from referee.games.api import share_beaten
from referee.ratings.format_tables import FormatTable
from referee.tournament.formats.format import MAX_GAMES, Amount, Format, Settings, game_text, wrong_seats
from referee.tournament.formats.section import SectionState, Standing, read_on
from referee.tournament.schedule import Encounter, Schedule, wait_for
from referee.tuning.expectation import expectation
from referee.tuning.parameters import Parameter, read_parameters, value_text, values_at
from referee.tuning.spsa import LAST_SPREAD, Shares, Spsa

ROLES = ("tuned", "start", "plus", "minus")
"""What follows the name of the bot and a `-`, in the order in which it enters."""

TEST, SEARCH = slice(2), slice(2, 4)
"""Those who play the test, and those who play before, to find values."""

FEWEST_GAMES = 100
AHEAD, MAX_AHEAD = 16, 1000
MAX_ROWS = 50  # the number of rows that the table of the course has at most


@dataclass(frozen=True)
class Tuning(Format):
    """Pairs of games of a bot with different values, and a test of the values that were found."""

    name: ClassVar[str] = "tuning"
    in_titles: ClassVar[bool] = True
    has_rounds: ClassVar[bool] = False
    follows_results: ClassVar[bool] = True
    pairs_by_round: ClassVar[bool] = True
    growing: ClassVar[Collection[str]] = ("test_budget",)
    growth: ClassVar[str] = "a larger `test_budget`"
    table: ClassVar[str] = "parameter"
    no_course: ClassVar[str] = "The values change from pair to pair, so ratings have no course."

    budget: int = 0  # how many games are played to find values; with an odd number one less
    test_budget: int = 0  # how many games the test has at most; in each header, since it may grow
    ahead: int = AHEAD  # how many pairs are played at the same time at most
    parameter: tuple[Parameter, ...] = ()  # at least one

    @classmethod
    def read(cls, settings: Settings) -> Tuning:
        fields, parameters = settings.fields, read_parameters(settings.tables(cls.table, 1))
        if [name.rpartition("-")[2] for name in settings.known] != [*ROLES]:
            raise fields.wrong("bots", f"a bot in the roles {', '.join(ROLES)}")
        return cls(
            fields.number("budget", FEWEST_GAMES, MAX_GAMES),
            fields.number("test_budget", 2, MAX_GAMES, MAX_SPRT_GAMES),
            fields.number("ahead", 1, MAX_AHEAD, AHEAD),
            parameters,
        )

    @property
    def pairs(self) -> int:
        """How many pairs are played to find values."""
        return self.budget // 2

    @property
    def rounds(self) -> int:
        return self.pairs + self.test_budget // 2

    def played_with(self, number: int) -> range:
        if number > self.pairs:
            return range(self.pairs + 1, self.rounds + 1)
        return range(max(1, number - self.ahead + 1), min(self.pairs, number + self.ahead - 1) + 1)

    def check(self, bots: int, seats: int) -> None:
        if seats != 2:
            raise wrong_seats("there are `[[parameter]]` tables", seats, "2")

    def remarks(self) -> list[str]:
        # With fewer values, both sides of a pair often play with the same one.
        few = [one.name for one in self.parameter if one.integer and LAST_SPREAD * (one.max - one.min) < 1]
        warnings = [f"warning: `{name}` has so few values that it is tuned less well" for name in few]
        return [expectation(len(self.parameter), 2 * self.pairs), *warnings]

    def remarks_on_workers(self, workers: int) -> list[str]:
        busy = f"only {self.ahead:,} of {workers:,} workers play while values are looked for"
        return [f"warning: {busy}, since `ahead` is {self.ahead:,}"] if workers > self.ahead else []

    def given_name(self, name: str) -> str:
        return name.rpartition("-")[0]

    def schedule(self, section: SectionState) -> Schedule:
        """The pairs, each after the results of those before the last ones, and then those of the test."""
        spsa = self._spsa()
        yield from self._search(section, spsa)
        tuned, start = spsa.values[-1], spsa.values[0]
        if values_at(self.parameter, tuned) != values_at(self.parameter, start):
            for number in range(self.pairs + 1, self.rounds + 1):
                yield self._encounter(section, number, TEST, (tuned, start))

    def _spsa(self) -> Spsa:
        # The signs need not be secret, and the seed of a run is as long as it is played.
        key = derive(b"tuning", str(self.budget), *(one.name for one in self.parameter))
        start = [(one.start - one.min) / (one.max - one.min) for one in self.parameter]
        return Spsa(start, self.pairs, Stream(key))

    def _search(self, section: SectionState, spsa: Spsa) -> Schedule:
        """The pairs that find values, whose results the method is told."""
        for number in range(1, self.pairs + self.ahead + 1):
            if number > self.ahead:
                pair = section.encounter(number - self.ahead, section.names[SEARCH])
                yield wait_for([pair])
                # In the second game, `plus` has the second seat. Nobody wins where no bot started.
                results = [
                    2 * share_beaten(section.games[game.id].ranks, seat) - 1
                    for seat, game in enumerate(pair.games)
                    if game.id in section.games and section.games[game.id].rated
                ]
                spsa.tell(sum(results))
            if number <= self.pairs:
                yield self._encounter(section, number, SEARCH, spsa.ask())

    def _encounter(
        self, section: SectionState, number: int, who: slice, shares: tuple[Shares, Shares]
    ) -> Encounter:
        """The games of two bots in a round, with values at these shares of their ranges."""
        bots, values = section.names[who], (values_at(self.parameter, one) for one in shares)
        return Encounter(section.encounter(number, bots).games, tuple(zip(bots, values, strict=True)))

    def games_in_all(self, bots: int, seats: int) -> Amount:
        return Amount(2 * self.rounds, False, 2 * (self.rounds - self.pairs))

    def tested(self, names: Sequence[str]) -> list[tuple[str, str]]:
        return super().tested(names[TEST])

    def check_place(self, pairing: Pairing) -> None:
        super().check_place(pairing)
        expected = ROLES[SEARCH] if pairing.number <= self.pairs else ROLES[TEST]
        if {bot.rpartition("-")[2] for bot in pairing.bots} != {*expected}:
            raise RecordError(f"the bots of {game_text(pairing)} do not meet in this round")

    def standings(self, section: SectionState) -> list[Standing]:
        """The bots of the test by their points in it, before those whose values changed."""
        gained = Counter[str]()
        for game in section.games.values():
            if game.rated and game.id not in section.annulled:
                points = section.points.halves
                gained.update({bot: points(game.ranks, seat) for seat, bot in enumerate(game.bots)})
        places = {bot: (bot in section.names[SEARCH], -gained[bot]) for bot in section.names}
        return [
            Standing(1 + sum(other < place for other in places.values()), bot, {})
            for bot, place in sorted(places.items(), key=lambda item: item[1])
        ]

    def tables_of(self, section: SectionState) -> list[FormatTable]:
        """The values, their course, and what went wrong with which of them."""
        spsa = self._spsa()
        read_on(self._search(section, spsa), section)
        found = [self._values_table(spsa), self._course_table(spsa), self._failures_table(section, spsa)]
        return [table for table in found if table.data]

    def _values_table(self, spsa: Spsa) -> FormatTable:
        value = "tuned" if len(spsa.values) > self.pairs else "so far"
        columns = [_PARAMETER, _number("start"), _number("value", value), _number("min"), _number("max")]
        rows = [
            (one.name, one.value(first), one.value(last), one.min, one.max)
            for one, first, last in zip(self.parameter, spsa.values[0], spsa.values[-1], strict=True)
        ]
        return FormatTable.of("parameters", Grid(columns, rows))

    def _course_table(self, spsa: Spsa) -> FormatTable:
        """The values after some of the pairs, the first and the last included."""
        last = len(spsa.values) - 1
        steps = min(last, MAX_ROWS - 1)
        after = [last * step // max(1, steps) for step in range(steps + 1)]
        data = [
            {"pairs": pairs, "parameter": one.name, "value": one.value(share), "share": share}
            for pairs in after
            for one, share in zip(self.parameter, spsa.values[pairs], strict=True)
        ]
        columns = [Column(name, name) for name in ("pairs", *(one.name for one in self.parameter))]
        texts = (values_at(self.parameter, spsa.values[pairs]) for pairs in after)
        rows = [[f"{pairs:,}", *dict(values).values()] for pairs, values in zip(after, texts, strict=True)]
        return FormatTable("course", Grid(columns, rows), data, fixed=1)

    def _failures_table(self, section: SectionState, spsa: Spsa) -> FormatTable:
        """In how many games each fault happened as values were found, and from which to which value."""
        found: dict[str, list[tuple[str, Shares]]] = {}
        for game in section.games.values():
            number = Pairing.parse(game.id).number
            for bot, fault in zip(game.bots, game.faults, strict=True):
                if fault and number <= len(spsa.sides):
                    shares = spsa.sides[number - 1][section.names[SEARCH].index(bot)]
                    found.setdefault(fault, []).append((game.id, shares))
        rows = []
        for fault, cases in found.items():
            games = len({game for game, _ in cases})
            for at, one in enumerate(self.parameter):
                values = [one.value(shares[at]) for _, shares in cases]
                rows.append((fault, games, one.name, min(values), max(values)))
        columns = [Column("fault", "fault", left=True), Column("games", "games", text="{:,}".format)]
        columns += [_PARAMETER, _number("from"), _number("to")]
        return FormatTable.of("failures", Grid(columns, rows))


_PARAMETER = Column("parameter", "parameter", left=True)


def _number(name: str, heading: str = "") -> Column:
    """A column of values."""
    return Column(name, heading or name, text=value_text)
