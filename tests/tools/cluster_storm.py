"""Plays a tournament on a Dask cluster while its processes are killed, stopped and started again at random.

    python -m tests.tools.cluster_storm [--events 30] [--seed S] [--longest SECONDS] [--folder DIR]

There is a scheduler, and there are three workers with stores of their own, started again when they end. While
`referee run` plays, as many random events happen as are asked for: some at once after the one before, others
when games have been stored since. Then the run is played to its end by the same command, and has to have each
game of the schedule once, event by event as `--workers 0` plays it, without a fault or forfeit, the same
table byte for byte, and it has to verify. After the end of the cluster, no process and no temporary file of
it may be left.

Prints the events with what was seen of each, how often they happened, and how many games were lost and played
again. Exits with 1 where something was wrong, which is told last. What was seen is kept where `--folder` is
given.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from tests.command import ROOT
from tests.holdings import below, processes
from tests.needed import need_package
from tests.processes.clusters import Cluster, Service, free_port, send
from tests.processes.runs import games, voids

BOT = ROOT / "sample_bots" / "plain_bot.py"

DELAY_S = 0.02
"""What a bot sleeps before each move, so that the games last for a while without computing."""

GAMES_PER_EVENT = 40
"""About so many games are played for each event."""

LONGEST_S = 60.0
"""The longest time for which something is stopped."""

GOES_ON_S = 60.0
"""Seconds that are waited for a game after an event, before the next one happens anyway."""

END_S = 900.0
"""Seconds in which the run has to end after the last event."""


class Row(NamedTuple):
    """An event, and what was seen of it."""

    at_s: float
    kind: str
    what: str
    stored: int
    """How many games were stored by then."""


class Storm:
    """A run on a cluster, to which events happen."""

    def __init__(self, cluster: Cluster, folder: Path, rng: random.Random, longest_s: float) -> None:
        self.cluster = cluster
        self.rows: list[Row] = []
        self._folder = folder
        self._rng = rng
        self._longest_s = longest_s
        self._began_s = time.monotonic()
        self._kinds: list[str] = []
        """What happens next, the last one first."""
        self._to_continue: list[tuple[float, list[int]]] = []
        """When which processes are continued."""
        self.exits: Counter[int] = Counter()
        """How often the referee ended by itself, by its exit code."""
        self._err = (folder / "stderr").open("ab")
        self._run = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        words = ["run", "t.toml", "-o", "run", "--cluster", self.cluster.address]
        return subprocess.Popen(
            [sys.executable, "-m", "referee", *words],
            cwd=self._folder,
            env=self.cluster.env,
            stdin=subprocess.DEVNULL,
            stdout=(self._folder / "stdout").open("wb"),
            stderr=self._err,
        )

    @property
    def stored(self) -> int:
        """How many games are stored."""
        path = self._folder / "run" / "games.jsonl"
        return path.read_bytes().count(b'"kind":"game"') if path.exists() else 0

    def look_after(self, seconds: float) -> bool:
        """Waits, continues what was stopped for long enough, and starts the referee where it ended before
        the end of the run; whether the run has ended.
        """
        until_s = time.monotonic() + seconds
        while True:
            now_s = time.monotonic()
            self._continue(now_s)
            if (code := self._run.poll()) is not None:
                if code == 0:
                    return True
                self.exits[code] += 1
                self._tell(f"(referee ended with {code})", "")
                self._run = self._start()
            if now_s >= until_s:
                return False
            time.sleep(min(0.05, max(0.0, until_s - now_s)))

    def go_on(self, games: int, seconds: float) -> bool:
        """Waits until so many more games are stored, or the time is over; whether the run has ended."""
        before, until_s = self.stored, time.monotonic() + seconds
        while time.monotonic() < until_s and self.stored < before + games:
            if self.look_after(0.2):
                return True
        return False

    def _tell(self, kind: str, what: str) -> None:
        self.rows.append(Row(time.monotonic() - self._began_s, kind, what, self.stored))
        print(f"{self.rows[-1].at_s:6.1f} s  {kind}  {what}  {self.rows[-1].stored}", file=sys.stderr)

    def event(self) -> None:
        """Has something happen: each kind once before any of them happens again."""
        if not self._kinds:
            self._kinds = self._rng.sample([*EVENTS], len(EVENTS))
        kind = self._kinds.pop()
        self._tell(kind, EVENTS[kind](self))

    def _continue(self, now_s: float) -> None:
        """Continues what was stopped for long enough."""
        for one in [one for one in self._to_continue if one[0] <= now_s]:
            self._to_continue.remove(one)
            send(signal.SIGCONT, one[1])

    def close(self) -> None:
        """Ends the referee, if it has not ended."""
        self._continue(math.inf)
        if self._run.poll() is None:
            self._run.kill()
        self._run.wait()
        self._err.close()

    # What may happen; each returns what it did.

    def kill_dask_worker(self) -> str:
        """The process that runs the tasks; its nanny starts it again, where it has one."""
        service = self._worker()
        pid = self._pid_of_worker(service)
        send(signal.SIGKILL, [pid])
        return f"{service.name} ({pid})"

    def kill_service(self) -> str:
        """The worker's top process, and with it all that ends with it."""
        service = self._worker()
        service.signal(signal.SIGKILL)
        return f"{service.name} ({service.pid})"

    def kill_host(self) -> str:
        """The process that has the pool of a machine."""
        return self._kill("referee.cluster.host")

    def kill_pool_worker(self) -> str:
        """A process that plays games."""
        return self._kill("referee.tournament.workers.worker")

    def kill_launcher(self) -> str:
        """The process that starts bots for a worker process."""
        found = [one for service in self.cluster.workers for one in service.family]
        players = {one.pid for one in found if "referee.tournament.workers.worker" in one.command}
        launchers = [
            one for one in found if one.parent in players and "referee.processes.warden" in one.command
        ]
        return self._kill_one_of([one.pid for one in launchers])

    def _kill(self, word: str) -> str:
        found = [one.pid for service in self.cluster.workers for one in service.family if word in one.command]
        return self._kill_one_of(found)

    def _kill_one_of(self, pids: Sequence[int]) -> str:
        if not pids:
            return "there was none"
        pid = self._rng.choice(pids)
        send(signal.SIGKILL, [pid])
        return str(pid)

    def stop_dask_worker(self) -> str:
        """The process that runs the tasks alone, while its games go on."""
        service = self._worker()
        pid = self._pid_of_worker(service)
        return f"{service.name} for {self._stop([pid]):.1f} s"

    def stop_machine(self) -> str:
        """A worker with all that it has started: first what is above, so that no bot is charged."""
        service = self._worker()
        pids = [one.pid for one in service.family]
        return f"{service.name}, {len(pids)} processes, for {self._stop(pids):.1f} s"

    def stop_host(self) -> str:
        """A host alone, which its Dask worker continues."""
        found = [one.pid for service in self.cluster.workers for one in service.family]
        hosts = [one.pid for one in processes() if one.pid in found and "referee.cluster.host" in one.command]
        return f"for {self._stop([self._rng.choice(hosts)]):.1f} s" if hosts else "there was none"

    def stop_scheduler(self) -> str:
        """The scheduler."""
        return f"for {self._stop([self.cluster.scheduler.pid]):.1f} s"

    def restart_scheduler(self) -> str:
        """The scheduler is killed and started again, and so are the workers."""
        self.cluster.scheduler.signal(signal.SIGKILL)
        return str(self.cluster.scheduler.pid)

    def kill_referee(self) -> str:
        """The referee is killed and continued."""
        self._run.kill()
        self._run.wait()
        self._run = self._start()
        return "continued"

    def interrupt_referee(self) -> str:
        """The referee is stopped by Ctrl-C and continued."""
        self._run.send_signal(signal.SIGINT)
        began_s = time.monotonic()
        # What is stopped is continued meanwhile: the referee waits for the games that are being played.
        while (code := self._run.poll()) is None and time.monotonic() < began_s + 2 * self._longest_s:
            self._continue(time.monotonic())
            time.sleep(0.05)
        if code is None:
            self._run.kill()
            self._run.wait()
        seconds = time.monotonic() - began_s
        if code != 0:
            self._run = self._start()
        return f"exit code {code} after {seconds:.1f} s"

    def stop_referee(self) -> str:
        """The referee stands still."""
        return f"for {self._stop([self._run.pid]):.1f} s"

    def _worker(self) -> Service:
        return self._rng.choice(self.cluster.workers)

    def _pid_of_worker(self, service: Service) -> int:
        """The process of a service that runs tasks: that below its nanny, if there is one."""
        found = [one for one in below(service.pid, processes()) if "multiprocessing.spawn" in one.command]
        return found[0].pid if found else service.pid

    def _stop(self, pids: list[int]) -> float:
        """Stops processes for a random time, which is short in most cases."""
        seconds = min(self._longest_s, self._rng.choice([1.0, 3.0, 8.0, 20.0, 60.0]) * self._rng.random())
        send(signal.SIGSTOP, pids)
        self._to_continue.append((time.monotonic() + seconds, pids[::-1]))
        return seconds


