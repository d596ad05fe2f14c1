"""How many games a second a Dask cluster plays, beside worker processes; and the most that its writer takes.

    python -m tests.bench.cluster [--games N] [--long N] [--rounds N] [--workers 1,2,4]

Everything is on this machine, on the same cores. Games of Blooms on side 3 of instant bots in C
(`sample_bots/c_bot.c`) are short; the longer ones are those of a bot that waits before each move. A machine's
speed drifts: the rows take turns, and what to compare are the ratios. The processor time is that of the
process that gives out the tasks and writes the records, of the scheduler, and of the Dask workers without
what they start.

The writer alone is the referee with a cluster that answers at once, again and again with the reports of one
real encounter under other names: all that the referee does with them is done, and each game is on the disk
before it counts. Where 1,000 machines have 16 games each at a time, choosing a machine is part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.cluster.answers import finished
from referee.cluster.bot_files import SentFiles, sent_files
from referee.cluster.cluster_backend import ClusterBackend
from referee.cluster.cluster_client import ClusterClient, ClusterEvent, Member, Members, OrderAnswered
from referee.cluster.connecting import scheduler_at
from referee.cluster.orders import (
    Greet,
    Greeting,
    MachineAnswer,
    MachineOrder,
    MachineReady,
    Play,
    PlayedTask,
    Prepare,
    Requirement,
)
from referee.cluster.versions import code_digest
from referee.core.seeds import shared_by
from referee.core.text import counted
from referee.processes.tree import children, descendants
from referee.records.journal import body_of
from referee.records.record import from_json, parse_json, to_json
from referee.tournament.file.config import load
from referee.tournament.playing import TournamentPlayer
from referee.tournament.run.hashes import Programs
from referee.tournament.run.lock import locked
from referee.tournament.run.opening import Candidate, examine, open_run, private_files
from referee.tournament.schedule import encounter
from referee.tournament.workers.backend import BackendFactory
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.task import Began, Finished, Player, Report, Task
from tests.bench.tournament import Stopwatch
from tests.needed import compiled, need_package
from tests.processes import namespaces
from tests.processes.clusters import Cluster

ROOT = Path(__file__).parent.parent.parent

MACHINES, SLOTS = 1000, 16

DELAY_S = 0.06
"""What the bot of longer games waits before each move."""


class Measured(NamedTuple):
    """What a row has to say; times in milliseconds of processor time for each game."""

    games: int
    per_second: float
    referee: float
    scheduler: float = 0.0
    workers: float = 0.0


GAMES_OF_ENCOUNTER = 2


class Encounters(Stopwatch):
    """Counts encounters by the first game of each, since a cluster reports all games of one together. Does
    not tell which machines there are.
    """

    def __init__(self, games: int) -> None:
        super().__init__(games // GAMES_OF_ENCOUNTER)
        self._seen: set[str] = set()

    def finished(self, finished: Finished) -> None:
        """Counts the first game of an encounter."""
        encounter = shared_by(finished.game.id)
        if encounter not in self._seen:
            self._seen.add(encounter)
            super().finished(finished)

    def note(self, line: str) -> None:
        """Is not of interest."""


def tournament(folder: Path, bot: str) -> Path:
    """A file of a tournament with more games than are played."""
    lines = ["[tournament]", 'game = "blooms"', "rounds = 1000000", 'seed = "bench"', 'clock = "60s"']
    lines += ['isolation = "none"', "[options]", "size = 3"]
    for name in "ab":
        lines += ["[[bot]]", f'name = "{name}"', f"cmd = {shlex.split(bot)!r}", "shared = true"]
    (folder / "bench.toml").write_text("\n".join(lines))
    return folder / "bench.toml"


def waiting_bot(folder: Path) -> str:
    """The command of a bot that waits before each move."""
    source = (ROOT / "sample_bots" / "plain_bot.py").read_text()
    ask = '        elif word == "ask":\n'
    assert source.count(ask) == 1
    waits = source.replace(ask, f"{ask}            __import__('time').sleep({DELAY_S})\n")
    (folder / "waiting_bot.py").write_text(waits)
    return f"{sys.executable} -I -S {folder / 'waiting_bot.py'}"


def computed_ms(pid: int) -> float:
    """The processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def played(
    file: Path, games: int, at_once: int, open_backend: BackendFactory, sent: SentFiles | None = None
) -> Measured:
    """Measures what it takes to play this many games on a backend."""
    with tempfile.TemporaryDirectory() as name, locked(Path(name) / "run"):
        candidate = examine(load(file), Path(name) / "run", is_here=sent is None)
        if sent:
            candidate = replace(candidate, programs=Programs(sent.hashes_of))
        with open_run(candidate, print) as opened:
            watch = Encounters(games)
            tournament = candidate.tournament
            player = TournamentPlayer(tournament, opened, "nothing", watch, candidate.programs, at_once)
            cpu = time.process_time()
            player.play(open_backend, lambda: watch.enough)
            cpu = time.process_time() - cpu
            return Measured(
                len(opened.state.games),
                watch.per_second * GAMES_OF_ENCOUNTER,
                cpu / len(opened.state.games) * 1000,
            )


