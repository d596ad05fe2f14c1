"""`referee check TOML`: all bots of a tournament file are built and checked."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command import PLAIN, referee
from tests.processes.runs import toml


def written(path: Path, *tables: str) -> Path:
    toml(path, {"good": PLAIN})
    path.write_text(path.read_text() + "".join(f"[[bot]]\n{table}\n" for table in tables))
    return path


SILENT = 'name = "silent"\ncmd = "true"'
BROKEN = 'name = "broken"\nbuild = "sh -c \'echo what is missing; exit 2\'"\ncmd = "./broken"'
LACKING = 'name = "lacking"\nneeds = ["no-such-language"]\ncmd = "true"'


def test_all_bots_of_a_file_are_built_and_checked(tmp_path: Path) -> None:
    file = written(tmp_path / "t.toml", SILENT, BROKEN, LACKING, 'name = "gone"\ncmd = "{python} gone.py"')
    done = referee("check", str(file), "--step", "1", "--step", "3")
    assert done.code == 7, done.err
    rows = {line.split()[0]: line for line in done.out.splitlines() if not line.startswith(" ")}
    assert "passed" in rows["good"] and "left out" in rows["lacking"]
    assert "failed    step 1, starts: " in rows["silent"] and "blooms" in rows["silent"]
    assert "it cannot be built: `sh` exited with status 2" in rows["broken"]
    long = [line for line in done.out.splitlines() if len(line) > 80]
    assert not long and len(done.out.splitlines()) > 10
    assert "| what is missing" in done.out and "the file `gone.py`" in rows["gone"]
    assert done.err.splitlines()[-1] == "referee: 3 of 5 bots failed: broken, gone and silent"
    assert not (tmp_path / "t-results").exists()


def test_where_all_bots_pass_the_check_does(tmp_path: Path) -> None:
    file = written(tmp_path / "t.toml", f"name = 'other'\ncmd = {json.dumps(PLAIN)}", LACKING)
    done = referee("check", str(file), "--step", "2", "--json")
    assert done.code == 0, done.err
    assert [(one["bot"], one["result"]) for one in json.loads(done.out)] == [
        ("lacking", "left out"),
        ("good", "passed"),
        ("other", "passed"),
    ]


def test_a_file_is_not_mixed_up_with_a_game(tmp_path: Path) -> None:
    assert referee("check", str(tmp_path / "none.toml")).code == 2
    file = written(tmp_path / "t.toml")
    assert (
        "`--option` can only be used with a single bot"
        in referee("check", str(file), "--option", "size=3").err
    )
