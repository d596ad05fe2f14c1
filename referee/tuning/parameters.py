"""Parameters that are tuned: their ranges, and their values as texts. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from referee.core.fields import Fields

MAX_PARAMETERS = 100

NAME = "[A-Za-z_][A-Za-z0-9_]{0,39}"
"""The form of a parameter's name, which is not `python`, as a regular expression."""

Values = tuple[tuple[str, str], ...]
"""The values that a bot plays with: the name of each parameter with its value as a text."""


@dataclass(frozen=True)
class Parameter:
    """A number that a bot plays with; the fields are the keys of a tournament file."""

    name: str
    start: float
    min: float
    max: float
    integer: bool = False  # whether it has only whole values, which then are of the type `int`

    @classmethod
    def read(cls, fields: Fields) -> Parameter:
        """A parameter from a tournament file or a header. Raises the error of `fields`."""
        name = fields.text("name")
        if name == "python" or not re.fullmatch(NAME, name):
            raise fields.wrong("name", "1 to 40 letters, digits and _, not `python`")
        start, low, high = (fields.real(key) for key in ("start", "min", "max"))
        if not low < high:
            raise fields.wrong("max", f"more than `min`, which is {low:g}")
        if not low <= start <= high:
            raise fields.wrong("start", f"a number from {low:g} to {high:g}")
        if not fields.flag("integer", False):
            return cls(name, start, low, high)
        for key in ("start", "min", "max"):
            if not fields.real(key).is_integer():
                raise fields.wrong(key, "a whole number, as `integer` is true")
        return cls(name, int(start), int(low), int(high), integer=True)

    def value(self, share: float) -> float:
        """Its value at a share of its range: a whole number, or one whose last digit is about a
        hundred-thousandth of the range.
        """
        value = self.min + share * (self.max - self.min)
        if self.integer:
            return round(value)
        digits = 5 - math.ceil(math.log10(self.max - self.min))
        return float(f"{round(value, digits) + 0.0:.12g}")  # + 0.0: no `-0`


def read_parameters(tables: Iterable[Fields]) -> tuple[Parameter, ...]:
    """The parameters of several tables. Raises the error of `tables`."""
    found: dict[str, Parameter] = {}
    for table in tables:
        if len(found) == MAX_PARAMETERS:
            raise table.wrong("name", f"at most {MAX_PARAMETERS} parameters")
        one = Parameter.read(table)
        if one.name in found:
            raise table.wrong("name", "a different name for each parameter")
        found[one.name] = one
    return tuple(found.values())


def value_text(value: float) -> str:
    """A value as bots are given it."""
    return str(value) if isinstance(value, int) else f"{value:.12g}"


def values_at(parameters: Sequence[Parameter], shares: Sequence[float]) -> Values:
    """The values of parameters at shares of their ranges."""
    return tuple(
        (one.name, value_text(one.value(share))) for one, share in zip(parameters, shares, strict=True)
    )
