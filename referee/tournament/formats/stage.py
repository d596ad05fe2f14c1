"""A stage of a tournament in stages, as the tournament file describes it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, NamedTuple, TypeVar

from referee.core.pairing import SECTION_NAME
from referee.tournament.formats.format import DEFAULT, Format, check_settings
from referee.tournament.formats.knockout import Knockout
from referee.tournament.formats.league import League
from referee.tournament.formats.round_robin import RoundRobin
from referee.tournament.formats.settings import Settings
from referee.tournament.formats.swiss import Swiss
from referee.tournament.formats.tie_breaks import TIE_BREAKS

STAGE_FORMATS: dict[str, type[Format]] = {one.name: one for one in (RoundRobin, Swiss, Knockout, League)}
"""The formats that a stage can have, by name."""

MAX_GROUPS = len(ascii_uppercase)  # the groups of a stage are called A to Z

DEFAULT_TIE_BREAKS = ("direct", "sonneborn-berger", "wins")
"""What bots with equal points in a group of a round robin are ordered by."""

T = TypeVar("T")


class StageSpan(NamedTuple):
    """The bots and rounds of a stage."""

    bots: int  # how many bots play it
    before: int  # how many rounds the stages before have
    rounds: int

    @property
    def numbers(self) -> range:
        """The numbers of its rounds."""
        return range(self.before + 1, self.before + self.rounds + 1)


@dataclass(frozen=True)
class TournamentStage:
    """A stage as the tournament file describes it."""

    name: str
    form: Format  # its seeding is that of the tournament, until it is known which bots play
    groups: int = 1
    advance: int = 0  # how many bots of each group play the next stage; 0 in the last one
    carry: bool = False
    """Whether games of the stage before, between bots of the same group, count for points again."""
    tiebreaks: tuple[str, ...] = DEFAULT_TIE_BREAKS
    """Of a round robin: what bots with equal points are ordered by, of `TIE_BREAKS`."""

    @classmethod
    def read(cls, settings: Settings, is_first: bool, is_last: bool) -> TournamentStage:
        """A stage from its table in a tournament file or a header. Raises the error of `settings`."""
        fields = settings.fields
        kind = STAGE_FORMATS[fields.one_of("format", STAGE_FORMATS, DEFAULT)]
        check_settings(fields, kind, STAGE_FORMATS.values(), ("tiebreaks",) if kind is RoundRobin else ())
        name = fields.text("name", kind.name)
        if not SECTION_NAME.fullmatch(name):
            raise fields.wrong("name", "1 to 64 letters, digits and . _ + -")
        is_round_robin = kind is RoundRobin
        for key, applies, only in (
            ("groups", is_round_robin and not is_last, "a round robin that is not the last stage"),
            ("advance", not is_last, "stages before the last one"),
            ("carry", is_round_robin and not is_first, "a round robin after the first stage"),
        ):
            if fields.has(key) and not applies:
                raise fields.wrong(key, f"it only in {only}")
        words = settings.words("tiebreaks", [*TIE_BREAKS], DEFAULT_TIE_BREAKS) if is_round_robin else ()
        return cls(
            name,
            kind.read(settings),
            fields.number("groups", 1, MAX_GROUPS, default=1),
            0 if is_last else fields.number("advance", 1, 1000),
            fields.flag("carry", False),
            words,
        )

    def json(self) -> dict[str, Any]:
        """The stage as the header of a run has it, without what is the default."""
        of_format = {key: value for key, value in self.form.settings_json().items() if key != "seeding"}
        words = {} if self.tiebreaks in ((), DEFAULT_TIE_BREAKS) else {"tiebreaks": [*self.tiebreaks]}
        return {
            "name": self.name,
            "format": self.form.name,
            **of_format,
            **words,
            **({"groups": self.groups} if self.groups > 1 else {}),
            **({"advance": self.advance} if self.advance else {}),
            **({"carry": True} if self.carry else {}),
        }

    def form_for(self, bots: int) -> Format:
        """Its format for this many bots, whichever they are."""
        return self.form.seeded([*map(str, range(bots))])

    def rounds_for(self, bots: int) -> int:
        """The largest number of a round, counted from 1, if this many bots play it."""
        if isinstance(self.form, League):  # bots meet at most as often as there are encounters
            return -(-self.form.budget // 2)
        return self.form_for(bots).rounds

    @property
    def kind(self) -> str:
        """What its format is called in a sentence."""
        return self.form.name.replace("-", " ")

    def title(self, number: int, bots: int) -> str:
        """Its number and what this many bots play, as a title."""
        name = f", {self.name}" if self.name != self.form.name else ""
        groups = f" in {self.groups} groups" if self.groups > 1 else ""
        return f"Stage {number}{name}: {self.kind} of {bots:,} bots{groups}"

    def description_for(self, bots: int) -> str:
        """What this many bots play, in a few words."""
        groups = f"{self.groups} groups, " if self.groups > 1 else ""
        return f"{self.name} ({groups}{self.form_for(bots).description})"

    def sizes(self, bots: int) -> list[int]:
        """How many bots each of its groups has, if this many play it."""
        return [len(group) for group in dealt(range(bots), self.groups)]


def dealt(bots: Sequence[T], groups: int) -> list[list[T]]:
    """Deals bots into groups back and forth, so that the groups are of nearly equal strength."""
    found: list[list[T]] = [[] for _ in range(groups)]
    for at, bot in enumerate(bots):
        turn, place = divmod(at, groups)
        found[place if turn % 2 == 0 else groups - 1 - place].append(bot)
    return found
