"""The `[[bot]]` tables of a tournament file, and the keys that a tournament sets for all bots."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.settings import AUTO, LEVELS
from referee.core.text import shown
from referee.core.units import TimeControl
from referee.processes.limits import DEFAULT, Limits
from referee.processes.program import Program, distinct, split
from referee.tournament.file import keys
from referee.tournament.plan import PROCESSES, BotOrigin, Entrant

_ISOLATION = (*LEVELS, AUTO)


class BotTable(NamedTuple):
    """A bot of a tournament file."""

    bot: Program
    control: TimeControl | None  # its own clock, in every game; None where it has that of the game
    processes: str  # how long its process is kept; one of `PROCESSES`
    folder: str  # its working directory as written in the file
    missing: str
    """A program that the bot needs and that this machine does not have; empty if there is none, or the bot
    plays elsewhere.
    """
    origin: BotOrigin

    def entrant(self, control: TimeControl) -> Entrant:
        """The bot in a game with this clock."""
        return Entrant(self.bot, self.control or control, self.processes, self.folder, self.origin)


def bot_tables(
    base: Path,
    fields: Fields,
    main: Fields,
    instead: Callable[[], Mapping[str, str]],
    elsewhere: bool = False,
) -> list[BotTable]:
    """The bots of a file, those included whose programs are missing; their folders are relative to `base`,
    and `main` is the table `[tournament]`. `instead` is what is said of unknown keys, as for `Fields.only`.
    Where they play `elsewhere`, it does not matter what this machine has.

    Raises `UsageError`.
    """
    processes = main.one_of("processes", PROCESSES, "encounter")
    common = Program(
        "",
        (),
        base,
        limits=_limits(fields, DEFAULT),
        pause=main.flag("pause", False),
        forgive_waiting=main.flag("forgive_waiting", False),
        isolation=main.one_of("isolation", _ISOLATION, AUTO),
        user=_user(main, ""),
    )
    found = [_bot_table(base, bot, processes, common, instead, elsewhere) for bot in fields.objects("bot")]
    distinct([table.bot for table in found], [True] * len(found))
    return found


def _bot_table(
    base: Path,
    fields: Fields,
    processes: str,
    common: Program,
    instead: Callable[[], Mapping[str, str]],
    elsewhere: bool,
) -> BotTable:
    """A bot whose folder is relative to `base`; `common` has what the tournament sets for all of them."""
    fields.only(*keys.BOT, instead=instead)
    if fields.flag("person", False):
        return _person(base, fields)
    folder = fields.text("cwd", ".", "a folder")
    if not folder or shown(folder, len(folder)) != folder:
        raise fields.wrong("cwd", "a folder")
    cwd = (base / folder).resolve()
    env = fields.scalars("env") if fields.has("env") else {}
    pass_env = fields.texts("pass_env") if fields.has("pass_env") else ()
    for name in (*env, *pass_env):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise fields.wrong("env" if name in env else "pass_env", "names of environment variables")
    if any("\0" in value for value in env.values()):
        raise fields.wrong("env", "values without NUL")
    command, origin = _command(fields, "cmd"), _origin(fields)
    bot = replace(
        Program.of(fields.text("name"), command, cwd, tuple(env.items()), pass_env),
        limits=_limits(fields, common.limits),
        pty=fields.flag("pty", False),
        pause=fields.flag("pause", common.pause),
        forgive_waiting=fields.flag("forgive_waiting", common.forgive_waiting),
        isolation=fields.one_of("isolation", _ISOLATION, common.isolation),
        read=_read_also(fields, cwd, must_exist=not (elsewhere and origin.shared)),
        user=_user(fields, common.user),
    )
    lacking = (program for program in origin.needs if shutil.which(program) is None)
    return BotTable(
        bot,
        control_of(fields, "clock"),
        fields.one_of("processes", PROCESSES, processes),
        folder,
        "" if elsewhere else next(lacking, ""),
        origin,
    )


def _origin(fields: Fields) -> BotOrigin:
    """Reads what the table says about the bot's files."""
    files = fields.texts("files") if fields.has("files") else None
    if files is not None and not all(text and shown(text, len(text)) == text for text in files):
        raise fields.wrong("files", "files, folders and patterns")
    origin = BotOrigin(
        files,
        fields.flag("shared", False),
        fields.texts("needs") if fields.has("needs") else (),
        _command(fields, "build") if fields.has("build") else (),
        fields.has("cwd"),
        fields.flag("build_network", False),
    )
    if origin.build_network and not origin.build:
        raise UsageError(f"`{fields.at('build_network')}` is given without `build`, expected both of them")
    if origin.shared:
        for key in ("build", "files"):
            if fields.has(key):
                raise UsageError(
                    f"`{fields.at(key)}` is given with `shared`, but only applies to a bot that is sent to "
                    f"machines: expected `shared` or `{key}`, not both"
                )
        program = _command(fields, "cmd")[0]
        if "/" in program and not program.startswith("/"):
            raise UsageError(
                f"`{fields.at('cmd')}` has the relative program `{shown(program, 80)}` with `shared`, "
                "expected a program on the path or an absolute path"
            )
    return origin


def _person(base: Path, fields: Fields) -> BotTable:
    """A person, who has a name and a clock, and none of the keys of a program."""
    fields.only("name", "person", "clock")
    return BotTable(
        Program.of(fields.text("name"), (), base),
        control_of(fields, "clock"),
        "encounter",
        ".",
        "",
        BotOrigin(),
    )


def control_of(fields: Fields, name: str) -> TimeControl | None:
    """The time control in a field; None where it is missing. Raises `UsageError`."""
    if not fields.has(name):
        return None
    text = fields.text(name, expected="a time control")
    try:
        return TimeControl.parse(text)
    except UsageError as error:
        raise UsageError(f"`{fields.at(name)}`: {error}") from None


def _user(fields: Fields, default: str) -> str:
    user = fields.text("user", default, "the name of a user")
    if fields.has("user") and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\$?", user):
        raise fields.wrong("user", "the name of a user")
    return user


def _read_also(fields: Fields, cwd: Path, must_exist: bool) -> tuple[Path, ...]:
    """The files and folders of `read`, which are relative to the bot's folder."""
    texts = fields.texts("read") if fields.has("read") else ()
    paths = tuple((cwd / text).resolve() for text in texts if "\0" not in text)
    if len(paths) != len(texts) or (must_exist and not all(path.exists() for path in paths)):
        raise fields.wrong("read", "existing files and folders")
    return paths


def _limits(fields: Fields, base: Limits) -> Limits:
    if not fields.has("limits"):
        return base
    given = fields.scalars("limits")
    try:
        return Limits.parse(given, base)
    except UsageError as error:
        raise UsageError(f"`{fields.at('limits')}`: {error}") from None


def _command(fields: Fields, name: str) -> tuple[str, ...]:
    """A command from a text, which is split as a shell would, or from a list of words."""
    if isinstance(fields.value(name), list):
        words = fields.texts(name)
        if not words or any("\0" in word for word in words):
            raise fields.wrong(name, "a command")
        return words
    command = fields.text(name, expected="a string or a list of strings")
    try:
        return tuple(split(command))
    except UsageError as error:
        raise UsageError(f"`{fields.at(name)}`: {error}") from None
