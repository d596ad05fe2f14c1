"""Plays Floral Extract: grows flowers by looking a few turns ahead, and deduces the other seat's runes.

From the growth of its own flowers it infers the weather and the sabotaged pots, and so what the other seat
may have cast. It keeps a sample of the mappings that agree with all news, and guesses a rune on which most
of them agree. A wrong guess makes the next charge cheaper, so it does not wait to be certain.
"""

import math
from collections import Counter
from functools import lru_cache
from itertools import pairwise, permutations
from operator import eq, ge, gt, le, lt
from typing import NamedTuple

from referee.protocol.bot import Game, play

SYMBOLS = ("ABCDEFGH", "STUVWXYZ")
BLOOMS_AT = {"A": 8, "C": 30, "H": 15, "W": 7, "X": 6}
SUNNY, CHILLY, RAINY = 1, 2, 3
RELATIONS = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}

FOLLOWED = 500  # Mappings in the sample: enough to recognize likely guesses.
TRIED = 5000  # Turns that are replayed per move to find more mappings: about 20 ms.
TRIED_PER_MS = 20  # Casts that are tried per millisecond available: about half of that time.
# The order of planting, by the weather: quick flowers first, since the guessing spell needs a picked one.
PLANTED = {SUNNY: "HACXW", CHILLY: "CXHAW", RAINY: "CXAWH"}
# The value of sunny, chilly and rainy weather for a flower; a full-grown one is worth 10, a picked one 15.
OUTLOOK = {"A": (3, -3, 0), "C": (0, 0, 2), "H": (4, -2, 0), "W": (2, -2, 2), "X": (0, 0.5, 0.5)}
DELAY = 0.2  # The cost of a delay by one turn.
GUESSED, DIFFERENT = 10, 1.5  # The value of a right guess, and of each different rune towards a charge.
GUESS_NOW = 0.7  # It guesses if the guess is at least this likely, relative to the best one.


class Flower(NamedTuple):
    """A flower in its pot; `met` has a bit for each triple that a xanthium has had."""

    kind: str
    stage: int = 0
    watered: bool = False
    grew: bool = True
    met: int = 0


class Spells(NamedTuple):
    """The effects of a cast."""

    water: bool = False
    fertilize: bool = False
    weather: bool = False
    sabotage: int = 0


Pots = tuple[Flower | None, ...]
Runes = tuple[int, ...]
Turn = tuple[int, str, Spells, int | None, tuple[int, ...]]
"""X, the flower planted before, own spells, the other's symbol by number, own stages (-1: no flower)."""
World = tuple[Runes, Runes, int, Pots]
"""A possible mapping of the other seat, and the chain, the weather and the own garden that follow."""


def planted(pots: Pots, kind: str) -> Pots:
    """The pots with a new flower in the leftmost empty one; unchanged if `kind` is empty."""
    at = pots.index(None) if kind else 0
    return (*pots[:at], Flower(kind), *pots[at + 1 :]) if kind else pots


def grown(flower: Flower, weather: int, watered: bool, fertilized: bool) -> Flower | None:
    """The flower after a turn; None if it bloomed."""
    kind, stage, watered_before, grew_before, met = flower
    grows = 0
    if kind == "A":
        grows = int(weather != CHILLY and not (watered and watered_before))
        stage -= not (grows or grew_before)
    elif kind == "C":
        grows = 1 + 2 * watered + 3 * fertilized
    elif kind == "H":
        grows = {SUNNY: 2, CHILLY: -1, RAINY: 0}[weather]
    elif kind == "W":
        lacks = (stage % 2 == 0 and not watered) or (stage % 3 == 0 and not fertilized)
        grows = int(weather != CHILLY and not (stage and lacks))
    else:
        triple = 1 << (4 * weather + 2 * watered + fertilized)
        grows, met = int(not met & triple), met | triple
    stage = max(0, stage + grows)
    return None if stage >= BLOOMS_AT[kind] else Flower(kind, stage, watered, grows > 0, met)


@lru_cache(1 << 16)
def tended(pots: Pots, x: int, weather: int, own: Spells, sabotaged: int = 0) -> Pots:
    """The pots after a turn."""
    wet = 3 if weather == RAINY else x if own.water else 0
    dry = x if own.fertilize else 0
    return tuple(
        flower and grown(flower, weather, sabotaged != pot <= wet, sabotaged != pot == dry)
        for pot, flower in enumerate(pots, 1)
    )


@lru_cache(1 << 10)
def beauty(pots: Pots, weather: int) -> float:
    """The value of a garden; an empty pot counts as a picked flower."""
    stages = ((f.kind, f.stage) if f else ("", 0) for f in pots)
    return sum(10 * n / BLOOMS_AT[kind] + OUTLOOK[kind][weather - 1] if kind else 15 for kind, n in stages)


