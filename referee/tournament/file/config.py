"""Tournament files: TOML, typed, with errors that name the key."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.files import read_start
from referee.core.pairing import SECTION_NAME
from referee.core.settings import (
    MARGIN_US,
    MAX_WORKERS,
    ORDER,
    ORDERS,
    REJECTIONS,
    START_US,
    PointScale,
    TimeLimit,
)
from referee.core.text import shown
from referee.core.this_machine import usable_cores
from referee.core.units import TimeControl
from referee.games import game_given, option_names
from referee.games.api import Game
from referee.processes.program import Program
from referee.records.amendments import LeftOut, strikes_of
from referee.records.header import REPEATS
from referee.tournament import formats, stopping
from referee.tournament.file import keys
from referee.tournament.file.bot_table import BotTable, bot_tables, control_of
from referee.tournament.file.opening_table import openings_of
from referee.tournament.file.tuned_bot import tuned_bot
from referee.tournament.formats import Format, format_of
from referee.tournament.plan import Plan, checked_seed
from referee.tournament.tournament import KEEP, Tournament, TournamentFile

SIZE_CAP = 1 << 20  # maximum number of bytes of a tournament file

LINE_CAP = 4096
"""Maximum number of bytes of a line: the parser takes time in the square of the length of a dotted key."""

TUNING_SPRT = "0,20"  # the sequential test of a tuning that names none

DEPTH_CAP = 50  # maximum number of levels of nested brackets


def lacking(bot: Program, program: str) -> LeftOut:
    """The bot, left out since a machine lacks a program that it needs."""
    return LeftOut(bot.name, f"it needs `{shown(program, 80)}`", is_fault=False)


def default_workers() -> int:
    """All usable cores but one, which is left to the rest of the machine."""
    return max(1, len(usable_cores()) - 1)


def load(path: Path, elsewhere: bool | None = None) -> Tournament:
    """A tournament from its file. Where it is played `elsewhere` (by default where the file names a cluster),
    no bot is left out for what this machine lacks.

    Raises `UsageError`, naming the file and the key.
    """
    file = read_file(path)
    with file.named():
        fields = Fields(parse(file.text), "", UsageError, examples=keys.EXAMPLES)
        return _tournament(file, fields, path.parent, elsewhere)


def tournament_of(
    path: Path, tables: dict[str, Any], base: Path, given_by: Mapping[str, str] | None = None
) -> Tournament:
    """A tournament from the tables of a tournament file that is to be stored under this path; the paths in
    them are relative to `base`.

    Raises `UsageError`, naming the key, or the option that `given_by` has for it.
    """
    tournament = _tournament(TournamentFile(path), Fields(tables, "", UsageError, given_by), base)
    return replace(tournament, file=TournamentFile(path, written(tables).encode()))


TABLES = ("tournament", "game", "options", "limits", "bot", "stage", "parameter")


def _tournament(
    file: TournamentFile, fields: Fields, base: Path, elsewhere: bool | None = None
) -> Tournament:
    fields.only(*TABLES, instead=lambda: keys.in_file(option_names()))
    main = fields.object("tournament", "a table, `[tournament]`")
    own_keys = formats.own_keys(main, base)
    if taken := {*own_keys} & {*keys.TOURNAMENT} - {*formats.KEYS}:
        raise main.wrong(
            "format",
            f"a format with no setting named `{min(taken)}`, because every tournament already has that key",
        )
    main.only(*keys.TOURNAMENT, *own_keys, instead=lambda: keys.in_tournament(option_names()))
    for stage in fields.objects("stage") if fields.has("stage") else ():
        stage.only(*keys.STAGE)
    for parameter in fields.objects("parameter") if fields.has("parameter") else ():
        parameter.only(*keys.PARAMETER)
    games = _games(base, fields, main)
    seed = checked_seed(main.text("seed") if main.has("seed") else None)
    cluster = _cluster(main)
    plays_elsewhere = bool(cluster) if elsewhere is None else elsewhere
    tables = bot_tables(base, fields, main, lambda: keys.in_bot(option_names()), plays_elsewhere)
    rule = stopping.stopping_rule_of(main)
    if fields.has("parameter"):
        tables = tuned_bot(fields, main, tables)
        rule = replace(rule, sprt=rule.sprt or stopping.Sprt.parse(TUNING_SPRT))
    left_out = tuple(lacking(table.bot, table.missing) for table in tables if table.missing)
    present = [table for table in tables if not table.missing]

    def format_among(names: Sequence[str], gone: Collection[str]) -> Format:
        return format_of(main, names, gone, base, fields)

    return Tournament(
        tuple(_plan(main, base, game, present, seed) for game in games),
        format_among([table.bot.name for table in present], [one.bot for one in left_out]),
        strikes_of(main),
        rule,
        main.one_of("repeats", REPEATS, REPEATS[0]),
        PointScale.read(main),
        TimeLimit.read(main),
        main.one_of(ORDER, ORDERS, ORDERS[0]),
        left_out,
        main.one_of("keep", KEEP, KEEP[0]),
        main.number("workers", 0, MAX_WORKERS, default=default_workers()),
        main.flag("pin", False),
        cluster,
        file,
        format_among,
    )


def _cluster(main: Fields) -> str:
    """The address of the cluster; empty where there is none."""
    cluster = main.text("cluster", "")
    if main.has("cluster") and (not cluster or shown(cluster, 200) != cluster):
        raise main.wrong("cluster", "the address of a Dask scheduler, or `local:N`")
    return cluster


def _plan(main: Fields, base: Path, game: _Game, present: list[BotTable], seed: str) -> Plan:
    options = game.game.settle(game.options)
    plan = Plan(
        game.game,
        options,
        tuple(table.entrant(game.control) for table in present),
        seed,
        main.period("margin", MARGIN_US),
        main.number("rejections", 1, 1000, default=REJECTIONS),
        main.period("start", START_US),
        seed_is_hidden=not main.has("seed"),
        section=game.name,
    )
    plan.check_seats()
    if game.openings is None:
        return plan
    return replace(plan, openings=openings_of(game.openings, base, game.game, options))


class _Game(NamedTuple):
    """A game of the file, before it is known which bots play."""

    name: str
    game: Game[Any]
    options: dict[str, str]
    control: TimeControl
    openings: Fields | None


def _games(base: Path, fields: Fields, main: Fields) -> list[_Game]:
    """The only game, which `[tournament]` names, or those of `[[game]]`."""
    if not fields.has("game"):
        game = game_given(main.text("game"), base)
        given = fields.scalars("options") if fields.has("options") else {}
        control = control_of(main, "clock") or game.clock
        return [_Game("", game, given, control, _openings(main))]
    for key, fields_of_key in (("game", main), ("options", fields)):
        if fields_of_key.has(key):
            raise UsageError(
                f"`{fields_of_key.at(key)}` is given outside the `[[game]]` "
                "tables, expected it in each of them"
            )
    found: list[_Game] = []
    for one in fields.objects("game"):
        one.only(*keys.GAME)
        game = game_given(one.text("game"), base)
        name = one.text("name", game.slug)
        if not SECTION_NAME.fullmatch(name):
            raise one.wrong("name", "1 to 64 letters, digits and . _ + -")
        if name in {other.name for other in found}:
            raise one.wrong("name", "a different name for each game")
        given = one.scalars("options") if one.has("options") else {}
        control = control_of(one, "clock") or control_of(main, "clock") or game.clock
        found.append(_Game(name, game, given, control, _openings(one) or _openings(main)))
    if not found:
        raise fields.wrong("game", "at least one game")
    return found


def _openings(fields: Fields) -> Fields | None:
    return fields.object("openings") if fields.has("openings") else None


def read_file(path: Path) -> TournamentFile:
    """A file of tables, not parsed yet, whose errors name it. Raises `UsageError`."""
    return TournamentFile(path, read_text(path), f"`{shown(str(path))}`: ")


def read_text(path: Path) -> bytes:
    """The first bytes of a file, one more than a tournament file may have. Raises `UsageError`."""
    try:
        return read_start(path, SIZE_CAP + 1)
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None


def parse(text: bytes) -> dict[str, Any]:
    """The tables of a file. Raises `UsageError`, which names the line where that is known."""
    if len(text) > SIZE_CAP:
        raise UsageError(f"the file has more than {SIZE_CAP:,} bytes, expected a tournament file")
    depth = 0
    for number, line in enumerate(text.split(b"\n"), 1):
        if len(line) > LINE_CAP:
            raise UsageError(f"line {number} has more than {LINE_CAP:,} bytes")
        depth += line.count(b"[") + line.count(b"{") - line.count(b"]") - line.count(b"}")
        if max(depth, line.count(b"["), line.count(b"{")) > DEPTH_CAP:
            raise UsageError(f"line {number} has more than {DEPTH_CAP} levels of nested brackets")
    try:
        return tomllib.loads(text.decode())
    except UnicodeDecodeError:
        raise UsageError("the file is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"the file is not valid TOML: {shown(str(error), 200)}") from None


def written(tables: dict[str, Any]) -> str:
    """The text of a file with these tables: values are texts, numbers, truth values, lists and objects of
    them; a list of objects is written as an array of tables. Raises `UsageError` for text that is not UTF-8.
    """
    lines: list[str] = []
    for name, table in tables.items():
        for one in table if isinstance(table, list) else [table]:
            lines.append(f"[[{name}]]" if isinstance(table, list) else f"[{name}]")
            lines += [f"{key} = {_value(value)}" for key, value in one.items()]
    text = "\n".join([*lines, ""])
    if not all(ord(character) < 0xD800 or ord(character) > 0xDFFF for character in text):
        raise UsageError("the command line is not UTF-8")
    return text


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_value(inner)}' for key, inner in value.items())} }}"
    # A text of JSON is one of TOML, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
