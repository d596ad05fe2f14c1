"""Whether what everybody is shown of a game with hidden information tells a seat what it should not know:
`python -m tests.tools.everybody [POSITIONS [GAME…]]`, with 2000 positions of each game and number of seats.
"""

from __future__ import annotations

import sys
from itertools import count

from referee.check.rules import everybody_sees_the_same
from referee.games import GAMES
from tests.outside.high_card import GAME

SETTINGS: dict[str, list[dict[str, str]]] = {
    "floral": [{}],
    "thetree": [{"players": str(n)} for n in (2, 3, 4)],
    "highcard": [{}],
}


def main(positions: str = "2000", *slugs: str) -> None:
    """Raises `InvariantViolation`."""
    for slug in slugs or SETTINGS:
        game = {**GAMES, GAME.slug: GAME}[slug]
        for given in SETTINGS[slug]:
            checked = 0
            for number in count():
                checked += everybody_sees_the_same(game, game.settle(given), f"many {number}")
                if checked >= int(positions):
                    break
            print(slug, given, f"{checked} positions tell nothing hidden", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
