"""What a faulty bot does, and when, as a function of its seed: the bot follows it, and who checks the
referee knows from it beforehand how every game has to end.

Imports nothing: thousands of bots are started, and each has to be quick about it.
"""

from __future__ import annotations

START = "it does not get ready"
FIRST = "it leaves after `ready`, which is seen when it is first asked"
NOW = "it is judged on the turn on which it happens"
NEXT = "the answer of that turn counts, and the vice is judged when the bot is next asked"
AFTER = "it is gone when the next game begins"
NEVER = "it harms nobody"

VICES = {
    "none": (NEVER, ""),
    "exits before ready": (START, "start"),
    "malformed before ready": (START, "start"),
    "hello again before ready": (START, "start"),
    "flood before ready": (START, "start"),
    "exits after ready": (FIRST, "gone"),
    "exits": (NOW, "gone"),
    "kills itself": (NOW, "gone"),
    "kills its parent": (NOW, "gone"),
    "exits within a line": (NOW, "gone"),
    "exits without a newline": (NOW, "gone"),
    "exits, a helper holds its output": (NOW, "gone"),
    "closes output": (NOW, "gone"),
    "endless line": (NOW, "flood"),
    "endless lines": (NOW, "flood"),
    "endless log": (NOW, "flood"),
    "seventeen lists": (NOW, "flood"),
    "no number": (NOW, "protocol"),
    "no text": (NOW, "protocol"),
    "number with a sign": (NOW, "protocol"),
    "no UTF-8": (NOW, "protocol"),
    "control character": (NOW, "protocol"),
    "byte order mark": (NOW, "protocol"),
    "next number": (NOW, "turn"),
    "number zero": (NOW, "turn"),
    "ready again": (NOW, "turn"),
    "hello again": (NOW, "turn"),
    "illegal for ever": (NOW, "illegal"),
    "answers and exits": (NEXT, "gone"),
    "answers and kills itself": (NEXT, "gone"),
    "closes input and answers": (NEXT, "gone"),
    "answers and floods": (NEXT, "flood"),
    "answers and is malformed": (NEXT, "protocol"),
    "answers the next one too": (NEXT, "turn"),
    "exits at the end": (AFTER, "start"),
    "illegal once": (NEVER, ""),
    "old answer": (NEVER, ""),
    "answers twice": (NEVER, ""),
    "answers and chatters": (NEVER, ""),
    "in pieces": (NEVER, ""),
    "carriage return": (NEVER, ""),
    "blanks": (NEVER, ""),
    "noise": (NEVER, ""),
    "long log": (NEVER, ""),
    "info": (NEVER, ""),
    "sixteen lists": (NEVER, ""),
    "stderr flood": (NEVER, ""),
    "closes stderr": (NEVER, ""),
    "helper in its group": (NEVER, ""),
    "helper in a session": (NEVER, ""),
    "helper in a session, detached": (NEVER, ""),
    "stays after quit": (NEVER, ""),
    "ignores TERM after quit": (NEVER, ""),
}
"""When each is judged, and as what. One of these is drawn."""

UNCALLED = {
    "does not start": (START, "start"),
    "gone since the game before": (START, "start"),
}
"""What befalls a bot before it learns of its seed."""

REJECTED = {"illegal once": 1, "illegal for ever": 10}
"""How many answers are rejected for it."""

SILENCES = ("silent", "chatters", "drips", "half an answer", "stops itself", "ignores TERM")
"""What a bot with a short clock does on its first turn: no answer comes in time."""

LAPSES = ("mute", "always late")
"""The same on every turn, where silence is defaulted; it goes on reading."""

SHORT_MS = 1000
"""A shorter allowance is a short clock. All others are so long that a bot that answers is in time."""


def judged(vice: str) -> tuple[str, str]:
    """When a vice is judged, and as what: a bot with a short clock runs out of time."""
    return VICES.get(vice) or UNCALLED.get(vice) or (NOW, "time")


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


def plan_of(seed: int, slug: str, move_ms: int) -> Plan:
    """The plan of a bot that was told this seed, game and allowance."""
    if move_ms < SHORT_MS:
        if slug == "floral":
            return Plan(LAPSES[seed % len(LAPSES)], EVERY, NO_TURN)
        return Plan(SILENCES[seed % len(SILENCES)], 1, NO_TURN)
    rest, number = divmod(seed, len(VICES))
    rest, turn = divmod(rest, 3)
    return Plan(list(VICES)[number], turn + 1, turn + 1 + rest % 2)
