"""A small random generator of our own, so that a seed means the same on every Python.

The generator is SHA-256 in counter mode: block *i* of a stream is SHA-256(key ‖ *i* as 8 bytes, big
endian), and the blocks are read as one long string of bytes. Numbers are drawn by rejection, so they are
exactly uniform. Streams are independent: their keys are HMAC-SHA-256 of the seed over what the stream is
for, and knowing one stream tells nothing of another.
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
    """What a game asks of chance. `Stream` gives it, and so can a generator that is only fast."""

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, uniform. Raises `ValueError` for n < 1."""

    def choice(self, items: Sequence[T]) -> T:
        """One of the items, uniform."""

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffles in place."""


class Stream:
    """A stream of random numbers; the same key gives the same numbers for ever."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._blocks = 0
        """How many were made."""
        self._unread = b""
        """The end of the blocks made so far, of which the first `_read` bytes are used up."""
        self._read = 0

    def _more(self, count: int) -> None:
        """Makes sure that so many bytes are unread."""
        self._unread = self._unread[self._read :]
        self._read = 0
        while len(self._unread) < count:
            self._unread += hashlib.sha256(self._key + self._blocks.to_bytes(8, "big")).digest()
            self._blocks += 1

    def below(self, n: int) -> int:
        """A number from 0 to n - 1, uniform. Raises `ValueError` for n < 1."""
        if n < 1:
            raise ValueError(f"below({n})")
        bits = (n - 1).bit_length()
        count = (bits + 7) // 8
        spare = count * 8 - bits
        while True:
            end = self._read + count
            if end > len(self._unread):
                self._more(count)
                end = count
            number = int.from_bytes(self._unread[self._read : end], "big") >> spare
            self._read = end
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
