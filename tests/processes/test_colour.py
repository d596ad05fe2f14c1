"""Colours, and what moves the cursor: only where they are wanted and the terminal has them."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from referee.cli.output import can_draw, in_colour
from tests.command import HERE, PLAIN, referee
from tests.waiting import TOO_LONG_S

COLOUR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m")
DRAWING = re.compile(r"\x1b\[\??[0-9;]*[A-HJKfhlr]")

XTERM = {"TERM": "xterm-256color"}
NONE, ALWAYS = {**XTERM, "NO_COLOR": "1"}, {**XTERM, "FORCE_COLOR": "1"}
NEITHER, DUMB = {**NONE, **ALWAYS}, {"TERM": "dumb"}

SETTINGS = [
    # what is set, whether there is colour in a pipe, in a terminal, and whether that is drawn in
    (XTERM, False, True, True),
    (NONE, False, False, True),
    ({**XTERM, "NO_COLOR": ""}, False, True, True),
    (ALWAYS, True, True, True),
    ({**XTERM, "FORCE_COLOR": ""}, False, True, True),
    (NEITHER, False, False, True),
    (DUMB, False, False, False),
    ({**DUMB, "FORCE_COLOR": "1"}, True, True, False),
    ({"TERM": "unknown"}, False, False, False),
    ({"TERM": ""}, False, False, False),
    ({}, False, False, False),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("env", "in_a_pipe", "in_a_terminal", "draws"), SETTINGS)
def test_variables_decide_on_colour_and_drawing(
    env: dict[str, str],
    in_a_pipe: bool,
    in_a_terminal: bool,
    draws: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TERM", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert in_colour(io.StringIO()) == in_a_pipe and not can_draw(io.StringIO())
    assert in_colour(Terminal()) == in_a_terminal and can_draw(Terminal()) == draws


MATCH = (
    "match",
    "blooms",
    f"a={PLAIN}",
    f"b={PLAIN}",
    "--option",
    "size=3",
    "--option",
    "target=1",
    "-n",
    "1",
)

COMMANDS = {
    # the command, and whether it draws
    "replay": (("replay", "results", "1", "--all"), False),
    "match --watch": ((*MATCH, "--watch"), False),
    "check": (("check", "blooms", PLAIN, "--step", "1"), True),
    "match": (MATCH, True),
}
"""Commands that have colours."""

QUICK = {
    ("replay", False, "ALWAYS"),
    ("replay", True, "XTERM"),
    ("replay", True, "NONE"),
}
CASES = [
    pytest.param(
        name,
        setting,
        terminal,
        id=f"{name} {setting} {'terminal' if terminal else 'pipe'}",
        marks=() if (name, terminal, setting) in QUICK else pytest.mark.slow,
    )
    for name in COMMANDS
    for terminal, settings in (
        (False, ("XTERM", "ALWAYS", "NEITHER") if name == "replay" else ("ALWAYS",)),
        (True, ("XTERM", "NONE", "DUMB") if name in ("replay", "match") else ("XTERM",)),
    )
    for setting in settings
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in it."""
    folder = tmp_path_factory.mktemp("colour")
    assert referee(*MATCH, "-o", str(folder / "results"), *HERE).code == 0
    return folder


OF_TERMINALS = ("TERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
"""The variables about a terminal; processes of pytest-xdist have some that are true of none."""


def environment(env: dict[str, str]) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if name not in OF_TERMINALS}, **env}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("name", "setting", "terminal"), CASES)
def test_commands_obey_them(name: str, setting: str, terminal: bool, place: Path) -> None:
    words, draws = COMMANDS[name]
    command, env = ["-m", "referee", *words], environment(globals()[setting])
    if terminal:
        screen = pexpect.spawn(
            sys.executable,
            command,
            cwd=str(place),
            env=env,
            encoding="utf-8",
            timeout=TOO_LONG_S,
            dimensions=(24, 80),
        )
        screen.expect(pexpect.EOF)
        written = str(screen.before)
        screen.close()
    else:
        done = subprocess.run(
            [sys.executable, *command], cwd=place, env=env, capture_output=True, timeout=TOO_LONG_S
        )
        written = (done.stdout + done.stderr).decode()
    assert written.strip() and "Traceback" not in written
    # progress that is drawn appears in a terminal alone
    colours = setting in ("ALWAYS", *(["XTERM"] if terminal else [])) and (name != "match" or terminal)
    assert bool(COLOUR.search(written)) == colours, written
    assert bool(DRAWING.search(written)) == (draws and terminal and setting != "DUMB"), written


def test_other_commands_have_no_colours_where_colours_are_forced(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tests.command.referee` looks at everything that is printed."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("FORCE_COLOR", "1")
    for command in (
        *("table results", "table results --format csv", "find results", "status results", "verify results"),
        *("replay results 1 --json", "games blooms", "match --help"),
    ):
        assert referee(*command.split()).code == 0
