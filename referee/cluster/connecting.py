"""Connects to a Dask cluster, which is named by the address of its scheduler, or made on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from referee.core.errors import EnvironmentLacksError, UsageError
from referee.core.text import shown

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security

PACKAGES = ("distributed", "cryptography")

CONNECT_S = 10
"""Seconds after which a scheduler that cannot be reached is given up."""

LOCAL = "local:"
MOST_LOCAL = 1000

EXPECTED = "expected `tcp://HOST:PORT` or `tls://HOST:PORT` of a Dask scheduler, or `local:N`"

_SILENT = logging.CRITICAL + 1
_LOUD = ("distributed", "tornado", "asyncio", "bokeh")
"""The loggers of Dask and of what it uses: they would write to stderr what is told in one line already."""


def checked_address(text: str) -> str:
    """The address of a cluster as it is given, if it has one of the forms. Raises `UsageError`."""
    if text.startswith(LOCAL):
        number = text.removeprefix(LOCAL)
        if number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= MOST_LOCAL:
            return text
        raise UsageError(f"cluster `{shown(text)}`: expected a number from 1 to {MOST_LOCAL} after `{LOCAL}`")
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
        good = good and not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        good = False
    if not good or not text.isprintable() or " " in text:
        raise UsageError(f"cluster `{shown(text)}`: {EXPECTED}")
    return text


@contextlib.contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of the cluster at an address; with `local:N`, of one with N processes on this machine, which
    are ended at the end.

    Nothing of what Dask logs in this process appears on stderr. Raises `UsageError` for a wrong address, and
    `EnvironmentLacksError` where the packages for clusters are missing or nothing can be reached.
    """
    checked_address(address)
    require_packages()
    _silence()
    with contextlib.ExitStack() as stack:
        security = _security(address)
        if address.startswith(LOCAL):
            address = stack.enter_context(_local_cluster(int(address.removeprefix(LOCAL)), security))
        client = _client(address, security)
        stack.callback(client.close, timeout=CONNECT_S)
        yield client


def require_packages() -> None:
    """Raises `EnvironmentLacksError` where the packages for clusters are not installed."""
    for package in PACKAGES:
        try:
            import_module(package)
        except ImportError:
            raise EnvironmentLacksError(
                f"clusters need the package `{package}`: `pip install 'game-referee[cluster]'`"
            ) from None


def _security(address: str) -> Security:
    """TLS as Dask is configured; on this machine, with a certificate that is made for this cluster alone: a
    scheduler runs whatever it is sent, by bots and other users of the machine too.
    """
    from distributed.security import Security

    if address.startswith(LOCAL):  # guard: own-certificate
        return Security.temporary()
    return Security()


def _silence() -> None:
    from distributed.versions import VersionMismatchWarning

    for name in [*_LOUD, *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in _LOUD:
            logging.getLogger(name).setLevel(_SILENT)
    # Versions of Dask that do not fit are an error of their own; of the rest, only the referee's matter.
    warnings.simplefilter("ignore", VersionMismatchWarning)


@contextlib.contextmanager
def _local_cluster(workers: int, security: Security) -> Iterator[str]:
    """The address of the scheduler of a new cluster on this machine."""
    from distributed import LocalCluster

    try:
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},  # and any free port for the scheduler's web server
            memory_limit=0,  # bots have limits of their own, and are no memory of the worker
            silence_logs=_SILENT,
            security=security,
        )
    except (OSError, RuntimeError) as error:
        raise EnvironmentLacksError(f"no cluster can be started here: {shown(str(error))}") from None
    try:
        yield cluster.scheduler_address
    finally:
        cluster.close(timeout=CONNECT_S)


def _client(address: str, security: Security) -> Client:
    """A client that is connected. What is at the address is asked first whether it is a scheduler, since a
    client that was given anything else may wait for ever and cannot be closed.
    """
    from distributed import Client

    try:
        lack = asyncio.run(_lack(address, security))
        if not lack:
            return Client(address, security=security, timeout=CONNECT_S, set_as_default=False, name="referee")
    except Exception as error:  # Dask passes on whatever the other side made it raise
        lack = _reason(error)
    raise EnvironmentLacksError(f"cannot connect to the cluster at `{shown(address)}`: {lack}")


async def _lack(address: str, security: Security) -> str:
    """Why what is at an address is no scheduler that can be used, or an empty text."""
    from distributed.core import rpc

    arguments = security.get_connection_args("client")
    if address.startswith("tls:") and not arguments["ssl_context"]:
        return "expected the certificates for TLS in Dask's configuration (`distributed.comm.tls`)"
    async with (
        asyncio.timeout(CONNECT_S + 1),
        rpc(address, timeout=CONNECT_S, connection_args=arguments) as remote,
    ):
        try:
            kind = (await remote.identity(n_workers=0)).get("type")
        except TypeError:  # older schedulers and all workers do not know this argument
            kind = (await remote.identity()).get("type")
            if kind == "Scheduler":
                return "its version of Dask is too old, expected 2025.4 or later"
    return "" if kind == "Scheduler" else f"expected a Dask scheduler, and it is a {shown(str(kind))}"


def _reason(error: BaseException) -> str:
    """What went wrong, in a few words: the first cause tells more than the error that was made of it."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    match cause:
        case TimeoutError() | asyncio.CancelledError():
            return f"no answer of a Dask scheduler within {CONNECT_S} s"
        case OSError(strerror=str(text)):
            return shown(text)
        case OSError():
            return "it closed the connection, expected a Dask scheduler"
        case MemoryError() | ValueError() | EOFError():
            return "expected a Dask scheduler, and it speaks another protocol"
    return shown(str(cause) or type(cause).__name__)
