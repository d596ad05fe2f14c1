"""Bots that cannot be built or started are left out of a tournament, and the others play."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.command import PLAIN, referee
from tests.processes.runs import games, lines_of, toml

FAILS = 'build = "sh fails.sh"\n'

SICK = {
    "build": (f'name = "sick"\ncmd = "./sick"\n{FAILS}', "cannot be built: `sh` exited with status 3"),
    "folder": ('name = "sick"\ncmd = "true"\ncwd = "nowhere"\n', "the folder to run it in, `"),
    "program": ('name = "sick"\ncmd = "./sick"\n', "no program at `./sick`"),
    "on the path": (
        'name = "sick"\ncmd = "no-such-program"\n',
        "the program `no-such-program` is not on the path",
    ),
    "script": (
        'name = "sick"\ncmd = "{python} -u sick.py"\n',
        "the file `sick.py`, which `{python}` should run, does not exist",
    ),
    "files": ('name = "sick"\ncmd = "true"\nfiles = ["nope"]\n', "its `files` have `nope`"),
}
"""By what is wrong, the table of a bot that cannot play, and why."""

TWO = {"a": PLAIN, "b": PLAIN}


def with_sick(path: Path, what: str = "build", **main: Any) -> Path:
    (path.parent / "fails.sh").write_text("echo one\necho 'two <b>`'\nexit 3\n")
    file = toml(path, TWO, **main)
    file.write_text(f"{file.read_text()}[[bot]]\n{SICK[what][0]}")
    return file


def mended(file: Path) -> None:
    """Gives the sick bot a program that plays."""
    text = file.read_text()
    file.write_text(text[: text.rindex("[[bot]]")] + f'[[bot]]\nname = "sick"\ncmd = {json.dumps(PLAIN)}\n')


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("what", SICK)
def test_a_bot_that_cannot_play_is_left_out_and_the_others_play(what: str, tmp_path: Path) -> None:
    file, folder = with_sick(tmp_path / "t.toml", what), tmp_path / "t-results"
    line = f"bot `sick` is left out: {SICK[what][1]}".replace("out: cannot", "out: it cannot")
    done = referee("run", str(file))
    assert done.code == 0, done.err
    assert line in done.err and done.err.index(line) < done.err.index("1 of 4")
    assert {*games(folder)} == {"1:a:b", "1:b:a", "2:a:b", "2:b:a"}
    header = lines_of(folder)[0]
    assert {*header["bots"], *header["files"]} == {"a", "b"} and [*header["left_out"]] == ["sick"]
    one_line = " ".join(done.out.split())
    assert line in one_line
    assert line in " ".join(referee("status", str(folder)).out.split())
    assert [*json.loads(referee("status", str(folder), "--json").out)["left_out"]] == ["sick"]
    assert line in " ".join(referee("table", str(folder)).out.split())
    assert referee("run", str(file), "--strict").code == 8
    assert referee("verify", str(folder)).code == 0


def test_where_too_few_bots_are_left_one_line_says_why(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN})
    file.write_text(f"{file.read_text()}[[bot]]\n{SICK['folder'][0]}")
    done = referee("run", str(file))
    assert done.code == 2 and done.err.startswith(f"referee: `{file}`: bot `sick`: {SICK['folder'][1]}")
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("command", [["run"], pytest.param(["check"], marks=pytest.mark.slow)])
def test_a_user_that_bots_cannot_be_run_as_names_file_and_bot(command: list[str], tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", TWO)
    file.write_text(file.read_text() + 'user = "nosuchuser"\n')
    done = referee(*command, str(file))
    assert done.code == 5 and len(done.err.splitlines()) == 1
    assert done.err.startswith(f"referee: `{file}`: bot `b`: `user` is `nosuchuser`, but "), done.err


@pytest.mark.slow
def test_the_last_lines_of_a_build_are_shown_and_escaped(tmp_path: Path) -> None:
    file, folder = with_sick(tmp_path / "t.toml"), tmp_path / "t-results"
    done = referee("run", str(file))
    assert "  two <b>`\nbot `sick` is left out" in done.err
    assert re.search("exited with status 3[^:]*: one / two <b>'", " ".join(done.out.split()))
    assert "one / two" in referee("status", str(folder)).out
    assert referee("report", str(folder), "-o", str(tmp_path / "r.html")).code == 0
    page = (tmp_path / "r.html").read_text()
    assert "one / two &lt;b&gt;" in page and "two <b>" not in page


@pytest.mark.slow
def test_the_same_command_takes_in_a_bot_that_was_mended(tmp_path: Path) -> None:
    file, folder = with_sick(tmp_path / "t.toml"), tmp_path / "t-results"
    assert referee("run", str(file)).code == 0
    before = games(folder)
    mended(file)
    done = referee("run", str(file), "--strict")
    assert done.code == 0, done.err
    assert "left out" not in done.err and "left out" not in done.out and "changed" not in done.err + done.out
    after = games(folder)
    assert len(after) == 12 and before.items() <= after.items()
    (change,) = [line for line in lines_of(folder) if line["kind"] == "change" and "left_out" in line]
    assert change["left_out"] == {} and [*change["bots"]] == ["sick"]
    assert "left out" not in referee("status", str(folder)).out
    assert referee("verify", str(folder)).code == 0


@pytest.mark.slow
def test_a_bot_that_breaks_during_a_run_waits_while_the_others_play(tmp_path: Path) -> None:
    """Its games stay open: they are played when it is mended."""
    file, folder = toml(tmp_path / "t.toml", {**TWO, "sick": PLAIN}, rounds=1), tmp_path / "t-results"
    whole = file.read_text()
    assert referee("run", str(file)).code == 0
    file.write_text(whole.replace("rounds = 1", "rounds = 2") + FAILS)
    done = referee("run", str(file))
    assert done.code == 0, done.err
    assert "bot `sick` is left out: it cannot be built" in done.err and "8 of 12 games" in done.err
    assert {name for name in games(folder) if name.startswith("2:")} == {"2:a:b", "2:b:a"}
    file.write_text(whole.replace("rounds = 1", "rounds = 2"))
    assert referee("run", str(file)).code == 0 and len(games(folder)) == 12
    assert referee("verify", str(folder)).code == 0


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("form", ["swiss", "knockout"])
def test_where_pairings_follow_results_no_bot_joins_later(form: str, tmp_path: Path) -> None:
    rounds = 1 if form == "swiss" else None
    file, folder = with_sick(tmp_path / "t.toml", format=form, rounds=rounds), tmp_path / "t-results"
    assert referee("run", str(file)).code == 0
    before = games(folder)
    mended(file)
    again = referee("run", str(file))
    assert again.code == 0 and games(folder) == before
    assert (
        "bot `sick` is left out: this run started without it, and bots cannot be added to the format"
        in again.err
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", ["swiss", "knockout"])
def test_where_pairings_follow_results_a_bot_of_the_run_has_to_be_there(form: str, tmp_path: Path) -> None:
    bots = {**TWO, "c": PLAIN, "sick": PLAIN}
    rounds = 2 if form == "swiss" else None
    file, folder = toml(tmp_path / "t.toml", bots, format=form, rounds=rounds), tmp_path / "t-results"
    whole = file.read_text()
    assert referee("run", str(file)).code == 0
    played = [line for line in lines_of(folder) if line["kind"] != "game"], (folder / "games.jsonl")
    cut = played[1].read_bytes().splitlines(keepends=True)
    played[1].write_bytes(b"".join(cut[:3]))
    file.write_text(whole + FAILS)
    done = referee("run", str(file))
    assert done.code == 2 and "cannot continue without it" in done.err and "it cannot be built" in done.err
    assert played[1].read_bytes() == b"".join(cut[:3])


def test_with_too_few_bots_left_nothing_is_played(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN})
    file.write_text(f"{file.read_text()}[[bot]]\n{SICK['build'][0]}")
    done = referee("run", str(file))
    assert done.code == 2 and not (tmp_path / "t-results").exists()
    assert done.err.splitlines()[-1].startswith(
        f"referee: `{file}`: bot `sick`: it cannot be built: `sh` exited"
    )


def test_a_match_with_a_bot_that_cannot_start_is_refused(tmp_path: Path) -> None:
    done = referee("match", "blooms", f"b={PLAIN}", "c={python} no-such-bot.py", "-n", "1")
    assert (
        done.code == 2
        and "bot `c`: the file `no-such-bot.py`, which `{python}` should run, does not exist" in done.err
    )


def test_strict_counts_the_faults_of_games_that_strikes_annulled(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {**TWO, "c": "sh -c 'read x; exit 1'"}, rounds=1)
    text = file.read_text()
    file.write_text(text.replace("[options]", 'strikes = { faults = 1, games = "annul" }\n[options]'))
    done = referee("run", str(file), "--strict")
    assert done.code == 8, done.err
    assert not any(
        any(game["faults"]) for name, game in games(tmp_path / "t-results").items() if "c" not in name
    )
    assert "faults" in done.out and not re.search(r"\d start", done.out)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("what", [what for what in SICK if what != "build"])
def test_a_dry_run_says_what_the_run_says(what: str, tmp_path: Path) -> None:
    """Only what a build says is missing, since nothing is built."""
    file = with_sick(tmp_path / "t.toml", what)
    alone = toml(tmp_path / "alone.toml", {"a": PLAIN})
    alone.write_text(f"{alone.read_text()}[[bot]]\n{SICK[what][0]}")
    dry = referee("run", str(file), "--dry-run")
    assert dry.code == 0 and "4 games of blooms, 2 bots" in dry.out and not (tmp_path / "t-results").exists()
    assert referee("run", str(file)).err.startswith(dry.err) and "is left out" in dry.err
    refused = [referee("run", str(alone), *words) for words in (["--dry-run"], [])]
    assert refused[0] == refused[1] and refused[0].code == 2
