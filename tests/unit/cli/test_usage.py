"""Wrong usage gives one line and the right exit code, before anything is started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from referee.processes.program import Program
from tests.command import ROOT, referee

BAD_INPUT: list[tuple[list[str], int, str]] = [
    (["match"], 2, "`GAME` is missing, expected one of blooms, vinetree, "),
    (["match", "blooms"], 2, "`BOT...` is missing (see `referee match --help`)"),
    (["check", "{python} a.py"], 2, "no bot is given for `{python} a.py`, expected GAME and BOT"),
    (["match", "{python} a.py", "true"], 2, "unknown game `{python} a.py`, expected one of blooms"),
    (
        ["match", "blooms", "{python}", "a.py", "mine", "=", "node", "b.js"],
        2,
        "each bot is one argument in quotes, expected "
        "`referee match blooms '{python} a.py' 'mine=node b.js'`",
    ),
    (["match", "blooms", "mine = ./a.py", "true"], 2, "has blanks beside `=`, expected `mine=./a.py`"),
    (["match", "blooms", "{pyhton} a.py", "true"], 2, "no placeholder `{pyhton}`, expected `{python}`"),
    (["matsch", "blooms"], 2, "No such command 'matsch'"),
    (["match", "chess", "true", "true"], 2, "unknown game `chess`, expected one of blooms"),
    (["match", "\x1b[31mblooms", "true", "true"], 2, "`\\x1b[31mblooms`, expected `blooms`"),
    (["match", "blooms", "true"], 2, "`blooms` has 2 seats, expected 2 bots, not 1 (true)"),
    (
        ["match", "blooms", "--sprt", "0", "10", "x=true", "true"],
        2,
        "`blooms` has 2 seats, expected 2 bots, not 3 (10, x, true); a tournament plays more bots",
    ),
    (["match", "blooms", "true", "./no/such/bot"], 2, "bot `bot`: no program at `./no/such/bot`"),
    (
        ["match", "blooms", "true", "no-such-bot-anywhere"],
        2,
        "the program `no-such-bot-anywhere` is not on the path",
    ),
    (["match", "blooms", "true", "x=/etc/passwd"], 2, "bot `x`: `/etc/passwd` is not executable"),
    (["match", "blooms", "true", "x=/etc"], 2, "`/etc` is a folder, expected a program"),
    (["match", "blooms", "true", "a/b=true"], 2, "`a/b` is not a bot name, expected 1 to 64"),
    (["match", "blooms", "true", "../x=true"], 2, "`../x` is not a bot name"),
    (["match", "blooms", "true", "..=true"], 2, "`..` is not a bot name"),
    (["match", "blooms", "true", "=true"], 2, "`` is not a bot name"),
    (["match", "blooms", "true", "a\x1b[2J=true"], 2, "contains control characters"),
    (["match", "blooms", "true", "a\n=true"], 2, "contains control characters"),
    (["match", "blooms", "true", "x" * 65 + "=true"], 2, "is not a bot name"),
    (["match", "blooms", "true", "ü=true"], 2, "`ü` is not a bot name"),
    (["match", "blooms", "true", "x="], 2, "the command is empty, expected a program"),
    (["match", "blooms", "true", "x='"], 2, "command `'` cannot be split (no closing quotation)"),
    (["match", "blooms", "x=true", "X=true"], 2, "two bots are named `X`"),
    (
        ["match", "blooms", "true", "true", "--option", "siez=4"],
        2,
        "no option `siez`, expected `size`",
    ),
    (["match", "blooms", "true", "true", "--option", "size=4", "--option", "size=4"], 2, "is given twice"),
    (["match", "blooms", "true", "true", "--option", "size"], 2, "option `size` has no value, expected K=V"),
    (
        ["match", "blooms", "true", "true", "--option", "size=9"],
        2,
        "`size` is `9`, expected a number from 3 to 8",
    ),
    (["match", "blooms", "true", "true", "--option", "size=1e1"], 2, "expected a number from 3 to 8"),
    (
        ["match", "blooms", "true", "true", "--time", "2"],
        2,
        "`--time`: `2` is not a time control, expected MOVE",
    ),
    (["match", "blooms", "true", "true", "--time", "0s"], 2, "contains no time"),
    (["match", "blooms", "true", "true", "--time", "-1s"], 2, "is not a time control"),
    (
        ["match", "blooms", "true", "true", "--start", "1"],
        2,
        "`--start`: `1` is not a time, expected a number and a unit",
    ),
    (["play", "blooms", "--time", "2"], 2, "`--time`: `2` is not a time control"),
    (["match", "blooms", "true", "true", "-n", "0"], 2, "0 is not in the range"),
    (["match", "blooms", "true", "true", "-n", "x\x1b[2J"], 2, "is not a valid integer"),
    (
        ["match", "blooms", "true", "true", "--seed", "a\nb"],
        2,
        "the seed is empty, too long or has",
    ),
    (["match", "blooms", "true", "true", "-o", "/dev/null/x"], 2, "cannot write to `/dev/null/x`"),
    (["match", "blooms", "true", "true", "-o", "/etc/passwd"], 2, "cannot write to `/etc/passwd`"),
    (["games", "chess"], 2, "unknown game `chess`"),
    (["games", "vinetre"], 2, "unknown game `vinetre`, expected `vinetree`"),
    (["match", "blooms", "a=true", "b=true", "--pty", "aa"], 2, "`--pty` names `aa`, expected `a`"),
    (["run", "x.toml", "--worker", "2"], 2, "--workers"),
    (["verify", "/no/such/file"], 2, "cannot read `/no/such/file`: No such file or directory"),
    (["replay", "/no/such/file"], 2, "cannot read `/no/such/file`"),
]


@pytest.mark.parametrize(("words", "code", "message"), BAD_INPUT, ids=lambda value: repr(value)[:60])
def test_bad_input_is_one_clear_line(words: list[str], code: int, message: str) -> None:
    done = referee(*words)
    assert done.code == code, done
    assert message in done.err
    assert done.out == "" and len(done.err.splitlines()) == 1 and done.err.startswith("referee: ")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./bot", "bot"),
        ("../x/engine.exe --depth 3", "engine"),
        ("{python} -u sample_bots/plain_bot.py --deep", "plain_bot"),
        ("{python} -m mine", "mine"),
        ("java -cp /tmp Main", "Main"),
        ("node", "node"),
        ("env A=1 ./sample_bots/js_bot.js", "js_bot"),
        ("sh -c 'exit 3'", "bot"),
        ("mine=sh -c 'exit 3'", "mine"),
        ("/..", "bot"),
    ],
)
def test_the_name_of_a_bot_that_was_given_none(command: str, name: str) -> None:
    assert Program.parse(command, ROOT).name == name


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("{python} -u bot.py", ("/a b/ü/py", "-u", "bot.py")),
        ("wrapper --python={python} '{python}'", ("wrapper", "--python=/a b/ü/py", "/a b/ü/py")),
        ("sh -c '{python} a.py && {python} b.py'", ("sh", "-c", "'/a b/ü/py' a.py && '/a b/ü/py' b.py")),
    ],
)
def test_the_path_of_python_is_quoted_only_in_text_for_a_shell(
    command: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/a b/ü/py")
    assert Program.parse(command, ROOT).argv == words


def test_other_names_of_commands_and_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert referee("help").out == referee("--help").out
    assert referee("help", "table").out == referee("table", "--help").out
    monkeypatch.chdir(tmp_path)
    assert referee("new-bot", "petal", "--game", "blooms", "--lang", "JS").code == 0
    assert (tmp_path / "petal" / "main.js").exists()
    empty = referee("examples", "")
    assert (empty.code, empty.err) == (
        2,
        "referee: DIR is empty, expected a folder; `.` is the current folder\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["petal"]
