"""The events of a game as news: written for a seat, and read back from there. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from referee.games.api import Seat
from referee.games.floral.sides import (
    NONE,
    POTS,
    STALL,
    SYMBOLS,
    Bloom,
    Effects,
    Side,
    is_guessing_spell,
    needed,
)
from referee.games.floral.spells import Spells
from referee.games.trail import Audience, TrailLines

TURNS = 5  # turns of a casting phase


class Dealt(NamedTuple):
    """A chance outcome."""

    spells: Spells | None  # the conditions, when the runes are dealt; None before


class Planted(NamedTuple):
    """A planting phase."""

    moves: Mapping[Seat, str]
    before: tuple[Side, Side]


class FloralTurn(NamedTuple):
    """A turn, with all that is reported of it."""

    number: int
    casts: tuple[str, str]
    effects: tuple[Effects, Effects]
    weather: int
    bloomed: tuple[tuple[Bloom, ...], tuple[Bloom, ...]]  # the flowers that bloomed, by seat
    before: tuple[Side, Side]
    after: tuple[Side, Side]


FloralEvent = Dealt | Planted | FloralTurn


class Asked(NamedTuple):
    """What is asked next."""

    acting: tuple[Seat, ...]
    planting: bool
    turn: int  # turns played


def lines(event: FloralEvent, asked: Asked, sides: tuple[Side, Side], audience: Audience) -> TrailLines:
    """The news of an event for an audience, with what is asked next."""
    shows = (0, 1) if audience is None else (audience,)
    match event:
        case FloralTurn():
            told = list(_turn_lines(event, shows, audience))
        case Planted(moves, before):
            told = [
                f"planted {seat + 1} {before[seat].pots.index(None) + 1} {moves[seat]}"
                for seat in shows
                if seat in moves
            ]
        case Dealt(spells):
            told = list(_spell_lines(spells, sides, shows)) if spells else []
    if asked.planting:
        planting = (seat for seat in shows if seat in asked.acting)
        told += [f"plant {seat + 1} {sides[seat].pots.index(None) + 1}" for seat in planting]
    elif asked.acting == (0, 1):
        told.append(f"turn {asked.turn + 1}")
    return tuple(told)


def _spell_lines(spells: Spells, sides: tuple[Side, Side], shows: tuple[Seat, ...]) -> Iterator[str]:
    for name, spell in zip(spells._fields, spells, strict=True):
        yield f"spell {name} {spell}"
    for seat in shows:
        pairs = zip(sides[seat].symbols, sides[seat].runes, strict=True)
        yield f"runes {seat + 1} {' '.join(f'{symbol}{rune}' for symbol, rune in pairs)}"


def _turn_lines(turn: FloralTurn, shows: tuple[Seat, ...], audience: Audience) -> Iterator[str]:
    sides = turn.after
    yield from _cast_lines(turn, shows, audience)
    if audience is None:
        yield f"weather {turn.weather}"
    for seat in shows:
        yield from _garden_lines(turn, seat)
    for seat, symbol in enumerate(turn.casts):
        if symbol not in sides[seat].symbols:
            right = sides[seat].points > turn.before[seat].points
            yield f"guess {seat + 1} {symbol} {'right' if right else 'wrong'}"
    yield f"points {sides[0].points} {sides[1].points}"
    for seat in shows:
        side = sides[seat]
        yield f"stock {seat + 1} {side.picked} {int(side.charge)} {side.needed}"
    if audience is not None and turn.number % TURNS == 0:
        pots = (NONE if flower is None else str(flower.stage) for flower in sides[1 - audience].pots)
        yield f"stages {2 - audience} {' '.join(pots)}"


def _cast_lines(turn: FloralTurn, shows: tuple[Seat, ...], audience: Audience) -> Iterator[str]:
    """The spells that were cast, with their runes where these are known."""
    sides = turn.after
    for seat, symbol in enumerate(turn.casts):
        declared = symbol not in sides[seat].symbols
        owner = 1 - seat if declared else seat
        known = owner in shows or (audience is not None and symbol in sides[audience].guessed)
        yield f"cast {seat + 1} {symbol}{f' {sides[owner].identity(symbol)}' if known else ''}"


def _garden_lines(turn: FloralTurn, seat: Seat) -> Iterator[str]:
    effects = turn.effects[seat]
    if effects.water:
        yield f"effect {seat + 1} water {' '.join(map(str, range(1, effects.water + 1)))}"
    for name, number in zip(("fertilize", "weather", "sabotage"), effects[1:4], strict=True):
        if number:
            yield f"effect {seat + 1} {name} {number}"
    if effects.guessing:
        yield f"effect {seat + 1} guessing"
    for pot, kind in turn.bloomed[seat]:
        yield f"bloomed {seat + 1} {pot} {kind}"
    yield f"pots {seat + 1} {' '.join(str(flower or NONE) for flower in turn.after[seat].pots)}"


class ObservedTurn(NamedTuple):
    """What a seat observed of a turn."""

    casts: tuple[str, str]
    effects: Effects  # its own effects
    planted: str  # what it planted before this turn; `-` for nothing
    pots: tuple[str, ...]  # its own pots after the turn


class MappingFact(NamedTuple):
    """A known fact of the other's mapping."""

    symbol: int  # the index of the symbol among the other's symbols
    identity: int
    so: bool  # whether the symbol stands for this identity or is known not to


class Picked(NamedTuple):
    """By the end of a turn the other must have picked at least this many flowers, as it had a charge."""

    turn: int
    flowers: int


