"""Floral Extract, by e_is_cool and elara: grow flowers by casting runes, and guess the other's runes.

Two seats, hidden information, both submit at once. Each seat has a secret mapping of its eight symbols to
the identities 0 to 7. The notation, the options, the order of a turn and of the reasons are those of
`protocol/games/floral.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, permutations
from operator import eq, ge, gt, le, lt
from typing import Any, NamedTuple

from referee.core.errors import GameOptionError
from referee.core.rng import Random
from referee.core.text import shown
from referee.core.timecontrol import TimeControl
from referee.games.api import (
    CHANCE,
    NOTHING_TO_DRAW,
    SHARED_CHANCE,
    BadChance,
    Game,
    Illegal,
    NotAMove,
    NumberOption,
    Options,
    Outcome,
    Picture,
    Seat,
    Span,
    State,
    placing,
    walkover,
)
from referee.games.trail import Audience, Lines, Trail

SYMBOLS = ("ABCDEFGH", "STUVWXYZ")
"""Of each seat."""

FLOWERS = {"A": "Azalea", "C": "Chrysanthemum", "H": "Hyacinth", "W": "Wisteria", "X": "Xanthium"}
BLOOMS_AT = {"A": 8, "C": 30, "H": 15, "W": 7, "X": 6}
NONE = "-"
"""Planting nothing; an empty pot."""

STALL = 0
NO_RUNE = -1
"""Where the last cast was no rune of the seat's own, or there was none."""

TURNS = 5
"""Of a casting phase."""

POTS = 3
FIRST_GUESS = 6
"""How many different runes the guessing spell takes at first."""

SUNNY, CHILLY, RAINY = 1, 2, 3
WEATHERS = {SUNNY: "sunny", CHILLY: "chilly", RAINY: "rainy"}
SABOTAGE = {8: 1, 10: 2, 12: 3}
"""The sum of two runes, and the pot it strikes."""

_INKS = ("bright_red", "bright_blue")


# --- Conditions ----------------------------------------------------------------------------------------

_RELATIONS = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
_CONDITION = re.compile(
    r"(?:set (?P<set>[3-5]) \{(?P<members>[1-7](?:, ?[1-7]){2,4})\}"
    r"|sum (?P<sum>[3-5]) (?P<low>[1-9][0-9]?)-(?P<high>[1-9][0-9]?)"
    r"|seq (?P<seq>[3-5]) (?P<relations>(?:<=|>=|<|=|>)(?: (?:<=|>=|<|=|>)){1,3}))"
)
_CONDITION_FORMS = {
    "set": "`set N {A,B,C}` with N from 3 to 5 and 3 to 5 different identities from 1 to 7",
    "sum": "`sum N LOW-HIGH` with N from 3 to 5 and a range within N to 7 times N",
    "seq": "`seq N R R` with N from 3 to 5 and N - 1 relations of < <= = >= >",
}


class Condition(NamedTuple):
    """When a basic spell is cast: something that holds for the last `length` runes of a chain."""

    form: str
    length: int
    numbers: tuple[int, ...] = ()
    """Of `set`: its members, ascending. Of `sum`: the lowest and the highest."""
    relations: tuple[str, ...] = ()
    """Of `seq`, oldest first."""

    def __str__(self) -> str:
        match self.form:
            case "set":
                return f"set {self.length} {{{','.join(map(str, self.numbers))}}}"
            case "sum":
                return f"sum {self.length} {self.numbers[0]}-{self.numbers[1]}"
        return f"seq {self.length} {' '.join(self.relations)}"

    @classmethod
    def parse(cls, text: str) -> Condition:
        """From what `str` gave, but for the order of a set. Raises `ValueError`."""
        found = _CONDITION.fullmatch(text)
        expected = _CONDITION_FORMS.get(text.partition(" ")[0], "`set …`, `sum …` or `seq …`")
        wrong = ValueError(f"`{shown(text, 80)}` is no condition, expected {expected}")
        if not found:
            raise wrong
        if found["set"]:
            members = tuple(sorted(int(member) for member in found["members"].split(",")))
            if len(set(members)) < len(members):
                raise wrong
            return cls("set", int(found["set"]), members)
        if found["sum"]:
            length, low, high = int(found["sum"]), int(found["low"]), int(found["high"])
            if not length <= low <= high <= 7 * length:
                raise wrong
            return cls("sum", length, (low, high))
        relations = tuple(found["relations"].split(" "))
        if len(relations) != int(found["seq"]) - 1:
            raise wrong
        return cls("seq", int(found["seq"]), (), relations)

    @classmethod
    def drawn(cls, rng: Random) -> Condition:
        """At random: the form is uniform, and so is all within a form."""
        form = rng.choice(("set", "sum", "seq"))
        length = 3 + rng.below(3)
        if form == "set":
            return cls(form, length, _some(range(1, 8), 3 + rng.below(3), rng))
        if form == "sum":
            return cls(form, length, _some(range(length, 7 * length + 1), 2, rng))
        return cls(form, length, (), tuple(rng.choice(tuple(_RELATIONS)) for _ in range(length - 1)))

    def holds(self, chain: tuple[int, ...]) -> bool:
        """Whether it does for the end of this chain; never while it is shorter."""
        if len(chain) < self.length:
            return False
        runes = chain[-self.length :]
        match self.form:
            case "set":
                return all(rune in self.numbers for rune in runes)
            case "sum":
                return self.numbers[0] <= sum(runes) <= self.numbers[1]
        return all(
            _RELATIONS[relation](*pair)
            for relation, pair in zip(self.relations, pairwise(runes), strict=True)
        )


