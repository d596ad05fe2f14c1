"""Reads the settings of a format, from a tournament file or from the header of its records. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from referee.core.errors import RefereeError
from referee.core.fields import Fields
from referee.core.text import meant, shown

MAX_ROUNDS = 1_000_000
MAX_GAMES = 1_000_000_000


class Settings:
    """The settings of a format, key by key. The methods raise the error that the constructor was given."""

    def __init__(
        self,
        fields: Fields,
        names: Sequence[str],
        left_out: Collection[str],
        error: type[RefereeError],
        tables: Fields | None = None,
    ) -> None:
        """`names` are the bots in their order; those that are `left_out` may be named, and are ignored.
        `tables` has the tables of the format that do not stand in `fields`.
        """
        self.fields = fields  # the settings as they are, for numbers, flags and texts
        self._names = tuple(names)
        self._left_out = left_out
        self._error = error
        self._tables = tables or fields

    def tables(self, name: str, least: int) -> list[Fields]:
        """The tables with this name that belong to the format, which needs at least so many of them."""
        found = [*self._tables.objects(name)] if self._tables.has(name) else []
        if len(found) < least:
            raise self._tables.wrong(name, f"at least {least} `[[{name}]]` tables")
        return found

    def inside(self, table: Fields) -> Settings:
        """The settings that a table of the format has by itself."""
        return Settings(table, self._names, self._left_out, self._error)

    def rounds(self, default: int | None = 1) -> int:
        """The number of rounds; None as the default says that it has to be given."""
        return self.fields.number("rounds", 1, MAX_ROUNDS, default)

    def budget(self, default: int | None = None) -> int:
        """The number of games; None as the default says that it has to be given."""
        return self.fields.number("budget", 1, MAX_GAMES, default)

    def one_of(self, key: str, choices: Sequence[str]) -> str:
        """One of several words, by default the first."""
        return self.fields.one_of(key, choices, choices[0])

    def words(self, key: str, choices: Sequence[str], default: tuple[str, ...]) -> tuple[str, ...]:
        """Several different words."""
        if not self.fields.has(key):
            return default
        found = self.fields.texts(key)
        if not set(found) <= set(choices) or len(set(found)) < len(found):
            raise self.fields.wrong_form(key, f"a list of different words from {', '.join(choices)}")
        return found

    def order(self, key: str) -> tuple[str, ...]:
        """All bots: those that the key names, then the others in their order."""
        given = self._given(key) if self.fields.has(key) else ()
        return (*given, *(name for name in self._names if name not in given))

    def bots(self, key: str) -> tuple[str, ...]:
        """Some bots, at least one."""
        found = self._given(key)
        if not found:
            raise self._error(f"`{self.fields.at(key)}` has no bot that plays, expected at least one")
        return found

    def groups(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Groups of bots, at least one; no two have the same bots."""
        found: list[tuple[str, ...]] = []
        for group in self.fields.list(key, "a list of lists of bots"):
            if not isinstance(group, list) or not all(isinstance(name, str) for name in group):
                raise self.fields.wrong_form(key, "a list of lists of bots")
            self._check(key, group)
            if any(set(group) == set(other) for other in found):
                raise self._error(f"`{self.fields.at(key)}` has {list_text(group)} twice, expected it once")
            found.append(tuple(group))
        present = tuple(group for group in found if not set(group) & set(self._left_out))
        if not present:
            raise self._error(
                f"`{self.fields.at(key)}` has no encounter that can be played, expected at least one"
            )
        return present

    def _given(self, key: str) -> tuple[str, ...]:
        given = self.fields.texts(key)
        self._check(key, given)
        return tuple(name for name in given if name not in self._left_out)

    def _check(self, key: str, given: Sequence[str]) -> None:
        """Raises the error where a name is that of no bot, or stands there twice."""
        known = {*self._names, *self._left_out}
        for number, name in enumerate(given):
            if name not in known:
                expected = shown(meant(name, sorted(known)), 300)
                where = f"`{self.fields.at(key)}`"
                raise self._error(
                    f"{where} names `{shown(name, 80)}`, which is not a bot, expected {expected}"
                )
            if name in given[:number]:
                raise self._error(f"`{self.fields.at(key)}` names `{name}` twice, expected different bots")


def list_text(names: Sequence[str]) -> str:
    """Names of bots as shown in a message."""
    return ", ".join(f"`{name}`" for name in names)
