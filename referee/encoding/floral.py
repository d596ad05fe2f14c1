"""Floral Extract as numbers: a flower, a rune or a guess is an action; a submission is one of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from referee.encoding.api import TO_ACT, Action, Begun, Encoding, ObservationPart, Reading, acts, one_hot
from referee.games.api import Options, Seat
from referee.games.floral.news import TURNS
from referee.games.floral.sides import BLOOMS_AT, FIRST_GUESS, FLOWERS, NONE, POTS, SYMBOLS
from referee.games.floral.spells import Condition
from referee.games.floral.state import FloralState

_KINDS = "".join(FLOWERS)
_PLANTS = _KINDS + NONE
_RUNES = 8
_CASTS = len(_PLANTS)
_GUESSES = _CASTS + _RUNES
_REMEMBERED = 6
"""Turns whose casts are in an observation: a spell depends on no more."""
_FORMS = ("set", "sum", "seq")
_RELATIONS = ("<", "<=", "=", ">=", ">")
_MAX_LEFT = 4
"""Relations of the longest sequence."""
_HIGHEST_SUM = 35
_HIGHEST_STAGE = max(BLOOMS_AT.values())
_CONDITION = len(_FORMS) + 3 + 7 + 2 + _MAX_LEFT * len(_RELATIONS)
_CAST = 2 * _RUNES + 1


class FloralEncoding(Encoding[FloralState]):
    """The first actions plant A, C, H, W, X or nothing, the next eight cast the own runes 0 to 7, the last
    eight guess the other seat's symbols in their order.
    """

    def __init__(self, options: Options) -> None:
        self._goal = int(options["goal"])
        self._turns = int(options["max_turns"])
        self._reading = Reading(_KnownFloral)
        self.actions = _GUESSES + _RUNES
        cast = "the rune or symbol, one-hot; the symbol or rune guessed, one-hot; whether that was right"
        self.parts = (
            ObservationPart(
                "spells",
                (3, _CONDITION),
                "for Water, Fertilize and Weather: the form (set, sum, seq) and the length (3 to 5), "
                "one-hot; members 1 to 7 of a set; the bounds of a sum, as fractions of 35; the "
                "relations of a sequence, each one-hot",
            ),
            ObservationPart("planting", (1,), "whether flowers are planted now"),
            ObservationPart("time", (1,), "turns played, as a fraction of the maximum"),
            ObservationPart("number", (3,), "the X that spells use on the next turn, 1 to 3, one-hot"),
            ObservationPart("phase", (TURNS,), "turns played since flowers were planted, one-hot"),
            ObservationPart(
                "pots", (POTS, 6), "own pots: the kind, one-hot; the stage, as a fraction of that of a bloom"
            ),
            ObservationPart("planted", (5,), "the kinds that the seat has planted before"),
            ObservationPart(
                "stock",
                (5,),
                "picked flowers as a fraction of 5, a charge, the different runes needed as a fraction of 6, "
                "own points and the other seat's as fractions of the goal",
            ),
            ObservationPart(
                "effects",
                (13,),
                "own effects of the last turn: watered pots, the pot fertilized (one-hot), the weather "
                "made, the pot sabotaged, the guessing spell",
            ),
            ObservationPart("own_casts", (_REMEMBERED, _CAST), f"own casts, the most recent first: {cast}"),
            ObservationPart(
                "other_casts",
                (_REMEMBERED, _CAST),
                f"casts of the other seat, the most recent first: {cast}",
            ),
            ObservationPart(
                "known",
                (_RUNES, _RUNES),
                "by symbol of the other seat, and by rune: whether a right guess has revealed it",
            ),
            ObservationPart(
                "excluded",
                (_RUNES, _RUNES),
                "by symbol of the other seat, and by rune: whether a wrong guess has excluded it",
            ),
            ObservationPart("given_away", (_RUNES,), "own runes that the other seat has guessed correctly"),
            ObservationPart(
                "stages",
                (POTS, 2),
                "the other seat's pots as last reported: whether there is a flower, and its stage as a "
                "fraction of 30",
            ),
            TO_ACT,
        )

    def legal(self, state: FloralState, seat: Seat, begun: Begun) -> list[Action]:
        """What may be submitted."""
        return sorted(self.spelled(state, seat, move)[0] for move in state.legal(seat))

    def move(self, state: FloralState, seat: Seat, begun: Begun) -> str | None:
        """A submission."""
        (action,) = begun
        if action < _CASTS:
            return _PLANTS[action]
        if action < _GUESSES:
            side = state.sides[seat]
            return side.symbols[side.runes.index(action - _CASTS)]
        return SYMBOLS[1 - seat][action - _GUESSES]

    def spelled(self, state: FloralState, seat: Seat, move: str) -> Begun:
        """A single action."""
        if state.planting:
            return (_PLANTS.index(move),)
        if move in SYMBOLS[seat]:
            return (_CASTS + state.sides[seat].identity(move),)
        return (_GUESSES + SYMBOLS[1 - seat].index(move),)

    def values(self, state: FloralState, seat: Seat, begun: Begun) -> Mapping[str, ArrayLike]:
        """What follows from the news of the seat."""
        known = self._reading.known(seat, state.seen(seat))
        picked, charge, needed = known.stock
        own, other = known.points[seat], known.points[1 - seat]
        return {
            "spells": known.spells,
            "planting": known.planting,
            "time": known.turn / self._turns,
            "number": one_hot(known.turn % 3, 3),
            "phase": one_hot(known.turn % TURNS, TURNS),
            "pots": [_pot(text) for text in known.pots],
            "planted": [kind in known.planted for kind in _KINDS],
            "stock": [picked / 5, charge, needed / FIRST_GUESS, own / self._goal, other / self._goal],
            "effects": known.effects,
            "own_casts": _last(known.casts[seat]),
            "other_casts": _last(known.casts[1 - seat]),
            "known": known.identities,
            "excluded": known.excluded,
            "given_away": known.given_away,
            "stages": [_stage(text) for text in known.stages],
            "to_act": acts(state, seat),
        }


def _pot(text: str) -> list[float]:
    """An own pot, from its kind and stage such as `A3`."""
    if text == NONE:
        return [0.0] * 6
    return [*one_hot(_KINDS.index(text[0]), 5), int(text[1:]) / BLOOMS_AT[text[0]]]


def _stage(text: str) -> list[float]:
    """A pot of the other seat, from its stage."""
    return [0.0, 0.0] if text == NONE else [1.0, int(text) / _HIGHEST_STAGE]


def _last(casts: list[list[int]]) -> list[list[int]]:
    """The last casts, the newest first."""
    missing = [[0] * _CAST] * (_REMEMBERED - len(casts))
    return [*reversed(casts[-_REMEMBERED:]), *missing]


def _condition(text: str) -> list[float]:
    condition = Condition.parse(text)
    form, numbers = condition.form, condition.numbers
    relations = [one_hot(_RELATIONS.index(relation), 5) for relation in condition.relations]
    relations += [[0] * 5] * (_MAX_LEFT - len(relations))
    return [
        *one_hot(_FORMS.index(form), len(_FORMS)),
        *one_hot(condition.length - 3, 3),
        *(float(form == "set" and member in numbers) for member in range(1, 8)),
        *(number / _HIGHEST_SUM for number in (numbers if form == "sum" else (0, 0))),
        *(value for relation in relations for value in relation),
    ]


class _KnownFloral:
    """What a seat knows, from its news."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._runes: dict[str, int] = {}
        self.spells = np.zeros((3, _CONDITION), np.float32)
        self._heard = 0
        self.planting = False
        self.turn = 0
        """Turns played."""
        self.pots = [NONE] * POTS
        self.planted = ""
        self.points = [0, 0]
        self.stock = (0, 0, FIRST_GUESS)
        self.stages = [NONE] * POTS
        self.effects = [0.0] * 13
        self.casts: tuple[list[list[int]], list[list[int]]] = ([], [])
        """By seat, oldest first."""
        self._previous = -1
        """The own rune that was cast in the turn before; -1 for none."""
        self._symbol = ""
        """The own cast of the turn that is being read."""
        self.identities, self.excluded = (np.zeros((_RUNES, _RUNES), np.float32) for _ in range(2))
        self.given_away = [0] * _RUNES

    def hear(self, words: list[str]) -> None:  # noqa: C901 - one case for each word
        match words:
            case ["spell", _, *condition]:
                self.spells[self._heard] = _condition(" ".join(condition))
                self._heard += 1
            case ["runes", _, *runes]:
                self._runes = {rune[0]: int(rune[1]) for rune in runes}
            case ["plant", _, _]:
                self.planting = True
            case ["planted", _, pot, kind]:
                self.planting = False
                if kind != NONE:
                    self.pots[int(pot) - 1] = f"{kind}0"
                    self.planted += kind
            case ["turn", _]:
                self.planting = False
            case ["cast", number, symbol, *_]:
                self._cast(int(number) - 1, symbol)
            case ["effect", _, name, *numbers]:
                self._effect(name, [int(number) for number in numbers])
            case ["pots", _, *pots]:
                self.pots = pots
            case ["guess", number, symbol, result]:
                self._guess(int(number) - 1, symbol, result == "right")
            case ["points", *points]:
                self.points = [int(number) for number in points]
                self.turn += 1
                self._previous = self._runes.get(self._symbol, -1)
            case ["stock", _, *stock]:
                self.stock = (int(stock[0]), int(stock[1]), int(stock[2]))
            case ["stages", _, *stages]:
                self.stages = stages

    def _cast(self, who: Seat, symbol: str) -> None:
        if who == 0:
            self.effects = [0.0] * 13  # the first line of a turn
        number = self._number(symbol)
        guessed = symbol not in SYMBOLS[who]
        cast = [*one_hot(-1 if guessed else number, _RUNES), *one_hot(number if guessed else -1, _RUNES), 0]
        self.casts[who].append(cast)
        if who == self._seat:
            self._symbol = symbol

    def _number(self, symbol: str) -> int:
        """The rune of an own symbol, or the place of another among the other seat's."""
        if symbol in self._runes:
            return self._runes[symbol]
        return SYMBOLS[1 - self._seat].index(symbol)

    def _effect(self, name: str, numbers: list[int]) -> None:
        begins = {"water": 0, "fertilize": 3, "weather": 6, "sabotage": 9}
        if name == "guessing":
            self.effects[12] = 1
        for number in numbers:
            self.effects[begins[name] + number - 1] = 1

    def _guess(self, who: Seat, symbol: str, right: bool) -> None:
        self.casts[who][-1][-1] = int(right)
        number = self._number(symbol)
        if who != self._seat:
            self.given_away[number] |= right
        elif right:
            self.identities[number, self._previous] = 1
        elif self._previous >= 0 and not self.identities[number].any():
            self.excluded[number, self._previous] = 1
