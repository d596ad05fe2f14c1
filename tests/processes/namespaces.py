"""Parts of this machine that look like machines of their own, with a network between them."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.processes.clusters import Host

NAMED = Path("/run/netns")

_ALONE = """
hidden=$1 name=$2
shift 2
mount -t tmpfs none "$hidden"
hostname "$name"
exec "$@"
"""
"""Hides a folder from a command, and gives it another name of the machine."""


def why_not() -> str:
    """Why there can be none here; empty where there can."""
    if not all(shutil.which(program) for program in ("ip", "nsenter", "unshare")):
        return "needs `ip`, `nsenter` and `unshare`"
    if os.geteuid():
        return "needs root"
    name = f"referee-{secrets.token_hex(4)}"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True)
    alone = ["unshare", "--mount", "--uts", "mount", "-t", "tmpfs", "none", "/mnt"]
    allowed = tried.returncode == 0 and subprocess.run(alone, capture_output=True).returncode == 0
    return "" if allowed else "namespaces are not allowed"


@contextlib.contextmanager
def network(count: int) -> Iterator[list[Host]]:
    """So many hosts, each with a network namespace of its own, on a network of theirs alone: a bridge in the
    namespace of the first. The interface of each is `eth0`.
    """
    names = [f"referee-{secrets.token_hex(4)}" for _ in range(count)]
    try:
        for name in names:
            _ip(f"netns add {name}")
        _ip(f"-n {names[0]} link add bridge type bridge")
        _ip(f"-n {names[0]} link set bridge up")
        hosts = []
        for number, name in enumerate(names, 1):
            address = f"10.93.0.{number}"
            _ip(f"-n {names[0]} link add port{number} type veth peer name eth0 netns {name}")
            _ip(f"-n {names[0]} link set port{number} master bridge up")
            _ip(f"-n {name} address add {address}/24 dev eth0")
            _ip(f"-n {name} link set eth0 up")
            _ip(f"-n {name} link set lo up")
            hosts.append(Host(address, ("nsenter", f"--net={NAMED / name}")))
        yield hosts
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def alone(host: Host, name: str, hidden: Path) -> Host:
    """A host that calls itself so, and where a folder is empty."""
    unshared = ("unshare", "--mount", "--uts", "sh", "-ec", _ALONE, "sh", str(hidden), name)
    return host._replace(within=(*host.within, *unshared))


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, capture_output=True)
