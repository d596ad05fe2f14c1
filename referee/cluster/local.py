"""A Dask cluster on this machine: a scheduler with its workers, in processes that end with this one.

They have a session of their own, so that Ctrl-C, which stops the referee after the current games, does not
end them. A scheduler runs whatever it is sent, and other users of the machine and bots can reach its port: so
it takes connections only with a certificate that is made for this cluster alone, and kept in memory.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from referee.core.errors import EnvironmentLacksError
from referee.core.text import shown
from referee.processes import owned
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
    program = f"from referee.cluster.local import main; main({workers})"
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}; {program}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    import dask

    assert process.stdin and process.stdout
    try:
        line = process.stdout.readline() if readable_within(process.stdout, START_S) else b""
        told = json.loads(line or '{"failure": "it does not start"}')
        if failure := told.get("failure"):
            raise EnvironmentLacksError(f"cannot start a Dask cluster on this machine: {shown(failure)}")
        with dask.config.set(told["configuration"]):
            yield told["address"]
    finally:
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        process.kill()
        process.stdout.close()
        process.wait()


def main(workers: int) -> None:
    """Runs a cluster, prints as JSON where it is and how Dask has to be configured for it, and ends it when
    stdin ends.
    """
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    security = Security.temporary()  # guard: own-certificate
    configuration = {
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.client.cert": security.tls_client_cert,
        "distributed.comm.tls.client.key": security.tls_client_key,
    }
    with (
        tempfile.TemporaryDirectory(prefix=owned.prefix("dask")) as folder,
        dask.config.set({"temporary-directory": folder}),
    ):
        try:
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},  # and any free port for the scheduler's web server
                memory_limit=0,  # bots have limits of their own, and are no memory of the worker
                silence_logs=100,
                security=security,
            )
        except (OSError, RuntimeError) as error:
            print(json.dumps({"failure": str(error).partition("\n")[0]}), flush=True)
            return
        with cluster:
            told = {"address": cluster.scheduler_address, "configuration": configuration}
            print(json.dumps(told), flush=True)
            sys.stdin.read()