def read(seat: Seat, seen: Sequence[str], goal: int, max_turns: int) -> SeatObservation:
    """The observation from the news of a seat. Raises `ValueError` or `LookupError` for impossible lines."""
    observed = SeatObservation(seat)
    for line in seen:
        observed.take(line.split())
    turns, marks = observed.turns, observed.marks
    if len(marks) != 1 + len(turns) // TURNS or any(len(pots) != POTS for pots in marks):
        raise ValueError("the stages of the other seat's flowers are reported after every fifth turn")
    over = max(observed.points) >= goal or len(turns) == max_turns
    observed.other_plants = not over and observed.asked == len(turns) and seen[-1].split()[0] != "plant"
    observed.spells = Spells.parse("; ".join(observed.conditions))
    observed.own_runes = "".join(observed.runes[symbol] for symbol in SYMBOLS[seat])
    return observed


@dataclass(slots=True)
class SeatObservation:
    """All that a seat observed, line by line."""

    seat: Seat
    conditions: list[str] = field(default_factory=list)
    spells: Spells = field(init=False)
    runes: dict[str, str] = field(default_factory=dict)  # by symbol, the identities of its own
    own_runes: str = ""  # these identities, in the order of the symbols
    turns: list[ObservedTurn] = field(default_factory=list)
    marks: list[tuple[str, ...]] = field(default_factory=lambda: [(NONE,) * POTS])
    """The stages in the other's pots at the start and after every casting phase, `-` where empty."""
    plantings: dict[int, str] = field(default_factory=dict)
    """What the seat planted, by the number of turns played before."""
    asked: int = 0  # the last turn for which it was asked to cast: the planting phases before it are over
    other_plants: bool = False  # whether only the other seat is to plant now
    facts: list[MappingFact] = field(default_factory=list)
    picked: list[Picked] = field(default_factory=list)
    points: tuple[int, int] = (0, 0)

    # The turn that is being read.
    casts: list[str] = field(default_factory=list)
    effects: Effects = field(default_factory=Effects)
    pots: tuple[str, ...] = ()
    right: dict[Seat, bool] = field(default_factory=dict)

    # Declarations.
    guessed: tuple[set[str], set[str]] = field(default_factory=lambda: (set(), set()))
    row: list[str] = field(default_factory=list)  # the other's symbols since its last declaration
    wrong: int = 0  # the other's wrong declarations since its last right one
    cast_guessing: int | None = None
    """The last turn since its last declaration on which the other may have cast the guessing spell."""

    def take(self, words: list[str]) -> None:  # noqa: C901 - one case for each word
        """Takes the words of the next line."""
        match words:
            case ["spell", _, *condition]:
                self.conditions.append(" ".join(condition))
            case ["runes", _, *runes]:
                self.runes = {rune[0]: rune[1] for rune in runes}
            case ["planted", _, _, kind]:
                self.plantings[len(self.turns)] = kind
            case ["turn", number]:
                self.asked = int(number)
            case ["cast", _, symbol, *_]:
                self.casts.append(symbol)
            case ["effect", _, "water", *_, number]:
                self.effects = self.effects._replace(water=int(number))
            case ["effect", _, "fertilize", number]:
                self.effects = self.effects._replace(fertilize=int(number))
            case ["effect", _, "weather", number]:
                self.effects = self.effects._replace(weather=int(number))
            case ["effect", _, "sabotage", number]:
                self.effects = self.effects._replace(sabotage=int(number))
            case ["pots", _, *pots]:
                self.pots = tuple(pots)
            case ["guess", who, _, result]:
                self.right[int(who) - 1] = result == "right"
            case ["points", one, other]:
                self._end_turn((int(one), int(other)))
            case ["stages", _, *pots]:
                self.marks.append(tuple(pots))

    def _end_turn(self, points: tuple[int, int]) -> None:
        one, other = self.casts
        planted = self.plantings.get(len(self.turns), NONE)
        self.turns.append(ObservedTurn((one, other), self.effects, planted, self.pots))
        for who, right in self.right.items():
            self._learn_from_declaration(who, right)
        self._follow_the_other()
        self.points = points
        self.casts, self.effects, self.right = [], Effects(), {}

    def _learn_from_declaration(self, who: Seat, right: bool) -> None:
        """Learns from a declaration, which compares a symbol with the rune cast in the turn before."""
        symbol, before = self.casts[who], self.turns[-2].casts[who]
        if symbol in self.guessed[who]:
            return  # wrong, whatever it stands for
        if who == self.seat:
            self._know(symbol, self.runes[before], right)
        else:
            self._know(before, self.runes[symbol], right)
        if right:
            self.guessed[who].add(symbol)

    def _follow_the_other(self) -> None:
        """Learns from casts of the other that only some mappings and gardens allow."""
        other, number = 1 - self.seat, len(self.turns)
        symbol = self.casts[other]
        if other in self.right:
            if self.cast_guessing is None:
                raise ValueError("the other seat guessed without a charge")
            self.picked.append(Picked(self.cast_guessing, self.points[other] + 1))
            self.row, self.cast_guessing = [], None
            self.wrong = 0 if self.right[other] else self.wrong + 1
            return
        if self.row[-1:] == [symbol]:
            self._know(symbol, str(STALL), False)
        self.row.append(symbol)
        if is_guessing_spell(self.row, needed(self.points[other], self.wrong)):
            self.cast_guessing = number

    def _know(self, symbol: str, identity: str, so: bool) -> None:
        self.facts.append(MappingFact(SYMBOLS[1 - self.seat].index(symbol), int(identity), so))
