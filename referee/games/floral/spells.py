"""The conditions of spells: how they are written, drawn and evaluated. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import eq, ge, gt, le, lt
from typing import NamedTuple

from referee.core.errors import GameOptionError
from referee.core.seeds import Random
from referee.core.text import shown

_RELATIONS = {"<": lt, "<=": le, "=": eq, ">=": ge, ">": gt}
_CONDITION = re.compile(
    r"(?:set (?P<set>[3-5]) \{(?P<members>[1-7](?:, ?[1-7]){2,4})\}"
    r"|sum (?P<sum>[3-5]) (?P<low>[1-9][0-9]?)-(?P<high>[1-9][0-9]?)"
    r"|seq (?P<seq>[3-5]) (?P<relations>(?:<=|>=|<|=|>)(?: (?:<=|>=|<|=|>)){1,3}))"
)
_CONDITION_FORMS = {
    "set": "`set N {A,B,C}` with N from 3 to 5 and 3 to 5 different identities from 1 to 7",
    "sum": "`sum N LOW-HIGH` with N from 3 to 5, and LOW and HIGH from N to 7 times N",
    "seq": "`seq N R R` with N from 3 to 5 and N - 1 relations of < <= = >= >",
}


class Condition(NamedTuple):
    """When a basic spell is cast: something that holds for the last `length` runes of a chain."""

    form: str
    length: int
    numbers: tuple[int, ...] = ()  # for `set`, its members, ascending; for `sum`, the lowest and the highest
    relations: tuple[str, ...] = ()  # for `seq`, oldest first

    def __str__(self) -> str:
        match self.form:
            case "set":
                return f"set {self.length} {{{','.join(map(str, self.numbers))}}}"
            case "sum":
                return f"sum {self.length} {self.numbers[0]}-{self.numbers[1]}"
        return f"seq {self.length} {' '.join(self.relations)}"

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Parses what `str` gives; a set may be in any order. Raises `ValueError`."""
        found = _CONDITION.fullmatch(text)
        expected = _CONDITION_FORMS.get(text.partition(" ")[0], "`set …`, `sum …` or `seq …`")
        wrong = ValueError(f"`{shown(text, 80)}` is not a condition, expected {expected}")
        if not found:
            raise wrong
        if found["set"]:
            members = tuple(sorted(int(member) for member in found["members"].split(",")))
            if len(set(members)) < len(members):
                raise wrong
            return cls("set", int(found["set"]), members)
        if found["sum"]:
            length, low, high = int(found["sum"]), int(found["low"]), int(found["high"])
            if not length <= low <= high <= 7 * length:
                raise wrong
            return cls("sum", length, (low, high))
        relations = tuple(found["relations"].split(" "))
        if len(relations) != int(found["seq"]) - 1:
            raise wrong
        return cls("seq", int(found["seq"]), (), relations)

    @classmethod
    def drawn(cls, rng: Random) -> Condition:
        """A random condition: the form is uniform, and so are the values within a form."""
        form = rng.choice(("set", "sum", "seq"))
        length = 3 + rng.below(3)
        if form == "set":
            return cls(form, length, _some(range(1, 8), 3 + rng.below(3), rng))
        if form == "sum":
            return cls(form, length, _some(range(length, 7 * length + 1), 2, rng))
        return cls(form, length, (), tuple(rng.choice(tuple(_RELATIONS)) for _ in range(length - 1)))

    def begun(self, chain: tuple[int, ...]) -> int:
        """How many runes at the end of this chain are a beginning of the condition; for a sum any are, until
        the last one decides.
        """
        for count in range(min(self.length, len(chain)), 0, -1):
            runes = chain[-count:]
            if count == self.length:
                fits = self.holds(chain)
            elif self.form == "seq":
                fits = Condition("seq", count, (), self.relations[: count - 1]).holds(runes)
            else:
                fits = self.form == "sum" or all(rune in self.numbers for rune in runes)
            if fits:
                return count
        return 0

    def holds(self, chain: tuple[int, ...]) -> bool:
        """Whether it holds for the end of this chain; never for a shorter chain."""
        form, length, numbers, relations = self
        if len(chain) < length:
            return False
        runes = chain[-length:]
        if form == "set":
            return set(numbers).issuperset(runes)
        if form == "sum":
            return numbers[0] <= sum(runes) <= numbers[1]
        for relation, (one, other) in zip(relations, pairwise(runes), strict=True):
            if not _RELATIONS[relation](one, other):
                return False
        return True


def _some(values: Sequence[int], count: int, rng: Random) -> tuple[int, ...]:
    """`count` different random values, ascending."""
    items = list(values)
    rng.shuffle(items)
    return tuple(sorted(items[:count]))


class Spells(NamedTuple):
    """The conditions of the basic spells, the same for both seats."""

    water: Condition
    fertilize: Condition
    weather: Condition

    def __str__(self) -> str:
        return "; ".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> Spells:
        """Parses what `str` gives. Raises `ValueError`."""
        parts = text.split(";")
        if len(parts) != 3:
            raise ValueError(f"{len(parts)} conditions, expected 3, separated by `;`")
        return cls(*(Condition.parse(" ".join(part.split())) for part in parts))


@dataclass(frozen=True, slots=True)
class SpellsOption:
    """The conditions of the basic spells, or nothing where they are drawn."""

    name: str
    meaning: str
    default: str = ""
    default_text: str = "drawn from the seed"
    values_text: str = "three conditions"

    def read(self, text: str) -> str:
        """The value of a text. Raises `GameOptionError`."""
        try:
            return str(Spells.parse(text)) if text else ""
        except ValueError as error:
            raise GameOptionError(f"option `{self.name}`: {error}") from None
