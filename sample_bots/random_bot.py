"""Plays any legal move of any game: the whole of a bot that asks the referee what is legal."""

from protocol.bot import Game, play


def choose(game: Game) -> str:
    return game.random.choice(game.legal(most=100))


play(choose)
