"""Which mappings and plantings of the other seat agree with what a seat was told: all of them, as sets.

A mapping of the other's runes decides its spells and its sabotage on every turn, and with the own effects
the weather. So for one mapping everything is decided but what the other planted. The turns are gone
through once, with all mappings at the same time: the weather, the other's last runes and the past of each
flower are kept as sets of the mappings that lead to them, and mappings fall where an own flower, or every
flower that the other can have planted, would stand differently than it was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from referee.games.floral.flowers import FLOWERS, NONE, POTS, RAINY, SUNNY, WEATHERS, Flower
from referee.games.floral.mappings import Mappings, Number, Set, added, every_mapping, selected
from referee.games.floral.news import TURNS
from referee.games.floral.sides import SABOTAGE, STALL, SYMBOLS
from referee.games.floral.spells import Condition
from referee.games.floral.told import Told

FEW = 5000
"""Sets of so many mappings are quick enough; a larger number is worth narrowing down."""

NARROW = 8
"""Where fewer mappings than one in so many are left, the turns are gone through anew with those alone."""

STRIKES = {pot: total for total, pot in SABOTAGE.items()}
"""The sum of two runes that strikes a pot."""

Flowers = dict[Flower, Set]
"""What a pot may hold, each with the mappings under which it does."""


class Plantings(NamedTuple):
    """What the other may have planted, and the mappings under which that agrees."""

    kinds: Mapping[int, str]
    """By the casting phase that followed, counted from 0."""
    mappings: Set


def agreeing(told: Told) -> tuple[Mappings, list[Plantings]]:
    """The mappings that are still considered, and every way to plant, with those under which it agrees."""
    mappings = every_mapping()
    while True:
        filtering = _Filter(mappings, told)
        if filtering.run():
            return mappings, list(filtering.plantings())
        mappings = Mappings(list(mappings.chosen(filtering.left)))


class _Growth:
    """A flower of the other's, for each kind that it may be."""

    def __init__(self, phase: int, mappings: Set) -> None:
        self.phase = phase
        """The casting phase before which it was planted."""
        self.flowers: dict[str, Flowers] = {kind: {Flower(kind): mappings} for kind in FLOWERS}
        self.bloomed: dict[str, dict[int, Set]] = {kind: {} for kind in FLOWERS}
        """The turns on which it may have bloomed."""

    def grow(self, turn: int, days: Sequence[_Day]) -> None:
        for kind, flowers in self.flowers.items():
            if flowers:
                self.flowers[kind], bloomed = _grown(flowers, days)
                if bloomed:
                    self.bloomed[kind][turn] = bloomed

    def mark(self, stage: str) -> Set:
        """Keeps what agrees with a stage that was told: the mappings under which anything does."""
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
        """Where it can be of a kind."""
        return _union((*self.flowers[kind].values(), *self.bloomed[kind].values()))

    def bloomed_by(self, turn: int, kind: str) -> Set:
        """Where it had bloomed at the end of a turn, if it is of a kind."""
        return _union(those for bloomed, those in self.bloomed[kind].items() if bloomed <= turn)


class _Day(NamedTuple):
    """What may befall a flower on one turn, and where it does."""

    weather: int
    watered: bool
    fertilized: bool
    mappings: Set


