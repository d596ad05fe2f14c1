"""`referee check`: each bad bot fails the step that tests for its defect, and the sample bots pass."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from referee.check import advice, first_contact, steps
from referee.check.steps import STEPS, StepResult, run_steps
from referee.check.tested_bot import CheckSettings
from referee.check.wires import BotWire
from referee.core.units import TimeControl
from referee.gameplay import events
from referee.gameplay.events import Ending, Retired
from referee.games import GAMES
from referee.processes.program import Program
from referee.wire import connection
from tests.bots.broken_bot import MISTAKES
from tests.catalogue import ways
from tests.catalogue.row import Defect, loading
from tests.command import ROOT, Done, in_python, referee
from tests.processes.encounters import LONG, SHORT, time_is_up_once
from tests.programs import needs_level
from tests.tools import broken_bots
from tests.waiting import TOO_LONG_S

BAD = in_python(ROOT / "tests" / "bots" / "check_bots.py", "-I", "-S")
SAMPLES = f"{{python}} {ROOT / 'sample_bots'}"
MB = 1 << 20


def settings(
    command: str,
    game: str = "blooms",
    given: dict[str, str] | None = None,
    clocks: tuple[str, ...] = (LONG, LONG),
    start: str = LONG,
    memory_bytes: int = 500 * MB,
) -> CheckSettings:
    controls = tuple(map(TimeControl.parse, clocks))
    start_us = TimeControl.parse(start).move_us
    bot = Program.parse(command, Path.cwd())
    return CheckSettings(bot, GAMES[game], given or {}, "s", controls, start_us, memory_bytes)


def outcomes(it: CheckSettings, *chosen: int) -> dict[int, StepResult]:
    return {outcome.number: outcome for outcome in run_steps(it, chosen)}


DEFECTS = sorted(ways(Defect), key=attrgetter("step"))
NEVER_FAILED = {11}


@pytest.fixture(autouse=True)
def no_game_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "LONG_GAME_S", TOO_LONG_S)
    monkeypatch.setattr(steps, "MEMORY_GAME_S", TOO_LONG_S)
    monkeypatch.setattr("referee.processes.process.TERM_S", TOO_LONG_S)


def quick(defect: Defect) -> bool:
    """Whether it is the first defect in the list that its step finds."""
    return defect is next(one for one in DEFECTS if one.step == defect.step)


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(
    "defect",
    [pytest.param(one, id=one.name, marks=[] if quick(one) else pytest.mark.slow) for one in DEFECTS],
)
def test_a_defect_is_found_by_its_step(defect: Defect, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a bot that does not answer in time has a short clock."""
    name, step = defect.name, defect.step
    memory_bytes = 80 * MB if name == "is large" else 500 * MB
    if defect.late:
        time_is_up_once(monkeypatch, defect.late)
    monkeypatch.setattr(connection, "GRACE_S", 0.01 if defect.hangs else TOO_LONG_S)
    monkeypatch.setattr(first_contact, "AFTER_INPUT_S", TOO_LONG_S if defect.held_back else 0.01)
    monkeypatch.setattr(events, "BUSY_DIVISOR", 1000 if name == "computes for ever" else 0)
    silent = SHORT if defect.late and step <= 3 else LONG
    clocks = (silent, SHORT if step == 6 else LONG)
    start = silent if step == 2 else LONG
    it = settings(f"{BAD} '{name}'", clocks=clocks, start=start, memory_bytes=memory_bytes)
    found = outcomes(it, step)
    words = defect.text.format(time=SHORT)
    assert [found[number].result for number in range(1, min(step, 4))] == ["passed"] * (min(step, 4) - 1)
    outcome = found[step]
    assert outcome.result == "failed" and words in outcome.text
    failure = outcome.failure
    assert failure and failure.hint and failure.diagnostics.dialogue[0].startswith(("REF: ", "BOT: "))
    dies = re.search(r"exited with status [1-9]|SIG[A-Z]+", outcome.text)
    assert not dies or dies[0] in failure.diagnostics.process
    if "status 1" in outcome.text:
        assert any(line.startswith("Traceback: ") for line in failure.diagnostics.stderr)