def _some(values: Sequence[int], count: int, rng: Random) -> tuple[int, ...]:
    """So many different ones, ascending."""
    items = list(values)
    rng.shuffle(items)
    return tuple(sorted(items[:count]))


class Spells(NamedTuple):
    """The conditions of the basic spells, the same for both seats."""

    water: Condition
    fertilize: Condition
    weather: Condition

    def __str__(self) -> str:
        return "; ".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> Spells:
        """From what `str` gave. Raises `ValueError`."""
        parts = text.split(";")
        if len(parts) != 3:
            raise ValueError(f"{len(parts)} of three conditions, expected them separated by `;`")
        return cls(*(Condition.parse(" ".join(part.split())) for part in parts))


@dataclass(frozen=True, slots=True)
class SpellsOption:
    """The conditions of the basic spells, or nothing where they are drawn."""

    name: str
    meaning: str
    default: str = ""
    default_text: str = "drawn from the seed"
    values_text: str = "three conditions"

    def read(self, text: str) -> str:
        """The value of a text. Raises `GameOptionError`."""
        try:
            return str(Spells.parse(text)) if text else ""
        except ValueError as error:
            raise GameOptionError(f"option `{self.name}`: {error}") from None


# --- What a seat has -----------------------------------------------------------------------------------


class Flower(NamedTuple):
    """A flower in its pot."""

    kind: str
    stage: int = 0
    watered: bool = False
    """On the turn before."""
    grew: bool = True
    """On the turn before; a new flower has no past to hold against it."""
    known: int = 0
    """The triples of weather, water and fertilizer that it has met, a bit each."""


class Side(NamedTuple):
    """One seat's runes, garden and score."""

    symbols: str
    runes: tuple[int, ...] = ()
    """The identity of each of its symbols, in their order."""
    chain: tuple[int, ...] = ()
    """Its last runes but the stall spell since its last declaration, at most five: what spells look at."""
    row: tuple[int, ...] = ()
    """Its last runes since its last declaration, at most six: what the guessing spell looks at."""
    previous: int = NO_RUNE
    """Its own rune on the turn before."""
    pots: tuple[Flower | None, ...] = (None,) * POTS
    planted: str = ""
    picked: int = 0
    points: int = 0
    wrong: int = 0
    """Wrong declarations since the last right one."""
    charge: bool = False
    guessed: str = ""
    """The other's symbols that it has guessed right."""

    def identity(self, symbol: str) -> int:
        """Which rune a symbol of this side's stands for."""
        return self.runes[self.symbols.index(symbol)]

    @property
    def needed(self) -> int:
        """How many different runes in a row cast the guessing spell."""
        return max(1, FIRST_GUESS - self.points - self.wrong)

    @property
    def can_plant(self) -> bool:
        """Whether it is asked in a planting phase."""
        return None in self.pots and len(self.planted) < len(FLOWERS)


class Effects(NamedTuple):
    """What a seat's cast brought about."""

    water: int = 0
    """Pots 1 to this one."""
    fertilize: int = 0
    """This pot."""
    weather: int = 0
    sabotage: int = 0
    """This pot of the other seat's."""
    guessing: bool = False


class Dealt(NamedTuple):
    """Chance decided."""

    spells: Spells | None
    """The conditions, when the runes were dealt; None before."""


