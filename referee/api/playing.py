"""Plays matches and tournaments for users of Python, in a process of their own."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypedDict, Unpack

from referee.api.bots import BotLike, given_bots
from referee.api.hosting import Channel, HostedOrder, OrderDone
from referee.api.results import PlayedGame, Run
from referee.api.run_messages import STOP, GameStored, RunBegan, RunRequest, Said
from referee.api.scratch_folder import ScratchFolder
from referee.core.errors import Stopped, UsageError
from referee.core.text import shown, value_text
from referee.records.run_files import results_folder
from referee.serving.follower import RunFollower
from referee.tournament.file.config import parse, read_text
from referee.tournament.file.match import match_tables
from referee.tournament.run.run import ReadableRun, StoredRun


class MatchKeys(TypedDict, total=False):
    """Those keys of `[tournament]` that a match can have besides its parameters; `TOURNAMENT.md` has them."""

    sprt: str
    openings: Mapping[str, Any]
    seed: int | str
    repeats: str
    points: Mapping[str, int]
    order: str
    stop: Mapping[str, Any]
    until: str
    time: str
    strikes: int | Mapping[str, Any]
    pin: bool
    keep: str
    start: str
    margin: str
    rejections: int
    forgive_waiting: bool
    pause: bool
    processes: str
    user: str


class TuningKeys(MatchKeys, total=False):
    """Those keys of `[tournament]` that tuning can have besides its parameters, without `stop` and
    `strikes`.
    """

    test_budget: int
    ahead: int


def match(  # noqa: PLR0913 - a caller names them
    game: str,
    bots: Sequence[BotLike] | Mapping[str, BotLike],
    *,
    games: int | None = None,
    clock: str | None = None,
    options: Mapping[str, int | str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    isolation: str | None = None,
    on_game: Callable[[PlayedGame], object] | None = None,
    **keys: Unpack[MatchKeys],
) -> Run:
    """Plays games of `game` between bots, one for each seat, which change seats after every game.

    `bots` are a list, or a mapping of names: commands, paths, `"@greedy"` for a sample bot, functions.
    `games` is how many are played, by default as many as `referee match` does. `clock` is that of each bot,
    such as `"1s"` or `"2s+6s/2s"`, by default the game's. With a `folder` the games are stored there, and
    those that it has already count; else they last as long as the result. `workers` is how many games are
    played at a time, 0 for one without a worker. `on_game` is called with each game when it is over.

    Raises `UsageError` for what is wrong before the first game, and other kinds of `RefereeError` where games
    have no result. What a bot does wrong is a result.
    """
    settings = _settings(clock, keys)
    base = Path.cwd()

    def tables(given: list[dict[str, Any]]) -> dict[str, Any]:
        return match_tables(game, given, options or {}, games, settings, base)

    return _played(_begun(tables, bots, base, folder, workers, isolation, leave_out=False), on_game)


def tune(  # noqa: PLR0913 - a caller names them
    game: str,
    bot: BotLike,
    parameters: Mapping[str, Mapping[str, int | float | bool]],
    *,
    budget: int,
    clock: str | None = None,
    options: Mapping[str, int | str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    isolation: str | None = None,
    on_game: Callable[[PlayedGame], object] | None = None,
    **keys: Unpack[TuningKeys],
) -> Run:
    """Finds better values for the parameters of a bot, and tests them: `parameters` of the result has them.

    `parameters` gives for each name what a table `[[parameter]]` has: `start`, `min`, `max`, and maybe
    `integer`. A command has `{NAME}` in the place of a value; a function finds it as text in `os.environ`.
    `budget` is how many games are played to find values. The other parameters and the errors are those of
    `match`.
    """
    tables: dict[str, Any] = {
        "tournament": {"game": game, "budget": budget, **_settings(clock, keys)},
        "options": dict(options or {}),
        "parameter": [{"name": name, **given} for name, given in parameters.items()],
    }
    env = {"env": {name: f"{{{name}}}" for name in parameters}} if callable(bot) else {}

    def with_bot(given: list[dict[str, Any]]) -> dict[str, Any]:
        return {**tables, "bot": [{**given[0], **env}]}

    playing = _begun(with_bot, [bot], Path.cwd(), folder, workers, isolation, leave_out=False)
    return _played(playing, on_game)


def _settings(clock: str | None, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of `[tournament]` that are given; a seed may be a number."""
    settings = {"clock": clock, **keys}
    if isinstance(settings.get("seed"), int):
        settings["seed"] = str(settings["seed"])
    return {name: value for name, value in settings.items() if value is not None}


