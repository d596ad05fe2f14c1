"""Pairs of games that are the same to seat 1 while seat 2 has other secrets: other runes, flowers or tiles,
other words, other times. Whatever is made for seat 1 alone must be the same of both, byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations, count
from pathlib import Path
from typing import Any, NamedTuple

from referee.check.rules import NO_OPTIONS
from referee.check.wires import HouseWire
from referee.core.seeds import Stream, game_seed
from referee.core.units import TimeControl
from referee.gameplay.api import RESIGNED, Answer, Question, SeatReply
from referee.gameplay.events import Drawn, Moved, Timing, Unplayed
from referee.gameplay.loop import Dice, play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES, game_given
from referee.games.api import BadChance, Game, Options, Seat
from referee.records.record import GameRecord
from referee.viewing.steps import steps_of
from tests.recorded import record_of

ROOT = Path(__file__).parents[2]

HIGH_CARD = f"{ROOT / 'tests' / 'outside' / 'high_card.py'}:GAME"
"""A game from outside."""

SECRET = "hidden-plan"
"""Part of all that the bot in seat 2 says."""

CLOCK = TimeControl.parse("1s+1h")
"""Seat 2 uses some of its reserve in every turn."""

TURNS = 5
"""How often seat 2 acts before it resigns; soon after, seats of Floral Extract learn more of each other."""


class Twins(NamedTuple):
    """Two games that seat 1 cannot tell apart."""

    one: GameRecord
    other: GameRecord


class Course(NamedTuple):
    """What decides a game."""

    chance: tuple[str, ...]
    seer: tuple[str, ...]
    """The moves of seat 1."""
    hider: tuple[str, ...]
    """The moves of seat 2."""


class Distinct(Exception):
    """This course is not possible."""


class _Wire(HouseWire):
    """Plays both seats, at random or by a course. By a course seat 2 says other things, is slower, and is
    rejected once a turn.
    """

    def __init__(self, terms: Terms, course: Course | None) -> None:
        super().__init__(terms)
        self.known: list[tuple[str, ...]] = []
        """All that seat 1 knew at each of its questions."""
        self._course = course
        self._streams = (Stream(b"seat 1"), Stream(b"seat 2"))
        self._turns = [0, 0]

    def post(self, seat: Seat, question: Question) -> None:
        again = question.rejected is not None
        self._turns[seat] += not again
        self._replies.append(self._hide(again) if seat == 1 else self._see())

    def _see(self) -> SeatReply:
        """The reply of seat 1."""
        turn = self._turns[0]
        self.known.append(self.state.seen(0))
        return SeatReply(0, Answer(self._move(0), f"plan {turn}"), 690, Timing(turn * 10_000_000, 700, 300))

    def _hide(self, again: bool) -> SeatReply:
        """The reply of seat 2."""
        used_us = 1_234_000 if self._course is None else 2_345_000
        timing = Timing(self._turns[1] * 10_000_000 + used_us, used_us + 5, used_us // 2)
        words = f"{SECRET} {used_us}"
        if self._turns[1] > TURNS:
            return SeatReply(1, RESIGNED, used_us, timing)
        move = self._move(1) if again or self._course is None else words
        return SeatReply(1, Answer(move, words), used_us, timing)

    def _move(self, seat: Seat) -> str:
        """The seat's move of this turn. Raises `Distinct` where that of the course is not possible."""
        legal = [self.state.write(move) for move in self.state.legal(seat)]
        if self._course is None:
            return self._streams[seat].choice(legal)
        moves = (self._course.seer, self._course.hider)[seat]
        move = moves[self._turns[seat] - 1] if self._turns[seat] <= len(moves) else ""
        if move not in legal:
            raise Distinct
        return move