class Planted(NamedTuple):
    """A planting phase."""

    moves: Mapping[Seat, str]
    before: tuple[Side, Side]


class Turn(NamedTuple):
    """A turn: all that is to be told of it."""

    number: int
    casts: tuple[str, str]
    effects: tuple[Effects, Effects]
    weather: int
    bloomed: tuple[tuple[int, ...], ...]
    """By seat, the pots whose flowers bloomed, counted from 1."""
    before: tuple[Side, Side]
    after: tuple[Side, Side]


class Rules(NamedTuple):
    """What the states of one game share."""

    spells: Spells | None
    """None before they are drawn."""
    goal: int
    max_turns: int


class FloralState(State[str]):
    """A position: the phase, both sides, the weather. A move is a letter of a flower, `-`, or a symbol."""

    __slots__ = ("acting", "ahead", "left", "planting", "rules", "sides", "trail", "turn", "weather")

    def __init__(
        self,
        rules: Rules,
        sides: tuple[Side, Side],
        turn: int,
        weather: int,
        planting: bool,
        ahead: Seat | None,
        trail: Trail,
        left: frozenset[Seat] = frozenset(),
    ) -> None:
        self.rules = rules
        self.sides = sides
        self.turn = turn
        """Turns played."""
        self.weather = weather
        self.planting = planting
        self.ahead = ahead
        """Who had more points when they last differed; None if they never did."""
        self.trail = trail
        self.left = left
        self.acting = self._acting()

    def _acting(self) -> tuple[Seat, ...]:
        one, other = self.sides
        if self.left or max(one.points, other.points) >= self.rules.goal or self.turn == self.rules.max_turns:
            return ()
        if self.rules.spells is None:
            return (SHARED_CHANCE,)
        if not one.runes:
            return (CHANCE,)
        if self.planting:
            return tuple(seat for seat in (0, 1) if self.sides[seat].can_plant)
        return (0, 1)

    def _then(
        self, event: Dealt | Planted | Turn, rules: Rules, sides: tuple[Side, Side], ahead: Seat | None
    ) -> FloralState:
        """The position after something happened."""
        turn, weather = self.turn, self.weather
        if isinstance(event, Turn):
            turn, weather = event.number, event.weather
        planting = (
            not isinstance(event, Planted) and turn % TURNS == 0 and any(side.can_plant for side in sides)
        )
        state = FloralState(rules, sides, turn, weather, planting, ahead, self.trail)
        state.trail = Trail(self.trail, partial(_news, event, state.acting, planting, turn, sides))
        return state

    def to_act(self) -> tuple[Seat, ...]:
        """Both seats, those that can plant, chance, or nobody."""
        return self.acting

    def read(self, seat: Seat, text: str) -> str:
        """One character, in either case; a digit is the seat's own rune of that identity."""
        text = text.strip(" ")
        side = self.sides[seat]
        if self.planting:
            kind = text.upper() if text.isascii() else ""
            if kind == NONE:
                return kind
            if len(kind) != 1 or kind not in FLOWERS:
                raise NotAMove("a letter of A C H W X, or - for none")
            if kind in side.planted:
                raise Illegal("planted-before", f"{FLOWERS[kind]} was planted before")
            return kind
        if len(text) != 1 or text == NONE:
            raise NotAMove("one character: a symbol of yours, its identity, or a symbol of the other seat")
        symbol = text.upper() if text.isascii() else text
        if symbol in _IDENTITIES:
            symbol = side.symbols[side.runes.index(int(symbol))]
        if symbol in side.symbols:
            if side.previous == STALL and side.identity(symbol) == STALL:
                raise Illegal("stall-twice", f"{symbol} is rune 0, which may not be cast twice in a row")
            return symbol
        if symbol not in SYMBOLS[1 - seat]:
            raise Illegal("no-such-rune", f"there is no rune {shown(symbol)}")
        if not side.charge:
            raise Illegal(
                "no-charge", f"{symbol} is the other seat's, and there is no guess charge to guess it"
            )
        return symbol

    def write(self, move: str) -> str:
        """A move is its spelling."""
        return move

    def play(self, moves: Mapping[Seat, str]) -> FloralState:
        """Both submissions at once."""
        if self.planting:
            sides = (_planted(self.sides[0], moves.get(0)), _planted(self.sides[1], moves.get(1)))
            return self._then(Planted(dict(moves), self.sides), self.rules, sides, self.ahead)
        turn = self._turn((moves[0], moves[1]))
        one, other = turn.after
        ahead = self.ahead if one.points == other.points else 0 if one.points > other.points else 1
        return self._then(turn, self.rules, turn.after, ahead)

    def _turn(self, casts: tuple[str, str]) -> Turn:
        """A turn, in the order of the rules."""
        number = self.turn + 1
        x = (number - 1) % 3 + 1
        before = self.sides
        cast = (_cast(before[0], casts[0]), _cast(before[1], casts[1]))
        spells = self.rules.spells
        assert spells is not None, "drawn before anything is cast"
        effects = [_effects(cast[0], spells, x), _effects(cast[1], spells, x)]
        weather = x if effects[0].weather or effects[1].weather else self.weather
        after, bloomed = [], []
        for seat in (0, 1):
            pots, blooming = _garden(cast[seat].pots, weather, effects[seat], effects[1 - seat].sabotage)
            side, guessing = _scored(
                cast[seat], before[seat], pots, len(blooming), casts[seat], before[1 - seat]
            )
            if guessing:
                effects[seat] = effects[seat]._replace(guessing=True)
            after.append(side)
            bloomed.append(blooming)
        return Turn(
            *(number, casts, (effects[0], effects[1]), weather),
            *((bloomed[0], bloomed[1]), before, (after[0], after[1])),
        )

    def legal(self, seat: Seat) -> Iterator[str]:
        """Planting: the types by their letters, then none. Casting: own symbols in order, then guesses."""
        side = self.sides[seat]
        if self.planting:
            yield from (kind for kind in FLOWERS if kind not in side.planted)
            yield NONE
            return
        for symbol, identity in zip(side.symbols, side.runes, strict=True):
            if not identity == side.previous == STALL:
                yield symbol
        if side.charge:
            yield from SYMBOLS[1 - seat]

    def count(self, seat: Seat) -> int:
        """How many."""
        return sum(1 for _ in self.legal(seat))

    def sample(self, seat: Seat, rng: Random) -> str:
        """Uniform."""
        return rng.choice(tuple(self.legal(seat)))

    def default(self, seat: Seat) -> str:
        """Nothing is planted; rune 0 is cast if that is legal, else rune 1."""
        if self.planting:
            return NONE
        side = self.sides[seat]
        return side.symbols[side.runes.index(1 if side.previous == STALL else STALL)]

    def draw(self, rng: Random) -> str:
        """First the conditions, where they are not given, then both mappings."""
        if self.acting not in ((CHANCE,), (SHARED_CHANCE,)):
            raise BadChance(NOTHING_TO_DRAW)
        if self.rules.spells is None:
            return str(Spells(Condition.drawn(rng), Condition.drawn(rng), Condition.drawn(rng)))
        mappings = []
        for _ in (0, 1):
            identities = list(_IDENTITIES)
            rng.shuffle(identities)
            mappings.append("".join(identities))
        return " ".join(mappings)

    def chance(self, text: str) -> FloralState:
        """Conditions as the option has them; mappings as the identities of each seat's symbols in order."""
        if self.acting not in ((CHANCE,), (SHARED_CHANCE,)):
            raise BadChance(NOTHING_TO_DRAW)
        if self.rules.spells is None:
            try:
                spells = Spells.parse(text)
            except ValueError as error:
                raise BadChance(str(error)) from None
            flat = [spell for spell in spells if spell.form == "sum" and spell.numbers[0] == spell.numbers[1]]
            if str(spells) != text or flat:
                raise BadChance(f"`{shown(text, 80)}` is not drawn as conditions are")
            return self._then(Dealt(None), self.rules._replace(spells=spells), self.sides, self.ahead)
        mappings = text.split(" ")
        if len(mappings) != 2 or any(sorted(mapping) != list(_IDENTITIES) for mapping in mappings):
            raise BadChance(f"`{shown(text, 80)}` is not two orders of 0 to 7")
        one, other = (Side(symbols, tuple(map(int, m))) for symbols, m in zip(SYMBOLS, mappings, strict=True))
        return self._then(Dealt(self.rules.spells), self.rules, (one, other), self.ahead)

    def drop(self, seats: Iterable[Seat]) -> FloralState:
        """The position with these seats gone, which ends the game."""
        left = self.left | frozenset(seats)
        return FloralState(
            self.rules, self.sides, self.turn, self.weather, self.planting, self.ahead, self.trail, left
        )

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """The lines that `protocol/games/floral.md` describes."""
        return self.trail.lines(seat)

    def outcome(self) -> Outcome | None:
        """Whoever reaches the goal; after the last turn whoever has more points; a seat that left loses."""
        if self.acting:
            return None
        scores = (self.sides[0].points, self.sides[1].points)
        more = [[0], [1]] if scores[0] > scores[1] else [[1], [0]] if scores[0] < scores[1] else [[0, 1]]
        if self.left:
            outcome = walkover(self.left, scores)
            return outcome if len(self.left) == 1 else outcome._replace(ranks=placing(2, more))
        if min(scores) >= self.rules.goal:
            winner = self.ahead or 0
            why = "has the advantage" if self.ahead is None else "had been ahead"
            sentence = f"both seats reached {self.rules.goal} on one turn, and seat {winner + 1} {why}"
            return Outcome(placing(2, [[winner], [1 - winner]]), scores, sentence)
        if max(scores) >= self.rules.goal:
            winner = more[0][0]
            runes = "rune" if self.rules.goal == 1 else "runes"
            sentence = f"seat {winner + 1} has guessed {self.rules.goal} {runes}"
            return Outcome(placing(2, more), scores, sentence)
        turns = "1 turn" if self.turn == 1 else f"{self.turn} turns"
        sentence = f"after {turns} the points are {scores[0]} to {scores[1]}"
        return Outcome(placing(2, more), scores, sentence)

    def picture(self, seat: Seat | None) -> Picture:
        """Each garden as far as the seat knows it, with its runes, points and charge."""
        sky = f", {WEATHERS[self.weather]}" if seat is None else ""
        lines: Picture = [[Span(f"turn {self.turn}{sky}", "bright_black")]]
        for number in (0, 1):
            lines += self._bed(number, seat)
        return lines

    def _bed(self, number: Seat, audience: Audience) -> Picture:
        side, ink = self.sides[number], _INKS[number]
        points = f"{side.points} of {self.rules.goal} guessed"
        if audience in (None, number):
            pots = [_pot(flower) for flower in side.pots]
            charge = "a charge to guess" if side.charge else f"needs {side.needed} different runes"
            points += f", {side.picked} picked, {charge}"
            runes = [f"{s}{i}" for s, i in zip(side.symbols, side.runes, strict=False)]
        else:
            told = [line for line in self.seen(audience) if line.startswith("stages ")]
            pots = told[-1].split()[2:] if told else ["?"] * POTS
            guessed = self.sides[1 - number].guessed
            runes = [
                f"{s}{i if s in guessed else '?'}" for s, i in zip(side.symbols, side.runes, strict=False)
            ]
        cells = "  ".join(f"[{pot:^18}]" for pot in pots)
        return [
            [Span(f"seat {number + 1}: ", ink), Span(points)],
            [Span("  pots  "), Span(cells, ink)],
            [Span("  runes "), Span(" ".join(runes), ink)],
        ]


