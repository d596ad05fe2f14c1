"""Connecting to what is a Dask cluster and to what is none, and measuring the machines of one."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import referee
from referee.cli import machines
from referee.cluster import connecting, measuring
from referee.cluster.comparing import UnmeasuredMachine
from referee.cluster.connecting import connected
from referee.cluster.measuring import KnownMachine, hosts, measure_hosts
from referee.core.errors import EnvironmentLacksError
from tests.command import referee as run_referee

if TYPE_CHECKING:
    from distributed import Client

pytest.importorskip("distributed")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of a cluster on this machine with two Dask workers."""
    with connected("local:2") as found:
        yield found


def test_the_machines_of_a_cluster_are_measured_and_compared(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "ANSWER_S", 300)  # other tests may keep all cores busy
    done = run_referee("doctor", "--cluster", client.scheduler_info()["address"], "--json")
    assert done.code == 0 and done.err.startswith("measuring 1 machine;") and done.err.count("\n") == 1, (
        done.err
    )
    data = json.loads(done.out)
    (machine,) = data["machines"]
    assert (machine["address"], machine["slots"], machine["speed_percent"]) == ("127.0.0.1", 2, 100)
    assert machine["failure"] == "" and data["referee"] == referee.__version__
    report = machine["report"]
    assert report["can_run"] is True and report["figures"]["workers"] == 2
    speed = report["figures"]["speed"]
    for rates in (speed["alone"], speed["together"]):
        assert rates["native"] > 0 and rates["python"] > 0 and 0 < rates["share_percent"] <= 101


@pytest.mark.promise("CLUSTER", "Dask workers of the same machine are one machine.")
def test_dask_workers_of_the_same_machine_are_one_machine(client: Client) -> None:
    (host,) = hosts(client)
    assert host.address == "127.0.0.1" and host.slots == 2 and host.worker.startswith("tls://127.0.0.1:")


def test_what_is_raised_on_a_machine_is_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "doctor_here", fails)
    ((machine, report),) = measure_hosts(client, hosts(client), 300)
    assert isinstance(machine, UnmeasuredMachine) and machine.why == "it exploded" and report is None


def test_a_machine_that_does_not_answer_is_given_up(client: Client) -> None:
    ((machine, report),) = measure_hosts(client, [KnownMachine("10.9.9.9", "tls://127.0.0.1:1", 1)], 0.2)
    assert (
        isinstance(machine, UnmeasuredMachine)
        and machine.why.startswith("it does not answer")
        and report is None
    )


def fails(workers: int, seconds: float) -> str:
    raise RuntimeError("it exploded")


def test_measuring_that_takes_too_long_is_ended() -> None:
    with pytest.raises(EnvironmentLacksError, match="took longer than 0 s"):
        measuring.doctor_here(1, 0.3)


@pytest.mark.promise("CLUSTER", "A cluster on this machine wants its own certificate.")
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


@pytest.mark.promise(
    "CLUSTER",
    "What is no scheduler is told in one line.",
    case="is_silent-no answer from a Dask scheduler within 1 s",
)
@pytest.mark.parametrize(
    ("serve", "why"),
    [
        (is_silent, "no answer from a Dask scheduler within 1 s"),
        (says(b"SSH-2.0-OpenSSH_9.6\r\n"), "it speaks another protocol, expected a Dask scheduler"),
        (socket.socket.close, "Connection reset by peer|it closed the connection, expected a Dask scheduler"),
        (None, "Connection refused|no answer from a Dask scheduler within 1 s"),
    ],
)
def test_what_is_no_scheduler_is_one_line(serve: Callable[[socket.socket], Any] | None, why: str) -> None:
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
        done = run_referee("doctor", "--cluster", address)
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


@pytest.mark.slow(seconds=14)
def test_certificates_are_expected_for_tls(client: Client) -> None:
    import dask

    with (
        dask.config.set({"distributed.comm.tls.ca-file": None}),
        pytest.raises(EnvironmentLacksError, match=r"the certificates for TLS in Dask's configuration"),
    ):
        connecting.scheduler_size(client.scheduler_info()["address"])
