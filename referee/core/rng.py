"""A small random generator of our own, so that a seed gives the same numbers in every Python version. Pure.

The generator is SHA-256 in counter mode: block *i* of a stream is SHA-256(key ‖ *i* as 8 bytes, big
endian), and the blocks are read as one long string of bytes. Numbers are drawn by rejection, so they are
exactly uniform. Streams are independent: their keys are HMAC-SHA-256 of the seed over the purpose of
the stream, and nothing about one stream can be inferred from another.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import MutableSequence, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")

SEED_BITS = 128


def fresh_seed() -> bytes:
    """A seed from the system's own randomness."""
    return secrets.token_bytes(SEED_BITS // 8)


def derive(seed: bytes, *purpose: str) -> bytes:
    """The key of a stream, 32 bytes; `purpose` is a path of names, none of which may hold a NUL."""
    return hmac.new(seed, "\0".join(purpose).encode(), hashlib.sha256).digest()


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