def run(
    what: str | os.PathLike[str] | Mapping[str, Any],
    *,
    bots: Sequence[BotLike] | Mapping[str, BotLike] = (),
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    isolation: str | None = None,
    leave_out: bool = False,
    on_game: Callable[[PlayedGame], object] | None = None,
) -> Run:
    """Plays a tournament, or continues it where it stopped: a tournament file, or its tables as a mapping.

    `bots` are further ones. The `folder` is by default the one beside the file that `referee run` uses; the
    games of a mapping without a folder last as long as the result. With `leave_out`, bots that cannot play
    are left out; otherwise they are an error. The other parameters and the errors are those of `match`.
    """
    playing = start(what, bots=bots, folder=folder, workers=workers, isolation=isolation, leave_out=leave_out)
    return _played(playing, on_game)


def start(
    what: str | os.PathLike[str] | Mapping[str, Any],
    *,
    bots: Sequence[BotLike] | Mapping[str, BotLike] = (),
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    isolation: str | None = None,
    leave_out: bool = False,
) -> Playing:
    """Starts what `run` plays, and returns at once: its games can be iterated over as they end."""
    if isinstance(what, Mapping):
        base, given, where = Path.cwd(), what, folder
    else:
        path = Path(what)
        base, where = path.absolute().parent, folder or results_folder(path)
        if not bots and isolation is None:
            request = RunRequest(path.absolute(), {}, base, Path(where).absolute(), workers, leave_out, {})
            return Playing(request)
        given = parse(read_text(path))

    def tables(more: list[dict[str, Any]]) -> dict[str, Any]:
        return {**given, "bot": [*given.get("bot", ()), *more]}

    return _begun(tables, bots, base, where, workers, isolation, leave_out)


def _begun(
    tables: Callable[[list[dict[str, Any]]], dict[str, Any]],
    bots: Sequence[BotLike] | Mapping[str, BotLike],
    base: Path,
    folder: str | os.PathLike[str] | None,
    workers: int | None,
    isolation: str | None,
    leave_out: bool,
) -> Playing:
    """Starts a tournament with these tables, which are made with those of the bots."""
    path = ScratchFolder.made() if folder is None else Path(folder).absolute()
    found = given_bots(bots, Path.cwd(), path)
    made = _plain_tables(tables(found.tables))
    if isolation is not None:
        made["tournament"] = {**made.get("tournament", {}), "isolation": isolation}
    return Playing(RunRequest(None, made, base, path, workers, leave_out, found.files))