EVENTS: dict[str, Callable[[Storm], str]] = {
    "Dask worker killed": Storm.kill_dask_worker,
    "worker's service killed": Storm.kill_service,
    "host killed": Storm.kill_host,
    "worker process killed": Storm.kill_pool_worker,
    "launcher killed": Storm.kill_launcher,
    "Dask worker stopped": Storm.stop_dask_worker,
    "machine stopped": Storm.stop_machine,
    "host stopped": Storm.stop_host,
    "scheduler stopped": Storm.stop_scheduler,
    "scheduler restarted": Storm.restart_scheduler,
    "referee killed": Storm.kill_referee,
    "referee interrupted": Storm.interrupt_referee,
    "referee stopped": Storm.stop_referee,
}


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


def storm(folder: Path, events: int, seed: str, longest_s: float) -> list[str]:
    """Has it all happen; returns what was wrong."""
    rounds = max(1, events * GAMES_PER_EVENT // 6)
    undisturbed, disturbed = folder / "undisturbed", folder / "disturbed"
    tournament(undisturbed, rounds, 0)
    tournament(disturbed, rounds, DELAY_S)
    reference = subprocess.Popen(
        [sys.executable, "-m", "referee", "run", "t.toml", "-o", "run", "--workers", "0"],
        cwd=undisturbed,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    began_s = time.monotonic()
    wrong = []
    with cluster_in(folder / "cluster") as cluster:
        happening = Storm(cluster, disturbed, random.Random(seed), longest_s)
        try:
            wrong += _happen(happening, events)
        finally:
            happening.close()
    lasted_s = time.monotonic() - began_s
    _wait_until_nothing_is_left(cluster)
    wrong += [f"left: {what}" for what in cluster.left()]
    reference.wait()
    _show(happening, disturbed / "run", lasted_s)
    return wrong + list(_differences(disturbed, undisturbed))


@contextmanager
def cluster_in(folder: Path) -> Iterator[Cluster]:
    """A worker with a nanny and two threads, one at a fixed port without a nanny, and two of one service."""
    cluster = Cluster(folder)
    try:
        cluster.add("w1", "--nthreads", "2")
        cluster.add("w2", "--nthreads", "1", "--no-nanny", "--worker-port", str(free_port()))
        cluster.add("w3", "--nthreads", "1", "--nworkers", "2")
        cluster.wait()
        yield cluster
    finally:
        cluster.close()


def _happen(storm: Storm, events: int) -> list[str]:
    wrong = []
    storm.go_on(20, GOES_ON_S)
    rng = random.Random(events)
    for number in range(events):
        storm.event()
        before = storm.stored
        if rng.random() < 0.5:
            ended = storm.look_after(rng.uniform(0, 4))
        else:
            ended = storm.go_on(rng.randint(1, 20), GOES_ON_S)
            if not ended and storm.stored == before:
                wrong.append(f"no game in {GOES_ON_S:.0f} s after event {number + 1}")
        if ended and number + 1 < events:
            return [*wrong, f"the run had ended before event {number + 2}"]
    until_s = time.monotonic() + END_S
    while not storm.look_after(1):
        if time.monotonic() > until_s:
            return [*wrong, f"the run did not end within {END_S:.0f} s"]
    return wrong


def _wait_until_nothing_is_left(cluster: Cluster) -> None:
    until_s = time.monotonic() + 10
    while cluster.left() and time.monotonic() < until_s:
        time.sleep(0.2)


def _differences(disturbed: Path, undisturbed: Path) -> Iterator[str]:
    """What is not as in a run that nothing disturbed."""
    found, expected = games(disturbed / "run"), games(undisturbed / "run")
    if missing := expected.keys() - found.keys():
        yield f"{len(missing)} games are missing: {sorted(missing)[:5]}"
    if added := found.keys() - expected.keys():
        yield f"{len(added)} games are not of the schedule: {sorted(added)[:5]}"
    differing = [name for name in expected.keys() & found.keys() if core(found[name]) != core(expected[name])]
    if differing:
        yield f"{len(differing)} games differ: {sorted(differing)[:5]}"
    for name, game in found.items():
        if any(game["faults"]):
            yield f"game {name}: faults {game['faults']}, {game['sentence']}"
    verified = subprocess.run(
        [sys.executable, "-m", "referee", "verify", "run"],
        cwd=disturbed,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    if verified.returncode:
        yield f"verify exits with {verified.returncode}: {verified.stderr.decode()[-300:]}"
    if _table(disturbed) != _table(undisturbed):
        yield "the tables differ"


def core(game: dict[str, Any]) -> dict[str, Any]:
    """A game without what depends on how often it was begun."""
    return {key: value for key, value in game.items() if key != "attempt"}


def _table(folder: Path) -> bytes:
    command = [sys.executable, "-m", "referee", "table", "run"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout


def _show(storm: Storm, run: Path, lasted_s: float) -> None:
    """Prints what happened."""
    rows = [(f"{row.at_s:.1f}", row.kind, row.what, row.stored) for row in storm.rows]
    print(tabulate(rows, ["s", "event", "what", "games stored by then"]))
    print()
    print(tabulate(Counter(row.kind for row in storm.rows).most_common(), ["event", "times"]))
    print()
    failed = voids(run)
    lost = [void for void in failed if void.get("lost")]
    reasons = Counter(_reason(void["error"]) for void in failed)
    found = games(run)
    attempts = Counter(game["attempt"] for game in found.values())
    print(tabulate(reasons.most_common(), ["why games were played again", "games"]))
    print()
    print(
        f"{len(found)} games in {lasted_s:.0f} s; by number of the attempt: {dict(sorted(attempts.items()))}"
    )
    print(f"{len(lost)} games lost with a machine, {len(failed) - len(lost)} with a process of the referee")
    print(f"starts of services: {', '.join(f'{s.name} {s.starts}' for s in storm.cluster.services)}")
    print(f"exit codes of referees that ended by themselves: {dict(storm.exits)}")


def _reason(error: str) -> str:
    """Why a game was lost, without the name of the machine."""
    last = error.strip().splitlines()[-1]
    return last.partition(" was lost: ")[2] or last


def main(events: int, seed: str, longest_s: float, folder: Path | None) -> int:
    top = folder or Path(tempfile.mkdtemp(prefix="storm-"))
    try:
        wrong = storm(top, events, seed, longest_s)
    finally:
        if not folder:
            shutil.rmtree(top, ignore_errors=True)
    print("\n".join(wrong) or "nothing was wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=30)
    parser.add_argument("--seed", default=os.urandom(4).hex())
    parser.add_argument("--longest", type=float, default=LONGEST_S)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    need_package("distributed")
    print(f"seed {given.seed}", file=sys.stderr)
    sys.exit(main(given.events, given.seed, given.longest, given.folder))