_IDENTITIES = "01234567"


def _pot(flower: Flower | None) -> str:
    return NONE if flower is None else f"{FLOWERS[flower.kind]} {flower.stage}/{BLOOMS_AT[flower.kind]}"


def _planted(side: Side, kind: str | None) -> Side:
    """A side with a flower in its leftmost empty pot."""
    if kind is None or kind == NONE:
        return side
    at = side.pots.index(None)
    pots = (*side.pots[:at], Flower(kind), *side.pots[at + 1 :])
    return side._replace(pots=pots, planted=side.planted + kind)


def _cast(side: Side, symbol: str) -> Side:
    """A side after a cast, before anything comes of it. A declaration cuts off what it cast before."""
    if symbol not in side.symbols:
        return side._replace(chain=(), row=(), previous=NO_RUNE)
    rune = side.identity(symbol)
    row = (*side.row[1 - FIRST_GUESS :], rune)
    chain = side.chain if rune == STALL else (*side.chain[-4:], rune)
    return side._replace(chain=chain, row=row, previous=rune)


def _effects(side: Side, spells: Spells, x: int) -> Effects:
    """The spells that its last cast completed, but for the guessing spell."""
    if side.previous in (STALL, NO_RUNE):
        return Effects()
    chain = side.chain
    return Effects(
        x if spells.water.holds(chain) else 0,
        x if spells.fertilize.holds(chain) else 0,
        x if spells.weather.holds(chain) else 0,
        SABOTAGE.get(chain[-1] + chain[-2], 0) if len(chain) > 1 else 0,
    )


