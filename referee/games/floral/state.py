"""The positions of Floral Extract: who acts, what may be submitted, and the positions that follow. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from referee.core.seeds import Random
from referee.core.text import shown
from referee.games.api import (
    CHANCE,
    NOTHING_TO_DRAW,
    SHARED_CHANCE,
    BadChance,
    Illegal,
    NotAMove,
    Outcome,
    Seat,
    State,
    placing,
    walkover,
)
from referee.games.floral.news import TURNS, Asked, Dealt, FloralEvent, FloralTurn, Planted, lines
from referee.games.floral.picture import picture
from referee.games.floral.sides import FLOWERS, NONE, STALL, SUNNY, SYMBOLS, Side, effects, pots_after_turn
from referee.games.floral.spells import Condition, Spells
from referee.games.picture import Picture
from referee.games.trail import Trail

_IDENTITIES = "01234567"


@dataclass(frozen=True, slots=True)
class FloralRules:
    """What the states of one game share."""

    spells: Spells | None  # none before they are drawn
    goal: int
    max_turns: int


@dataclass(frozen=True, slots=True, eq=False)
class FloralState(State[str]):
    """A position: the phase, both sides, the weather. A move is a letter of a flower, `-`, or a symbol."""

    rules: FloralRules
    sides: tuple[Side, Side]
    turn: int  # the number of turns played
    weather: int
    planting: bool
    ahead: Seat | None  # the seat that had more points when they last differed; None if they never did
    acting: tuple[Seat, ...]
    trail: Trail
    left: frozenset[Seat] = frozenset()

    @classmethod
    def begun(cls, rules: FloralRules) -> FloralState:
        """The position with nothing planted and nothing drawn."""
        sides = (Side(SYMBOLS[0]), Side(SYMBOLS[1]))
        return cls(rules, sides, 0, SUNNY, False, None, _acting(rules, sides, 0, False), Trail())

    def _then(
        self, event: FloralEvent, rules: FloralRules, sides: tuple[Side, Side], ahead: Seat | None
    ) -> FloralState:
        turn, weather = self.turn, self.weather
        if isinstance(event, FloralTurn):
            turn, weather = event.number, event.weather
        planting = (
            not isinstance(event, Planted) and turn % TURNS == 0 and any(side.can_plant for side in sides)
        )
        acting = _acting(rules, sides, turn, planting)
        trail = Trail(self.trail, partial(lines, event, Asked(acting, planting, turn), sides))
        return FloralState(rules, sides, turn, weather, planting, ahead, acting, trail)

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
        """The move itself, which is text."""
        return move

    def play(self, moves: Mapping[Seat, str]) -> FloralState:
        """Applies both submissions at once."""
        if self.planting:
            one, other = self.sides
            sides = (one.after_planting(moves.get(0)), other.after_planting(moves.get(1)))
            return self._then(Planted(dict(moves), self.sides), self.rules, sides, self.ahead)
        turn = self._turn((moves[0], moves[1]))
        one, other = turn.after
        ahead = self.ahead if one.points == other.points else 0 if one.points > other.points else 1
        return self._then(turn, self.rules, turn.after, ahead)

    def _turn(self, casts: tuple[str, str]) -> FloralTurn:
        number = self.turn + 1
        x = (number - 1) % 3 + 1
        before = self.sides
        cast = (before[0].after_cast(casts[0]), before[1].after_cast(casts[1]))
        spells = self.rules.spells
        assert spells is not None, "drawn before anything is cast"
        brought = [effects(cast[0], spells, x), effects(cast[1], spells, x)]
        weather = x if brought[0].weather or brought[1].weather else self.weather
        after, bloomed = [], []
        for seat in (0, 1):
            own, struck = brought[seat], brought[1 - seat].sabotage
            pots, blooming = pots_after_turn(cast[seat].pots, weather, own.water, own.fertilize, struck)
            side, guessing = cast[seat].after_turn(
                before[seat], pots, len(blooming), casts[seat], before[1 - seat]
            )
            if guessing:
                brought[seat] = own._replace(guessing=True)
            after.append(side)
            bloomed.append(blooming)
        return FloralTurn(
            *(number, casts, (brought[0], brought[1]), weather),
            *((bloomed[0], bloomed[1]), before, (after[0], after[1])),
        )

    def legal(self, seat: Seat) -> Iterator[str]:
        """When planting, the kinds by letter, then none; when casting, own symbols in order, then guesses."""
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
        """How many legal moves there are."""
        return sum(1 for _ in self.legal(seat))

    def sample(self, seat: Seat, rng: Random) -> str:
        """A random legal move, uniform."""
        return rng.choice(tuple(self.legal(seat)))

    def default(self, seat: Seat) -> str:
        """The move for a seat whose time is up: plants nothing; casts rune 0 if legal, else rune 1."""
        if self.planting:
            return NONE
        side = self.sides[seat]
        return side.symbols[side.runes.index(1 if side.previous == STALL else STALL)]

    def draw(self, rng: Random) -> str:
        """Draws the conditions first, unless they are given, then both mappings."""
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
        """Takes conditions as the option has them, or mappings as the identities of each seat's symbols."""
        if self.acting not in ((CHANCE,), (SHARED_CHANCE,)):
            raise BadChance(NOTHING_TO_DRAW)
        if self.rules.spells is None:
            try:
                spells = Spells.parse(text)
            except ValueError as error:
                raise BadChance(str(error)) from None
            flat = [spell for spell in spells if spell.form == "sum" and spell.numbers[0] == spell.numbers[1]]
            if str(spells) != text or flat:
                raise BadChance(f"`{shown(text, 80)}` is not a possible draw of conditions")
            return self._then(Dealt(None), replace(self.rules, spells=spells), self.sides, self.ahead)
        mappings = text.split(" ")
        if len(mappings) != 2 or any(sorted(mapping) != list(_IDENTITIES) for mapping in mappings):
            raise BadChance(f"`{shown(text, 80)}` is not two permutations of 0 to 7")
        one, other = (Side(symbols, tuple(map(int, m))) for symbols, m in zip(SYMBOLS, mappings, strict=True))
        return self._then(Dealt(self.rules.spells), self.rules, (one, other), self.ahead)

    def drop(self, seats: Iterable[Seat]) -> FloralState:
        """The position with these seats gone, which ends the game."""
        left = self.left | frozenset(seats)
        return replace(self, left=left, acting=() if left else self.acting)

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """The lines that `protocol/games/floral.md` describes."""
        return self.trail.lines(seat)

    def outcome(self) -> Outcome | None:
        """The seat that reaches the goal wins, or the one with more points after the last turn; a seat that
        left loses.
        """
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
        """Each garden as far as the seat knows it, and what was done last."""
        return picture(self.sides, self.rules.goal, self.turn, self.weather, self.seen(seat), seat)


def _acting(rules: FloralRules, sides: tuple[Side, Side], turn: int, planting: bool) -> tuple[Seat, ...]:
    """Who acts, if no seat has left."""
    one, other = sides
    if max(one.points, other.points) >= rules.goal or turn == rules.max_turns:
        return ()
    if rules.spells is None:
        return (SHARED_CHANCE,)
    if not one.runes:
        return (CHANCE,)
    if planting:
        return tuple(seat for seat in (0, 1) if sides[seat].can_plant)
    return (0, 1)
