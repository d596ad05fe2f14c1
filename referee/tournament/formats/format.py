"""The format of a tournament as a value: its settings, its schedule, its standings, and how it may grow."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.core.text import shown
from referee.records.record import Summary
from referee.tournament.formats.explicit import explicit
from referee.tournament.formats.gauntlet import gauntlet, gauntlet_encounters
from referee.tournament.formats.knockout import knockout, knockout_encounters, knockout_standings
from referee.tournament.formats.standing import Standing
from referee.tournament.formats.swiss import swiss, swiss_standings
from referee.tournament.schedule import Schedule, games_in_all, rotations, round_robin

ROUND_ROBIN = "round-robin"
GAUNTLET = "gauntlet"
SWISS = "swiss"
KNOCKOUT = "knockout"
LEAGUE = "league"
PAIRINGS = "pairings"
FREE = "free"

BALANCED = "balanced"
TABLES = ("all", BALANCED)

KEYS_OF = {
    ROUND_ROBIN: ("rounds", "tables"),
    GAUNTLET: ("rounds", "against"),
    SWISS: ("rounds", "seeding"),
    KNOCKOUT: ("best_of", "seeding", "third_place"),
    LEAGUE: ("budget",),
    PAIRINGS: ("rounds", "pairings", "budget"),
    FREE: ("rounds",),
}
"""By format, its keys in a tournament file."""

FORMATS = tuple(KEYS_OF)

KEYS = ("format", *dict.fromkeys(key for keys in KEYS_OF.values() for key in keys))
"""The keys of a tournament file that belong to the format."""

_OPEN = (ROUND_ROBIN, GAUNTLET, LEAGUE, FREE)
"""The formats that bots may join after a run began."""

_GROWING = ("rounds", "budget")
"""The keys whose numbers may grow after a run began."""

MAX_ROUNDS = 1_000_000
MAX_GAMES = 1_000_000_000
MAX_OF_SERIES = 999


class Amount(NamedTuple):
    """How many games a tournament has."""

    games: int
    is_exact: bool
    """False where it depends on the results; `games` is then the most that it can be."""


def total(amounts: Collection[Amount], may_stop: bool) -> Amount:
    """How many games sections have together; `may_stop` says whether a stopping rule may end them earlier."""
    return Amount(sum(one.games for one in amounts), all(one.is_exact for one in amounts) and not may_stop)


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a tournament with its settings; those that do not belong to the format have their
    defaults.
    """

    name: str = ROUND_ROBIN
    """One of `FORMATS`."""
    rounds: int = 1
    """How many rounds are played: of a knockout, its stages. A league has no rounds: the number is only the
    largest that its ids may have.
    """
    tables: str = TABLES[0]
    """Of a round robin: `all` groups of bots meet, or tables are `balanced`."""
    against: tuple[str, ...] = ()
    """Of a gauntlet: the bots that all others meet."""
    seeding: tuple[str, ...] = ()
    """Of a Swiss tournament and a knockout: all bots, the highest seed first."""
    best_of: int = 1
    """Of a knockout: how many encounters a series has, an odd number."""
    third_place: bool = False
    """Of a knockout: whether the losers of the semifinals meet."""
    pairings: tuple[tuple[str, ...], ...] = ()
    """Of explicit pairings: the bots of each encounter of a round."""
    budget: int = 0
    """How many games are played in all: of a league, and of explicit pairings, where 0 is no limit."""

    def check(self, bots: int, seats: int) -> None:
        """Raises `UsageError` where so many bots cannot play a game of so many seats in this format."""
        has = f"and the game has {seats} {'seat' if seats == 1 else 'seats'}, expected"
        if self.name in (SWISS, KNOCKOUT) and seats != 2:
            raise UsageError(f"`format` is `{self.name}`, {has} 2, or `{ROUND_ROBIN}` for other numbers")
        if self.name in (GAUNTLET, LEAGUE) and seats == 1:
            raise UsageError(f"`format` is `{self.name}`, {has} 2 or more, or `{ROUND_ROBIN}`")
        if self.tables == BALANCED and seats < 3:
            raise UsageError(f"`tables` is `{BALANCED}`, {has} 3 or more, or `all`")
        for group in self.pairings:
            if len(group) != seats:
                raise UsageError(f"`pairings` has {list_text(group)} in an encounter, {has} as many bots")
        others = bots - len(self.against)
        if self.name == GAUNTLET and others < seats - 1:
            raise UsageError(f"{others} bots are not in `against`, expected at least {seats - 1}")
        if bots < seats:
            raise UsageError(f"there are {bots} bots, expected at least {seats}, the seats of the game")

    def schedule(
        self, names: Sequence[str], seats: int, section: str, games: Mapping[str, Summary]
    ) -> Schedule:
        """The schedule of a game of so many seats between these bots.

        `games` has the results by id as they were played, also of games that were annulled later, and is
        filled while the schedule is read: of games that are over, those without a result for good are
        missing.
        """
        if self.name == SWISS:
            return swiss(self.seeding, self.rounds, section, games)
        if self.name == KNOCKOUT:
            return knockout(self.seeding, self.best_of, self.third_place, section, games)
        if self.name == GAUNTLET:
            return gauntlet(names, self.against, seats, self.rounds, section)
        if self.name == PAIRINGS:
            return explicit(self.pairings, self.rounds, section, self.budget)
        if self.name == FREE:
            return iter(())  # each game is arranged when it is played
        if self.name == LEAGUE:
            raise ValueError("the encounters of a league are chosen while it is played")
        if self.tables == BALANCED:
            from referee.tournament.formats.balanced import balanced  # it needs numpy, as in a league

            return balanced(names, seats, self.rounds, section)
        return round_robin(names, seats, self.rounds, section)

    @property
    def needs_all(self) -> bool:
        """Whether every bot of a run has to be there when it is continued."""
        return self.name != FREE

    @property
    def is_open(self) -> bool:
        """Whether bots may join after a run began, and the others may go on without one."""
        return self.name in _OPEN and self.tables != BALANCED

    @property
    def kind(self) -> str:
        """What it is called in messages."""
        return "balanced tables" if self.tables == BALANCED else f"the format `{self.name}`"

    @property
    def follows_results(self) -> bool:
        """Whether it depends on the results of games which ones follow."""
        return self.name in (SWISS, KNOCKOUT, LEAGUE)

    def standings(
        self,
        section: str,
        games: Mapping[str, Summary],
        without_result: Container[str] = (),
        annulled: Collection[str] = (),
    ) -> list[Standing] | None:
        """The standings, best first; None for the formats whose order is that of the ratings.

        `games` as in `schedule`; `without_result` are the ids of games that are over without a result for
        good. Games that are `annulled` give no points, but they led to the pairings that followed them.
        """
        if self.name == SWISS:
            return swiss_standings(self.seeding, self.rounds, section, games, without_result, annulled)
        if self.name == KNOCKOUT:
            return knockout_standings(
                self.seeding, self.best_of, self.third_place, section, games, without_result
            )
        return None

    def games_in_all(self, bots: int, seats: int) -> Amount:
        """How many games the schedule has for this number of bots and seats."""
        if self.name == LEAGUE:
            return Amount(self.budget, True)
        if self.name == FREE:
            return Amount(self.rounds, True)
        games = self._encounters_in_all(bots, seats) * seats
        return Amount(min(games, self.budget or games), self.name != KNOCKOUT)

    def _encounters_in_all(self, bots: int, seats: int) -> int:
        if self.name == SWISS:
            return self.rounds * (bots // 2)
        if self.name == KNOCKOUT:
            return knockout_encounters(bots, self.best_of, self.third_place)
        if self.name == GAUNTLET:
            return gauntlet_encounters(bots, len(self.against), seats, self.rounds)
        if self.name == PAIRINGS:
            return self.rounds * len(self.pairings)
        if self.tables == BALANCED:
            from referee.tournament.formats.balanced import balanced_encounters

            return balanced_encounters(bots, seats, self.rounds)
        return games_in_all(bots, seats, self.rounds) // seats

    def check_place(self, pairing: Pairing) -> None:
        """Raises `RecordError` where a game's round, or the number of its encounter, is in no schedule."""
        where = f"game `{shown(pairing.id)}`"
        if not 1 <= pairing.number <= self.rounds:  # guard: rounds
            raise RecordError(f"the round of {where} is not in this run")
        if (pairing.part > 0) != (self.name == KNOCKOUT) or pairing.part > 2 * self.best_of:
            raise RecordError(f"the number of the encounter of {where} is not in this run")

    def check_bots(self, pairing: Pairing, names: Collection[str]) -> None:
        """Raises `RecordError` where the bots of a game never meet in these seats in a schedule of the bots
        `names`, whatever the number of seats and the results.
        """
        where = f"game `{shown(pairing.id)}`"
        if not pairing.bots or not all(name in names for name in pairing.bots):
            raise RecordError(f"a bot of {where} is not in this run")
        if len(set(pairing.bots)) != len(pairing.bots):  # guard: several-seats
            raise RecordError(f"a bot has several seats in {where}")
        if self.pairings and not any(pairing.bots in rotations(bots) for bots in self.pairings):
            raise RecordError(f"the bots of {where} are in none of the `pairings`")
        if self.against and len({*pairing.bots} & {*self.against}) != 1:
            raise RecordError(f"the bots of {where} are not exactly one of `against` and others")
        # Tables of the other formats are filled in the order of the names.
        has_free_order = self.pairings or self.tables == BALANCED or self.name == FREE
        if not has_free_order and pairing.bots not in rotations(tuple(sorted(pairing.bots))):
            raise RecordError(f"the seats of {where} are not those of a game of this run")

    def may_grow(self, before: Format, added: Collection[str] = ()) -> list[str]:
        """What must not have changed since a run began, as messages; empty where the run may continue.

        `added` are the bots that were not there before.
        """
        wrong = [
            f"`{key}` is {_value_text(now)}, and was {_value_text(was)}"
            for key, now, was in self._compared(before)
            if key not in _GROWING and now != was
        ]
        wrong += [
            f"`{key}` is {now}, and was {was}, expected no less"
            for key, now, was in self._compared(before)
            if key in _GROWING and self.name == before.name and now < was
        ]
        if added and not self.is_open:
            wrong.append(f"bot `{min(added)}` was not there: no bot may be added with {self.kind}")
        return wrong

    def _compared(self, before: Format) -> Iterator[tuple[str, Any, Any]]:
        """By key of a tournament file, the value now and before."""
        yield "format", self.name, before.name
        for key in KEYS[1:]:
            yield key, getattr(self, key), getattr(before, key)

    def header(self) -> dict[str, Any]:
        """The members for the header of a run besides `rounds`: none for a round robin of all groups, so that
        older runs continue. They are named like the keys of a tournament file.
        """
        members: dict[str, Any] = {} if self.name == ROUND_ROBIN else {"format": self.name}
        for key in KEYS_OF[self.name]:
            value = getattr(self, key)
            if key != "rounds" and value != getattr(_DEFAULTS, key):
                members[key] = _json(value)
        return members


_DEFAULTS = Format()


def list_text(names: Sequence[str]) -> str:
    """Names of bots as shown in a message."""
    return ", ".join(f"`{name}`" for name in names)


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