class _Filter:
    """One way through the turns."""

    def __init__(self, mappings: Mappings, told: Told) -> None:
        self.mappings = mappings
        self.told = told
        self.left = mappings.all
        """What agrees so far."""
        spells = told.spells
        self.chain: list[Number] = [(0, 0, 0)] * max(2, *(spell.length for spell in spells))
        """The other's last runes but the stall spell since its last declaration, the newest first."""
        self.longer: Number = (0,) * len(self.chain)
        """Where they are more than 0, more than 1, and so on."""
        self.weathers = {weather: self.left if weather == SUNNY else 0 for weather in WEATHERS}
        self.own: list[Flowers] = [{}, {}, {}]
        self.theirs: list[_Growth | None] = [None] * POTS
        self.planted: list[_Growth] = []

    def run(self) -> bool:
        """Goes through the turns. False where it is better to begin anew with what is left. Raises
        `ValueError` where nothing is.
        """
        for symbol, identity, so in self.told.facts:
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
            raise ValueError("no mapping agrees with what the seat was told")
        size = self.mappings.size
        return size > FEW and self.left.bit_count() * NARROW <= size

    def _last_turn(self) -> int:
        """The last turn on which anything was told that depends on the other's mapping."""
        last = max((picked.turn for picked in self.told.picked), default=0)
        for number, turn in enumerate(self.told.turns, 1):
            if turn.planted != NONE or turn.pots != (NONE,) * POTS:
                last = max(last, number + 1)
        for phase, marks in enumerate(self.told.marks[1:], 1):
            if marks != (NONE,) * POTS:
                last = max(last, (phase + 1) * TURNS)
        return min(last, len(self.told.turns))

    def _turn(self, number: int) -> None:
        told = self.told.turns[number - 1]
        phase, within = divmod(number - 1, TURNS)
        x = (number - 1) % 3 + 1
        if not within:
            self._plant(phase)
        if told.planted != NONE:
            self.own[self.own.index({})] = {Flower(told.planted): self.left}
        casts = self._cast(told.casts[1 - self.told.seat])
        if told.effects.weather:
            self._set_weather(x, self.left)
        else:
            self._set_weather(x, self._where(self.told.spells.weather, casts))
        for pot, flowers in enumerate(self.own, 1):
            if flowers:
                water = self.left if pot <= told.effects.water else 0
                fertilize = self.left if pot == told.effects.fertilize else 0
                days = self._days(water, fertilize, self._sabotage(pot, casts))
                self.own[pot - 1] = self._keep(*_grown(flowers, days), told.pots[pot - 1])
        if any(self.theirs):
            water = self._where(self.told.spells.water, casts)
            fertilize = self._where(self.told.spells.fertilize, casts)
            for pot, growth in enumerate(self.theirs, 1):
                if growth:
                    struck = self.left if pot == told.effects.sabotage else 0
                    days = self._days(water if pot <= x else 0, fertilize if pot == x else 0, struck)
                    growth.grow(number, days)
        if within == TURNS - 1:
            self._mark(phase)

    def _cast(self, symbol: str) -> Set:
        """Follows the other's chain. Gives the mappings under which a spell may have been cast."""
        if symbol in SYMBOLS[self.told.seat]:
            self.longer = (0,) * len(self.longer)
            return 0
        rune = self.mappings.runes[SYMBOLS[1 - self.told.seat].index(symbol)]
        stall = self.mappings.equal(rune, STALL) & self.left
        chain, longer = [rune, *self.chain[:-1]], (self.left, *self.longer[:-1])
        if stall:
            chain = [selected(stall, old, new) for old, new in zip(self.chain, chain, strict=True)]
            longer = selected(stall, self.longer, longer)
        self.chain, self.longer = chain, longer
        return self.left ^ stall

    def _where(self, spell: Condition, casts: Set) -> Set:
        """Where the other casts a spell."""
        casts &= self.longer[spell.length - 1]
        return casts and casts & self.mappings.holds(spell, self.chain)

    def _sabotage(self, pot: int, casts: Set) -> Set:
        """Where the other strikes a pot of the seat's."""
        casts &= self.longer[1]
        return casts and casts & self.mappings.equal(added(*self.chain[:2]), STRIKES[pot])

    def _set_weather(self, weather: int, changes: Set) -> None:
        stays = self.left & ~changes
        for other in self.weathers:
            self.weathers[other] &= stays
        self.weathers[weather] |= changes & self.left

    def _days(self, water: Set, fertilize: Set, struck: Set) -> list[_Day]:
        """What befalls a pot, where."""
        spared = self.left ^ (self.left & struck)
        days = []
        for weather, there in self.weathers.items():
            if not there:
                continue
            wet = there & spared if weather == RAINY else there & spared & water
            fed = there & spared & fertilize
            if not wet and not fed:
                days.append(_Day(weather, False, False, there))
                continue
            both = wet & fed
            for watered, fertilized, those in (
                (False, False, there ^ (wet | fed)),
                (True, False, wet ^ both),
                (False, True, fed ^ both),
                (True, True, both),
            ):
                if those:
                    days.append(_Day(weather, watered, fertilized, those))
        return days

    def _keep(self, flowers: Flowers, bloomed: Set, name: str) -> Flowers:
        """What agrees with an own pot as it was told."""
        if name == NONE:
            self.left &= bloomed
            return {}
        kept = {flower: those for flower, those in flowers.items() if str(flower) == name}
        self.left &= _union(kept.values())
        return kept

    # --- The other's flowers ---------------------------------------------------------------------------

    def _plant(self, phase: int) -> None:
        """A planting phase: what was planted shows in the stages after the turns that follow, since no
        flower blooms within them.
        """
        before, after = self._marks(phase)
        if after is None:
            if not self._matters(phase):
                self.theirs = [None] * POTS
            return
        for pot, (growth, stage) in enumerate(zip(self.theirs, after, strict=True)):
            if stage != NONE and not growth:
                if pot != before.index(NONE):
                    raise ValueError("a flower is planted in the leftmost empty pot")
                planted = _Growth(phase, self.left)
                self.theirs[pot] = planted
                self.planted.append(planted)

    def _marks(self, phase: int) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        marks = self.told.marks
        return marks[phase], marks[phase + 1] if phase + 1 < len(marks) else None

    def _matters(self, phase: int) -> bool:
        """Whether a flower that bloomed in a phase can have brought a charge."""
        return any((picked.turn - 1) // TURNS == phase for picked in self.told.picked)

    def _mark(self, phase: int) -> None:
        """What was told of the other's stages after a casting phase."""
        stages = self.told.marks[phase + 1]
        for pot, (growth, stage) in enumerate(zip(self.theirs, stages, strict=True)):
            if growth:
                self.left &= growth.mark(stage)
                if stage == NONE:
                    self.theirs[pot] = None

    def plantings(self) -> Iterator[Plantings]:
        """Every way to plant that agrees."""
        if self.told.other_plants and (len(self.planted) == len(FLOWERS) or NONE not in self.told.marks[-1]):
            return
        yield from self._continued([], self.left)

    def _continued(self, kinds: list[str], mappings: Set) -> Iterator[Plantings]:
        """The ways to plant that begin with these kinds, which agree under these mappings."""
        if not mappings:
            return
        if len(kinds) < len(self.planted):
            growth = self.planted[len(kinds)]
            for kind in FLOWERS:
                if kind not in kinds:
                    yield from self._continued([*kinds, kind], mappings & growth.mappings(kind))
            return
        for picked in self.told.picked:
            mappings &= self._had_picked(picked.turn, picked.flowers, kinds)
        found = {growth.phase: kind for growth, kind in zip(self.planted, kinds, strict=True)}
        yield Plantings(found, mappings)
        turns = len(self.told.turns)
        phase = turns // TURNS
        if self.told.asked > phase * TURNS and NONE in self.told.marks[-1]:
            # Planted before the casting phase that is on, it has not shown yet.
            for kind in FLOWERS:
                if kind not in kinds:
                    yield Plantings({**found, phase: kind}, mappings)

    def _had_picked(self, turn: int, flowers: int, kinds: Sequence[str]) -> Set:
        """Where so many flowers of these kinds had bloomed at the end of a turn."""
        at_least = [self.left] + [0] * flowers
        for growth, kind in zip(self.planted, kinds, strict=True):
            bloomed = growth.bloomed_by(turn, kind)
            for count in range(flowers, 0, -1):
                at_least[count] |= at_least[count - 1] & bloomed
        return at_least[flowers]


def _grown(flowers: Flowers, days: Sequence[_Day]) -> tuple[Flowers, Set]:
    """The flowers that are in a pot after a turn, and where it bloomed."""
    after: Flowers = {}
    bloomed = 0
    for flower, those in flowers.items():
        for weather, watered, fertilized, there in days:
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
