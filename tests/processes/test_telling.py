"""What is told of a run: by `status` from beside it, as events, and by a dry run before it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from referee.core.units import about_seconds
from referee.tournament.run.durations import last_games
from referee.tournament.run.lock import is_locked, locked
from tests.command import BAD, HERE, PLAIN, ROOT, referee
from tests.processes.runs import games, resigning, toml


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is over: six games, four of them with a fault."""
    folder = tmp_path_factory.mktemp("run")
    file = toml(folder / "t.toml", {"a": PLAIN, "b": PLAIN, "bad": f"{BAD} exits"}, rounds=1)
    assert referee("run", str(file)).code == 0
    return folder


def copied(run: Path, to: Path) -> Path:
    """A folder with the same records."""
    to.mkdir()
    for name in ("games.jsonl", "lock"):
        (to / name).write_bytes((run / "t-results" / name).read_bytes())
    return to


# --- Status -----------------------------------------------------------------------------------------------


def test_the_status_of_a_run_that_is_over(run: Path) -> None:
    folder = run / "t-results"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = referee("status", str(folder))
    assert done.code == 0 and not done.err
    first, pace, faults, _, *standings = done.out.splitlines()
    assert first == "blooms, 3 bots: 6 of 6 games; finished"
    assert re.fullmatch(r"[0-9.]+ games a (second|minute), the last game ended .* ago", pace)
    assert faults == "faults: 4 gone" and len(standings) == 4
    assert standings[0].split() == ["#", "bot", "games", "w–d–l", "score", "faults"], "too few for an Elo"
    assert standings[-1].split()[-6:] == ["4", "0–0–4", "0.0", "%", "4", "gone"]
    found = json.loads(referee("status", str(folder), "--json").out)
    assert found["running"] is False and (found["played"], found["games"]) == (6, 6)
    assert found["faults"] == {"gone": 4} and found["remaining_us"] is None
    assert [row["bot"] for row in found["standings"]][-1] == "bad"
    assert {path: path.read_bytes() for path in folder.iterdir()} == before, "nothing is written"
    assert referee("status", str(run / "t.toml")).out.startswith(first), "its tournament file means the same"


@pytest.mark.slow
def test_a_knockout_that_needed_fewer_games_than_it_may_have_is_finished(tmp_path: Path) -> None:
    bots = {"a": PLAIN, "b": resigning()}
    assert referee("run", str(toml(tmp_path / "t.toml", bots, format="knockout", rounds=None))).code == 0
    assert ": 2 games; finished" in referee("status", str(tmp_path / "t-results")).out
    assert referee("table", str(tmp_path / "t-results")).err.startswith("2 games, head hash")


def test_the_status_of_a_run_that_is_on(run: Path, tmp_path: Path) -> None:
    """Its last line may be incomplete at any place."""
    folder = copied(run, tmp_path / "on")
    whole = (folder / "games.jsonl").read_bytes()
    with locked(folder):
        for cut in (1, 100, 1000):
            (folder / "games.jsonl").write_bytes(whole[:-cut])
            done = referee("status", str(folder))
            assert done.code == 0 and "5 of 6 games; a referee is running" in done.out
            assert "remaining" in done.out
        found = json.loads(referee("status", str(folder), "--json").out)
        assert found["running"] and found["remaining_us"] > 0 and found["games_a_second"] > 0


