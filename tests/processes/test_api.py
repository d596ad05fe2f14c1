"""Matches and tournaments from Python: played by another process, and nothing of it is left."""

from __future__ import annotations

import asyncio
import ctypes
import functools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import referee
from referee.processes import tree
from referee.protocol.bot import Game
from referee.records.journal import read
from referee.records.record import STRAY, bot_totals, events_of_line
from tests.command import ROOT, referee_process
from tests.waiting import eventually

SMALL = {"size": 3}

TABLES = {"tournament": {"game": "blooms", "rounds": 2}, "options": SMALL}

PLAYERS = {"a": "@greedy", "b": "@random"}

PR_GET_DUMPABLE = 3
PR_GET_CHILD_SUBREAPER = 37


def first(game: Game) -> str | None:
    """Plays the first legal move, and disturbs the protocol as far as it can."""
    print("on stdout")
    os.write(1, b"on the descriptor of stdout\n")
    return game.legal(1)[0]


class Counting:
    """A bot with a state of its own."""

    def __init__(self) -> None:
        self.moves = 0

    def __call__(self, game: Game) -> str | None:
        self.moves += 1
        game.info(f"moves {self.moves}")
        return game.legal(1)[0]


def prctl(option: int) -> int:
    """What the kernel says of this process."""
    value = ctypes.c_int(-1)
    found: int = ctypes.CDLL(None).prctl(option, ctypes.byref(value), 0, 0, 0)
    return value.value if option == PR_GET_CHILD_SUBREAPER else found


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A child of the caller that has nothing to do with the referee."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


@pytest.mark.slow
def test_a_match_leaves_its_caller_as_it_was(child: subprocess.Popen[bytes]) -> None:
    before = prctl(PR_GET_DUMPABLE), prctl(PR_GET_CHILD_SUBREAPER), signal.getsignal(signal.SIGINT)
    over: list[str] = []
    run = referee.match(
        "blooms",
        ["@greedy", first],
        games=2,
        options=SMALL,
        workers=0,
        on_game=lambda game: over.append(game.id),
    )
    after = prctl(PR_GET_DUMPABLE), prctl(PR_GET_CHILD_SUBREAPER), signal.getsignal(signal.SIGINT)
    assert (after, child.poll()) == (before, None)
    assert over == [game.id for game in run] and len(run) == 2
    assert run.bots == ("greedy", "first") and not any(any(game.faults) for game in run)
    assert not any(bot_totals(game.record)["first", what] for game in run for what in STRAY)
    folder = str(run.folder)
    assert (run.folder / "functions" / "first.pickle").is_file()
    del run
    eventually(lambda: not Path(folder).exists())


@pytest.mark.parametrize(
    ("bot", "name"),
    [
        (Counting(), "Counting"),
        (functools.partial(first), "first"),
        (lambda game: game.legal(1)[0], "lambda"),
        (Counting().__call__, "__call__"),
        ([sys.executable, str(ROOT / "sample_bots" / "random_bot.py")], "random_bot"),
        (ROOT / "sample_bots" / "random_bot.py", "random_bot"),
        ({"name": "mine", "cmd": "@random", "clock": "9s"}, "mine"),
    ],
)
@pytest.mark.slow
def test_what_can_be_a_bot(bot: Any, name: str) -> None:
    run = referee.match("blooms", [bot, "@greedy"], games=2, options=SMALL, workers=0)
    assert run.bots == (name, "greedy") and not any(any(game.faults) for game in run)


