"""@NAME@: a bot for the referee, in Python.

Your idea goes into `choose`. The protocol is in `bot.py`, in this folder.
"""

from bot import Game, play

MOST = 200
"""How many legal moves to ask for; if there are more, the referee lists a random sample (up to 2000)."""


def start(game: Game) -> None:
    """Prepares for a game, while its clock does not run yet: makes an empty board, loads a table.

    The same process plays several games, so forget the last one here. `game.slug` names the game, `game.seat`
    is this bot's seat, from 1 to `game.seats`, and `game.options` holds texts such as {"size": "4"}.
    """


def hear(game: Game, words: list[str]) -> None:
    """Follows a line of news, such as ["move", "1", "L:D4", "D:D6"] in Blooms: update your position here.

    The news is explained by @DOCS@. It includes the bot's own moves, and the
    first question may come in the middle of a game, so rely on the news alone.
    """


def choose(game: Game) -> str | None:
    """The move to make; None would resign the game."""
    for line in game.fresh:
        hear(game, line.split())
    if game.rejected:
        print(f"rejected: {game.rejected}")  # goes to stderr, which the referee shows if the game is lost
    moves = game.legal(MOST)
    # Your idea: take the best of these moves instead. `game.allowance_ms` and `game.reserve_ms` say how much
    # time is left, and `game.info("value 0.62 depth 4")` has your chance to win drawn in replays.
    return game.random.choice(moves)  # seeded by the referee: the same seed gives the same game again


play(choose, start)
