"""Runs of the same tournament that were played on several machines become one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command import PLAIN, RANDOM, Done, referee
from tests.processes.runs import forged, games, lines_of, toml, voids

AB = dict.fromkeys("ab", PLAIN)


def played(path: Path, **settings: Any) -> Path:
    """The folder of a tournament that was played."""
    file = toml(path, **{"workers": 0, **settings})
    done = referee("run", str(file))
    assert done.code == 0, done.err
    return path.with_name(f"{path.stem}-results")


def merged(*folders: Path, words: tuple[str, ...] = ()) -> tuple[Done, Path]:
    out = folders[0].parent / "out"
    return referee("merge", str(out), *map(str, folders), *words), out


def verified(folder: Path) -> str:
    done = referee("verify", str(folder))
    assert done.code == 0, done.err
    assert "not verified" not in done.err
    return done.out


@pytest.mark.promise(
    "TOURNAMENT", "Runs of the same tournament can be merged, and the result can be continued."
)
@pytest.mark.slow
def test_runs_with_other_bots_and_rounds_become_one_that_can_be_continued(tmp_path: Path) -> None:
    """The games that both played are the same, since the seed is."""
    one = played(tmp_path / "one.toml", bots=AB, rounds=1)
    two = played(tmp_path / "two.toml", bots={"b": PLAIN, "c": PLAIN}, rounds=2)
    three = played(tmp_path / "three.toml", bots=AB, rounds=2)
    done, out = merged(one, two, three)
    assert done.code == 0, done.err
    assert "2 games identical in several runs, taken once" in done.err
    assert "8 of 12 games, head hash " in done.err
    found = games(out)
    assert found == {**games(one), **games(two), **games(three)} and len(found) == 8
    assert verified(out).startswith("8 of 12 games verified")
    lines = lines_of(out)
    changes = [number for number, line in enumerate(lines) if line["kind"] == "change"]
    assert len(changes) == 1, "the bot `c` and the second round"
    new = [number for number, line in enumerate(lines) if ":c" in line.get("id", "")]
    assert changes[0] < new[0], "a reader of the records knows each bot before its first game"
    assert out.stat().st_mode & 0o777 == 0o700
    assert (out / "tournament.toml").read_bytes() == (one / "tournament.toml").read_bytes()
    again = referee("run", str(toml(tmp_path / "t.toml")), "-o", str(out))
    assert again.code == 0, again.err
    assert len(games(out)) == 12 and verified(out)


@pytest.mark.slow
def test_copies_of_a_run_that_were_continued_under_seeds_of_their_own(tmp_path: Path) -> None:
    """A drawn seed is stored as a hash before its games and revealed after them, in the new run too."""
    one = played(tmp_path / "one.toml", bots=AB, rounds=1, seed=None)
    two = tmp_path / "two-results"
    shutil.copytree(one, two)
    played(tmp_path / "one.toml", bots=AB, rounds=2, seed=None)
    played(tmp_path / "two.toml", bots={"a": PLAIN, "c": PLAIN, "b": PLAIN}, rounds=1, seed=None)
    done, out = merged(one, two)
    assert done.code == 0, done.err
    assert "2 games identical in several runs" in done.err
    assert games(out) == {**games(one), **games(two)} and len(games(out)) == 8
    verified(out)
    hashes = [line["seed_sha256"] for line in lines_of(out) if "seed_sha256" in line]
    assert len(set(hashes)) == len(hashes) == 3


@pytest.mark.slow
def test_a_run_that_was_killed_is_completed_by_its_copy_and_verifies(tmp_path: Path) -> None:
    """The copy reveals the seed of the games of both."""
    two = played(tmp_path / "two.toml", seed=None)
    one = tmp_path / "one-results"
    shutil.copytree(two, one)
    forged(one, lambda values: values.__delitem__(slice(4, None)))
    done, out = merged(one, two)
    assert done.code == 0, done.err
    assert "3 games of" in done.err and "9 games of" in done.err
    assert games(out) == games(two)
    verified(out)


@pytest.mark.slow
def test_games_that_differ_are_named_unless_those_of_the_first_run_are_preferred(tmp_path: Path) -> None:
    one = played(tmp_path / "one.toml", bots=dict.fromkeys("ab", RANDOM), rounds=3, seed=None)
    two = played(tmp_path / "two.toml", bots=dict.fromkeys("ab", RANDOM), rounds=6, seed=None)
    done, out = merged(one, two)
    assert done.code == 2 and not out.exists()
    ids = "1:a:b, 1:b:a, 2:a:b, 2:b:a, 3:a:b, 3:b:a"
    assert f"the runs have different moves for 6 games: {ids}; expected" in done.err
    assert f"or `referee table {one} {two}` for one table of all games" in done.err
    assert len(list(tmp_path.glob(".*"))) == 0, "nothing is left of what was begun"
    done, out = merged(one, two, words=("--prefer", "first"))
    assert done.code == 0, done.err
    assert "6 games different from an earlier run, left out" in done.err
    assert games(out) == {**games(two), **games(one)}
    verified(out)


def test_an_encounter_is_not_divided_between_seeds(tmp_path: Path) -> None:
    """The games of an encounter share a seed: the other half of one counts as differing."""
    one = played(tmp_path / "one.toml", bots=AB, rounds=1, seed=None)
    two = played(tmp_path / "two.toml", bots=AB, rounds=1, seed=None)
    forged(one, lambda values: values.__delitem__(2))
    forged(two, lambda values: values.__delitem__(1))
    (left,), (other,) = games(one), games(two)
    done, _ = merged(one, two)
    assert done.code == 2 and f"the runs have different moves for 1 game: {other}" in done.err
    done, out = merged(one, two, words=("--prefer", "first"))
    assert done.code == 0, done.err
    assert list(games(out)) == [left]
    verified(out)


@pytest.mark.slow
@pytest.mark.parametrize("earlier_version", [False, True], ids=["lines", "file"])
def test_amendments_failed_attempts_and_dialogues_come_along(earlier_version: bool, tmp_path: Path) -> None:
    """Also where the attempts stand in a file of their own, as earlier versions wrote them."""
    one = played(tmp_path / "one.toml", bots=AB, rounds=1, keep="all")
    two = played(tmp_path / "two.toml", bots=AB, rounds=2, keep="all")

    void = {"id": "2:a:b", "attempt": 1, "when": "now", "suspects": ["a"], "error": "x"}

    def a_second_attempt(values: list[dict[str, Any]]) -> None:
        (game,) = (value for value in values if value.get("id") == "2:a:b")
        game["attempt"] = 2
        if not earlier_version:
            values.insert(values.index(game), {"kind": "void", **void})

    forged(two, a_second_attempt)
    if earlier_version:
        (two / "void.jsonl").write_text(json.dumps(void) + "\n")
        (one / "void.jsonl").write_text("")
    amended = referee("amend", str(two), "--annul", "2:b:a", "--reason", "power cut", "--rename", "a=alpha")
    assert amended.code == 0, amended.err
    done, out = merged(one, two)
    assert done.code == 0, done.err
    verified(out)
    (failed,) = voids(out)
    assert void.items() <= failed.items() and not (out / "void.jsonl").exists()
    kept = [json.loads(line)["id"] for line in (out / "dialogues.jsonl").read_text().splitlines()]
    assert sorted(kept) == ["1:a:b", "1:b:a", "2:a:b", "2:b:a"]
    table = referee("table", str(out), "--format", "json").out
    assert {row["bot"]: row["games"] for row in json.loads(table)["standings"]} == {"alpha": 3, "b": 3}


def test_merged_dialogues_have_the_cap_of_those_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = played(tmp_path / "one.toml", bots=AB, rounds=1, keep="all")
    first, second = (one / "dialogues.jsonl").read_bytes().splitlines(keepends=True)
    two = played(tmp_path / "two.toml", bots=AB, rounds=1, keep="all")
    monkeypatch.setattr("referee.tournament.run.merging.DIALOGUES_CAP", len(first) + len(second) - 1)
    done, out = merged(one, two)
    assert done.code == 0, done.err
    assert (out / "dialogues.jsonl").read_bytes() == first


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that no test changes."""
    return played(tmp_path_factory.mktemp("merge") / "one.toml", bots=AB, rounds=1)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": "other"}, "differ in `seed`, expected runs of the same tournament"),
        ({"margin": "20ms", "rejections": 3}, "differ in `margin_us`, `rejections`, expected"),
        ({"clock": "6s"}, "differ in bot `a`, bot `b`, expected"),
        ({"options": "size = 4"}, "differ in `options`, expected"),
        ({"openings": {"plies": 1}}, "differ in `openings`, expected"),
    ],
)
def test_runs_of_different_tournaments_are_not_merged(
    settings: dict[str, Any], message: str, one: Path, tmp_path: Path
) -> None:
    if "openings" in settings:
        (tmp_path / "two.toml").write_text(
            one.with_name("one.toml").read_text().replace("[options]", "openings = { plies = 1 }\n[options]")
        )
        assert referee("run", str(tmp_path / "two.toml")).code == 0
        two = tmp_path / "two-results"
    else:
        two = played(tmp_path / "two.toml", bots=AB, rounds=1, **settings)
    done, out = merged(one, two)
    assert done.code == 2 and message in done.err, done.err
    assert not out.exists()


