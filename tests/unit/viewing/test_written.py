"""What bots wrote besides their answers stands at the step at which it was read, if the record says that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from referee.games import GAMES
from referee.pages.game_data import game_data
from referee.pages.replay_page import replay_page
from referee.processes.process import StreamEnds
from referee.viewing.steps import Steps, steps_of
from referee.viewing.words import end_lines, step_lines
from tests.unit.pages.test_replay_page import data_of
from tests.unit.viewing.test_steps import recorded

PLAYED = recorded(GAMES["blooms"], ("D:Z9", "L:A1", "resign {n}"), ("L:A2",))
"""Step 1: an answer of seat 1 is rejected, then it moves; step 2: seat 2 moves; step 3: seat 1 resigns."""


def written(of_seat_1: dict[str, Any], **measured: Any) -> Steps:
    return steps_of(replace(PLAYED, measured={"seats": [of_seat_1, {}], **measured}))


def stderr(text: str, *asked: Any) -> dict[str, Any]:
    return {"stderr": {"playing": {"bytes": len(text), "text": text, "asked": [*asked]}}}


def of_steps(steps: Steps) -> list[list[str]]:
    return [[f"{one.what}: {one.line}" for one in of_step] for of_step in steps.written]


def test_a_stream_is_kept_in_the_parts_in_which_it_came() -> None:
    stream = StreamEnds()
    assert stream.parts() == []
    for part, data in enumerate(("ä".encode()[:1], "äb\n".encode()[1:], b"", b"c\n")):
        stream.add(data, part)
    assert stream.parts() == [(1, "äb\n"), (3, "c\n")], "a letter belongs to where it ends"
    assert stream.text() == "äb\nc\n"


def test_of_a_long_stream_the_parts_at_both_ends_are_kept() -> None:
    stream = StreamEnds()
    for part in range(10):
        stream.add(b"%d" % part * 1000, part)
    parts = stream.parts()
    assert [part for part, _ in parts] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert [len(text.replace("\n[… 1808 bytes …]\n", "")) for _, text in parts] == [
        *[1000] * 4,
        *[96, 96],
        *[1000] * 4,
    ]
    assert "".join(text for _, text in parts) == stream.text()


def test_it_stands_at_the_step_of_its_question() -> None:
    steps = written(
        {
            "log": {"lines": ["first", "second", "third"], "dropped": 0, "asked": [[1, 2], [3, 1]]},
            "stderr": {
                "starting": {"bytes": 6, "text": "hello\n", "asked": [[0, 6]]},
                "playing": {"bytes": 9, "text": "x\ny\nz\nend", "asked": [[0, 2], [2, 4], [3, 3]]},
            },
        }
    )
    assert of_steps(steps) == [
        ["stderr before `ready`: hello", "stderr: x"],
        ["stderr: y", "stderr: z", "log: first", "log: second"],
        [],
        ["stderr: end", "log: third"],
    ]
    assert step_lines(steps, 3, None)[-2:] == ["a stderr: end", "a log: third"]
    assert not any("third" in line for line in end_lines(steps, None)), "it is not said twice"
    page = data_of(replay_page(steps))["views"][0]
    assert page["steps"][3]["written"] == {"1": [["stderr", "end"], ["log", "third"]]}
    assert "written" not in page["steps"][2]
    assert not any("third" in text for _, text in page["written"]["1"])


def test_of_a_bot_that_was_never_asked_it_stands_where_it_left() -> None:
    record = recorded(GAMES["blooms"], ("L:A1",), (None,))
    measured = {"seats": [{}, stderr("boom\n", [0, 5])]}
    steps = steps_of(replace(record, measured=measured))
    (number,) = (number for number, lines in enumerate(of_steps(steps)) if lines == ["stderr: boom"])
    assert number == len(steps.steps) - 1 > 0


@pytest.mark.parametrize(
    "of_seat",
    [
        stderr("boom\n"),
        stderr("boom\n", [1, 4]),
        stderr("boom\n", [1, 6]),
        stderr("boom\n", [-1, 5]),
        stderr("boom\n", [1, 5, 5]),
        stderr("boom\n", [1, "5"]),
        {"stderr": {"playing": {"bytes": 5, "text": "boom\n", "asked": 7}}},
        {"stderr": {"playing": {"bytes": 5, "text": "boom\n"}}},
    ],
)
def test_records_that_do_not_say_when_it_came_are_shown_as_before(of_seat: dict[str, Any]) -> None:
    steps = written(of_seat)
    assert of_steps(steps) == [[], [], [], []]
    assert "a stderr: boom" in list(end_lines(steps, None))
    assert not any("asked" in line for line in end_lines(steps, None))
    assert ("stderr", "boom") in game_data(steps).value["views"][0]["written"]["1"]


def test_where_moves_were_taken_back_the_questions_are_not_those_of_the_moves() -> None:
    steps = written(stderr("boom\n", [1, 5]), taken_back=1)
    assert of_steps(steps) == [[], [], [], []]
    assert "a stderr: boom" in list(end_lines(steps, None))


def test_other_seats_are_not_shown_it() -> None:
    steps = written(stderr("boom\n", [1, 5]))
    assert "boom" in str(game_data(steps, [0]).value)
    assert "boom" not in str(game_data(steps, [1]).value)
    assert any("boom" in line for line in step_lines(steps, 1, 0))
    assert not any("boom" in line for line in step_lines(steps, 1, 1))
