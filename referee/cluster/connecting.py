"""Connects to a Dask cluster, which is named by the address of its scheduler, or made on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple
from urllib.parse import urlsplit

from referee.core.errors import EnvironmentLacksError, UsageError
from referee.core.text import shown
from referee.processes import owned
from referee.processes.beside import running_beside

PACKAGES = ("distributed", "cryptography")

CONNECT_S = 10  # seconds after which a scheduler that cannot be reached is given up

LOCAL = "local:"
MAX_LOCAL = 1000

EXPECTED = "expected `tcp://HOST:PORT` or `tls://HOST:PORT` of a Dask scheduler, or `local:N`"

_SILENT = logging.CRITICAL + 1
_LOUD = ("distributed", "tornado", "asyncio", "bokeh")
"""The loggers of Dask and of what it uses: they would write to stderr what is told in one line already."""


def checked_address(text: str) -> str:
    """The address of a cluster as it is given, if it has one of the forms. Raises `UsageError`."""
    if text.startswith(LOCAL):
        number = text.removeprefix(LOCAL)
        if number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= MAX_LOCAL:
            return text
        raise UsageError(f"cluster `{shown(text)}`: expected a number from 1 to {MAX_LOCAL} after `{LOCAL}`")
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
        good = good and not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        good = False
    if not good or not text.isprintable() or " " in text:
        raise UsageError(f"cluster `{shown(text)}`: {EXPECTED}")
    return text


class ClusterSize(NamedTuple):
    """How large a cluster is at the moment."""

    machines: int
    slots: int  # how many games it plays at a time


class Scheduler(NamedTuple):
    """A scheduler that answers."""

    address: str
    size: ClusterSize


@contextlib.contextmanager
def scheduler_at(address: str) -> Iterator[Scheduler]:
    """A scheduler that answers; with `local:N`, one with N workers on this machine, which are ended at the
    end.

    Nothing of what Dask logs in this process appears on stderr. Raises `UsageError` for a wrong address, and
    `EnvironmentLacksError` where the packages for clusters are missing or nothing can be reached.
    """
    checked_address(address)
    require_packages()
    _silence()
    with contextlib.ExitStack() as stack:
        if address.startswith(LOCAL):
            address = stack.enter_context(local_cluster(int(address.removeprefix(LOCAL))))
        yield Scheduler(address, scheduler_size(address))


def size_of(address: str) -> ClusterSize:
    """The size of the cluster at an address, as `scheduler_at` takes it; none is started for it. Raises as
    that does.
    """
    checked_address(address)
    require_packages()
    if address.startswith(LOCAL):
        return ClusterSize(1, int(address.removeprefix(LOCAL)))
    _silence()
    return scheduler_size(address)


def require_packages() -> None:
    """Raises `EnvironmentLacksError` where the packages for clusters are not installed."""
    for package in PACKAGES:
        try:
            import_module(package)
        except ImportError:
            raise EnvironmentLacksError(
                f"playing on a cluster requires the package `{package}`, which "
                "`pip install -e '.[cluster]'` installs in a checkout"
            ) from None


def _silence() -> None:
    from distributed.versions import VersionMismatchWarning

    for name in [*_LOUD, *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in _LOUD:
            logging.getLogger(name).setLevel(_SILENT)
    # Versions of Dask that do not fit are an error of their own; of the rest, only the referee's matter.
    warnings.simplefilter("ignore", VersionMismatchWarning)


def scheduler_size(address: str) -> ClusterSize:
    """The size of the cluster of a scheduler. Raises `EnvironmentLacksError` where there is no scheduler:
    what is at the address is asked first whether it is one, since a client that was given anything else may
    wait forever and cannot be closed.
    """
    try:
        found = asyncio.run(_asked(address))
    except Exception as error:  # Dask passes on whatever the other side made it raise
        found = reason(error, CONNECT_S)
    if isinstance(found, str):
        raise EnvironmentLacksError(f"cannot connect to the cluster at `{shown(address)}`: {found}")
    return found


async def _asked(address: str) -> ClusterSize | str:
    """The size of a cluster, or why what is at an address is no scheduler that can be used."""
    from distributed.core import rpc
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    if address.startswith("tls:") and not arguments["ssl_context"]:
        return "expected the certificates for TLS in Dask's configuration (`distributed.comm.tls`)"
    async with (
        asyncio.timeout(CONNECT_S + 1),
        rpc(address, timeout=CONNECT_S, connection_args=arguments) as remote,
    ):
        try:
            found = await remote.identity(n_workers=-1)
        except TypeError:  # older schedulers and all workers do not know this argument
            found = await remote.identity()
            if found.get("type") == "Scheduler":
                return "its version of Dask is too old, expected 2025.4 or later"
    if found.get("type") != "Scheduler":
        return f"it is a {shown(str(found.get('type')))}, expected a Dask scheduler"
    workers = found["workers"].values()
    hosts = {worker["host"] for worker in workers}
    return ClusterSize(len(hosts), sum(int(worker["nthreads"]) for worker in workers))


def reason(error: BaseException, seconds: float) -> str:
    """Why there is no connection, where this many seconds were waited for one, in a few words: the first
    cause tells more than the error that was made of it.
    """
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    match cause:
        case TimeoutError() | asyncio.CancelledError():
            return f"no answer from a Dask scheduler within {seconds:.0f} s"
        case OSError(strerror=str(text)):
            return shown(text)
        case OSError():
            return "it closed the connection, expected a Dask scheduler"
        case MemoryError() | ValueError() | EOFError():
            return "it speaks another protocol, expected a Dask scheduler"
    return shown(str(cause) or type(cause).__name__)


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """The address of the scheduler of a new cluster on this machine, whose workers play a game each, in
    processes that end with this one.

    A scheduler runs whatever it is sent, and other users of the machine and bots can reach its port: so it
    takes connections only with a certificate that is made for this cluster alone, and kept in memory.

    Raises `EnvironmentLacksError` where it does not start.
    """
    program = f"from referee.cluster.connecting import main; main({workers})"
    with running_beside(program, subprocess.DEVNULL) as line:
        import dask

        told = json.loads(line or '{"failure": "it does not start"}')
        if failure := told.get("failure"):
            raise EnvironmentLacksError(f"cannot start a Dask cluster on this machine: {shown(failure)}")
        with dask.config.set(told["configuration"]):
            yield told["address"]


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
