"""`referee tune` with real processes: values reach bots and records, and a killed run goes on alike."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import referee as from_python
from referee.records.finding import find_game
from referee.records.record import GameRecord
from referee.tournament.rerunning import rerun_of
from referee.tournament.run.run import read_run
from tests.command import PLAIN, referee
from tests.processes.runs import games, lines_of, resigning, toml, wait_for_games
from tests.waiting import TOO_LONG_S

PARAMETER = '[[parameter]]\nname = "n"\nstart = 50\nmin = 0\nmax = 100\ninteger = true\n'


def tuning(path: Path, bot: str, **main: Any) -> Path:
    """A file that tunes the number `n` of a bot."""
    keys = {"rounds": None, "budget": 100, "test_budget": 10, **main}
    file = toml(path, {"bot": bot}, **keys)
    file.write_text(file.read_text() + PARAMETER)
    return file


def values(folder: Path) -> dict[str, tuple[str, str]]:
    """The values of each game of a run, by seat."""
    return {
        line["id"]: tuple(seat["parameters"]["n"] for seat in line["measured"]["seats"])
        for line in lines_of(folder)
        if line["kind"] == "game"
    }


@pytest.mark.slow
def test_a_bot_that_fails_for_some_values_is_tuned_and_they_are_told(tmp_path: Path) -> None:
    """It exits where its number is above 50, and resigns otherwise: the seat that is asked first loses."""
    file = tuning(tmp_path / "t.toml", resigning("[ {n} -le 50 ] || exit"))
    (tmp_path / "book").touch()
    file.write_text(file.read_text().replace("cmd =", 'build = "true"\nread = ["book"]\ncmd ='))
    done = referee("tune", str(file))
    assert done.code == 0, done.err
    folder = tmp_path / "t-results"
    assert done.err.count("building ") == done.err.count("building bot\n") == 1, "not in each role"
    assert "with 1 parameter and 100 games, expect −2 to +32 Elo" in done.err
    assert "# the values found are those of the start" in done.out
    assert 'name = "bot"' in done.out and " 50 -le 50 " in done.out
    first = {game: found[0] for game, found in values(folder).items()}
    faults = {game: line["faults"][0] for game, line in games(folder).items()}
    assert len(first) == 100
    assert faults == {game: "gone" if int(value) > 50 else "" for game, value in first.items()}
    (failed,) = from_python.open(folder).table_of("failures").rows
    failing = [int(value) for game, value in first.items() if faults[game]]
    assert failed == {
        "section": "",
        "fault": "gone",
        "games": 50,
        "parameter": "n",
        "from": min(failing),
        "to": max(failing),
    }
    assert referee("verify", str(folder)).code == 0
    for fails in (False, True):
        game = next(game for game in first if bool(faults[game]) == fails)
        again = referee("rerun", str(folder), game)
        assert again.code == 0 and ": identical " in again.out, "with the same values"
        recorded = find_game(folder, game, None, print, as_played=True)
        assert isinstance(recorded, GameRecord)
        bots = rerun_of(read_run(folder), recorded, tmp_path, {}).bots
        assert [bot.read for bot in bots] == [(tmp_path / "book",)] * 2
    assert referee("tune", str(file)).out == done.out, "nothing is left to play"


@pytest.mark.slow
def test_a_killed_run_goes_on_with_the_same_values(tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    file = tuning(tmp_path / "t.toml", f"{PLAIN} {{n}}")
    assert referee("tune", str(file), "-o", str(whole)).code == 0
    dice, count = random.Random(7), 0
    command = [sys.executable, "-m", "referee", "tune", str(file), "-o", str(folder), "--workers", "2"]
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_games(folder, count + dice.randint(5, 25))
        process.send_signal(signal.SIGKILL)
        process.wait(TOO_LONG_S)
        count = len(games(folder))
    assert count < 110
    done = referee(*command[3:])
    assert done.code == 0, done.err
    assert len({found[0] for found in values(whole).values()}) > 10
    assert values(folder) == values(whole)
    assert games(folder) == games(whole)
    file.write_text(file.read_text().replace("test_budget = 10", "test_budget = 20"))
    assert referee(*command[3:]).code == 0 and len(games(folder)) == 120, "the test goes on"
    assert referee("verify", str(folder)).code == 0
    changed = file.read_text().replace("max = 100", "max = 101")
    file.write_text(changed)
    done = referee(*command[3:])
    assert done.code == 2 and "the `[[parameter]]` tables are not those with which the run began" in done.err
    assert "the same tournament, perhaps with a larger `test_budget`, or another folder" in done.err


@pytest.mark.slow
def test_a_bot_is_tuned_from_python(tmp_path: Path) -> None:
    run = from_python.tune(
        "blooms",
        {"name": "mine", "cmd": f"{PLAIN} {{n}}"},
        {"n": {"start": 3, "min": -5, "max": 5}},
        budget=100,
        test_budget=2,
        clock="5s",
        options={"size": 3},
        workers=2,
    )
    assert set(run.bots) == {"mine-tuned", "mine-start", "mine-plus", "mine-minus"}
    assert len(run) == 102 and -5 <= run.parameters["n"] <= 5 and run.parameters["n"] != 3
    assert "Values over time" in run.report(tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ('cmd = "./nope {n}"', "bot `bot`: no program at `./nope`"),
        ('cmd = "true {n}"\nbuild = "false"', "building bot\nreferee: bot `bot`: it cannot be built"),
        ('cmd = "true {n}"\nuser = "nope"', "bot `bot`: `user` is `nope`"),
    ],
)
def test_what_is_wrong_with_a_bot_is_told_by_its_name_in_the_file(
    wrong: str, error: str, tmp_path: Path
) -> None:
    file = tuning(tmp_path / "t.toml", "cmd {n}")
    file.write_text(file.read_text().replace('cmd = "cmd {n}"', wrong))
    done = referee("tune", str(file))
    assert done.code != 0 and error in done.err


@pytest.mark.slow
def test_a_bot_that_is_tuned_is_checked_once_by_its_name_in_the_file(tmp_path: Path) -> None:
    done = referee("check", str(tuning(tmp_path / "t.toml", "./nope {n}")))
    assert done.code != 0 and done.err.count("bot: failed") == 1
    assert "1 of 1 bot failed: bot" in done.err


def test_a_file_without_parameters_is_not_tuned(tmp_path: Path) -> None:
    done = referee("tune", str(toml(tmp_path / "t.toml")))
    assert done.code == 2
    assert done.err.endswith("there are no `[[parameter]]` tables, expected one for each number to tune\n")
