"""Launchers and wardens that something outside kills are never counted as bots that did not start."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.processes import launcher, messages
from referee.processes.launcher import Launcher
from referee.processes.process import BotStart
from referee.processes.program import Program
from referee.processes.tree import children
from referee.tournament.workers import encounter
from tests.command import PLAIN, ROOT, referee
from tests.processes.runs import games, toml, voids
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what a warden needs")


@pytest.fixture(autouse=True)
def without_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots stand in for what kills their warden, which any isolation would keep them from."""
    monkeypatch.setenv("REFEREE_ISOLATION", "none")


KILLED = "kill -9 $PPID; sleep 60"

EACH_THIRD = "echo >>starts; case $(wc -l <starts) in {}) " + KILLED + ";; esac"
"""Once in each encounter the warden is killed, so that of its two games one is played again."""


def bot(folder: Path, first: str = ":", prepared: str = ":") -> str:
    """The command of a bot in the shell: what it does when it starts, and at the beginning of each game."""
    script = folder / "bot.sh"
    script.write_text(
        f"cd {folder}\n{first}\necho hello 1\n"
        "while read word n rest; do\n"
        f"case $word in prepare) {prepared}; echo ready;; ask) echo resign $n;; esac\ndone\n"
    )
    return f"sh {script}"


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", pytest.param("1", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("first", "prepared"),
    [
        pytest.param(EACH_THIRD.format("1|4|7"), ":", id="before-hello", marks=pytest.mark.slow),
        pytest.param(":", EACH_THIRD.format("1|4|7"), id="before-ready"),
        pytest.param(":", EACH_THIRD.format("2|5|8"), id="between-games", marks=pytest.mark.slow),
    ],
)
def test_games_of_a_killed_warden_are_played_again(
    first: str, prepared: str, workers: str, tmp_path: Path
) -> None:
    bots = {"a": bot(tmp_path, first, prepared), "b": PLAIN}
    file = toml(tmp_path / "t.toml", bots, rounds=3, workers=1)
    done = referee("run", str(file), "--workers", workers)
    assert done.code == 0 and "not tried again" not in done.err and "forfeit" not in done.err
    assert done.err.count("over bot `a` was killed before the bot was ready; the bot could have done") == 3
    played = games(tmp_path / "t-results").values()
    assert [game["ending"] for game in played] == ["resigned"] * 6
    assert sorted(game["attempt"] for game in played) == [1, 1, 1, 2, 2, 2]


@pytest.mark.slow
@pytest.mark.parametrize("at", ["start", pytest.param("ask", marks=pytest.mark.slow)])
def test_a_bot_that_kills_its_warden_again_and_again_gains_nothing(at: str, tmp_path: Path) -> None:
    """It alone forfeits, also where all games are against the same other bot."""
    asked = f"sh -c 'echo hello 1; read seed; read prepare; echo ready; read ask; {KILLED}'"
    bots = {"a": bot(tmp_path, KILLED) if at == "start" else asked, "b": PLAIN}
    done = referee("run", str(toml(tmp_path / "t.toml", bots)))
    assert done.code == 0 and "bot `a` forfeits its remaining games" in done.err, done.err
    played = games(tmp_path / "t-results").values()
    assert len(played) == 4
    assert all(game["faults"] == ["void" if bot == "a" else "" for bot in game["bots"]] for game in played)
    assert all(void["suspects"] == ["a"] for void in voids(tmp_path / "t-results"))


@pytest.mark.slow
def test_a_warden_that_is_killed_before_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has taken the request, so the bot may be what killed it."""
    notice, left = launcher._notice, [1]

    def killed(control: object) -> list[str]:
        if not left.pop():
            raise ConnectionResetError
        left.append(0)
        return [messages.TAKEN]

    def once(control: object) -> list[str]:
        return killed(control) if left else notice(control)  # type: ignore[arg-type]

    monkeypatch.setattr(launcher, "_notice", once)
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=1)
    done = referee("run", str(file))
    assert done.code == 0 and "ready; the bot could have done that, it is played again" in done.err
    assert sorted(game["attempt"] for game in games(tmp_path / "t-results").values()) == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "killed", ["all", *(pytest.param(killed, marks=pytest.mark.slow) for killed in ("launcher", "wardens"))]
)
def test_what_is_killed_while_no_bot_runs_is_replaced(
    killed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time that the first bot of an encounter is to start. A warden that has taken a bot's request could
    have been killed by that bot.
    """
    starts: list[BotStart] = []

    def start(bot: Program) -> BotStart:
        is_one_pending = any(start._pending._sent for start in starts)
        if (there := Launcher._only) and not Launcher._serving and not is_one_pending:
            pid = there._process.pid
            wardens = children(pid)
            for victim in {"launcher": [pid], "wardens": wardens, "all": [*wardens, pid]}[killed]:
                os.kill(victim, signal.SIGKILL)
        starts.append(BotStart(bot))
        return starts[-1]

    monkeypatch.setattr(encounter, "BotStart", start)
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=3)
    done = referee("run", str(file))
    assert done.code == 0, done.err
    played = games(tmp_path / "t-results").values()
    assert len(played) == 6 and not any(any(game["faults"]) for game in played)


@pytest.mark.slow
def test_launchers_that_are_killed_again_and_again_cost_no_bot_anything(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=30, workers=1)
    command = [sys.executable, "-m", "referee", "run", str(file)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    records, kills, enough = tmp_path / "t-results" / "games.jsonl", 0, 1

    def played_on() -> bool:
        """A game that became void twice would be forfeited: first it is played again, and another one."""
        stored = records.exists() and records.read_bytes().count(b'"kind":"game"')
        return run.poll() is not None or stored >= enough

    while run.poll() is None:
        eventually(played_on)
        for worker in children(run.pid):
            for child in children(worker):
                with contextlib.suppress(OSError):
                    if b"processes.warden" in Path(f"/proc/{child}/cmdline").read_bytes():
                        os.kill(child, signal.SIGKILL)
                        kills += 1
        enough = len(games(records.parent)) + 4
    _, err = run.communicate()
    assert kills > 1 and run.returncode == 0, err
    played = games(tmp_path / "t-results").values()
    assert len(played) == 60 and not any(any(game["faults"]) for game in played)
