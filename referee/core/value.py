"""Immutable classes as quick to create as plain ones.

`value` makes a dataclass with slots that the type checker treats as frozen, so nothing in the project assigns
to a field of an existing value. Nothing checks this at run time: creating a dataclass that is frozen at run
time too takes four times as long, and games create values at every move. A value is equal only to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")

made = tuple.__new__
"""`made(Kind, values)` is the named tuple `Kind(*values)`, without its constructor, a Python function that
takes twice as long: for what is made at every move. It needs all fields, and nobody checks them.
"""


@dataclass_transform(eq_default=False, frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """A class whose annotations are its fields, set once, by its constructor."""
    return dataclass(slots=True, eq=False)(cls)
