"""Levels of isolation: which one a bot gets, what it is kept from, and what is the same at every level."""

from __future__ import annotations

import os
import pwd
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.core.errors import EnvironmentLacksError
from referee.core.settings import CONFINED, LEVELS
from referee.processes import levels, seccomp
from referee.processes.confinement import SIGNALS_ABI, landlock_abi
from referee.processes.limits import Limits
from referee.processes.process import BotProcess, end_processes
from referee.processes.program import Program
from referee.tournament.file.config import load
from referee.tournament.run.readiness import at_levels, with_hidden
from tests.command import referee
from tests.processes.programs import run
from tests.processes.runs import games, toml
from tests.programs import needs, needs_level
from tests.waiting import TOO_LONG_S

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no isolation")


@pytest.fixture(params=[*(pytest.param(level, marks=pytest.mark.slow) for level in LEVELS[:-1]), LEVELS[-1]])
def level(request: pytest.FixtureRequest) -> str:
    return needs_level(request.param)


@pytest.fixture(params=CONFINED)
def confined(request: pytest.FixtureRequest) -> str:
    return needs_level(request.param)


def shell(script: str, level: str, cwd: Path = Path("/"), *arguments: str) -> Program:
    return Program("sh", ("sh", "-c", script, "sh", *arguments), cwd, isolation=level)


def test_streams_scratch_folder_and_status_are_the_same_at_every_level(level: str) -> None:
    said, complaints, process = run(
        shell("echo a > $TMPDIR/f; cat $TMPDIR/f; echo b > /dev/stdout; echo c >&2; exit 7", level)
    )
    assert (said, complaints, process.exit_code) == ("a\nb\n", "c\n", 7)


def test_a_signal_that_ends_the_bot_is_told_at_every_level(level: str) -> None:
    _, _, process = run(shell("kill -SEGV $$", level))
    assert process.exit_code == -11
    assert process.exit_status() == "was ended by SIGSEGV"


