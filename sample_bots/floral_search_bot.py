from __future__ import annotations

import argparse
from functools import lru_cache
from typing import Any, NamedTuple, cast

from referee.games.floral.flowers import BLOOMS_AT, NONE, Pots, pots_after_turn, with_flower
from referee.games.floral.imagining import possible
from referee.games.floral.news import TURNS
from referee.games.floral.sides import CHAIN, FIRST_GUESS, STALL, SYMBOLS, Effects, Side, effects
from referee.games.floral.spells import Spells
from referee.games.floral.state import FloralState
from referee.kit import Follower, Quick
from referee.protocol.bot import Game, play

# Values, in turns that they save.
POINT = 9.0
CHARGED = 0.7
"""The share of a likely guess that counts before it is made."""
FLOWER = 10.0
"""A picked flower, as long as more are needed; a growing one is worth its share."""
DIFFERENT = 1.0
"""Each different rune towards a charge."""

ORDER = "HACXW"
"""The order of planting that plans assume."""

GUESS = -1
"""A declaration, among casts that are identities of runes."""


class World(NamedTuple):
    """The part of an imagined position that follows from this seat's casts."""

    weather: int
    pots: Pots
    planted: str
    picked: int
    charge: bool


class Plan(NamedTuple):
    """Some casts, and what they lead to in every world."""

    first: int
    chain: tuple[int, ...]
    row: tuple[int, ...]
    points: float
    """Expected."""
    spent: float
    """The runes that the charges took which were used for guesses."""
    guessed: tuple[int, ...]
    """The runes that were guessed in this plan."""
    worlds: tuple[World, ...]


@lru_cache(1 << 16)
def grown(pots: Pots, weather: int, water: int, fertilize: int, sabotaged: int) -> tuple[Pots, int]:
    """The pots after a turn, and how many flowers were picked."""
    after, bloomed = pots_after_turn(pots, weather, water, fertilize, sabotaged)
    return after, len(bloomed)


@lru_cache(1 << 16)
def beauty(pots: Pots, needed: int) -> float:
    """The growth of the best flowers, as many as are needed."""
    shares = sorted((flower.stage / BLOOMS_AT[flower.kind] for flower in pots if flower), reverse=True)
    return sum(shares[: max(0, needed)])


@lru_cache(1 << 16)
def different(row: tuple[int, ...], most: int) -> int:
    """How many runes at the end of a row are different, at most `most`."""
    lengths = range(min(most, len(row)), 0, -1)
    return next((length for length in lengths if len(set(row[-length:])) == length), 0)


@lru_cache(1 << 16)
def brought(spells: Spells, chain: tuple[int, ...], x: int) -> Effects:
    """What the last cast of a chain brings besides the guessing spell."""
    return effects(Side("", chain=chain, previous=chain[-1]), spells, x)


