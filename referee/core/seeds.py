"""The derivation of all seeds and streams of random numbers: every purpose in one place.

    seed of a run ── game ── seed of a game ── chance   chance that belongs to the game alone
                │                           ├─ bot      the seed that a seat's bot is given
                │                           ├─ list     the sample of legal moves that `list` gets
                │                           └─ house    the moves of the other seats in `referee check`
                └── shared ─ shared seed ─┬── chance    chance that is the same in all games of an encounter
                                          └── opening   their opening moves, if these are drawn

    seed of `referee moves` ──┬── moves    chance that belongs to the game alone
                              └── shared   chance that is the same in all games of an encounter

Every arrow is one-way: the seeds of some games, or what follows from them, tell nothing of the seed of the
run or of other games, unless the seed of the run is so short that it can be guessed. The derivation is
`referee.core.rng.derive`; changing a purpose changes all games of every seed.
"""

from __future__ import annotations

import hashlib

from referee.core.pairing import Pairing
from referee.core.rng import Stream, derive

BOT_SEED_BITS = 53  # every language can hold such a number exactly, also where all numbers are floats


def game_seed(run_seed: str, game_id: str) -> bytes:
    """The seed of one game of a run."""
    return derive(run_seed.encode(), "game", game_id)


def shared_by(game_id: str) -> str:
    """The games that share chance with a game, as a text: those of its encounter, or, where a bot plays
    alone, those of the other bots in its round.
    """
    return shared_by_pairing(Pairing.parse(game_id))


def shared_by_pairing(pairing: Pairing) -> str:
    """Like `shared_by`, for a pairing."""
    return ":".join(pairing.encounter if len(pairing.bots) > 1 else pairing.encounter[:1])


def shared_seed(run_seed: str, game_id: str) -> bytes:
    """The seed of the chance that a game shares."""
    return derive(run_seed.encode(), "shared", shared_by(game_id))


def seed_hash(run_seed: str) -> str:
    """The hash that stands in the records for the seed of a run as long as bots must not know it."""
    return hashlib.sha256(run_seed.encode()).hexdigest()


def chance_stream(seed: bytes) -> Stream:
    """The stream for chance in a game, from the game's own seed or from the shared one."""
    return Stream(derive(seed, "chance"))


def opening_stream(shared: bytes) -> Stream:
    """The stream for the opening moves of the games that have this shared seed."""
    return Stream(derive(shared, "opening"))


def bot_seed(seed: bytes, seat: int) -> int:
    """The seed that the bot in a seat (counted from 0) is given for a game, below 2 to the 53."""
    return Stream(derive(seed, "bot", str(seat + 1))).below(1 << BOT_SEED_BITS)


def list_stream(seed: bytes, seat: int, number: int) -> Stream:
    """The stream for a sample of legal moves: the `number`-th `list` of a seat in a game, counted from 1."""
    return Stream(derive(seed, "list", str(seat + 1), str(number)))


def house_stream(seed: bytes) -> Stream:
    """The stream for the moves of the seats that `referee check` plays itself."""
    return Stream(derive(seed, "house"))


def position_seeds(seed: str) -> tuple[bytes, bytes]:
    """The seeds of chance in a position that belongs to no game: the game's own, and the shared one."""
    return derive(seed.encode(), "moves"), derive(seed.encode(), "moves", "shared")