@pytest.mark.slow
def test_a_bot_that_grows_beyond_its_memory_is_told_to_free_it() -> None:
    """And not to use less, as one is that is too large from its first game on."""
    it = settings(f"{BAD} leaks", memory_bytes=1 << 40)
    first, *later = outcomes(it, 14)[14].figures["peaks_bytes"]
    failure = outcomes(replace(it, memory_bytes=(first + later[-1]) // 2), 14)[14].failure
    assert failure and "games, expected at most" in failure.what
    assert re.fullmatch(r"it grew from [\d.]+ MB to [\d.]+ MB in [35] games: free .*", failure.hint)
    failure = outcomes(replace(it, memory_bytes=first // 2), 14)[14].failure
    assert failure and failure.hint.startswith("use less memory")


@pytest.mark.slow
def test_a_bot_that_said_hello_is_not_told_that_it_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bot.py").write_text("import time\ninput()\nprint('hello 1', flush=True)\ntime.sleep(600)\n")
    time_is_up_once(monkeypatch, loading)
    monkeypatch.setattr(connection, "GRACE_S", 0.01)
    monkeypatch.setattr(events, "BUSY_DIVISOR", 1)
    (failure,) = [
        one.failure
        for one in outcomes(settings(f"{{python}} {tmp_path / 'bot.py'}", start=SHORT), 2).values()
        if one.failure
    ]
    assert failure.hint == advice.SAY_READY


def test_the_table_of_the_broken_bots_has_all_of_them() -> None:
    told = broken_bots.written()
    assert len(told) >= 26
    names = sorted([*MISTAKES, *(path.name for path in broken_bots.FOLDER.iterdir())])
    assert [bot.name for bot in broken_bots.bots()] == names == sorted(told)
    assert {bot.name: broken_bots.mistake(bot) for bot in broken_bots.bots()} == {
        name: named.mistake for name, named in told.items()
    }
    page = broken_bots.TABLE.read_text()
    assert page == broken_bots.INTRODUCTION + broken_bots.table(told.values())


@pytest.mark.slow
def test_the_authors_of_the_broken_bots_are_told_what_the_table_says() -> None:
    told = broken_bots.written()
    for named in broken_bots.all_checked(broken_bots.bots()):
        assert named == told[named.bot]


def test_every_step_that_can_fail_has_a_defect() -> None:
    assert {defect.step for defect in DEFECTS} | NEVER_FAILED == set(range(1, len(STEPS) + 1))


@pytest.mark.slow
def test_the_bot_without_a_defect_passes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MAX_SEARCH_S", TOO_LONG_S)  # all its games are played, on a busy machine too
    found = outcomes(settings(BAD))
    assert {outcome.result for outcome in found.values()} == {"passed"}
    thirds = found[4].figures["answers_by_third"]
    assert min(thirds) > 20 and found[4].figures["settings"] == 3
    assert found[10].figures["games"][0]["news"] > 2
    assert found[11].figures["same"]


def test_what_is_not_a_fault_is_reported_too() -> None:
    dice = outcomes(settings(f"{BAD} 'plays its own dice'"), 11)[11]
    assert dice.result == "warning" and dice.text == "no" and not dice.figures["same"]
    # By chance, its first moves may be the same.
    assert re.search("move [0-9]+ was", dice.remarks[0].what) and "from `seed`" in dice.remarks[0].hint
    complaint = outcomes(settings(f"{BAD} 'quits with a complaint'"), 12)[12]
    assert complaint.result == "warning" and "exited with status 1" in complaint.text
    assert complaint.remarks[0].lines == ("Traceback: the input ended",)


def test_a_program_that_cannot_be_executed(tmp_path: Path) -> None:
    program = tmp_path / "bot"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    found = outcomes(settings(str(program)))
    assert found[1].result == "failed" and "cannot be started: No such file or directory" in found[1].text
    assert {found[number].text for number in range(2, len(STEPS) + 1)} == {"needs step 1"}


def test_the_hint_for_a_late_answer_names_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 0.0, 0.0))
    late = Retired(0, Ending.TIME, "nothing came", 0)
    hint = steps._time_hint(cast(BotWire, SimpleNamespace(fault=late)), False)
    assert "this machine was busy: load 99 on" in hint


def test_no_game_is_cut_short_before_the_bot_s_first_answer() -> None:
    """However long a bot takes to start, it is tested."""
    it = settings(BAD)
    with it.start() as bot:
        wire = BotWire(bot.seated(it.terms_with_questions("short", 1, 3), 1), max_s=0)
        bot.expect(wire)
    assert wire.answers == 1


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sh -c 'read line; echo hello 1; echo mine does not play it >&2'", "mine does not play it"),
        pytest.param(
            f"{SAMPLES}/search_bot.py",
            "search_bot.py does not play Floral Extract, in which seats move at the same time",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_bot_that_says_so_does_not_play_this_game(command: str, said: str) -> None:
    step = outcomes(settings(command, "floral"), 2)[2]
    assert step.result == "failed" and step.text == "the bot does not play Floral Extract, as its stderr says"
    assert step.failure and step.failure.hint == advice.OTHER_GAMES
    assert step.failure.diagnostics.stderr == (said,)


def test_other_options_are_next_to_the_defaults() -> None:
    for slug, name, values in (
        ("blooms", "size", {4, 3, 5}),
        ("vinetree", "size", {9, 7, 11}),  # only odd numbers
        ("vinetree", "bend", {"excluded", "included"}),
        ("thetree", "players", {2, 1, 3}),
    ):
        assert {options[name] for options in settings("true", slug).option_sets()} == values
    assert [*settings("true", given={"size": "6"}).option_sets()] == [{"size": 6, "target": 25}]


SAMPLE_BOTS = [
    ("thetree", "random_bot.py", {"players": "1"}),
    ("blooms", "plain_bot.py", {}),
    ("vinetree", "vine_bot.py", {"size": "5"}),
    ("evengroups", "even_bot.py", {"size": "3"}),
    ("floral", "floral_bot.py", {"max_turns": "8"}),
    ("thetree", "tree_bot.py", {}),
]
"""One of each game, and one in a game with a single seat; all of them play in the ladders."""


@pytest.mark.slow
@pytest.mark.parametrize(("game", "command", "given"), SAMPLE_BOTS)
def test_the_sample_bots_pass(game: str, command: str, given: dict[str, str]) -> None:
    expect_fit(settings(f"{SAMPLES}/{command}", game, given))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c_bot", "js_bot"])
def test_the_sample_bots_in_other_languages_pass(name: str, request: pytest.FixtureRequest) -> None:
    expect_fit(settings(request.getfixturevalue(name)))


def expect_fit(it: CheckSettings) -> None:
    found = outcomes(it)
    assert not [(one.title, one.text) for one in found.values() if one.result == "failed"]
    assert not [one.remarks for one in found.values() if one.remarks]
    skipped = {one.number: one.text for one in found.values() if one.result == "skipped"}
    assert skipped == ({8: "the game has a single seat"} if it.seats == 1 else {})
    ends = found[8].figures.get("ends", [])
    assert ("while the bot had an open question" in ends) == (it.game.slug == "floral")
    assert min(found[4].figures["answers_by_third"]) > 0


@pytest.mark.slow
def test_a_game_may_end_while_the_bot_is_asked() -> None:
    """Its thread answers later, in the next game, in which that question was never asked."""
    outcome = outcomes(settings(BAD, "floral"), 8)[8]
    assert outcome.result == "failed" and "question 3 was never asked" in outcome.text
    assert "after a game that ended while the bot had an open question" in outcome.text


CROSSING = """
games = 0
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello": print("hello 1", flush=True)
    elif word == "game": games += 1
    elif word == "prepare": print("ready", flush=True)
    elif word == "ask" and (games, rest[0]) != (3, "3"): print("list", rest[0], 1, flush=True)
    elif word == "ask": held = True
    elif word == "end" and games == 3: print("move 3 X" * held, flush=True)
    elif word == "choice": print("move", question, *rest, flush=True)
    elif word == "quit": break
    if word == "ask": question = rest[0]
"""


def test_an_answer_may_cross_the_end_of_the_game(tmp_path: Path) -> None:
    """The game ends while the bot is asked: its answer may be read in the next game only."""
    (tmp_path / "bot.py").write_text(f"import sys\nheld = False\n{CROSSING}")
    outcome = outcomes(settings(f"{{python}} -I -S {tmp_path / 'bot.py'}", "floral"), 8)[8]
    assert "while the bot had an open question" in outcome.figures["ends"]
    assert (outcome.result, outcome.remarks) == ("passed", ())


@pytest.mark.slow
def test_where_a_default_is_submitted_silence_is_a_failure_too() -> None:
    """Floral Extract would go on without the bot, question after question."""
    found = outcomes(settings(f"{BAD} 'says nothing'", "floral", clocks=(SHORT,)))
    failure = found[3].failure
    assert failure and "nothing came" in found[3].text
    assert sum(line.startswith("REF: ask ") for line in failure.diagnostics.dialogue) == 1
    assert {found[number].text for number in range(4, len(STEPS) + 1)} == {"needs step 3"}


def check(*words: str, defect: str = "none") -> Done:
    return referee("check", "blooms", f'mine={BAD} "{defect}"', "--time", LONG, "--start", LONG, *words)


@pytest.mark.slow
def test_the_command_s_list() -> None:
    done = check("--seed", "x")
    assert done.code == 0 and not done.err
    assert "mine in blooms (size=4 target=15), clock 1h, seed x" in done.out
    for number, step in enumerate(STEPS, 1):
        assert re.search(rf"^{number:2} passed  {re.escape(step.title)}", done.out, re.MULTILINE)
    assert re.search(r"^14 passed in ", done.out, re.MULTILINE)


@pytest.mark.slow
def test_a_failure_can_be_repeated_by_the_command_that_it_names() -> None:
    done = check("--option", "size=3", defect="counts the questions of all games")
    assert done.code == 7 and done.err == "referee: mine failed step 7\n"
    assert " 7 failed  plays a second game\n" in done.out
    for line in (
        "| REF: ask 1 3600000 0",
        "| BOT: move 2 L:",
        "the bot's process was still running",
        "hint: ",
    ):
        assert f"           {line}" in done.out
    assert re.search(r"^10 passed, 1 failed, 3 skipped \(because step 7 failed\) in ", done.out, re.MULTILINE)
    assert done.out.count("skipped") == 1, "what was not tried pushes nothing off the screen"
    (command,) = re.findall(r"^ *run again: referee (.*)$", done.out, re.MULTILINE)
    words = shlex.split(command)
    assert words[-2:] == ["--step", "7"] and "size=3" in words
    again = referee(*words)
    assert again.code == 7 and " 7 failed " in again.out and "answers legally" not in again.out
    spoken = [re.findall(r"\| (?:REF|BOT): (?!charged).*", out) for out in (done.out, again.out)]
    assert spoken[0] == spoken[1]


def test_the_report_as_json() -> None:
    done = check("--json", "--step", "7", "--step", "2", defect="exits at the end of a game")
    assert done.code == 7
    value = json.loads(done.out)
    assert value["bot"] == "mine" and value["game"] == "blooms" and value["passed"] is False
    assert [step["number"] for step in value["steps"]] == [1, 2, 3, 7]
    assert [step["result"] for step in value["steps"]] == ["passed"] * 3 + ["failed"]
    failure = value["steps"][-1]["failure"]
    assert failure["process"] == "exited with status 0" and failure["hint"] and failure["dialogue"]
    assert value["steps"][1]["figures"]["hello_us"] > 0
    fine = check("--json", "--step", "3")
    assert fine.code == 0 and json.loads(fine.out)["passed"] is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "words"),
    [("rejected", ()), ("malformed", ()), ("turn", ()), ("partial", ()), ("rejected", ("--json",))],
)
def test_text_from_a_bot_is_escaped(place: str, words: tuple[str, ...]) -> None:
    """`tests.command.referee` looks at everything that is printed."""
    bot = f"{in_python(ROOT / 'tests' / 'bots' / 'forging_bot.py', '-I', '-S')} {place}"
    done = referee("check", "blooms", bot, "--time", LONG, "--start", LONG, "--step", "4", *words)
    assert done.code == 7 and ("\\u202eevil" in done.out or "\\x1b[2J" in done.out)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nim", "true"], "unknown game `nim`"),
        (["blooms", "/no/such/bot"], "no program at `/no/such/bot`"),
        (["blooms", "true", "--step", "15"], "15 is not in the range"),
        (["blooms", "true", "--option", "size=99"], "option `size` is `99`"),
        (["blooms", "true", "--option", "size"], "has no value"),
        (["blooms", "true", "--time", "none"], "the clock is `none`"),
        (["blooms", "true", "--start", "soon"], "`soon` is not a time"),
        (["blooms", "true", "--memory", "much"], "`much`"),
        (["nim"], "unknown game `nim`"),
        (["blooms", "--option", "size=99"], "option `size` is `99`"),
        (["blooms", "--time", "1s"], "`--time` can only be used with a single bot, expected GAME and BOT"),
        (["blooms", "--json"], "`--json` can only be used with a single bot, expected GAME and BOT"),
    ],
)
def test_wrong_usage(words: list[str], complaint: str) -> None:
    done = referee("check", *words)
    assert done.code == 2 and complaint in done.err and not done.out


@pytest.mark.parametrize("level", ["landlock", "bwrap"])
def test_refused_system_calls_are_told(level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_level(level)
    monkeypatch.setenv("HOME", str(tmp_path))  # without it, Python opens a socket to ask for its user's home
    bot = tmp_path / "bot.py"
    sample = ROOT / "sample_bots" / "random_bot.py"
    bot.write_text(
        "import ctypes, runpy\n"
        "for _ in range(2):\n"
        "    ctypes.CDLL(None).syscall(425, 0, 0)\n"
        f"runpy.run_path({str(sample)!r}, run_name='__main__')\n"
    )
    it = settings(f"{{python}} {bot}")
    it = replace(it, bot=replace(it.bot, isolation=level, read=(ROOT,)))
    step = outcomes(it, 12)[12]
    assert step.result == "passed"
    assert step.text.endswith("; refused system calls: io_uring_setup (2)")
    assert step.figures["refused_calls"] == {"io_uring_setup": 2}
