"""Connecting to what is a Dask cluster, and to what is not one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee.cluster import connecting
from referee.cluster.connecting import scheduler_at
from referee.core.errors import EnvironmentLacksError
from tests.command import referee
from tests.processes.runs import toml

if TYPE_CHECKING:
    from distributed import Client

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of a cluster on this machine with two Dask workers."""
    from distributed import Client

    with scheduler_at("local:2") as found, Client(found.address, set_as_default=False) as client:
        yield client


def test_a_cluster_on_this_machine_wants_its_own_certificate(client: Client) -> None:
    import dask
    from distributed.security import Security

    address = client.scheduler_info()["address"]
    assert address.startswith("tls://")
    other = Security.temporary()
    configuration = {
        "distributed.comm.tls.ca-file": other.tls_ca_file,
        "distributed.comm.tls.client.cert": other.tls_client_cert,
        "distributed.comm.tls.client.key": other.tls_client_key,
    }
    with dask.config.set(configuration), pytest.raises(EnvironmentLacksError, match="cannot connect"):
        connecting.scheduler_size(address)
    with pytest.raises(EnvironmentLacksError, match="cannot connect"):
        connecting.scheduler_size(address.replace("tls:", "tcp:"))


# --- What is no scheduler ---------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "CONNECT_S", 1)


def says(answer: bytes) -> Callable[[socket.socket], None]:
    def serve(end: socket.socket) -> None:
        with end:
            end.sendall(answer)
            end.recv(1 << 16)

    return serve


def is_silent(end: socket.socket) -> None:
    with end:
        while end.recv(1 << 16):
            pass


@pytest.mark.parametrize(
    ("serve", "why"),
    [
        (is_silent, "no answer from a Dask scheduler within 1 s"),
        (says(b"SSH-2.0-OpenSSH_9.6\r\n"), "it speaks another protocol, expected a Dask scheduler"),
        (socket.socket.close, "Connection reset by peer|it closed the connection, expected a Dask scheduler"),
        (None, "Connection refused|no answer from a Dask scheduler within 1 s"),
    ],
)
def test_what_is_no_scheduler_is_one_line(
    serve: Callable[[socket.socket], Any] | None, why: str, tmp_path: Path
) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"

    def accept() -> None:
        while True:
            try:
                end, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(end,), daemon=True).start()

    thread = threading.Thread(target=accept)
    if serve:
        thread.start()
    else:
        listener.close()
    try:
        done = referee("run", str(toml(tmp_path / "t.toml")), "--dry-run", "--cluster", address)
    finally:
        if serve:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            thread.join()
    assert (done.code, done.out) == (5, "")
    start = f"referee: cannot connect to the cluster at `{address}`: "
    assert done.err.startswith(start) and done.err.count("\n") == 1, done.err
    assert done.err.removeprefix(start).rstrip() in why.split("|")


def test_a_dask_worker_is_no_scheduler(client: Client) -> None:
    (worker, *_) = client.scheduler_info(n_workers=-1)["workers"]
    with pytest.raises(EnvironmentLacksError, match="it is a Worker, expected a Dask scheduler"):
        connecting.scheduler_size(worker)


@pytest.mark.slow
def test_certificates_are_expected_for_tls(client: Client) -> None:
    import dask

    with (
        dask.config.set({"distributed.comm.tls.ca-file": None}),
        pytest.raises(EnvironmentLacksError, match=r"the certificates for TLS in Dask's configuration"),
    ):
        connecting.scheduler_size(client.scheduler_info()["address"])