def _played(
    game: Game[Any], options: Options, seed: str, course: Course | None
) -> tuple[GameRecord, list[tuple[str, ...]]]:
    """A game, by a course if there is one, and all that seat 1 knew. Raises `Distinct` and `BadChance`."""
    seeds = (game_seed(seed, "game"), game_seed("twins", "shared"))
    terms = Terms("1:seer:hider", game, options, ("seer", "hider"), (CLOCK,) * 2, *seeds)
    wire = _Wire(terms, course)
    drawn = iter(course.chance if course else ())
    dice: Dice = (lambda _: next(drawn)) if course else seeded_dice(terms)
    verdict = play(terms, wire, dice, wire.watch)
    words = f"{SECRET} of {seed}"
    hidden = {
        "cpu_us": len(wire.events),
        "log": {"lines": [words], "dropped": 0, "asked": [[1, 1]]},
        "noise": {"lines": [words], "count": 1},
        "stderr": {"playing": {"text": words, "bytes": len(words), "asked": [[1, len(words)]]}},
    }
    measured: dict[str, Any] = {
        "began": "2026-01-01T00:00:00.000+00:00",
        "mono_us": 0,
        "seats": [{"cpu_us": 1}, hidden],
    }
    record = record_of(terms, wire.events, verdict, **measured)
    return record, [*wire.known, wire.state.seen(0)]


def _course_of(record: GameRecord) -> Course:
    drawn = [event.text for event in record.events if isinstance(event, Drawn)]
    moves = [event for event in record.events if isinstance(event, Moved | Unplayed)]
    seer, hider = (tuple(move.text for move in moves if move.seat == seat) for seat in (0, 1))
    return Course(tuple(drawn), seer, hider)


def _exchanged(things: list[str], a: int, b: int) -> list[str]:
    """The same things, two of them in the place of each other."""
    exchanged = list(things)
    exchanged[a], exchanged[b] = things[b], things[a]
    return exchanged


def hidden_news(record: GameRecord) -> set[str]:
    """The lines of news of a game that seat 1 did not get."""
    state = steps_of(record).steps[-1].state
    return {*state.seen(None)} - {*state.seen(0)}


@cache
def floral_twins() -> Twins:
    """Seat 2 has two runes the other way round that it never cast, and planted other flowers."""

    def others(course: Course) -> Iterator[Course]:
        spells, runes = course.chance
        planted, *casts = course.hider
        for a, b in combinations(range(-8, 0), 2):
            swapped = "".join(_exchanged([*runes], a, b))
            yield Course((spells, swapped), course.seer, ("C" if planted == "A" else "A", *casts))

    return _twins(GAMES["floral"], others)


@cache
def thetree_twins() -> Twins:
    """Seat 2 has a tile in its hand that is in the supply of the other game."""

    def others(course: Course) -> Iterator[Course]:
        (deal,) = course.chance
        tiles = deal.split()
        for a, b in combinations(range(len(tiles)), 2):
            yield Course((" ".join(_exchanged(tiles, a, b)),), course.seer, course.hider)

    return _twins(GAMES["thetree"], others)


@cache
def high_card_twins() -> Twins:
    """Seat 2 has a card in its hand that nobody is dealt in the other game."""

    def others(course: Course) -> Iterator[Course]:
        roll, deal, *rolls = course.chance
        cards = deal.split()
        for a, b in combinations(range(len(cards)), 2):
            yield Course((roll, " ".join(_exchanged(cards, a, b)), *rolls), course.seer, course.hider)

    return _twins(game_given(HIGH_CARD, ROOT), others, {"players": "2"})


TWINS: dict[str, Callable[[], Twins]] = {
    "floral": floral_twins,
    "thetree": thetree_twins,
    HIGH_CARD: high_card_twins,
}
"""By game, as a command takes it."""


def _twins(
    game: Game[Any], others: Callable[[Course], Iterator[Course]], given: Mapping[str, str] = NO_OPTIONS
) -> Twins:
    """The first game that has a twin among the courses that are tried for it."""
    options = game.settle(given)
    for number in count():
        one, known = _played(game, options, f"one {number}", None)
        for course in others(_course_of(one)):
            try:
                other, known_too = _played(game, options, f"other {number}", course)
            except (Distinct, BadChance):
                continue
            if known == known_too and hidden_news(one) != hidden_news(other):
                return Twins(one, other)
    raise AssertionError("there are always more games")
