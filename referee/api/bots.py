"""Bots as Python names them: commands, files, sample bots, functions, and tables of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from referee.api.function_bot import function_file
from referee.core.errors import UsageError
from referee.core.pairing import BOT_NAME
from referee.core.text import shown
from referee.processes.program import Program, distinct, name_of

if TYPE_CHECKING:
    from referee.protocol.bot import Game

BotLike: TypeAlias = (
    "str | os.PathLike[str] | Sequence[str] | Callable[[Game], str | None] | Mapping[str, Any]"
)
"""A bot: `"./mine --deep"` or `"mine=./mine"` as on the command line, `"@greedy"` for a sample bot, the path
of a program or of a file of Python, a list of words, a function as `referee.protocol.bot.play` takes it, or a
table `[[bot]]` of a tournament file.
"""

FUNCTIONS = "functions"
"""The folder, in that of a run, for the functions that play."""


class GivenBots(NamedTuple):
    """Bots as tables `[[bot]]` of a tournament file."""

    tables: list[dict[str, Any]]
    files: dict[str, bytes]
    """What their programs read, by the paths of the files in the folder of the run."""


def given_bots(bots: Sequence[BotLike] | Mapping[str, BotLike], base: Path, folder: Path) -> GivenBots:
    """The bots for a run in `folder`; relative paths in them are relative to `base`. Where no names are given
    for them, they have those of their programs and functions.

    Raises `UsageError`, also for a function that cannot be sent to a process of its own.
    """
    if isinstance(bots, str | os.PathLike) or not isinstance(bots, Sequence | Mapping):
        raise UsageError(f"`bots` is {_kind(bots)}, expected a list, or a mapping of names to bots")
    named = isinstance(bots, Mapping)
    pairs = [*bots.items()] if isinstance(bots, Mapping) else [("", bot) for bot in bots]
    found = [_table(bot, name, base) for name, bot in pairs]
    given = [named or is_given for _, is_given in found]
    programs = [Program.of(table["name"], (), base) for table, _ in found]
    tables: list[dict[str, Any]] = []
    files: dict[str, bytes] = {}
    for program, (_, bot), (table, _) in zip(distinct(programs, given), pairs, found, strict=True):
        table = {**table, "name": program.name}
        if callable(bot):
            path = f"{FUNCTIONS}/{program.name}.pickle"
            files[path] = function_file(_pickled(bot, program.name))
            table |= {
                "cmd": ["{python}", "-m", "referee.api.function_bot", path],
                "cwd": str(folder),
                "files": [path],
                "isolation": "none",  # others hide the folder of the run
                "processes": "worker",  # an interpreter takes longer to start than a quick game
            }
        tables.append(table)
    return GivenBots(tables, files)


def _table(bot: object, name: str, base: Path) -> tuple[dict[str, Any], bool]:
    """The table of a bot, with its name, and whether that was given; that of a function has no command."""
    if isinstance(bot, Mapping):
        return {"name": name, **bot}, True
    if isinstance(bot, str):
        program = Program.parse(bot, base)
        is_given = bot.startswith(f"{program.name}=")
        return {"name": name or program.name, "cmd": list(program.command)}, is_given
    if isinstance(bot, os.PathLike):
        path = str(base / bot)
        bot = ["{python}", path] if path.endswith(".py") else [path]
    if isinstance(bot, Sequence) and bot and all(isinstance(word, str) for word in bot):
        words = list(bot)
        return {"name": name or name_of(words, base), "cmd": words}, False
    if callable(bot):
        return {"name": name or _function_name(bot)}, False
    raise UsageError(
        f"a bot is {_kind(bot)}, expected a command, a path, a function, a list of words, or a table with "
        "`cmd`"
    )


def _function_name(function: object) -> str:
    """A name for a function: its own, or that of what it is an instance of or made from."""
    inner = getattr(function, "func", function)  # of functools.partial
    name = str(getattr(inner, "__name__", type(inner).__name__)).strip("<>")
    return name if BOT_NAME.fullmatch(name) else "function"


def _pickled(function: object, name: str) -> bytes:
    import cloudpickle  # only functions need it

    try:
        pickled: bytes = cloudpickle.dumps(function)
    except Exception as error:  # whatever a part of it raises when it is pickled
        raise UsageError(
            f"the function of bot `{name}` cannot be sent to a process of its own: {shown(str(error), 200)}; "
            "expected one that uses nothing like open files, locks or connections"
        ) from None
    return pickled


def _kind(value: object) -> str:
    return f"`{shown(repr(value), 80)}`"