def test_the_status_of_what_is_no_run(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        done = referee("status", str(path))
        assert done.code == 2 and len(done.err.splitlines()) == 1


@pytest.mark.slow
def test_asking_for_the_status_keeps_no_run_from_starting(tmp_path: Path) -> None:
    script = "import sys, pathlib; from referee.tournament.run.lock import is_locked\n"
    script += "print(flush=True)\nwhile True: is_locked(pathlib.Path(sys.argv[1]))"
    with locked(tmp_path):
        assert is_locked(tmp_path)
    asking = subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert asking.stdout and asking.stdout.readline()
        for _ in range(200):
            with locked(tmp_path):
                pass
    finally:
        asking.kill()
        asking.communicate()
    assert not is_locked(tmp_path)


def test_how_long_games_took_is_read_from_the_end_of_the_records(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(run, tmp_path / "some")
    found = last_games(folder)
    assert [game.id for game in found] == list(games(folder))
    assert all(0 < game.took_us < 60_000_000 for game in found)
    assert [game.began_us for game in found] == sorted(game.began_us for game in found)
    sizes = [len(line) + 1 for line in (folder / "games.jsonl").read_bytes().splitlines()]
    assert [game.size for game in found] == sizes[1:7]
    with (folder / "games.jsonl").open("ab") as file:
        file.write(
            b'{"kind":"game"}\n[]\n\xff\n{"kind":"game","id":"9:a:b","measured":{"began":"x"}}\n{"kind'
        )
    assert last_games(folder) == found, "what cannot be read is left out"
    monkeypatch.setattr("referee.tournament.run.durations.TAIL", sum(sizes[-3:]) + 200)
    assert 0 < len(last_games(folder)) < 6
    monkeypatch.setattr("referee.tournament.run.durations.GAMES", 1)
    assert last_games(folder) == found[-1:]
    assert last_games(tmp_path / "none") == []


# --- Events -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_as_json_lines(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN, "b": PLAIN, "bad": f"{BAD} exits"}, rounds=1, workers=1)
    done = referee("run", str(file), "--json-lines")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0 and [event["event"] for event in events[:2]] == ["run", "began"]
    assert [event["event"] for event in events[-2:]] == ["table", "end"]
    finished = [event for event in events if event["event"] == "finished"]
    stored = games(tmp_path / "t-results")
    assert [event["id"] for event in finished] == list(stored)
    for event in finished:
        game = stored[event["id"]]
        shared = event.keys() & game.keys()
        assert {"id", "attempt", "bots", "ranks", "scores", "ending", "sentence", "rated", "faults"} <= shared
        assert all(event[name] == game[name] for name in shared)
        assert ("report" in event) == any(game["faults"])
    assert {row["bot"] for row in events[-2]["standings"]} == {"a", "b", "bad"}
    assert events[-1]["played"] == events[-1]["games"] == 6 and f"head hash {events[-1]['head']}" in done.err
    again = referee("run", str(file), "--json-lines")
    assert [json.loads(line)["event"] for line in again.out.splitlines()] == ["table", "end"]


def test_a_match_as_json_lines() -> None:
    bots = (f"a={PLAIN}", f"b={PLAIN}")
    done = referee("match", "blooms", "-n", "2", "--option", "size=3", *bots, "--json-lines", *HERE)
    events = [json.loads(line)["event"] for line in done.out.splitlines()]
    assert done.code == 0 and events[0] == "run" and events.count("finished") == 2 and events[-1] == "end"


@pytest.mark.slow
def test_a_match_stops_when_its_test_is_decided() -> None:
    bots = (f"a={PLAIN}", f"b={BAD} exits")
    words = ["-n", "40", "--option", "size=3", "--sprt", "0,400", "--json-lines", *HERE]
    done = referee("match", "blooms", *words, *bots)
    played = json.loads(done.out.splitlines()[-1])["played"]
    assert done.code == 0 and played < 40 and "the stopping rule has decided: H1" in done.err
    wrong = referee("match", "blooms", "--sprt", "10,0", *bots)
    assert wrong.code == 2 and "`elo1` is 0, expected more than `elo0`" in wrong.err


# --- A dry run --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_dry_run_of_a_run_that_is_continued(run: Path, tmp_path: Path) -> None:
    bots = {"a": PLAIN, "b": PLAIN, "bad": f"{BAD} exits"}
    folder, file = copied(run, tmp_path / "run"), toml(tmp_path / "t.toml", bots, rounds=3, workers=2)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = referee("run", str(file), "-o", str(folder), "--dry-run")
    took_us = [game.took_us for game in last_games(folder)]
    expected = about_seconds(sum(took_us) * 12 // (6 * 2))
    assert done.code == 0 and "18 games of blooms, 3 bots, 3 rounds, 2 workers" in done.out
    assert f"this continues the run in `{folder}`, which already has 6 games" in done.out
    assert "12 games left to play, at most 37 moves each" in done.out
    assert f"about {expected}, if they take as long as the last 6 games" in done.out
    assert "are free there" in done.out
    over = referee("run", str(toml(file, bots, rounds=1)), "-o", str(folder), "--dry-run")
    assert over.code == 0 and "no games are left to play" in over.out
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
def test_totals_that_depend_on_results(tmp_path: Path) -> None:
    """A knockout ends before it has had the most games that it may have, also for a dry run and `status`."""
    bots, folder = {"a": PLAIN, "b": PLAIN, "c": PLAIN}, tmp_path / "t-results"
    file = toml(tmp_path / "t.toml", bots, rounds=None, format="knockout", best_of=3)
    before = referee("run", str(file), "--dry-run").out
    assert "at most 24 games of blooms, 3 bots, 2 rounds, 0 workers" in before
    assert "at most 24 games left to play" in before
    assert referee("run", str(file)).code == 0
    assert "no games are left to play" in referee("run", str(file), "--dry-run").out
    assert re.search(r": \d+ games; finished", referee("status", str(folder)).out)
    orders = [
        [row["bot"] for row in json.loads(referee(*words).out)["standings"]]
        for words in (("status", str(folder), "--json"), ("table", str(folder), "--format", "json"))
    ]
    assert orders[0] == orders[1], "the order of the knockout, not that of the ratings"


def test_a_dry_run_counts_what_is_still_to_be_played(run: Path, tmp_path: Path) -> None:
    """Games of bots that were withdrawn are not, nor do games that were annulled become so."""
    bots = {"a": PLAIN, "b": PLAIN, "bad": f"{BAD} exits"}
    folder, file = copied(run, tmp_path / "run"), toml(tmp_path / "t.toml", bots, rounds=3, workers=1)
    words = ("--withdraw", "bad", "--annul", "1:a:b", "--reason", "x")
    assert referee("amend", str(folder), *words).code == 0
    done = referee("run", str(file), "-o", str(folder), "--dry-run")
    assert "4 games left to play" in done.out and "3 rounds, 1 worker\n" in done.out
    league = toml(tmp_path / "league.toml", bots, rounds=None, format="league", budget=10, workers=1)
    assert "10 games of blooms, 3 bots, 1 worker\n" in referee("run", str(league), "--dry-run").out


def test_a_stopping_rule_may_end_a_run_before_its_last_game(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN, "b": PLAIN}, rounds=4, sprt="0,10")
    assert "at most 8 games left to play" in referee("run", str(file), "--dry-run").out


@pytest.mark.slow
def test_a_dry_run_leaves_out_what_is_not_played_any_more(run: Path, tmp_path: Path) -> None:
    """Games of withdrawn bots, and games after a stopping rule has decided."""
    folder, bots = copied(run, tmp_path / "run"), {"a": PLAIN, "b": PLAIN, "bad": f"{BAD} exits"}
    assert referee("amend", str(folder), "--withdraw", "bad", "--reason", "x").code == 0
    done = referee("run", str(toml(tmp_path / "t.toml", bots, rounds=2)), "-o", str(folder), "--dry-run")
    assert done.code == 0 and "2 games left to play" in done.out, done.out
    file = toml(tmp_path / "s.toml", dict.fromkeys("ab", PLAIN), rounds=40, sprt="0,900,0.49,0.49")
    assert referee("run", str(file)).code == 0
    done = referee("run", str(file), "--dry-run")
    assert done.code == 0 and "no games are left to play" in done.out, done.out


def test_a_dry_run_refuses_what_the_run_would_refuse(run: Path, tmp_path: Path) -> None:
    """With the same words, the same exit code, and without leaving anything behind."""
    bots = {"a": PLAIN, "b": PLAIN, "bad": f"{BAD} exits"}
    folder = copied(run, tmp_path / "run")
    other = toml(tmp_path / "other.toml", bots, rounds=1, clock="6s")
    missing = toml(tmp_path / "missing.toml", {"a": PLAIN, "b": "./no-such-program"})
    torn = copied(run, tmp_path / "damaged")
    (torn / "games.jsonl").write_bytes((torn / "games.jsonl").read_bytes().replace(b'"move"', b'"mowe"', 1))
    (tmp_path / "file").touch()
    good = toml(tmp_path / "good.toml", bots, rounds=1)
    refusals = [
        (2, "the results of another tournament", other, folder),
        (2, "no program at", missing, tmp_path / "new"),
        (2, "it is not a folder", good, tmp_path / "file"),
        (2, "cannot write to", good, tmp_path / "file" / "below"),
        (6, "hash mismatch", good, torn),
    ]
    dry_runs = []
    for code, words, file, to in refusals:
        dry_runs.append(referee("run", str(file), "-o", str(to), "--dry-run"))
        assert dry_runs[-1].code == code and words in dry_runs[-1].err and not dry_runs[-1].out
        assert not (tmp_path / "new").exists()
    assert [referee("run", str(file), "-o", str(to)) for _, _, file, to in refusals] == dry_runs
    with locked(folder):
        dry = referee("run", str(good), "-o", str(folder), "--dry-run")
        assert dry == referee("run", str(good), "-o", str(folder))
        assert dry.code == 2 and "another referee is already running" in dry.err


def test_a_dry_run_refuses_isolation_that_does_not_work_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.processes.levels.shutil.which", lambda *_: None, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    file = toml(tmp_path / "t.toml")
    dry = referee("run", str(file), "--dry-run", "--isolation", "bwrap")
    assert dry.code == 5 and not dry.out and not (tmp_path / "t-results").exists()


def test_a_dry_run_says_which_programs_would_be_built(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN, "b": "./made"})
    file.write_text(file.read_text() + 'build = "touch made"\n')
    dry = referee("run", str(file), "--dry-run")
    assert dry.code == 0 and "would be built first, and are not checked: b" in dry.out
    assert not (tmp_path / "made").exists()


@pytest.mark.slow
def test_a_run_that_is_over_needs_no_cluster(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    copied(run, tmp_path / "t-results")
    file = str(shutil.copy(run / "t.toml", tmp_path))
    again = referee("run", file, "--cluster", "tcp://127.0.0.1:9")
    assert again.code == 0 and "6 of 6 games played" in again.err and "Elo" in again.out


@pytest.mark.slow
def test_a_dry_run_on_a_cluster_refuses_nothing_that_this_machine_lacks(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    file = toml(tmp_path / "t.toml", {"a": PLAIN, "b": "./made"})
    file.write_text(file.read_text() + 'build = "touch made"\nneeds = ["no-such-program"]\n')
    dry = referee("run", str(file), "--dry-run", "--cluster", "local:3")
    assert dry.code == 0 and ", 3 games at a time on 1 machine\n" in dry.out
    assert "programs that each machine would build first: b" in dry.out
    assert "would be sent" in dry.out and "only then is it known whether it can play" in dry.out
    assert {path.name for path in tmp_path.iterdir()} == {"t.toml"}
