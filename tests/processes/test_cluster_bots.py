"""Bots on machines of a Dask cluster that have never seen them: sent, built there, watched for changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname

import pytest

from tests.command import PLAIN, ROOT, referee, referee_process
from tests.processes.clusters import Cluster, cluster
from tests.processes.runs import games, toml
from tests.processes.test_left_out import FAILS, SICK, TWO

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


def write(folder: Path, rounds: int) -> Path:
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
        "files = ['bot.py', 'build.sh', 'data/*']\n"
        f"[[bot]]\nname = 'plain'\ncmd = {json.dumps(PLAIN)}\n"
    )
    return toml


def test_a_bot_is_built_where_it_was_never_seen_and_changes_are_noticed(
    machine: Cluster, tmp_path: Path
) -> None:
    weights = tmp_path / "bot" / "data" / "weights"

    def run(rounds: int, *words: str) -> str:
        """Plays so many rounds; what is said of them."""
        done = referee_process("run", str(write(tmp_path, rounds)), *words)
        assert done.code == 0, done.err
        return done.err

    on_cluster = ("--cluster", machine.address)
    write(tmp_path, 1)
    weights.write_text("1")
    first = run(1, *on_cluster)
    assert "building built" in first and "2 games, head hash" in first
    assert not (tmp_path / "bot" / "made").exists()
    assert "changed" not in run(2, "--workers", "0")

    for copy in (machine.folder / "w1" / "cache").rglob("weights"):
        copy.write_text("3")
    mended = run(3, *on_cluster)
    assert "restoring files that were changed on this machine: `data/weights`" in mended
    assert "has changed" not in mended

    weights.write_text("2")
    changed = run(4, *on_cluster)
    assert "bots whose program has changed since the run began: built" in changed
    assert "building built" in changed
    assert referee("verify", str(tmp_path / "t.toml")).code == 0


def test_bots_that_cannot_play_on_a_cluster_are_left_out_unless_they_are_out_of_the_run(
    machine: Cluster, tmp_path: Path
) -> None:
    file, folder = toml(tmp_path / "t.toml", {**TWO, "out": PLAIN}, rounds=1), tmp_path / "t-results"
    assert referee("run", str(file)).code == 0
    words = ("--withdraw", "out", "--games", "forfeit", "--reason", "broken")
    assert referee("amend", str(folder), *words).code == 0
    (tmp_path / "fails.sh").write_text("echo one\necho 'two <b>`'\nexit 3\n")
    lacking = "[[bot]]\nname = 'other'\nneeds = ['no-such-program']\ncmd = 'no-such-program'\n"
    text = file.read_text().replace("rounds = 1", "rounds = 2")
    file.write_text(f"{text}{FAILS}[[bot]]\n{SICK['build'][0]}{lacking}")
    done = referee_process("run", str(file), "--cluster", machine.address)
    assert done.code == 0, done.err
    assert "  two <b>`\n" in done.err
    assert f"bot `sick` is left out: it {SICK['build'][1]} (on {gethostname()})" in done.err
    assert f"bot `other` is left out: it needs `no-such-program` (on {gethostname()})" in done.err
    assert done.err.count("is left out") == 2 and len(games(folder)) == 12
