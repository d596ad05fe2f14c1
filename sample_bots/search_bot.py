"""Plays all games with alternating turns by Monte Carlo tree search.

    search_bot.py --playouts 200
    search_bot.py --time 200ms

With `--playouts` it takes all randomness from the seed that the referee sends, so its games can be repeated;
with `--time` its play depends on the speed of the machine. It knows the rules from the referee's engines and
nothing about how to play well. Where information is hidden, every playout begins in another position that
agrees with the news, and moves that are not possible there are skipped.

The algorithm is UCT (Kocsis and Szepesvári) with progressive widening: a position gets more moves the more
often it is visited, since there may be millions of them.
"""

import argparse
import sys
from math import log, sqrt
from time import monotonic
from typing import Any

from referee.core.errors import TimeControlError
from referee.core.units import parse_period
from referee.games.api import Refusal, State, share_beaten
from referee.kit import Follower, Quick, new, playout, step
from referee.protocol.bot import Game, play


class Node:
    """The results of a move: the seat that made it, the number of visits, and the sum of the results."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.visits = 0
        self.total = 0.0
        self.replies: dict[tuple[int, Any], Node] = {}
        """By seat and move: where information is hidden, the next seat to move can differ too."""

    def worth(self, parent_visits: int) -> float:
        if not self.visits:
            return float("inf")
        bonus: float = given.explore * sqrt(log(parent_visits + 1) / self.visits)
        return self.total / self.visits + bonus

    def best(self, state: State[Any]) -> tuple[int, Any]:
        """The reply to follow."""
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
    parser = argparse.ArgumentParser(description="Plays all games with alternating turns by tree search.")
    parser.add_argument("--playouts", type=int, default=200, help="random games per move (default: 200)")
    parser.add_argument("--time", type=seconds, help="time to search per move instead, such as 200ms")
    parser.add_argument(
        "--explore", type=float, default=0.5, help="weight of the exploration term (default: 0.5)"
    )
    parser.add_argument(
        "--width",
        type=float,
        default=2.0,
        help="times the square root of the visits of a position, how many moves it has (default: 2)",
    )
    return parser.parse_args()


given = arguments()
rng: Quick
follower: Follower
open_game: bool
"""Whether everything is seen, so that a move in the tree is always possible."""


def start(game: Game) -> None:
    global follower, open_game, rng
    rng = Quick(game.random)
    follower = Follower(game, rng)
    open_game = follower.game.is_open
    if len(new(game.slug, game.options, seed=1).to_act()) > 1:
        sys.exit(f"search_bot.py does not play {follower.game.name}, in which seats move at the same time")


def explore(root: Node, state: State[Any]) -> None:
    """Plays one game: through the tree, one new move, then at random to the end."""
    path = [root]
    while state.outcome() is None and (len(path) == 1 or path[-1].visits):
        seat = state.to_act()[0]
        if seat < 0:
            state = step(state, rng)
            continue
        node = path[-1]
        # In an imagined position it can be that no known reply is possible; a sampled one always is.
        if len(node.replies) < given.width * sqrt(node.visits + 1) or not open_game:
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
    game.info(f"value {root.replies[reply].total / root.replies[reply].visits:.2f} of {tries} tries")
    return state.write(reply[1])


play(choose, start)
