"""Plays every game by trying moves out: after each of some moves the game is played to its end at random, the
worse half of the moves is put aside, the rest is tried out again, until one move is left.

    search_bot.py --playouts 100
    search_bot.py --time 200ms

With `--playouts` it draws from nothing but the seed that the referee sent, and plays the same game again;
with `--time` what it does depends on how fast the machine is. It knows the rules from the referee's engines
and nothing about how to play well; where information is hidden it imagines what it cannot see.
"""

import argparse
from itertools import islice
from time import monotonic
from typing import Any

from protocol.bot import Game, play
from referee.clock import parse_period
from referee.errors import TimeControlError
from referee.games.api import State, share_beaten
from referee.kit import Follower, Quick, playout, step


def seconds(text: str) -> float:
    try:
        return parse_period(text) / 1e6
    except TimeControlError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plays every game by trying moves out.")
    parser.add_argument("--playouts", type=int, default=100, help="random games for a move, about (100)")
    parser.add_argument("--time", type=seconds, help="instead: how long it tries, such as 200ms")
    parser.add_argument("--moves", type=int, default=24, help="moves that it tries out, at most (24)")
    return parser.parse_args()


given = arguments()
rng: Quick
follower: Follower


def start(game: Game) -> None:
    global follower, rng
    rng = Quick(game.random)
    follower = Follower(game, rng)


def candidates(state: State[Any], seat: int) -> list[Any]:
    """All legal moves, or a random choice of them where there are many."""
    moves = list(islice(state.legal(seat), given.moves + 1))
    if len(moves) > given.moves:
        moves = list(dict.fromkeys(state.sample(seat, rng) for _ in range(given.moves)))
    return moves


def choose(game: Game) -> str:
    seat, began = game.seat - 1, monotonic()
    state = follower.state()
    left = candidates(state, seat)
    total = dict.fromkeys(left, 0.0)
    tries = 0
    rounds = (len(left) - 1).bit_length()
    for number in range(1, rounds + 1):
        # Each round has the same share of the budget. The moves that are left were tried equally often, and
        # in the same positions where they have to be imagined, so their totals can be compared.
        enough = tries + max(1, given.playouts // (rounds * len(left)))
        while tries < enough if given.time is None else monotonic() < began + given.time * number / rounds:
            position = follower.state()
            for move in left:
                total[move] += share_beaten(playout(step(position, rng, {seat: move}), rng).ranks, seat)
            tries += 1
        left.sort(key=total.__getitem__, reverse=True)
        del left[(len(left) + 1) // 2 :]
    if tries:
        game.info(f"{total[left[0]] / tries:.2f} of {tries} tries")
    return state.write(left[0])


play(choose, start)
