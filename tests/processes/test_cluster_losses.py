"""Workers of a Dask cluster, its scheduler and the referee are killed, stopped and started again: each game
counts once, and no bot loses by it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import PLAIN, ROOT, at_start, referee
from tests.holdings import living
from tests.processes import runs
from tests.processes.clusters import Cluster, cluster
from tests.processes.runs import games, resigning
from tests.waiting import TOO_LONG_S, eventually

pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what a worker needs"),
]

ROUNDS = 2

BOT = ROOT / "sample_bots" / "plain_bot.py"

DELAY_S = 0.02
"""What a bot sleeps before each move, so that the games last for a while without computing."""

MARK = f"63000.{os.getpid():07}"
"""An argument of `sleep` that tells our helpers from those of other tests."""


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with two workers that play a game each, and are started again when they end."""
    one = ("--nthreads", "1", "--no-nanny")
    with cluster(tmp_path_factory.mktemp("cluster") / "c", [one, one]) as found:
        yield found
    eventually(lambda: not found.left())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same tournament, as it is played in one process."""
    folder = tmp_path_factory.mktemp("undisturbed") / "t"
    tournament(folder, ROUNDS, 0)
    assert referee("run", str(folder / "t.toml"), "-o", str(folder / "run"), "--workers", "0").code == 0
    return folder / "run"


def tournament(folder: Path, rounds: int, delay_s: float) -> None:
    """Writes a tournament of three bots, which play the same whatever their delay is."""
    folder.mkdir(parents=True)
    (folder / "bot").mkdir()
    program = BOT.read_text().replace(
        'elif word == "ask":', 'elif word == "ask":\n            time.sleep(float(sys.argv[1]))'
    )
    (folder / "bot" / "bot.py").write_text(program.replace("import random", "import random\nimport time"))
    lines = ["[tournament]", 'game = "blooms"', f"rounds = {rounds}", 'seed = "storm"', 'clock = "10s+120s"']
    lines += ["[options]", "size = 3"]
    for name in "abc":
        command = f"{{python}} -I -S bot.py {delay_s}"
        lines += ["[[bot]]", f'name = "{name}"', 'cwd = "bot"', f"cmd = {json.dumps(command)}"]
    (folder / "t.toml").write_text("\n".join(lines) + "\n")


def core(game: dict[str, Any]) -> dict[str, Any]:
    """A game without what depends on how often it was begun."""
    return {key: value for key, value in game.items() if key != "attempt"}


class Run:
    """A run on the cluster, in a process of its own."""

    def __init__(self, cluster: Cluster, file: Path, **env: str) -> None:
        self.folder = file.parent / "run"
        self._env = {**cluster.env, **env}
        self._words = ["run", str(file), "-o", str(self.folder), "--cluster", cluster.address]
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "referee", *self._words],
            env=self._env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, count: int) -> None:
        """Waits until so many games are stored."""
        path = self.folder / "games.jsonl"

        def stored() -> bool:
            assert self.process.poll() is None, self.process.communicate()[1]
            return path.exists() and path.read_bytes().count(b'"kind":"game"') >= count

        eventually(stored)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def play_on(self) -> str:
        """Starts it again where it was killed, and waits for its end; what it wrote to stderr."""
        if self.process.poll() is not None:
            self.process = self._start()
        _, err = self.process.communicate(timeout=TOO_LONG_S)
        assert self.process.returncode == 0, err
        return err

    def voids(self) -> list[dict[str, Any]]:
        return runs.voids(self.folder)


def begun(cluster: Cluster, folder: Path, **env: str) -> Run:
    """The tournament of `undisturbed`, when two of its games are stored."""
    tournament(folder / "t", ROUNDS, DELAY_S)
    run = Run(cluster, folder / "t" / "t.toml", **env)
    run.wait_for(2)
    return run


def check(run: Run, undisturbed: Path) -> None:
    """Each game is there once, as it was to be played; the table is the same, byte for byte."""
    found, expected = games(run.folder), games(undisturbed)
    assert {name: core(game) for name, game in found.items()} == {
        name: core(game) for name, game in expected.items()
    }
    assert referee("verify", str(run.folder)).code == 0
    assert referee("table", str(run.folder)).out == referee("table", str(undisturbed)).out


def test_the_games_of_a_killed_worker_are_played_again_also_after_the_referee_was_killed(
    machines: Cluster, undisturbed: Path, tmp_path: Path
) -> None:
    run = begun(machines, tmp_path)
    machines.workers[0].signal(signal.SIGKILL)
    eventually(run.voids)
    run.kill()
    run.play_on()
    voids = run.voids()
    assert len(voids) in (1, 2) and all(void["lost"] and not void["suspects"] for void in voids)
    assert "its connection to the scheduler ended" in voids[0]["error"]
    check(run, undisturbed)


def test_a_run_goes_on_with_the_scheduler_that_is_started_again(
    machines: Cluster, undisturbed: Path, tmp_path: Path
) -> None:
    run = begun(machines, tmp_path)
    machines.scheduler.signal(signal.SIGKILL)
    err = run.play_on()
    assert "the connection to the scheduler is lost" in err
    assert "connected to the scheduler of the Dask cluster again" in err
    check(run, undisturbed)


IMPATIENT = """
import sys
if "run" in sys.orig_argv:
    import referee.cluster.cluster_backend as c
    c.SILENT_S = 3
"""


def test_a_worker_that_comes_back_late_with_results_changes_nothing(
    machines: Cluster, undisturbed: Path, tmp_path: Path
) -> None:
    """It is stopped, while its games go on; these are played again by the other one meanwhile."""
    run = begun(machines, tmp_path, **at_start(IMPATIENT, tmp_path))
    stopped = machines.workers[0]
    stopped.signal(signal.SIGSTOP)
    try:
        eventually(run.voids)
    finally:
        stopped.signal(signal.SIGCONT)
    assert "the scheduler has heard nothing from it for 3 s, it is played again" in run.play_on()
    check(run, undisturbed)


def test_what_a_killed_referee_had_begun_is_ended_on_its_machines(machines: Cluster, tmp_path: Path) -> None:
    bots = {"a": resigning(f"exec sleep {MARK}"), "b": PLAIN}
    run = Run(machines, runs.toml(tmp_path / "t.toml", bots, rounds=1, clock="6000s", workers=None))
    eventually(lambda: living(MARK))
    run.kill()
    eventually(lambda: not living(MARK))


WITHOUT_REFEREE = """
import sys
if "dask" in sys.orig_argv:
    sys.modules["referee"] = None
elif "run" in sys.orig_argv:
    import referee.cluster.cluster_backend as c
    c.OTHERS_S = 1
"""


@pytest.mark.slow
def test_a_dask_worker_that_has_no_referee_is_told_and_does_not_break_by_it(tmp_path: Path) -> None:
    """Nor does a scheduler that has none."""
    env = at_start(WITHOUT_REFEREE, tmp_path)
    file = runs.toml(tmp_path / "t.toml", {"a": PLAIN, "b": PLAIN}, rounds=1, workers=None)
    with cluster(tmp_path / "c", [("--no-nanny",)], env) as found:
        run = Run(found, file)
        _, err = run.process.communicate(timeout=TOO_LONG_S)
        assert run.process.returncode == 5
        assert "times in a row: ModuleNotFoundError: No module named 'referee" in err
        assert [service.starts for service in found.services] == [1, 1]
