"""Tournament files: TOML, typed, with errors that name the key."""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.core.cores import usable_cores
from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.isolation import AUTO, LEVELS
from referee.core.regular import read_start
from referee.core.text import shown
from referee.core.timecontrol import TimeControl
from referee.core.units import parse_period
from referee.gameplay.terms import MARGIN_US, REJECTIONS
from referee.games import GAMES, game_given
from referee.games.api import Game, Options
from referee.processes.bot import Bot, distinct, split
from referee.processes.limits import DEFAULT, LIMITS, Limits
from referee.tournament import words
from referee.tournament.plan import PROCESSES, START_US, Entrant, checked_options, checked_seed

SIZE_CAP = 1 << 20
"""The most bytes of a tournament file."""

LINE_CAP = 4096
"""The most bytes of a line: the parser takes time in the square of the length of a dotted key."""

DEPTH_CAP = 50
"""The most levels of nested brackets."""

KEEP = ("faults", "all", "nothing")

MOST_ROUNDS = 1_000_000

TABLES = ("tournament", "options", "limits", "bot")

TOURNAMENT_KEYS = (
    *("game", "rounds", "clock", "seed", "workers", "pin", "keep", "margin", "rejections", "start"),
    *("processes", "fresh", "pause", "isolation", "user"),
)

BOT_KEYS = (
    *("name", "cmd", "cwd", "env", "pass_env", "needs", "build"),
    *("clock", "processes", "fresh", "limits", "pty", "pause", "isolation", "read", "user"),
)

Build = tuple[str, tuple[str, ...], Path]
"""The bot's name, and the command and folder that build it before the first game."""


@dataclass(frozen=True, slots=True)
class Config:
    """A tournament file, checked."""

    path: Path
    text: bytes
    game: Game[Any]
    options: Options
    entrants: tuple[Entrant, ...]
    builds: tuple[Build, ...]
    absent: tuple[str, ...]
    """Messages that say which bots are left out on this machine, and why."""
    seed: str | None
    rounds: int
    workers: int
    pin: bool
    keep: str
    """Which dialogues are kept; one of `KEEP`."""
    margin_us: int
    rejections: int
    start_us: int

    @property
    def folder(self) -> Path:
        """The default folder of the results: beside the file."""
        return self.path.with_name(f"{self.path.stem}-results")


def default_workers() -> int:
    """All usable cores but one, which is left to the rest of the machine."""
    return max(1, len(usable_cores()) - 1)


def load(path: Path) -> Config:
    """A tournament from its file. Raises `UsageError`, naming the file and the key."""
    text = _read(path)
    try:
        return _config(path, text, Fields(_parse(text), "", UsageError))
    except UsageError as error:
        raise UsageError(f"`{shown(str(path))}`: {error}") from None


def _read(path: Path) -> bytes:
    try:
        return read_start(path, SIZE_CAP + 1)
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None


