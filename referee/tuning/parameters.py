"""Parameters that are tuned: their ranges, and their values as texts. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from referee.core.fields import Fields
from referee.core.text import counted
from referee.tuning.spsa import LAST_SPREAD

MAX_PARAMETERS = 100

_NAME = re.compile(r"(?!python$)[A-Za-z_][A-Za-z0-9_]{0,39}")

Values = tuple[tuple[str, str], ...]
"""The values that a bot plays with: the name of each parameter with its value as a text."""


@dataclass(frozen=True)
class Parameter:
    """A number that a bot plays with."""

    name: str
    start: float
    low: float
    high: float
    integer: bool = False  # whether it has only whole values

    @classmethod
    def read(cls, fields: Fields) -> Parameter:
        """A parameter from a tournament file or a header. Raises the error of `fields`."""
        name = fields.text("name")
        if not _NAME.fullmatch(name):
            raise fields.wrong("name", "1 to 40 letters, digits and _, not `python`")
        integer = fields.flag("integer", False)
        found = cls(name, fields.real("start"), fields.real("min"), fields.real("max"), integer)
        if integer:
            for key in ("start", "min", "max"):
                if not fields.real(key).is_integer():
                    raise fields.wrong(key, "a whole number, as `integer` is true")
        if not found.low < found.high:
            raise fields.wrong("max", f"more than `min`, which is {found.low:g}")
        if not found.low <= found.start <= found.high:
            raise fields.wrong("start", f"a number from {found.low:g} to {found.high:g}")
        return found

    def json(self) -> dict[str, Any]:
        """The parameter as `read` takes it."""
        number = int if self.integer else float
        numbers = {"start": number(self.start), "min": number(self.low), "max": number(self.high)}
        return {"name": self.name, **numbers, **({"integer": True} if self.integer else {})}

    @property
    def start_share(self) -> float:
        """Where its start lies in its range, from 0 to 1."""
        return (self.start - self.low) / (self.high - self.low)

    def text(self, share: float) -> str:
        """Its value at a share of its range, as bots are given it: a whole number, or one whose last digit is
        about a hundred-thousandth of the range.
        """
        value = self.low + share * (self.high - self.low)
        if self.integer:
            return f"{round(value)}"
        digits = 5 - math.ceil(math.log10(self.high - self.low))
        return f"{round(value, digits) + 0.0:.12g}"  # + 0.0: no `-0`

    def number(self, text: str) -> float:
        """The value that a text of `text` has: an `int` where it has only whole values."""
        return int(text) if self.integer else float(text)

    @property
    def remark(self) -> str:
        """What the user should know of it, as a sentence; empty if nothing."""
        if not self.integer or LAST_SPREAD * (self.high - self.low) >= 1:
            return ""
        return (
            f"warning: `{self.name}` has only {counted(int(self.high - self.low) + 1, 'value')}, so both "
            "sides of a pair often play with the same one, and it is tuned less well"
        )


def read_parameters(tables: Iterable[Fields]) -> tuple[Parameter, ...]:
    """The parameters of several tables. Raises the error of `tables`."""
    found: list[Parameter] = []
    for number, table in enumerate(tables):
        if number == MAX_PARAMETERS:
            raise table.wrong("name", f"at most {MAX_PARAMETERS} parameters")
        one = Parameter.read(table)
        if one.name in {other.name for other in found}:
            raise table.wrong("name", "a different name for each parameter")
        found.append(one)
    return tuple(found)


def values_at(parameters: Sequence[Parameter], shares: Sequence[float]) -> Values:
    """The values of parameters at shares of their ranges."""
    return tuple((one.name, one.text(share)) for one, share in zip(parameters, shares, strict=True))
