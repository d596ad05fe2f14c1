"""Plays every game in turn by tree search: random games, most of them through the moves that did well so far.

    search_bot.py --playouts 200
    search_bot.py --time 200ms

With `--playouts` it draws from nothing but the seed that the referee sent, and plays the same game again;
with `--time` what it does depends on how fast the machine is. It knows the rules from the referee's engines
and nothing about how to play well. Where information is hidden, every playout begins in another position
that agrees with what it was told, and moves that are not possible there are passed over.

The tree is UCT's (Kocsis and Szepesvári), with moves added to a position as it is visited more often, since
there may be millions of them.
"""

import argparse
from math import log, sqrt
from time import monotonic
from typing import Any

from protocol.bot import Game, play
from referee.core.errors import TimeControlError
from referee.core.units import parse_period
from referee.games.api import Refusal, State, share_beaten
from referee.kit import Follower, Quick, playout, step

EXPLORE = 0.5
"""How much a move counts for having been tried seldom."""

WIDTH = 2.0
"""A position that was visited n times has this, times the root of n, moves."""


class Node:
    """What came of a move: a seat made it, so often, and left this share of the others behind in all."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.visits = 0
        self.total = 0.0
        self.replies: dict[tuple[int, Any], Node] = {}
        """By seat and move: where information is hidden, who moves next is not sure either."""

    def worth(self, parent_visits: int) -> float:
        if not self.visits:
            return float("inf")
        return self.total / self.visits + EXPLORE * sqrt(log(parent_visits + 1) / self.visits)

    def best(self, state: State[Any]) -> tuple[int, Any]:
        """The reply to go on with."""
        replies = sorted(self.replies, key=lambda reply: -self.replies[reply].worth(self.visits))
        return next(reply for reply in replies if open_game or possible(state, *reply))


def possible(state: State[Any], seat: int, move: Any) -> bool:
    if state.to_act() != (seat,):
        return False
    try:
        state.read(seat, state.write(move))
    except Refusal:
        return False
    return True


def seconds(text: str) -> float:
    try:
        return parse_period(text) / 1e6
    except TimeControlError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plays every game in turn by tree search.")
    parser.add_argument("--playouts", type=int, default=200, help="random games for a move (200)")
    parser.add_argument("--time", type=seconds, help="instead: how long it searches, such as 200ms")
    return parser.parse_args()


given = arguments()
rng: Quick
follower: Follower
open_game: bool
"""Then every move that was possible once still is."""


def start(game: Game) -> None:
    global follower, open_game, rng
    rng = Quick(game.random)
    follower = Follower(game, rng)
    open_game = follower.game.is_open


def explore(root: Node, state: State[Any]) -> None:
    """One random game: down the tree, one new move, and to the end at random."""
    path = [root]
    while state.outcome() is None and (len(path) == 1 or path[-1].visits):
        seat = state.to_act()[0]
        if seat < 0:
            state = step(state, rng)
            continue
        node = path[-1]
        # In an imagined position perhaps no reply that is there is possible; a sampled one is.
        if len(node.replies) < WIDTH * sqrt(node.visits + 1) or not open_game:
            node.replies.setdefault((seat, state.sample(seat, rng)), Node(seat))
        reply = node.best(state)
        state = state.play({seat: reply[1]})
        path.append(node.replies[reply])
    ranks = playout(state, rng).ranks
    for node in path:
        node.visits += 1
        node.total += share_beaten(ranks, node.seat)


def choose(game: Game) -> str:
    root, began, tries = Node(game.seat - 1), monotonic(), 0
    state = follower.state()
    while tries < given.playouts if given.time is None else monotonic() < began + given.time:
        explore(root, state)
        state = follower.state()
        tries += 1
    if not root.replies:
        return state.write(state.sample(game.seat - 1, rng))
    reply = max(root.replies, key=lambda reply: root.replies[reply].visits)
    game.info(f"{root.replies[reply].total / root.replies[reply].visits:.2f} of {tries} tries")
    return state.write(reply[1])


play(choose, start)
