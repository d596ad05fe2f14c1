"""Bots on machines of a Dask cluster that have never seen them: sent, built there, watched for changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import PLAIN, ROOT, Done, referee_process
from tests.processes.clusters import Cluster, cluster

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
        f"[[bot]]\nname = 'plain'\ncmd = '{PLAIN}'\n{extra}"
    )
    return toml


def run(machine: Cluster, toml: Path) -> Done:
    done = referee_process("run", str(toml), "--cluster", machine.address)
    assert done.code == 0, done.err
    return done


@pytest.mark.slow(seconds=6)
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


def test_a_machine_that_lacks_what_a_bot_needs_is_refused_with_the_name_of_the_bot(
    machine: Cluster, tmp_path: Path
) -> None:
    lacking = "[[bot]]\nname = 'other'\nneeds = ['no-such-program']\ncmd = 'no-such-program'\n"
    toml = write(tmp_path, rounds=1, extra=lacking)
    (tmp_path / "bot" / "data" / "weights").write_text("1")
    done = referee_process("run", str(toml), "--cluster", machine.address)
    assert done.code == 5
    assert (
        "is not used: bot `other` needs `no-such-program`, which does not exist on this machine" in done.err
    )
