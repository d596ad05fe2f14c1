"""`referee rerun`: recorded games again, with the bots as they are now."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from referee.core.errors import UsageError
from referee.gameplay.clock import Charge
from referee.gameplay.events import Drawn, Ending, Event, Moved, Retired
from referee.records.finding import find_game
from referee.records.record import GameRecord
from referee.tournament.rerunning import commands_base, rerun_of
from referee.tournament.run.run import read_run
from referee.viewing.words import Difference, first_difference
from tests.command import PLAIN, RANDOM, ROOT, referee
from tests.processes.runs import toml

SILENT = "{python} -I -S -c \"print('hello 1'); input()\""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of two games whose seed was hidden and revealed."""
    folder = tmp_path_factory.mktemp("rerun") / "run"
    bots = (f"a={PLAIN}", f"b={PLAIN}")
    done = referee("match", "blooms", *bots, "--option", "size=3", "-o", str(folder), "--workers", "0")
    assert done.code == 0, done.err
    return folder


def test_a_game_is_the_same_again(folder: Path) -> None:
    done = referee("rerun", str(folder), "1", "--strict")
    assert done.code == 0, done.err
    assert done.out.startswith("1:a:b: identical up to its end, move ")
    assert " won: " in done.out.splitlines()[1]


def test_a_changed_bot_differs(folder: Path) -> None:
    done = referee("rerun", str(folder), "1", f"b={SILENT}", "--strict", "--dialogue")
    assert done.code == 8 and done.err.endswith("referee: the game differs\n")
    told, recorded, *_, now, was, result = done.out.splitlines()
    assert told == "1:a:b: first differs at move 1"
    assert recorded.startswith("recorded: seat 1 a: ") and now.startswith("now:      seat 2 b ")
    assert was.startswith("result recorded: ") and result.startswith("result now:      a won: ")
    assert "hint: " in done.err and "REF: hello 1" in done.err


def test_what_is_refused(folder: Path) -> None:
    for words, message in (
        (("9",), "no game `9`"),
        (("1", "c=x"), "no bot `c` in this game, expected a or b"),
        (("1", "x"), "expected NAME=COMMAND"),
        (("1", "a=x", "a=y"), "bot `a` is given twice"),
        (("1", "a=./no-such-program"), "no program at `./no-such-program`"),
    ):
        done = referee("rerun", str(folder), *words)
        assert done.code == 2 and message in done.err and len(done.err.splitlines()) == 1, done.err


def test_a_game_of_a_person_is_played_again_only_with_a_bot_in_its_place(folder: Path) -> None:
    run = read_run(folder)
    recorded = find_game(folder, "1", None, print)
    assert isinstance(recorded, GameRecord)
    run.header.members["bots"]["b"] |= {"command": [], "person": True}
    with pytest.raises(UsageError, match="`b` is a person"):
        rerun_of(run, recorded, ROOT, {})


def test_the_folder_of_the_bots_is_that_of_the_tournament_file(tmp_path: Path) -> None:
    (tmp_path / "t.toml").touch()
    assert commands_base(tmp_path / "t.toml", tmp_path / "t-results") == tmp_path
    assert commands_base(tmp_path / "t-results", tmp_path / "t-results") == tmp_path
    assert commands_base(tmp_path / "t", tmp_path / "t") == Path.cwd()
    assert commands_base(tmp_path / "u-results", tmp_path / "u-results") == Path.cwd()


def test_times_and_what_bots_said_are_no_difference() -> None:
    def moved(text: str, used_us: int = 1, info: str = "") -> Event:
        return Moved(0, text, Charge(used_us, 0, 0, 0), info=info)

    left = Retired(1, Ending.TIME, "", 5)
    game = [Drawn("x"), moved("a"), left]
    assert (
        first_difference(game, [Drawn("x"), moved("a", 7, "deep"), Retired(1, Ending.TIME, "y", 6)]) is None
    )
    assert first_difference(game, [Drawn("x"), moved("b"), left]) == Difference(1, moved("a"), moved("b"))
    assert first_difference(game, game[:2]) == Difference(2, left, None)
    assert first_difference(game[:1], game) == Difference(1, None, moved("a"))


SECTIONS = f"""
[tournament]
seed = "s"
rounds = 1
clock = "5s"
workers = 0
[[game]]
name = "opened"
game = "blooms"
options = {{ size = 3 }}
openings = {{ plies = 2 }}
[[game]]
game = "evengroups"
options = {{ size = 3 }}
[[bot]]
name = "a"
cmd = {json.dumps(RANDOM)}
[[bot]]
name = "b"
cmd = {json.dumps(RANDOM)}
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sections", "alone", "league"])
def test_games_of_every_kind_of_run_are_the_same_again(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    shutil.copy(ROOT / "sample_bots" / "random_bot.py", tmp_path)  # found by the folder of the file
    bots = dict.fromkeys("ab", "{python} random_bot.py")
    if kind == "sections":
        file.write_text(SECTIONS)
    elif kind == "alone":
        toml(file, bots, "players = 1", game="thetree", rounds=1, seed=None)
    else:
        toml(file, bots, format="league", budget=4, rounds=None)
    assert referee("run", str(file)).code == 0
    results = tmp_path / "t-results"
    for game in list(read_run(results).games)[:3]:
        done = referee("rerun", str(results), game, "--strict")
        assert done.code == 0 and "identical up to its end" in done.out, done.err
