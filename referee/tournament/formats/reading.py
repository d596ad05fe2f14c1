"""Reads the format of a tournament from a tournament file, or from the header of its records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from referee.core.errors import RecordError, RefereeError, UsageError
from referee.core.fields import Fields
from referee.core.text import meant, shown
from referee.tournament.formats.format import (
    FORMATS,
    FREE,
    GAUNTLET,
    KEYS,
    KEYS_OF,
    KNOCKOUT,
    LEAGUE,
    MAX_GAMES,
    MAX_OF_SERIES,
    MAX_ROUNDS,
    PAIRINGS,
    ROUND_ROBIN,
    SWISS,
    TABLES,
    Format,
    list_text,
)
from referee.tournament.formats.knockout import stages


def format_of(fields: Fields, names: Sequence[str], left_out: Collection[str] = ()) -> Format:
    """The format from the table `[tournament]` of a tournament file, for bots with these names, in the order
    of the file; bots that are `left_out` on this machine may be named, and are ignored. Raises `UsageError`.
    """
    name = _name(fields)
    for key in KEYS[1:]:
        if fields.has(key) and key not in KEYS_OF[name]:
            formats = " or ".join(f"`{one}`" for one, keys in KEYS_OF.items() if key in keys)
            raise UsageError(
                f"`{fields.at(key)}` is for the format {formats}, and `{fields.at('format')}` is `{name}`, "
                f"expected {' and '.join(f'`{one}`' for one in KEYS_OF[name])}"
            )
    return _read(fields, name, names, left_out, UsageError)


def from_header(header: Mapping[str, Any]) -> Format:
    """The format of a run from its header, which has the members of `Format.header` and `rounds`.

    Raises `RecordError`.
    """
    fields = Fields(dict(header), "", RecordError)
    return _read(fields, _name(fields), fields.object("bots").names(), (), RecordError)


def _name(fields: Fields) -> str:
    name = fields.text("format", ROUND_ROBIN)
    if name not in FORMATS:
        raise fields.wrong("format", f"one of {', '.join(FORMATS)}")
    return name


def _read(
    fields: Fields, name: str, names: Sequence[str], left_out: Collection[str], error: type[RefereeError]
) -> Format:
    """The settings of a format, which tournament files and headers have under the same names."""
    reader = _BotFieldReader(fields, names, left_out, error)
    if name == SWISS:
        return Format(name, fields.number("rounds", 1, MAX_ROUNDS), seeding=reader.seeding())
    if name == KNOCKOUT:
        seeding = reader.seeding()
        best_of = fields.number("best_of", 1, MAX_OF_SERIES, default=1)
        if best_of % 2 == 0:
            raise fields.wrong("best_of", "an odd number")
        third_place = fields.flag("third_place", False)
        rounds = max(stages(len(seeding)), 1)
        return Format(name, rounds, seeding=seeding, best_of=best_of, third_place=third_place)
    if name == LEAGUE:
        return Format(name, MAX_ROUNDS, budget=fields.number("budget", 1, MAX_GAMES))
    rounds = fields.number("rounds", 1, MAX_ROUNDS, default=1)
    if name == FREE:
        return Format(name, rounds)
    if name == GAUNTLET:
        return Format(name, rounds, against=reader.against())
    if name == PAIRINGS:
        budget = fields.number("budget", 1, MAX_GAMES, default=0)
        return Format(name, rounds, pairings=reader.pairings(), budget=budget)
    tables = fields.text("tables", TABLES[0])
    if tables not in TABLES:
        raise fields.wrong("tables", f"one of {', '.join(TABLES)}")
    return Format(name, rounds, tables)


class _BotFieldReader:
    """Reads the fields that name bots."""

    def __init__(
        self, fields: Fields, names: Sequence[str], left_out: Collection[str], error: type[RefereeError]
    ) -> None:
        self._fields = fields
        self._names = tuple(names)
        self._left_out = left_out
        self._error = error

    def seeding(self) -> tuple[str, ...]:
        """All bots; those that are not named follow in their order."""
        given = self._bots("seeding") if self._fields.has("seeding") else ()
        return (*given, *(name for name in self._names if name not in given))

    def against(self) -> tuple[str, ...]:
        """The bots that all others meet."""
        found = self._bots("against")
        if not found:
            raise self._error(f"`{self._fields.at('against')}` has no bot that plays, expected at least one")
        return found

    def pairings(self) -> tuple[tuple[str, ...], ...]:
        """The bots of each encounter."""
        key = "pairings"
        found: list[tuple[str, ...]] = []
        for group in self._fields.list(key):
            if not isinstance(group, list) or not all(isinstance(name, str) for name in group):
                raise self._error(
                    f"`{self._fields.at(key)}` is something else, expected a list of lists of bots"
                )
            self._check(key, group)
            if any(set(group) == set(other) for other in found):
                raise self._error(f"`{self._fields.at(key)}` has {list_text(group)} twice, expected it once")
            found.append(tuple(group))
        present = tuple(group for group in found if not set(group) & set(self._left_out))
        if not present:
            raise self._error(
                f"`{self._fields.at(key)}` has no encounter that can be played, expected at least one"
            )
        return present

    def _bots(self, key: str) -> tuple[str, ...]:
        given = self._fields.texts(key)
        self._check(key, given)
        return tuple(name for name in given if name not in self._left_out)

    def _check(self, key: str, given: Sequence[str]) -> None:
        """Raises an error where a name is that of no bot, or stands there twice."""
        known = {*self._names, *self._left_out}
        for number, name in enumerate(given):
            if name not in known:
                expected = shown(meant(name, sorted(known)), 300)
                where = f"`{self._fields.at(key)}`"
                raise self._error(f"{where} names `{shown(name, 80)}`, which is no bot, expected {expected}")
            if name in given[:number]:
                raise self._error(f"`{self._fields.at(key)}` names `{name}` twice, expected different bots")
