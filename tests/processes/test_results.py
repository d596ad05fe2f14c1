"""The results of a run that bots, editors and other referees change: nothing is lost in silence."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.records import journal, record
from tests.catalogue.row import RESIGNS
from tests.command import BAD, PLAIN, referee, sh
from tests.processes.runs import forged, games, lines_of, toml


def attacked(folder: Path, deed: str, after: int = 4, **main: Any) -> Path:
    """A tournament of twelve games with a bot that does a deed once, when the records have so many lines.

    The deed is for sh, with the folder of the results in $r.
    """
    once = f"[ -e done ] || [ $(wc -l < $r/games.jsonl) -lt {after} ] || {{ touch done; {deed}; }}"
    bots = {
        "bad": sh(f"r={folder}/t-results; while asked; do {once}; echo resign $n; done"),
        "good": sh(RESIGNS),
    }
    return toml(folder / "t.toml", bots, **{"rounds": 6, "workers": 0, **main})


@pytest.fixture(scope="session")
def played_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tournament that was played to its end: `t.toml`, and `t-results` with six games."""
    folder = tmp_path_factory.mktemp("results")
    file = toml(folder / "t.toml", dict.fromkeys("abc", sh(RESIGNS)), rounds=1, keep="all")
    assert referee("run", str(file)).code == 0
    return folder