def files_of(file: Path) -> tuple[Candidate, SentFiles]:
    """The tournament of a file, and the files of its bots."""
    config = load(file)
    candidate = examine(config, file.parent / "none", is_here=False)
    bots = [entrant.bot for entrant in candidate.tournament.entrants]
    return candidate, sent_files(bots, config.origins, private_files(config, candidate.folder))


def on_cluster(file: Path, games: int, workers: int) -> Measured:
    """The same on a cluster on this machine."""
    from referee.cluster.backend_factory import cluster_backend  # imports `distributed`

    candidate, sent = files_of(file)
    before = children(os.getpid())
    with scheduler_at(f"local:{workers}") as scheduler:
        (top,) = set(children(os.getpid())) - set(before)
        below = descendants(top)
        began = [computed_ms(top), sum(map(computed_ms, below))]
        with cluster_backend(scheduler.address, sent, candidate, print) as machines:
            machines.unfit_bots()
            found = played(
                file, games, scheduler.size.slots, lambda take, stopping: machines.begin(take), sent
            )
        ended = [computed_ms(top), sum(map(computed_ms, below))]
    return found._replace(scheduler=(ended[0] - began[0]) / games, workers=(ended[1] - began[1]) / games)


class Recorded(ClusterClient):
    """A cluster whose machines answer at once, with the reports of a game that was played before."""

    def __init__(self, machines: int, slots: int, reports: list[Report]) -> None:
        self._machines, self._slots = machines, slots
        self._reports = [report for report in reports if isinstance(report, Finished)]
        self._answers: deque[ClusterEvent] = deque()
        self._beat_s = 0.0

    def events(self, seconds: float) -> list[ClusterEvent]:
        """All answers, and now and then who is there."""
        events = [*self._answers]
        self._answers.clear()
        if time.monotonic() - self._beat_s > 1:
            self._beat_s = time.monotonic()
            found = {
                f"tcp://10.0.{number >> 8}.{number & 255}:1": Member(
                    f"w{number}", f"10.0.{number >> 8}.{number & 255}", self._slots, self._beat_s
                )
                for number in range(self._machines)
            }
            events.append(Members(found))
        return events

    def ask(self, key: str, address: str, order: MachineOrder) -> None:
        """Answers."""
        answer: MachineAnswer = None
        match order:
            case Greet():
                answer = Greeting(f"host-{address}", "CPU", "1", code_digest(), ())
            case Prepare(required):
                answer = MachineReady({}, {files.bot.name: {} for files in required.bots}, ())
            case Play(task):
                answer = PlayedTask(tuple(self._renamed(task)))
            case _:
                answer = PlayedTask(())
        self._answers.append(OrderAnswered(key, answer))

    def _renamed(self, task: Task) -> Iterator[Report]:
        for (pairing, _), report in zip(task.games, self._reports, strict=True):
            yield Began(pairing.id)
            record = from_json(parse_json(report.body))
            value = to_json(replace(record, terms=task.plan.terms(pairing)))
            yield finished(body_of(value), report.dialogue)

    def forget(self, key: str) -> None:
        """Nothing is waited for."""

    def tell(self, addresses: list[str], order: MachineOrder) -> None:
        """Nothing is told."""

    def close(self, addresses: list[str]) -> None:
        """Nothing is open."""


def writer(file: Path, games: int, machines: int, slots: int) -> Measured:
    """The most that the referee takes, of reports that are there at once."""
    candidate, sent = files_of(file)
    plan = candidate.tournament.plans[0]
    reports: list[Report] = []
    pairings = encounter(1, plan.names).games
    played_before = Player(reports.append, lambda: False)
    played_before.play(Task(plan, tuple((pairing, 1) for pairing in pairings), "nothing"))
    played_before.close()
    required = Requirement(sent.bots, 2, pin=False, cpu_clocks=False)
    client = Recorded(machines, slots, reports)
    began = time.perf_counter()
    found = played(
        file,
        games,
        machines * slots,
        lambda take, stopping: ClusterBackend(client, required, sent, take).begin(take),
        sent,
    )
    return found._replace(per_second=found.games / (time.perf_counter() - began))


