"""Plays The Tree by Monte Carlo search over the hands that the others may hold.

    tree_search_bot.py --playouts 400

The referee's kit draws full positions that agree with the news: the hidden tiles are dealt anew, so that
every draw and pass in the news was forced. In each of them every candidate is played to the end of the deal,
and the better half of the candidates goes on, until one is left (sequential halving). All seats choose by a
simple policy that looks at their own hand only, so no plan relies on tiles that its seat cannot know.

Between two seats the hands are known when the supply is empty. Then the bot looks for a sure win instead, by
trying all moves of both seats, as long as `--nodes` positions are enough.

All randomness is from the seed that the referee sends, so its games can be repeated.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple, cast

from referee.games.thetree.state import TreeState
from referee.games.thetree.tree import ABOVE, ANY, BELOW, TILES, Laying
from referee.kit import Follower, Quick
from referee.protocol.bot import Game, play

EXTRA = 8.0
"""What an extra turn is worth to the policy, in rings; nothing for a seat that plays alone."""

DOUBLE = 1.0
"""What it is worth to get rid of a double, in rings: it fits in fewer ways."""

NOISE = 1.0
"""How much chance there is in the policy, in rings."""

AT_ONCE = 2
"""Playouts of each candidate in one imagined position, since imagining takes as long as some ten playouts."""

HARD = {1 << i: 6.0 - a.bit_count() - b.bit_count() + DOUBLE * (a == b) for i, (a, b) in enumerate(TILES)}
"""By tile, as a set of one, how hard it is to lay: the rings that it lacks, since fewer symbols can lie under
fewer rings.
"""

PRIOR = 0.03
"""What a ring is worth before any playout, in the share of games won."""

ROW = 1024
"""A place is one integer: x + ROW * y of the left half."""

UNDER_LEFT, UNDER_RIGHT, OVER_LEFT, OVER_RIGHT = -ROW - 1, -ROW + 1, ROW - 1, ROW + 1
NONE = 8
"""Stands for a missing symbol."""


class Spot(NamedTuple):
    """What can be laid in a place, given the symbols around it."""

    tiles: int
    """A set of tiles, with bit *i* for tile *i*."""
    ways: dict[int, list[tuple[int, int]]]
    """By tile (as a set of its own), the left and right symbols."""
    extra: bool
    """Whether laying a tile here gives an extra turn."""


def spot(under_left: int, over_left: int, under_right: int, over_right: int) -> Spot:
    lefts, rights = (
        (ANY if under == NONE else ABOVE[under]) & (ANY if over == NONE else BELOW[over])
        for under, over in ((under_left, over_left), (under_right, over_right))
    )
    ways = {}
    for number, (low, high) in enumerate(TILES):
        found = [
            (left, right)
            for left, right in dict.fromkeys([(low, high), (high, low)])
            if lefts >> left & rights >> right & 1
        ]
        if found:
            ways[1 << number] = found
    extra = NONE not in (under_left, under_right) or (over_left, over_right) != (NONE, NONE)
    return Spot(sum(ways), ways, extra)


class Spots(dict[tuple[int, int, int, int], Spot]):
    """All spots that came up, by the symbols around them."""

    def __missing__(self, around: tuple[int, int, int, int]) -> Spot:
        found = self[around] = spot(*around)
        return found


SPOTS = Spots()
EMPTY = (NONE, NONE)


Move = tuple[int, int, int, int, bool]
"""A tile, as a set of one; its left and right symbol; the place; and whether it gives an extra turn."""


def written(move: Move) -> str:
    _, left, right, at, _ = move
    x = (at + ROW // 2) % ROW - ROW // 2
    return str(Laying(left, right, x, (at - x) // ROW))


class Table:
    """A full position that can be changed: the referee's own positions are immutable, and slower to play."""

    def __init__(self, tiles: dict[int, tuple[int, int]], spots: dict[int, Spot], hands: list[int]) -> None:
        self.tiles = tiles
        self.spots = spots
        self.hands = hands

    @classmethod
    def of(cls, state: TreeState) -> Table:
        table = cls({}, {}, state.table.hands.copy())
        # Row by row: a tile is a spot's roof only if the spot was there.
        for (x, y), (left, right) in sorted(state.table.tree.tiles.items(), key=lambda item: item[0][1]):
            table.lay(left, right, x + ROW * y)
        return table

    def copy(self) -> Table:
        return Table(self.tiles.copy(), self.spots.copy(), self.hands.copy())

    def lay(self, left: int, right: int, at: int) -> None:
        tiles, spots = self.tiles, self.spots
        tiles[at] = left, right
        spots.pop(at, None)
        # Only places that touch the new tile change: two above it, and holes below.
        for near in (at + OVER_LEFT, at + OVER_RIGHT, at + UNDER_LEFT, at + UNDER_RIGHT):
            if near in spots or (near > at and near not in tiles):
                spots[near] = SPOTS[
                    tiles.get(near + UNDER_LEFT, EMPTY)[1],
                    tiles.get(near + OVER_LEFT, EMPTY)[1],
                    tiles.get(near + UNDER_RIGHT, EMPTY)[0],
                    tiles.get(near + OVER_RIGHT, EMPTY)[0],
                ]

    def moves(self, hand: int) -> list[Move]:
        found = []
        for at, spot in self.spots.items():
            fitting = spot.tiles & hand
            while fitting:
                tile = fitting & -fitting
                fitting ^= tile
                for left, right in spot.ways[tile]:
                    found.append((tile, left, right, at, spot.extra))
        return found


