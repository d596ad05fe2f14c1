"""Options shared by commands, and what is expected in place of a wrong one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from referee.cli import completion
from referee.core.errors import UsageError
from referee.core.settings import AUTO, LEVELS, MAX_WORKERS, START_US
from referee.core.text import listed, nearest, shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from referee.games.api import Game
    from referee.records.record import GameRecord
    from referee.viewing.knowledge import View


def _forms() -> click.Choice[str]:
    """The forms of printed tables, without those that leave texts of bots unescaped."""
    from tabulate import tabulate_formats  # importing it takes longer than most commands

    escaped = (form for form in tabulate_formats if form not in ("unsafehtml", "latex_raw"))
    return click.Choice(("csv", "json", *escaped))


_USUAL = ("simple", "csv", "json")


form_option = click.option(
    "--format",
    "form",
    default="simple",
    metavar="F",
    callback=lambda context, option, value: (
        value if value in _USUAL else _forms().convert(value, option, context)
    ),
    shell_complete=lambda context, option, typed: _forms().shell_complete(context, option, typed),
    help="csv, json, or one of tabulate's: simple (default), github, html, latex, tsv, …",
)

game_argument = click.argument("game", shell_complete=completion.game)

game_options_option = click.option(
    "--option",
    "options",
    metavar="K=V",
    multiple=True,
    shell_complete=completion.option,
    help="An option of the game; `referee games GAME` lists them.",
)

START = f"{START_US // 1_000_000}s"

start_option = click.option(
    "--start",
    metavar="TIME",
    default=START,
    show_default=True,
    help="Time for a bot to start, and to get ready for each game.",
)


isolation_option = click.option(
    "--isolation",
    type=click.Choice((*LEVELS, AUTO)),
    envvar="REFEREE_ISOLATION",
    help="How strictly bots are isolated from the machine; auto is the strongest level that works here. "
    "Default: auto.",
)

workers_option = click.option(
    "--workers",
    type=click.IntRange(0, MAX_WORKERS),
    help="Number of games at a time; 0 plays them in this process. Default: the number of usable cores "
    "minus one.",
)

json_lines_option = click.option(
    "--json-lines", is_flag=True, help="Print each event, and the table, as a line of JSON on stdout."
)

fresh_option = click.option(
    "--fresh",
    is_flag=True,
    help="Play all games again: the results so far are kept, in a folder with a number after its name.",
)

notes_option = click.option(
    "--notes", is_flag=True, help="Print all notes under the table, and ratings even from few games."
)

game_option = click.option(
    "--game",
    metavar="GAME",
    help="The game of these records, if it comes from a file: module.py:NAME.",
)


def _load_format(context: click.Context, parameter: click.Parameter, text: str | None) -> None:
    from referee.tournament.formats import format_given

    if text is not None:
        format_given(text, Path.cwd())


tournament_format_option = click.option(
    "--tournament-format",
    metavar="FORMAT",
    expose_value=False,
    callback=_load_format,
    help="The format of these records, if it comes from a file: module.py:NAME.",
)


seat_option = click.option(
    "--seat", type=click.IntRange(1), metavar="N", help="Show only what seat N knew during the game."
)

run_argument = click.argument("path", metavar="RUN", type=click.Path(path_type=Path))

runs_argument = click.argument(
    "paths", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path)
)


def place_in_game(at: str) -> tuple[str, int]:
    """The id of a game, or its number, and the step of it that `ID@N` names. Raises `UsageError`."""
    game_id, _, move = at.rpartition("@")
    if not (game_id and move.isascii() and move.isdecimal() and len(move) < 10):
        raise UsageError(
            f"`--from` has `{shown(at, 80)}`, expected ID@N: a game and the number of "
            "a move, as in `replay --move N`"
        )
    return game_id, int(move)


def outside_game(text: str | None) -> Game[Any] | None:
    """The game that `--game` names, or None without the option. Raises `UsageError`."""
    from referee.games import game_given

    return None if text is None else game_given(text, Path.cwd())


def view_of(seat: int | None, record: GameRecord) -> View:
    """The view that `--seat` means, or that of a spectator without the option. Raises `UsageError`."""
    seats = len(record.terms.bots)
    if seat is not None and seat > seats:
        raise UsageError(f"the game has {seats} seats, expected --seat 1 to {seats}")
    return None if seat is None else seat - 1


_Group = TypeVar("_Group", bound="DataclassInstance")


def group(kind: type[_Group], given: Mapping[str, Any]) -> _Group:
    """The options of a command that belong together, as a value: those that are the fields of a dataclass."""
    return kind(**{field.name: given[field.name] for field in fields(kind) if field.name in given})


def given_of(options: Mapping[str, object]) -> list[str]:
    """The options, by their names, that were given a value."""
    return [name for name, value in options.items() if value not in (None, (), {}) and value is not False]


def only_one(options: Mapping[str, object]) -> list[str]:
    """The option of these that is given, if any. Raises `UsageError` where several are."""
    given = given_of(options)
    if len(given) > 1:
        raise UsageError(f"{listed(f'`{name}`' for name in given)} are given, expected only one of them")
    return given


def key_values(what: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Names and values of texts `K=V`. Raises `UsageError`; its message calls them `what`."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"{what} `{shown(text, 80)}` has no value, expected K=V")
        if name in found:
            raise UsageError(f"{what} `{shown(name, 80)}` is given twice, expected only once")
        found[name] = value
    return found


_OPTIONS = {"rounds": "-n", "clock": "--time"}
"""Options that set what a key of the tournament file sets, and have another name."""

_OUTPUT = ("output", "out", "dir", "folder", "results")  # what other programs call `-o`


def unknown_option(error: click.NoSuchOption) -> str:
    """The error where a command has no such option, with what is expected instead, if that can be told."""
    unknown = f"there is no option `{shown(error.option_name, 80)}`"
    expected = next(_expected(error.option_name, error.ctx), "") if error.ctx else ""
    return f"{unknown}, expected {expected}" if expected else unknown


def missing_argument(argument: click.Argument) -> str:
    """The error where a command lacks an argument, with the games if it is one."""
    from referee.games import GAMES

    games = f", expected one of {', '.join(GAMES)}" if argument.name == "game" else ""
    return f"`{argument.human_readable_name}` is missing{games}"


def _expected(option: str, context: click.Context) -> Iterator[str]:
    """What may be meant by an option, the likeliest first."""
    from referee.tournament.file.keys import key_called

    known = [name for parameter in context.command.params for name in parameter.opts if name.startswith("-")]
    long = {name.strip("-"): name for name in known if name.startswith("--")}
    word = option.strip("-").lower().replace("_", "-")
    yield from (f"`{name}`" for bare, name in long.items() if word and bare.startswith(word))
    forms = [form.replace("-", "_") for form in (word, word.removesuffix("s"), f"{word}s")]
    keys = [key for form in forms if (key := key_called(form))]
    meant = ["-o"] if word in _OUTPUT else []
    meant += [name for key in keys for name in (f"--{key}", _OPTIONS.get(key, ""))]
    yield from (f"`{name}`" for name in meant if name in known)
    if context.command.name == "run":
        yield from (f"`{key}` in the tournament file" for key in keys)
    if like := nearest(word, long):
        yield f"`{long[like]}`"
