"""What is expected in place of an unknown option (what other programs call so, or the most similar one) and
of a missing argument.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from referee.core.text import nearest, shown
from referee.games import GAMES
from referee.tournament.file.words import key_called

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
    games = f", expected one of {', '.join(GAMES)}" if argument.name == "game" else ""
    return f"`{argument.human_readable_name}` is missing{games}"


def _expected(option: str, context: click.Context) -> Iterator[str]:
    """What may be meant by an option, the likeliest first."""
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