def _parse(text: bytes) -> dict[str, Any]:
    if len(text) > SIZE_CAP:
        raise UsageError(f"the file has more than {SIZE_CAP} bytes")
    depth = 0
    for number, line in enumerate(text.split(b"\n"), 1):
        if len(line) > LINE_CAP:
            raise UsageError(f"line {number} has more than {LINE_CAP} bytes")
        depth += line.count(b"[") + line.count(b"{") - line.count(b"]") - line.count(b"}")
        if max(depth, line.count(b"["), line.count(b"{")) > DEPTH_CAP:
            raise UsageError(f"line {number} has more than {DEPTH_CAP} levels of nested brackets")
    try:
        return tomllib.loads(text.decode())
    except UnicodeDecodeError:
        raise UsageError("the file is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"the file is not valid TOML: {shown(str(error), 200)}") from None


def _config(path: Path, text: bytes, fields: Fields) -> Config:
    options = {option.name for game in GAMES.values() for option in game.options}
    fields.only(*TABLES, instead=words.in_file(TOURNAMENT_KEYS, options, LIMITS))
    main = fields.object("tournament")
    main.only(*TOURNAMENT_KEYS, instead=words.in_tournament(BOT_KEYS, options, LIMITS))
    game = game_given(main.text("game"), path.parent)
    control = _control(main, "clock", game.clock)
    processes = _processes(main, "encounter")
    common = Bot(
        "",
        (),
        path.parent,
        limits=_limits(fields, DEFAULT),
        pause=main.flag("pause", False),
        isolation=_isolation(main, AUTO),
        user=_user(main, ""),
    )
    entrants, builds, absent = _bots(path, fields, control, processes, common)
    given = fields.scalars("options") if fields.has("options") else {}
    keep = main.text("keep", "faults")
    if keep not in KEEP:
        raise main.wrong("keep", f"one of {', '.join(KEEP)}")
    return Config(
        path=path,
        text=text,
        game=game,
        options=checked_options(game, given, len(entrants)),
        entrants=entrants,
        builds=builds,
        absent=absent,
        seed=checked_seed(main.text("seed")) if main.has("seed") else None,
        rounds=main.number("rounds", 1, MOST_ROUNDS, default=1),
        workers=main.number("workers", 0, 1000, default=default_workers()),
        pin=main.flag("pin", False),
        keep=keep,
        margin_us=_time(main, "margin", MARGIN_US),
        rejections=main.number("rejections", 1, 1000, default=REJECTIONS),
        start_us=_time(main, "start", START_US),
    )


def _bots(
    path: Path, fields: Fields, control: TimeControl, processes: str, common: Bot
) -> tuple[tuple[Entrant, ...], tuple[Build, ...], tuple[str, ...]]:
    """The bots, their builds, and messages for those that are left out; `common` has what the tournament sets
    for all of them.
    """
    entrants: list[Entrant] = []
    builds: list[Build] = []
    absent: list[str] = []
    names: list[Bot] = []
    options = {option.name for game in GAMES.values() for option in game.options}
    instead = words.in_bot(TOURNAMENT_KEYS, options, LIMITS)
    for bot in fields.objects("bot"):
        bot.only(*BOT_KEYS, instead=instead)
        folder = bot.text("cwd", ".")
        if not folder or shown(folder, len(folder)) != folder:
            raise bot.wrong("cwd", "a folder")
        cwd = (path.parent / folder).resolve()
        env = bot.scalars("env") if bot.has("env") else {}
        pass_env = bot.texts("pass_env") if bot.has("pass_env") else ()
        for name in (*env, *pass_env):
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise bot.wrong("env" if name in env else "pass_env", "names of environment variables")
        if any("\0" in value for value in env.values()):
            raise bot.wrong("env", "values without NUL")
        command = _command(bot, "cmd")
        made = replace(
            Bot.of(bot.text("name"), command, cwd, tuple(env.items()), pass_env),
            limits=_limits(bot, common.limits),
            pty=bot.flag("pty", False),
            pause=bot.flag("pause", common.pause),
            isolation=_isolation(bot, common.isolation),
            read=_read_also(bot, cwd),
            user=_user(bot, common.user),
        )
        entrant = Entrant(made, _control(bot, "clock", control), _processes(bot, processes), folder)
        build = (made.name, _command(bot, "build"), cwd) if bot.has("build") else None
        names.append(made)
        needs = bot.texts("needs") if bot.has("needs") else ()
        if missing := [program for program in needs if shutil.which(program) is None]:
            absent.append(f"bot `{made.name}` is left out: it needs `{shown(missing[0], 80)}`")
            continue
        entrants.append(entrant)
        builds += [build] if build else []
    distinct(names, [True] * len(names))
    return tuple(entrants), tuple(builds), tuple(absent)


def _processes(fields: Fields, default: str) -> str:
    """How long a bot's processes are kept; `fresh = true` is the older form of `processes = "game"`."""
    processes = fields.text("processes", default)
    if processes not in PROCESSES:
        raise fields.wrong("processes", f"one of {', '.join(PROCESSES)}")
    if not fields.has("fresh"):
        return processes
    fresh = fields.flag("fresh")
    if not fields.has("processes"):
        return "game" if fresh else "encounter" if default == "game" else default
    if fresh != (processes == "game"):
        raise UsageError(
            f"`{fields.at('fresh')}` is `{str(fresh).lower()}` and `{fields.at('processes')}` is "
            f"`{processes}`, expected only one"
        )
    return processes


def _isolation(fields: Fields, default: str) -> str:
    level = fields.text("isolation", default)
    if level not in (*LEVELS, AUTO):
        raise fields.wrong("isolation", f"one of {', '.join((*LEVELS, AUTO))}")
    return level


def _user(fields: Fields, default: str) -> str:
    user = fields.text("user", default)
    if fields.has("user") and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}\$?", user):
        raise fields.wrong("user", "the name of a user")
    return user


def _read_also(fields: Fields, cwd: Path) -> tuple[Path, ...]:
    """The existing files and folders of `read`, which are relative to the bot's folder."""
    texts = fields.texts("read") if fields.has("read") else ()
    paths = tuple((cwd / text).resolve() for text in texts if "\0" not in text)
    if len(paths) != len(texts) or not all(path.exists() for path in paths):
        raise fields.wrong("read", "existing files and folders")
    return paths


def _limits(fields: Fields, base: Limits) -> Limits:
    if not fields.has("limits"):
        return base
    try:
        return Limits.parse(fields.scalars("limits"), base)
    except UsageError as error:
        raise UsageError(f"`{fields.at('limits')}`: {error}") from None


def _command(fields: Fields, name: str) -> tuple[str, ...]:
    """A command from a text, which is split as a shell would, or from a list of words."""
    if isinstance(fields.value(name), list):
        words = fields.texts(name)
        if not words or any("\0" in word for word in words):
            raise fields.wrong(name, "a command")
        return words
    command = fields.text(name)
    try:
        return tuple(split(command))
    except UsageError as error:
        raise UsageError(f"`{fields.at(name)}`: {error}") from None


def _control(fields: Fields, name: str, default: TimeControl) -> TimeControl:
    if not fields.has(name):
        return default
    text = fields.text(name)
    try:
        return TimeControl.parse(text)
    except UsageError as error:
        raise UsageError(f"`{fields.at(name)}`: {error}") from None


def _time(fields: Fields, name: str, default: int) -> int:
    if not fields.has(name):
        return default
    text = fields.text(name)
    try:
        return parse_period(text)
    except UsageError as error:
        raise UsageError(f"`{fields.at(name)}`: {error}") from None
