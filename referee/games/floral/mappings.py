"""Sets of mappings of runes, as bit sets: conditions are evaluated for all mappings at once. Pure.

A set is an integer with a bit for every mapping considered. A number that depends on the
mapping, like the rune that a symbol stands for, is a tuple of sets: its binary digits, the lowest first.
So an addition or a comparison costs a few operations on long integers, however many mappings there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import compress, permutations, zip_longest

from referee.games.floral.spells import Condition

Set = int
Number = tuple[Set, ...]
Mapping = tuple[int, ...]  # by symbol, its identity

_ZERO_AND_ONE = bytes.maketrans(b"01", b"\0\1")
_DIGITS = tuple(bytes(b"01"[rune >> digit & 1] for rune in range(256)) for digit in range(3))


class Mappings:
    """The mappings considered, in a fixed order."""

    __slots__ = ("_mappings", "all", "runes", "size")

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._mappings = mappings
        self.size = len(mappings)
        self.all: Set = (1 << self.size) - 1
        columns = [bytes(column)[::-1] for column in zip(*mappings, strict=True)]
        self.runes = tuple(
            tuple(int(column.translate(digits), 2) for digits in _DIGITS) for column in columns
        )
        """By symbol, the rune that it stands for, as a number."""

    def chosen(self, those: Set) -> Iterator[Mapping]:
        """The mappings of a set."""
        return compress(self._mappings, f"{those:b}"[::-1].encode().translate(_ZERO_AND_ONE))

    def pick(self, those: Set, number: int) -> Mapping:
        """The mapping of a number, counted from 0, in a set."""
        first, width = 0, self.size
        while width > 1:
            # On to the half that has it.
            width = (width + 1) // 2
            low = those & ((1 << width) - 1)
            count = low.bit_count()
            if number < count:
                those = low
            else:
                number -= count
                those >>= width
                first += width
        return self._mappings[first]

    def equal(self, number: Number, value: int) -> Set:
        """The mappings under which a number has this value."""
        found = self.all
        for digit, those in enumerate(number):
            found &= those if value >> digit & 1 else self.all ^ those
        return found

    def at_least(self, number: Number, value: int) -> Set:
        """The mappings under which a number is at least this value, which must not have more digits."""
        found = self.all
        for digit, those in enumerate(number):
            found = found & those if value >> digit & 1 else found | those
        return found

    def holds(self, condition: Condition, chain: Sequence[Number]) -> Set:
        """The mappings under which a condition holds for the end of a chain, newest rune first, of enough
        runes.
        """
        runes = chain[: condition.length]
        match condition.form:
            case "set":
                found = self.all
                for rune in runes:
                    found &= self._is_one_of(rune, condition.numbers)
            case "sum":
                low, high = condition.numbers
                total = runes[0]
                for rune in runes[1:]:
                    total = added(total, rune)
                found = self.at_least(total, low) & (self.all ^ self.at_least(total, high + 1))
            case _:
                found = self.all
                for place, relation in enumerate(reversed(condition.relations)):
                    found &= self._related(runes[place + 1], relation, runes[place])
        return found

    def _is_one_of(self, rune: Number, identities: Sequence[int]) -> Set:
        found = 0
        for identity in identities:
            found |= self.equal(rune, identity)
        return found

    def _related(self, one: Number, relation: str, other: Number) -> Set:
        less = differ = 0
        for a, b in zip(one, other, strict=True):
            unlike = a ^ b
            less ^= (less ^ b) & unlike  # a higher digit decides, if it differs
            differ |= unlike
        match relation:
            case "<":
                return less
            case ">=":
                return self.all ^ less
            case "=":
                return self.all ^ differ
            case "<=":
                return less | (self.all ^ differ)
        return differ ^ less


@cache
def every_mapping() -> Mappings:
    """All mappings of eight runes."""
    return Mappings(list(permutations(range(8))))


def added(one: Number, other: Number) -> Number:
    """The sum, with one digit more than the longer number."""
    digits = []
    carry = 0
    for a, b in zip_longest(one, other, fillvalue=0):
        differ = a ^ b
        digits.append(differ ^ carry)
        carry = a & b | differ & carry
    return (*digits, carry)


def selected(those: Set, one: Number, other: Number) -> Number:
    """`one` under the mappings in the set, `other` under the rest."""
    return tuple(b ^ ((a ^ b) & those) for a, b in zip(one, other, strict=True))