def preferred(moves: list[Move], again: float, chance: Callable[[], float]) -> Move:
    """The move that the policy chooses: a tile that is hard to lay; an extra turn counts `again`."""
    best, most = moves[0], -1.0
    for move in moves:
        worth = HARD[move[0]] + NOISE * chance()
        if move[4]:
            worth += again
        if worth > most:
            best, most = move, worth
    return best


def playout(state: TreeState, table: Table, move: Move, chance: Callable[[], float]) -> float:
    """The share of the others that the seat to act leaves behind after a move, if all go on by the policy.

    A blocked deal is shared, since the next deal is open. Alone it is 1 if all tiles are laid, else it is
    less the more are left. `table` is changed.
    """
    now = state.table
    me, others, ahead, passes = now.acting, now.rules.players - 1, len(now.finished), 0
    seat, playing, supply = me, list(now.playing), list(reversed(now.supply))
    again = EXTRA if others else 0.0
    while True:
        tile, left, right, at, extra = move
        table.lay(left, right, at)
        table.hands[seat] ^= tile
        if not table.hands[seat]:
            if seat == me:
                return (others - ahead) / others if others else 1.0
            ahead += 1
            if now.rules.only_first:
                return (others - ahead) / 2 / others
            following = after(playing, seat)
            playing.remove(seat)
            if len(playing) == 1:
                return (others - ahead) / others
            seat = following
        elif not extra:
            seat = after(playing, seat)
        passes = 0
        while not (moves := table.moves(table.hands[seat])):
            if supply:
                table.hands[seat] |= 1 << supply.pop()
                passes = 0
            else:
                passes += 1
                if passes == len(playing):
                    if not others:
                        return -table.hands[seat].bit_count() / len(TILES)
                    return (others - ahead - (len(playing) - 1) / 2) / others
            seat = after(playing, seat)
        move = preferred(moves, again, chance)


def after(playing: list[int], seat: int) -> int:
    """The next seat in play."""
    return playing[(playing.index(seat) + 1) % len(playing)]


class TooMany(Exception):
    """More positions than allowed would have to be looked at."""


class Endgame:
    """The exact value of positions that hide nothing between two seats: 1 is a won deal, 0 a blocked one."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes

    def value(self, table: Table, seat: int, passed: bool, least: int, most: int) -> int:
        """The value for the seat to act, as far as it lies between `least` and `most`. Raises `TooMany`."""
        moves = table.moves(table.hands[seat])
        if not moves:
            return 0 if passed else -self.value(table, 1 - seat, True, -most, -least)
        best = -1
        for move in sorted(moves, key=order, reverse=True):
            best = max(best, self.after(table, seat, move, max(least, best), most))
            if best >= most:
                break
        return best

    def after(self, table: Table, seat: int, move: Move, least: int, most: int) -> int:
        """The value of a move, for the seat that makes it. Raises `TooMany`."""
        self.nodes -= 1
        if self.nodes < 0:
            raise TooMany
        tile, left, right, at, extra = move
        table = table.copy()
        table.lay(left, right, at)
        table.hands[seat] ^= tile
        if not table.hands[seat]:
            return 1
        if extra:
            return self.value(table, seat, False, least, most)
        return -self.value(table, 1 - seat, False, -most, -least)


def order(move: Move, again: float = EXTRA) -> float:
    """What the policy thinks of a move."""
    return HARD[move[0]] + again * move[4]


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plays The Tree by Monte Carlo search.")
    parser.add_argument("--playouts", type=int, default=400, help="games per move (default: 400)")
    parser.add_argument(
        "--nodes", type=int, default=4000, help="positions searched in an endgame (default: 4000)"
    )
    return parser.parse_args(words)


given = arguments([])
follower: Follower


def start(game: Game) -> None:
    global follower
    follower = Follower(game, Quick(game.random))


def position() -> TreeState:
    """A position that agrees with the news, a new one at each call."""
    return cast(TreeState, follower.state())


def unbeaten(state: TreeState, moves: list[Move]) -> list[Move]:
    """The moves with the best value, where that can be computed; else all of them."""
    if state.table.supply or len(state.table.hands) != 2:
        return moves
    endgame, table = Endgame(given.nodes), Table.of(state)
    try:
        values = [endgame.after(table, state.table.acting, move, -1, 1) for move in moves]
    except TooMany:
        return moves
    return [move for move, value in zip(moves, values, strict=True) if value == max(values)]


def choose(game: Game) -> str:
    state = position()
    moves = Table.of(state).moves(state.table.hands[state.table.acting])
    moves = unbeaten(state, sorted(moves, key=order, reverse=True))
    rounds = max(1, (len(moves) - 1).bit_length())
    totals = dict.fromkeys(moves, 0.0)
    again = EXTRA if game.seats > 1 else 0.0
    tries = 0
    while len(moves) > 1:
        for _ in range(max(1, given.playouts // (rounds * len(moves) * AT_ONCE))):
            state = position()
            table = Table.of(state)
            for move in moves:
                for _ in range(AT_ONCE):
                    totals[move] += playout(state, table.copy(), move, game.random.random)
            tries += AT_ONCE
        moves.sort(key=lambda move: totals[move] / tries + PRIOR * order(move, again), reverse=True)
        moves = moves[: (len(moves) + 1) // 2]
    if tries:
        game.info(f"value {totals[moves[0]] / tries:.2f} of {len(totals)} moves")
    return written(moves[0])


if __name__ == "__main__":
    given = arguments()
    play(choose, start, only="thetree")
