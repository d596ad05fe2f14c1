"""The tables of keys in `TOURNAMENT.md`, made from the code: `python -m tests.tools.key_tables [--write]`.

Prints the page; `--write` replaces it. Examples are those of `tournament.file.keys`. The type of a key is
what its error expects when it has a wrong value, and its default is the one with which it is read. Meanings
stay as they stand on the page.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.units import show_size
from referee.processes.limits import DEFAULT, SHARE
from referee.tournament.file import keys
from referee.tournament.file.config import load
from referee.tournament.formats import FORMATS
from referee.tournament.formats.knockout import Knockout
from referee.tournament.formats.league import League
from referee.tournament.formats.tuning import Tuning
from tests.command import ROOT

PAGE = ROOT / "referee" / "docs" / "TOURNAMENT.md"

TABLES = {
    "[tournament]": keys.TOURNAMENT,
    "[[bot]]": keys.BOT,
    "[limits]": keys.LIMITS,
    "[[game]]": keys.GAME,
    "[[stage]]": keys.STAGE,
    "[[parameter]]": keys.PARAMETER,
}
"""The examples of the keys of each table of a tournament file."""

NONE = "–"
IN_WORDS = {("[tournament]", "workers"), ("[[game]]", "name"), ("[[stage]]", "name")}
"""Keys whose default depends on something else: their meaning says on what."""

WRONG = "nan"
"""A value that no key accepts."""


def page(text: str) -> str:
    """The page with all rows as they follow from the code, and with its own meanings."""
    with tempfile.TemporaryDirectory() as folder:
        for table, examples in TABLES.items():
            head = f"| key of `{table}` | type | default | meaning |\n|---|---|---|---|\n"
            before, found, rest = text.partition(head)
            assert found, f"{PAGE.name} has no table of the keys of {table}"
            rows = re.match(r"(?:\|.*\n)*", rest)
            assert rows
            meanings = dict(re.findall(r"^\| `(\w+) = .* \| (.*) \|$", rows[0], re.MULTILINE))
            made = (
                f"| `{key} = {example}` | {_type(table, key, Path(folder))} "
                f"| {_default(table, key, Path(folder))} | {meanings.get(key, '')} |\n"
                for key, example in examples.items()
                if not is_inherited(table, key)
            )
            text = f"{before}{head}{''.join(made)}{rest[rows.end() :]}"
    return text


def is_inherited(table: str, key: str) -> bool:
    """Whether the key means the same as in `[tournament]`, for one bot or game; a sentence says which do."""
    return table in ("[[bot]]", "[[game]]") and key in keys.TOURNAMENT and key != "game"


def _type(table: str, key: str, folder: Path) -> str:
    """What an error says that the key expects."""
    value = '"?"' if table == "[limits]" else WRONG
    try:
        load(file(table, {**context(table, key), key: value}, folder))
    except UsageError as error:
        _, _, expected = str(error).partition(", expected ")
    expected = expected.replace("true or false", "boolean")
    words = re.sub(r"^(a|an|the) ", "", re.sub(r", such as `.*| such as `[^`]*`", "", expected))
    if words.startswith("one of "):
        return ", ".join(f'`"{choice}"`' for choice in words.removeprefix("one of ").split(", "))
    return re.sub(r"\d{4,}", lambda number: f"{int(number[0]):,}", words)


def _default(table: str, key: str, folder: Path) -> str:
    """The default with which the key is read."""
    if table == "[limits]":
        value = getattr(DEFAULT, key)
        if value in (None, SHARE):
            return NONE
        return f'`"{show_size(value)}"`' if "size" in _type(table, key, folder) else f"{value:,}"
    read: dict[str, Any] = {}
    original = Fields._takes

    def recording(fields: Fields, name: str, default: object) -> bool:
        read.setdefault(re.sub(r"\.\d+", "", fields.at(name)), default)
        return original(fields, name, default)

    with mock.patch.object(Fields, "_takes", recording):
        load(file(table, context(table, key), folder))
    default = read.get(f"{table.strip('[]')}.{key}")
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if not default or (table, key) in IN_WORDS:
        return NONE
    return f'`"{default}"`' if isinstance(default, str) else f"{default:,}"


def context(table: str, key: str) -> dict[str, str]:
    """The other keys of the table that there have to be so that this one is read."""
    if table == "[tournament]":
        form = next((name for name, one in FORMATS.items() if key in one.setting_names()), "")
        if not form:
            return {"game": keys.TOURNAMENT["game"]}
        others = {one: keys.TOURNAMENT[one] for one in FORMATS[form].setting_names() if one != "tables"}
        return {"game": keys.TOURNAMENT["game"], "format": f'"{form}"', **others}
    if table == "[[bot]]":
        return {"name": '"mine"', "cmd": '"true"', **({"build": '"true"'} if key == "build_network" else {})}
    if table == "[[stage]]":
        forms = [one.name for one in (Knockout, League) if key in one.setting_names()]
        own = {"format": f'"{forms[0]}"', key: keys.STAGE[key]} if forms else {}
        return {"name": '"this"', **own, **({"advance": "2"} if key == "groups" else {})}
    if table == "[[parameter]]":
        return {one: example for one, example in keys.PARAMETER.items() if one != "integer"}
    return {"game": keys.GAME["game"]} if table == "[[game]]" else {}


def file(table: str, given: Mapping[str, str], folder: Path) -> Path:
    """A tournament file with these keys in one of its tables, and as little as possible besides."""
    tables: dict[str, Mapping[str, str]] = {
        "[tournament]": {} if table == "[[game]]" else {"game": keys.TOURNAMENT["game"]},
        "[[bot]]": {"name": '"mine"', "cmd": '"true"'},
    }
    if table == "[[stage]]":  # one that has `advance` is the first of two, others are the last
        is_first = "advance" in given
        before, after = {"name": '"before"', "advance": "2"}, {"name": '"after"'}
        stages = [given, after] if is_first else [before, given]
    else:
        tables[table], stages = given, []
    lines = [
        line
        for name, settings in [*tables.items(), *(("[[stage]]", one) for one in stages)]
        for line in (name, *(f"{key} = {value}" for key, value in settings.items()))
    ]
    if table == "[[parameter]]" or given.get("format") == f'"{Tuning.name}"':  # of one bot
        lines = [line.replace('"true"', '"true {width}"') for line in lines]
        if table == "[[parameter]]":
            lines[2:2] = [f"budget = {keys.TOURNAMENT['budget']}"]
        else:
            parameter = context("[[parameter]]", "")
            lines += ["[[parameter]]", *(f"{key} = {value}" for key, value in parameter.items())]
    else:
        lines += ["[[bot]]", 'name = "old"', 'cmd = "true"']
    path = folder / "t.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def main(words: list[str]) -> None:
    """Prints or writes the page."""
    if words == ["--write"]:
        PAGE.write_text(page(PAGE.read_text()))
    else:
        print(page(PAGE.read_text()), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
