"""How many workers one process that schedules games can feed.

    python -m tests.bench.scheduler [--workers N,N,…] [--ms N] [--seconds N] [--isolation LEVEL]

Simulated workers sleep for as long as a game takes (`--ms`), and answer with a record that was made before:
so they take nearly no processor time, and as many as are wanted can wait at once. Real ones play instant
bots in C at Blooms on side 4, as many as there are cores. Everything else is what a run has: tasks and
reports go through the sockets of the pool, each game is on the disk before it counts, and the plain lines of
progress are written (to nowhere). Of each round the first games are left out, until all workers have begun.

`of what they could` compares the games with those that so many workers would play if nothing but the games
took time: for real ones, with those of one worker. `scheduler µs` is the processor time of the scheduling
process for each game, and `feeds` the number of workers whose games of this length would use up a core of
its own; `syncs` is how often the records were synced, for each game.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any
from unittest import mock

from tabulate import tabulate

from referee.cli.progress import ProgressLines, RunInfo
from referee.core.cores import usable_cores
from referee.core.isolation import AUTO, LEVELS
from referee.core.pairing import Pairing
from referee.core.stop import SIGNALS
from referee.processes.bot import Bot
from referee.processes.levels import settled
from referee.records.journal import body_of
from referee.records.record import Summary, summary_of, to_json
from referee.tournament.file.config import load
from referee.tournament.plan import Plan
from referee.tournament.playing import TournamentPlayer
from referee.tournament.run.lock import locked
from referee.tournament.run.opening import examine, open_run, with_hidden_files
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.message_socket import MessageSocket
from referee.tournament.workers.task import Began, Finished, Task, Void
from referee.tournament.workers.worker import WorkerSignal
from tests.needed import compiled
from tests.tools.synthetic import played

ROOT = Path(__file__).parent.parent.parent

GAMES_TO_BEGIN = 2
"""For each worker, the games that are left out at the beginning."""


class Counting(ProgressLines):
    """Counts the games, and the syncs of their records, once all workers have begun."""

    def __init__(self, info: RunInfo, seconds: float) -> None:
        super().__init__(info)
        self.workers = info.workers
        self._left_out = GAMES_TO_BEGIN * info.workers
        self._seconds = seconds
        self._began: tuple[float, float, int] | None = None
        self._counted = 0
        self.syncs = 0
        self.result = (0.0, 0.0, 0.0)
        """Games a second, processor microseconds for each, and syncs for each."""
        self.enough = False

    def finished(self, finished: Finished) -> None:
        """Counts a game."""
        super().finished(finished)
        now = time.perf_counter(), time.process_time(), self.syncs
        if self._began is None:
            self._left_out -= 1
            self._began = None if self._left_out else now
            return
        self._counted += 1
        wall_s, cpu_s, syncs = (end - begin for end, begin in zip(now, self._began, strict=True))
        self.result = self._counted / wall_s, cpu_s / self._counted * 1e6, syncs / self._counted
        self.enough = wall_s >= self._seconds

    def void(self, void: Void, then: str) -> None:
        """Ends the benchmark, since it spoils the measurement."""
        sys.exit(void.error)

    def fsync(self, descriptor: int) -> None:
        """Syncs a file, and counts that."""
        self.syncs += 1
        _FSYNC(descriptor)


_FSYNC = os.fsync


class Sleeper:
    """A simulated worker, in a process that is forked in place of the program of a worker.

    It has what the pool uses of `subprocess.Popen`.
    """

    def __init__(self, descriptor: int, answer: Callable[[Pairing, int], Finished], game_s: float) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if not self.pid:
            try:
                _sleep_and_answer(descriptor, answer, game_s)
            finally:
                os._exit(0)

    def poll(self) -> int | None:
        """Whether it has ended."""
        if self.returncode is None and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.returncode = 0
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal."""
        os.kill(self.pid, number)

    def wait(self, seconds: float) -> None:
        """Waits for its end; it was killed."""
        if self.returncode is None:
            os.waitpid(self.pid, 0)
            self.returncode = -signal.SIGKILL