def test_a_bot_can_handle_sigterm_at_every_level(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.processes.process.TERM_S", TOO_LONG_S)
    process = BotProcess(shell("trap 'echo ended; exit 0' TERM; echo ready; sleep 600 & wait", level))
    while not process.read():
        pass
    end_processes([process], grace_s=0)
    assert process.final_output == b"ended\n"


def test_nothing_of_an_honest_bot_is_reported_as_left_behind(level: str) -> None:
    _, _, process = run(shell("exit 0", level))
    report = process.exit_report
    assert report
    assert (report.orphans, report.escaped, report.unkillable) == ((), (), ())


def test_scratch_space_is_limited_at_every_level(level: str) -> None:
    bot = replace(
        shell("dd if=/dev/zero of=$TMPDIR/f bs=1M count=8 2>/dev/null; sleep 600", level),
        limits=Limits(scratch=4 << 20),
    )
    _, _, process = run(bot)
    assert "scratch" in process.excess


def test_only_the_bot_s_own_processes_count_at_every_level(level: str) -> None:
    bot = shell("sleep 600 & sleep 600 & sleep 600 & wait", level)
    _, _, process = run(replace(bot, limits=Limits(processes=3)))
    assert process.excess == "4 processes and threads, expected at most 3"


def test_files_outside_are_closed_and_the_bot_s_own_are_not(confined: str, tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
        (folder / "data").write_text("data\n")
    bot = shell(f"cat data; cat {other}/data; echo x > data; echo y > {other}/new", confined, own)
    said, complaints, _ = run(bot)
    assert said == "data\n"
    assert len(complaints.splitlines()) == 3
    assert (own / "data").read_text() == "data\n"
    assert not (other / "new").exists()
    said, _, _ = run(replace(bot, read=(other,)))
    assert said == "data\ndata\n"


def test_what_is_hidden_cannot_be_read_even_in_the_bot_s_own_folder(confined: str, tmp_path: Path) -> None:
    results = tmp_path / "below" / "results"
    results.mkdir(parents=True)
    (results / "games.jsonl").write_text("secret\n")
    for name in ("mine.sh", "rival.sh", "helper"):
        (tmp_path / name).write_text("text\n")
    bots = [Program(name, ("sh", f"{name}.sh"), tmp_path, isolation=confined) for name in ("mine", "rival")]
    mine, rival = with_hidden(bots, [results])
    assert mine.hidden == (results, tmp_path / "rival.sh")
    assert rival.hidden == (results, tmp_path / "mine.sh")
    script = "cat helper mine.sh; cat rival.sh; cat below/results/games.jsonl; ls below/results"
    said, _, _ = run(replace(mine, command=("sh", "-c", script)))
    assert "text\ntext\n" in said
    assert said.count("text") == 2
    assert "secret" not in said


@pytest.mark.parametrize("named", ["results/games.jsonl", "results"])
def test_what_is_hidden_cannot_be_read_because_the_command_names_it(
    named: str, confined: str, tmp_path: Path
) -> None:
    own, results = tmp_path / "own", tmp_path / "results"
    own.mkdir()
    results.mkdir()
    (results / "games.jsonl").write_text("secret\n")
    script = "cat ../results/games.jsonl || echo closed"
    (bot,) = with_hidden([shell(script, confined, own, f"../{named}")], [results])
    for each in (bot, replace(bot, read=(tmp_path / named,))):
        said, _, _ = run(each)
        assert said == "closed\n"


CONNECT = """
import socket, sys
try: socket.create_connection(("127.0.0.1", int(sys.argv[1])))
except OSError: print("no")
else: print("yes")
"""


def test_a_bot_has_no_network_where_it_is_confined(level: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        command = (sys.executable, "-I", "-c", CONNECT, port)
        said, _, _ = run(Program("x", command, Path("/"), isolation=level))
    assert said.strip() == ("no" if level in CONFINED else "yes")


BEYOND = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, call, *arguments):
    result = getattr(libc, call)(*arguments)
    print(name, result if result >= 0 else ctypes.get_errno())
attempt("trace", "ptrace", 0, 0, 0, 0)
NOBODY = 2**22 + 1  # neither a user nor a process, so that nothing changes where the calls are allowed
attempt("priority", "setpriority", 2, NOBODY, 5)
attempt("own priority", "setpriority", 0, 0, 19)
attempt("processors", "sched_setaffinity", NOBODY, 8, b"\\xff" * 8)
attempt("keys", "syscall", 250, 0, -3, 0)
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of system calls are others")
def test_calls_that_reach_beyond_a_process_are_denied(level: str) -> None:
    said, _, _ = run(Program("x", (sys.executable, "-I", "-c", BEYOND), Path("/"), isolation=level))
    trace, *others, keys = said.splitlines()
    refused = 3 if level == "none" else 1  # no such process, or no permission
    assert others == [f"priority {refused}", "own priority 0", f"processors {refused}"]
    assert (trace == "trace 1") == (keys == "keys 1") == (level in CONFINED)


@needs("grep")
def test_a_bot_cannot_gain_privileges(level: str) -> None:
    said, _, _ = run(shell("grep NoNewPrivs /proc/$$/status", level))
    assert (said.split()[1] == "1") == (level != "none")


def test_a_bot_cannot_signal_the_referee_at_basic() -> None:
    if landlock_abi() < SIGNALS_ABI:
        pytest.skip("the kernel's Landlock does not confine signals")
    said, _, _ = run(shell(f"kill -0 {os.getpid()} || echo no; sleep 9 & kill $! && echo yes", "basic"))
    assert said == "no\nyes\n"


@needs("grep")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to lose")
def test_bots_of_root_lose_root_s_rights(level: str) -> None:
    said, _, _ = run(shell("grep CapEff /proc/$$/status", level))
    assert (int(said.split()[1], 16) == 1 << 2) == (level != "none")


def test_root_can_run_bots_as_another_user(level: str) -> None:
    needs_level(level, "nobody")
    script = "id -un; echo x > $TMPDIR/f && cat $TMPDIR/f; sleep 600"
    process = BotProcess(replace(shell(script, level), user="nobody"))
    said = b""
    while said.count(b"\n") < 2 and (data := process.read()) != b"":
        said += data or b""
    status = Path(f"/proc/{process.pid}/status").read_text()
    end_processes([process], grace_s=0)
    assert said == b"nobody\nx\n"
    number = str(pwd.getpwnam("nobody").pw_uid)
    assert f"Uid:\t{number}\t{number}\t{number}" in status, "as the machine sees it, not the bot"


@pytest.mark.skipif(
    not (landlock_abi() and seccomp.AVAILABLE),
    reason="the kernel has no Landlock, or there is no filter for it",
)
def test_landlock_works_where_the_kernel_has_it() -> None:
    """Its trial finds nothing that a bot could do there. Other tests skip a level that fails its trial."""
    assert levels.reason("landlock") == ""


@pytest.mark.slow
def test_the_interpreter_is_found_whatever_the_way_that_names_it(
    confined: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = Program(
        "x", ("{python}", "-I", "-c", "import referee; print('found')"), Path("/"), isolation=confined
    )
    folder, file = os.path.split(sys.executable)
    (tmp_path / "link").symlink_to(folder)
    for way in (f"{tmp_path}/../../{os.path.relpath(folder, tmp_path.parent.parent)}", f"{tmp_path}/link"):
        monkeypatch.setattr(sys, "executable", f"{way}/{file}")
        assert run(bot)[0] == "found\n", way


def test_a_level_that_was_not_settled_is_a_bug_that_says_so() -> None:
    message = "bot `x` is to be started at isolation `auto`, which was not settled"
    with pytest.raises(AssertionError, match=message):
        BotProcess(Program("x", ("true",), Path("/"), isolation="auto"))


def test_levels_are_settled_where_games_are_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "reason", lambda level, user: "" if level == "basic" else "it does not work")
    tournament = load(toml(tmp_path / "t.toml"))

    def found(level: str | None, is_here: bool) -> set[str]:
        return {entrant.bot.isolation for entrant in at_levels(tournament, level, is_here).entrants}

    assert found(None, True) == {"basic"}
    assert found(None, False) == {"auto"}, "each machine of a cluster settles them"
    assert found("landlock", False) == {"landlock"}
    with pytest.raises(EnvironmentLacksError, match="isolation `landlock` does not work on this machine"):
        found("landlock", True)


def test_auto_is_the_strongest_level_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    works = {"bwrap": "it does not work", "landlock": "", "basic": ""}
    monkeypatch.setattr(levels, "reason", lambda level, user: works[level])
    bot = Program("x", ("true",), Path("/"), isolation="auto")
    assert levels.settled([bot])[0].isolation == "landlock"
    works["landlock"] = "it does not work either"
    assert levels.settled([bot])[0].isolation == "basic"
    with pytest.raises(EnvironmentLacksError, match="isolation `bwrap` does not work on this machine"):
        levels.settled([replace(bot, isolation="bwrap")])


def test_a_level_that_is_missing_stops_before_the_first_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.processes.isolation.shutil.which", lambda program, **_: None)
    file = toml(tmp_path / "t.toml", isolation="bwrap")
    monkeypatch.delenv("REFEREE_ISOLATION")
    done = referee("run", str(file))
    assert done.code == 5
    assert "install the package `bubblewrap`" in done.err
    assert not (tmp_path / "t-results" / "games.jsonl").exists()


@pytest.mark.slow
def test_the_level_is_in_every_record_and_under_the_table(
    confined: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REFEREE_ISOLATION")
    file = toml(tmp_path / "t.toml", isolation=confined, rounds=1)
    text = file.read_text().replace('name = "a"', 'name = "a"\nisolation = "basic"')
    file.write_text(text)
    done = referee("run", str(file))
    assert done.code == 0
    assert f"isolation: basic for a; {confined} for b and c" in done.out
    for game in games(tmp_path / "t-results").values():
        assert game["isolation"] == ["basic" if name == "a" else confined for name in game["bots"]]
    assert referee("verify", str(tmp_path / "t-results")).code == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('isolation = "strong"', "expected one of none, basic, landlock, bwrap, auto"),
        ('read = ["/no/such/folder"]', "expected existing files and folders"),
        ('user = "no/user"', "expected the name of a user"),
    ],
)
def test_a_wrong_key_is_one_clear_line(line: str, message: str, tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml")
    file.write_text(file.read_text().replace('name = "a"', f'name = "a"\n{line}'))
    done = referee("run", str(file))
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


def test_an_unknown_user_is_told(tmp_path: Path) -> None:
    done = referee("run", str(toml(tmp_path / "t.toml", user="nobody-of-this-name")))
    assert done.code == 5
    assert "user" in done.err


def test_a_confined_bot_cannot_change_which_process_is_killed_first_for_memory(confined: str) -> None:
    """Raising the number again is what any process may do, where the file can be written."""
    file = "/proc/self/oom_score_adj"
    script = f"{{ echo 1000 >{file}; }} 2>/dev/null && echo written; read number <{file}; echo $number"
    said, _, _ = run(shell(script, confined))
    assert said == {"landlock": "\n", "bwrap": "1000\n"}[confined], "nor read it, at landlock"
