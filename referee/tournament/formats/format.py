"""The interface of a format: its settings and how they are read, its schedule, its standings, and how it may
grow. Pure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple, Self

from referee.core.errors import RecordError, RefereeError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.core.text import counted, listed, meant, shown
from referee.ratings.format_tables import FormatTable
from referee.tournament.formats.section import SectionState, Standing
from referee.tournament.schedule import Schedule, rotations

MAX_ROUNDS = 1_000_000
MAX_GAMES = 1_000_000_000

DEFAULT = "round-robin"
"""The name of the format of a tournament file that names none."""

ORIGIN = "format_origin"
"""The member of a header with the file of a format from outside, and its SHA-256."""

SETTINGS = "format_settings"
"""The member of a header with the settings of a format from outside, except for those that may grow."""


class Amount(NamedTuple):
    """How many games a tournament has."""

    games: int
    is_exact: bool
    """False where it depends on the results; `games` is then the most that it can be."""
    test: int = 0
    """How many of these are at most those of a closing test, which begins when all others are over."""

    @property
    def text(self) -> str:
        """The number as users see it."""
        return f"{'' if self.is_exact else 'at most '}{self.games:,}"

    def part(self, played: int) -> tuple[int, Amount]:
        """The games that are being played, those of the closing test or those before it, when so many were
        played: how many of them were, and how many they are. Without such a test, all games are one part.
        """
        before = self.games - self.test
        if not self.test:
            return played, self
        if played < before:
            return played, Amount(before, True)
        return played - before, Amount(self.test, False)

    def progress_text(self, played: int, games: str = "games", more: str = "") -> str:
        """How many games were played, of how many; `games` and `more` are said of the part that is being
        played.
        """
        done, part = self.part(played)
        if not self.test:
            return f"{done:,} of {part.text} {games}{more}"
        if part.is_exact:
            return f"{done:,} of {part.text} {games}{more}, then at most {self.test:,} of the closing test"
        return f"{played - done:,} {games}, {done:,} of {part.text} of the closing test{more}"


def count_text(played: int, in_all: Amount | None) -> str:
    """Formats how many games were played, and of how many if some are missing."""
    if in_all is None or in_all.games <= played:
        return counted(played, "game")
    return in_all.progress_text(played)


def total(amounts: Collection[Amount], may_stop: bool) -> Amount:
    """Adds up the games of sections; `may_stop` says whether a stopping rule may end them earlier."""
    return Amount(
        sum(one.games for one in amounts),
        all(one.is_exact for one in amounts) and not may_stop,
        sum(one.test for one in amounts),
    )


class Settings:
    """The settings of a format, key by key. The methods raise the error that the constructor was given."""

    def __init__(
        self,
        fields: Fields,
        names: Sequence[str],
        left_out: Collection[str],
        error: type[RefereeError],
        tables: Fields | None = None,
    ) -> None:
        """`names` are the bots in their order; those that are `left_out` may be named, and are ignored.
        `tables` has the tables of the format that do not stand in `fields`.
        """
        self.fields = fields  # the settings as they are, for numbers, flags and texts
        self._names = tuple(names)
        self._left_out = left_out
        self._error = error
        self._tables = tables or fields

    def tables(self, name: str, least: int) -> list[Fields]:
        """The tables with this name that belong to the format, which needs at least so many of them."""
        found = [*self._tables.objects(name)] if self._tables.has(name) else []
        if len(found) < least:
            raise self._tables.wrong(name, f"at least {least} `[[{name}]]` tables")
        return found

    @property
    def known(self) -> list[str]:
        """All bots, also those that are left out."""
        return [*self._names, *self._left_out]

    def inside(self, table: Fields) -> Settings:
        """The settings that a table of the format has by itself."""
        return Settings(table, self._names, self._left_out, self._error)

    def rounds(self, default: int | None = 1) -> int:
        """The number of rounds; None as the default says that it has to be given."""
        return self.fields.number("rounds", 1, MAX_ROUNDS, default)

    def budget(self, default: int | None = None) -> int:
        """The number of games; None as the default says that it has to be given."""
        return self.fields.number("budget", 1, MAX_GAMES, default)

    def one_of(self, key: str, choices: Sequence[str]) -> str:
        """One of several words, by default the first."""
        return self.fields.one_of(key, choices, choices[0])

    def words(self, key: str, choices: Sequence[str], default: tuple[str, ...]) -> tuple[str, ...]:
        """Several different words."""
        if not self.fields.has(key):
            return default
        found = self.fields.texts(key)
        if not set(found) <= set(choices) or len(set(found)) < len(found):
            raise self.fields.wrong_form(key, f"a list of different words from {', '.join(choices)}")
        return found

    def order(self, key: str) -> tuple[str, ...]:
        """All bots: those that the key names, then the others in their order."""
        given = self._given(key) if self.fields.has(key) else ()
        return (*given, *(name for name in self._names if name not in given))

    def bots(self, key: str) -> tuple[str, ...]:
        """Some bots, at least one."""
        found = self._given(key)
        if not found:
            raise self._error(f"`{self.fields.at(key)}` has no bot that plays, expected at least one")
        return found

    def groups(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Groups of bots, at least one; no two have the same bots."""
        found: list[tuple[str, ...]] = []
        for group in self.fields.list(key, "a list of lists of bots"):
            if not isinstance(group, list) or not all(isinstance(name, str) for name in group):
                raise self.fields.wrong_form(key, "a list of lists of bots")
            self._check(key, group)
            if any(set(group) == set(other) for other in found):
                raise self._error(f"`{self.fields.at(key)}` has {list_text(group)} twice, expected it once")
            found.append(tuple(group))
        present = tuple(group for group in found if not set(group) & set(self._left_out))
        if not present:
            raise self._error(
                f"`{self.fields.at(key)}` has no encounter that can be played, expected at least one"
            )
        return present

    def _given(self, key: str) -> tuple[str, ...]:
        given = self.fields.texts(key)
        self._check(key, given)
        return tuple(name for name in given if name not in self._left_out)

    def _check(self, key: str, given: Sequence[str]) -> None:
        """Raises the error where a name is that of no bot, or stands there twice."""
        known = {*self.known}
        for number, name in enumerate(given):
            if name not in known:
                expected = shown(meant(name, sorted(known)), 300)
                where = f"`{self.fields.at(key)}`"
                raise self._error(
                    f"{where} names `{shown(name, 80)}`, which is not a bot, expected {expected}"
                )
            if name in given[:number]:
                raise self._error(f"`{self.fields.at(key)}` names `{name}` twice, expected different bots")


