"""A bot that plays at random, and takes long from its ninth move on: a flaw for `diagnose` to find."""

from __future__ import annotations

import time

from referee.protocol.bot import Game, play

moves = 0


def start(game: Game) -> None:
    global moves
    moves = 0


def choose(game: Game) -> str:
    global moves
    moves += 1
    if moves >= 9:
        time.sleep(0.12)
    return game.random.choice(game.legal())


play(choose, start)