def traffic(file: Path, rounds: int) -> tuple[Counter[str], int]:
    """What passes between the referee and the scheduler, and how many games were played, where machines have
    networks of their own.
    """
    with (
        tempfile.TemporaryDirectory() as name,
        namespaces.network(3) as (first, second, third),
    ):
        found = Cluster(Path(name) / "cluster", on=first)
        try:
            found.add("w1", on=second)
            found.wait()
            text = file.read_text().replace("rounds = 1000000", f"rounds = {rounds}")
            (Path(name) / "t.toml").write_text(text)
            command = [*third.within, sys.executable, "-m", "referee", "run", f"{name}/t.toml"]
            subprocess.run([*command, "--cluster", found.address], check=True, capture_output=True)
            seen = [*third.within, "ip", "-json", "-stats", "link", "show", "eth0"]
            (link,) = json.loads(subprocess.run(seen, check=True, capture_output=True).stdout)
            way = {"rx": "to the referee", "tx": "from the referee"}
            return Counter(
                {
                    f"{unit} {way[direction]}": link["stats64"][direction][unit]
                    for direction in way
                    for unit in ("bytes", "packets")
                }
            ), 2 * rounds
        finally:
            found.close()


def traffic_of_a_game(file: Path, rounds: int) -> str:
    """What passes for each game: what two runs differ by, one of few games and one of many."""
    few, games_few = traffic(file, 2)
    many, games_many = traffic(file, 2 + rounds)
    many.subtract(few)
    return ", ".join(f"{count / (games_many - games_few):.1f} {what}" for what, count in many.items())


def table(kind: str, file: Path, games: int, rounds: int, counts: list[int]) -> str:
    """Worker processes beside a cluster with as many workers."""
    rows: dict[tuple[str, int], list[Measured]] = {}
    for _ in range(rounds):
        for count in counts:
            at_pool = played(file, games, count, local_backend(count))
            rows.setdefault(("processes", count), []).append(at_pool)
            rows.setdefault(("cluster", count), []).append(on_cluster(file, games, count))
    lines = []
    for (where, count), found in rows.items():
        pairs = zip(found, rows["processes", count], strict=True)
        line = [f"{kind}, {where}, {counted(count, 'worker')}"]
        line += [f"{statistics.median(one.per_second for one in found):.1f}"]
        line += [f"{statistics.median(one.per_second / other.per_second for one, other in pairs):.2f}"]
        line += [f"{statistics.median(one[column] for one in found):.1f}" for column in (2, 3, 4)]
        lines.append(line)
    headers = ["", "games a second", "to processes", "referee, ms a game", "scheduler", "Dask workers"]
    return tabulate(lines, headers, disable_numparse=True)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=200, help="short ones of each row")
    parser.add_argument("--long", type=int, default=20, help="longer ones of each row")
    parser.add_argument("--records", type=int, default=2000, help="that the writer alone takes")
    parser.add_argument("--machines", type=int, default=1000, help="of the cluster that the writer has")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--no-traffic", action="store_true", help="bytes and packets are not counted")
    given = parser.parse_args()
    need_package("distributed")
    counts = [int(word) for word in given.workers.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        instant = compiled(ROOT / "sample_bots" / "c_bot.c", folder)
        files = {}
        for kind, bot in (("short", str(instant)), ("longer", waiting_bot(folder))):
            (folder / kind).mkdir()
            files[kind] = tournament(folder / kind, bot)
        rows = []
        for machines, slots in ((1, SLOTS), (given.machines, SLOTS)):
            found = [writer(files["short"], given.records, machines, slots) for _ in range(given.rounds)]
            rows.append(
                [
                    f"{counted(machines, 'machine')} of {slots} games at a time",
                    f"{statistics.median(one.per_second for one in found):.0f}",
                    f"{statistics.median(one.referee for one in found):.2f}",
                ]
            )
        print(tabulate(rows, ["the writer alone", "records a second", "CPU, ms a record"]), flush=True)
        if why := "it was not asked for" if given.no_traffic else namespaces.why_not():
            print(f"bytes and packets are not counted: {why}")
        else:
            for kind, rounds in (("short", given.games // 4), ("longer", given.long // 2)):
                print(f"a game, {kind}: {traffic_of_a_game(files[kind], rounds)}", flush=True)
        print(table("short", files["short"], given.games, given.rounds, counts), flush=True)
        print(table("longer", files["longer"], given.long, given.rounds, counts))
    here = f"{os.cpu_count()} cores; Python {sys.version.split()[0]}"
    print(f"{given.rounds} rounds; isolation none; {here}")


if __name__ == "__main__":
    main()
