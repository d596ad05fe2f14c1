"""The connection to a Dask cluster, with a client of a test in the place of Dask's."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("distributed")

from referee.cluster import dask_link
from referee.cluster.dask_link import DaskLink
from referee.cluster.link import Disconnected


@pytest.mark.parametrize("error", [RuntimeError("odd"), KeyError("id"), asyncio.CancelledError()])
def test_the_connection_is_made_again_whatever_ended_it(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fails(*args: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(dask_link, "Client", fails)
    monkeypatch.setattr(dask_link, "RETRY_S", 0.001)
    link = DaskLink("tcp://127.0.0.1:1", "run")
    found = [event for _ in range(3) for event in link.events(2)]
    link.close([])
    assert len(found) >= 2 and all(isinstance(event, Disconnected) for event in found)
