"""The limits of a bot's processes are checked often, but not at the cost of the machine."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from referee.processes.messages import Request
from referee.processes.scratch import usage_of_mount
from referee.processes.tree import ProcessState
from referee.processes.usage import INTERVAL_S, SHARE, LimitChecker


def limited(processes: int | None) -> Request:
    return Request("", (), "/", {}, False, {}, None, processes, None, None, (), b"", b"", None)


def test_checks_take_a_small_share_of_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [100.0]
    used_s = [0.0]
    cost_s = [0.001]

    def state(_: int) -> ProcessState:
        used_s[0] += cost_s[0]
        return ProcessState(1, 0, 0)

    module = "referee.processes.usage"
    monkeypatch.setattr(f"{module}.time.monotonic", lambda: now_s[0])
    monkeypatch.setattr(f"{module}.time.process_time", lambda: used_s[0])
    monkeypatch.setattr(f"{module}.tree.state", state)
    monkeypatch.setattr(f"{module}.tree.descendants", lambda _: [])
    checks = LimitChecker(limited(5), os.getpid(), "", None)
    now_s[0] += INTERVAL_S
    assert checks.check() is None and checks.wait_ms() == pytest.approx(INTERVAL_S * 1000)
    now_s[0] += INTERVAL_S
    cost_s[0] = 0.02
    assert checks.check() is None and checks.wait_ms() == pytest.approx(SHARE * 20)


@pytest.mark.parametrize("around", [b"", b"filter"])
def test_processes_that_confine_a_bot_do_not_count(around: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot may have as many processes at `bwrap` as elsewhere."""
    threads = [0]
    monkeypatch.setattr("referee.processes.usage.tree.descendants", lambda _: [])
    monkeypatch.setattr("referee.processes.usage.tree.state", lambda _: ProcessState(threads[0], 0, 0))
    monkeypatch.setattr("referee.processes.usage.INTERVAL_S", 0.0)
    monkeypatch.setattr("referee.processes.usage.SHARE", 0)
    request = limited(5)._replace(program_filter=around)
    checks = LimitChecker(request, os.getpid(), "", None)
    for own, excess in ((5, None), (6, ("processes", 6, 5))):
        threads[0] = own + request.processes_around
        assert checks.check() == excess


def test_the_root_of_a_file_system_is_not_a_file_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(f_blocks=100, f_bfree=98, f_frsize=4096, f_files=1000, f_ffree=996)
    monkeypatch.setattr("referee.processes.scratch.os.statvfs", lambda _: found)
    assert usage_of_mount("/tmp") == (8192, 3)


def test_nothing_is_checked_where_nothing_is_limited() -> None:
    assert LimitChecker(limited(None), os.getpid(), "", None).wait_ms() is None


def test_the_folders_of_everybody_are_not_a_bot_s_while_its_namespaces_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bot that starts slowly still has the root of the machine, where others write as well."""
    module = "referee.processes.usage"
    monkeypatch.setattr(f"{module}.tree.descendants", lambda _: [os.getpid()])
    monkeypatch.setattr(f"{module}.time.monotonic", lambda: 0.0)
    wrapped = Request("", (), "/", {}, False, {}, None, None, 0, 0, (), b"filter", b"", None)
    checks = LimitChecker(wrapped, os.getpid(), "", None)
    monkeypatch.setattr(f"{module}.time.monotonic", lambda: 2 * INTERVAL_S)
    assert checks.check() is None
