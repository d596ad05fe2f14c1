"""The machines of a cluster play the same games as the referee alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command import ROOT
from tests.processes import namespaces
from tests.processes.clusters import THIS_MACHINE, Cluster, Host, cluster
from tests.processes.runs import games, lines_of
from tests.processes.test_live import Looking, again_and_again
from tests.waiting import TOO_LONG_S

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow

TOML = """
[tournament]
rounds = 4
seed = "s"
clock = "20s"

[[game]]
name = "opened"
game = "blooms"
options = { size = 3 }
openings = { plies = 2 }

[[game]]
game = "thetree"
options = { players = 3 }

[[game]]
game = "floral"

[[game]]
game = "evengroups"
options = { size = 3 }

[[bot]]
name = "of-an-encounter"
cmd = "{python} random_bot.py"

[[bot]]
name = "of-a-game"
cmd = "{python} random_bot.py"
processes = "game"

[[bot]]
name = "of-a-worker"
cmd = "{python} random_bot.py"
processes = "worker"
"""


@contextmanager
def machines(folder: Path, hidden: Path) -> Iterator[tuple[Cluster, Host]]:
    """A cluster with two workers, and what the referee runs on. If possible they have names and networks of
    their own, as on machines of their own, and cannot see a folder.
    """
    if namespaces.why_not():
        with cluster(folder, [(), ()]) as found:
            yield found, THIS_MACHINE
        return
    with namespaces.network(4) as (first, second, third, fourth):
        found = Cluster(folder, on=first)
        try:
            for name, host in (("w1", second), ("w2", third)):
                found.add(name, on=namespaces.alone(host, f"machine-{name}", hidden))
            found.wait()
            yield found, fourth
        finally:
            found.close()


def run(on: Host, folder: Path, *words: str) -> str:
    """Plays the tournament; its table."""
    command = [*on.within, sys.executable, "-m", "referee", "run", "t.toml", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TOO_LONG_S)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_machines_play_the_same_games_as_one(tmp_path: Path) -> None:
    folder = tmp_path / "referee"
    folder.mkdir()
    (folder / "t.toml").write_text(TOML)
    shutil.copy(ROOT / "sample_bots" / "random_bot.py", folder)
    table = run(THIS_MACHINE, folder, "-o", "alone", "--workers", "0")
    looking = Looking(tmp_path / "run")
    with machines(tmp_path / "cluster", folder) as (found, referee_host), again_and_again(looking.look):
        played = run(referee_host, folder, "-o", str(tmp_path / "run"), "--cluster", found.address)
    assert played == table
    assert games(tmp_path / "run") == games(folder / "alone")
    assert {name[:2] for name in looking.slots} == {"m1", "m2"} and len({*looking.seen}) > 10
    assert not looking.folder.exists()
    played_on = [line["measured"]["machine"] for line in lines_of(tmp_path / "run") if line["kind"] == "game"]
    assert {machine["worker"].partition("/")[0] for machine in played_on} == {"w1", "w2"}
    if referee_host is not THIS_MACHINE:
        assert all(machine["name"] == f"machine-{machine['worker'][:2]}" for machine in played_on)
