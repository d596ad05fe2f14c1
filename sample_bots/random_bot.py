"""Plays random legal moves in any game: a complete bot that asks the referee for the legal moves."""

from referee.protocol.bot import Game, play


def choose(game: Game) -> str:
    return game.random.choice(game.legal(most=100))


play(choose)
