"""A random full position that fits a seat's news. Pure.

Which mappings and plantings of the other seat are consistent is found for all of them at once. A mapping of
the other's runes decides its spells and its sabotage on every turn, and with the seat's own effects the
weather. So given a mapping, only the other's plantings are unknown. One pass over the turns handles all
mappings at the same time: the weather, the other's last runes and the past of each flower are sets of the
mappings that lead to them. Mappings are removed where an own flower, or every flower that the other can have
planted, would differ from the news.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from referee.core.seeds import Random
from referee.games.api import Refusal, Seat
from referee.games.floral.gardens import FloralRules
from referee.games.floral.mappings import Mappings, Number, Set, added, every_mapping, selected
from referee.games.floral.news import TURNS, Dealt, SeatObservation, read
from referee.games.floral.sides import (
    FLOWERS,
    NONE,
    POTS,
    RAINY,
    SABOTAGE,
    STALL,
    SUNNY,
    SYMBOLS,
    WEATHERS,
    Flower,
)
from referee.games.floral.spells import Condition, Spells
from referee.games.floral.state import FloralState
from referee.games.trail import TrailLines

FEW = 5000  # sets of up to this many mappings are fast enough; more are narrowed down

NARROW = 8  # if less than one in this many mappings remains, the pass is restarted with the remaining ones

STRIKES = {pot: total for total, pot in SABOTAGE.items()}  # by pot, the sum of two runes that sabotages it

Flowers = dict[Flower, Set]  # the flowers that a pot may hold, each with the mappings under which it does


class Plantings(NamedTuple):
    """A way for the other to have planted, and the mappings that are consistent with it."""

    kinds: Mapping[int, str]  # kinds by the casting phase that followed, counted from 0
    mappings: Set


def consistent(observed: SeatObservation) -> tuple[Mappings, list[Plantings]]:
    """The mappings considered, and all possible plantings with their consistent subsets of these mappings."""
    mappings = every_mapping()
    while True:
        filtering = _Filter(mappings, observed)
        if filtering.run():
            return mappings, list(filtering.plantings())
        mappings = Mappings(list(mappings.chosen(filtering.left)))


class _Growth:
    """A flower of the other seat, tracked for each kind that it may be."""

    def __init__(self, phase: int, mappings: Set) -> None:
        self.phase = phase  # the casting phase before which it was planted
        self.flowers: dict[str, Flowers] = {kind: {Flower(kind): mappings} for kind in FLOWERS}
        self.bloomed: dict[str, dict[int, Set]] = {kind: {} for kind in FLOWERS}
        """By kind and turn, the mappings under which it bloomed then."""

    def grow(self, turn: int, influences: Sequence[_Influence]) -> None:
        for kind, flowers in self.flowers.items():
            if flowers:
                self.flowers[kind], bloomed = _grown(flowers, influences)
                if bloomed:
                    self.bloomed[kind][turn] = bloomed

    def mark(self, stage: str) -> Set:
        """Keeps what is consistent with a stage in the news. Returns the mappings under which any kind is."""
        for kind, flowers in self.flowers.items():
            if stage == NONE:
                self.flowers[kind] = {}
            else:
                self.bloomed[kind] = {}
                self.flowers[kind] = {
                    flower: those for flower, those in flowers.items() if str(flower.stage) == stage
                }
        return _union(map(self.mappings, FLOWERS))

    def mappings(self, kind: str) -> Set:
        """The mappings under which it can be of a kind."""
        return _union((*self.flowers[kind].values(), *self.bloomed[kind].values()))

    def bloomed_by(self, turn: int, kind: str) -> Set:
        """The mappings under which it has bloomed by the end of a turn, if it is of a kind."""
        return _union(those for bloomed, those in self.bloomed[kind].items() if bloomed <= turn)


class _Influence(NamedTuple):
    """What may affect a flower in one turn, and the mappings under which it does."""

    weather: int
    watered: bool
    fertilized: bool
    mappings: Set


class _Filter:
    """One pass over the turns."""

    def __init__(self, mappings: Mappings, observed: SeatObservation) -> None:
        self.mappings = mappings
        self.observed = observed
        self.left = mappings.all  # the mappings that are consistent so far
        spells = observed.spells
        self.chain: list[Number] = [(0, 0, 0)] * max(2, *(spell.length for spell in spells))
        """The other's last runes since its last declaration, without the stall spell, newest first."""
        self.longer: Number = (0,) * len(self.chain)
        """The mappings under which the chain has more than 0 runes, more than 1, and so on."""
        self.weathers = {weather: self.left if weather == SUNNY else 0 for weather in WEATHERS}
        self.own_flowers: list[Flowers] = [{}, {}, {}]
        self.other_flowers: list[_Growth | None] = [None] * POTS
        self.planted: list[_Growth] = []

    def run(self) -> bool:
        """Makes the pass. False where it should be restarted with the remaining mappings. Raises `ValueError`
        where none remain.
        """
        for symbol, identity, so in self.observed.facts:
            those = self.mappings.equal(self.mappings.runes[symbol], identity)
            self.left &= those if so else ~those
        if self._is_narrow():
            return False
        for number in range(1, self._last_turn() + 1):
            self._turn(number)
            if self._is_narrow():
                return False
        return True

    def _is_narrow(self) -> bool:
        if not self.left:
            raise ValueError("no mapping is consistent with the news")
        size = self.mappings.size
        return size > FEW and self.left.bit_count() * NARROW <= size

    def _last_turn(self) -> int:
        """The last turn whose news depend on the other's mapping."""
        last = max((picked.turn for picked in self.observed.picked), default=0)
        for number, turn in enumerate(self.observed.turns, 1):
            if turn.planted != NONE or turn.pots != (NONE,) * POTS:
                last = max(last, number + 1)
        for phase, marks in enumerate(self.observed.marks[1:], 1):
            if marks != (NONE,) * POTS:
                last = max(last, (phase + 1) * TURNS)
        return min(last, len(self.observed.turns))

    def _turn(self, number: int) -> None:
        turn = self.observed.turns[number - 1]
        phase, within = divmod(number - 1, TURNS)
        x = (number - 1) % 3 + 1
        if not within:
            self._plant(phase)
        if turn.planted != NONE:
            self.own_flowers[self.own_flowers.index({})] = {Flower(turn.planted): self.left}
        casts = self._cast(turn.casts[1 - self.observed.seat])
        if turn.effects.weather:
            self._set_weather(x, self.left)
        else:
            self._set_weather(x, self._where(self.observed.spells.weather, casts))
        for pot, flowers in enumerate(self.own_flowers, 1):
            if flowers:
                water = self.left if pot <= turn.effects.water else 0
                fertilize = self.left if pot == turn.effects.fertilize else 0
                influences = self._influences(water, fertilize, self._sabotage(pot, casts))
                self.own_flowers[pot - 1] = self._keep(*_grown(flowers, influences), turn.pots[pot - 1])
        if any(self.other_flowers):
            water = self._where(self.observed.spells.water, casts)
            fertilize = self._where(self.observed.spells.fertilize, casts)
            for pot, growth in enumerate(self.other_flowers, 1):
                if growth:
                    struck = self.left if pot == turn.effects.sabotage else 0
                    influences = self._influences(
                        water if pot <= x else 0, fertilize if pot == x else 0, struck
                    )
                    growth.grow(number, influences)
        if within == TURNS - 1:
            self._mark(phase)

    def _cast(self, symbol: str) -> Set:
        """Updates the other's chain. Returns the mappings under which a spell may have been cast."""
        if symbol in SYMBOLS[self.observed.seat]:
            self.longer = (0,) * len(self.longer)
            return 0
        rune = self.mappings.runes[SYMBOLS[1 - self.observed.seat].index(symbol)]
        stall = self.mappings.equal(rune, STALL) & self.left
        chain, longer = [rune, *self.chain[:-1]], (self.left, *self.longer[:-1])
        if stall:
            chain = [selected(stall, old, new) for old, new in zip(self.chain, chain, strict=True)]
            longer = selected(stall, self.longer, longer)
        self.chain, self.longer = chain, longer
        return self.left ^ stall

    def _where(self, spell: Condition, casts: Set) -> Set:
        """The mappings under which the other casts a spell."""
        casts &= self.longer[spell.length - 1]
        return casts and casts & self.mappings.holds(spell, self.chain)

    def _sabotage(self, pot: int, casts: Set) -> Set:
        """The mappings under which the other sabotages a pot of this seat."""
        casts &= self.longer[1]
        return casts and casts & self.mappings.equal(added(*self.chain[:2]), STRIKES[pot])

    def _set_weather(self, weather: int, changes: Set) -> None:
        stays = self.left & ~changes
        for other in self.weathers:
            self.weathers[other] &= stays
        self.weathers[weather] |= changes & self.left

    def _influences(self, water: Set, fertilize: Set, struck: Set) -> list[_Influence]:
        """What affects a pot in this turn, with the mappings."""
        spared = self.left ^ (self.left & struck)
        influences = []
        for weather, there in self.weathers.items():
            if not there:
                continue
            wet = there & spared if weather == RAINY else there & spared & water
            fed = there & spared & fertilize
            if not wet and not fed:
                influences.append(_Influence(weather, False, False, there))
                continue
            both = wet & fed
            for watered, fertilized, those in (
                (False, False, there ^ (wet | fed)),
                (True, False, wet ^ both),
                (False, True, fed ^ both),
                (True, True, both),
            ):
                if those:
                    influences.append(_Influence(weather, watered, fertilized, those))
        return influences

    def _keep(self, flowers: Flowers, bloomed: Set, name: str) -> Flowers:
        """Keeps what is consistent with an own pot in the news."""
        if name == NONE:
            self.left &= bloomed
            return {}
        kept = {flower: those for flower, those in flowers.items() if str(flower) == name}
        self.left &= _union(kept.values())
        return kept

    # --- The other's flowers ---------------------------------------------------------------------------

    def _plant(self, phase: int) -> None:
        """Handles a planting phase: what was planted shows in the stages after the following turns, since no
        flower blooms within them.
        """
        before, after = self._marks(phase)
        if after is None:
            if not self._matters(phase):
                self.other_flowers = [None] * POTS
            return
        for pot, (growth, stage) in enumerate(zip(self.other_flowers, after, strict=True)):
            if stage != NONE and not growth:
                if pot != before.index(NONE):
                    raise ValueError("a flower is planted in the leftmost empty pot")
                planted = _Growth(phase, self.left)
                self.other_flowers[pot] = planted
                self.planted.append(planted)

    def _marks(self, phase: int) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        marks = self.observed.marks
        return marks[phase], marks[phase + 1] if phase + 1 < len(marks) else None

    def _matters(self, phase: int) -> bool:
        """Whether a flower that bloomed in a phase can have given a charge."""
        return any((picked.turn - 1) // TURNS == phase for picked in self.observed.picked)

    def _mark(self, phase: int) -> None:
        """Handles the news of the other's stages after a casting phase."""
        stages = self.observed.marks[phase + 1]
        for pot, (growth, stage) in enumerate(zip(self.other_flowers, stages, strict=True)):
            if growth:
                self.left &= growth.mark(stage)
                if stage == NONE:
                    self.other_flowers[pot] = None

    def plantings(self) -> Iterator[Plantings]:
        """All consistent plantings."""
        if self.observed.other_plants and (
            len(self.planted) == len(FLOWERS) or NONE not in self.observed.marks[-1]
        ):
            return
        yield from self._continued([], self.left)

    def _continued(self, kinds: list[str], mappings: Set) -> Iterator[Plantings]:
        """The plantings that begin with these kinds, which are consistent under these mappings."""
        if not mappings:
            return
        if len(kinds) < len(self.planted):
            growth = self.planted[len(kinds)]
            for kind in FLOWERS:
                if kind not in kinds:
                    yield from self._continued([*kinds, kind], mappings & growth.mappings(kind))
            return
        for picked in self.observed.picked:
            mappings &= self._had_picked(picked.turn, picked.flowers, kinds)
        found = {growth.phase: kind for growth, kind in zip(self.planted, kinds, strict=True)}
        yield Plantings(found, mappings)
        turns = len(self.observed.turns)
        phase = turns // TURNS
        if self.observed.asked > phase * TURNS and NONE in self.observed.marks[-1]:
            # Planted before the current casting phase, it has not shown yet.
            for kind in FLOWERS:
                if kind not in kinds:
                    yield Plantings({**found, phase: kind}, mappings)

    def _had_picked(self, turn: int, flowers: int, kinds: Sequence[str]) -> Set:
        """The mappings under which at least `flowers` flowers of these kinds have bloomed by the end of a
        turn.
        """
        at_least = [self.left] + [0] * flowers
        for growth, kind in zip(self.planted, kinds, strict=True):
            bloomed = growth.bloomed_by(turn, kind)
            for count in range(flowers, 0, -1):
                at_least[count] |= at_least[count - 1] & bloomed
        return at_least[flowers]


def _grown(flowers: Flowers, influences: Sequence[_Influence]) -> tuple[Flowers, Set]:
    """The flowers that may be in a pot after a turn, and the mappings under which one bloomed."""
    after: Flowers = {}
    bloomed = 0
    for flower, those in flowers.items():
        for weather, watered, fertilized, there in influences:
            if both := those & there:
                grown = flower.grown(weather, watered, fertilized)
                if grown.blooms:
                    bloomed |= both
                else:
                    after[grown] = after.get(grown, 0) | both
    return after, bloomed


def _union(sets: Iterable[Set]) -> Set:
    found = 0
    for those in sets:
        found |= those
    return found


def imagined(start: FloralState, seat: Seat, seen: Sequence[str], rng: Random) -> FloralState:
    """One of all consistent positions, equally likely: they differ in the other's mapping and plantings.
    Raises `ValueError` where there is none.
    """
    if not seen:
        return start
    rules = start.rules
    try:
        worlds = _worlds(rules.spells, rules.goal, rules.max_turns, seat, tuple(seen))
    except (Refusal, LookupError, ValueError) as error:
        raise ValueError("no position is consistent with the news") from error
    return worlds.position(rng.below(worlds.ends[-1]))


class _Worlds(NamedTuple):
    """All consistent positions."""

    begun: FloralState  # before the mappings are drawn
    observed: SeatObservation
    mappings: Mappings
    ways: Sequence[Plantings]
    ends: Sequence[int]
    """By way of planting, the number of positions up to and with it."""

    def position(self, number: int) -> FloralState:
        """The position of a number, counted from 0."""
        at = bisect(self.ends, number)
        way = self.ways[at]
        number -= self.ends[at - 1] if at else 0
        return _played(self.begun, self.observed, self.mappings.pick(way.mappings, number), way)


@lru_cache(maxsize=8)  # a search repeats the same call
def _worlds(spells: Spells | None, goal: int, max_turns: int, seat: Seat, seen: TrailLines) -> _Worlds:
    """All consistent positions. Raises `ValueError`, `LookupError` or `Refusal` for impossible lines."""
    observed, mappings, ways = possible(seat, seen, goal, max_turns)
    ends = list(accumulate(way.mappings.bit_count() for way in ways))
    begun = FloralState.begun(FloralRules.of(spells, goal, max_turns))
    worlds = _Worlds(begun if spells else begun.chance(str(observed.spells)), observed, mappings, ways, ends)
    # What does not depend on the other's mapping and plantings is the same in all of them.
    position = worlds.position(0)
    if position.seen(seat) != seen:
        raise ValueError("the game goes differently from the news")
    while (before := position.before) and not isinstance(position.done, Dealt):
        for mover, move in position.done.items():
            before.read(mover, move)
        position = before
    return worlds


@lru_cache(maxsize=8)  # a search repeats the same call
def possible(
    seat: Seat, seen: TrailLines, goal: int, max_turns: int
) -> tuple[SeatObservation, Mappings, Sequence[Plantings]]:
    """What a seat observed, and the mappings and plantings of the other seat that are consistent with it.
    Raises `ValueError` or `LookupError` for impossible lines.
    """
    observed = read(seat, seen, goal, max_turns)
    return observed, *consistent(observed)


def _played(
    begun: FloralState, observed: SeatObservation, runes: Sequence[int], plantings: Plantings
) -> FloralState:
    """The observed game, with these runes and plantings of the other seat."""
    other_runes = "".join(map(str, runes))
    state = begun.chance(
        f"{observed.own_runes} {other_runes}" if observed.seat == 0 else f"{other_runes} {observed.own_runes}"
    )
    while acting := state.to_act():
        if state.planting:
            if observed.asked == state.turn:
                break
            kinds = {
                observed.seat: observed.plantings.get(state.turn, NONE),
                1 - observed.seat: plantings.kinds.get(state.turn // TURNS, NONE),
            }
            state = state.play({seat: kinds[seat] for seat in acting})
        elif state.turn == len(observed.turns):
            break
        else:
            state = state.play(dict(enumerate(observed.turns[state.turn].casts)))
    return state