@dataclass(frozen=True)
class Format(ABC):
    """The format of a tournament with its settings.

    A format is a frozen dataclass, whose fields are the keys of a tournament file and members of the header
    of a run. Each of them has a default, and is in the header if it has another value. The numbers `rounds`
    and `budget` may grow after a run began; other settings may not change.
    """

    name: ClassVar[str]
    """What tournament files call it."""
    origin: ClassVar[Mapping[str, str]] = {}
    """The `file` and `sha256` of a format from outside."""
    in_titles: ClassVar[bool] = False
    """Whether titles name it; in other formats, bots simply meet."""
    has_rounds: ClassVar[bool] = True
    """Whether it has a number of rounds that tells somebody something."""
    follows_results: ClassVar[bool] = False
    """Whether it depends on the results of games which ones follow."""
    pairs_by_round: ClassVar[bool] = False
    """Whether a round, or each part of it, is paired by the results of what came before: then no earlier game
    can be played any more, and a bot without a result would leave another one without an opponent.
    """
    is_arranged: ClassVar[bool] = False
    """Whether games are arranged one by one, by whoever plays: there can always be another one, with whatever
    bots are there.
    """
    bot_columns: ClassVar[Collection[str]] = ()
    """The headings of those columns of its standings that hold names of bots."""
    growing: ClassVar[Collection[str]] = ("rounds", "budget")
    """Its numbers that may grow after a run began."""
    growth: ClassVar[str] = "more bots or rounds or a larger budget"
    """With what a run may be continued, in messages."""
    table: ClassVar[str] = ""
    """The name of its tables in a tournament file, also of the setting with them; empty where it has none."""
    no_course: ClassVar[str] = ""
    """Why ratings in the course of the games would tell nothing, as a sentence; empty where they do."""

    @classmethod
    @abstractmethod
    def read(cls, settings: Settings) -> Self:
        """The format with settings from a tournament file, or from the header of a run, which has them under
        the same names. Raises the error of `settings`.
        """

    @classmethod
    def setting_names(cls) -> tuple[str, ...]:
        """Its keys in a tournament file."""
        return tuple(name for name in cls.defaults() if name != cls.table)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The default of each setting."""
        return {one.name: one.default for one in fields(cls)}

    @property
    @abstractmethod
    def rounds(self) -> int:
        """The largest number of a round."""

    @property
    def parts(self) -> int:
        """How many encounters two bots can have in a round; 0 where they have only one, without a number."""
        return 0

    def played_with(self, number: int) -> range:
        """The numbers of the rounds that are played in no order with the round of this number, itself
        included, where a round, or each part of it, is paired by the results of those before.
        """
        return range(number, number + 1)

    @property
    def is_open(self) -> bool:
        """Whether bots may join after a run began, and the others may go on without one."""
        return False

    @property
    def kind(self) -> str:
        """Its name in messages."""
        return f"the format `{self.name}`"

    @property
    def title(self) -> str:
        """What titles call it; empty where bots simply meet."""
        return self.name.capitalize() if self.in_titles else ""

    @property
    def description(self) -> str:
        """Its name above the table of a report, with the number of rounds."""
        words = self.name.replace("-", " ")
        return f"{words}, {counted(self.rounds, 'round')}" if self.has_rounds else words

    def check(self, bots: int, seats: int) -> None:
        """Raises `UsageError` where this many bots cannot play a game of this many seats in this format."""
        if bots < seats:
            raise UsageError(
                f"there are {bots} bots, expected at least {seats}, the number of seats of the game"
            )

    def remarks(self) -> list[str]:
        """What the user should know before the first game, in lines."""
        return []

    def remarks_on_workers(self, workers: int) -> list[str]:
        """What the user should know where so many workers play, in lines."""
        return []

    def given_name(self, name: str) -> str:
        """The name in the tournament file of the bot that enters under this one."""
        return name

    @abstractmethod
    def schedule(self, section: SectionState) -> Schedule:
        """The schedule of a section."""

    def standings(self, section: SectionState) -> list[Standing] | None:
        """The standings, best first; None for the formats whose order is that of the ratings."""
        return None

    def tables_of(self, section: SectionState) -> list[FormatTable]:
        """The tables that it has besides its standings, of those that `FORMAT_TABLES` names."""
        return []

    def stage_of(self, section: SectionState) -> str:
        """How far a section is, such as `round 3 of 7`; empty where the number of games says it all."""
        return ""

    @abstractmethod
    def games_in_all(self, bots: int, seats: int) -> Amount:
        """Returns how many games the schedule has for this number of bots and seats."""

    def tested(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Lists the pairs of bots that a sequential test compares; none where the format does not say."""
        return [(names[0], names[1])] if len(names) == 2 else []

    def check_place(self, pairing: Pairing) -> None:
        """Raises `RecordError` where a game's round, or the number of its encounter, is in no schedule."""
        if not 1 <= pairing.number <= self.rounds:  # guard: rounds
            raise RecordError(f"the round of {game_text(pairing)} is not in this run")
        if not min(1, self.parts) <= pairing.part <= self.parts:
            raise RecordError(f"the encounter number of {game_text(pairing)} is not in this run")

    def check_group(self, pairing: Pairing) -> None:
        """Raises `RecordError` where different bots, those of a game, never meet in its seats, whatever the
        number of seats and the results.
        """
        # Seats are taken in the order of the names, unless a format says otherwise; any order of two is a
        # rotation.
        bots = pairing.bots
        if len(bots) > 2 and bots not in rotations(tuple(sorted(bots))):
            raise RecordError(f"the bots of {game_text(pairing)} never meet in these seats in this run")

    def seeded(self, seeding: Sequence[str]) -> Self:
        """The format as these bots play it, the highest seed first; the same where it knows no seeds."""
        return self

    def may_grow(self, before: Format, added: Collection[str] = ()) -> list[str]:
        """Returns messages about what must not have changed since a run began; empty where the run may
        continue.

        `added` are the bots that were not there before.
        """
        if self.name == before.name and self._tables != before._tables:
            return [f"the `[[{self.table}]]` tables are not those with which the run began"]
        now = {"format": self.name, **before.defaults(), **self._settings()}
        was = {"format": before.name, **self.defaults(), **before._settings()}
        wrong = [
            f"`{key}` is {_value_text(now[key])}, but was {_value_text(was[key])}"
            for key in now
            if key not in (*self.growing, self.table, before.table) and now[key] != was[key]
        ]
        if self.name == before.name:
            wrong += [
                f"`{key}` is {now[key]}, but was {was[key]}, expected at least {was[key]}"
                for key in self.growing
                if key in now and now[key] < was[key]
            ]
        if added and not self.is_open:
            wrong.append(f"bot `{min(added)}` is new, but no bot can be added to {self.kind}")
        return wrong

    def header(self) -> dict[str, Any]:
        """The members for the header of a run: besides `rounds` only what differs from the default, which
        keeps headers short.
        """
        settings = {key: value for key, value in self.settings_json().items() if key != "rounds"}
        if self.origin:  # its settings may be called like other members of a header
            growing = {key: settings.pop(key) for key in self.growing if key in settings}
            settings = {**growing, ORIGIN: dict(self.origin), SETTINGS: settings}
        return {
            "rounds": self.rounds,
            **({} if self.name == DEFAULT else {"format": self.name}),
            **settings,
        }

    def settings_json(self) -> dict[str, Any]:
        """The settings that differ from their default, as they stand in JSON."""
        return {key: _json(value) for key, value in self._settings().items() if value != self.defaults()[key]}

    def _settings(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.defaults()}

    @property
    def _tables(self) -> object:
        return self._settings().get(self.table)


