"""How the games of an encounter between faulty bots have to go, told beforehand from their seeds.

Knows the rules of the games, the bots' plans and the protocol's page; nothing here asks the referee.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from referee.core.seeds import bot_seed
from referee.gameplay.loop import seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import Seat, State
from tests.catalogue import ways
from tests.catalogue.row import AtRandom, Drawn, When
from tests.tools.fault_plan import NO_TURN, Plan, plan_of

JUDGED = {
    way.vice: way
    for way in (
        AtRandom("none", When.NEVER),
        *ways(AtRandom),
        AtRandom("does not start", When.START, "start"),
        AtRandom("gone since the game before", When.START, "start"),
    )
}
"""All that may be the matter with a bot, by name. The last two befall it before it learns of its seed."""

DRAWN = [[way.vice for way in ways(AtRandom) if way.drawn is drawn] for drawn in Drawn]
"""What is drawn, by kind of bot."""
DRAWN[0].insert(0, "none")


class Course(NamedTuple):
    """A game from its beginning to its verdict, as far as it can be foretold."""

    events: tuple[str, ...]
    ranks: tuple[int, ...]
    ending: str
    faults: tuple[str, ...]
    rated: bool


class Foretold(NamedTuple):
    """A game's course, and what bots did in it."""

    course: Course
    vices: tuple[str, ...]
    """Which came up, however they are judged."""
    broken: frozenset[str]
    """Whose process will fail in the next game."""


def course_of(record: dict[str, Any]) -> Course:
    """The course that a record tells of."""
    return Course(
        tuple(map(_words, record["events"])),
        tuple(record["ranks"]),
        record["ending"],
        tuple(record["faults"]),
        record["rated"],
    )


def foretell(games: Iterable[Terms], never_start: Collection[str]) -> Iterator[Foretold]:
    """Every game of an encounter. What a bot did at the end of one game can cost it the next."""
    broken: frozenset[str] = frozenset()
    for terms in games:
        foretold = _Game(terms, broken, never_start).play()
        broken = foretold.broken
        yield foretold


class _Player:
    """A seat's bot, and what has come of its plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.turn = 0
        self.due = ""
        """The fault as which its vice is judged when it is next asked."""
        self.fault = ""


class _Game:
    def __init__(self, terms: Terms, broken: Collection[str], never_start: Collection[str]) -> None:
        self.terms = terms
        self.state: State[Any] = terms.game.start(terms.options)
        self.players: list[_Player] = []
        for seat, name in enumerate(terms.bots):
            plan = _plan(terms, seat)
            if name in never_start or name in broken:
                what = "does not start" if name in never_start else "gone since the game before"
                plan = Plan(what, 1, NO_TURN)
            self.players.append(_Player(plan))
        self.events: list[str] = []
        self.vices: list[str] = []
        self.gone: set[Seat] = set()
        self.ending = "rules"

    def play(self) -> Foretold:
        absent = self.start()
        self.drop(dict.fromkeys(absent, "start"))
        dice = seeded_dice(self.terms)
        while (outcome := self.state.outcome()) is None:
            acting = self.state.to_act()
            if acting[0] < 0:
                text = dice(self.state)
                self.events.append(f"chance {text}")
                self.state = self.state.chance(text)
            else:
                self.take_turn(acting)
        faults = tuple(player.fault for player in self.players)
        rated = len(absent) < len(self.players)
        course = Course(tuple(self.events), outcome.ranks, self.ending, faults, rated)
        return Foretold(course, tuple(self.vices), self.broken())

    def start(self) -> set[Seat]:
        """Who does not get ready."""
        absent = set()
        for seat, player in enumerate(self.players):
            way = JUDGED[player.plan.vice]
            if way.when in (When.START, When.FIRST):
                self.vices.append(player.plan.vice)
            if way.when is When.START:
                absent.add(seat)
            elif way.when is When.FIRST:
                player.due = way.verdict
        return absent

    def broken(self) -> frozenset[str]:
        """Who has lost the next game already. After a fault a bot gets a fresh process."""
        return frozenset(
            name
            for name, player in zip(self.terms.bots, self.players, strict=True)
            if not player.fault and (player.due or JUDGED[player.plan.vice].when is When.AFTER)
        )

    def take_turn(self, acting: tuple[Seat, ...]) -> None:
        """All that act do so at once; where one of them leaves, the moves of the others do not count."""
        moves: dict[Seat, Any] = {}
        exits: dict[Seat, str] = {}
        said: dict[Seat, list[str]] = {seat: [] for seat in acting}
        defaulted: set[Seat] = set()
        for seat in acting:
            player, plan = self.players[seat], self.players[seat].plan
            player.turn += 1
            if player.due:
                exits[seat] = player.due
                continue
            way = JUDGED["none"]
            if plan.happens(player.turn):
                way = JUDGED[plan.vice]
                self.vices.append(plan.vice)
                said[seat] = [f"{seat + 1} rejected nonsense"] * way.rejected
            if way.verdict == "time" and (default := self.state.default(seat)) is not None:
                moves[seat] = default
                defaulted.add(seat)
            elif way.when is When.NOW:
                exits[seat] = way.verdict
            elif player.turn >= plan.last:
                exits[seat] = "resigned"
            else:
                moves[seat] = next(self.state.legal(seat))
            if way.when is When.NEXT:
                player.due = way.verdict
        for seat in acting:
            self.events += said[seat]
            if seat in moves:
                how = "unplayed" if exits else "default" if seat in defaulted else "move"
                self.events.append(f"{seat + 1} {how} {self.state.write(moves[seat])}")
        if exits:
            self.drop(exits)
        else:
            self.state = self.state.play(moves)

    def drop(self, exits: dict[Seat, str]) -> None:
        if not exits:
            return
        self.state = self.state.drop(exits)
        self.gone |= exits.keys()
        for seat in sorted(exits):
            self.events.append(f"{seat + 1} left {exits[seat]}")
            if exits[seat] != "resigned":
                self.players[seat].fault = exits[seat]
        if self.state.outcome() is not None and len(self.players) - len(self.gone) < 2:
            self.ending = exits[max(exits)]


def _plan(terms: Terms, seat: Seat) -> Plan:
    return plan_of(bot_seed(terms.seed, seat), terms.game.slug, terms.controls[seat].move_us // 1000, DRAWN)


def _words(event: dict[str, Any]) -> str:
    """An event as one line, without what the referee tells people of it."""
    if "chance" in event:
        return f"chance {event['chance']}"
    for kind in ("rejected", "move", "default", "unplayed", "left"):
        if kind in event:
            return f"{event['seat']} {kind} {event[kind]}"
    raise ValueError(f"no kind of event: {event}")
