"""Plays with what `train_value.py` learned: the move after which the network expects the best end.

    python sample_bots/train_value.py blooms size=3 -o weights.json
    referee match blooms --option size=3 '{python} sample_bots/value_bot.py weights.json' …

It compares as many moves as in training. Where information is hidden, it compares them in one position that
agrees with the news.
"""

import json
import sys
from pathlib import Path

from train_value import Network, best, choices

from referee.encoding import encoding_of
from referee.kit import Follower, Quick
from referee.protocol.bot import Game, play

if len(sys.argv) != 2:
    sys.exit("usage: value_bot.py FILE, the weights that train_value.py has written")
FILE = Path(sys.argv[1])
NETWORK = Network.load(FILE)
LEARNED = json.loads(FILE.read_text())

follower: Follower
rng: Quick


def start(game: Game) -> None:
    global follower, rng
    rng = Quick(game.random)
    follower = Follower(game, rng)
    if game.slug != LEARNED["game"] or not LEARNED["options"].items() <= game.options.items():
        sys.exit(f"{FILE} is for {LEARNED['game']} with {LEARNED['options']}")


def choose(game: Game) -> str:
    position = follower.position()
    encoding = encoding_of(position.game, position.options)
    chosen = best(NETWORK, choices(position, encoding, rng), follower.seat)
    return position.write(chosen.move)


play(choose, start)
