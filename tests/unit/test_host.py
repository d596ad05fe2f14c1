"""The process on a machine of a cluster, without a Dask worker: what it answers."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from referee.cluster.host import Host
from referee.cluster.orders import Answer, Prepare, Requirement, Unfit
from referee.processes import cpu


@pytest.mark.parametrize(("pin", "cpu_clocks"), [(True, False), (False, True)], ids=["pin", "cpu-clocks"])
def test_a_machine_without_what_only_linux_has_says_so_where_it_is_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pin: bool, cpu_clocks: bool
) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    monkeypatch.setattr(cpu, "AVAILABLE", False)
    answers: list[Answer] = []
    end, other = socket.socketpair()
    with end, other:
        host = Host(tmp_path, lambda key, answer: answers.append(answer), end)
        required = Requirement((), 2, pin=pin, cpu_clocks=cpu_clocks, calibrates=False)
        host.obey("1", Prepare(required, "w", 1, 1, 0))
        host.close()
    (answer,) = answers
    assert isinstance(answer, Unfit) and "needs Linux" in answer.why
