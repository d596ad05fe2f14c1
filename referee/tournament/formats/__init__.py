"""The formats of tournaments, by name: those that are built in, and those from outside.

`FORMATS.md` describes them for people.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.named_code import names_file
from referee.core.text import shown
from referee.tournament.formats import outside
from referee.tournament.formats.fixed import ExplicitPairings, FreePlay, Gauntlet, RoundRobin
from referee.tournament.formats.format import (
    DEFAULT,
    ORIGIN,
    Amount,
    Format,
    Settings,
    check_bots,
    check_settings,
    count_text,
    total,
)
from referee.tournament.formats.knockout import Knockout
from referee.tournament.formats.league import League
from referee.tournament.formats.section import SectionState, Standing, StoreBatch
from referee.tournament.formats.stages import Staged
from referee.tournament.formats.swiss import Swiss
from referee.tournament.formats.tuning import Tuning

__all__ = [
    "FORMATS",
    "KEYS",
    "ORIGIN",
    "Amount",
    "Format",
    "SectionState",
    "Settings",
    "Standing",
    "StoreBatch",
    "check_bots",
    "count_text",
    "format_given",
    "format_of",
    "from_header",
    "known_format",
    "own_keys",
    "total",
]

FORMATS: dict[str, type[Format]] = {
    one.name: one
    for one in (RoundRobin, Gauntlet, Swiss, Knockout, Staged, League, ExplicitPairings, FreePlay, Tuning)
}
"""The formats, by name."""

KEYS = ("format", *dict.fromkeys(key for one in FORMATS.values() for key in one.setting_names()))
"""The keys of a tournament file that belong to the format."""


def format_given(text: str, folder: Path) -> type[Format]:
    """The format that a user named, by its name or as `module.py:NAME`, the file relative to a folder.

    Raises `UsageError`.
    """
    if text in FORMATS:
        return FORMATS[text]
    if not names_file(text):
        expected = f"one of {', '.join(FORMATS)}, or a file's module.py:NAME"
        raise UsageError(f"unknown format `{shown(text, 80)}`, expected {expected}")
    found = outside.from_file(text, folder)
    if found.name in FORMATS:
        raise UsageError(f"the name `{found.name}` belongs to a built-in format, expected a different one")
    return found


def own_keys(fields: Fields, folder: Path) -> tuple[str, ...]:
    """The keys that the format of a tournament file has if it is from outside. Raises `UsageError`."""
    text = fields.text("format", DEFAULT)
    if text.endswith(".py"):  # told before its settings are taken for unknown keys
        raise fields.wrong("format", "`module.py:NAME`, with the name of the format in that file")
    return format_given(text, folder).setting_names() if names_file(text) else ()


def format_of(
    fields: Fields,
    names: Sequence[str],
    left_out: Collection[str] = (),
    folder: Path = Path(),
    tables: Fields | None = None,
) -> Format:
    """The format from the table `[tournament]` of a tournament file in a folder, for bots with these names,
    in the order of the file; bots that are `left_out` on this machine may be named, and are ignored.
    `tables` is the whole file, whose `[[stage]]` or `[[parameter]]` tables belong to the format.

    Raises `UsageError`.
    """
    name = fields.text("format", DEFAULT)
    implied = _implied(fields, tables) if tables else None
    found = implied or (format_given(name, folder) if names_file(name) else _named(fields))
    check_settings(fields, found, FORMATS.values())
    return found.read(Settings(fields, names, left_out, UsageError, tables))


def _implied(fields: Fields, tables: Fields) -> type[Format] | None:
    """The format that is meant by tables of its own, if there are some. Raises `UsageError`."""
    named = fields.text("format") if fields.has("format") else ""
    if tables.has("stage"):
        if named not in ("", Staged.name):
            raise fields.wrong("format", "the format of each stage in its own `[[stage]]` table")
        return Staged
    if tables.has("parameter"):
        if named not in ("", Tuning.name):
            raise fields.wrong("format", f"`{Tuning.name}`, or none, with `[[parameter]]` tables")
        return Tuning
    return None


def from_header(header: Mapping[str, Any]) -> Format:
    """The format of a run from its header, which has the members of `Format.header`.

    Raises `RecordError`, and `UsageError` where it is from a file that was not named, or is another one now.
    """
    fields = Fields(dict(header), "", RecordError)
    found, names = None, fields.object("bots").names()
    if fields.has(ORIGIN):
        found = outside.of_header(header)
        if found is None:
            raise UsageError(
                f"the format `{shown(fields.text('format'), 80)}` of these records comes from a file, "
                f"`{shown(fields.object(ORIGIN).text('file'), 200)}`, which is only run if you name it: "
                "expected `--tournament-format module.py:NAME`"
            )
    form, settings = found or (_named(fields), fields)
    return form.read(Settings(settings, names, (), RecordError))


def known_format(header: Mapping[str, Any]) -> Format | None:
    """Like `from_header`, but returns None for a format from a file that was not named."""
    is_known = ORIGIN not in header or outside.of_header(header) is not None
    return from_header(header) if is_known else None


def _named(fields: Fields) -> type[Format]:
    return FORMATS[fields.one_of("format", FORMATS, DEFAULT)]