def check_bots(pairing: Pairing, names: Set[str]) -> None:
    """Raises `RecordError` where the bots of a game are not different bots among these."""
    # This is done for every game of a run, so a message is only made where it is needed.
    bots = set(pairing.bots)
    if not bots or not bots <= names:
        raise RecordError(f"a bot of {game_text(pairing)} is not in this run")
    if len(bots) != len(pairing.bots):  # guard: several-seats
        raise RecordError(f"a bot has more than one seat in {game_text(pairing)}")


def game_text(pairing: Pairing) -> str:
    """A game in messages."""
    return f"game `{shown(pairing.id)}`"


def list_text(names: Sequence[str]) -> str:
    """Names of bots as shown in a message."""
    return ", ".join(f"`{name}`" for name in names)


def check_settings(
    fields: Fields, found: type[Format], formats: Collection[type[Format]], also: Sequence[str] = ()
) -> None:
    """Raises `UsageError` where a table has a setting of another one of these formats than the one that was
    found; `also` are settings that the table has besides.
    """
    own = (*found.setting_names(), *also)
    for key in dict.fromkeys(key for one in formats for key in one.setting_names()):
        if fields.has(key) and key not in own:
            having = [f"`{one.name}`" for one in formats if key in one.setting_names()]
            raise UsageError(
                f"`{fields.at(key)}` only applies to the format{'s' * (len(having) > 1)} "
                f"{listed(having)}, but `{fields.at('format')}` is `{found.name}`, which only has "
                f"{listed(f'`{one}`' for one in own)}"
            )


def wrong_seats(setting: str, seats: int, expected: str) -> UsageError:
    """The error where a setting, which is given with its value, does not fit the number of seats."""
    return UsageError(f"{setting}, but the game has {counted(seats, 'seat')}, expected {expected}")


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(":".join(one) if isinstance(one, tuple) else one for one in value) or "not given"
    return str(value)


def _json(value: Any) -> Any:
    """A setting as it stands in JSON; a table may say that itself."""
    if isinstance(value, tuple):
        return [_json(one) for one in value]
    if hasattr(value, "json"):
        return value.json()
    return asdict(value) if is_dataclass(type(value)) else value