def _garden(
    pots: tuple[Flower | None, ...], weather: int, own: Effects, sabotaged: int
) -> tuple[tuple[Flower | None, ...], tuple[int, ...]]:
    """The pots after a turn, and which of them bloomed."""
    after: list[Flower | None] = []
    bloomed = []
    for pot, flower in enumerate(pots, 1):
        watered = pot != sabotaged and (weather == RAINY or pot <= own.water)
        fertilized = pot == own.fertilize != sabotaged
        if flower is not None:
            flower = _grown(flower, weather, watered, fertilized)
            if flower.stage >= BLOOMS_AT[flower.kind]:
                bloomed.append(pot)
                flower = None
        after.append(flower)
    return tuple(after), tuple(bloomed)


def _grown(flower: Flower, weather: int, watered: bool, fertilized: bool) -> Flower:
    """A flower after a turn."""
    kind, stage, watered_before, grew_before, known = flower
    grows = 0
    match kind:
        case "A":
            grows = int(weather != CHILLY and not (watered and watered_before))
            if not grows and not grew_before:
                return Flower(kind, max(0, stage - 1), watered, False)
        case "C":
            grows = 1 + 2 * watered + 3 * fertilized
        case "H":
            grows = 2 if weather == SUNNY else -1 if weather == CHILLY else 0
        case "W":
            held = stage > 0 and ((stage % 2 == 0 and not watered) or (stage % 3 == 0 and not fertilized))
            grows = int(weather != CHILLY and not held)
        case "X":
            triple = 1 << (4 * (weather - 1) + 2 * watered + fertilized)
            grows = int(not known & triple)
            known |= triple
    return Flower(kind, max(0, stage + grows), watered, grows > 0, known)


