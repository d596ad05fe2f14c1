"""Bots on machines of a Dask cluster that have never seen them: sent, built there, watched for changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname

import pytest

from tests.command import PLAIN, ROOT, Done, referee, referee_process
from tests.processes.clusters import Cluster, cluster
from tests.processes.runs import games, toml
from tests.processes.test_left_out import (
    FAILS,
    SICK,
    TWO,
    plays_without_sick,
    shows_the_build,
    takes_in_what_was_mended,
    with_sick,
)

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow

BOT = f"""
import runpy, sys
assert open("made").read() == "made of " + open("data/weights").read()
sys.argv = ["plain_bot.py"]
runpy.run_path({str(ROOT / "sample_bots" / "plain_bot.py")!r}, run_name="__main__")
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with one worker, whose store is empty."""
    with cluster(tmp_path_factory.mktemp("cluster"), [["--nthreads", "1"]]) as found:
        yield found


def write(folder: Path, rounds: int, extra: str = "") -> Path:
    """A tournament of a bot that needs its data and what is built of it, and of a plain one."""
    bot = folder / "bot"
    (bot / "data").mkdir(parents=True, exist_ok=True)
    (bot / "bot.py").write_text(BOT)
    (bot / "build.sh").write_text('printf "made of " > made\ncat data/weights >> made\n')
    toml = folder / "t.toml"
    toml.write_text(
        f"[tournament]\ngame = 'blooms'\nrounds = {rounds}\nclock = '10s+60s'\nseed = 's'\n"
        "isolation = 'basic'\n[options]\nsize = 3\n"
        "[[bot]]\nname = 'built'\ncwd = 'bot'\nbuild = 'sh build.sh'\ncmd = '{python} bot.py'\n"
        f"[[bot]]\nname = 'plain'\ncmd = {json.dumps(PLAIN)}\n{extra}"
    )
    return toml


def run(machine: Cluster, toml: Path) -> Done:
    done = referee_process("run", str(toml), "--cluster", machine.address)
    assert done.code == 0, done.err
    return done


@pytest.mark.slow
def test_a_bot_is_built_where_it_was_never_seen_and_changes_are_noticed(
    machine: Cluster, tmp_path: Path
) -> None:
    weights = tmp_path / "bot" / "data" / "weights"
    toml = write(tmp_path, rounds=1)
    weights.write_text("1")
    first = run(machine, toml)
    assert "building built" in first.err and "2 games, head hash" in first.err
    assert not (tmp_path / "bot" / "made").exists()

    write(tmp_path, rounds=2)
    again = run(machine, toml)
    assert "building" not in again.err and "changed" not in again.err

    write(tmp_path, rounds=3)
    weights.write_text("2")
    changed = run(machine, toml)
    assert "bots whose program has changed since the run began: built" in changed.err
    assert "building built" in changed.err

    for copy in (machine.folder / "w1" / "cache").rglob("weights"):
        copy.write_text("3")
    write(tmp_path, rounds=4)
    mended = run(machine, toml)
    assert "restoring files that were changed on this machine: `data/weights`" in mended.err

    table = referee_process("table", str(tmp_path / "t-results"), "--format", "csv").out
    assert "built" in table
    faults = referee_process("find", str(tmp_path / "t-results"), "--faults")
    assert "built" not in faults.out
    assert referee_process("verify", str(tmp_path / "t-results")).code == 0


def test_a_bot_that_needs_what_the_machine_lacks_is_left_out_and_not_at_fault(
    machine: Cluster, tmp_path: Path
) -> None:
    lacking = "[[bot]]\nname = 'other'\nneeds = ['no-such-program']\ncmd = 'no-such-program'\n"
    toml = write(tmp_path, rounds=1, extra=lacking)
    (tmp_path / "bot" / "data" / "weights").write_text("1")
    done = referee_process("run", str(toml), "--cluster", machine.address, "--strict")
    assert done.code == 0, done.err
    assert f"bot `other` is left out: it needs `no-such-program` (on {gethostname()})" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("what", ["build", "folder", "on the path"])
def test_a_bot_that_cannot_play_on_a_cluster_is_left_out_as_without_one(
    machine: Cluster, tmp_path: Path, what: str
) -> None:
    file = with_sick(tmp_path / "t.toml", what)
    plays_without_sick(what, file, referee_process, "--cluster", machine.address)


def test_the_last_lines_of_a_build_on_a_cluster_are_shown_and_escaped(
    machine: Cluster, tmp_path: Path
) -> None:
    shows_the_build(with_sick(tmp_path / "t.toml"), referee_process, "--cluster", machine.address)


@pytest.mark.slow
def test_the_same_command_takes_in_a_bot_that_was_mended(machine: Cluster, tmp_path: Path) -> None:
    file = with_sick(tmp_path / "t.toml")
    # All files of a bot's folder are sent, and other tests build bots in that of the samples.
    (tmp_path / "own").mkdir()
    copied = shutil.copy(ROOT / "sample_bots" / "plain_bot.py", tmp_path / "own")
    file.write_text(file.read_text().replace(str(ROOT / "sample_bots" / "plain_bot.py"), str(copied)))
    takes_in_what_was_mended(file, referee_process, "--cluster", machine.address)


def test_with_too_few_bots_left_nothing_is_played_on_a_cluster(machine: Cluster, tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN})
    file.write_text(f"{file.read_text()}[[bot]]\n{SICK['on the path'][0]}")
    done = referee_process("run", str(file), "--cluster", machine.address)
    assert done.code == 2 and not (tmp_path / "t-results").exists()
    last = done.err.splitlines()[-1]
    missing = f"referee: `{file}`: bot `sick`: the program `no-such-program` is not on the path (on "
    assert last.startswith(missing)


def test_a_broken_bot_that_is_out_of_a_run_does_not_stop_it_on_a_cluster(
    machine: Cluster, tmp_path: Path
) -> None:
    file, folder = toml(tmp_path / "t.toml", {**TWO, "sick": PLAIN}, rounds=1), tmp_path / "t-results"
    words = ("run", str(file), "--cluster", machine.address)
    assert referee_process(*words).code == 0
    assert (
        referee("amend", str(folder), "--withdraw", "sick", "--games", "forfeit", "--reason", "broken").code
        == 0
    )
    file.write_text(file.read_text().replace("rounds = 1", "rounds = 2") + FAILS)
    done = referee_process(*words)
    assert done.code == 0 and "left out" not in done.err and len(games(folder)) == 12
