"""Dask clusters for the tests: a scheduler and workers, each in a folder of its own, started again when they
end, as a service would be.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.holdings import Process, below, processes

AGAIN_S = 0.3
"""Seconds after which what has ended is started again."""

END_S = 20.0
"""Seconds in which it has to end when it is told to."""


class Service:
    """A process that is started again whenever it ends, until it is closed."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, env: dict[str, str]) -> None:
        self.name = name
        self.starts = 0
        self._command = command
        self._folder = folder
        self._env = env
        self._closing = threading.Event()
        self._process = self._start()
        self._thread = threading.Thread(target=self._keep_up, daemon=True)
        self._thread.start()

    def _start(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _keep_up(self) -> None:
        while True:
            self._process.wait()
            if self._closing.wait(AGAIN_S):
                return
            self._process = self._start()

    @property
    def pid(self) -> int:
        """Of the process that runs now, or ran last."""
        return self._process.pid

    @property
    def family(self) -> list[Process]:
        """The process and all below it, the ones above before the ones below; zombies left out."""
        listed = processes()
        found = [one for one in listed if one.pid == self.pid] + below(self.pid, listed)
        return [one for one in found if not one.state.startswith("Z")]

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process alone."""
        send(number, [self.pid])

    def close(self) -> None:
        """Ends it, and does not start it again."""
        self._closing.set()
        told = 0
        until_s = time.monotonic() + END_S
        while self._thread.is_alive():
            if time.monotonic() > until_s:
                self.signal(signal.SIGKILL)
            elif told != self.pid:  # it may have been started again just now
                told = self.pid
                self.signal(signal.SIGCONT)
                self.signal(signal.SIGTERM)
            self._thread.join(0.1)


def send(number: signal.Signals, pids: Sequence[int]) -> None:
    """Sends a signal to processes, as far as they are there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Host(NamedTuple):
    """What a process of a cluster runs on: this machine, or a part of it that looks like another one."""

    address: str
    within: tuple[str, ...] = ()
    """The words of a command that runs the command after it there, as the same process."""


THIS_MACHINE = Host("127.0.0.1")


class Cluster:
    """A scheduler and workers on this machine."""

    def __init__(self, folder: Path, env: dict[str, str] | None = None, on: Host = THIS_MACHINE) -> None:
        """Starts the scheduler. All is in the folder: logs, the stores of the workers, and in `tmp` what is
        temporary; `env` is added to the environment of all processes.
        """
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        own = {"TMPDIR": str(self.temporary), "DASK_TEMPORARY_DIRECTORY": str(folder / "dask")}
        self.env = {**os.environ, **own, "PYTHONUNBUFFERED": "1", **(env or {})}
        self.port = free_port()
        self.address = f"tcp://{on.address}:{self.port}"
        self.workers: list[Service] = []
        words = ("--port", str(self.port), "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        self.scheduler = self._service("scheduler", on, "scheduler", "--host", on.address, *words)

    def add(self, name: str, *words: str, on: Host = THIS_MACHINE) -> Service:
        """Adds a worker, with the words of its command; the machine has no limit of memory."""
        common = ("--host", on.address, "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        place = ("--name", name, "--memory-limit", "0", "--local-directory", str(self.folder / name))
        worker = self._service(name, on, "worker", self.address, *common, *place, *words)
        self.workers.append(worker)
        return worker

    def _service(self, name: str, on: Host, *words: str) -> Service:
        folder = self.folder / name
        folder.mkdir()
        env = {**self.env, "XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder)}
        return Service(name, [*on.within, sys.executable, "-m", "dask", *words], folder, env)

    def wait(self) -> None:
        """Waits until all workers have begun to listen for the first time."""
        deadline = time.monotonic() + 60
        while not all(b"Registered to" in (self.folder / w.name / "log").read_bytes() for w in self.workers):
            assert time.monotonic() < deadline, "the cluster does not start"
            time.sleep(0.1)

    def close(self) -> None:
        """Ends the workers, then the scheduler."""
        for service in [*self.workers, self.scheduler]:
            service.close()

    def left(self) -> list[str]:
        """What is there of it after its end: the command lines of processes, and temporary files."""
        return [process.command for process in self.processes()] + [
            str(path) for path in self.temporary.iterdir()
        ]

    def processes(self) -> list[Process]:
        """All processes that have anything to do with the folder, wherever they hang now."""
        return [
            process
            for process in processes()
            if process.pid != os.getpid() and not process.state.startswith("Z") and self._is_ours(process)
        ]

    def _is_ours(self, process: Process) -> bool:
        word = str(self.folder)
        with contextlib.suppress(OSError):
            here = Path(f"/proc/{process.pid}")
            about = [process.command, (here / "environ").read_text(errors="replace")]
            return any(word in text for text in [*about, str((here / "cwd").readlink())])
        return word in process.command


@contextlib.contextmanager
def cluster(
    folder: Path, workers: Sequence[Sequence[str]], env: dict[str, str] | None = None
) -> Iterator[Cluster]:
    """A cluster with a worker for each of the lists of words of a command; ended at the end."""
    found = Cluster(folder, env)
    try:
        for number, words in enumerate(workers, 1):
            found.add(f"w{number}", *words)
        found.wait()
        yield found
    finally:
        found.close()


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