def _scored(
    side: Side, before: Side, pots: tuple[Flower | None, ...], blooming: int, symbol: str, other: Side
) -> tuple[Side, bool]:
    """A side after its flowers grew and its declaration counted, and whether it cast the guessing spell.

    A declaration uses the charge and the rune from before this turn; the flowers picked on this turn
    already count for the guessing spell.
    """
    picked = side.picked + blooming
    points, wrong, charge, guessed = side.points, side.wrong, side.charge, side.guessed
    guessing = False
    if side.previous == NO_RUNE:
        charge = False
        if other.identity(symbol) == before.previous and symbol not in guessed:
            points, wrong, guessed = points + 1, 0, guessed + symbol
        else:
            wrong += 1
    else:
        needed = side.needed
        last = side.row[-needed:]
        guessing = picked > points and len(last) == needed == len(set(last))
        charge = charge or guessing
    scored = Side(
        *(side.symbols, side.runes, side.chain, side.row, side.previous, pots),
        *(side.planted, picked, points, wrong, charge, guessed),
    )
    return scored, guessing


# --- News ----------------------------------------------------------------------------------------------


def _news(
    event: Dealt | Planted | Turn,
    acting: tuple[Seat, ...],
    planting: bool,
    turn: int,
    sides: tuple[Side, Side],
    audience: Audience,
) -> Lines:
    """What somebody is told of what happened, and of what is asked next."""
    shows = (0, 1) if audience is None else (audience,)
    match event:
        case Turn():
            lines = list(_turn_news(event, shows, audience))
        case Planted(moves, before):
            lines = [
                f"planted {seat + 1} {before[seat].pots.index(None) + 1} {moves[seat]}"
                for seat in shows
                if seat in moves
            ]
        case Dealt(spells):
            names = spells._fields if spells else ()
            lines = [f"spell {name} {spell}" for name, spell in zip(names, spells or (), strict=True)]
            for seat in shows if spells else ():
                pairs = zip(sides[seat].symbols, sides[seat].runes, strict=True)
                lines.append(f"runes {seat + 1} {' '.join(f'{symbol}{rune}' for symbol, rune in pairs)}")
    if planting:
        for seat in shows:
            if seat in acting:
                lines.append(f"plant {seat + 1} {sides[seat].pots.index(None) + 1}")
    elif acting == (0, 1):
        lines.append(f"turn {turn + 1}")
    return tuple(lines)


