"""Processes of the referee that something outside kills: bots that cannot reach them lose nothing by it."""

from __future__ import annotations

import os
import platform
import re
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.core.settings import LEVELS
from referee.processes import isolation, levels, libc, tree
from referee.processes.confinement import SIGNALS_ABI
from referee.processes.isolation import reaches_referee
from referee.processes.process import BotProcess
from referee.processes.program import Program
from referee.tournament.run import open_run
from referee.tournament.workers import encounter
from referee.wire.connection import BotConnection
from tests.command import PLAIN, at_start, referee, referee_process
from tests.processes.runs import games, toml, voids
from tests.waiting import eventually

KERNEL = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))


def bot(level: str) -> Program:
    return Program("a", ("true",), Path("/"), isolation=level)


@pytest.mark.parametrize(
    ("abi", "reaching"), [(0, {"none", "basic", "landlock"}), (5, {"none", "basic", "landlock"})]
)
def test_without_scopes_of_signals_only_bwrap_keeps_bots_from_the_referee(
    abi: int, reaching: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "landlock_abi", lambda: abi)
    assert {level for level in LEVELS if reaches_referee(bot(level))} == reaching


def test_with_scopes_of_signals_landlock_does_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "landlock_abi", lambda: SIGNALS_ABI)
    assert {level for level in LEVELS if reaches_referee(bot(level))} == {"none", "basic"}


def confined(level: str) -> str:
    """The level, where it works here and keeps bots from the referee."""
    if levels.reason(level) or reaches_referee(bot(level)):
        pytest.skip(f"`{level}` does not keep bots from the referee here")
    return level


def warden(process: BotProcess) -> int:
    return process._started.warden


def wrapper(process: BotProcess) -> int:
    """At `bwrap`, the process of `bwrap` outside the namespace, once the bot's program runs: if it is killed
    before, what it has started may go on.
    """
    eventually(lambda: any("bwrap" not in tree.name(pid) for pid in tree.descendants(process.pid)))
    return process.pid


def first_process(process: BotProcess) -> int:
    """At `bwrap`, the first process inside the namespace, once the warden has a descriptor of it."""
    descriptors = Path(f"/proc/{warden(process)}/fd")
    eventually(lambda: any("pidfd" in str(one.readlink()) for one in descriptors.iterdir()))
    (first,) = tree.children(wrapper(process))
    return first


def killing(
    victim: Callable[[BotProcess], int], monkeypatch: pytest.MonkeyPatch, times: int, at: bytes = b"ask "
) -> None:
    """Has a process of bot `a` killed so many times when it is sent `at`."""
    send, left = BotConnection.send, [times]

    def sends(self: BotConnection, data: bytes) -> object:
        process = self.process
        if process and self.bot.name == "a" and at in data and left[0]:
            left[0] -= 1
            os.kill(victim(process), signal.SIGKILL)
            output = select.poll()
            output.register(process.stdout, 0)
            output.poll()  # until nobody holds its other end: else the bot might answer before it is killed
        return send(self, data)

    monkeypatch.setattr(BotConnection, "send", sends)


@pytest.mark.parametrize("level", ["landlock", pytest.param("bwrap", marks=pytest.mark.slow)])
def test_a_warden_that_is_killed_during_a_game_costs_no_bot_anything(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killing(warden, monkeypatch, 2)
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=1)
    done = referee("run", str(file), "--isolation", confined(level))
    assert done.code == 0, done.err
    assert done.err.count(" was killed while the bot played, ") == 2, done.err
    assert "forfeit" not in done.err and "how often" not in done.err
    played = games(tmp_path / "t-results").values()
    assert len(played) == 2 and not any(any(game["faults"]) for game in played)
    assert sum(game["attempt"] for game in played) == 4
    assert not any("Traceback" in void["error"] for void in voids(tmp_path / "t-results"))


@pytest.mark.slow
@pytest.mark.parametrize("at", ["ask ", "hello "])
@pytest.mark.parametrize("victim", [wrapper, first_process])
def test_a_bwrap_process_that_is_killed_costs_no_bot_anything(
    victim: Callable[[BotProcess], int], at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if victim is first_process and KERNEL < (6, 15):
        pytest.skip("before Linux 6.15 nothing tells who killed the first process of a namespace")
    monkeypatch.setenv(libc.TRACEABLE, "1")  # so that the warden's descriptors can be listed
    killing(victim, monkeypatch, 1, at.encode())
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=1)
    done = referee("run", str(file), "--isolation", confined("bwrap"))
    assert done.code == 0, done.err
    assert done.err.count("bot `a` or its `bwrap` process was killed") == 1, done.err
    played = games(tmp_path / "t-results").values()
    assert [game["faults"] for game in played] == [["", ""]] * 2
    assert sorted(game["attempt"] for game in played) == [1, 2]


