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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from referee.processes.tree import children
from tests.holdings import Process, below, processes
from tests.waiting import eventually

STARTED = "the service is started"

_KEEPS_UP = f'while :; do echo "{STARTED}"; "$@"; sleep 0.3; done'
"""Words of a shell that starts a command again whenever it ends."""


class Service:
    """A process that is started again whenever it ends, until it is closed."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, env: dict[str, str]) -> None:
        """`folder` is its working directory, where all that it writes is in the file `log`."""
        self.name = name
        self._log = folder / "log"
        with self._log.open("ab") as log:
            self._shell = subprocess.Popen(
                ["sh", "-c", _KEEPS_UP, "sh", *command],
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        """What it has written."""
        return self._log.read_text(errors="replace")

    @property
    def starts(self) -> int:
        """How often it was started."""
        return self.log.splitlines().count(STARTED)

    @property
    def pid(self) -> int:
        """Of the process that runs, or waits to be started again."""
        return eventually(lambda: children(self._shell.pid))[0]

    @property
    def family(self) -> list[Process]:
        """The process and all below it, the ones above before the ones below; zombies left out."""
        return [one for one in below(self._shell.pid, processes()) if not one.state.startswith("Z")]

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process alone."""
        send(number, [self.pid])

    def close(self) -> None:
        """Ends it, and does not start it again."""
        pid = self.pid
        self._shell.kill()
        self._shell.wait()
        send(signal.SIGCONT, [pid])
        send(signal.SIGTERM, [pid])
        try:
            eventually(
                lambda: not any(one.pid == pid and not one.state.startswith("Z") for one in processes())
            )
        except AssertionError:
            send(signal.SIGKILL, [pid])
            raise


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
        eventually(lambda: all("Registered to" in worker.log for worker in self.workers))

    @property
    def services(self) -> list[Service]:
        """The workers and the scheduler."""
        return [*self.workers, self.scheduler]

    def close(self) -> None:
        """Ends the workers, then the scheduler."""
        for service in self.services:
            service.close()

    def left(self) -> list[str]:
        """What is there of it after its end: the command lines of processes, and temporary files."""
        files = [str(path) for path in self.temporary.iterdir() if not _is_trial(path)]
        return [process.command for process in self.processes()] + files

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


def _is_trial(path: Path) -> bool:
    """Whether a file is one that Python's `tempfile` makes to try a folder, and removes at once: a process
    that is killed at this moment leaves it.
    """
    return path.is_file() and path.read_bytes() in (b"", b"blat") and len(path.name) == 8


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
