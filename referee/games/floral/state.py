"""The positions: who acts, what may be submitted, and the positions that follow. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from referee.core.seeds import Random
from referee.core.text import shown
from referee.core.value import value
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
from referee.games.floral.gardens import FloralRules, Gardens
from referee.games.floral.news import Asked, Dealt, FloralEvent, FloralTurn, Planted, lines
from referee.games.floral.picture import picture
from referee.games.floral.sides import FLOWERS, NONE, STALL, SYMBOLS, Effects, Side, blooms
from referee.games.floral.spells import Condition, Spells
from referee.games.picture import Picture
from referee.games.trail import Audience, Heard, Trail, TrailLines

_IDENTITIES = "01234567"


@value
class FloralState(State[str], Trail):
    """A position. A move is a letter of a flower, `-`, or a symbol."""

    gardens: Gardens
    done: Mapping[Seat, str] | Dealt  # what led here: submissions, or an outcome of chance
    before: FloralState | None
    heard: Heard
    left: frozenset[Seat]

    @classmethod
    def begun(cls, rules: FloralRules) -> FloralState:
        """The position with nothing planted and nothing drawn."""
        return cls(Gardens.begun(rules), {}, None, {}, frozenset())

    @property
    def rules(self) -> FloralRules:
        """What the states of one game share."""
        return self.gardens.rules

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides, which must not be changed."""
        return self.gardens.sides

    @property
    def turn(self) -> int:
        """The number of turns played."""
        return self.gardens.turn

    @property
    def weather(self) -> int:
        """The weather of the last turn."""
        return self.gardens.weather

    @property
    def planting(self) -> bool:
        """Whether flowers are planted now."""
        return self.gardens.planting

    def to_act(self) -> tuple[Seat, ...]:
        """Both seats, those that can plant, chance, or nobody."""
        return () if self.left else self.gardens.acting

    def _is_chance(self) -> bool:
        return self.to_act() in ((CHANCE,), (SHARED_CHANCE,))

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
        gardens = self.gardens.copy()
        gardens.submit(moves)
        return FloralState(gardens, dict(moves), self, {}, self.left)

    def legal(self, seat: Seat) -> Iterator[str]:
        """When planting, the kinds by letter, then none; when casting, own symbols in order, then guesses."""
        return iter(self.gardens.legal(seat))

    def count(self, seat: Seat) -> int:
        """How many legal moves there are."""
        return len(self.gardens.legal(seat))

    def parts(self, move: str) -> tuple[str, ...]:
        """A rune; what is planted is none."""
        return () if self.planting else (move,)

    def sample(self, seat: Seat, rng: Random) -> str:
        """A random legal move, uniform."""
        return rng.choice(self.gardens.legal(seat))

    def playout(self, rng: Random) -> Outcome:
        """As by `sample` and `play`, but in place."""
        if self._is_chance():
            return self.chance(self.draw(rng)).playout(rng)
        gardens = self.gardens.copy()
        legal, choice = gardens.legal, rng.choice
        while (acting := gardens.acting) and not self.left:
            gardens.submit({seat: choice(legal(seat)) for seat in acting})
        outcome = FloralState(gardens, {}, None, {}, self.left).outcome()
        assert outcome is not None, "nobody is to act"
        return outcome

    def default(self, seat: Seat) -> str:
        """The move for a seat whose time is up: plants nothing; casts rune 0 if legal, else rune 1."""
        if self.planting:
            return NONE
        side = self.sides[seat]
        return side.symbols[side.runes.index(1 if side.previous == STALL else STALL)]

    def draw(self, rng: Random) -> str:
        """Draws the conditions first, unless they are given, then both mappings."""
        if not self._is_chance():
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
        if not self._is_chance():
            raise BadChance(NOTHING_TO_DRAW)
        if self.rules.spells is None:
            try:
                spells = Spells.parse(text)
            except ValueError as error:
                raise BadChance(str(error)) from None
            flat = [spell for spell in spells if spell.form == "sum" and spell.numbers[0] == spell.numbers[1]]
            if str(spells) != text or flat:
                raise BadChance(f"`{shown(text, 80)}` is not a possible draw of conditions")
            rules = FloralRules.of(spells, self.rules.goal, self.rules.max_turns)
            return FloralState(Gardens.begun(rules), Dealt(None), self, {}, self.left)
        mappings = text.split(" ")
        if len(mappings) != 2 or any(sorted(mapping) != list(_IDENTITIES) for mapping in mappings):
            raise BadChance(f"`{shown(text, 80)}` is not two permutations of 0 to 7")
        one, other = (tuple(map(int, mapping)) for mapping in mappings)
        gardens = Gardens.begun(self.rules, (one, other))
        return FloralState(gardens, Dealt(self.rules.spells), self, {}, self.left)

    def drop(self, seats: Iterable[Seat]) -> FloralState:
        """The position with these seats gone, which ends the game."""
        left = self.left | frozenset(seats)
        return FloralState(self.gardens, {}, self, {}, left) if left else self

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """The lines that `protocol/games/floral.md` describes."""
        return self.lines(seat)

    def told(self, audience: Audience) -> TrailLines:
        """The news of what led here, with what is asked now."""
        before, done = self.before, self.done
        if before is None or self.left:  # leaving is not told
            return ()
        if isinstance(done, Dealt):
            event: FloralEvent = done
        else:
            event = Planted(done, before.sides) if before.planting else _turn_between(before, done, self)
        return lines(event, Asked(self.to_act(), self.planting, self.turn), self.sides, audience)

    def outcome(self) -> Outcome | None:
        """The seat that reaches the goal wins, or the one with more points after the last turn; a seat that
        left loses.
        """
        if self.to_act():
            return None
        scores = (self.sides[0].points, self.sides[1].points)
        more = [[0], [1]] if scores[0] > scores[1] else [[1], [0]] if scores[0] < scores[1] else [[0, 1]]
        if self.left:
            outcome = walkover(self.left, scores)
            return outcome if len(self.left) == 1 else outcome._replace(ranks=placing(2, more))
        if min(scores) >= self.rules.goal:
            winner = self.gardens.ahead or 0
            why = "has the advantage" if self.gardens.ahead is None else "had been ahead"
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

    def lead(self, seat: Seat) -> int:
        """In right guesses, which both seats are told."""
        return self.sides[seat].points - self.sides[1 - seat].points

    def picture(self, seat: Seat | None) -> Picture:
        """Each garden as far as the seat knows it, and what was done last."""
        return picture(self.sides, self.rules.goal, self.turn, self.weather, self.seen(seat), seat)


def _turn_between(before: FloralState, casts: Mapping[Seat, str], after: FloralState) -> FloralTurn:
    """What is reported of a turn."""
    effects, bloomed = [], []
    for seat, (side, then) in enumerate(zip(before.sides, after.sides, strict=True)):
        brought = side.copy().cast(casts[seat], before.sides[1 - seat].mapping, before.rules.brings)
        effects.append(Effects.of(brought, before.turn % 3 + 1, then.casts_guessing))
        bloomed.append(blooms(side.pots, then.pots))
    return FloralTurn(
        *(after.turn, (casts[0], casts[1]), (effects[0], effects[1]), after.weather),
        *((bloomed[0], bloomed[1]), before.sides, after.sides),
    )
