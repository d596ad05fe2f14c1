"""Seeds and random numbers: the generator, and the derivation of all streams, by purpose. Pure.

The generator is our own, so that a seed gives the same numbers in every Python version: SHA-256 in counter
mode. Block *i* of a stream is SHA-256(key ‖ *i* as 8 bytes, big endian), and the blocks are read as one long
string of bytes. Numbers are drawn by rejection, so they are exactly uniform. Streams are independent: their
keys are HMAC-SHA-256 of the seed over the purpose of the stream, and nothing about one stream can be inferred
from another.

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
`derive`; changing a purpose changes all games of every seed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import MutableSequence, Sequence
from typing import Protocol, TypeVar

from referee.core.pairing import Pairing

T = TypeVar("T")

SEED_BITS = 128


def fresh_seed() -> bytes:
    """A seed from the system's own randomness."""
    return secrets.token_bytes(SEED_BITS // 8)


def derive(seed: bytes, *purpose: str) -> bytes:
    """The key of a stream, 32 bytes; `purpose` is a path of names, none of which may hold a NUL."""
    return hmac.digest(seed, "\0".join(purpose).encode(), "sha256")


class Random(Protocol):
    """The random numbers that a game needs: from a `Stream`, or from a generator that is only fast."""

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, uniform. Raises `ValueError` for n < 1."""

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, uniform."""

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffles in place."""


class Stream:
    """A stream of random numbers; the same key always gives the same numbers."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._blocks = 0  # the number of blocks that were computed
        self._unread = 0  # the bits of these blocks that are still unread, as one number
        self._bits = 0  # the number of unread bits

    def _more(self, bits: int) -> None:
        """Computes blocks until at least `bits` bits are unread."""
        while self._bits < bits:
            block = hashlib.sha256(self._key + self._blocks.to_bytes(8, "big")).digest()
            self._unread = self._unread << 256 | int.from_bytes(block, "big")
            self._bits += 256
            self._blocks += 1

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, uniform. Raises `ValueError` for n < 1."""
        if n < 1:
            raise ValueError(f"below({n})")
        bits = (n - 1).bit_length()
        taken = (bits + 7) // 8 * 8  # whole bytes, of which the first bits count
        while True:
            if self._bits < taken:
                self._more(taken)
            rest = self._bits = self._bits - taken
            number = self._unread >> rest
            self._unread ^= number << rest
            number >>= taken - bits
            if number < n:
                return number

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, uniform."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffles in place (Fisher and Yates, from the end)."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


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
