"""Games of runs as other programs read them, runs found by their paths, and several runs as one."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import UsageError
from referee.core.pairing import Pairing
from referee.records import journal
from referee.records.record import to_json
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.run.reading import Runs, read_runs, records_at, run_folder
from referee.tournament.run.run import read_run
from referee.tournament.tournament import Tournament
from tests.command import referee
from tests.tools.synthetic import write
from tests.unit.records.test_records import ENDINGS, PLAN, record


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament file whose results are beside it."""
    folder = tmp_path_factory.mktemp("pool")
    write(folder, 4, 36)
    return folder / "pool.toml"


HEADER = Tournament((PLAN,), RoundRobin(9)).header.members


def written(folder: Path, *games: Any, header: dict[str, Any] | None = None) -> Path:
    """A run of these games."""
    made = journal.Journal.create(folder)
    made.append({**HEADER, **(header or {})})
    for game in games:
        made.append(to_json(game))
    made.close()
    return folder


# --- Where a run is --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_is_meant_by_its_folder_its_records_or_its_tournament_file(pool: Path) -> None:
    results = pool.with_name("pool-results")
    assert run_folder(pool) == run_folder(results) == run_folder(results / "games.jsonl") == results
    assert records_at(pool) == records_at(results) == results
    for command in ("table", "find", "export", "replay", "verify"):
        said = [referee(command, str(path)) for path in (pool, results, results / "games.jsonl")]
        assert [done.code for done in said] == [0, 0, 0]
        assert said[0].out == said[1].out == said[2].out


