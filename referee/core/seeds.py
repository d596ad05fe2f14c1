"""What every seed and every stream of random numbers is derived for: all purposes in one place.

    seed of a run ── game ── seed of a game ── chance   what is random in the game alone
                │                           ├─ bot      the seed that a seat's bot is given
                │                           ├─ list     which moves a sample of legal moves has
                │                           └─ house    the moves of the opponents in a check
                └── shared ─ shared seed ──── chance    what is random alike in the games of an encounter

The derivation is `referee.core.rng.derive`; a change of a purpose changes every recorded game.
"""

from __future__ import annotations

from referee.core.pairing import Pairing
from referee.core.rng import Stream, derive

BOT_SEED_BITS = 53
"""So every language can read a bot's seed as a number without loss, those with floats alone too."""


def game_seed(run_seed: str, game_id: str) -> bytes:
    """The seed of one game of a run."""
    return derive(run_seed.encode(), "game", game_id)


def shared_seed(run_seed: str, game_id: str) -> bytes:
    """The seed of what a game shares: with the games of its encounter, or, where a bot plays alone, with
    the games of the other bots in its round.
    """
    pairing = Pairing.parse(game_id)
    shared_by = ":".join(pairing.encounter) if len(pairing.bots) > 1 else pairing.round
    return derive(run_seed.encode(), "shared", shared_by)


def chance_stream(seed: bytes) -> Stream:
    """What chance draws from in a game, of the game's own seed or of the shared one."""
    return Stream(derive(seed, "chance"))


def bot_seed(seed: bytes, seat: int) -> int:
    """The seed that the bot in a seat (counted from 0) is given for a game, below 2 to the 53."""
    return Stream(derive(seed, "bot", str(seat + 1))).below(1 << BOT_SEED_BITS)


def list_stream(seed: bytes, seat: int, number: int) -> Stream:
    """What a sample of legal moves is drawn from: the `number`-th `list` of a seat in a game, from 1."""
    return Stream(derive(seed, "list", str(seat + 1), str(number)))


def house_stream(seed: bytes) -> Stream:
    """What the moves of the opponents are drawn from that `referee check` plays itself."""
    return Stream(derive(seed, "house"))