@pytest.fixture
def played(played_once: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A copy of it: the file, and the folder of the results."""
    shutil.copytree(played_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "t.toml", tmp_path / "t-results"


SLOW = pytest.mark.slow


# --- While the run is on ---------------------------------------------------------------------------------


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("deed", "told"),
    [
        ("rm -r $r", "was removed"),
        pytest.param(*("rm $r/games.jsonl", "was removed"), marks=SLOW),
        pytest.param(
            *("cp $r/games.jsonl $r/x; mv $r/x $r/games.jsonl", "was replaced by another file"), marks=SLOW
        ),
        pytest.param(
            *("rm $r/games.jsonl; mkfifo $r/games.jsonl", "was replaced by another file"), marks=SLOW
        ),
        pytest.param(*(": > $r/games.jsonl", "was changed by another program: it has"), marks=SLOW),
        pytest.param(
            *("truncate -s -100 $r/games.jsonl", "was changed by another program: it has"), marks=SLOW
        ),
        ("echo {} >> $r/games.jsonl", "was changed by another program: it has"),
        (
            "printf x | dd of=$r/games.jsonl bs=1 seek=700 conv=notrunc 2>&-",
            "was changed by another program;",
        ),
    ],
)
def test_a_run_notices_that_its_records_are_gone_and_rescues_them(
    deed: str, told: str, tmp_path: Path
) -> None:
    file, folder = attacked(tmp_path, deed), tmp_path / "t-results"
    done = referee("run", str(file))
    assert done.code == 4 and done.out == "", "a table of games that are not stored would be a lie"
    assert f"games.jsonl` {told}" in done.err
    found = re.search("all its records are in `(.*)`$", done.err.strip())
    assert found
    rescued = Path(found[1])
    assert rescued.parent == tmp_path and rescued.stat().st_mode & 0o777 == 0o600
    assert referee("verify", str(rescued)).code == 0
    stored = len(rescued.read_text().splitlines()) - 1
    assert stored >= 4, "what was reported when the loss was noticed is there too"
    folder.mkdir(exist_ok=True)
    rescued.replace(folder / "games.jsonl")
    done = referee("run", str(file))
    assert done.code == 0 and f"{stored} of 12 games played" in done.err
    assert len(games(folder)) == 12 and referee("verify", str(folder)).code == 0


@pytest.mark.parametrize("after", [1, pytest.param(4, marks=SLOW)])
@pytest.mark.parametrize(
    "deed",
    [
        "mkfifo $d",
        *(pytest.param(d, marks=SLOW) for d in ("ln -s /dev/zero $d", "ln -s ../t.toml $d", "mkdir $d")),
    ],
)
def test_what_lies_in_place_of_the_dialogues_ends_the_run(deed: str, after: int, tmp_path: Path) -> None:
    """Before their file was opened, and after that."""
    file = attacked(tmp_path, f"d=$r/dialogues.jsonl; rm -f $d; {deed}", after, keep="all")
    before = file.read_bytes()
    done = referee("run", str(file))
    told = "was replaced by another file" if after > 1 else "it is a .*, expected a regular file"
    assert done.code == 4 and re.search(f"dialogues.jsonl`:? ({told})$", done.err, re.MULTILINE), done.err
    assert file.read_bytes() == before
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    assert "bad" in done.out, "the games are stored, and the table is true"


@pytest.mark.slow
def test_a_second_referee_is_refused_without_the_lock_file(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", f"{BAD} sleep 1 1 1 1"))
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "run", str(file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr and "0 of 4 games" in process.stderr.readline()
    folder = tmp_path / "t-results"
    told = []
    for emptied in (False, True):
        (folder / "lock").unlink()
        if emptied:
            (folder / "tournament.toml").unlink()
            (folder / "games.jsonl").write_bytes(b"")
        told.append(referee("run", str(file)))
    process.kill()
    process.communicate()
    assert all(done.code == 2 and "another referee is already writing to" in done.err for done in told), told


# --- Before a run is continued ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_line_that_is_too_long_cuts_off_no_games_behind_it(
    played: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    cap = 20_000
    for module in (journal, record):
        monkeypatch.setattr(module, "LINE_CAP", cap)
    file, folder = played
    path = folder / "games.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("wb") as records:
        records.writelines([*lines[:3], b"x" * (cap + 5), b"\n", *lines[3:]])
    size = path.stat().st_size
    for words in (
        ["run", str(file)],
        ["table", str(folder)],
        ["verify", str(folder)],
        ["replay", str(folder)],
    ):
        done = referee(*words)
        assert done.code in (0, 6) and (words[0] == "replay" or done.code == 6)
        assert words[0] == "replay" or f"line 4{' of' * (words[0] != 'verify')}" in done.err, done.err
    assert path.stat().st_size == size
    with path.open("wb") as records:
        records.writelines([*lines[:3], b"x" * (cap + 5)])
    done = referee("run", str(file))
    assert done.code == 0 and f"incomplete after a crash ({cap + 5} bytes" in done.err
    assert len(games(folder)) == 6 and path.stat().st_size < 6 * cap


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir])
@pytest.mark.parametrize("name", ["games.jsonl", "dialogues.jsonl", "lock"])
def test_no_command_hangs_at_what_is_no_regular_file(
    name: str, make: Callable[[Path], None], played: tuple[Path, Path]
) -> None:
    file, folder = played
    (folder / name).unlink(missing_ok=True)
    make(folder / name)
    for words in (["run", str(file)], ["table", str(folder)], ["find", str(folder), "--dialogue"]):
        done = referee(*words)
        also_read = {"run": "lock", "find": "dialogues.jsonl"}
        refused = name in ("games.jsonl", also_read.get(words[0]))
        assert done.code == (2 if refused else 0), (words, done.err)


@pytest.mark.slow
def test_a_run_is_closed_to_others(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", sh(RESIGNS)), rounds=1, keep="all")
    folder = tmp_path / "new" / "newer" / "run"
    assert referee("run", str(file), "-o", str(folder)).code == 0
    for made in (folder.parent.parent, folder.parent, folder):
        assert made.stat().st_mode & 0o777 == 0o700
    names = {path.name for path in folder.iterdir()}
    assert names == {"games.jsonl", "dialogues.jsonl", "tournament.toml", "lock"}
    for path in folder.iterdir():
        path.chmod(0o644)
    folder.chmod(0o755)
    toml(file, dict.fromkeys("ab", sh(RESIGNS)), rounds=2, keep="all")
    assert referee("run", str(file), "-o", str(folder)).code == 0
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.iterdir() if path.name != "lock")


@pytest.mark.slow
def test_a_folder_with_other_things_in_it_stays_open(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", sh(RESIGNS)), rounds=1)
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o755)
    (folder / "notes.txt").write_text("mine")
    for _ in range(2):
        assert referee("run", str(file), "-o", str(folder)).code == 0
        assert folder.stat().st_mode & 0o777 == 0o755
    assert (folder / "games.jsonl").stat().st_mode & 0o777 == 0o600


# --- Games that the schedule does not have ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "line", "told"),
    [
        (lambda lines: lines[2].update(attempt=2), 3, "`attempt` of game `{id}` is 2, expected 1"),
        (lambda lines: lines[2].update(id=lines[1]["id"], bots=lines[1]["bots"]), 3, "duplicate game"),
        (lambda lines: lines.insert(3, lines[2]), 4, "duplicate game `{id}`"),
        (lambda lines: lines[2].update(id="2:a:b", bots=["a", "b"]), 3, "the round of game `2:a:b`"),
        (lambda lines: lines[2].update(id="01:a:b", bots=["a", "b"]), 3, "the round of game `01:a:b`"),
        (lambda lines: lines[2].update(id="1:c:b"), 3, "the bots of game `1:c:b` do not match its id"),
        (lambda lines: lines[2].update(id="1:a:a", bots=["a", "a"]), 3, "more than one seat in game `1:a:a`"),
        (lambda lines: lines[2].update(id="1:a:z", bots=["a", "z"]), 3, "a bot of game `1:a:z`"),
    ],
)
def test_games_are_counted_by_the_ids_of_the_schedule(
    change: Callable[[list[dict[str, Any]]], object], line: int, told: str, played: tuple[Path, Path]
) -> None:
    file, folder = played
    told = told.replace("{id}", str(lines_of(folder)[2]["id"]))
    forged(folder, change)
    before = (folder / "games.jsonl").read_bytes()
    for words in (["run", str(file)], ["table", str(folder)], ["find", str(folder)]):
        done = referee(*words)
        assert done.code == 6 and len(done.err.splitlines()) == 1, done
        assert f"line {line} of" in done.err and told in done.err
    assert referee("verify", str(folder)).code == 6
    assert (folder / "games.jsonl").read_bytes() == before


# --- The head hash ---------------------------------------------------------------------------------------


def head_told(text: str) -> str:
    """The head hash in what a command printed."""
    found = re.search("games, head hash ([0-9a-f]{64})$", text, re.MULTILINE)
    assert found, text
    return found[1]


def test_the_head_hash_finds_a_chain_that_was_cut_or_written_anew(played: tuple[Path, Path]) -> None:
    file, folder = played
    path = folder / "games.jsonl"
    whole = path.read_bytes()
    head = head_told(referee("run", str(file)).err)
    assert head == lines_of(folder)[-1]["hash"]
    told = referee("table", str(folder), "--format", "json")
    assert head_told(told.err) == head and json.loads(told.out)["standings"]
    assert referee("verify", str(folder), "--head", head).code == 0
    assert referee("verify", str(folder), "--head", "all").code == 2

    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    cut = referee("verify", str(folder))
    assert cut.code == 0 and cut.out.startswith("5 of 6 games verified, head hash ")
    assert "5 of 6 games, head hash" in referee("table", str(folder)).err
    path.write_bytes(whole)
    forged(folder, lambda lines: lines[2]["measured"].update(began="another day"))
    assert referee("verify", str(folder)).out.startswith("6 games verified, head hash ")
    anew = path.read_bytes()
    for data in (b"".join(whole.splitlines(keepends=True)[:-1]), anew):
        path.write_bytes(data)
        done = referee("verify", str(folder), "--head", head)
        assert done.code == 6 and f"has the head hash `{head}`" in done.err


def test_the_head_hash_of_an_earlier_state_is_in_the_chain(played: tuple[Path, Path]) -> None:
    file, folder = played
    head = head_told(referee("table", str(folder)).err)
    assert "lines after it: 0" in referee("verify", str(folder), "--head", head).out
    toml(file, dict.fromkeys("abc", sh(RESIGNS)), rounds=2, keep="all")
    assert referee("run", str(file)).code == 0
    done = referee("verify", str(folder), "--head", head)
    assert done.code == 0 and done.out.startswith("12 games verified") and "lines after it: 7" in done.out


@pytest.mark.slow
def test_the_copy_of_the_tournament_file_is_made_where_a_killed_run_has_none(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=1)
    assert referee("run", str(file)).code == 0
    copy = tmp_path / "t-results" / "tournament.toml"
    for there in (None, b"of an earlier command"):
        copy.unlink() if there is None else copy.write_bytes(there)
        copy.with_name("tournament.toml.new").write_bytes(b"half")
        assert referee("run", str(file)).code == 0
        assert copy.read_bytes() == file.read_bytes()
        assert not copy.with_name("tournament.toml.new").exists()
