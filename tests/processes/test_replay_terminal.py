"""`referee replay` in a real terminal: what the terminal is like after it, and where there is plain text."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGTERM, Signals

import pexpect
import pytest

from tests.command import HERE, PLAIN, THIS_PYTHON, referee
from tests.processes.test_colour import ALWAYS, COLOUR, DUMB, NONE, XTERM, environment
from tests.waiting import TOO_LONG_S

SCREEN_ENTERED, SCREEN_LEFT, CURSOR_SHOWN = "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25h"


def played(place: Path, games: int) -> Path:
    """The folder of a match of so many short games."""
    folder = place / "run"
    bots = (f"a={PLAIN}", f"b={PLAIN}")
    options = ("--option", "size=3", "--option", "target=2", "-n", str(games), *HERE)
    assert referee("match", "blooms", *bots, *options, "-o", str(folder)).code == 0
    return folder


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("replay"), 1)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("replay"), 4)


class Terminal:
    """A terminal in which `referee replay` runs."""

    def __init__(self, env: dict[str, str], *words: str, size: tuple[int, int] = (24, 80)) -> None:
        self.screen = pexpect.spawn(
            sys.executable,
            ["-m", "referee", "replay", *words],
            env=environment(env),
            encoding="utf-8",
            timeout=TOO_LONG_S,
            dimensions=size,
        )
        self._before = self._settings()
        self.written = ""

    def _settings(self) -> list[object]:
        return termios.tcgetattr(self.screen.child_fd)

    def until(self, what: str) -> None:
        self.screen.expect(what)
        self.written += f"{self.screen.before}{self.screen.after}"

    def ended(self) -> int:
        """Waits for the end, and gives the exit code."""
        self.screen.expect(pexpect.EOF)
        self.written += str(self.screen.before)
        assert "Traceback" not in self.written
        if SCREEN_ENTERED in self.written:
            assert self.written.rindex(SCREEN_LEFT) > self.written.rindex(SCREEN_ENTERED)
            assert CURSOR_SHOWN in self.written[self.written.rindex(SCREEN_LEFT) :]
        assert self._settings() == self._before, "lines, echo and signals are as they were"
        self.screen.close()
        assert self.screen.exitstatus is not None
        return self.screen.exitstatus


@pytest.mark.slow
def test_keys_step_and_quit_and_the_terminal_is_as_before(game: Path) -> None:
    terminal = Terminal(XTERM, str(game))
    terminal.until("step 0 of [0-9]+")
    terminal.screen.send("\x1b[C")
    terminal.until("step 1 of")
    assert COLOUR.search(terminal.written)
    terminal.screen.send("\x1b[F")
    terminal.until("won: ")
    terminal.screen.send("q")
    assert terminal.ended() == 0


@pytest.mark.parametrize(
    "number",
    [pytest.param(number, marks=pytest.mark.slow) for number in (SIGTERM, SIGINT, SIGHUP)],
)
def test_a_signal_closes_the_screen_and_is_told_after_it(number: Signals, game: Path) -> None:
    terminal = Terminal(XTERM, str(game))
    terminal.until("step 0 of")
    terminal.screen.kill(number)
    assert terminal.ended() == 3
    assert f"referee: stopped by {number.name}" in terminal.written[terminal.written.rindex(SCREEN_LEFT) :]


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["\x03", "\x1b"])
def test_other_keys_that_quit(keys: str, game: Path) -> None:
    terminal = Terminal(XTERM, str(game))
    terminal.until("step 0 of")
    terminal.screen.send(keys)
    assert terminal.ended() == 0


@pytest.mark.slow
def test_a_terminal_that_is_gone_ends_it(game: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "referee", "replay", str(game)], environment(XTERM))
    shown = b""
    while b"step 0 of" not in shown:
        shown += os.read(terminal, 1000)
    os.write(terminal, b" ++++")
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3


@pytest.mark.slow
@pytest.mark.parametrize("env", [NONE, {**ALWAYS, **NONE}])
def test_no_colour_is_no_colour_on_the_screen_either(env: dict[str, str], game: Path) -> None:
    terminal = Terminal(env, str(game))
    terminal.until("step 0 of")
    terminal.screen.send("G")
    terminal.until("won: ")
    terminal.screen.send("q")
    assert terminal.ended() == 0
    assert SCREEN_ENTERED in terminal.written and not COLOUR.search(terminal.written)


@pytest.mark.slow
@pytest.mark.parametrize("env", [DUMB, pytest.param({}, marks=pytest.mark.slow)])
def test_a_dumb_terminal_gets_the_text(env: dict[str, str], game: Path) -> None:
    terminal = Terminal(env, str(game))
    assert terminal.ended() == 0
    assert "1. seat 1 a: " in terminal.written and "\x1b" not in terminal.written


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["< /dev/null", "2> err", "> out"])
def test_a_stream_that_is_no_terminal_gets_the_text(redirection: str, game: Path, tmp_path: Path) -> None:
    command = f"{THIS_PYTHON} -m referee replay {game} {redirection}"
    screen = pexpect.spawn(
        "sh", ["-c", command], cwd=str(tmp_path), env=environment(XTERM), encoding="utf-8", timeout=TOO_LONG_S
    )
    screen.expect(pexpect.EOF)
    written = str(screen.before)
    screen.close()
    out = (tmp_path / "out").read_text() if redirection == "> out" else written
    assert screen.exitstatus == 0 and "1. seat 1 a: " in out and "\x1b[?" not in written


@pytest.mark.slow
def test_the_exit_code_of_a_damaged_record_is_told_after_the_screen(game: Path, tmp_path: Path) -> None:
    header, line, *_ = (game / "games.jsonl").read_text().splitlines()
    record = json.loads(line)
    record["events"][2]["move"] = record["events"][0]["move"]
    (tmp_path / "games.jsonl").write_text(f"{header}\n{json.dumps(record)}\n")
    terminal = Terminal(XTERM, str(tmp_path))
    terminal.until("step 0 of")
    terminal.screen.send("G")
    terminal.until("cannot be replayed")
    terminal.screen.send("q")
    assert terminal.ended() == 6
    assert "referee: game 1:a:" in terminal.written[terminal.written.rindex(SCREEN_LEFT) :]


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], pytest.param(["--all"], marks=pytest.mark.slow)])
def test_the_screen_s_library_is_not_loaded_for_text(words: list[str], game: Path) -> None:
    code = "import sys; from referee.cli import cli; cli.main(sys.argv[1:], standalone_mode=False)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules, file=sys.stderr)", "replay", str(game), *words],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert "1. seat 1 a: " in done.stdout
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "referee" in loaded and not loaded & {"jinja2", "starlette", "uvicorn", "rich"}


@pytest.mark.slow
def test_the_screen_begins_at_a_step(game: Path) -> None:
    terminal = Terminal(XTERM, str(game), "--step", "2")
    terminal.until("step 2 of")
    terminal.screen.send("q")
    assert terminal.ended() == 0


@pytest.mark.slow
def test_games_are_chosen_from_a_list_one_after_another(games: Path) -> None:
    terminal = Terminal(XTERM, str(games))
    terminal.until("how it ended")
    terminal.until("4 games")
    terminal.screen.send("\x1b[B\r")
    terminal.until("1:b:a: blooms")
    terminal.until("step 0 of")
    terminal.screen.send("q")
    terminal.until("4 games")
    terminal.screen.send("/2:a\r")
    terminal.until("1 of 4 games: 2:a")
    terminal.screen.send("\r")
    terminal.until("2:a:b: blooms")
    terminal.until("step 0 of")
    terminal.screen.send("q")
    terminal.until("4 games")
    terminal.screen.send("q")
    assert terminal.ended() == 0
