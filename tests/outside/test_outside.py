"""A game from outside the package, as a file and as an installed package, with every command."""

from __future__ import annotations

import json
import pickle
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from referee.core.errors import RecordError, RefereeError, UsageError
from referee.core.named_code import SIZE_CAP
from referee.games import VARIABLE, game_given
from referee.records.journal import JournalLine
from referee.records.record import json_of
from referee.records.replay import ExaminedLine
from referee.tournament.run.run_state import RunState
from referee.tournament.run.verifying import RunVerifier
from tests.command import HERE, RANDOM, ROOT, Done, in_python, referee, referee_process
from tests.outside.commands import referee_in
from tests.programs import needs

SOURCE = ROOT / "tests" / "outside" / "connect_four.py"
SEARCH = f"{in_python(ROOT / 'sample_bots' / 'search_bot.py')} --playouts 8"
SMALL = ("--option", "columns=4", "--option", "rows=4")


class Place(NamedTuple):
    """A folder with the game in it, and how it is asked for."""

    folder: Path
    game: str
    env: dict[str, str]
    again: tuple[str, ...]
    """What `replay` and `verify` are told of the game."""

    def __call__(self, *words: str) -> Done:
        return referee_process(*words, cwd=self.folder, env=self.env)

    def here(self, *words: str) -> Done:
        """The same in this process, where packages of the folder are not found."""
        return referee_in(self.folder, *words)

    @property
    def searching(self) -> str:
        variables = shlex.join(f"{name}={value}" for name, value in self.env.items())
        return f"env {variables} {SEARCH}"

    def records(self, folder: str) -> list[str]:
        return (self.folder / folder / "games.jsonl").read_text().splitlines()


def install(folder: Path, package: str = "connect-four", version: str = "1.0", game: str = "GAME") -> None:
    """What an installed package leaves in a folder of packages."""
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[referee.games]\nconnect4 = connect_four:{game}\n")


