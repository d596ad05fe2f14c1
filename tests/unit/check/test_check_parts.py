"""The parts of `referee check` without processes: clocks, advice, remarks, how results hang together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from referee.check import advice, report, steps
from referee.check.advice import Remark, Remarks, of_noise
from referee.check.first_contact import unread_bytes
from referee.check.steps import STEPS, CheckStep, StepFinding, StepResult, run_steps
from referee.check.tested_bot import SCALE, CheckSettings, Diagnostics, StepFailed, scaled_clocks
from referee.check.wires import DialogueTail
from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.program import Program
from tests.page_tables import listed, require_listed, rows, words


def settings(scale: int = 0) -> CheckSettings:
    blooms = GAMES["blooms"]
    bot = Program.parse("mine=true", Path.cwd())
    return CheckSettings(bot, blooms, {}, "s", scaled_clocks(blooms.clock), 10_000_000, None, scale)


@pytest.mark.parametrize(
    ("own", "scaled"),
    [
        ("90s+600s/10s", ["3s", "1500ms", "750ms+5s/83ms"]),
        ("180s+300s", ["6s", "3s", "1500ms+2500ms"]),
        ("60s", ["2s", "1s"]),
        ("60s^12s", ["2s", "1s"]),
        ("5s+1m", ["500ms", "500ms", "500ms+500ms"]),  # some runtimes start slowly
        ("200ms", ["200ms", "200ms"]),
        ("0s+5m", ["1s", "500ms", "0s+2500ms"]),
        ("cpu:60s", ["cpu:2s", "cpu:1s"]),
        ("none", ["2s", "1s"]),
    ],
)
def test_the_clocks_are_the_game_s_own_scaled_down(own: str, scaled: list[str]) -> None:
    assert [str(clock) for clock in scaled_clocks(TimeControl.parse(own))] == scaled


def test_the_heading_tells_the_scale() -> None:
    assert f"clock 3s (1/{SCALE} of the game's own 90s+10m/10s)" in report.heading(settings(SCALE), 200)
    assert "of the game's own" not in report.heading(settings(), 200)
    assert max(map(len, report.heading(settings(SCALE), 80).splitlines())) <= 80


@pytest.mark.parametrize(
    ("line", "asked", "fragment"),
    [
        (b"hello", 0, "`hello 1`, once"),
        (b"hello 2", 0, "`hello 1`, once"),
        (b"ready", 0, "only in answer to `prepare`"),
        (b"move L:A1", 3, "from the last `ask`, before the move: `move 3 L:A1`"),
        (b"move 7", 3, "`move 3 TEXT`"),
        (b"move 7 L:A1", 3, "from the last `ask` instead of counting: `move 3 ...`"),
        (b"resign", 3, "before the move: `resign 3`"),
        (b"resign 0", None, "`resign N`"),
        (b"move 1 A1", 0, "`move` only in answer to `ask`"),
        (b"move l:a1 d:b2", 3, "before the move: `move 3 l:a1 d:b2`"),
        (b"move chosen: D:C1", 1, "if this is debug output, write it to stderr"),
        (b"move centre", 2, "if it is an answer, its form is `move 2 TEXT`"),
        (b"list of moves: 74", 1, "a line that begins with `list` is a message to the referee"),
        (b"ready to move", 1, "if this is debug output, write it to stderr"),
        (b"hello petal", 0, "`hello 1`, once"),
        (b"move 3 \x1b[31mL:A1", 3, "without colours"),
        (b"thinking", 3, ""),
    ],
)
def test_a_breach_is_answered_by_the_right_line(line: bytes, asked: int | None, fragment: str) -> None:
    found = advice.of_breach(line, asked)
    assert fragment in found and bool(found) == bool(fragment)


@pytest.mark.parametrize(
    ("used_us", "text"), [(None, "20s"), (11_900_000, "30s"), (10_000_000, "20s"), (60_000_000, "120s")]
)
def test_a_slow_bot_is_told_an_option(used_us: int | None, text: str) -> None:
    shown = text.replace("120s", "2m")
    assert f"`--start {shown}`" in advice.more_start(used_us, 10_000_000)


def test_a_bot_that_has_not_read_is_known_by_its_pipe() -> None:
    source, sink = os.pipe()
    os.write(sink, b"hello 1 list\n")
    assert unread_bytes(sink) == 13
    os.read(source, 100)
    assert unread_bytes(sink) == 0
    os.close(source)
    os.close(sink)
    assert unread_bytes(sink) == unread_bytes(-1) == 0


def test_lines_that_are_no_messages_are_counted_and_the_first_are_kept() -> None:
    dialogue = DialogueTail()
    dialogue("bot", ">", b"hello 1\nBotMaster 3000\nready\nmo")
    dialogue("bot", ">", b"ve 1 L:A1\n\x1b[2J\n\nlog x\nMOVE 1 x\ninfo\n")
    assert dialogue.noise_count == 4
    assert dialogue.noise == [b"BotMaster 3000", b"\x1b[2J", b""]
    assert of_noise(dialogue.noise, 4).lines == ("BotMaster 3000", "\\x1b[2J", "", "… and 1 more")


def test_a_remark_is_told_once() -> None:
    remarks = Remarks()
    for _ in range(2):
        remarks.add(Remark("noise", "a", "b"))
        remarks.add(Remark("seed", "c", "d"))
    assert [remark.cause for remark in remarks.take()] == ["noise", "seed"]
    remarks.add(Remark("noise", "a", "b"))
    assert remarks.take() == ()


def results(monkeypatch: pytest.MonkeyPatch, *trials: Any) -> list[StepResult]:
    """The results of steps that need no other step."""
    tried = tuple(CheckStep(f"step {number}", trial, ()) for number, trial in enumerate(trials, 1))
    monkeypatch.setattr(steps, "STEPS", tried)
    return list(run_steps(settings()))


def passes(it: CheckSettings) -> StepFinding:
    return StepFinding("fine", {})


def remarks_on(cause: str) -> Any:
    def trial(it: CheckSettings) -> StepFinding:
        it.remarks.add(Remark(cause, "what", "do this", ("a line",)))
        return StepFinding("fine", {})

    return trial


def fails(cause: str) -> Any:
    def trial(it: CheckSettings) -> StepFinding:
        raise StepFailed("what", "do this", Diagnostics((), (), ""), cause)

    return trial


def test_a_step_that_fails_as_another_did_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    found = results(monkeypatch, fails("KeyError"), passes, fails("KeyError"), fails("IndexError"))
    assert [one.result for one in found] == ["failed", "passed", "skipped", "failed"]
    assert found[2].text == "step 1 failed the same way" and found[2].failure is None


def test_failures_of_unknown_cause_are_all_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [one.result for one in results(monkeypatch, fails(""), fails(""))] == ["failed", "failed"]


def test_a_warning_is_between_passed_and_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = results(
        monkeypatch, remarks_on("noise"), passes, passes, remarks_on("noise"), remarks_on("seed"), fails("x")
    )
    # The first three steps are one conversation, whose remarks belong to its last step.
    assert [one.result for one in found] == ["passed", "passed", "warning", "passed", "warning", "failed"]
    data = report.as_json(settings(), found[:5], ["again"] * 5)
    assert data["passed"] is True and data["clock_scale"] is None
    assert data["steps"][2]["warnings"] == [{"what": "what", "hint": "do this", "lines": ["a line"]}]
    assert data["steps"][3]["warnings"] == []
    assert report.summary(found).startswith("3 passed, 2 with a warning, 1 failed in ")
    lines = [*report.step_lines(found[2], "again", 80)]
    assert [line.strip() for line in lines[1:]] == ["", "warning: what", "| a line", "hint: do this", ""]


def test_the_page_has_every_step_and_member(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "referee/docs/CHECK.md"
    steps = [(number, title) for number, title, *_ in rows(page, "step | | what it does")]
    assert steps == [(str(number), step.title) for number, step in enumerate(STEPS, 1)]
    data = report.as_json(settings(), results(monkeypatch, passes, passes, fails("x")), ["again"] * 3)
    require_listed(page, "field | ", data)
    require_listed(page, "field | ", data["steps"][-1], 1)
    described = {first: set(words(what)) for first, what in rows(page, "field | ", 1)}
    assert described["`failure`"] == set(data["steps"][-1]["failure"])
    assert described["`result`"] == listed(page, "result | meaning") == set(report._COLOURS)


def test_a_warning_that_repeats_a_failure_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = results(monkeypatch, passes, passes, fails("exited 1"), remarks_on("exited 1"))
    assert [one.result for one in found] == ["passed", "passed", "failed", "passed"]


def test_the_end_of_a_dialogue_takes_bounded_memory() -> None:
    dialogue = DialogueTail()
    for _ in range(1000):
        dialogue("bot", ">", b"x" * 4096)
    dialogue("bot", "<", b"ask 1 2 3\n")
    for number in range(1000):
        dialogue("bot", ">", f"log {number}\n".encode())
    dialogue("bot", ">", b"move 1 \x1b[2J")
    lines = dialogue.lines()
    assert lines[:2] == ("BOT: " + "x" * 100 + "…", "# … without a newline")
    assert lines[2:] == (
        "REF: ask 1 2 3",
        "BOT: log 0",
        "# … 998 more such lines",
        "BOT: log 999",
        "BOT: move 1 \\x1b[2J",
        "# … without a newline",
    )
