"""The interface of a format of tournaments: its settings, its schedule, its standings, and how it may grow.
Pure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.core.settings import STANDARD_POINTS, PointScale
from referee.core.text import counted, listed, shown
from referee.ratings.format_tables import FormatTable
from referee.records.header import GROWING, REPEATS
from referee.records.record import Summary
from referee.tournament.formats.settings import Settings
from referee.tournament.formats.standing import OutAfter, SectionResults, Standing, nobody
from referee.tournament.schedule import Schedule, rotations

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

    @property
    def text(self) -> str:
        """The number as users see it."""
        return f"{'' if self.is_exact else 'at most '}{self.games:,}"


def count_text(played: int, in_all: Amount | None) -> str:
    """Formats how many games were played, and of how many if some are missing."""
    if in_all is None or in_all.games <= played:
        return counted(played, "game")
    return f"{played:,} of {in_all.text} games"


def total(amounts: Collection[Amount], may_stop: bool) -> Amount:
    """Adds up the games of sections; `may_stop` says whether a stopping rule may end them earlier."""
    return Amount(sum(one.games for one in amounts), all(one.is_exact for one in amounts) and not may_stop)


StoreBatch = Callable[[list[str]], None]
"""Stores a batch of encounters: the id of the first game of each of them."""


@dataclass(frozen=True)
class SectionState:
    """A section of a tournament as its schedule sees it."""

    names: Sequence[str]
    """The bots."""
    seats: int
    """How many of them play a game."""
    section: str
    """The name of the section; empty where the tournament has only one."""
    games: Mapping[str, Summary]
    """The results by id as they were played, also of games that were annulled later. It is filled while the
    schedule is read: of games that are over, those without a result for good are missing.
    """
    out: Callable[[], Collection[str]] = tuple
    """Says which bots are out at the moment: one may be taken out while its games are played."""
    out_after: OutAfter = nobody
    """Says which bots were out after some games."""
    never_counts: Callable[[str], bool] = lambda game: False
    """Says of a game, by its id, whether it does not count and never will: it was annulled, or a bot of it is
    out and it is neither played nor forfeited.
    """
    batches: Sequence[Sequence[str]] = ()
    """The batches of encounters that were stored before, of all sections."""
    store: StoreBatch = field(default=lambda batch: None)
    """Stores a batch before it is played."""
    at_once: int = 1
    """How many encounters are played at the same time."""
    points: PointScale = STANDARD_POINTS
    """How many points a game gives."""
    repeats: str = REPEATS[0]
    """How games count that are the same as others; one of `REPEATS`."""


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
        return tuple(cls.defaults())

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

    @abstractmethod
    def schedule(self, state: SectionState) -> Schedule:
        """The schedule of a section."""

    def standings(self, results: SectionResults) -> list[Standing] | None:
        """The standings, best first; None for the formats whose order is that of the ratings."""
        return None

    def tables_of(self, results: SectionResults) -> list[FormatTable]:
        """The tables that it has besides its standings, of those that `FORMAT_TABLES` names."""
        return []

    def stage_of(self, results: SectionResults) -> str:
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

    def check_bots(self, pairing: Pairing, names: Collection[str]) -> None:
        """Raises `RecordError` where the bots of a game never meet in these seats in a schedule of the bots
        `names`, whatever the number of seats and the results.
        """
        # This is done for every game of a run, so a message is only made where it is needed.
        bots = set(pairing.bots)
        if not bots or not bots.issubset(names):
            raise RecordError(f"a bot of {game_text(pairing)} is not in this run")
        if len(bots) != len(pairing.bots):  # guard: several-seats
            raise RecordError(f"a bot has more than one seat in {game_text(pairing)}")
        self.check_group(pairing)

    def check_group(self, pairing: Pairing) -> None:
        """Raises `RecordError` where different bots, those of a game, never meet in its seats."""
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
        now = {"format": self.name, **before.defaults(), **self._settings()}
        was = {"format": before.name, **self.defaults(), **before._settings()}
        wrong = [
            f"`{key}` is {_value_text(now[key])}, but was {_value_text(was[key])}"
            for key in now
            if key not in GROWING and now[key] != was[key]
        ]
        if self.name == before.name:
            wrong += [
                f"`{key}` is {now[key]}, but was {was[key]}, expected at least {was[key]}"
                for key in GROWING
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
            growing = {key: settings.pop(key) for key in GROWING if key in settings}
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


def game_text(pairing: Pairing) -> str:
    """A game in messages."""
    return f"game `{shown(pairing.id)}`"


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
    """A value of a setting as shown in a message."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(":".join(one) if isinstance(one, tuple) else one for one in value) or "not given"
    return str(value)


def _json(value: Any) -> Any:
    """A value of a setting as it stands in JSON."""
    return [_json(one) for one in value] if isinstance(value, tuple) else value
