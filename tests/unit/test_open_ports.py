"""Who can connect to a cluster: what is told of its ports, and how a process finds its own."""

from __future__ import annotations

import socket

from referee.cluster.open_ports import access, listening_here
from referee.machine.doctor import Severity

TLS, TCP = "tls://192.168.1.10:8786", "tcp://192.168.1.10:8786"
BOUND = {"the scheduler": ["192.168.1.10:8786", "127.0.0.1:8787"], "the Dask worker B": ["192.168.1.11:8788"]}


def test_a_process_finds_where_it_listens() -> None:
    before = set(listening_here())
    with socket.create_server(("127.0.0.1", 0)) as narrow, socket.create_server(("", 0)) as wide:
        ports = {f"127.0.0.1:{narrow.getsockname()[1]}", f"0.0.0.0:{wide.getsockname()[1]}"}
        assert set(listening_here()) - before == ports
    with socket.create_server(("::", 0), family=socket.AF_INET6) as wider:
        assert set(listening_here()) - before == {f"[::]:{wider.getsockname()[1]}"}


def test_a_cluster_with_tls_on_one_address_each_is_fine() -> None:
    (finding,) = access(TLS, BOUND)
    assert finding.level is Severity.FINE
    assert "192.168.1.10:8786" in finding.measured and "192.168.1.11:8788" in finding.measured


def test_a_cluster_without_tls_is_warned_of() -> None:
    (finding,) = access(TCP, BOUND)
    assert finding.level is Severity.WARNING and "can run programs" in finding.meaning


def test_what_listens_on_all_addresses_is_named() -> None:
    for port in ("0.0.0.0:8787", "[::]:8787"):
        warned, _ = access(TLS, {**BOUND, "the Dask worker C": ["192.168.1.12:8788", port]})
        assert warned.level is Severity.WARNING
        assert warned.measured == f"the Dask worker C listens on all addresses of its machine: {port}"


def test_a_cluster_that_does_not_say_where_it_listens_is_not_called_closed() -> None:
    (finding,) = access(TLS, {})
    assert "ports unknown" in finding.measured