class Search:
    """The search of one cast."""

    def __init__(self, states: list[FloralState], seat: int, rng: Quick, depth: int) -> None:
        state = states[0]
        assert state.rules.spells is not None
        self.spells = state.rules.spells
        self.goal = state.rules.goal
        self.turn = state.turn
        self.side = state.sides[seat]
        self.k = self.side.needed
        self.depth = depth
        self.worlds = tuple(
            World(s.weather, s.sides[seat].pots, self.side.planted, self.side.picked, self.side.charge)
            for s in states
        )
        self.others = [self.expected(s.sides[1 - seat], rng) for s in states]
        """By world and turn, what the other seat brings about."""
        self.chances = [0.0] * 8
        """By own rune, how likely the best guess with it is right."""

    def expected(self, other: Side, rng: Quick) -> list[Effects]:
        found = []
        for turn in range(self.turn, self.turn + self.depth):
            runes = [rune for rune in other.runes if rune != STALL or other.previous != STALL]
            other = other.after_cast(other.symbols[other.runes.index(rng.choice(runes))])
            found.append(effects(other, self.spells, turn % 3 + 1))
        return found

    def best(self, worlds: tuple[World, ...], beam: int) -> tuple[float, int]:
        """The value of the best plan, and its first cast."""
        side = self.side
        plans = [Plan(STALL, side.chain, side.row, side.points, 0.0, (), worlds)]
        for step in range(self.depth):
            longer: dict[Any, tuple[float, Plan]] = {}
            for plan in plans:
                for following in self.extended(plan, step):
                    value = self.value(following)
                    key = following[1:]
                    if key not in longer or value > longer[key][0]:
                        longer[key] = value, following
            found = sorted(longer.values(), key=lambda pair: pair[0], reverse=True)[:beam]
            plans = [plan for _, plan in found]
        return found[0][0], found[0][1].first

    def extended(self, plan: Plan, step: int) -> list[Plan]:
        """The plans that are one cast longer."""
        turn, row = self.turn + step, plan.row
        x = turn % 3 + 1
        previous = row[-1] if row else GUESS
        k = self.needed(plan)
        found = []
        for rune in range(STALL + (previous == STALL), 8):
            chain = (*plan.chain, rune)[-CHAIN:] if rune else plan.chain
            own = brought(self.spells, chain, x) if rune else Effects()
            line = (*row, rune)[-FIRST_GUESS:]
            charges = different(line, k) == k
            worlds = self.after(plan, turn, step, own, charges)
            found.append(
                plan._replace(first=plan.first if step else rune, chain=chain, row=line, worlds=worlds)
            )
        share = sum(world.charge for world in plan.worlds) / len(plan.worlds)
        if share and previous != GUESS:
            chance = 0.0 if previous in plan.guessed else self.chances[previous]
            worlds = tuple(
                world._replace(charge=False) for world in self.after(plan, turn, step, Effects(), False)
            )
            first = plan.first if step else GUESS
            points = plan.points + share * chance
            found.append(
                Plan(first, (), (), points, plan.spent + share * k, (*plan.guessed, previous), worlds)
            )
        return found

    def needed(self, plan: Plan) -> int:
        return max(1, self.k - len(plan.guessed))

    def after(self, plan: Plan, turn: int, step: int, own: Effects, charges: bool) -> tuple[World, ...]:
        """The worlds after a turn, and the planting that follows."""
        found = []
        for world, others in zip(plan.worlds, self.others, strict=True):
            theirs = others[step]
            weather = turn % 3 + 1 if own.weather or theirs.weather else world.weather
            pots, count = grown(world.pots, weather, own.water, own.fertilize, theirs.sabotage)
            picked, planted = world.picked + count, world.planted
            if (turn + 1) % TURNS == 0 and None in pots:
                kind = next((kind for kind in ORDER if kind not in planted), NONE)
                if kind != NONE:
                    pots, planted = with_flower(pots, kind), planted + kind
            charge = world.charge or (charges and picked > plan.points)
            found.append(World(weather, pots, planted, picked, charge))
        return tuple(found)

    def value(self, plan: Plan) -> float:
        k, last = self.needed(plan), plan.row[-1] if plan.row else GUESS
        near = DIFFERENT * different(plan.row, k)
        ready = DIFFERENT * k
        if last != GUESS and last not in plan.guessed:
            ready += POINT * CHARGED * self.chances[last]
        total = 0.0
        for world in plan.worlds:
            total += ready if world.charge else near
            total += FLOWER * (min(self.goal, world.picked) + beauty(world.pots, self.goal - world.picked))
        return POINT * min(plan.points, self.goal) + DIFFERENT * plan.spent + total / len(plan.worlds)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plays Floral Extract by planning in imagined positions.")
    parser.add_argument("--worlds", type=int, default=6, help="positions imagined per move (default: 6)")
    parser.add_argument("--beam", type=int, default=40, help="plans kept of each length (default: 40)")
    parser.add_argument("--depth", type=int, default=8, help="turns that are planned (default: 8)")
    return parser.parse_args()


given = arguments()
rng: Quick
follower: Follower


def start(game: Game) -> None:
    global follower, rng
    rng = Quick(game.random)
    follower = Follower(game, rng)


def guesses(game: Game, state: FloralState) -> list[tuple[float, str]]:
    """By rune, the most likely of the other seat's symbols, with its probability."""
    seat = game.seat - 1
    _, mappings, ways = possible(seat, tuple(game.news), state.rules.goal, state.rules.max_turns)
    total = sum(way.mappings.bit_count() for way in ways)
    best = [(0.0, "")] * 8
    for at, symbol in enumerate(SYMBOLS[1 - seat]):
        if symbol not in state.sides[seat].guessed:
            for rune in range(8):
                those = mappings.equal(mappings.runes[at], rune)
                count = sum((way.mappings & those).bit_count() for way in ways)
                best[rune] = max(best[rune], (count / total, symbol))
    return best


def choose(game: Game) -> str:
    seat = game.seat - 1
    states = [cast(FloralState, follower.state()) for _ in range(given.worlds)]
    search = Search(states, seat, rng, given.depth)
    likely = guesses(game, states[0])
    search.chances = [chance for chance, _ in likely]
    if states[0].planting:
        values = {}
        for kind in states[0].legal(seat):
            worlds = tuple(
                world._replace(pots=with_flower(world.pots, kind), planted=world.planted + kind)
                if kind != NONE
                else world
                for world in search.worlds
            )
            values[kind] = search.best(worlds, max(1, given.beam // 4))[0]
        return max(values, key=values.__getitem__)
    value, first = search.best(search.worlds, given.beam)
    game.info(f"{value:.1f}")
    return likely[search.side.previous][1] if first == GUESS else str(first)


play(choose, start)