@pytest.mark.promise("TOURNAMENT", "What cannot be merged is refused with the reason.")
@pytest.mark.slow
def test_what_cannot_be_merged_is_told(tmp_path: Path) -> None:
    one = played(tmp_path / "one.toml", bots=AB, rounds=1)
    done, out = merged(one)
    assert done.code == 2 and "only 1 run is given, expected at least 2" in done.err
    done, out = merged(one, one)
    assert done.code == 2 and "are the same run" in done.err
    two = played(tmp_path / "two.toml", bots=AB, rounds=2)
    out.mkdir()
    (out / "mine").write_text("")
    done, _ = merged(one, two)
    assert done.code == 2 and "already exists, expected a new folder" in done.err
    assert (out / "mine").exists()
    swiss = [played(tmp_path / f"s{n}.toml", bots=AB, rounds=n, format="swiss") for n in (1, 2)]
    done, _ = merged(*swiss)
    assert done.code == 2 and "has the format `swiss`, in which pairings depend on results" in done.err


def test_runs_with_clocks_that_were_scaled_by_different_machines_are_merged(
    one: Path, tmp_path: Path
) -> None:
    """The machine of the first run that has one stays what the clocks of further games are scaled by."""
    folders = []
    for number, speed in enumerate((None, 7000, 9000)):
        folders.append(folder := Path(shutil.copytree(one, tmp_path / str(number))))
        if speed:
            line = {"kind": "change", "when": "2026-01-01T00:00:00+00:00", "calibration": speed}
            forged(folder, lambda lines, line=line: lines.append(line))  # type: ignore[misc]
    done, out = merged(*folders)
    assert done.code == 0, done.err
    changes = [(line["calibration"], line["when"]) for line in lines_of(out) if "calibration" in line]
    assert changes == [(7000, "2026-01-01T00:00:00+00:00")]
