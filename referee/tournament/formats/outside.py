"""Formats from outside the package: from a file that a user names.

As with games, the origin of a format in a header is only compared: no file is run because a record names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from functools import wraps
from inspect import isabstract
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, RefereeError, UsageError
from referee.core.fields import Fields
from referee.core.named_code import located_error_text, source_of
from referee.core.pairing import Pairing
from referee.core.text import listed, shown
from referee.records.header import GROWING
from referee.tournament.formats.format import ORIGIN, SETTINGS, Amount, Format, Settings, check_bots
from referee.tournament.formats.section import SectionState, Standing
from referee.tournament.schedule import Encounter, Schedule, Wait

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")

_loaded: dict[str, type[Format]] = {}  # the formats that were loaded so far, by name


def from_file(text: str, folder: Path) -> type[Format]:
    """The format `module.py:NAME`, the file relative to a folder. Raises `UsageError`."""
    source = source_of(text, folder, "format")
    found = _checked(source.value(), text)
    if found not in _loaded.values():
        _guard(found, source.path)
    found.origin = {"file": text, "sha256": source.sha256}
    _loaded[found.name] = found
    return found


def _are_standings(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(map(_is_standing, value)))


def _is_standing(value: Any) -> bool:
    return isinstance(value, Standing) and isinstance(value.bot, str) and isinstance(value.columns, dict)


_GUARDED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "check": (lambda value: True, ""),
    "standings": (_are_standings, "a list of `Standing`, or None"),
    "games_in_all": (lambda value: isinstance(value, Amount) and isinstance(value.games, int), "an `Amount`"),
    "tested": (lambda value: isinstance(value, list), "a list"),
    "check_place": (lambda value: True, ""),
    "check_group": (lambda value: True, ""),
    "may_grow": (lambda value: isinstance(value, list), "a list"),
}
"""The methods of a format that return something; an error in one of them is one of its file. With each, what
it has to return.
"""


def _guard(found: type[Format], path: str) -> None:
    """Has whatever the methods of a format raise become a `UsageError` that names the line of the file, also
    that they return something else than they should.
    """
    read, schedule = found.read, found.schedule

    def guarded_read(cls: type[Format], settings: Settings) -> Format:
        with _guarded(found, path, "read"):
            form = read(settings)
            if not isinstance(form, cls):
                raise TypeError(f"it returned {form!r}, expected a `{cls.__name__}`")
        with _guarded(found, path, "rounds"):
            if not isinstance(form.rounds, int):
                raise TypeError(f"it is {form.rounds!r}, expected a number")
        return form

    def guarded_schedule(self: Format, section: SectionState) -> Schedule:
        with _guarded(found, path, "schedule"):
            for step in schedule(self, section):
                _check_step(self, step, section)
                yield step

    vars_of: dict[str, Any] = {
        method: _checked_method(found, path, method, *right) for method, right in _GUARDED.items()
    }
    vars_of |= {"read": classmethod(guarded_read), "schedule": guarded_schedule}
    for name, method in vars_of.items():
        setattr(found, name, method)


@contextmanager
def _guarded(found: type[Format], path: str, method: str) -> Iterator[None]:
    """Has what a method of a format raises become a `UsageError` that names the line of the file."""
    try:
        yield
    except RefereeError:
        raise
    except (Exception, SystemExit) as error:
        what = located_error_text(error, path)
        raise UsageError(f"the format `{found.name}` failed in `{method}`: `{shown(path)}`, {what}") from None


def _checked_method(
    found: type[Format], path: str, method: str, is_right: Callable[[Any], bool], expected: str
) -> Callable[..., Any]:
    inner = getattr(found, method)

    @wraps(inner)
    def outer(self: Format, *given: Any, **named: Any) -> Any:
        with _guarded(found, path, method):
            result = inner(self, *given, **named)
            if not is_right(result):
                raise TypeError(f"it returned {result!r}, expected {expected}")
            return result

    return outer


def _check_step(form: Format, step: object, section: SectionState) -> None:
    """Raises `TypeError` for what does not belong in a schedule, and `ValueError` for a game that the records
    would refuse after it was played.
    """
    if isinstance(step, Wait):
        return
    if not isinstance(step, Encounter):
        raise TypeError(f"{step!r} is neither an encounter nor something to wait for")
    # A batch that was stored may have bots that are left out now.
    stored = (Pairing.parse(game).bots for batch in section.batches for game in batch)
    names = {*section.names, *(bot for bots in stored for bot in bots)}
    for pairing in step.games:
        if len(pairing.bots) != section.seats:
            raise ValueError(f"game `{pairing.id}` has {len(pairing.bots)} bots, expected {section.seats}")
        try:
            form.check_place(pairing)
            check_bots(pairing, names)
            form.check_group(pairing)
        except RecordError as error:
            raise ValueError(str(error)) from None


def _checked(value: Any, where: str) -> type[Format]:
    """The value if it is a format with all that formats need. Raises `UsageError`."""
    if not isinstance(value, type) or not issubclass(value, Format):
        raise UsageError(f"`{shown(where)}` is not a class derived from `Format`, expected one")
    if isabstract(value):
        lacking = listed(f"`{name}`" for name in sorted(value.__abstractmethods__))
        raise UsageError(f"the format `{shown(where)}` lacks {lacking}, expected all members of `Format`")
    name = getattr(value, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(f"the format `{shown(where)}` has an invalid `name`, expected {_NAME.pattern}")
    for one in fields(value):
        if one.default is MISSING:
            raise UsageError(f"the setting `{one.name}` of the format `{name}` has no default, expected one")
    return value


def of_header(header: Mapping[str, Any]) -> tuple[type[Format], Fields] | None:
    """The format from outside that a header names, and its settings; None where it was not loaded.

    Raises `RecordError`, and `UsageError` where the loaded file is another one.
    """
    whole = Fields(dict(header), "", RecordError)
    origin, settings = whole.scalars(ORIGIN), whole.object(SETTINGS)
    found = _loaded.get(str(header.get("format")))
    if found is None:
        return None
    if origin.get("sha256") != found.origin["sha256"]:
        raise UsageError(
            f"the file of the format `{found.name}` differs from the one that was used for these records: "
            f"its SHA-256 is {found.origin['sha256']}, expected {shown(str(origin.get('sha256')), 80)}"
        )
    growing = {key: header[key] for key in GROWING if key in header and key in found.setting_names()}
    given = {key: settings.value(key) for key in settings.names()}
    return found, Fields({**given, **growing}, SETTINGS, RecordError)