def _turn_news(turn: Turn, shows: tuple[Seat, ...], audience: Audience) -> Iterator[str]:
    sides = turn.after
    for seat, symbol in enumerate(turn.casts):
        declared = symbol not in sides[seat].symbols
        owner = 1 - seat if declared else seat
        known = owner in shows or (audience is not None and symbol in sides[audience].guessed)
        yield f"cast {seat + 1} {symbol}{f' {sides[owner].identity(symbol)}' if known else ''}"
    if audience is None:
        yield f"weather {turn.weather}"
    for seat in shows:
        effects = turn.effects[seat]
        if effects.water:
            yield f"effect {seat + 1} water {' '.join(map(str, range(1, effects.water + 1)))}"
        for name, number in zip(("fertilize", "weather", "sabotage"), effects[1:4], strict=True):
            if number:
                yield f"effect {seat + 1} {name} {number}"
        if effects.guessing:
            yield f"effect {seat + 1} guessing"
        for pot in turn.bloomed[seat]:
            flower = turn.before[seat].pots[pot - 1]
            assert flower is not None
            yield f"bloomed {seat + 1} {pot} {flower.kind}"
        pots = (NONE if flower is None else f"{flower.kind}{flower.stage}" for flower in sides[seat].pots)
        yield f"pots {seat + 1} {' '.join(pots)}"
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


# --- Imagining -----------------------------------------------------------------------------------------


class _Told(NamedTuple):
    """What a seat was told of a turn."""

    casts: tuple[str, str]
    effects: Effects
    """Its own."""
    planted: str
    """What it planted before this turn."""
    pots: list[str]


class _Dreamer:
    """Looks for what a seat cannot see, so that the whole game agrees with what it was told.

    The other seat's mapping decides the weather and the sabotage, and so how the own flowers grew: most
    mappings fall by that alone. What the other planted only shows in its stages, every fifth turn.
    """

    def __init__(self, seat: Seat, seen: Sequence[str], rng: Random) -> None:
        self.seat = seat
        self.other = 1 - seat
        self.seen = tuple(seen)
        self.rng = rng
        self.spells = ""
        self.runes: dict[str, int] = {}
        """The own mapping."""
        self.plants: list[str] = []
        self.turns: list[_Told] = []
        self.stands: list[tuple[str, int, bool]] = []
        """What is known of the other's mapping: a symbol, an identity, and whether it stands for it."""
        self._read()

    def _read(self) -> None:
        conditions = []
        casts: list[str] = []
        pots: list[str] = []
        planted, effects = NONE, Effects()
        for line in self.seen:
            match line.split():
                case ["spell", _, *condition]:
                    conditions.append(" ".join(condition))
                case ["runes", _, *runes]:
                    self.runes = {rune[0]: int(rune[1]) for rune in runes}
                case ["planted", _, _, planted]:
                    self.plants.append(planted)
                case ["cast", who, symbol, *_]:
                    casts.append(symbol)
                    if int(who) - 1 == self.other and casts[-3:-2] == [symbol]:
                        self.stands.append((symbol, STALL, False))
                case ["effect", _, name, *numbers]:
                    if numbers:
                        known: dict[str, Any] = {name: int(numbers[-1])}
                        effects = effects._replace(**known)
                case ["pots", _, *pots]:
                    pass
                case ["guess", who, symbol, result]:
                    self._learn(int(who) - 1, symbol, result == "right", casts)
                case ["points", _, _]:
                    self.turns.append(_Told((casts[-2], casts[-1]), effects, planted, pots))
                    planted, effects = NONE, Effects()
        self.spells = "; ".join(conditions)

    def _learn(self, who: Seat, symbol: str, right: bool, casts: list[str]) -> None:
        """A declaration compares a symbol of the one with what the other cast on the turn before."""
        before = casts[who - 4]
        if who == self.seat:
            known = (symbol, self.runes[before], right)
        else:
            known = (before, self.runes[symbol], right)
        if (
            known[0],
            known[1],
            True,
        ) not in self.stands:  # guessed right before, it is wrong, and says nothing
            self.stands.append(known)

    def dream(self, start: FloralState) -> FloralState:
        """A position that agrees. Raises `ValueError`."""
        if start.rules.spells is None and self.spells:
            start = start.chance(self.spells)
        if not self.runes:
            return start
        spell = Spells.parse(self.spells).weather
        own = "".join(map(str, self.runes.values()))
        orders = list(permutations(range(8)))
        while orders:
            at = self.rng.below(len(orders))
            orders[at], orders[-1] = orders[-1], orders[at]
            order = orders.pop()
            runes = dict(zip(SYMBOLS[self.other], order, strict=True))
            if all((runes[symbol] == rune) == so for symbol, rune, so in self.stands) and self._grows(
                runes, spell
            ):
                theirs = "".join(map(str, order))
                both = f"{own} {theirs}" if self.seat == 0 else f"{theirs} {own}"
                if found := self._follow(start.chance(both), 0, 0):
                    return found
        raise ValueError("nothing agrees with what the seat was told")

    def _grows(self, runes: Mapping[str, int], spell: Condition) -> bool:
        """Whether the own flowers grew as they did, if the other has these runes. A quick look, which
        spares playing most mappings.
        """
        chain: tuple[int, ...] = ()
        weather = SUNNY
        pots: tuple[Flower | None, ...] = (None,) * POTS
        for number, told in enumerate(self.turns):
            rune = runes.get(told.casts[self.other])
            sabotaged = 0
            if rune is None:
                chain = ()
            elif rune != STALL:
                chain = (*chain[-4:], rune)
                if spell.holds(chain):
                    weather = number % 3 + 1
                if len(chain) > 1:
                    sabotaged = SABOTAGE.get(chain[-2] + rune, 0)
            weather = told.effects.weather or weather
            if told.planted != NONE:
                at = pots.index(None)
                pots = (*pots[:at], Flower(told.planted), *pots[at + 1 :])
            if pots != (None, None, None):
                pots, _ = _garden(pots, weather, told.effects, sabotaged)
                for flower, name in zip(pots, told.pots, strict=True):
                    if flower is not None and f"{flower.kind}{flower.stage}" != name:
                        return False
        return True

    def _follow(self, state: FloralState, told: int, planted: int) -> FloralState | None:
        """Plays on from a position, whose news agree up to `told` and `planted` own plantings, to the end
        of what the seat was told.
        """
        while True:
            own = state.trail.own(self.seat)
            if own != self.seen[told : told + len(own)]:
                return None
            told += len(own)
            if told == len(self.seen):
                return state
            if not state.acting:
                return None
            if not state.planting:
                casts = self.turns[state.turn].casts
                try:
                    state.read(self.other, casts[self.other])
                except Illegal:
                    return None
                state = state.play({0: casts[0], 1: casts[1]})
                continue
            moves = {}
            if self.seat in state.acting:
                moves[self.seat] = self.plants[planted]
                planted += 1
            if self.other not in state.acting:
                state = state.play(moves)
                continue
            kinds = list(state.legal(self.other))
            self.rng.shuffle(kinds)
            for kind in kinds:
                if found := self._follow(state.play({**moves, self.other: kind}), told, planted):
                    return found
            return None


