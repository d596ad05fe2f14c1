"""The connection to a Dask cluster, with a client of a test in the place of Dask's."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from importlib import import_module
from typing import Any

import pytest

from referee.cluster.dask_client import ClusterEvent, Disconnected, Members
from tests.waiting import TOO_LONG_S


@pytest.fixture
def dask_client() -> Any:
    """The module. Dask takes long to import: only the worker that runs these tests does so."""
    pytest.importorskip("distributed")
    return import_module("referee.cluster.dask_client")


@pytest.mark.slow
@pytest.mark.parametrize("error", [RuntimeError("odd"), KeyError("id"), asyncio.CancelledError()])
def test_the_connection_is_made_again_whatever_ended_it(
    monkeypatch: pytest.MonkeyPatch, dask_client: Any, error: BaseException
) -> None:
    def fails(*args: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("distributed.Client", fails)
    monkeypatch.setattr(dask_client, "RETRY_S", 0.001)
    client = dask_client.DaskClient("tcp://127.0.0.1:1", "run")
    found = [event for _ in range(3) for event in client.events(TOO_LONG_S)]
    client.close([])
    assert len(found) >= 2 and all(isinstance(event, Disconnected) for event in found)


class Stuck:
    """A client that loses its scheduler at once if it is the first one, and never ends to close."""

    made = 0

    def __init__(self, *arguments: object, **options: object) -> None:
        Stuck.made += 1
        self.is_first = Stuck.made == 1
        self.status = "running"
        self.scheduler = self

    def __await__(self) -> Generator[Any, Any, Stuck]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Stuck:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        await asyncio.Event().wait()

    def subscribe_topic(self, topic: str, handler: object) -> None:
        pass

    async def identity(self, n_workers: int) -> dict[str, Any]:
        if self.is_first:
            raise OSError("gone")
        return {"id": "scheduler", "workers": {}}

    async def processing(self, workers: None) -> dict[str, list[str]]:
        return {}


@pytest.mark.slow
def test_a_client_that_does_not_end_to_close_is_given_up(
    monkeypatch: pytest.MonkeyPatch, dask_client: Any
) -> None:
    monkeypatch.setattr("distributed.Client", Stuck)
    monkeypatch.setattr(dask_client, "CLOSE_S", 0.2)
    monkeypatch.setattr(dask_client, "RETRY_S", 0.001)
    client = dask_client.DaskClient("tcp://127.0.0.1:1", "run")
    seen: list[ClusterEvent] = []
    while not any(isinstance(event, Members) for event in seen):
        seen += client.events(TOO_LONG_S) or pytest.fail("no more events")
    client.close([])
    assert [type(event) for event in seen[:2]] == [Disconnected, Members]


class Slow(Stuck):
    """A client whose scheduler takes long to answer at first, and is another one then."""

    looks = 0

    async def identity(self, n_workers: int) -> dict[str, Any]:
        Slow.looks += 1
        await asyncio.sleep(0.2 if Slow.looks == 1 else 0)
        return {"id": str(min(Slow.looks, 2)), "workers": {}}


@pytest.mark.slow
def test_a_slow_answer_does_not_keep_it_from_looking_for_long(
    monkeypatch: pytest.MonkeyPatch, dask_client: Any
) -> None:
    monkeypatch.setattr("distributed.Client", Slow)
    for name, value in (("CLOSE_S", 0.2), ("LOOK_S", 0.01), ("SELDOM_S", 0.05), ("LOOKING", 0.0001)):
        monkeypatch.setattr(dask_client, name, value)
    client = dask_client.DaskClient("tcp://127.0.0.1:1", "run")
    seen: list[ClusterEvent] = []
    while len(seen) < 2:
        seen += client.events(TOO_LONG_S) or pytest.fail("no more events")
    client.close([])
    assert [type(event) for event in seen[:2]] == [Members, Disconnected]