@pytest.mark.slow
def test_a_bot_that_kills_itself_at_bwrap_loses(tmp_path: Path) -> None:
    bots = {"a": "sh -c 'echo hello 1; read line; kill -9 $$'", "b": PLAIN}
    file = toml(tmp_path / "t.toml", bots, rounds=1)
    done = referee("run", str(file), "--isolation", confined("bwrap"))
    assert done.code == 0, done.err
    found = sorted(tuple(game["faults"]) for game in games(tmp_path / "t-results").values())
    assert found == [("", "start"), ("start", "")]


HANGS_UP = """
import os, sys
for line in sys.stdin:
    word = line.split()[0]
    if word == "hello":
        print("hello 1", flush=True)
    elif word == "prepare":
        print("ready", flush=True)
    elif word == "ask":
        if os.fork() == 0:
            read, write = os.pipe()
            if os.fork() == 0:  # its end orphans the group, in which `bwrap` is stopped
                os.close(write)
                os.read(read, 1)
                os._exit(0)
            os.setpgid(0, 0)
            os.close(write)
            os.wait()
            os._exit(0)
        os.wait()
"""


@pytest.mark.slow
def test_a_bot_that_has_the_kernel_hang_up_bwrap_loses(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(HANGS_UP)
    file = toml(tmp_path / "t.toml", {"a": "{python} bot.py", "b": PLAIN}, rounds=1)
    done = referee("run", str(file), "--isolation", confined("bwrap"))
    assert done.code == 0 and not voids(tmp_path / "t-results"), done.err
    found = sorted(tuple(game["faults"]) for game in games(tmp_path / "t-results").values())
    assert found == [("", "gone"), ("gone", "")]


@pytest.mark.parametrize("level", ["none", pytest.param("basic", marks=pytest.mark.slow)])
def test_a_bot_that_could_have_killed_its_warden_is_a_suspect_and_does_not_lose(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killing(warden, monkeypatch, 1)
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=1)
    done = referee("run", str(file), "--isolation", level)
    assert done.code == 0, done.err
    assert not any(any(game["faults"]) for game in games(tmp_path / "t-results").values())
    (void,) = voids(tmp_path / "t-results")
    assert void["suspects"] == ["a"]
    assert void["error"] == (
        "the process that watches over bot `a` was killed while the bot played; the bot could have done that"
    )


DIES = """
import os, sys
from pathlib import Path
if "tournament.worker" in str(sys.orig_argv):
    import referee.tournament.workers.encounter as e
    play = e._play
    def dies(terms, *rest):
        deaths = Path({deaths!r})
        if terms.id == "1:a:b" and (died := len(deaths.read_text())) < {times}:
            deaths.write_text("x" * (died + 1))
            os.kill(os.getpid(), 9)
        return play(terms, *rest)
    e._play = dies
elif "run" in sys.orig_argv:
    import referee.tournament.run.open_run as o
    o.PAUSES_S = (0, 0.1, 0.2, 0.3)
"""


@pytest.mark.slow
def test_workers_that_are_killed_cost_no_bot_anything(tmp_path: Path) -> None:
    deaths = tmp_path / "deaths"
    deaths.touch()
    env = at_start(DIES.format(deaths=str(deaths), times=2), tmp_path)
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=1, workers=1)
    words = ("run", str(file), "--isolation", confined("landlock"))
    done = referee_process(*words, env=env)
    assert done.code == 0, done.err
    played = games(tmp_path / "t-results")
    assert {name: game["attempt"] for name, game in played.items()} == {"1:b:a": 1, "1:a:b": 3}
    assert not any(any(game["faults"]) for game in played.values())
    failed = voids(tmp_path / "t-results")
    assert len(failed) == 2 and not any(void["suspects"] for void in failed)
    assert referee("verify", str(tmp_path / "t-results")).code == 0


@pytest.mark.slow
def test_a_game_that_becomes_void_each_time_gets_five_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("the board is on fire")

    monkeypatch.setattr(open_run, "PAUSES_S", (0.0, 0.0, 0.0, 0.0))
    monkeypatch.setattr(encounter, "_play", breaks)
    done = referee("run", str(toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=1)))
    assert done.code == 1
    assert "games without a result: 1:a:b, 1:b:a; see the lines of kind `void` in `games.jsonl`" in done.err
    assert len(voids(tmp_path / "t-results")) == 10
