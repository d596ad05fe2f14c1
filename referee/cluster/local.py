"""A Dask cluster on this machine: a scheduler with its workers, in processes that end with this one.

They have a session of their own, so that Ctrl-C, which stops the referee after the current games, does not
end them.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from referee.core.errors import EnvironmentLacksError
from referee.core.text import shown
from referee.processes.launcher import readable_within

START_S = 60.0
"""Seconds that a cluster may take to start."""

END_S = 10.0
"""Seconds that it may take to end."""


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """The address of the scheduler of a new cluster, whose workers play a game each.

    Raises `EnvironmentLacksError` where it does not start.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "referee.cluster.local", str(workers)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin and process.stdout
    try:
        address = ""
        if readable_within(process.stdout, START_S):
            address = process.stdout.readline(1000).decode(errors="replace").strip()
        if not address.startswith("tcp://"):
            why = shown(address, 200) or "it does not start"
            raise EnvironmentLacksError(f"no Dask cluster can be started here: {why}")
        yield address
    finally:
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        process.kill()
        process.stdout.close()
        process.wait()


def main(workers: int) -> None:
    """Runs a cluster, prints its address, and ends it when stdin ends."""
    from distributed import LocalCluster

    try:
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},  # and any free port for the scheduler's web server
            memory_limit=0,  # bots have limits of their own, and are no memory of the worker
            silence_logs=100,
        )
    except (OSError, RuntimeError) as error:
        print(str(error).partition("\n")[0], flush=True)
        return
    with cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]))
