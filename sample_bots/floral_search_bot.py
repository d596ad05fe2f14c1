"""Plays Floral Extract by planning its casts in several imagined positions at once.

    floral_search_bot.py --worlds 3 --beam 24 --depth 8

What is hidden is the other seat's runes and plants, and with them the weather and what it will sabotage.
The referee's kit draws full positions that agree with the news. A plan is a row of casts, the same in all of
these positions, since the bot cannot tell them apart; it is worth what it brings on average. Plans are
extended turn by turn, and only the best of each length are kept (beam search). In each position the other
seat casts at random, the same against all plans.

Which rune a symbol stands for is not sampled but counted, in the exact set of mappings that agree with the
news. All randomness is from the seed that the referee sends, so its games can be repeated.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from typing import Any, NamedTuple, cast

from referee.games.floral.imagining import possible
from referee.games.floral.news import TURNS
from referee.games.floral.sides import (
    BLOOMS_AT,
    CHAIN,
    FIRST_GUESS,
    NONE,
    STALL,
    SYMBOLS,
    Effects,
    Pots,
    Side,
    brought_by,
    pots_after_turn,
    with_flower,
)
from referee.games.floral.spells import Spells
from referee.games.floral.state import FloralState
from referee.kit import Follower, Quick
from referee.protocol.bot import Game, play

TURNS_OF = {"A": 9.0, "H": 10.0, "C": 14.0, "W": 14.0, "X": 15.0}
"""The turns that a flower takes, about, from its planting."""

AT_ONCE = 1.2
"""How much that counts in comparison with the guesses, which are worth nothing without picked flowers."""

TRIES = 1.3
"""The guesses for each point, about."""

CHARGED = 0.5
"""How much of a likely guess counts before it is made."""

BOTH = 0.4
"""How much the one of growing and guessing that takes fewer turns counts."""

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
    guessed: tuple[int, ...]
    """The runes that were guessed in this plan."""
    worlds: tuple[World, ...]


@lru_cache(1 << 16)
def grown(pots: Pots, weather: int, water: int, fertilize: int, sabotaged: int) -> tuple[Pots, int]:
    """The pots after a turn, and how many flowers were picked."""
    after = pots_after_turn(pots, weather, water, fertilize, sabotaged)
    return after, after.count(None) - pots.count(None)


@lru_cache(1 << 16)
def growth(pots: Pots, planted: str, needed: int) -> float:
    """The turns until enough flowers are picked, if they grew one after another."""
    turns = [TURNS_OF[kind] for kind in TURNS_OF if kind not in planted]
    turns += [TURNS_OF[f.kind] * (1 - f.stage / BLOOMS_AT[f.kind]) for f in pots if f]
    return AT_ONCE * sum(sorted(turns)[: max(0, needed)])


@lru_cache(1 << 16)
def different(row: tuple[int, ...], most: int) -> int:
    """How many runes at the end of a row are different, at most `most`."""
    lengths = range(min(most, len(row)), 0, -1)
    return next((length for length in lengths if len(set(row[-length:])) == length), 0)


@lru_cache(1 << 16)
def brought(spells: Spells, chain: tuple[int, ...], x: int) -> Effects:
    """What the last cast of a chain brings besides the guessing spell."""
    return Effects.of(brought_by(spells)[chain], x, False)


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
        other = other.copy()
        for turn in range(self.turn, self.turn + self.depth):
            runes = [rune for rune in other.runes if rune != STALL or other.previous != STALL]
            symbol = other.symbols[other.runes.index(rng.choice(runes))]
            brought = other.cast(symbol, self.side.mapping, brought_by(self.spells))
            found.append(Effects.of(brought, turn % 3 + 1, False))
        return found

    def best(self, worlds: tuple[World, ...], beam: int) -> tuple[float, int]:
        """The value of the best plan, and its first cast."""
        side = self.side
        plans = [Plan(STALL, side.chain, side.row, side.points, (), worlds)]
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
            found.append(Plan(first, (), (), points, (*plan.guessed, previous), worlds))
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
        """How few turns the game takes from here, by a rough estimate: flowers and charges both take time."""
        k, last = self.needed(plan), plan.row[-1] if plan.row else GUESS
        near = different(plan.row, k)
        chance = self.chances[last] if last != GUESS and last not in plan.guessed else 0.0
        missing = max(0.0, self.goal - plan.points)
        charges = TRIES * (missing * (k + 2) - missing * (missing - 1) / 2) if missing else 0.0
        total = 0.0
        for world in plan.worlds:
            growing = growth(world.pots, world.planted, self.goal - world.picked)
            guessing = charges - (k + CHARGED * chance * k if world.charge else near)
            total += max(growing, guessing) + BOTH * min(growing, guessing)
        return -total / len(plan.worlds)


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plays Floral Extract by planning in imagined positions.")
    parser.add_argument("--worlds", type=int, default=3, help="positions imagined per move (default: 3)")
    parser.add_argument("--beam", type=int, default=24, help="plans kept of each length (default: 24)")
    parser.add_argument("--depth", type=int, default=8, help="turns planned ahead (default: 8)")
    return parser.parse_args(words)


given = arguments([])
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
    game.info(f"score {value:.1f}")
    return likely[search.side.previous][1] if first == GUESS else str(first)


if __name__ == "__main__":
    given = arguments()
    play(choose, start, only="floral")
