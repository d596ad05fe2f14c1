"""Tournament files: TOML, typed, with errors that name the key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import EnvironmentLacksError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import SECTION_NAME
from referee.core.settings import (
    MARGIN_US,
    ORDER,
    ORDERS,
    REJECTIONS,
    STANDARD_POINTS,
    START_US,
    UNLIMITED,
    PointScale,
    TimeLimit,
)
from referee.core.text import shown
from referee.core.this_machine import usable_cores
from referee.core.units import TimeControl
from referee.gameplay.openings import NO_OPENINGS, Openings
from referee.games import GAMES, game_given
from referee.games.api import Game, Options
from referee.processes.bot import Bot
from referee.records.amendments import LeftOut, Strikes, strikes_of
from referee.records.header import REPEATS
from referee.records.run_files import results_folder
from referee.tournament import formats, stopping
from referee.tournament.file import keys, words
from referee.tournament.file.bot_table import (
    BotOrigin,
    BotTable,
    Build,
    bot_tables,
    control_of,
)
from referee.tournament.file.opening_table import openings_of
from referee.tournament.file.toml import parse, read_text, written
from referee.tournament.formats import Format, format_of
from referee.tournament.plan import Entrant, checked_options, checked_seed

KEEP = ("faults", "all", "nothing")


@dataclass(frozen=True, slots=True)
class Section:
    """One of the games of a tournament."""

    name: str  # empty where the tournament has only one
    game: Game[Any]
    options: Options
    entrants: tuple[Entrant, ...]  # the bots with their clocks in this game
    openings: Openings = NO_OPENINGS

    @property
    def seats(self) -> int:
        """How many bots play a game."""
        return self.game.seats(self.options)


@dataclass(frozen=True, slots=True)
class Config:
    """A tournament, as a tournament file or a command line describes it, checked."""

    path: Path  # the tournament file
    text: bytes
    sections: tuple[Section, ...]
    format: Format
    stopping: stopping.StoppingRule
    strikes: Strikes | None  # after how many faults a bot is out; None where that is unlimited
    builds: tuple[Build, ...]
    left_out: tuple[LeftOut, ...]  # the bots that the file names and that do not play
    seed: str | None
    workers: int
    pin: bool
    keep: str  # which dialogues are kept; one of `KEEP`
    margin_us: int
    rejections: int
    start_us: int
    repeats: str = REPEATS[0]  # how games count that are the same as others; one of `REPEATS`
    points: PointScale = STANDARD_POINTS  # how many points a game gives
    limit: TimeLimit = UNLIMITED  # until when games begin
    order: str = ORDERS[0]
    """What bots are ordered by, where the format has no order of its own; one of `ORDERS`."""
    origins: Mapping[str, BotOrigin] = field(default_factory=dict)
    """What the tables of the bots say about their files, by name."""
    cluster: str = ""  # the address of the cluster that plays; empty where the file names none
    where: str = ""  # the beginning of its errors, which names the file; empty for a command line
    without: Callable[[Iterable[LeftOut]], Config] = field(kw_only=True, repr=False, compare=False)
    """The tournament without further bots. Raises `UsageError` where those that are left cannot play it."""

    def naming_file(self) -> AbstractContextManager[None]:
        """Has errors of what the file says, which are found later than by reading it, begin with its name."""
        return _naming(self.where)

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """The bots, with their clocks in the first section."""
        return self.sections[0].entrants

    @property
    def folder(self) -> Path:
        """The default folder of the results: beside the file."""
        return results_folder(self.path)


def lacking(bot: Bot, program: str) -> LeftOut:
    """The bot, left out since a machine lacks a program that it needs."""
    return LeftOut(bot.name, f"it needs `{shown(program, 80)}`", is_fault=False)


def default_workers() -> int:
    """All usable cores but one, which is left to the rest of the machine."""
    return max(1, len(usable_cores()) - 1)


def load(path: Path, elsewhere: bool | None = None) -> Config:
    """A tournament from its file. Where it is played `elsewhere` (by default where the file names a cluster),
    no bot is left out for what this machine lacks.

    Raises `UsageError`, naming the file and the key.
    """
    text = read_text(path)
    where = f"`{shown(str(path))}`: "
    with _naming(where):
        fields = Fields(parse(text), "", UsageError, examples=keys.EXAMPLES)
        return _config(path, text, fields, path.parent, elsewhere, where=where)


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Puts this before the text of each `UsageError` and `EnvironmentLacksError`."""
    try:
        yield
    except (UsageError, EnvironmentLacksError) as error:
        raise type(error)(f"{where}{error}") from None