def _sleep_and_answer(descriptor: int, answer: Callable[[Pairing, int], Finished], game_s: float) -> None:
    """What a simulated worker does, until the scheduler is gone."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    message_socket = MessageSocket(socket.socket(fileno=descriptor), waits=True)
    while message_socket.is_open:
        for order in message_socket.receive():
            if isinstance(order, Task):
                for pairing, attempt in order.games:
                    message_socket.send(Began(pairing.id))
                    time.sleep(game_s)
                    message_socket.send(answer(pairing, attempt))
            message_socket.send(WorkerSignal.DONE)


def recorded(plan: Plan) -> Callable[[Pairing, int], Finished]:
    """Gives a report of any game of a plan: that of a game that was played once, with other names."""
    first = Pairing.of(1, plan.names[:2])
    record = played(plan.terms(first), random.Random(1))
    body, summary = body_of(to_json(record)), summary_of(record)
    id_part, bots_part = (_member(name, value) for name, value in (("id", first.id), ("bots", first.bots)))
    assert body.count(id_part) == body.count(bots_part) == 1
    timed, off_turn = Counter(all=len(record.events)), Counter[tuple[str, str]]()

    def finished(pairing: Pairing, attempt: int) -> Finished:
        game: Summary = summary._replace(id=pairing.id, bots=pairing.bots, attempt=attempt)
        named = body.replace(id_part, _member("id", pairing.id))
        return Finished(game, named.replace(bots_part, _member("bots", pairing.bots)), timed, off_turn, "")

    return finished


def _member(name: str, value: object) -> bytes:
    return json.dumps({name: value}, separators=(",", ":"))[1:-1].encode()


@contextmanager
def simulated(plan: Plan, game_s: float) -> Iterator[None]:
    """Has the pool start simulated workers."""
    answer = recorded(plan)

    def start(arguments: object, *, pass_fds: list[int], **others: object) -> Sleeper:
        return Sleeper(pass_fds[0], answer, game_s)

    with mock.patch("referee.tournament.workers.pool.subprocess.Popen", start):
        yield


def toml(bot: Path, bots: int) -> str:
    """A tournament with more games than are played."""
    lines = ["[tournament]", 'game = "blooms"', "rounds = 1000000", 'seed = "bench"', 'clock = "10s"']
    lines += ["[options]", "size = 4"]
    for number in range(bots):
        lines += ["[[bot]]", f'name = "bot-{number}"', f'cmd = ["{bot}"]']
    return "\n".join(lines)


def play(bot: Path, workers: int, seconds: float, isolation: str, game_s: float | None) -> Counting:
    """Plays with simulated workers, whose games take so long, or with real ones for None."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bench.toml").write_text(toml(bot, 16))
        config = load(folder / "bench.toml")
        with locked(folder / "run"):
            candidate = with_hidden_files(examine(config, folder / "run", isolation))
            with open_run(candidate, print) as opened, Path(os.devnull).open("w") as nowhere:
                tournament, total = candidate.tournament, opened.games_in_all.games
                info = RunInfo(tournament.names, 2, total, opened.state.games, workers)
                counting = Counting(info, seconds)
                player = TournamentPlayer(
                    tournament, opened, config.keep, counting, candidate.programs, workers
                )
                backend = local_backend(workers)
                with mock.patch.object(os, "fsync", counting.fsync), redirect_stderr(nowhere):
                    if game_s is None:
                        player.play(backend, lambda: counting.enough)
                    else:
                        with simulated(tournament.plans[0], game_s):
                            player.play(backend, lambda: counting.enough)
                return counting


def row(name: str, counting: Counting, possible: float) -> list[Any]:
    """A row of the table; `possible` games a second if only the games took time."""
    rate, cpu_us, syncs = counting.result
    feeds = possible / counting.workers * cpu_us / 1e6
    return [
        name,
        f"{rate:.0f}",
        f"{rate / possible:.2f}",
        f"{cpu_us:.0f}",
        f"{1 / feeds:.0f}",
        f"{syncs:.2f}",
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workers", default="1,2,4,8,16,32,64")
    parser.add_argument("--ms", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--isolation", choices=(*LEVELS, AUTO), default=AUTO)
    arguments = parser.parse_args()
    (asked,) = settled([Bot("asked", ("true",), ROOT, isolation=arguments.isolation)])
    level, game_s = asked.isolation, arguments.ms / 1000
    table = []
    with tempfile.TemporaryDirectory() as folder:
        bot = compiled(ROOT / "sample_bots" / "c_bot.c", Path(folder))
        for count in map(int, arguments.workers.split(",")):
            counting = play(bot, count, arguments.seconds, level, game_s)
            table.append(row(f"{count} simulated", counting, count / game_s))
        alone = 0.0
        for count in range(1, len(usable_cores()) + 1):
            counting = play(bot, count, arguments.seconds, level, None)
            alone = alone or counting.result[0]
            table.append(row(f"{count} real", counting, count * alone))
    headers = ["workers", "games a second", "of what they could", "scheduler µs", "feeds", "syncs"]
    print(tabulate(table, headers, disable_numparse=True))
    print(f"simulated games take {arguments.ms:g} ms; isolation {level}; Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