def holds(condition: str, chain: Runes) -> bool:
    """Whether a condition holds for the end of a chain."""
    form, length, rest = condition.split(" ", 2)
    last = chain[-int(length) :]
    if len(last) < int(length):
        return False
    if form == "set":
        return all(str(rune) in rest for rune in last)
    if form == "sum":
        low, high = map(int, rest.split("-"))
        return low <= sum(last) <= high
    return all(RELATIONS[sign](*pair) for sign, pair in zip(rest.split(), pairwise(last), strict=True))


class Knowledge:
    """What the bot knows of a game."""

    def __init__(self, game: Game) -> None:
        self.me = game.seat - 1
        self.symbols = SYMBOLS[1 - self.me]  # Those of the other seat.
        self.heard = 0
        self.conditions: list[str] = []
        self.known_spells: dict[Runes, Spells] = {}
        self.runes: dict[str, int] = {}
        self.casts: list[list[str]] = [["", ""]]
        self.turns: list[Turn] = []
        self.plants = self.just_planted = ""
        self.chain: Runes = ()
        self.row: Runes = ()  # Own runes since the last declaration.
        self.points = self.picked = self.charge = self.k = 0
        self.right: set[str] = set()  # The symbols that either seat has guessed right.
        self.may_be = [
            set(range(8)) for _ in range(8)
        ]  # The identities that each symbol can have, by what the news says directly.
        self.untried = list(permutations(range(8)))
        game.random.shuffle(self.untried)
        self.worlds: list[World] = []

    def spells(self, chain: Runes) -> Spells:
        """The spells that the last rune of a chain casts; the chain has at most five runes."""
        if chain not in self.known_spells:
            pot = {8: 1, 10: 2, 12: 3}.get(sum(chain[-2:]), 0) if len(chain) > 1 else 0
            water, fertilize, weather = (holds(condition, chain) for condition in self.conditions)
            self.known_spells[chain] = Spells(water, fertilize, weather, pot)
        return self.known_spells[chain]

    def hear(self, news: list[str]) -> None:
        """Follows the news."""
        casts: list[str] = []
        for line in news[self.heard :]:
            match line.split():
                case ["spell", _, *condition]:
                    self.conditions.append(" ".join(condition))
                case ["runes", _, *runes]:
                    self.runes = {rune[0]: int(rune[1]) for rune in runes}
                case ["planted", _, _, letter] if letter != "-":
                    self.just_planted, self.plants = letter, self.plants + letter
                case ["cast", _, symbol, *_]:
                    casts.append(symbol)
                case ["pots", _, *pots]:
                    self.follow(casts, tuple(-1 if pot == "-" else int(pot[1:]) for pot in pots))
                    casts = []
                case ["guess", who, symbol, result]:
                    self.learn(int(who) - 1, symbol, result == "right")
                case ["points", *points]:
                    self.points = int(points[self.me])
                case ["stock", _, *stock]:
                    self.picked, self.charge, self.k = map(int, stock)
        self.heard = len(news)

    def learn(self, seat: int, symbol: str, right: bool) -> None:
        """Notes a declaration: whether the symbol and the seat's cast before it have the same identity."""
        before = self.casts[-2][seat]
        theirs, mine = (symbol, before) if seat == self.me else (before, symbol)
        at, rune = self.symbols.index(theirs), self.runes[mine]
        if right:
            self.may_be[at] = {rune}
            self.right.add(symbol)
        elif symbol not in self.right:  # A repeated guess is wrong in any case.
            self.may_be[at].discard(rune)

    def follow(self, casts: list[str], stages: tuple[int, ...]) -> None:
        """Notes a turn, and removes the worlds that do not agree with it."""
        mine, rune = Spells(), self.runes.get(casts[self.me])
        self.row = () if rune is None else (*self.row[-5:], rune)
        if rune is None:
            self.chain = ()
        elif rune:
            self.chain = (*self.chain[-4:], rune)
            mine = self.spells(self.chain)
        symbol = casts[1 - self.me]
        theirs = self.symbols.index(symbol) if symbol in self.symbols else None
        if theirs is not None and symbol == self.casts[-1][1 - self.me]:
            self.may_be[theirs].discard(0)  # Rune 0 is never cast twice in a row.
        self.casts.append(casts)
        self.turns.append((len(self.turns) % 3 + 1, self.just_planted, mine, theirs, stages))
        self.just_planted = ""
        self.worlds = [new for world in self.worlds if (new := self.after(world, self.turns[-1]))]

    def after(self, world: World, turn: Turn) -> World | None:
        """The world after a turn; None if the own flowers would have grown differently."""
        runes, chain, weather, pots = world
        x, kind, mine, symbol, stages = turn
        theirs = Spells()
        if symbol is None:
            chain = ()
        elif runes[symbol]:
            chain = (*chain[-4:], runes[symbol])
            theirs = self.spells(chain)
        if mine.weather or theirs.weather:
            weather = x
        pots = tended(planted(pots, kind), x, weather, mine, theirs.sabotage)
        agrees = tuple(flower.stage if flower else -1 for flower in pots) == stages
        return (runes, chain, weather, pots) if agrees else None

    def possible(self, runes: Runes) -> bool:
        """Whether a mapping agrees with what the news says directly."""
        return all(rune in may_be for rune, may_be in zip(runes, self.may_be, strict=True))

    def imagine(self) -> None:
        """Removes impossible worlds, and looks for more where too few remain."""
        self.worlds = [world for world in self.worlds if self.possible(world[0])]
        tries = TRIED
        while tries > 0 and self.untried and len(self.worlds) < FOLLOWED:
            world: World | None = (self.untried.pop(), (), SUNNY, (None, None, None))
            if world and self.possible(world[0]):
                for turn in self.turns:
                    tries -= 1
                    world = world and self.after(world, turn)
                    if not world:
                        break
                else:
                    self.worlds += [world] if world else []

    def chances(self) -> list[tuple[float, str]]:
        """For each rune the probability and the symbol of the best guess."""
        best = [(0.0, "")] * 8
        for at, (symbol, may_be) in enumerate(zip(self.symbols, self.may_be, strict=True)):
            count = Counter(world[0][at] for world in self.worlds)
            for rune in may_be if symbol not in self.right else ():
                chance = (count[rune] + 1 / len(may_be)) / (len(self.worlds) + 1)
                best[rune] = max(best[rune], (chance, symbol))
        return best

    def likely(self) -> tuple[int, Pots]:
        """The most common weather and own garden among the worlds."""
        if not self.worlds:
            return SUNNY, (None, None, None)
        (weather, pots), _ = Counter(world[2:] for world in self.worlds).most_common(1)[0]
        return weather, planted(pots, self.just_planted)

    def different(self, row: Runes) -> int:
        """The number of different runes at the end of a row that count for the guessing spell, at most k."""
        return next((n for n in range(min(self.k, len(row)), 0, -1) if len(set(row[-n:])) == n), 0)

    def plant(self) -> str:
        """The flower to plant."""
        return next((kind for kind in PLANTED[self.likely()[0]] if kind not in self.plants), "-")

    def cast(self, most: int) -> str:
        """The rune to cast: a guess, or the first cast of the shortest way to a charge; or, where a flower
        must be picked first, of the way to the best garden, relative to casting nothing. It searches as
        deep as `most` tried casts allow.
        """
        chances = self.chances()
        if self.charge and chances[self.row[-1]][0] >= GUESS_NOW * max(chances)[0]:
            return chances[self.row[-1]][1]
        guessing = self.picked > self.points
        weather, idle = self.likely()
        best = (False, -math.inf, 0)
        layer = {(self.chain[-4:], self.row, weather, idle): -1}
        # With the row the tree grows quickly, so three casts; without it, as many as a condition can need.
        for step in range(3 if guessing else max(int(condition.split()[1]) for condition in self.conditions)):
            x = (len(self.turns) + step) % 3 + 1
            idle = tended(idle, x, weather, Spells())
            base = beauty(idle, weather) + DELAY * step
            most -= 8 * len(layer)
            if step and most < 0:
                break
            before, layer = layer, {}
            for (chain, row, old_sky, pots), begin in before.items():
                for rune in range(1 if not guessing or row[-1:] == (0,) else 0, 8):
                    links = (*chain, rune) if rune else chain
                    spells = self.spells(links) if rune else Spells()
                    sky = x if spells.weather else old_sky
                    garden = tended(pots, x, sky, spells)
                    line = (*row[-5:], rune) if guessing else ()
                    value, charged = beauty(garden, sky) - base, False
                    if guessing:
                        different = self.different(line)
                        charged = bool(self.charge) or different == self.k
                        value += DIFFERENT * different + GUESSED * chances[rune][0]
                    first = rune if begin < 0 else begin
                    best = max(best, (charged, value, first))
                    layer[links[-4:], line, sky, garden] = first
            if best[0]:
                break
        return str(best[2])


known: list[Knowledge] = []


def start(game: Game) -> None:
    known[:] = [Knowledge(game)]


def choose(game: Game) -> str:
    knowledge = known[0]
    knowledge.hear(game.news)
    knowledge.imagine()
    most = TRIED_PER_MS * (game.allowance_ms + game.reserve_ms // 20)
    return knowledge.plant() if game.news[-1].startswith("plant ") else knowledge.cast(most)


if __name__ == "__main__":
    play(choose, start, only="floral")