@pytest.fixture(params=["file", pytest.param("installed", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return made(tmp_path, request.param)


@pytest.fixture
def file(tmp_path: Path) -> Place:
    return made(tmp_path, "file")


@pytest.fixture
def package(tmp_path: Path) -> Place:
    return made(tmp_path, "installed")


def made(folder: Path, how: str) -> Place:
    shutil.copy(SOURCE, folder)
    if how == "file":
        return Place(folder, "connect_four.py:GAME", {}, ("--game", "connect_four.py:GAME"))
    install(folder)
    return Place(folder, "connect4", {"PYTHONPATH": str(folder)}, ())


@pytest.mark.slow
def test_a_match_is_played_replayed_and_verified(place: Place) -> None:
    bots = [RANDOM, f"search={place.searching}"]
    done = place("match", place.game, *bots, "-n", "4", "-o", "run", "--seed", "1", "--strict")
    assert done.code == 0, done.err
    header = json.loads(place.records("run")[0])
    assert header["game"] == "connect4" and place.folder.name not in str(header["origin"])
    assert place("verify", "run", *place.again).out.startswith("4 games verified")
    done = place("replay", "run", "2", *place.again)
    assert done.code == 0 and "\n1 2 3 4 5 6 7\n" in done.out and "has four in a line" in done.out
    assert "2  " in place("replay", "run").out, "a list needs no game"
    done = place("replay", "run", "2", "--image", "-", *place.again)
    assert done.code == 0 and done.out.startswith("<svg") and "has four in a line" in done.out
    assert '<use href="#s-' in done.out, "not made of characters"
    assert place("analyse", "run", "--proof", "50", *place.again).out.startswith("4 games analysed")
    assert "\nproved wins" in place("diagnose", "run", "search", *place.again).out
    assert "search" in place("table", "run").out and "1:search" in place("find", "run").out


@pytest.mark.slow
def test_a_tournament_is_played_and_continued(file: Place) -> None:
    bot = '[[bot]]\nname = "{}"\ncmd = "{}"\n'
    bots = bot.format("random", RANDOM) + bot.format("search", file.searching)
    text = f'[tournament]\ngame = "{file.game}"\nrounds = ROUNDS\n[options]\ncolumns = 4\nrows = 4\n{bots}'
    for rounds in ("1", "2"):
        (file.folder / "t.toml").write_text(text.replace("ROUNDS", rounds))
        # The file is relative to the tournament's, wherever the command is given.
        done = referee_process("run", str(file.folder / "t.toml"), "--workers", "2", "--strict", env=file.env)
        assert done.code == 0, done.err
    assert len(file.records("t-results")) == 1 + 2 + 1 + 1 + 2 + 1, "each time the seed is revealed"
    assert file("verify", "t-results", *file.again).out.startswith("4 games verified")


@pytest.mark.slow
def test_a_bot_is_checked_in_it(file: Place) -> None:
    done = file("check", file.game, file.searching, *SMALL, "--step", "4")
    assert done.code == 0, done.out + done.err


@pytest.mark.slow
def test_it_is_told_of_like_the_others(place: Place) -> None:
    told = place("games", place.game).out
    assert "Connect Four (`connect4`, rules 1)" in told and "columns" in told and "Origin: " in told
    listed = place("games").out
    assert ("Connect Four" in listed) == (place.game == "connect4") and "blooms" in listed


HIGH_CARD = (ROOT / "tests" / "outside" / "high_card.py").read_text()

WRONG: dict[str, tuple[str, str, int, str]] = {
    "tells": (
        "if seat is None or only in (None, seat)",
        "",
        7,
        "referee: `highcard`: `imagine` refuses news of seat 1 that occurred, up to the line `hand 3 ",
    ),
    "raises": ("max(moves, key", "max(range(3), key", 2, "failed in line 110: KeyError: 0"),
}


@pytest.mark.parametrize(("old", "new", "code", "told"), WRONG.values(), ids=WRONG)
@pytest.mark.slow
def test_a_game_is_checked_itself(old: str, new: str, code: int, told: str, tmp_path: Path) -> None:
    assert HIGH_CARD.count(old) == 1
    path = tmp_path / f"card{code}.py"
    path.write_text(HIGH_CARD.replace(old, new))
    done = referee("check", f"{path}:GAME")
    assert done.code == code and told in done.err and done.err.count("\n") == 1
    passed, failed = done.out.splitlines()[:-1], done.out.splitlines()[-1]
    assert passed and all(line.startswith("passed  ") for line in passed) and failed.startswith("failed  ")


FIXED = """

class Fixed(ConnectFour):
    options = ()

    def longest(self, options: Options) -> int:
        return 42

    def start(self, options: Options) -> ConnectFourState:
        return super().start({"columns": 7, "rows": 6})


GAME = Fixed()
"""


@pytest.mark.slow
def test_a_game_without_options_is_shown_without_them(file: Place) -> None:
    (file.folder / "connect_four.py").write_text(SOURCE.read_text() + FIXED)
    told = file.here("games", file.game).out
    assert "\n\nNo options.\n\n" in told and "meaning" not in told
    done = file.here("check", file.game, RANDOM, "--step", "1")
    assert done.code == 0 and done.out.startswith("random_bot in connect4, clock ")
    done = file.here("match", file.game, RANDOM, RANDOM, "-n", "1", "-o", "run", *HERE)
    assert done.code == 0, done.err
    assert ": connect4, seat 1 " in file.here("replay", "run", "1", *file.again).out


@pytest.mark.slow
def test_what_its_code_raises_is_told_with_its_line(file: Place) -> None:
    source = SOURCE.read_text().replace("        column = (*self.", "        1 / 0\n        column = (*self.")
    (file.folder / "connect_four.py").write_text(source)
    line = source[: source.index("1 / 0")].count("\n") + 1
    for words in (("moves", file.game, "4"), ("check", file.game, RANDOM, "--step", "4")):
        done = file.here(*words)
        path = file.folder / "connect_four.py"
        told = f"referee: the game's file `{path}` failed in line {line}: ZeroDivisionError: division by zero"
        assert done.code == 2 and done.err.splitlines()[-1] == told
        assert "Traceback" not in done.err


ORIGINS: dict[str, Callable[[Place], dict[str, str]]] = {
    "connect_four.py:GAME": lambda place: {
        "file": "connect_four.py:GAME",
        "sha256": subprocess.check_output(["sha256sum", place.folder / "connect_four.py"], text=True)[:64],
    },
    "connect4": lambda place: {
        "distribution": "connect-four",
        "version": "1.0",
        "module": "connect_four:GAME",
    },
}


def played(place: Place, *words: str) -> None:
    run = place if place.env else place.here
    done = run("match", place.game, RANDOM, RANDOM, "-n", "1", "-o", "run", *SMALL, *HERE, *words)
    assert done.code == 0, done.err


@pytest.mark.slow
@needs("sha256sum")
def test_the_records_say_where_it_comes_from(place: Place) -> None:
    played(place)
    header, game, _ = map(json.loads, place.records("run"))
    assert header["origin"] == ORIGINS[place.game](place)
    assert list(header)[:5] == ["kind", "record", "game", "rules", "origin"] and "origin" not in game


@pytest.mark.slow
def test_records_of_a_game_that_is_built_in_say_nothing_of_it(tmp_path: Path) -> None:
    small = ("--option", "size=3", *HERE)
    done = referee("match", "blooms", RANDOM, RANDOM, "-n", "1", "-o", str(tmp_path / "run"), *small)
    assert done.code == 0
    first = (tmp_path / "run" / "games.jsonl").read_text().splitlines()[0]
    assert first.startswith('{"kind":"tournament","record":1,"game":"blooms","rules":1,"options":{')


@pytest.mark.slow
def test_no_file_is_run_because_a_record_names_it(file: Place) -> None:
    mark = file.folder / "mark"
    with (file.folder / "connect_four.py").open("a") as source:
        source.write(f"\nopen({str(mark)!r}, 'w').close()\n")
    played(file)
    assert mark.exists()
    mark.unlink()
    for words in (["verify", "run"], ["replay", "run", "1"], ["replay", "run"]):
        done = file.here(*words)
        assert done.code == 2 and "is only run if you name it: expected `--game module.py:NAME`" in done.err
        assert done.err.count("\n") == 1
    assert file.here("table", "run").code == file.here("find", "run").code == 0
    assert not mark.exists()
    assert file.here("verify", "run", *file.again).code == 0
    assert mark.exists()


HEADER = {
    "kind": "tournament",
    "record": 1,
    "game": "connect4",
    "rules": 1,
    "options": {},
    "seed": "1",
    "rounds": 1,
    "bots": {},
}

FORGED: list[tuple[dict[str, Any], type[RefereeError], str]] = [
    ({"origin": 5}, RecordError, "`origin` is `5`, expected an object"),
    ({"origin": {"file": []}}, RecordError, "expected an object of strings and numbers"),
    (
        {"origin": {"file": "\x1b[2J"}},
        UsageError,
        "comes from a file, `\\x1b[2J`, which is only run if you name",
    ),
    ({"origin": {"distribution": "four"}}, UsageError, "is not installed, expected the package `four `"),
    (
        {"origin": {"sha256": "0"}, "game": "blooms"},
        RecordError,
        "sha256 of the game `blooms` is missing, but in",
    ),
]


@pytest.mark.parametrize(("members", "error", "told"), FORGED)
def test_a_forged_origin_is_told(
    members: dict[str, Any], error: type[RefereeError], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.games._from_outside", {})  # another test may have loaded the game
    with pytest.raises(error) as raised:
        header = {**HEADER, **members}
        line = JournalLine(1, json_of(header), "")
        RunVerifier(RunState()).take(line, ExaminedLine(header, ""))
    assert told in str(raised.value)


@pytest.mark.slow
def test_a_file_that_changed_is_told(file: Place) -> None:
    played(file)
    with (file.folder / "connect_four.py").open("a") as source:
        source.write("# changed\n")
    done = file.here("verify", "run", *file.again)
    assert done.code == 6
    assert (
        "line 1: the sha256 of the game `connect4` is " in done.err and "but in the record it is" in done.err
    )
    done = file.here("replay", "run", *file.again)
    assert done.code == 0 and done.err.startswith("warning: the sha256 of the game") and "1 2 3 4" in done.out


@pytest.mark.slow
def test_a_run_is_not_continued_with_another_file(file: Place) -> None:
    bots = "".join(f"[[bot]]\nname = '{name}'\ncmd = {json.dumps(RANDOM)}\n" for name in "ab")
    (file.folder / "t.toml").write_text(f"[tournament]\ngame = '{file.game}'\n{bots}")
    assert file.here("run", "t.toml", *HERE).code == 0
    with (file.folder / "connect_four.py").open("a") as source:
        source.write("# changed\n")
    done = file.here("run", "t.toml")
    assert done.code == 2 and "another tournament: the sha256 of the game `connect4` is " in done.err


@pytest.mark.slow
def test_a_file_that_moved_is_the_same_game(file: Place) -> None:
    played(file)
    (file.folder / "elsewhere").mkdir()
    (file.folder / "connect_four.py").rename(file.folder / "elsewhere" / "four.py")
    done = file.here("verify", "run", *file.again)
    assert done.code == 2 and "connect_four.py`: No such file or directory" in done.err
    done = file.here("verify", "run", "--game", "elsewhere/four.py:GAME")
    assert done.code == 0, done.err


@pytest.mark.slow
def test_the_records_of_another_game_are_told(file: Place, tmp_path: Path) -> None:
    assert referee("match", "blooms", RANDOM, RANDOM, "-n", "1", "-o", str(tmp_path / "run"), *HERE).code == 0
    for command in ("verify", "replay"):
        done = file.here(command, "run", *file.again)
        assert done.code == 2 and "the game is `connect4`, expected `blooms`" in done.err


@pytest.mark.slow
def test_another_version_of_a_package_is_told_and_so_is_none(package: Place) -> None:
    played(package)
    shutil.rmtree(package.folder / "connect_four-1.0.dist-info")
    install(package.folder, version="1.1")
    done = package("verify", "run")
    assert done.code == 6 and "version of the game `connect4` is 1.1, but in the record it is 1.0" in done.err
    shutil.rmtree(package.folder / "connect_four-1.1.dist-info")
    for command in ("verify", "replay"):
        done = package(command, "run")
        assert done.code == 2 and "is not installed, expected the package `connect-four 1.0`" in done.err


@pytest.mark.slow
def test_a_package_that_cannot_be_had_does_not_hide_the_others(package: Place) -> None:
    install(package.folder, package="connect-four-again")
    done = package("games", "connect4")
    assert done.code == 2 and "several packages offer a game `connect4`, expected only one: " in done.err
    shutil.rmtree(package.folder / "connect_four-1.0.dist-info")
    shutil.rmtree(package.folder / "connect_four_again-1.0.dist-info")
    install(package.folder, game="GAMES")
    done = package("games")
    assert done.code == 0 and "blooms" in done.out
    assert done.err.startswith("warning: cannot load the game `connect_four:GAMES`: AttributeError: ")


@pytest.mark.slow
def test_packages_are_not_looked_through_for_a_game_that_is_built_in() -> None:
    code = "import sys; from referee.games import game_named; game_named('blooms'); print(*sys.modules)"
    modules = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert "referee.games" in modules and "importlib.metadata" not in modules


def test_a_worker_plays_what_was_hashed(file: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.games._from_outside", {})
    monkeypatch.setenv(VARIABLE, file.game)  # which is set again, and restored
    path = file.folder / "connect_four.py"
    pickled = pickle.dumps(game_given(file.game, file.folder))
    path.write_text("raise SystemExit('another file')\n")
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).slug)"
    assert subprocess.check_output([sys.executable, "-c", code], input=pickled) == b"connect4\n"


GAME = SOURCE.read_text()

BAD: dict[str, tuple[str, str]] = {
    "syntax": ("x = (\n", "cannot load the game's file `*.py`: SyntaxError: '(' was never closed"),
    "raises": (
        "\n1 / 0\n",
        "load the game's file `*.py`: line 2: ZeroDivisionError: division by zero",
    ),
    "exits": ("import sys\nsys.exit(3)\n", "cannot load the game's file `*.py`: line 2: SystemExit: 3"),
    "escapes": ("raise ValueError('\\x1b[31m\\nred')", "line 1: ValueError: \\x1b[31m\\x0ared"),
    "no name": ("x = 1\n", "`*.py` has no `GAME`, expected the name of a game in that file"),
    "no game": ("GAME = 1\n", "is not a `Game`, expected an instance of a subclass"),
    "class": (GAME.replace("= ConnectFour()", "= ConnectFour"), "is not a `Game`, expected ConnectFour()"),
    "no clock": (
        GAME.replace("    clock =", "    no ="),
        "has no `clock`, expected one of type `TimeControl`",
    ),
    "slug": (
        GAME.replace('"connect4"', '"Connect 4"'),
        "has an invalid `slug`, expected one that matches `[a-z][a-z0-9_-]{0,39}`",
    ),
    "built in": (GAME.replace('"connect4"', '"blooms"'), "the slug `blooms` belongs to a built-in game"),
    "large": ("#" * (SIZE_CAP + 1), f"has more than {SIZE_CAP:,} bytes, expected a game's file"),
}


@pytest.mark.parametrize(("source", "told"), BAD.values(), ids=BAD)
def test_a_file_that_is_no_game_is_told_in_one_line(source: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(source)
    with pytest.raises(UsageError) as error:
        game_given("bad.py:GAME", tmp_path)
    assert told.replace("*.py", str(path)) in str(error.value)
    assert str(error.value).isprintable()


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    for name, told in (
        ("none.py:GAME", "No such file"),
        ("folder.py:GAME", "it is a folder, expected a regular file"),
    ):
        with pytest.raises(UsageError, match=told):
            game_given(name, tmp_path)
    done = referee_process("games", "none.py", cwd=tmp_path)
    assert done.code == 2 and "unknown game `none.py`, expected `module.py:NAME`" in done.err
    (tmp_path / "t.toml").write_text('[tournament]\ngame = "none.py:GAME"\n')
    done = referee("run", str(tmp_path / "t.toml"))
    assert done.code == 2 and f"`{tmp_path / 't.toml'}`: cannot read the game's file" in done.err


def test_a_bot_may_be_told_of_the_file_by_hand(file: Place) -> None:
    """For training and for trying a bot out, without a referee."""
    code = (
        "import random\nfrom types import SimpleNamespace\nfrom referee.kit import Follower, Quick\n"
        "told = SimpleNamespace(slug='connect4', seat=1, options={}, news=['move 1 4'])\n"
        "print(Follower(told, Quick(random.Random(1))).state().to_act())\n"
    )
    env = {VARIABLE: file.game, "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, cwd=file.folder, env=env, text=True) == "(1,)\n"
