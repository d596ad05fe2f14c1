"""Untrusted nested data, read field by field: types and bounds are checked, errors name the path."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from referee.core.errors import RefereeError, UsageError
from referee.core.text import meant, nearest, shown, value_text
from referee.core.units import parse_period, show_period

LARGEST = 1 << 62

_MISSING = object()


class Fields:
    """A JSON or TOML object. Its methods raise the error class that the constructor was given."""

    def __init__(
        self,
        value: Any,
        path: str,
        error: type[RefereeError],
        given_by: Mapping[str, str] | None = None,
        examples: Mapping[str, str] | None = None,
    ) -> None:
        """`given_by` has other names for the paths of some fields, such as the options that set them.
        `examples` has values of a TOML file as they are written there, by their paths without numbers, for
        errors.
        """
        self._path = path
        self._error = error
        self._given_by = given_by or {}
        self._examples = examples
        if not isinstance(value, dict):
            raise error(f"{f'`{path}`' if path else 'it'} is {_seen(value)}, expected {self._object}")
        self._value: dict[str, Any] = value

    def at(self, name: str) -> str:
        """The path of a field, or its other name."""
        path = f"{self._path}.{name}" if self._path else name
        return self._given_by.get(path, path)

    def wrong(self, name: str, expected: str) -> RefereeError:
        """The error for a field that is not what was expected."""
        return self._error(f"`{self.at(name)}` {_is(self._value.get(name, _MISSING))}, expected {expected}")

    def wrong_form(self, name: str, expected: str) -> RefereeError:
        """The error for a field of another type or form, with an example of the right one."""
        path = self.at(name)
        value = self._value.get(name, _MISSING)
        if isinstance(value, str) and not self._given_by:  # in quotes, as a text has them in the file
            value = json.dumps(value, ensure_ascii=False)
        example = (self._examples or {}).get(re.sub(r"\.\d+", "", path))
        such_as = f", such as `{name} = {example}`" if example else ""
        return self._error(f"`{path}` {_is(value)}, expected {expected}{such_as}")

    def value(self, name: str) -> object:
        """Returns the value of a field, unchecked; None where it is missing."""
        return self._value.get(name)

    def without_nulls(self, *names: str) -> Fields:
        """The same object without those of these fields that are null."""
        value = {name: what for name, what in self._value.items() if name not in names or what is not None}
        return Fields(value, self._path, self._error, self._given_by, self._examples)

    def names(self) -> list[str]:
        """The names of all fields."""
        return list(self._value)

    def has(self, name: str) -> bool:
        """Whether the field exists."""
        return name in self._value

    def only(self, *names: str, instead: Callable[[], Mapping[str, str]] = dict) -> None:
        """Raises the error for a field of any other name, and suggests the name that was probably meant.

        `instead` gives what is expected in place of names that are often met, in lower case with `_`.
        """
        for name in self._value:
            if name not in names:
                whole = name[:100].lower().replace("-", "_")
                own = {one: f"`{one}`" for one in names}
                others = instead()
                known, parts_known = {**others, **own}, {**own, **others}
                # The name itself, one that is like it, or a part of it, such as `time` in `time_per_move`.
                found = [known.get(word) for word in (whole, nearest(name, names))]
                found += [parts_known.get(word) for word in reversed(whole.split("_"))]
                expected = next(filter(None, found), meant(name, names))
                raise self._error(f"unknown key `{shown(self.at(name), 100)}`, expected {expected}")

    @property
    def _object(self) -> str:
        return "an object" if self._examples is None else "a table"

    def _takes(self, name: str, default: object) -> bool:
        """Whether a field takes this default since it is missing: each default passes through here."""
        return name not in self._value

    def _get(self, name: str, kind: type, expected: str) -> Any:
        value = self._value.get(name)
        # bool is an int to Python, and neither to JSON nor to TOML.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.wrong_form(name, expected)
        return value

    def text(self, name: str, default: str | None = None, expected: str = "a string") -> str:
        """Reads a field that is a text."""
        if default is not None and self._takes(name, default):
            return default
        value = str(self._get(name, str, expected))
        if not _encodes(value):
            raise self.wrong(name, "a string that UTF-8 can encode")
        return value

    def one_of(self, name: str, choices: Collection[str], default: str | None = None) -> str:
        """Reads a field that is one of these texts."""
        expected = f"one of {', '.join(choices)}"
        value = self.text(name, default, expected)
        if value not in choices:
            raise self.wrong(name, expected)
        return value

    def period(self, name: str, default_us: int) -> int:
        """Reads a field that is a period of time, in microseconds."""
        text = self.text(name, show_period(default_us), "a time")
        try:
            return parse_period(text)
        except UsageError as error:
            raise self._error(f"`{self.at(name)}`: {error}") from None

    def number(self, name: str, low: int = 0, high: int = LARGEST, default: int | None = None) -> int:
        """Reads a field that is a whole number from `low` to `high`, both included."""
        if default is not None and self._takes(name, default):
            return default
        expected = "a number" if high == LARGEST else f"a number from {low} to {high}"
        value = self._get(name, int, expected)
        if not low <= value <= high:
            raise self.wrong(name, f"a number from {low} to {high}")
        return int(value)

    def numbers_named(self, names: Sequence[str], default: int | None = None) -> list[int]:
        """Reads several fields as `number` does it; a record of a game has many."""
        found: list[int] = []
        for name in names:
            value = self._value.get(name, default)
            found.append(value if type(value) is int and 0 <= value <= LARGEST else self.number(name))
        return found

    def real(self, name: str, default: float | None = None) -> float:
        """Reads a field that is a finite number, whole or not."""
        value = self._value.get(name)
        if default is not None and self._takes(name, default):
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            raise self.wrong_form(name, "a number")
        return float(value)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """Reads a field that is true or false."""
        if default is not None and self._takes(name, default):
            return default
        return bool(self._get(name, bool, "true or false"))

    def list(self, name: str, expected: str = "a list") -> list[Any]:
        """Reads a field that is a list of any values."""
        value = self._get(name, list, expected)
        assert isinstance(value, list)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Reads a field that is a list of strings."""
        values = self.list(name, "a list of strings")
        if not all(isinstance(value, str) and _encodes(value) for value in values):
            raise self.wrong_form(name, "a list of strings")
        return tuple(values)

    def numbers(self, name: str) -> tuple[int, ...]:
        """Reads a field that is a list of whole numbers."""
        values = self.list(name, "a list of numbers")
        if not all(type(value) is int and abs(value) <= LARGEST for value in values):
            raise self.wrong(name, "a list of numbers")
        return tuple(values)

    def scalars(self, name: str) -> dict[str, str]:
        """Reads a field that is an object of texts and whole numbers, which are all given as texts."""
        inner = self._value.get(name)
        if not isinstance(inner, dict) or not all(
            isinstance(value, int | str) and not isinstance(value, bool) for value in inner.values()
        ):
            raise self.wrong_form(name, f"{self._object} of strings and numbers")
        return {key: str(value) for key, value in inner.items()}

    def hex(self, name: str) -> bytes:
        """Reads a field that is bytes in hexadecimal."""
        try:
            return bytes.fromhex(self.text(name))
        except ValueError:
            raise self.wrong(name, "a hexadecimal number") from None

    def object(self, name: str, expected: str = "") -> Fields:
        """Reads a field that is an object."""
        value = self._value.get(name)
        if not isinstance(value, dict):
            raise self.wrong_form(name, expected or self._object)
        return Fields(value, self.at(name), self._error, self._given_by, self._examples)

    def objects(self, name: str) -> Iterator[Fields]:
        """Reads the items of a field that is a list of objects; paths count them from 1."""
        expected = "a list" if self._examples is None else f"`[[{self.at(name)}]]` tables"
        path = self.at(name)
        for number, value in enumerate(self.list(name, expected), 1):
            yield Fields(value, f"{path}.{number}", self._error, self._given_by, self._examples)


def _is(value: object) -> str:
    return "is missing" if value is _MISSING else f"is {_seen(value)}"


def _seen(value: object) -> str:
    return "missing" if value is None else f"`{shown(value_text(value), 60)}`"


def _encodes(text: str) -> bool:
    """Whether UTF-8 can encode a text: JSON can contain lone surrogates, which are not characters."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