def _plain_tables(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Tables of a tournament file with plain values alone. Raises `UsageError`."""
    made = {str(name): _plain(name, table) for name, table in tables.items()}
    for name, table in made.items():
        if not isinstance(table, dict) and not (
            isinstance(table, list) and all(isinstance(one, dict) for one in table)
        ):
            raise UsageError(f"`{shown(name)}` is {value_text(table)}, expected a table, or a list of tables")
    return made


def _plain(name: object, value: object) -> Any:
    """A value as TOML has it, of mappings, sequences and paths of any type."""
    if isinstance(value, Mapping):
        return {str(key): _plain(key, inner) for key, inner in value.items()}
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(name, inner) for inner in value]
    raise UsageError(
        f"`{shown(str(name))}` is `{shown(repr(value), 80)}`, expected a text, a number, a truth value, a "
        "list or a table"
    )


def _played(playing: Playing, on_game: Callable[[PlayedGame], object] | None) -> Run:
    try:
        with playing:
            for game in playing:
                if on_game:
                    on_game(game)
            return playing.run
    except BaseException:
        playing.discard()  # a notebook keeps the last error, and with it all that it refers to
        raise


class Playing:
    """A tournament that is being played: iterate over it, also with `async for`, to get each game when it is
    over. Leaving its `with` block, `close`, or losing it ends everything at once; what was stored stays,
    in a `folder` also where an interruption leaves the block.
    """

    def __init__(self, request: RunRequest) -> None:
        self.notes: list[str] = []
        """What the referee said so far, such as warnings, in lines for people."""
        self.total = 0
        """How many games there are in all, as far as that is known; 0 before the first begins."""
        self.played = 0
        """How many of them are over: those that were played earlier, and those that were given out."""
        self.stopped = False
        """Whether `stop` ended it before all games were played."""
        self._follower = RunFollower(request.folder)
        self._numbers: dict[str, int] = {}  # the place of each game among those of the follower, by id
        self._read = 0  # how many these are
        self._read_run: StoredRun | None = None  # the run as far as that
        self._ended: deque[PlayedGame] = deque()  # games that were not given out yet
        folder = self._folder = request.folder
        self._order = HostedOrder(_RunOrder(request), folder if isinstance(folder, ScratchFolder) else None)

    @property
    def run(self) -> Run:
        """What is stored so far, as a result. Raises `UsageError` where nothing is."""
        self._follower.read()
        if self._follower.run is None:
            raise UsageError("nothing is stored yet, expected at least one game that has ended")
        return Run(ReadableRun(self._follower.run, [*self._follower.played], None))

    def stop(self) -> None:
        """Lets the games in progress end, and begins no others; the games that end are still given out."""
        with suppress(OrderDone):
            self._order.send(STOP)

    def close(self) -> None:
        """Ends everything at once."""
        self._order.close()

    def discard(self) -> None:
        """Ends everything at once, and removes the results of a run that was played without a folder."""
        self.close()
        if isinstance(self._folder, ScratchFolder):
            self._folder.remove()

    def __enter__(self) -> Playing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, Exception):
            self.close()
        else:  # it was interrupted
            self.discard()

    def __iter__(self) -> Iterator[PlayedGame]:
        return self

    def __next__(self) -> PlayedGame:
        while not self._ended:
            if not self._take(None):
                raise StopIteration
        return self._given()

    def __aiter__(self) -> Playing:
        return self

    async def __anext__(self) -> PlayedGame:
        while not self._ended:
            try:
                if not self._take(0):
                    raise StopAsyncIteration
            except TimeoutError:
                await _is_readable(self._order.fileno())
        return self._given()

    def _given(self) -> PlayedGame:
        self.played += 1
        return self._ended.popleft()

    def _take(self, seconds: float | None) -> bool:
        """Takes a message; whether there may be more. Raises what `HostedOrder.receive` raises."""
        try:
            message = self._order.receive(seconds)
        except OrderDone:
            return False
        except Stopped:
            self.stopped = True
            return False
        match message:
            case Said(line):
                self.notes.append(line)
            case RunBegan(total, played):
                self.total, self.played = total, played
            case GameStored(game_id):
                self._ended.append(self._game(game_id))
        return True

    def _game(self, game_id: str) -> PlayedGame:
        """A game whose record was stored."""
        follower = self._follower
        if game_id not in self._numbers:
            follower.read()
            new = enumerate(follower.played[self._read :], self._read)
            self._numbers |= {placed.game.id: number for number, placed in new}
            self._read = len(follower.played)
            self._read_run = follower.run
        number = self._numbers[game_id]
        assert self._read_run
        return PlayedGame(self._read_run, follower.played[number], number + 1)


async def _is_readable(descriptor: int) -> None:
    """Waits until a descriptor can be read."""
    import asyncio  # whoever waits has it already; to others it costs as much as the rest

    loop, found = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, found.set)
    try:
        await found.wait()
    finally:
        loop.remove_reader(descriptor)


class _RunOrder(NamedTuple):
    """Plays a run in a host."""

    request: RunRequest

    def perform(self, channel: Channel) -> None:
        from referee.api.run_host import play  # the caller needs none of it

        play(self.request, channel)