@pytest.mark.slow
def test_a_tournament_is_stopped_and_continued(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    tables = {**TABLES, "tournament": {"game": "blooms", "rounds": 4}}
    with referee.start(tables, bots={"a": "@greedy", "b": first}, folder=folder, workers=1) as playing:
        games = []
        for game in playing:
            games.append(game.id)
            playing.stop()
    assert playing.stopped and playing.total == 8
    assert games == [game.id for game in playing.run] and len(games) < 8
    new: list[str] = []
    run = referee.run(
        tables,
        bots={"a": "@greedy", "b": first},
        folder=folder,
        workers=0,
        on_game=lambda game: new.append(game.id),
    )
    assert [game.id for game in run] == games + new and len(run) == 8
    assert run.verify()


@pytest.mark.slow
def test_a_tournament_that_is_left_leaves_nothing() -> None:
    before = set(tree.descendants(os.getpid()))
    tables = {**TABLES, "tournament": {"game": "blooms", "rounds": 500}}
    with referee.start(tables, bots=PLAYERS, workers=1) as playing:
        next(playing)
        begun = set(tree.descendants(os.getpid())) - before
    assert len(begun) > 3  # the host, workers, bots
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in begun))


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: referee.match("bloom", ["@greedy", "@random"]), "unknown game `bloom`, expected `blooms`"),
    (lambda: referee.match("blooms", ["@greedy", "@rando"]), "no sample bot `@rando`, expected `@random`"),
    (lambda: referee.match("blooms", ["@greedy", "./none"]), "bot `none`: no program at `./none`"),
    (lambda: referee.match("blooms", ["@greedy"]), "`blooms` has 2 seats, expected 2 bots, not 1 (greedy)"),
    (lambda: referee.match("blooms", "@greedy"), "`bots` is `'@greedy'`, expected a list, or a mapping"),
    (lambda: referee.match("blooms", ["@greedy", 3]), "a bot is `3`, expected a command, a path"),  # type: ignore[list-item]
    (lambda: referee.match("blooms", ["@greedy", "@random"], games=0), "`games` is 0, expected a number"),
    (lambda: referee.match("blooms", ["@greedy", "@random"], clock="1x"), "`tournament.clock`: `1x` is not"),
    (lambda: referee.match("blooms", ["@greedy", "@random"], workers=-1), "`workers` is -1, expected a"),
    (lambda: referee.match("blooms", ["@greedy", "@random"], options={"sizes": 3}), "has no option `sizes`"),
    (lambda: referee.run("/none.toml"), "cannot read `/none.toml`: No such file or directory"),
    (lambda: referee.run({"tournament": 3}), "`tournament` is 3, expected a table, or a list of tables"),
    (lambda: referee.run({"tournament": {"seed": {1}}}), "`seed` is `{1}`, expected a text, a number"),
    (lambda: referee.open("/none"), "cannot read `/none`: No such file or directory"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
@pytest.mark.quick_cases(1)
def test_wrong_use_is_one_sentence(call: Callable[[], object], said: str) -> None:
    with pytest.raises(referee.UsageError) as raised:
        call()
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_a_function_that_cannot_be_sent_is_named() -> None:
    lock = threading.Lock()

    def locking(game: Game) -> str | None:
        with lock:
            return game.legal(1)[0]

    with pytest.raises(referee.UsageError, match=r"of bot `locking` cannot be sent .*_thread.lock"):
        referee.match("blooms", [locking, "@random"])


@pytest.mark.slow
def test_a_function_that_raises_is_at_fault() -> None:
    def failing(game: Game) -> str | None:
        raise ValueError(f"no move in {game.slug}")

    run = referee.match("blooms", [failing, "@random"], games=2, options=SMALL)
    assert [game.winner for game in run] == ["random", "random"]
    assert "stderr: ValueError: no move in blooms" in run[0].fault_report


@pytest.mark.slow
def test_the_folder_of_another_tournament_is_left_as_it_is(tmp_path: Path) -> None:
    referee.match("blooms", {"mine": first, "b": "@random"}, games=2, options=SMALL, folder=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(referee.UsageError, match="has the results of another tournament"):
        referee.match("blooms", {"mine": Counting(), "b": "@random"}, options={"size": 4}, folder=tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_the_same_seed_gives_the_same_games_as_the_command_and_as_its_file(tmp_path: Path) -> None:
    words = ["-n", "4", "--seed", "7", "--option", "size=3", "--time", "2s", "--workers", "1"]
    here, there, of_file = (tmp_path / name for name in ("command", "python", "file"))
    assert referee_process("match", "blooms", "@greedy", "@random", *words, "-o", str(here)).code == 0
    referee.match("blooms", ["@greedy", "@random"], games=4, seed=7, options=SMALL, clock="2s", folder=there)

    referee.run(here / "tournament.toml", folder=of_file)

    def played(folder: Path) -> list[object]:
        header, *games = (line.text for line in read(folder))
        return [header, *sorted(str(events_of_line(game)) for game in games if b'"kind":"game"' in game)]

    assert played(here) == played(there) == played(of_file) and len(played(here)) == 5


@pytest.mark.slow
def test_several_at_once_in_threads_and_in_an_event_loop() -> None:
    found: list[int] = []

    def play() -> None:
        found.append(len(referee.match("blooms", PLAYERS, games=4, options=SMALL)))

    threads = [threading.Thread(target=play) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [4, 4]

    async def ids() -> list[str]:
        with referee.start(TABLES, bots=PLAYERS, workers=1) as playing:
            return [game.id async for game in playing]

    async def both() -> list[list[str]]:
        return [*await asyncio.gather(ids(), ids())]

    assert [len(one) for one in asyncio.run(both())] == [4, 4]


@pytest.mark.slow
def test_a_match_within_a_bot() -> None:
    def nested(game: Game) -> str | None:
        if game.question > 1:
            return None  # it resigns: one match within it shows as much as one for each move
        game.info(len(referee.match("blooms", PLAYERS, games=2, options=SMALL)))
        return game.legal(1)[0]

    run = referee.match("blooms", [nested, "@random"], games=1, options=SMALL, clock="60s")
    assert run[0].moves[0].info == "2" and not any(run[0].faults)


SCRIPT = """
import sys
import referee

tables = {"tournament": {"game": "blooms", "rounds": 500}, "options": {"size": 3}}
with referee.start(tables, bots={"a": "@greedy", "b": lambda game: game.legal(1)[0]}) as playing:
    for game in playing:
        print(playing.run.folder, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("games", [0, 1])
def test_a_caller_that_is_ended_leaves_nothing(number: signal.Signals, games: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as caller:
        assert caller.stdout
        lines = [caller.stdout.readline() for _ in range(games)]
        eventually(lambda: len(tree.descendants(caller.pid)) > (1 if games else 0))
        begun = tree.descendants(caller.pid)
        caller.send_signal(number)
        caller.communicate()
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in begun))
    for line in lines:
        folder = Path(os.fsdecode(line.strip()))
        eventually(lambda: not folder.exists())  # noqa: B023 - it is called here alone


@pytest.mark.slow
def test_importing_the_package_loads_nothing() -> None:
    program = "import sys; before = {*sys.modules}; import referee; print(*({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["referee"]
    assert {*referee.__all__} <= {*dir(referee)}
    assert all(getattr(referee, name).__doc__ for name in referee.__all__)


@pytest.mark.slow
def test_a_host_that_is_killed_is_an_error() -> None:
    before = tree.own_children()
    with referee.start({**TABLES, "tournament": {"game": "blooms", "rounds": 500}}, bots=PLAYERS) as playing:
        next(playing)
        (host,) = set(tree.own_children()).difference(before)
        os.kill(host, signal.SIGKILL)
        with pytest.raises(referee.RefereeError, match="the process that plays was killed"):
            for _ in playing:
                pass
