"""Where the processes of a Dask cluster listen, and who can connect to them."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from referee.core.text import listed, shown
from referee.machine.doctor import Finding, Severity

if TYPE_CHECKING:
    from distributed import Client

LISTENING = "0A"
"""The state of a socket that takes connections, in the kernel's tables."""

MAX_PORTS = 20
"""Ports of a process that are looked at: what a machine says of itself may be anything."""

Ports = Mapping[str, Sequence[str]]
"""By process, as people call it, the addresses where it listens: `192.168.1.10:8786`."""


def ports_of_cluster(client: Client) -> Ports:
    """Returns the addresses where the scheduler, the Dask workers and their nannies listen, as far as they
    know.
    """
    found: dict[str, object] = {}
    with contextlib.suppress(Exception):  # such as a scheduler without the referee
        found["the scheduler"] = client.run_on_scheduler(listening_here)
    with contextlib.suppress(Exception):
        of_workers = client.run(listening_here, on_error="return")
        found |= {f"the Dask worker {worker}": ports for worker, ports in of_workers.items()}
    return {
        shown(name, 200): [shown(str(port), 60) for port in ports[:MAX_PORTS]]
        for name, ports in found.items()
        if isinstance(ports, list)
    }


def listening_here() -> list[str]:
    """Returns the addresses where this process listens, and its parent if that is a nanny of Dask."""
    processes = [os.getpid()]
    with contextlib.suppress(OSError):
        if b"dask" in Path(f"/proc/{os.getppid()}/cmdline").read_bytes():
            processes.append(os.getppid())
    sockets = {inode for process in processes for inode in _sockets_of(process)}
    return sorted(
        address
        for table in ("tcp", "tcp6")
        for address, inode in _listening(Path("/proc/net", table))
        if inode in sockets
    )


def _sockets_of(process: int) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                link = str(descriptor.readlink())
                if link.startswith("socket:["):
                    yield link[len("socket:[") : -1]


def _listening(table: Path) -> Iterator[tuple[str, str]]:
    """The address and the inode of each socket that takes connections."""
    with contextlib.suppress(OSError):
        for line in table.read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == LISTENING:
                host, _, port = local.partition(":")
                # The kernel writes each word of an address in the order of bytes of the machine.
                words = [bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8)]
                address = ipaddress.ip_address(b"".join(words))
                shown_host = f"[{address}]" if address.version == 6 else str(address)
                yield f"{shown_host}:{int(port, 16)}", rest[5]


def access(scheduler: str, ports: Ports) -> Iterator[Finding]:
    """Reports who can connect to a cluster, and thereby run programs: a finding for what is open to all
    addresses, and one that says what is open at all.
    """
    wide = {
        name: [port for port in open_there if port.startswith(("0.0.0.0:", "[::]:"))]
        for name, open_there in ports.items()
    }
    for name, open_to_all in wide.items():
        if open_to_all:
            yield Finding(
                "access",
                Severity.WARNING,
                f"{name} listens on all addresses of its machine: {listed(open_to_all)}",
                "any machine that shares a network with that machine can connect there",
                "give `--host` and `--dashboard-address` one address each, see `referee docs CLUSTER`",
            )
    where = "; ".join(f"{name}: {listed(list(open_there))}" for name, open_there in ports.items())
    if scheduler.startswith("tls:"):
        yield Finding(
            "access",
            Severity.FINE,
            f"TLS; {where or 'ports unknown'}",
            "only clients with the certificate can connect",
        )
    else:
        yield Finding(
            "access",
            Severity.WARNING,
            f"no TLS; {where or 'ports unknown'}",
            "anyone who can connect to the scheduler or to a Dask worker can run programs there",
            "use TLS, or a network in which everyone may do that, see `referee docs CLUSTER`",
        )
