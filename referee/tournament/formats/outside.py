"""Formats from outside the package: from a file that a user names.

As with games, the origin of a format in a header is only compared: no file is run because a record names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from inspect import isabstract
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, RefereeError, UsageError
from referee.core.fields import Fields
from referee.core.named_code import located_error_text, source_of
from referee.core.text import listed, shown
from referee.records.header import GROWING
from referee.tournament.formats.format import ORIGIN, SETTINGS, Format, SectionState
from referee.tournament.formats.settings import Settings
from referee.tournament.schedule import Encounter, Schedule, Wait

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")

_loaded: dict[str, type[Format]] = {}
"""The formats that were loaded so far, by name."""


def from_file(text: str, folder: Path) -> type[Format]:
    """The format `module.py:NAME`, the file relative to a folder. Raises `UsageError`."""
    source = source_of(text, folder, "format")
    found = _checked(source.value(), text)
    if found not in _loaded.values():
        _guard(found, source.path)
    found.origin = {"file": text, "sha256": source.sha256}
    _loaded[found.name] = found
    return found


_GUARDED = ("check", "standings", "games_in_all", "tested", "check_place", "check_bots", "may_grow")
"""The methods of a format that return something; an error in one of them is one of its file."""


def _guard(found: type[Format], path: str) -> None:
    """Has whatever the methods of a format raise become a `UsageError` that names the line of the file."""
    read, schedule = found.read, found.schedule

    @contextmanager
    def guarded(method: str) -> Iterator[None]:
        try:
            yield
        except RefereeError:
            raise
        except (Exception, SystemExit) as error:
            what = located_error_text(error, path)
            raise UsageError(
                f"the format `{found.name}` failed in `{method}`: `{shown(path)}`, {what}"
            ) from None

    def guarded_read(cls: type[Format], settings: Settings) -> Format:
        with guarded("read"):
            return read(settings)

    def guarded_schedule(self: Format, state: SectionState) -> Schedule:
        with guarded("schedule"):
            for step in schedule(self, state):
                if not isinstance(step, Encounter | Wait):
                    raise TypeError(f"{step!r} is no encounter, and nothing to wait for")
                yield step

    vars_of = {name: guarded(name)(getattr(found, name)) for name in _GUARDED}
    vars_of |= {"read": classmethod(guarded_read), "schedule": guarded_schedule}
    for name, method in vars_of.items():
        setattr(found, name, method)


def _checked(value: Any, where: str) -> type[Format]:
    """The value if it is a format with all that formats need. Raises `UsageError`."""
    if not isinstance(value, type) or not issubclass(value, Format):
        raise UsageError(f"`{shown(where)}` is not a class derived from `Format`, expected one")
    if isabstract(value):
        lacking = listed(f"`{name}`" for name in sorted(value.__abstractmethods__))
        raise UsageError(f"the format `{shown(where)}` has no {lacking}, expected all of them")
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
            f"the file of the format `{found.name}` is not the one that the records name: its SHA-256 is "
            f"{found.origin['sha256']}, expected {shown(str(origin.get('sha256')), 80)}"
        )
    growing = {key: header[key] for key in GROWING if key in header and key in found.setting_names()}
    given = {key: settings.value(key) for key in settings.names()}
    return found, Fields({**given, **growing}, SETTINGS, RecordError)
