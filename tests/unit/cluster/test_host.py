"""The process on a machine of a cluster, without a Dask worker: what it answers."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.cluster.bot_files import BotFiles
from referee.cluster.host import Host
from referee.cluster.orders import (
    BotFilesChanged,
    MachineAnswer,
    MachineReady,
    MachineUnfit,
    Play,
    Prepare,
    Requirement,
)
from referee.processes import cpu
from referee.processes.program import Program
from referee.records.amendments import LeftOut
from referee.tournament.workers.local_backend import WorkerPool
from referee.tournament.workers.task import Task
from tests.unit.cluster.test_cluster_backend import task

Hosted = tuple[Host, list[MachineAnswer]]


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    answers: list[MachineAnswer] = []
    end, other = socket.socketpair()
    with end, other:
        host = Host(tmp_path, lambda key, answer: answers.append(answer), end)
        yield host, answers
        host.close()


@pytest.mark.parametrize(("pin", "cpu_clocks"), [(True, False), (False, True)], ids=["pin", "cpu-clocks"])
def test_a_machine_without_what_only_linux_has_says_so_where_it_is_required(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, pin: bool, cpu_clocks: bool
) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    monkeypatch.setattr(cpu, "AVAILABLE", False)
    host, answers = hosted
    required = Requirement((), 2, pin=pin, cpu_clocks=cpu_clocks)
    host.obey("1", Prepare(required, "w", 1, 1, 0))
    (answer,) = answers
    assert isinstance(answer, MachineUnfit) and "needs Linux" in answer.why


def test_a_machine_that_cannot_forgive_waiting_says_so(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cpu, "COUNTS_WAITING", False)
    host, answers = hosted
    bot = Program("a", ("true",), tmp_path, forgive_waiting=True)
    files = BotFiles(bot, True, (), (), (), "", (), ())
    required = Requirement((files,), 2, pin=False, cpu_clocks=False)
    host.obey("1", Prepare(required, "w", 1, 1, 0))
    (answer,) = answers
    assert isinstance(answer, MachineUnfit) and "`forgive_waiting` needs a kernel" in answer.why


def test_a_bot_that_cannot_be_prepared_is_named_and_the_others_are_ready(
    hosted: Hosted, tmp_path: Path
) -> None:
    host, answers = hosted
    names = {"a": ("true",), "b": ("no-such-program",), "c": ("true",)}
    bots = [Program(name, command, tmp_path, isolation="none") for name, command in names.items()]
    all_files = tuple(BotFiles(bot, True, (), (), (), "", (), ()) for bot in bots)
    all_files = (*all_files[:2], replace(all_files[2], needs=("no-such-program",)))
    required = Requirement(all_files, 2, pin=False, cpu_clocks=False)
    host.obey("1", Prepare(required, "w", 1, 1, 0))
    (answer,) = answers
    assert isinstance(answer, MachineReady) and {*answer.levels} == {"a"}
    assert answer.unfit == (
        LeftOut("b", "the program `no-such-program` is not on the path"),
        LeftOut("c", "it needs `no-such-program`", is_fault=False),
    )


def test_the_name_of_a_changed_file_is_escaped(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    host, answers = hosted
    with monkeypatch.context() as patched:
        patched.setattr(host, "_pool", object.__new__(WorkerPool))
        patched.setattr(host, "_changed", lambda name: "file\x1b[2J")
        host.obey("1", Play(task(1, "a", "b")))
    (answer,) = answers
    assert (
        isinstance(answer, BotFilesChanged) and answer.what.startswith("file") and answer.what.isprintable()
    )


def test_a_bot_that_is_tuned_plays_here_with_the_values_of_its_task(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    host, _ = hosted
    bots = [Program(name, ("true", "{n}"), tmp_path, isolation="none") for name in ("a", "b")]
    files = tuple(BotFiles(bot, True, (), (), (), "", (), ()) for bot in bots)
    host.obey("1", Prepare(Requirement(files, 2, pin=False, cpu_clocks=False), "w", 1, 1, 0))
    given: list[Task] = []
    monkeypatch.setattr(WorkerPool, "play", lambda pool, task: given.append(task))
    sent = task(1, "a", "b")
    plan = sent.plan.with_values({"a": (("n", "7"),), "b": (("n", "9"),)})
    host.obey("2", Play(replace(sent, plan=plan)))
    (played,) = given
    assert [entrant.bot.argv for entrant in played.plan.entrants] == [("true", "7"), ("true", "9")]
