"""Tournaments: what is played, that nothing is lost or played twice, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from referee.processes.levels import reason
from tests.command import BAD, HERE, PARENT, PLAIN, ROOT, THIS_PYTHON, in_python, referee, referee_process
from tests.holdings import living, processes
from tests.processes.runs import (
    forged,
    games,
    lines_of,
    resigning,
    run_with,
    toml,
    until,
    voids,
    wait_for_games,
)
from tests.waiting import TOO_LONG_S, eventually, let_others_go_on

BOTS = ROOT / "sample_bots"


# --- Playing ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def played_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tournament that was played to its end: `t.toml`, and `t-results` with six games."""
    folder = tmp_path_factory.mktemp("played")
    assert referee("run", str(toml(folder / "t.toml", rounds=1))).code == 0
    return folder


@pytest.fixture
def played(played_once: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A copy of it: the file, and the folder of the results."""
    shutil.copytree(played_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "t.toml", tmp_path / "t-results"


@pytest.mark.slow
def test_the_same_games_whatever_the_workers(tmp_path: Path) -> None:
    played = {}
    tables = set()
    for workers in ("0", "2"):
        folder = tmp_path / workers
        file = toml(tmp_path / "t.toml", rounds=1)
        done = referee("run", str(file), "-o", str(folder), "--workers", workers)
        assert done.code == 0, done.err
        assert referee("verify", str(folder)).code == 0
        played[workers] = games(folder)
        tables.add(done.out)
    assert len(played["0"]) == 6
    assert played["0"] == played["2"]
    assert len(tables) == 1 and "wins–draws–losses" in tables.pop()


@pytest.mark.slow
def test_continuing_after_being_killed_and_stopped(tmp_path: Path) -> None:
    """`kill -9` and Ctrl-C at some moments: the same games with the same moves, none twice."""
    games_of_all = 48
    file = toml(tmp_path / "t.toml", rounds=8)
    whole = tmp_path / "whole"
    assert referee("run", str(file), "-o", str(whole)).code == 0
    folder = tmp_path / "broken"
    dice = random.Random(5)
    command = [sys.executable, "-m", "referee", "run", str(file), "-o", str(folder), "--workers", "2"]
    counts = [0]
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_games(folder, counts[-1] + dice.randint(4, 8))
        process.send_signal(number)
        process.communicate(timeout=TOO_LONG_S)
        assert process.returncode == (3 if number == signal.SIGINT else -number)
        counts.append(len(games(folder)))
    assert sorted({*counts, games_of_all}) == [*counts, games_of_all]
    done = referee(*command[3:])
    assert done.code == 0 and f"{counts[-1]} of {games_of_all} games played" in done.err
    assert games(folder) == games(whole)
    assert referee("verify", str(folder)).code == 0
    assert referee("table", str(folder)).out == referee("table", str(whole)).out
    again = referee(*command[3:])
    assert again.code == 0 and f"{games_of_all} of {games_of_all} games played" in again.err
    assert len(games(folder)) == games_of_all


@pytest.mark.slow
def test_nothing_lives_on_when_the_referee_is_killed(tmp_path: Path) -> None:
    bots = dict.fromkeys("ab", f"{BAD} 'sleep' 6000 {tmp_path}")
    file = toml(tmp_path / "t.toml", bots, clock="6000s")
    command = [sys.executable, "-m", "referee", "run", str(file), "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: len(living(str(tmp_path))) >= 2)
    process.kill()
    process.wait()
    eventually(lambda: not living(str(tmp_path)))


@pytest.mark.slow
def test_a_torn_last_line_is_played_again(played: tuple[Path, Path]) -> None:
    file, folder = played
    before, path = games(folder), folder / "games.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    done = referee("run", str(file))
    assert done.code == 0 and "incomplete after a crash" in done.err and "5 of 6 games played" in done.err
    assert games(folder) == before
    assert referee("verify", str(folder)).code == 0
    assert [line["torn"] > 0 for line in lines_of(folder) if line["kind"] == "change"] == [True]


def test_a_damaged_line_is_not_built_upon(played: tuple[Path, Path]) -> None:
    file, folder = played
    path = folder / "games.jsonl"
    damaged = path.read_bytes().replace(b'"move"', b'"mowe"', 1)
    path.write_bytes(damaged)
    for words in (["run", str(file)], ["table", str(folder)], ["find", str(folder)]):
        done = referee(*words)
        assert done.code == 6 and "line 2 of" in done.err and "hash mismatch" in done.err
    assert path.read_bytes() == damaged


@pytest.mark.slow
def test_two_referees_on_one_folder(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", f"{BAD} sleep 1 1 1 1"))
    command = [sys.executable, "-m", "referee", "run", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr and "0 of 4 games" in process.stderr.readline()
    done = referee("run", str(file))
    assert done.code == 2 and "another referee is already running" in done.err
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_bots_and_rounds_may_be_added(tmp_path: Path) -> None:
    file, folder = tmp_path / "t.toml", tmp_path / "t-results"
    assert referee("run", str(toml(file, {"a": PLAIN, "b": PLAIN}, rounds=1))).code == 0
    first = games(folder)
    done = referee("run", str(toml(file, {"c": PLAIN, "b": PLAIN, "a": PLAIN}, rounds=2)))
    assert done.code == 0 and "changed" not in done.err
    now = games(folder)
    assert len(first) == 2 and len(now) == 12 and first.items() <= now.items()
    changes = [line for line in lines_of(folder) if line["kind"] == "change"]
    assert [set(change["bots"]) for change in changes] == [{"c"}] and changes[0]["rounds"] == 2
    assert referee("verify", str(folder)).code == 0
    assert referee("run", str(file)).err.startswith("12 of 12 games played")


@pytest.mark.slow
def test_anything_else_that_changed_is_named(tmp_path: Path) -> None:
    two = {"a": PLAIN, "b": PLAIN}
    file = tmp_path / "t.toml"
    assert referee("run", str(toml(file, two))).code == 0
    before = (tmp_path / "t-results" / "games.jsonl").read_bytes()
    for changed, words in (
        ({"clock": "6s"}, "`clock` of bot `a` is 6s, but was 5s"),
        ({"seed": "other"}, "`seed` is other, but was s"),
        ({"margin": "1ms"}, "`margin_us` is 1000, but was 10000"),
        ({"rounds": 1}, "`rounds` is 1, but was 2"),
        ({"options": "size = 4"}, '`options` is {"size": 4'),
        ({"bots": {"a": PLAIN, "z": PLAIN}}, "bot `b` is missing"),
        ({"bots": {"a": PLAIN, "b": PLAIN + " --fast"}}, "`command` of bot `b`"),
    ):
        done = referee("run", str(toml(file, **{"bots": two, **changed})))  # type: ignore[arg-type]
        assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1
    toml(file, two, workers=1, keep="all", pin=True)
    assert referee("run", str(file)).code == 0, "what does not touch the results may change"
    after = (tmp_path / "t-results" / "games.jsonl").read_bytes()
    assert after == before


@pytest.mark.slow
def test_a_finished_run_can_be_played_again_and_its_results_are_kept(tmp_path: Path) -> None:
    script = tmp_path / "bot.py"
    script.write_text((BOTS / "plain_bot.py").read_text())
    run = ("run", str(toml(tmp_path / "t.toml", {"a": "{python} bot.py", "b": PLAIN}, rounds=1)))
    hint = "no games are left for the programs that have changed; `--fresh` plays all games again"
    assert hint not in referee(*run).err and hint not in referee(*run).err
    script.write_text(script.read_text() + "# better\n")
    assert hint in referee(*run).err and hint in referee(*run).err
    results, aside = tmp_path / "t-results", tmp_path / "t-results-1"
    before = (results / "games.jsonl").read_bytes()
    again = referee(*run, "--fresh")
    assert again.code == 0 and hint not in again.err
    assert f"the results so far are now in {aside}" in again.err
    assert (aside / "games.jsonl").read_bytes() == before
    assert len(games(results)) == len(games(aside)) == 2
    for wrong, words in (
        ((*run, "--fresh", "--dry-run"), "`--fresh` and `--dry-run` are given, expected only one"),
        (("match", "blooms", "--fresh", PLAIN, PLAIN), "`--fresh` is given without `-o`"),
    ):
        refused = referee(*wrong)
        assert refused.code == 2 and words in refused.err


@pytest.mark.slow
def test_a_changed_program_is_recorded_and_reported(tmp_path: Path) -> None:
    script = tmp_path / "bot.py"
    script.write_text((BOTS / "plain_bot.py").read_text())
    bots = {"a": "{python} bot.py", "b": PLAIN}
    assert referee("run", str(toml(tmp_path / "t.toml", bots, rounds=1))).code == 0
    script.write_text(script.read_text() + "# better\n")
    done = referee("run", str(toml(tmp_path / "t.toml", bots, rounds=2)))
    assert done.code == 0 and "bots whose program has changed since the run began: a" in done.err
    (change,) = (line for line in lines_of(tmp_path / "t-results") if line["kind"] == "change")
    assert list(change["files"]) == ["a"] and change["rounds"] == 2
    said = f"programs changed during the run, so the figures mix different versions: a ({change['when']})"
    for again in (done, referee("table", str(tmp_path / "t-results"))):
        assert said in again.out.replace("\n  ", " ")
    assert referee("amend", str(tmp_path / "t-results"), "--rename", "a=alpha").code == 0
    renamed = referee("table", str(tmp_path / "t-results")).out.replace("\n  ", " ")
    assert said.replace(": a (", ": alpha (") in renamed


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_program_that_changes_while_the_run_is_on_is_recorded_and_reported(
    workers: int, tmp_path: Path
) -> None:
    script = tmp_path / "bot.sh"
    script.write_text(f"echo '# longer' >> bot.sh\nexec {PLAIN.replace('{python}', THIS_PYTHON)}\n")
    bots = {"a": "sh bot.sh", "b": PLAIN}
    done = referee("run", str(toml(tmp_path / "t.toml", bots, rounds=4, workers=workers)))
    assert done.code == 0 and done.err.count("bots whose program changed during the run: a\n") == 1
    first, *rest = lines_of(tmp_path / "t-results")
    changes = [line["files"] for line in rest if line["kind"] == "change"]
    assert all(list(change) == ["a"] for change in changes)
    versions = [first["files"]["a"]["bot.sh"], *(change["a"]["bot.sh"] for change in changes)]
    assert len(set(versions)) == len(versions) == (5 if workers == 0 else len(versions)) > 1
    assert versions[-1] == hashlib.sha256(script.read_bytes()).hexdigest()
    assert "programs changed during the run" in done.out
    assert done.out == referee("table", str(tmp_path / "t-results")).out
    kinds = [line["kind"] for line in rest]
    assert workers or kinds[:4] == ["game", "game", "change", "game"], "before the games that it plays"
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    assert referee("run", str(tmp_path / "t.toml")).err.count("bots whose program") == 0


@pytest.mark.slow
def test_a_bot_that_never_starts_is_tried_three_times(tmp_path: Path) -> None:
    bots = {"bad": f"{BAD} 'crashes at the start'", "good": PLAIN}
    done = referee("run", str(toml(tmp_path / "t.toml", bots, rounds=10)))
    assert done.code == 0
    played = lines_of(tmp_path / "t-results")[1:]
    assert all(game["ending"] == "start" for game in played) and len(played) == 20
    details = [game["measured"]["events"][0]["detail"] for game in played]
    assert sum("is not tried again" in detail for detail in details) == 16, "two encounters were tried"
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    assert "20 start" in done.out
    assert done.err.count("stderr: boom") == 1, "a bot's fault is explained once"


def test_a_bot_whose_needs_are_not_met_is_left_out(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml")
    file.write_text(file.read_text() + 'needs = ["sh", "no-such-language"]\nbuild = "false"\n')
    done = referee("run", str(file))
    assert done.code == 0 and "bot `c` is left out: it needs `no-such-language`" in done.err
    assert set(games(tmp_path / "t-results")) == {"1:a:b", "1:b:a", "2:a:b", "2:b:a"}


@pytest.mark.slow
def test_builds_environment_and_fresh_processes(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "count.py").write_text((BOTS / "plain_bot.py").read_text())
    (tmp_path / "t.toml").write_text(
        f"""
        [tournament]
        game = "blooms"
        rounds = 1
        clock = "5s"
        seed = "s"
        workers = 0
        keep = "all"
        processes = "game"
        [options]
        size = 3
        [[bot]]
        name = "built"
        cmd = ["{{python}}", "-c", "import os; os.system('echo $A$B >&2'); import made"]
        cwd = "sub"
        env = {{ A = "one", PYTHONPATH = "." }}
        pass_env = ["B"]
        build = "cp ../count.py made.py"
        [[bot]]
        name = "plain"
        cmd = "{PLAIN}"
        clock = "2s"
        """
    )
    done = referee_process("run", str(tmp_path / "t.toml"), "--strict", env={"B": "two"})
    assert done.code == 0, done.err
    assert "building built" in done.err
    first, second = lines_of(tmp_path / "t-results")[1:]
    for game, seat in ((first, 0), (second, 1)):
        assert game["measured"]["seats"][seat]["stderr"]["starting"]["text"] == "onetwo\n"
    assert first["clocks"] == ["5s", "2s"] and second["clocks"] == ["2s", "5s"]
    found = referee("find", str(tmp_path / "t-results"), "--dialogue", "--id", "1:built:plain")
    assert " built REF: hello 1 list" in found.out and "end " in found.out


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cannot pin")
def test_pinned_workers_play(tmp_path: Path) -> None:
    done = referee("run", str(toml(tmp_path / "t.toml", pin=True, workers=2)))
    assert done.code == 0 and len(games(tmp_path / "t-results")) == 12


def test_a_dry_run_says_what_it_would_take_and_does_nothing(tmp_path: Path) -> None:
    done = referee("run", str(toml(tmp_path / "t.toml", workers=1)), "--dry-run")
    assert done.code == 0 and not (tmp_path / "t-results").exists()
    assert "12 games of blooms, 3 bots, 2 rounds, 1 worker" in done.out
    # Side 3 has 19 cells and a target of 10: 19 + 18 moves at most, 5 s each, and 10 s twice for the start.
    assert "12 games left to play, at most 37 moves each" in done.out
    assert "at most 42 min, if every bot uses all of its time" in done.out
    assert "how long they will take is unknown" in done.out and "KB in" in done.out


# --- A failure of the referee's own ----------------------------------------------------------------------


BREAKS = """
import referee.games.blooms as b
play, count = b.BloomsState.play, [0]
def broken(self, moves):
    count[0] += 1
    if count[0] {when}: raise RuntimeError("the board is on fire")
    return play(self, moves)
b.BloomsState.play = broken
import referee.tournament.run.open_run as o
o.PAUSES_S = (0, 0, 0, 0)
"""


@pytest.mark.slow
def test_a_game_that_the_referee_failed_at_is_void_and_played_again(tmp_path: Path) -> None:
    whole = toml(tmp_path / "whole.toml", rounds=1)
    assert referee("run", str(whole)).code == 0
    done = run_with(BREAKS.format(when="in (5, 60)"), toml(tmp_path / "t.toml", rounds=1))
    assert done.returncode == 0 and "the board is on fire), it is played again" in done.stderr
    assert games_but_attempts(tmp_path / "t-results") == games_but_attempts(tmp_path / "whole-results")
    attempts = [game["attempt"] for game in games(tmp_path / "t-results").values()]
    assert sorted(attempts)[-3:] == [1, 2, 2]
    failed = voids(tmp_path / "t-results")
    assert len(failed) == 2 and "RuntimeError" in failed[0]["error"]
    assert referee("verify", str(tmp_path / "t-results")).code == 0


def games_but_attempts(folder: Path) -> dict[str, dict[str, Any]]:
    return {name: {**game, "attempt": 0} for name, game in games(folder).items()}


@pytest.mark.slow
def test_a_game_that_stays_void_ends_the_run_with_1(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", rounds=1)
    done = run_with(BREAKS.format(when="> 0"), file)
    assert done.returncode == 1 and "games without a result: 1:a:b" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(voids(tmp_path / "t-results")) == 30
    assert not games(tmp_path / "t-results")
    again = referee("run", str(file))
    assert again.code == 0 and len(games(tmp_path / "t-results")) == 6, "the same command tries again"
    assert {game["attempt"] for game in games(tmp_path / "t-results").values()} == {6}


def worker_processes(referee_pid: int) -> list[int]:
    """The ids of the referee's worker processes."""
    return [
        process.pid
        for process in processes()
        if process.parent == referee_pid and "tournament.worker" in process.command
    ]


@pytest.mark.slow
def test_a_worker_that_dies_costs_no_game(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    bots = {"a": resigning(), "b": resigning(until(killed))}  # the first game ends at once, the second waits
    file = toml(tmp_path / "t.toml", bots, rounds=2, clock="6000s")
    command = [sys.executable, "-m", "referee", "run", str(file), "--workers", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert "1 of 4" in process.stderr.readline() + process.stderr.readline()
    (worker,) = worker_processes(process.pid)
    os.kill(worker, signal.SIGKILL)
    killed.touch()
    _, err = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 0 and "a worker process died" in err
    assert len(games(tmp_path / "t-results")) == 4


KILLS_ITS_WORKER = (
    f"{PARENT}echo hello 1; "
    "while read word rest; do case $word in prepare) echo ready;; "
    "ask) kill -9 $(parent $(parent $PPID)) && sleep 60;; esac; done"
)


@pytest.mark.slow
def test_a_bot_that_kills_its_worker_forfeits_its_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found since it sat in more void games than anybody else; the games that others play at the same
    time count no attempt.
    """
    monkeypatch.setenv("REFEREE_ISOLATION", "none")
    slow = f"{BAD} sleep 0.4 0.4 60"
    file = toml(tmp_path / "t.toml", {"a": slow, "b": slow}, workers=2, rounds=1)
    file.write_text(
        file.read_text() + f"""[[bot]]\nname = "killer"\ncmd = ["sh", "-c", '{KILLS_ITS_WORKER}']\n"""
    )
    done = referee("run", str(file))
    assert done.code == 0 and "a worker process died" in done.err
    assert "bot `killer` forfeits its remaining games" in done.err
    assert "number of forfeited games by bot: killer 4" in done.err
    played = games(tmp_path / "t-results")
    assert all(game["attempt"] == 1 for name, game in played.items() if "killer" not in name)
    for name, game in played.items():
        if "killer" in name:
            assert game["faults"] == ["void" if bot == "killer" else "" for bot in game["bots"]]
    assert len(played) == 6
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    assert referee("run", str(file)).code == 0 and games(tmp_path / "t-results") == played


@pytest.mark.slow
def test_a_void_that_either_of_two_bots_may_have_bought_is_a_loss_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_ISOLATION", "none")
    file = toml(tmp_path / "t.toml", {"a": PLAIN}, rounds=1, workers=1)
    file.write_text(
        file.read_text() + f"""[[bot]]\nname = "killer"\ncmd = ["sh", "-c", '{KILLS_ITS_WORKER}']\n"""
    )
    for _ in range(2):
        done = referee("run", str(file))
        assert done.code == 1 and "so all of their bots forfeited: " in done.err
        played = games(tmp_path / "t-results")
        assert len(played) == 2
        for game in played.values():
            assert (game["faults"], game["ranks"], game["rated"]) == (["void"] * 2, [1, 1], False)
            assert game["attempt"] == 3
    assert referee("verify", str(tmp_path / "t-results")).code == 0


@pytest.mark.slow
def test_a_full_disk_stops_the_run_and_it_continues(tmp_path: Path) -> None:
    patch = """
import os, referee.records.journal as j
fsync, count = os.fsync, [0]
def full(file):
    count[0] += 1
    if count[0] == 5: raise OSError(28, "No space left on device")
    fsync(file)
j.os.fsync = full
"""
    file = toml(tmp_path / "t.toml")
    done = run_with(patch, file)
    assert (
        done.returncode == 4 and "No space left on device" in done.stderr and "Traceback" not in done.stderr
    )
    assert referee("run", str(file)).code == 0
    assert len(games(tmp_path / "t-results")) == 12


# --- Bad input -------------------------------------------------------------------------------------------


def test_folders_that_will_not_do(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml")
    (tmp_path / "file").write_text("mine")
    words = [f"a={PLAIN}", f"b={PLAIN}", "-o", str(tmp_path / "match"), *HERE]
    assert referee("match", "blooms", *words).code == 0
    theirs = {
        "odd/games.jsonl": "{}\n",
        "torn/games.jsonl": '{"mine": true}',
        "named/tournament.toml": "mine",
    }
    for name, text in theirs.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    for folder, code, message in (
        ("file", 2, "it is not a folder"),
        ("match", 2, "has the results of another tournament"),
        ("odd", 6, "line 1 of"),
        ("torn", 6, "line 1 of"),  # not taken for a first line that was torn
        ("named", 2, "expected a new folder"),
        ("/dev/null/x", 2, "cannot write to"),
    ):
        done = referee("run", str(file), "-o", str(tmp_path / folder))
        assert done.code == code and message in done.err, done.err
    for name, text in {**theirs, "file": "mine"}.items():
        assert (tmp_path / name).read_text() == text
    for command, name in (("table", "none"), ("find", "none"), ("run", "none.toml")):
        assert referee(command, str(tmp_path / name)).code == 2


# --- Tables and finding ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faulty")
    bots = {"exits": f"{BAD} exits", "good": PLAIN, "+x": f"{BAD} none"}
    assert referee("run", str(toml(folder / "t.toml", bots))).code == 0
    return folder / "t-results"


@pytest.mark.slow
def test_the_table_in_every_format(faulty: Path) -> None:
    simple = referee("table", str(faulty), "--notes").out
    assert "8 gone" in simple and "advantage of seat 1" in simple
    rows = json.loads(referee("table", str(faulty), "--format", "json").out)["standings"]
    assert [row["bot"] for row in rows][-1] == "exits" and rows[-1]["faults"] == {"gone": 8}
    table = [*csv.DictReader(io.StringIO(referee("table", str(faulty), "--format", "csv").out))]
    assert {row["bot"]: row["faults_gone"] for row in table} == {"'+x": "0", "good": "0", "exits": "8"}, (
        "a spreadsheet takes +x for a formula"
    )
    assert "| bot" in referee("table", str(faulty), "--format", "github").out
    assert referee("table", str(faulty), "--format", "poem").code == 2


def test_find(faulty: Path) -> None:
    def ids(*words: str) -> set[str]:
        done = referee("find", str(faulty), *words)
        assert done.code == 0
        return {line.split()[1] for line in done.out.splitlines()[2:]}

    assert len(ids()) == 12
    header, _, *listed = referee("replay", str(faulty)).out.splitlines()
    assert header.split() == ["game", "id", "result", "how", "it", "ended"]
    replayed = [line.split()[1] for line in listed]
    assert sorted(replayed) == sorted(ids())
    assert [ids("--id", str(number)) for number in (1, 5, 12)] == [{replayed[at]} for at in (0, 4, 11)]
    assert referee("find", str(faulty), "--fault", "time").err == "no games match\n"
    assert referee("find", str(faulty), "--id", "13").code == 2
    assert ids("--fault", "gone") == ids("--bot", "exits") == ids("--fault", "any", "--bot", "exits")
    assert ids("--fault", "time") == set() == ids("--bot", "good", "--fault", "any")
    assert ids("--bot", "good", "--bot", "+x", "--round", "2") == {"2:+x:good", "2:good:+x"}
    assert ids("--won-by", "good") >= {"1:exits:good"} and ids("--lost-by", "exits") == ids("--bot", "exits")
    dialogue = referee("find", str(faulty), "--id", "1:exits:good", "--dialogue").out
    assert "# 1:exits:good: exits crashed" in dialogue and "exits REF: ask 1" not in dialogue.splitlines()[0]
    assert "exits REF: ask 1" in dialogue
    kept = referee("find", str(faulty), "--id", "1:+x:good", "--dialogue").out
    assert "(not stored; `referee rerun RUN ID --dialogue` plays the game again and shows it)" in kept
    assert referee("find", str(faulty), "--bot", "nobody").code == 2
    assert referee("replay", str(faulty), "1:exits:good").code == 0


# --- In a terminal ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_live_view_and_ctrl_c_in_a_terminal(tmp_path: Path) -> None:
    bots = dict.fromkeys(("first", "second"), f"{BAD} sleep 0.2 0.2 0.2 0.2")
    toml(tmp_path / "t.toml", bots, rounds=50, workers=1)
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    words = ["-m", "referee", "run", str(tmp_path / "t.toml")]
    screen = pexpect.spawn(
        sys.executable, words, env=env, encoding="utf-8", timeout=TOO_LONG_S, dimensions=(40, 100)
    )
    screen.expect("of 100 games, about")
    screen.expect("bot.*Elo.*games.*w–d–l.*score.*faults")
    screen.expect("first +.[0-9]+ ± [0-9]+ +[0-9]+ +[0-9]+–0–[0-9]+ +[0-9.]+ %")
    screen.expect("playing: [0-9]+:first:second")
    screen.sendintr()
    screen.expect("head hash")
    screen.expect("stopped by SIGINT after [0-9]+ of 100 games; the same command continues the run")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 3
    assert referee("verify", str(tmp_path / "t-results")).code == 0


# --- What a hostile user did -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("start", [b'{"kind":"tourna', pytest.param(b"", marks=pytest.mark.slow)])
def test_a_run_that_was_killed_before_its_first_line_begins_anew(tmp_path: Path, start: bytes) -> None:
    file, folder = toml(tmp_path / "t.toml", rounds=1), tmp_path / "run"
    folder.mkdir()
    (folder / "games.jsonl").write_bytes(start)
    for command in ("table", "find"):
        assert referee(command, str(folder)).code == 6
    assert referee("run", str(file), "-o", str(folder)).code == 0
    assert len(games(folder)) == 6 and referee("verify", str(folder)).code == 0


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": None},
        {"rounds": "2"},
        {"files": [1]},
        {"files": {"a": 1}},
        {"bots": []},
        {"bots": {}},
        {"bots": {"a": 1}},
        {"bots": {"\x1b[2J": {"clock": "1s"}}},
        {"record": 2},
        {"seed": 5},
    ],
    ids=str,
)
def test_a_damaged_first_line_is_refused_in_one_line(
    played: tuple[Path, Path], change: dict[str, Any]
) -> None:
    file, folder = played
    forged(folder, lambda lines: lines[0].update(change))
    for words in (["run", str(file)], ["table", str(folder)], ["find", str(folder)]):
        done = referee(*words)
        assert done.code == 6 and len(done.err.splitlines()) == 1, (words, done)


def test_nothing_is_built_for_a_run_that_is_refused(played: tuple[Path, Path]) -> None:
    file, folder = played
    toml(file, rounds=1, options="size = 4")
    file.write_text(file.read_text() + 'build = "touch built"\n')
    assert referee("run", str(file)).code == 2
    assert not (folder.parent / "built").exists()


@pytest.mark.slow
def test_relative_paths_are_the_file_s_also_where_it_moves(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    shutil.copy(BOTS / "plain_bot.py", tmp_path / "here" / "bot.py")
    bots = {"a": "{python} bot.py", "b": "{python} ./bot.py"}
    assert referee("run", str(toml(tmp_path / "here" / "t.toml", bots, rounds=1))).code == 0
    (tmp_path / "here").rename(tmp_path / "there")
    done = referee("run", str(toml(tmp_path / "there" / "t.toml", bots, rounds=2)))
    assert done.code == 0 and len(games(tmp_path / "there" / "t-results")) == 4


@pytest.mark.slow
def test_exit_codes_do_not_depend_on_who_reads(tmp_path: Path) -> None:
    bots = {"a": f"{BAD} exits", "b": PLAIN}
    file = toml(tmp_path / "t.toml", bots, rounds=1)
    command = [sys.executable, "-m", "referee", "run", str(file), "--strict"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout
    process.stdout.close()
    assert process.wait() == 8
    shell = f"{THIS_PYTHON} -m referee run {file} --strict >/dev/null 2>&-"
    assert subprocess.run(["sh", "-c", shell]).returncode == 8
    shell = f"PYTHONIOENCODING=latin-1 {THIS_PYTHON} -m referee table {tmp_path / 't-results'}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True)
    assert done.returncode == 0 and b"\\u2013" in done.stdout


def begun(file: Path) -> subprocess.Popen[str]:
    """A run that begins to play."""
    command = [sys.executable, "-m", "referee", "run", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr and "0 of 2 games" in process.stderr.readline()
    return process


@pytest.mark.slow
def test_the_first_signal_stops_after_the_game_without_workers_too(tmp_path: Path) -> None:
    """The game lasts until the signal was taken."""
    asked, taken = tmp_path / "asked", tmp_path / "taken"
    bot = resigning(f"touch {asked}; {until(taken)}")
    process = begun(toml(tmp_path / "t.toml", dict.fromkeys("ab", bot), rounds=1, clock="6000s"))
    assert process.stderr
    eventually(asked.exists)
    process.send_signal(signal.SIGTERM)
    while "stopping after this game" not in (line := process.stderr.readline()):
        assert line
    taken.touch()
    _, err = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 3 and "after 1 of 2 games" in err


@pytest.mark.slow
def test_workers_that_die_in_the_midst_of_a_report_do_not_hang_the_run(tmp_path: Path) -> None:
    """Long dialogues do not fit into the pipe: while the referee is stopped, workers stand half-way."""
    bots = dict.fromkeys("ab", f"{BAD} 'stderr marks'")
    file = toml(tmp_path / "t.toml", bots, rounds=24, keep="all", options="size = 8")
    command = [sys.executable, "-m", "referee", "run", str(file), "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_games(tmp_path / "t-results", 4)
    process.send_signal(signal.SIGSTOP)
    let_others_go_on(1.5)
    for worker in worker_processes(process.pid):
        os.kill(worker, signal.SIGKILL)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 0 and "a worker process died" in err, err[-600:]
    assert len(games(tmp_path / "t-results")) == 48
    assert referee("verify", str(tmp_path / "t-results")).code == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="stops the referee with SIGSTOP")
def test_moves_during_which_the_referee_was_stopped_are_counted_and_told(tmp_path: Path) -> None:
    """It is stopped while a bot thinks, for longer than it may be late."""
    asked, stopped, thought = (tmp_path / name for name in ("asked", "stopped", "thought"))
    bot = resigning(f"touch {asked}; {until(stopped)}; sleep 0.2; touch {thought}")
    process = begun(toml(tmp_path / "t.toml", dict.fromkeys("ab", bot), rounds=1, clock="6000s"))
    eventually(asked.exists)
    process.send_signal(signal.SIGSTOP)
    stopped.touch()
    eventually(thought.exists)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=TOO_LONG_S)
    assert process.returncode == 0
    assert re.search(r"(machine overloaded|referee delayed) during [1-9] of \d+ moves", err), err


@pytest.mark.slow
@pytest.mark.parametrize("level", ["none", "bwrap"])
def test_processes_that_a_bot_leaves_behind_are_told_once(level: str, tmp_path: Path) -> None:
    if why := reason(level):
        pytest.skip(why)
    bots = {"messy": f"{BAD} daemon 60", "plain": f"{BAD} sleep 0 60"}
    done = referee("run", str(toml(tmp_path / "t.toml", bots, rounds=2)), "--isolation", level)
    told = re.findall("bot `messy` left processes running, which were ended: (.*)", done.err)
    assert done.code == 0 and len(told) == 1, done.err
    names = told[0].split(", ")
    assert len(names) == len({*names}) and all(name.startswith("sleep (pid ") for name in names)


@pytest.mark.slow
def test_match_says_once_that_a_bot_had_to_be_ended_after_quit() -> None:
    """A bot at fault is still running too, but about that there is a report of the fault."""
    ignoring = in_python(ROOT / "tests" / "bots" / "broken_bot.py") + " ignores_quit"
    answers = "hello) echo hello 1;; prepare) echo ready;; ask) echo move;;"
    faulty = f"sh -c 'while read word rest; do case $word in {answers} esac; done; exec sleep 600'"
    done = referee("match", "blooms", "-n", "2", f"ignoring={ignoring}", f"faulty={faulty}")
    assert done.code == 0 and "broke the protocol" in done.err
    assert [line for line in done.err.splitlines() if "`quit`" in line] == [
        "bot `ignoring` was still running 0.5 s after `quit`, and was ended: exit on `quit` and at the end "
        "of the input; a thread or timer may keep the process alive"
    ]
