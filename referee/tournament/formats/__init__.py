"""The formats of tournaments, by name.

`FORMATS.md` describes them for people.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.tournament.formats.explicit_pairings import ExplicitPairings
from referee.tournament.formats.format import DEFAULT, Amount, Format, SectionState, StoreBatch, total
from referee.tournament.formats.free_play import FreePlay
from referee.tournament.formats.gauntlet import Gauntlet
from referee.tournament.formats.knockout import Knockout
from referee.tournament.formats.league import League
from referee.tournament.formats.round_robin import RoundRobin
from referee.tournament.formats.settings import Settings
from referee.tournament.formats.standing import Standing
from referee.tournament.formats.swiss import Swiss

__all__ = [
    "FORMATS",
    "KEYS",
    "Amount",
    "Format",
    "SectionState",
    "Standing",
    "StoreBatch",
    "format_of",
    "from_header",
    "known_format",
    "total",
]

FORMATS: dict[str, type[Format]] = {
    one.name: one for one in (RoundRobin, Gauntlet, Swiss, Knockout, League, ExplicitPairings, FreePlay)
}
"""The formats, by name."""

KEYS = ("format", *dict.fromkeys(key for one in FORMATS.values() for key in one.setting_names()))
"""The keys of a tournament file that belong to the format."""


def format_of(fields: Fields, names: Sequence[str], left_out: Collection[str] = ()) -> Format:
    """The format from the table `[tournament]` of a tournament file, for bots with these names, in the order
    of the file; bots that are `left_out` on this machine may be named, and are ignored. Raises `UsageError`.
    """
    found = _named(fields)
    for key in KEYS[1:]:
        if fields.has(key) and key not in found.setting_names():
            formats = " or ".join(f"`{one.name}`" for one in FORMATS.values() if key in one.setting_names())
            raise UsageError(
                f"`{fields.at(key)}` is for the format {formats}, and `{fields.at('format')}` is "
                f"`{found.name}`, expected {' and '.join(f'`{one}`' for one in found.setting_names())}"
            )
    return found.read(Settings(fields, names, left_out, UsageError))


def from_header(header: Mapping[str, Any]) -> Format:
    """The format of a run from its header, which has the members of `Format.header`. Raises `RecordError`."""
    fields = Fields(dict(header), "", RecordError)
    return _named(fields).read(Settings(fields, fields.object("bots").names(), (), RecordError))


def known_format(header: Mapping[str, Any]) -> Format | None:
    """As `from_header`, but None for a match of an earlier version, whose header does not tell."""
    return from_header(header) if "rounds" in header else None


def _named(fields: Fields) -> type[Format]:
    name = fields.text("format", DEFAULT)
    if name not in FORMATS:
        raise fields.wrong("format", f"one of {', '.join(FORMATS)}")
    return FORMATS[name]