@pytest.mark.parametrize("command", ["table", "find", "export", "replay", "verify"])
def test_what_is_no_run_is_wrong_usage(command: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("nothing\n")
    (tmp_path / "new.toml").write_text("")
    (tmp_path / "folder.toml").mkdir()
    for name, message in (
        ("empty", "is not a run, expected"),
        ("folder.toml", "is not a run, expected"),
        ("notes.txt", "is not a run, expected"),
        ("none", "No such file"),
        ("none.toml", "No such file"),
        ("new.toml", "has no results in"),
    ):
        done = referee(command, str(tmp_path / name))
        assert done.code == 2 and done.err.count("\n") == 1, name
        assert message in done.err and not done.out, name


def test_a_damaged_file_of_another_name_is_damage_as_long_as_it_looks_like_one(tmp_path: Path) -> None:
    line, _ = journal.chained(b'{"kind":"tournament"}', journal.FIRST)
    for text in (line[5:], line[:40] + b"\n", line.replace(b"tour", b"    ")):
        (tmp_path / "copy").write_bytes(text)
        assert referee("verify", str(tmp_path / "copy")).code == 6


# --- Several runs ----------------------------------------------------------------------------------------

WON = ENDINGS["rules"]
LOST = ENDINGS["time"]


def test_ids_of_several_runs_are_told_apart(tmp_path: Path) -> None:
    one = written(tmp_path / "one", WON, record("resign {n}", number=3))
    other = written(tmp_path / "other", LOST, record("resign {n}", number=2))
    runs = read_runs([one, other])
    assert runs.names == ["a", "b"]
    assert [game.id for game in runs.games] == ["1:a:b", "3:a:b", "4:a:b", "5:a:b"]
    assert [game.ending for game in runs.games] == ["rules", "resigned", "time", "resigned"]
    assert [game.id for game in read_runs([one]).games] == ["1:a:b", "3:a:b"]
    third = written(tmp_path / "third", record("resign {n}", number=2))
    assert [game.id for game in read_runs([one, third]).games] == ["1:a:b", "3:a:b", "2:a:b"]


def test_different_games_are_different_sections(tmp_path: Path) -> None:
    one = written(tmp_path / "one", WON)
    large = written(tmp_path / "large", LOST, header={"options": {"size": 5, "target": 1}})
    again = written(tmp_path / "again", record("resign {n}", number=2), header={"seed": "again"})
    games = read_runs([one, large, again]).games
    sections = [Pairing.parse(game.id).section for game in games]
    assert sections == ["blooms", "blooms-2", "blooms"]
    assert [Pairing.parse(game.id).bots for game in games] == [("a", "b")] * 3
    assert len({game.id for game in games}) == 3


def test_a_run_counts_once(tmp_path: Path) -> None:
    one = written(tmp_path / "one", WON)
    shutil.copytree(one, tmp_path / "copy")
    for other in (one, tmp_path / "copy", one / "games.jsonl"):
        with pytest.raises(UsageError, match="are the same run"):
            read_runs([one, other])
    assert isinstance(read_runs([one]), Runs)


# --- Finding ---------------------------------------------------------------------------------------------


def found(*words: str) -> list[str]:
    done = referee("find", *words, "--format", "json")
    assert done.code == 0
    return [game["id"] for game in json.loads(done.out)]


def test_games_are_found_by_moves_endings_and_lengths(tmp_path: Path) -> None:
    resigned = record("L:A1", "resign {n}", others=("L:A2",), number=4)
    rejected = record("x", "L:A1", "resign {n}", others=("L:A1", "L:B2"), number=5)
    folder = str(written(tmp_path / "run", WON, record(None, number=2), resigned, rejected))
    assert found(folder) == ["1:a:b", "2:a:b", "4:a:b", "5:a:b"]
    assert found(folder, "--moves", "L:A1") == ["1:a:b", "4:a:b", "5:a:b"]
    assert found(folder, "--moves", " L:A1,L:A2   D:B1") == ["1:a:b"]
    assert found(folder, "--moves", "L:A1, L:A2") == ["4:a:b"], "whole moves"
    assert found(folder, "--moves", "L:A2") == []
    assert found(folder, "--ending", "resigned") == ["4:a:b", "5:a:b"]
    assert found(folder, "--longer", "2") == ["1:a:b"], "rejected answers are no moves"
    assert found(folder, "--shorter", "2") == ["2:a:b"]
    assert found(folder, "--longer", "0", "--shorter", "4") == ["4:a:b", "5:a:b"]
    unknown = referee("find", folder, "--section", "other")
    assert (unknown.code, unknown.err) == (
        2,
        "referee: there is no section `other` in this run, expected a run with sections\n",
    )
    wrong = referee("find", folder, "--moves", "L:A1, x")
    assert (wrong.code, wrong.out) == (2, "") and "move `x`: not a move, expected" in wrong.err
    for form in ("simple", "csv", "json"):
        none = referee("find", folder, "--moves", "L:A2", "--format", form)
        assert (none.code, none.err) == (0, "no games match\n"), "a move that was not played"
    assert found(folder, "--round", "2", "--ending", "time") == ["2:a:b"]


def test_an_id_that_is_not_there_is_told(pool: Path) -> None:
    done = referee("find", str(pool), "--id", "7:none:at-all")
    assert done.code == 2 and not done.out
    assert "no game `7:none:at-all` in" in done.err and "expected an id such as `1:bot1:bot2`" in done.err
    assert found(str(pool), "--id", "2:bot3:bot4") == ["2:bot3:bot4"]


def test_what_is_found_has_the_forms_of_tables(pool: Path) -> None:
    words = ("find", str(pool), "--id", "2:bot3:bot4", "--format")
    (row,) = csv.DictReader(io.StringIO(referee(*words, "csv").out))
    assert (row["id"], row["bot_1"], row["round"]) == ("2:bot3:bot4", "bot3", "2")
    assert "| 2:bot3:bot4 |" in referee(*words, "github").out
    assert referee(*words, "poem").code == 2


def test_games_of_several_runs_are_found(pool: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "run", WON)
    assert len(found(str(pool), str(other))) == 37
    lines = referee("find", str(pool), str(other), "--round", "1").out.splitlines()
    assert lines[0].split() == ["run", "game", "id", "winner", "ending", "how", "it", "ended"]
    assert lines[-1].split()[:4] == [str(other), "1", "1:a:b", "b"]


@pytest.mark.slow
def test_a_table_counts_the_games_that_the_same_words_find(pool: Path, tmp_path: Path) -> None:
    large = written(tmp_path / "run", WON, header={"options": {"size": 5, "target": 1}})
    for words in (
        ("--bot", "bot3"),
        ("--bot", "bot3", "--bot", "bot1"),
        ("--bot", "bot3", "--seat", "2"),
        ("--ending", "rules", "--round", "2"),
    ):
        ids = found(str(pool), *words)
        value = json.loads(referee("table", str(pool), *words, "--format", "json").out)
        games = sum(row["games"] for row in value["standings"]) / 2
        assert games == len(ids) < 36 and f"only {len(ids)} of 36 games are counted" in value["notes"][0]
    assert {game.split(":")[2] for game in found(str(pool), "--bot", "bot3", "--seat", "2")} == {"bot3"}
    both = (str(pool), str(large))
    assert found(*both, "--option", "size=5") == ["1:a:b"]
    assert "only 1 of 37 games" in referee("table", *both, "--option", "size=5").out
    assert "counted" not in referee("table", *both).out
    assert "only 0 of 36 games are counted" in referee("table", str(pool), "--ending", "time").out
    for words, told in (
        (("--seat", "1"), "`seat` is given without `bot`"),
        (("--bot", "bot1", "--seat", "3"), "there is no such seat in this run, expected one of 2"),
        (("--option", "sise=3"), "there is no option `sise` in this run, expected `size`"),
        (("--option", "size=9"), "no game was played with `size=9`, expected the value"),
        (("--bot", "x"), "there is no bot `x` in this run"),
    ):
        for command in ("find", "table"):
            done = referee(command, str(pool), *words)
            assert (done.code, done.out) == (2, "") and told in done.err and done.err.count("\n") == 1


# --- Export ----------------------------------------------------------------------------------------------


def test_pgn_has_the_results_of_all_games(pool: Path) -> None:
    done = referee("export", str(pool))
    assert done.code == 0 and done.err == "36 games\n"
    games = done.out.rstrip("\n").split("\n\n[Event")
    assert len(games) == 36
    run = read_run(pool.with_name("pool-results"))
    for text, game in zip(games, run.games.values(), strict=True):
        tags = dict(re.findall(r'^\[(\w+) "([^"]*)"\]$', "\n" + text, re.MULTILINE))
        assert (tags["White"], tags["Black"]) == game.bots and tags["GameId"] == game.id
        assert tags["Result"] == ("1-0" if game.ranks == (1, 2) else "0-1")
        assert re.fullmatch(r"20\d\d\.\d\d\.\d\d", tags["Date"]) and re.fullmatch(
            r"[\d:]{8}", tags["UTCTime"]
        )
        opened, first, *_, closed, result = text.rpartition("]\n\n")[2].split()
        assert (opened, first, closed, result) == ("{", "1:", "}", tags["Result"])


def test_pgn_of_draws_and_of_games_that_do_not_count(tmp_path: Path) -> None:
    drawn = to_json(WON) | {"ranks": [1, 1]}
    nobody = to_json(ENDINGS["start, both"]) | {"id": "2:a:b"}
    folder = tmp_path / "run"
    made = journal.Journal.create(folder)
    for value in (HEADER, drawn, nobody):
        made.append(value)
    made.close()
    out = referee("export", str(folder)).out
    assert re.findall(r'\[Result "(.*)"\]', out) == ["1/2-1/2", "*"]


def test_pgn_is_for_two_seats(tmp_path: Path) -> None:
    value = to_json(WON)
    three = {"id": "1:a:b:c", "bots": ["a", "b", "c"], "ranks": [1, 2, 3], "scores": [0, 0, 0]}
    value |= {**three, "faults": ["", "", ""], "isolation": ["none"] * 3}
    made = journal.Journal.create(tmp_path / "run")
    header = HEADER
    made.append({**header, "bots": {**header["bots"], "c": {"clock": "1s"}}})
    made.append(value)
    made.close()
    done = referee("export", str(tmp_path / "run"))
    assert done.code == 2 and "game `1:a:b:c` has 3 seats, expected 2" in done.err
    (row,) = csv.DictReader(io.StringIO(referee("export", str(tmp_path / "run"), "--format", "csv").out))
    assert (row["bot_3"], row["rank_3"]) == ("c", "3")


def test_csv_and_json_lines_have_a_line_for_each_game(pool: Path, tmp_path: Path) -> None:
    other = str(written(tmp_path / "run", record("resign {n}")))
    rows = list(csv.DictReader(io.StringIO(referee("export", str(pool), other, "--format", "csv").out)))
    lines = referee("export", str(pool), other, "--format", "jsonl").out.splitlines()
    assert len(rows) == len(lines) == 37
    for row, line in zip(rows, lines, strict=True):
        value = json.loads(line)
        assert row["id"] == value["id"] and row["digest"] == value["digest"] != ""
        assert [row["bot_1"], row["bot_2"]] == value["bots"] and row["run"] == value["run"]
        assert [int(row["rank_1"]), int(row["rank_2"])] == value["ranks"]
    assert (rows[-1]["ending"], rows[-1]["rank_1"]) == ("resigned", "2")


def test_a_cell_is_no_formula(tmp_path: Path) -> None:
    made = journal.Journal.create(tmp_path / "run")
    made.append({**HEADER, "bots": {"+a": {"clock": "1s"}, "b": {"clock": "1s"}}})
    made.append(to_json(WON) | {"id": "1:+a:b", "bots": ["+a", "b"], "sentence": "=1+1"})
    made.close()
    (row,) = csv.DictReader(io.StringIO(referee("export", str(tmp_path / "run"), "--format", "csv").out))
    assert (row["bot_1"], row["sentence"]) == ("'+a", "'=1+1")


def test_one_game_with_all_that_it_needs_verifies(pool: Path, tmp_path: Path) -> None:
    done = referee("export", str(pool), "--game", "2:bot4:bot3")
    assert done.code == 0
    (tmp_path / "one.jsonl").write_text(done.out)
    kinds = [json.loads(line)["kind"] for line in done.out.splitlines()]
    assert kinds == ["tournament", "game", "game"], "with the first game of its encounter"
    assert referee("verify", str(tmp_path / "one.jsonl")).code == 0
    assert "2:bot4:bot3" in referee("replay", str(tmp_path / "one.jsonl"), "2:bot4:bot3").out
    done = referee("export", str(pool), "--game", "9:none:none")
    assert done.code == 2 and "no game `9:none:none` in" in done.err