class FloralExtract(Game[str]):
    """The rules of Floral Extract."""

    slug = "floral"
    name = "Floral Extract"
    rules = 1
    is_open = False
    options = (
        SpellsOption(
            "spells",
            "when Water, Fertilize and Weather are cast, as `set 3 {1,2,5}; sum 4 9-17; seq 3 < >=`",
        ),
        NumberOption("goal", 1, 5, 4, "correct guesses that win"),
        NumberOption("max_turns", 1, 1000, 200, "turns after which the one with more points wins"),
    )
    clock = TimeControl.parse("60s")
    summary = (
        "Each of two seats has eight symbols, which secretly stand for the runes 0 to 7. Before turns 1,\n"
        "6, 11 and so on each plants a flower; on each turn both cast a rune at once. Runes in the right\n"
        "order are spells that water, fertilize, change the weather or sabotage. A flower that blooms\n"
        "gives access to the guessing spell: cast the last runes all different, then name a symbol of\n"
        "the other seat's. It scores if it stands for the rune cast on the turn before. `goal` such\n"
        "guesses win. Where the time is up a default is submitted and play goes on."
    )
    notation = (
        "one character. Planting: the letter of a flower of A C H W X, or - for none. Casting: a symbol,\n"
        "A to H for seat 1 and S to Z for seat 2, or the digit of an own rune."
    )

    def seats(self, options: Options) -> int:
        """Two."""
        return 2

    def longest(self, options: Options) -> int:
        """A cast each a turn, and a planting each before every fifth."""
        turns = int(options["max_turns"])
        return 2 * (turns + (turns + TURNS - 1) // TURNS)

    def start(self, options: Options) -> FloralState:
        """Nothing planted, nothing drawn."""
        spells = Spells.parse(str(options["spells"])) if options["spells"] else None
        rules = Rules(spells, int(options["goal"]), int(options["max_turns"]))
        sides = (Side(SYMBOLS[0]), Side(SYMBOLS[1]))
        return FloralState(rules, sides, 0, SUNNY, False, None, Trail())

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> FloralState:
        """Tries the other seat's mappings, and for each what it may have planted, in a random order, until
        one agrees.
        """
        return _Dreamer(seat, seen, rng).dream(self.start(options))
