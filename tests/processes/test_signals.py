"""Signals at moments of a command: it ends with one line and the right exit code."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.core import stop
from tests.command import BAD, PLAIN, ROOT
from tests.processes.runs import games, toml
from tests.waiting import TOO_LONG_S

NOW = """
import atexit, signal, sys
def now(*_): signal.raise_signal(signal.SIGTERM)  # in this thread
def when(wanted, text, then):
    sys.addaudithook(lambda event, given: then() if event == wanted and text in str(given[0]) else None)
def before(owner, name, then):
    original = getattr(owner, name)
    setattr(owner, name, lambda *given: (then(), original(*given))[1])
class Gone:
    __del__ = now
"""

IN_A_RUN = "import referee.tournament.run.open_run as f; before(f.OpenRun, 'reveal_seed', {})"

STOPPED = r"referee: stopped by SIGTERM\n"

AT_THE_END = r"head hash \w+\nnext: referee replay \S+\n +referee report \S+ -o t-results.html\n"
"""What a run that was played to its end says last."""

IN_A_TERMINAL = {**os.environ, "TERM": "xterm-256color"}
"""Without the name of a terminal there is no live view."""


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("moment", "code", "told"),
    [
        pytest.param("when('import', 'click', now)", 3, STOPPED, id="imports"),
        pytest.param("when('open', 't.toml', now)", 3, STOPPED, id="command"),
        pytest.param("when('open', 't.toml', Gone)", 3, STOPPED, id="finalizer", marks=pytest.mark.slow),
        pytest.param(
            IN_A_RUN.format("now"),
            0,
            rf".*\nSIGTERM: only the table .*{AT_THE_END}",
            id="table",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            IN_A_RUN.format("lambda: (now(), now())"),
            3,
            r".*\nSIGTERM: only the table [^\n]*\nreferee: stopped at once by SIGTERM\n",
            id="table-at-once",
            marks=pytest.mark.slow,
        ),
        pytest.param("atexit.register(now)", 0, f".*{AT_THE_END}", id="exit", marks=pytest.mark.slow),
    ],
)
def test_a_signal_at_a_moment(moment: str, code: int, told: str, tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": PLAIN, "b": PLAIN}, rounds=1)
    script = f"{NOW}\n{moment}\nfrom referee.__main__ import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", script, "run", str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=TOO_LONG_S,
    )
    assert done.returncode == code, done.stderr
    assert re.fullmatch(told, done.stderr, re.DOTALL), done.stderr
    assert code != 0 or "score" in done.stdout
    if told == STOPPED:
        assert [path.name for path in tmp_path.iterdir()] == ["t.toml"] and not done.stdout


@pytest.mark.slow
def test_a_run_whose_terminal_is_gone_is_stopped_and_continues(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", {"a": f"{BAD} sleep 0.3", "b": PLAIN}, rounds=50, clock="5s", workers=1)
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "referee", "run", str(file)], IN_A_TERMINAL)
    shown = b""
    while b"2 of 100 games" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)  # which sends SIGHUP, and no output is accepted any more
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 3
    assert 2 <= len(games(tmp_path / "t-results")) < 100


def test_a_signal_while_a_class_is_made_interrupts() -> None:
    class Field:
        def __set_name__(self, owner: type, name: str) -> None:
            raise stop.Interrupted("stopped by SIGTERM")

    with pytest.raises(stop.Interrupted, match="SIGTERM"), stop.Interruptible():
        type("Imported", (), {"field": Field()})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_ignored_signal_stays_ignored(number: signal.Signals) -> None:
    code = "import signal; from referee.core import stop; "
    code += f"signal.signal({number:d}, signal.SIG_IGN); stop.take_signals(); signal.raise_signal({number:d})"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
