"""The answers of machines as bytes: what is said comes through, and nothing else is made of bytes."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from referee.cluster.orders import (
    BotFilesChanged,
    Greeting,
    MachineAnswer,
    MachineReady,
    MachineUnfit,
    PlayedTask,
    from_bytes,
    to_bytes,
)
from referee.core.errors import RecordError
from referee.records.amendments import LeftOut
from referee.tournament.workers.task import Began, IgnoredQuit, LeftBehind, Notice, Void, WorkerDied
from tests.unit.cluster.test_cluster_backend import recorded, task

ANSWERS: list[MachineAnswer] = [
    None,
    Greeting("b", "CPU", "1.0", "abc", ("0f", "1e")),
    MachineReady({"x": "bwrap"}, {"x": {"main.py": "ff"}}, ("a remark",)),
    MachineReady({}, {}, ()),
    MachineReady({}, {}, (), (LeftOut("x", "no"), LeftOut("y", "it needs `cc`", ("a", "b"), False))),
    MachineUnfit("no compiler"),
    BotFilesChanged("x", "main.py"),
    PlayedTask(()),
    PlayedTask(
        (
            Began("1:a:b"),
            Void("1:a:b", 2, "Traceback", frozenset({"a", "b"}), lost=True),
            LeftBehind("a", "sleep"),
            IgnoredQuit("a"),
            WorkerDied(None, "it was killed", frozenset("a")),
            Notice("a line"),
        )
    ),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_answers_come_through(answer: MachineAnswer) -> None:
    assert from_bytes(to_bytes(answer)) == answer


def test_a_finished_game_comes_through_as_what_its_record_says() -> None:
    report = recorded(task(1, "a", "b"))
    assert from_bytes(to_bytes(PlayedTask((report,)))) == PlayedTask((report,))
    lying = report._replace(game=report.game._replace(ranks=report.game.ranks[::-1]))
    assert from_bytes(to_bytes(PlayedTask((lying,)))) == PlayedTask((report,))


class Forged:
    """A pickle that makes a file where it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_is_refused_and_not_read(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="not valid JSON"):
        from_bytes(pickle.dumps(Forged(tmp_path / "made")))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"answer": "stop"},
        {"answer": "unfit"},
        {"answer": "greeting", "name": 1},
        {"answer": "ready", "levels": {"x": 1}},
        {"answer": "played", "reports": [{"report": "lost"}]},
        {"answer": "played", "reports": [{"report": "finished", "body": "{}", "dialogue": ""}]},
        {"answer": "played", "reports": 7},
    ],
)
def test_what_is_no_answer_is_refused(value: object) -> None:
    with pytest.raises(RecordError):
        from_bytes(json.dumps(value).encode())


def test_bytes_that_are_no_json_are_refused() -> None:
    for data in (b"", b"{", b"[" * 100_000, b"\xff"):
        with pytest.raises(RecordError):
            from_bytes(data)
