"""Classes of immutable values that cost no more to make than plain ones.

`value` makes a dataclass with slots that the type checker holds to be frozen, so nothing in the project
assigns to a field of a value that is made. At run time nothing checks it: a dataclass that is frozen there
too takes four times as long to make, and games make values every move. A value is equal to itself alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(eq_default=False, frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """A class whose annotations are its fields, set once, by its constructor."""
    return dataclass(slots=True, eq=False)(cls)
