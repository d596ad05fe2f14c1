"""Bots that are taken out of a run, games that are annulled, and bots that are renamed."""

from __future__ import annotations

import csv
import io
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.command import BAD, PLAIN, referee
from tests.processes.runs import forged

FAST = 'game = "blooms"\nclock = "5s"\nworkers = 0\n'


def toml(path: Path, settings: str, **bots: str) -> Path:
    tables = "".join(f"[[bot]]\nname = '{name}'\ncmd = \"{command}\"\n" for name, command in bots.items())
    path.write_text(f"[tournament]\n{FAST}{settings}\n[options]\nsize = 3\ntarget = 2\n{tables}")
    return path


def lines(folder: Path, kind: str) -> list[dict[str, Any]]:
    values = (json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines())
    return [value for value in values if value["kind"] == kind]


def points(folder: Path) -> dict[str, int]:
    """How many games of each bot count."""
    rows = json.loads(referee("table", str(folder), "--format", "json").out)["standings"]
    return {row["bot"]: row["games"] for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize(
    "then", ["forfeit", *(pytest.param(then, marks=pytest.mark.slow) for then in ("annul", "keep"))]
)
def test_a_bot_with_too_many_faults_is_out(then: str, tmp_path: Path) -> None:
    strikes = f'rounds = 3\nstrikes = {{ faults = 2, games = "{then}" }}'
    file = toml(tmp_path / "t.toml", strikes, a=PLAIN, b=PLAIN, x=f"{BAD} exits")
    done = referee("run", str(file))
    assert done.code == 0, done.err
    folder = tmp_path / "t-results"
    assert "bot `x` is out of the tournament after 2 faults: " in done.err
    (out,) = (change["out"] for change in lines(folder, "change") if "out" in change)
    assert out == {"x": {"games": then, "reason": "2 faults"}}
    faults = [fault for game in lines(folder, "game") for fault in game["faults"] if fault]
    expected = {"forfeit": ["gone"] * 2 + ["out"] * 10, "annul": ["gone"] * 2, "keep": ["gone"] * 2}
    assert faults == expected[then]
    assert points(folder)["x"] == {"forfeit": 12, "annul": 0, "keep": 2}[then]
    assert referee("verify", str(folder)).code == 0
    again = referee("run", str(file))
    assert again.code == 0 and again.out == done.out, "nothing is left to play"


@pytest.mark.slow
def test_a_league_chooses_no_encounters_of_a_bot_that_is_out(tmp_path: Path) -> None:
    settings = 'format = "league"\nbudget = 40\nstrikes = 2\nseed = "x"'
    file = toml(tmp_path / "t.toml", settings, a=PLAIN, b=PLAIN, c=PLAIN, x=f"{BAD} exits")
    assert referee("run", str(file)).code == 0
    changes = lines(tmp_path / "t-results", "change")
    (out,) = (number for number, change in enumerate(changes) if "out" in change)
    later = [game for change in changes[out:] for game in change.get("encounters", [])]
    assert later and not any("x" in game.split(":") for game in later)


@pytest.mark.slow
def test_a_withdrawn_bot_plays_no_more_and_an_annulled_game_does_not_count(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", "rounds = 1", a=PLAIN, b=PLAIN, c=PLAIN)
    assert referee("run", str(file)).code == 0
    folder = tmp_path / "t-results"
    words = ["amend", str(folder), "--reason", "crashed the host"]
    done = referee(*words, "--withdraw", "c", "--annul", "1:a:b", "--rename", "a=alpha")
    assert done.code == 0 and "game `1:a:b` is annulled" in done.err
    assert referee("verify", str(folder)).code == 0
    shown = points(folder)
    assert shown == {"alpha": 3, "b": 3, "c": 4}
    file = toml(tmp_path / "t.toml", "rounds = 2", a=PLAIN, b=PLAIN)
    done = referee("run", str(file))
    assert done.code == 0, done.err
    later = [game["id"] for game in lines(folder, "game") if game["id"].startswith("2:")]
    assert later == ["2:a:b", "2:b:a"] and points(folder) == {"alpha": 5, "b": 5, "c": 4}


@pytest.mark.slow
def test_bots_that_are_paired_by_results_can_only_forfeit(tmp_path: Path) -> None:
    """Otherwise those that would have met them had no games. A league chooses other encounters."""
    file = toml(tmp_path / "t.toml", 'format = "knockout"\nseed = "x"', a=PLAIN, b=PLAIN, c=PLAIN)
    assert referee("run", str(file)).code == 0
    folder = tmp_path / "t-results"
    for games in ("keep", "annul"):
        done = referee("amend", str(folder), "--withdraw", "a", "--games", games, "--reason", "x")
        assert done.code == 2
        assert f"`--games` is `{games}`, expected `forfeit` with the format `knockout`" in done.err
    words = ("--withdraw", "a", "--games", "forfeit", "--rename", "a=alpha", "--rename", "b=beta")
    assert referee("amend", str(folder), *words, "--reason", "x").code == 0
    table = referee("table", str(folder), "--format", "csv").out
    lost_to = {row["bot"]: row["lost to"] for row in csv.DictReader(io.StringIO(table))}
    assert set(lost_to) == {"alpha", "beta", "c"} and set(lost_to.values()) < {"alpha", "beta", "c", "–"}
    file = toml(tmp_path / "l.toml", 'format = "league"\nbudget = 6', a=PLAIN, b=PLAIN, c=PLAIN)
    assert referee("run", str(file)).code == 0
    assert referee("amend", str(tmp_path / "l-results"), "--withdraw", "a", "--reason", "x").code == 0


def _append(line: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    lines.append(line)


def _replace(member: str, lines: list[dict[str, Any]]) -> None:
    lines[0][member] = 1.5


def test_a_new_bot_has_another_name_than_one_that_was_renamed(tmp_path: Path) -> None:
    assert referee("run", str(toml(tmp_path / "t.toml", "", a=PLAIN, b=PLAIN))).code == 0
    assert referee("amend", str(tmp_path / "t.toml"), "--rename", "a=new").code == 0
    done = referee("run", str(toml(tmp_path / "t.toml", "", a=PLAIN, b=PLAIN, New=PLAIN)))
    assert done.code == 2 and "bot `New` has the name to which `a` was renamed" in done.err, done.err


def test_renamed_bots_have_their_new_names(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", "", a=PLAIN, b=PLAIN)
    assert referee("run", str(file)).code == 0
    assert referee("amend", str(file), "--rename", "a=alpha", "--rename", "b=beta").code == 0
    found = json.loads(referee("find", str(file), "--bot", "alpha", "--format", "json").out)
    assert [(game["id"], game["bots"]) for game in found] == [
        ("1:a:b", ["alpha", "beta"]),
        ("1:b:a", ["beta", "alpha"]),
    ]
    (row, _) = csv.DictReader(io.StringIO(referee("export", str(file), "--format", "csv").out))
    assert (row["bot_1"], row["bot_2"]) == ("alpha", "beta")
    assert '[White "alpha"]' in referee("export", str(file)).out
    assert re.search("(alpha|beta) won +(alpha|beta) has", referee("replay", str(file)).out)
    for words in (
        ("replay", "--all"),
        ("replay", "--json"),
        ("replay", "--image", "-"),
        ("rerun", "--watch", "--dialogue"),
    ):
        done = referee(words[0], str(file), "2", *words[1:])
        said = f"{done.out}{done.err}"
        assert re.search(r'seat 2 alpha|"bots": ."beta", "alpha"', said), words
        assert not re.search(r'"[ab]"|seat . [ab]\b| [ab] (REF|won)', said), words
    assert referee("rerun", str(file), "1", f"alpha={PLAIN}").code == 0
    for words in (("find", "--bot", "a"), ("rerun", "1", f"a={PLAIN}")):
        old = referee(words[0], str(file), *words[1:])
        assert old.code == 2 and re.search("no bot `a` in this .*expected .*alpha(, | or )beta", old.err)


def test_forged_names_are_refused(tmp_path: Path) -> None:
    assert referee("run", str(toml(tmp_path / "t.toml", "", a=PLAIN, b=PLAIN))).code == 0
    folder = tmp_path / "t-results"
    before = (folder / "games.jsonl").read_bytes()
    for renamed in ({"a": 1}, {"a": "b"}, {"a": "B"}, {"z": "y"}, {"a": "x:y"}, ["a"]):
        (folder / "games.jsonl").write_bytes(before)
        forged(folder, partial(_append, {"kind": "change", "renamed": renamed}))
        done = referee("table", str(folder))
        assert done.code == 6 and "line 5 of" in done.err and "`renamed" in done.err, done.err
    for member in ("encounters", "out", "annulled", "renamed"):
        (folder / "games.jsonl").write_bytes(before)
        forged(folder, partial(_replace, member))
        done = referee("status", str(folder))
        assert done.code == 6 and "line 1 of" in done.err and f"`{member}`" in done.err, done.err


WRONG = [
    (["--withdraw", "z"], "`--reason` is missing"),
    (["--withdraw", "z", "--reason", "x"], "`--withdraw` names `z`, expected one of a, b"),
    (["--annul", "1:a:z", "--reason", "x"], "`--annul` names `1:a:z`, expected the id of a game that counts"),
    (["--rename", "a=B"], "two bots would have the same name"),
    (["--rename", "a=x:y"], "`x:y` is not a bot name"),
    (["--annul", "1:a:b", "--reason", "\x1b"], "`--reason` is too long or has control characters"),
    (["--replay", "1:a:b", "--reason", "x"], "`--replay` names `1:a:b`, expected the id of a game that was"),
    (["--replay", "1:a:b"], "`--reason` is missing"),
    ([], "nothing to change"),
]


def test_what_cannot_be_amended_is_said_and_changes_nothing(tmp_path: Path) -> None:
    assert referee("run", str(toml(tmp_path / "t.toml", "", a=PLAIN, b=PLAIN))).code == 0
    folder = tmp_path / "t-results"
    before = (folder / "games.jsonl").read_bytes()
    for words, message in WRONG:
        done = referee("amend", str(folder), *words)
        assert done.code == 2 and message in done.err, done.err
    assert (folder / "games.jsonl").read_bytes() == before
    assert referee("amend", str(tmp_path), "--rename", "a=b").code == 2


def cut_after(folder: Path, game: str) -> None:
    """Leaves of a run what there is when it is killed just after a game was stored."""
    path = folder / "games.jsonl"
    kept = []
    for line in path.read_bytes().splitlines(keepends=True):
        kept.append(line)
        if json.loads(line).get("id") == game:
            break
    path.write_bytes(b"".join(kept))


@pytest.mark.parametrize(
    ("then", "faults"),
    [
        ("forfeit", 1),
        pytest.param("keep", 1, marks=pytest.mark.slow),
        ("annul", 2),
    ],
)
def test_a_bot_is_taken_out_where_the_run_was_killed_before_that_was_stored(
    then: str, faults: int, tmp_path: Path
) -> None:
    strikes = f'strikes = {{ faults = {faults}, games = "{then}" }}'
    file = toml(tmp_path / "t.toml", f'seed = "s"\n{strikes}', a=PLAIN, x=f"{BAD} exits")
    whole = referee("run", str(file))
    assert whole.code == 0, whole.err
    folder = tmp_path / "t-results"
    found = [game["faults"] for game in lines(folder, "game")]
    out = {"forfeit": [["out", ""]], "keep": [], "annul": [["gone", ""]]}[then]
    assert found == [["", "gone"], *out], "the other game of the encounter is the next one"
    cut_after(folder, "1:a:x" if faults == 1 else "1:x:a")
    again = referee("run", str(file))
    assert again.code == 0 and again.out == whole.out
    assert [game["faults"] for game in lines(folder, "game")] == found
    assert len([change for change in lines(folder, "change") if "out" in change]) == 1


def only_void(folder: Path, game: str, attempts: int) -> None:
    """Leaves nothing of a run but its first line, and that a game became void in its first attempts, of which
    all its bots are suspects.
    """
    suspects = game.split(":")[1:]
    line = {"kind": "void", "id": game, "when": "now", "suspects": suspects, "error": "died"}
    voids = [{**line, "attempt": number + 1} for number in range(attempts)]
    forged(folder, lambda lines: lines.__setitem__(slice(1, None), voids))


@pytest.mark.slow
def test_a_game_that_was_forfeited_since_games_became_void_is_played_again(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", "rounds = 1", a=PLAIN, b=PLAIN)
    folder = tmp_path / "t-results"
    assert referee("run", str(file)).code == 0
    only_void(folder, "1:a:b", 2)
    assert referee("run", str(file)).code == 1
    before = {game["id"]: game for game in lines(folder, "game")}
    assert before["1:a:b"]["faults"] == ["void", "void"] and before["1:a:b"]["attempt"] == 3
    refused = referee("amend", str(folder), "--replay", "1:b:a", "--reason", "x")
    assert refused.code == 2 and "forfeited because games became void" in refused.err
    done = referee("amend", str(folder), "--replay", "1:a:b", "--reason", "power cut")
    assert done.code == 0 and "the next `run` plays game `1:a:b` again" in done.err
    assert points(folder) == {"a": 1, "b": 1} and referee("verify", str(folder)).code == 0
    done = referee("run", str(file))
    assert done.code == 0, done.err
    played = [game for game in lines(folder, "game") if game["id"] == "1:a:b"]
    assert [(game["attempt"], game["faults"]) for game in played] == [(3, ["void"] * 2), (4, ["", ""])]
    assert referee("verify", str(folder)).code == 0 and points(folder) == {"a": 2, "b": 2}
    assert "forfeited" not in referee("replay", str(folder), "1:a:b").out
    assert referee("run", str(file)).out == done.out, "nothing is left to play"