def config_of(
    path: Path, tables: dict[str, Any], base: Path, given_by: Mapping[str, str] | None = None
) -> Config:
    """A tournament from the tables of a tournament file that is to be stored under this path; the paths in
    them are relative to `base`.

    Raises `UsageError`, naming the key, or the option that `given_by` has for it.
    """
    return _config(path, written(tables).encode(), Fields(tables, "", UsageError, given_by), base)


TABLES = ("tournament", "game", "options", "limits", "bot", "stage")


def _config(
    path: Path,
    text: bytes,
    fields: Fields,
    base: Path,
    elsewhere: bool | None = None,
    left_out: Iterable[LeftOut] = (),
    where: str = "",
) -> Config:
    options = {option.name for game in GAMES.values() for option in game.options}
    fields.only(*TABLES, instead=words.in_file(options))
    main = fields.object("tournament", "a table, `[tournament]`")
    own_keys = formats.own_keys(main, base)
    if taken := {*own_keys} & {*keys.TOURNAMENT} - {*formats.KEYS}:
        raise main.wrong(
            "format",
            f"a format with no setting named `{min(taken)}`, because every tournament already has that key",
        )
    main.only(*keys.TOURNAMENT, *own_keys, instead=words.in_tournament(options))
    for stage in fields.objects("stage") if fields.has("stage") else ():
        stage.only(*keys.STAGE)
    games = _games(base, fields, main)
    cluster = _cluster(main)
    plays_elsewhere = bool(cluster) if elsewhere is None else elsewhere
    tables = bot_tables(base, fields, main, words.in_bot(options), plays_elsewhere)
    out = {table.bot.name: lacking(table.bot, table.missing) for table in tables if table.missing} | {
        one.bot: one for one in left_out
    }
    present = [table for table in tables if table.bot.name not in out]
    return Config(
        path=path,
        text=text,
        sections=tuple(_section(base, game, present) for game in games),
        format=format_of(
            main,
            [table.bot.name for table in present],
            [*out],
            base,
            fields,
        ),
        stopping=stopping.stopping_rule_of(main),
        strikes=strikes_of(main),
        builds=tuple(table.build for table in present if table.build),
        left_out=tuple(out.values()),
        seed=checked_seed(main.text("seed")) if main.has("seed") else None,
        workers=main.number("workers", 0, 1000, default=default_workers()),
        pin=main.flag("pin", False),
        keep=main.one_of("keep", KEEP, KEEP[0]),
        margin_us=main.period("margin", MARGIN_US),
        rejections=main.number("rejections", 1, 1000, default=REJECTIONS),
        start_us=main.period("start", START_US),
        repeats=main.one_of("repeats", REPEATS, REPEATS[0]),
        points=PointScale.read(main),
        limit=TimeLimit.read(main),
        order=main.one_of(ORDER, ORDERS, ORDERS[0]),
        origins={table.bot.name: table.origin for table in present},
        cluster=cluster,
        where=where,
        without=lambda more: _config(path, text, fields, base, elsewhere, (*out.values(), *more), where),
    )


def _cluster(main: Fields) -> str:
    """The address of the cluster; empty where there is none."""
    cluster = main.text("cluster", "")
    if main.has("cluster") and (not cluster or shown(cluster, 200) != cluster):
        raise main.wrong("cluster", "the address of a Dask scheduler, or `local:N`")
    return cluster


def _section(base: Path, game: _Game, present: list[BotTable]) -> Section:
    options = checked_options(game.game, game.options, len(present))
    openings = NO_OPENINGS
    if game.openings is not None:
        openings = openings_of(game.openings, base, game.game, options)
    return Section(
        game.name,
        game.game,
        options,
        tuple(table.entrant(game.control) for table in present),
        openings,
    )


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
