"""What a faulty bot does, and when, as a function of its seed: the bot follows it, and who checks the
referee knows from it beforehand how every game has to end.

Imports nothing: thousands of bots are started, and each has to be quick about it. What there is to draw comes
from the catalogue, and is on the bot's command line.
"""

from __future__ import annotations

SHORT_MS = 1000
"""A shorter allowance is a short clock. All others are so long that a bot that answers is in time."""

EVERY = 0
"""For a turn: all of them."""

NO_TURN = 1 << 30
"""A turn that never comes."""


class Plan:
    """One bot's part in one game."""

    def __init__(self, vice: str, turn: int, last: int) -> None:
        self.vice = vice
        self.turn = turn
        """The turn, counted by this bot from 1, on which it happens; or `EVERY`."""
        self.last = last
        """The turn on which it resigns, so that the game is short."""

    def happens(self, turn: int) -> bool:
        """Whether the vice comes up on this turn."""
        return self.turn in (turn, EVERY)


def plan_of(seed: int, slug: str, move_ms: int, drawn: list[list[str]]) -> Plan:
    """The plan of a bot that was told this seed, game and allowance, of the vices that are drawn with a long
    clock, with a short one, and with a short one where silence is a default move.
    """
    vices, silences, lapses = drawn
    if move_ms < SHORT_MS:
        if slug == "floral":
            return Plan(lapses[seed % len(lapses)], EVERY, NO_TURN)
        return Plan(silences[seed % len(silences)], 1, NO_TURN)
    rest, number = divmod(seed, len(vices))
    rest, turn = divmod(rest, 3)
    return Plan(vices[number], turn + 1, turn + 1 + rest % 2)
