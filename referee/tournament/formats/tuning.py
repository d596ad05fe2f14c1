"""Tuning: pairs of games of a bot with two sets of values of its parameters, which follow from the results,
and then a sequential test of the values found against those of the start. Pure.

The bot enters four times, under its name with a role behind it: `plus` and `minus` play the pairs, then
`tuned` plays `start`. Each round is one encounter. The values of a pair follow from the results of all pairs
but the last `ahead` before it, so that these are played at the same time, and the course depends on neither
the number of workers nor on when a run was stopped.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.core.rows import Column, Grid
from referee.core.seeds import derive
from referee.core.settings import MAX_SPRT_GAMES
from referee.ratings.format_tables import FormatTable
from referee.records.record import Summary
from referee.tournament.formats.format import MAX_GAMES, Amount, Format, Settings, game_text, wrong_seats
from referee.tournament.formats.section import SectionState, Standing, read_on
from referee.tournament.schedule import Encounter, Schedule, Wait, wait_for
from referee.tuning.expectation import expectation
from referee.tuning.parameters import Parameter, Values, read_parameters, values_at
from referee.tuning.spsa import Spsa, random_signs

TUNED, START, PLUS, MINUS = ROLES = ("tuned", "start", "plus", "minus")

FEWEST_GAMES = 100

SPRT = "0,20"
"""The sequential test of a tournament file that names none."""

AHEAD = 16

MAX_AHEAD = 1000

MAX_ROWS = 50  # the number of rows that the table of the course has at most


def entrant_name(bot: str, role: str) -> str:
    """The name under which a bot plays in a role."""
    return f"{bot}-{role}"


def role_of(name: str) -> str:
    """The role of an entrant."""
    return name.rpartition("-")[2]


def bot_of(name: str) -> str:
    """The bot that enters under this name, with a role."""
    return name.rpartition("-")[0]


@dataclass
class Course:
    """How the values went, as far as the pairs were played one after the other."""

    shares: list[tuple[float, ...]] = field(default_factory=list)
    """The values before the first pair, and after each: shares of their ranges."""
    faults: list[tuple[str, str, Values]] = field(default_factory=list)
    """The faults of the bot in these pairs: the word of each, its game, and the values in it."""


@dataclass(frozen=True)
class Tuning(Format):
    """Pairs of games of a bot with different values, and a test of the values that were found."""

    name: ClassVar[str] = "tuning"
    in_titles: ClassVar[bool] = True
    has_rounds: ClassVar[bool] = False
    follows_results: ClassVar[bool] = True
    pairs_by_round: ClassVar[bool] = True
    no_course: ClassVar[str] = "The values change from pair to pair, so ratings have no course."

    budget: int = 0  # how many games are played to find values; with an odd number one less
    test_budget: int = MAX_SPRT_GAMES  # how many games the test has at most
    ahead: int = AHEAD  # how many pairs are played at the same time at most
    parameter: tuple[Parameter, ...] = ()  # at least one; named like the table of the tournament file

    @classmethod
    def read(cls, settings: Settings) -> Tuning:
        fields = settings.fields
        return cls(
            fields.number("budget", FEWEST_GAMES, MAX_GAMES),
            fields.number("test_budget", 2, MAX_GAMES, MAX_SPRT_GAMES),
            fields.number("ahead", 1, MAX_AHEAD, AHEAD),
            read_parameters(settings.tables("parameter", 1)),
        )

    @classmethod
    def setting_names(cls) -> tuple[str, ...]:
        return ("budget", "test_budget", "ahead")  # its parameters are tables

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

    def settings_json(self) -> dict[str, Any]:
        return {**super().settings_json(), "parameter": [one.json() for one in self.parameter]}

    def may_grow(self, before: Format, added: Collection[str] = ()) -> list[str]:
        if isinstance(before, Tuning):
            if before.parameter != self.parameter:
                return ["the `[[parameter]]` tables are not those with which the run began"]
            if before.budget != self.budget:
                return [f"`budget` is {self.budget}, but was {before.budget}, and the values depend on it"]
        return super().may_grow(before, added)

    def check(self, bots: int, seats: int) -> None:
        if seats != 2:
            raise wrong_seats("there are `[[parameter]]` tables", seats, "2")
        if bots != len(ROLES):
            raise UsageError(f"the format `{self.name}` needs `[[parameter]]` tables and one bot")

    def remarks(self) -> list[str]:
        found = (one.remark for one in self.parameter)
        return [expectation(len(self.parameter), 2 * self.pairs), *filter(None, found)]

    def remarks_on_workers(self, workers: int) -> list[str]:
        if workers <= self.ahead:
            return []
        return [
            f"warning: only {self.ahead:,} of {workers:,} workers play while values are looked for, since "
            f"`ahead` is {self.ahead:,}"
        ]

    def given_name(self, name: str) -> str:
        return bot_of(name)

    def schedule(self, section: SectionState) -> Schedule:
        """The pairs, each after the results of those before the last ones, and then those of the test."""
        course = Course()
        yield from self._tuning(section, course)
        bots = _by_role(section.names)
        tuned, start = self.values(course.shares[-1]), self.values(course.shares[0])
        if tuned == start:
            return
        for number in range(self.pairs + 1, self.rounds + 1):
            games = section.encounter(number, (bots[TUNED], bots[START])).games
            yield Encounter(games, ((bots[TUNED], tuned), (bots[START], start)))

    def values(self, shares: Sequence[float]) -> Values:
        """The values of the parameters at shares of their ranges."""
        return values_at(self.parameter, shares)

    def _tuning(self, section: SectionState, course: Course) -> Schedule:
        """The pairs that find values; their results are added to the course."""
        bots = _by_role(section.names)
        # The signs need not be secret, and the seed of a run is as long as it is played.
        key = derive(b"tuning", str(self.budget), *(one.name for one in self.parameter))
        spsa = Spsa([one.start_share for one in self.parameter], self.pairs, random_signs(key))
        course.shares.append(spsa.values)
        asked: deque[Encounter] = deque()

        def told() -> Iterator[Wait]:
            first = asked.popleft()
            yield wait_for([first])
            games = [section.games[one.id] for one in first.games if one.id in section.games]
            spsa.tell(sum(_result(game, bots[PLUS]) for game in games))
            course.shares.append(spsa.values)
            values = dict(first.values)
            course.faults += [
                (fault, game.id, values[bot])
                for game in games
                for bot, fault in zip(game.bots, game.faults, strict=True)
                if fault
            ]

        for number in range(1, self.pairs + 1):
            if len(asked) == self.ahead:
                yield from told()
            plus, minus = map(self.values, spsa.ask())
            games = section.encounter(number, (bots[PLUS], bots[MINUS])).games
            asked.append(Encounter(games, ((bots[PLUS], plus), (bots[MINUS], minus))))
            yield asked[-1]
        while asked:
            yield from told()

    def course_of(self, section: SectionState) -> Course:
        """The course so far."""

        def read() -> Course:
            course = Course()
            read_on(self._tuning(section, course), section)
            return course

        return section.read_once(self, read)

    def games_in_all(self, bots: int, seats: int) -> Amount:
        return Amount(2 * self.rounds, False, 2 * (self.rounds - self.pairs))

    def tested(self, names: Sequence[str]) -> list[tuple[str, str]]:
        bots = _by_role(names)
        return [(bots[TUNED], bots[START])] if {TUNED, START} <= bots.keys() else []

    def check_place(self, pairing: Pairing) -> None:
        super().check_place(pairing)
        expected = {PLUS, MINUS} if pairing.number <= self.pairs else {TUNED, START}
        if {*map(role_of, pairing.bots)} != expected:
            raise RecordError(f"the bots of {game_text(pairing)} do not meet in this round")

    def standings(self, section: SectionState) -> list[Standing]:
        """The bots of the test by their points in it, before those whose values changed."""
        gained = dict.fromkeys(section.names, 0.0)
        for game in section.games.values():
            if game.rated and game.id not in section.annulled:
                for seat, bot in enumerate(game.bots):
                    gained[bot] += section.points.of(game.ranks, seat)
        bots = _by_role(section.names)
        found: list[Standing] = []
        for roles in ((TUNED, START), (PLUS, MINUS)):
            ordered = sorted((bots[role] for role in roles), key=lambda bot: -gained[bot])
            first = len(found) + 1
            for at, bot in enumerate(ordered):
                is_level = gained[bot] == gained[ordered[0]]
                found.append(Standing(first if is_level else first + at, bot, {}))
        return found

    def stage_of(self, section: SectionState) -> str:
        told = len(self.course_of(section).shares) - 1
        if told < self.pairs:
            return f"{told:,} of {self.pairs:,} pairs that find values"
        return "test of the values that were found"

    def tables_of(self, section: SectionState) -> list[FormatTable]:
        """The values, their course, and what went wrong with which of them."""
        course = self.course_of(section)
        found = [self._values_table(course), self._course_table(course)]
        return [*found, self._failures_table(course)] if course.faults else found

    def _values_table(self, course: Course) -> FormatTable:
        is_over = len(course.shares) > self.pairs
        values = dict(self.values(course.shares[-1]))
        start = dict(self.values(course.shares[0]))
        data = [
            {
                "parameter": one.name,
                "start": one.start,
                "value": one.number(values[one.name]),
                "text": values[one.name],
                "min": one.low,
                "max": one.high,
                "over": is_over,
            }
            for one in self.parameter
        ]
        columns = [Column("parameter", "parameter", left=True), Column("start", "start")]
        columns += [Column("value", "tuned" if is_over else "so far")]
        columns += [Column("min", "min"), Column("max", "max")]
        rows = [
            [one.name, start[one.name], values[one.name], one.text(0), one.text(1)] for one in self.parameter
        ]
        return FormatTable("parameters", Grid(columns, rows), data)

    def _course_table(self, course: Course) -> FormatTable:
        """The values after some of the pairs, the first and the last included."""
        last = len(course.shares) - 1
        steps = min(last, MAX_ROWS - 1)
        after = [last * step // steps for step in range(steps + 1)] if steps else [0]
        texts = [self.values(course.shares[number]) for number in after]
        data = [
            {"pairs": number, "parameter": name, "value": float(text), "share": share}
            for number, values in zip(after, texts, strict=True)
            for (name, text), share in zip(values, course.shares[number], strict=True)
        ]
        columns = [Column("pairs", "pairs"), *(Column(one.name, one.name) for one in self.parameter)]
        rows = [
            [f"{number:,}", *(text for _, text in values)]
            for number, values in zip(after, texts, strict=True)
        ]
        return FormatTable("course", Grid(columns, rows), data, fixed=1)

    def _failures_table(self, course: Course) -> FormatTable:
        """In how many games each fault happened as values were found, and from which to which value."""
        data: list[dict[str, Any]] = []
        rows: list[list[str]] = []
        # In a game, both sides can have the same fault.
        counts = Counter(word for word, _ in dict.fromkeys((word, game) for word, game, _ in course.faults))
        for word, games in counts.most_common():
            of_word = [values for fault, _, values in course.faults if fault == word]
            rows.append([word, f"{games:,}"])
            for number, one in enumerate(self.parameter):
                found = sorted((values[number][1] for values in of_word), key=float)
                rows[-1].append(found[0] if found[0] == found[-1] else f"{found[0]} to {found[-1]}")
                ends = {"from": float(found[0]), "to": float(found[-1])}
                data.append({"fault": word, "games": games, "parameter": one.name, **ends})
        columns = [Column("fault", "fault", left=True), Column("games", "games")]
        columns += [Column(one.name, one.name) for one in self.parameter]
        return FormatTable("failures", Grid(columns, rows), data, fixed=2)


def _by_role(names: Sequence[str]) -> dict[str, str]:
    """The entrants by their roles."""
    return {role_of(name): name for name in names}


def _result(game: Summary, bot: str) -> int:
    """1 where a bot won against another one, −1 where it lost; 0 where neither did, or neither started."""
    own, other = (game.ranks if game.bots[0] == bot else game.ranks[::-1]) if game.rated else (1, 1)
    return (own < other) - (own > other)
