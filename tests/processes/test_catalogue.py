"""The catalogue of faults against real processes, and what of it takes more than a bot."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pwd
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from referee.core.units import TimeControl, parse_period
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.gameplay.hints import HELD_BACK
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.blooms import BloomsState
from referee.games.floral.state import FloralState
from referee.processes import owned, stamped, tree
from referee.processes.process import BotProcess, end_processes
from referee.processes.program import Program
from referee.records.record import GameRecord, to_json
from referee.records.replay import verify
from referee.tournament.workers.encounter import ProcessUse, play_encounter
from tests.catalogue import ROWS, ways
from tests.catalogue.row import LONG, PAUSES, RESIGNS, AtRandom, Attack, Case, Defect, Elsewhere
from tests.command import RANDOM, ROOT, at_start, referee, referee_process, sh, sh_words
from tests.processes.encounters import time_is_up_once
from tests.processes.runs import games, lines_of, run_with, toml, until
from tests.programs import needs, path_of
from tests.waiting import TOO_LONG_S, eventually

LEVEL = os.environ.get("CATALOGUE_ISOLATION", "none")
"""The level of isolation of the bots in the rows: another one for a run that compares the levels."""

MARK = "REFEREE_TEST"
ANY_USER = pytest.mark.any_user
HAS_PROC = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


def command(bot: str | tuple[str, ...]) -> tuple[str, ...]:
    """What a case starts."""
    return bot if isinstance(bot, tuple) else sh_words(bot)


def encounter(
    case: Case, folder: Path = ROOT, mark: str = "", fresh: tuple[str, ...] = ()
) -> Iterator[GameRecord]:
    """Games of a bad bot, which begins, with a good one that has all the time that it wants."""
    game = GAMES["blooms"]
    bots = [
        Program(
            "bad",
            command(case.bot),
            folder,
            ((MARK, mark),),
            limits=case.limits,
            pty=case.pty,
            isolation=LEVEL,
        ),
        Program("good", sh_words(case.foe), ROOT, isolation=LEVEL),
    ]
    controls = (TimeControl.parse(case.clock), TimeControl.parse(LONG))
    options = game.settle({"size": "8"})
    terms = [
        Terms(f"{number}", game, options, ("bad", "good"), controls, b"s") for number in range(case.games)
    ]
    yield from play_encounter(bots, terms, start_us=parse_period(case.start), use=ProcessUse(fresh=fresh))


def all_gone(mark: str) -> None:
    """Waits until no process of the bots with this mark is there. What lives on is ended."""
    try:
        eventually(lambda: not marked(mark))
    finally:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)


def marked(mark: str) -> list[int]:
    """The processes of bots with this mark, zombies not counted."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


# --- The rows --------------------------------------------------------------------------------------------

WORST = (6, 16, 17, 20, 21, 22, 23, 27, 32, 65, 74)
"""Rows whose first case ends with the bot's first question."""

CASES = [
    pytest.param(
        case,
        id=name,
        marks=[
            *([ANY_USER] if case.any_user else []),
            *([] if row.number in WORST else [pytest.mark.slow]),
        ],
    )
    for row in ROWS
    for name, case in row.cases
]


@pytest.fixture
def cores_allowed() -> Iterator[None]:
    """Lets this process write cores, as far as it may."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


@pytest.mark.quick_cases(7)
@pytest.mark.usefixtures("cores_allowed")
@pytest.mark.parametrize("case", CASES)
def test_row(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if case.linux and sys.platform != "linux":
        pytest.skip("only Linux has what it takes")
    if "setsid " in repr(case):
        path_of("setsid")
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # not the bots' business
    held_back = case.hint and case.hint in HELD_BACK
    monkeypatch.setattr("referee.wire.connection.LOST_GRACE_S", TOO_LONG_S if held_back else 0.01)
    if case.late:
        time_is_up_once(monkeypatch, case.late, "bad")
    subprocess.run(["sh", "-c", case.setup], cwd=tmp_path, check=True)
    mark = f"{os.getpid()}/{request.node.callspec.id}"
    try:
        records = list(encounter(case, tmp_path, mark))
    finally:
        all_gone(mark)
    assert len(records) == case.games
    for record in records:
        verify(to_json(record))
        check(record, case)


def check(record: GameRecord, case: Case) -> None:
    """Holds a record against what is expected."""
    last = record.events[-1]
    assert isinstance(last, Retired)
    assert case.detail in last.detail
    assert record.faults == (case.verdict, "")
    assert record.verdict.outcome.ranks == ((2, 1) if case.verdict else (1, 2))
    assert record.verdict.ending.word == (case.verdict or "resigned")
    assert case.hint in last.hint
    assert sum(isinstance(event, Rejected) for event in record.events) == case.rejected
    kept = record.measured["seats"][0]
    assert tuple(kept.get("noise", {"lines": ()})["lines"]) == case.noise
    assert case.stderr in "".join(part["text"] for part in kept.get("stderr", {}).values())
    assert case.escaped in "".join(kept.get("escaped", ()))


def test_every_row_stands_once_and_is_tested_or_says_why_not() -> None:
    assert [row.number for row in ROWS] == [*range(1, len(ROWS) + 1)]
    names = [name for row in ROWS for name, _ in row.cases]
    assert len(names) == len(set(names))
    for row in ROWS:
        assert row.ways
        for way in row.ways:
            if isinstance(way, Elsewhere):
                file, _, test = way.name.partition("::")
                name, _, parameter = test.partition("[")
                text = "".join(path.read_text() for path in (ROOT / "tests").rglob(file))
                assert f"def {name}(" in text and parameter.removesuffix("]") in text, way.name


def test_every_fault_is_the_verdict_of_a_row() -> None:
    """Rows of these two kinds also play the record again, which reads the fault back."""
    verdicts = {way.verdict for way in ways(Case)} | {way.verdict for way in ways(AtRandom)}
    faults = {ending.word for ending in Ending if ending.is_fault and not ending.is_forfeit}
    assert faults - verdicts == set(), "no `Case` or `AtRandom` in tests/catalogue/mistakes.py"


def test_the_bots_know_what_the_catalogue_has_them_do() -> None:
    """One that does not know a name plays well, which would look like harmless misbehaviour."""
    bots = ROOT / "tests" / "bots"
    done = [("faulty_bot.py", way.vice) for way in ways(AtRandom)]
    done += [("check_bots.py", way.name) for way in ways(Defect)]
    for file, name in done:
        assert f'"{name}"' in (bots / file).read_text(), name
    attackers = {path.suffix: path.read_text() for path in (bots / "attacks").iterdir() if path.is_file()}
    for way in ways(Attack):
        assert f'"{way.name}"' in attackers[{"Python": ".py", "C": ".c"}[way.language]], way.name


# --- Another user ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def another(user: int) -> Iterator[tuple[Path, Callable[..., subprocess.CompletedProcess[str]]]]:
    """A folder of another user's, and a way to run Python as that user."""
    folder = Path(tempfile.mkdtemp())
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        try:
            return subprocess.run(
                command,
                cwd=ROOT,
                env=env,
                user=user,
                group=user,
                extra_groups=[],
                capture_output=True,
                text=True,
            )
        except PermissionError:
            pytest.skip(f"user {user} may not read these files")

    try:
        os.chown(folder, user, user)
        yield folder, run
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
@AS_ROOT
def test_what_depends_on_the_user_holds_for_an_ordinary_one_too() -> None:
    with another(pwd.getpwnam("nobody").pw_uid) as (folder, run):
        words = [
            "-m",
            "pytest",
            "-n0",
            "-m",
            "any_user",
            "-p",
            "no:cacheprovider",
            "--basetemp",
            str(folder / "t"),
        ]
        done = run("-B", *words, "-rA", __file__)
    assert done.returncode == 0, done.stdout
    for case in CASES:
        passed = f"PASSED tests/processes/test_catalogue.py::test_row[{case.id}]" in done.stdout
        assert passed == (ANY_USER in case.marks)


# Nobody's: a bot of this user may kill all that it can, but not what another run of the tests has started.
THROW_AWAY = 61_000 + os.getpid() % 4_000


@needs("grep")
@AS_ROOT
@pytest.mark.slow
def test_a_bot_that_kills_the_referee_costs_no_game_that_was_played() -> None:
    """It kills all that its user runs, when it is started for the third time."""
    kills = (
        f'echo >>starts; [ $(wc -l <starts) = 3 ] && [ "$(id -u)" = {THROW_AWAY} ]'
        " && grep -q 'CapEff:.0*$' /proc/self/status && kill -9 -1; play"
    )
    with another(THROW_AWAY) as (folder, run):
        file = toml(folder / "t.toml", {"bad": sh(kills), "good": sh(RESIGNS)}, rounds=4, isolation="none")
        results = folder / "t-results"
        done = run("-B", "-m", "referee", "run", str(file))
        assert done.returncode == -signal.SIGKILL
        played = games(results)
        assert len(played) == 4
        done = run("-B", "-m", "referee", "run", str(file))
        assert done.returncode == 0, done.stderr
        assert len(games(results)) == 8 and played.items() <= games(results).items()
        assert run("-B", "-m", "referee", "verify", str(results)).returncode == 0


@ANY_USER
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_said_before_the_first_game(tmp_path: Path) -> None:
    bots = {"a": sh("touch started; play"), "b": sh(RESIGNS)}
    file = toml(tmp_path / "t.toml", bots)
    (tmp_path / "shut").mkdir(mode=0o555)
    for folder in (tmp_path / "shut", tmp_path / "shut" / "new"):
        done = referee("run", str(file), "-o", str(folder))
        assert done.code == 2 and "cannot write to" in done.err and len(done.err.splitlines()) == 1
    assert not (tmp_path / "started").exists()


@ANY_USER
@pytest.mark.skipif(os.geteuid() == 0, reason="root may start as many as it likes")
def test_a_user_who_may_start_no_more_processes_lacks_something() -> None:
    bots = f"a={sh(RESIGNS)}", f"b={sh(RESIGNS)}"
    done = limited(resource.RLIMIT_NPROC, 1, "match", "blooms", *bots)
    assert done.returncode == 5 and "referee: cannot start a worker process: " in done.stderr, done.stderr


def limited(what: int, most: int, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line with a limit that it cannot lift."""
    return subprocess.run(
        [sys.executable, "-m", "referee", *words],
        preexec_fn=lambda: resource.setrlimit(what, (most, most)),
        capture_output=True,
        text=True,
        timeout=TOO_LONG_S,
    )


# --- Descriptors -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def descriptors_allowed(count: int) -> Iterator[None]:
    """Lets this process have so many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        pytest.skip(f"needs {count} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@ANY_USER
def test_plays_with_small_pipes_and_large_descriptors() -> None:
    """Whoever is not root gets pipes of two pages beyond a thousand of them; `list` gives more than that."""
    with descriptors_allowed(4000):
        pipes = [os.pipe() for _ in range(1100)]
        try:
            (record,) = encounter(Case(tuple(shlex.split(RANDOM)), foe=PAUSES))
        finally:
            for end in itertools.chain(*pipes):
                os.close(end)
    assert record.faults == ("", "") and record.verdict.ending.word == "resigned"
    assert sum(isinstance(event, Moved) for event in record.events) == 3


@pytest.mark.slow
def test_few_descriptors_are_enough_or_the_environment_s_lack() -> None:
    words = ["match", "blooms", f"a={sh('play')}", f"b={sh(RESIGNS)}"]
    assert limited(resource.RLIMIT_NOFILE, 64, *words).returncode == 0
    done = limited(resource.RLIMIT_NOFILE, 10, *words)
    assert done.returncode == 5 and "Too many open files" in done.stderr
    assert "Traceback" not in done.stderr


# --- Processes -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_bot_does_not_reach_the_referee_s_terminal() -> None:
    bot = sh("(: >/dev/tty) 2>/dev/null && exit 9; play")
    words = ["-m", "referee", "match", "blooms", "-n", "1", "--strict", f"a={bot}", f"b={sh(RESIGNS)}"]
    screen = pexpect.spawn(sys.executable, words, encoding="utf-8", timeout=TOO_LONG_S)
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == 0, screen.before


def test_a_folder_that_vanishes_costs_its_bot_the_games_that_follow(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    bot = 'asked; rm -r "$PWD"; answer; listen quit'
    records = list(encounter(Case(bot, games=3), folder, fresh=("bad",)))
    assert [record.faults for record in records] == [("", ""), ("start", ""), ("start", "")]
    assert isinstance(left := records[1].events[0], Retired) and "No such file or directory" in left.detail


@HAS_PROC
def test_a_bot_keeps_its_number_until_all_of_it_is_ended() -> None:
    """So that a signal that is meant for it, or for its group, can reach nobody else."""
    process = BotProcess(Program("sh", ("sh", "-c", "exit"), ROOT))
    assert eventually(process.exit_status) == "exited with status 0"
    assert b") Z " in Path(f"/proc/{process.pid}/stat").read_bytes()
    process.terminate()
    end_processes([process])
    assert not Path(f"/proc/{process.pid}").exists()


@pytest.mark.slow
@HAS_PROC
def test_no_bot_lives_on_when_all_above_it_is_killed(tmp_path: Path) -> None:
    """A bot that did would see the file `on`. In the end, another referee on this machine would find it."""
    mark = f"{os.getpid()}/all above it"
    bot = sh(f"asked; echo >up; {until(tmp_path / 'on')}; echo >lives")
    bots = [f"{name}=env '{MARK}={mark}' {bot}" for name in "ab"]
    command = [sys.executable, "-m", "referee", "match", "blooms", *bots]
    command += ["--workers", "0", "--time", "1h", "--isolation", "none", "-o", str(tmp_path / "run")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
    eventually((tmp_path / "up").exists)
    assert marked(mark)
    (launcher,) = tree.children(process.pid)
    above = [process.pid, launcher, *tree.children(launcher)]
    for pid in above:  # first stopped, so that none sees the others go
        os.kill(pid, signal.SIGSTOP)
    for pid in reversed(above):  # a child dies with the launcher: afterwards nothing would have its number
        os.kill(pid, signal.SIGKILL)
    process.wait()
    eventually(lambda: all(map(tree.is_dead, above)))
    (tmp_path / "on").touch()
    eventually(lambda: (tmp_path / "lives").exists() or not marked(mark))
    all_gone(mark)
    assert not (tmp_path / "lives").exists()
    owned.remove_left(tempfile.gettempdir())


def test_a_bot_outlives_the_thread_that_started_it() -> None:
    records: list[GameRecord] = []
    games = encounter(Case("while asked; do echo $$ >&2; answer; done", games=2))
    thread = threading.Thread(target=lambda: records.append(next(games)))
    thread.start()
    thread.join()
    records += games
    assert [record.faults for record in records] == [("", "")] * 2
    one, other = (record.measured["seats"][0]["stderr"]["playing"]["text"] for record in records)
    assert one == other, "the same process"


# --- Clocks ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_busy_machine_is_no_bot_s_fault() -> None:
    spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(8)]
    try:
        (record,) = encounter(Case("play", foe="asked; answer; " * 7 + RESIGNS))
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
    assert record.faults == ("", "") and record.verdict.ending.word == "resigned"


def test_when_a_game_began_decides_nothing() -> None:
    (record,) = encounter(Case("play"))
    record.measured["began"] = "1970-01-01T00:00:00.000+00:00"
    verify(to_json(record))


@pytest.mark.slow
def test_slow_rules_cost_no_bot_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = BloomsState.play
    took_ns: list[int] = []

    def slow(state: BloomsState, moves: Any) -> BloomsState:
        began_ns = time.monotonic_ns()
        eventually(lambda: time.monotonic_ns() > began_ns + 200_000_000)
        took_ns.append(time.monotonic_ns() - began_ns)
        return at_once(state, moves)

    monkeypatch.setattr(BloomsState, "play", slow)
    began_ns = time.monotonic_ns()
    (record,) = encounter(Case("play", foe="asked; answer; " * 2 + RESIGNS))
    spent_ns = time.monotonic_ns() - began_ns
    assert record.faults == ("", "") and len(record.events) == 6
    used_us = sum(event.charge.used_us for event in record.events if isinstance(event, Moved))
    assert len(took_ns) >= 5 and used_us <= (spent_ns - sum(took_ns)) // 1000


def test_slow_rules_for_one_seat_cost_the_other_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are asked at once; one has answered while the rules still look at the other's answer."""
    at_once = FloralState.read
    said_us: list[int] = []

    def slow(state: FloralState, seat: int, text: str) -> Any:
        if not said_us:
            eventually((tmp_path / "said").exists)
            said_us.append(time.monotonic_ns() // 1000)
            eventually(lambda: time.monotonic_ns() // 1000 > said_us[0] + 200_000)
        return at_once(state, seat, text)

    monkeypatch.setattr(FloralState, "read", slow)
    game = GAMES["floral"]
    bots = [
        Program(name, sh_words(f"asked; {before}; echo move $n -; {behind}; {RESIGNS}"), tmp_path)
        for name, before, behind in (
            ("a", ":", "echo >answered"),
            ("b", "until [ -e answered ]; do sleep 0.01; done", "echo >said"),
        )
    ]
    terms = Terms("x", game, game.settle({}), ("a", "b"), (TimeControl.parse(LONG),) * 2, b"s")
    (record,) = play_encounter(bots, [terms])
    moves = [event for event in record.events if isinstance(event, Moved)]
    assert len(moves) == 2 and not any(moved.defaulted for moved in moves)
    for moved in moves:
        written_us = record.measured["mono_us"] + moved.timing.asked_us + moved.charge.used_us
        assert written_us <= said_us[0] + 2 * stamped.TICK_NS // 1000


@pytest.mark.slow
def test_a_slow_disk_costs_no_bot_its_time(tmp_path: Path) -> None:
    patch = """
import os, sys, time, referee.records.journal as j
fsync = os.fsync
def slow(file):
    time.sleep(0.5)
    fsync(file)
    print("synced", file=sys.stderr)
j.os.fsync = slow
"""
    bots = {"a": sh("play"), "b": sh("asked; answer; " * 2 + RESIGNS)}
    file = toml(tmp_path / "t.toml", bots, rounds=1, clock=LONG)
    began_ns = time.monotonic_ns()
    done = run_with(patch, file, "--strict", "--workers", "0")
    spent_us = (time.monotonic_ns() - began_ns) // 1000
    assert done.returncode == 0, done.stderr
    played = [line for line in lines_of(tmp_path / "t-results") if line["kind"] == "game"]
    used_us = sum(event["used_us"] for game in played for event in game["measured"]["events"])
    synced = done.stderr.count("synced")
    assert len(played) == 2 and synced > 1 and used_us <= spent_us - 500_000 * synced


# --- Tournaments -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_tournament_of_the_worst(tmp_path: Path) -> None:
    """Every bot loses by its own fault, and the tournament goes on and ends well."""
    worst = {row.number: next(row.cases)[1] for row in ROWS if row.number in WORST}
    bots = {f"row-{number}": case.bot for number, case in worst.items()} | {
        "illegal": ("{python}", "-I", "-S", str(ROOT / "tests" / "bots" / "bad_bot.py"), "illegal for ever"),
        "good": "play",
    }
    verdicts = {f"row-{number}": case.verdict for number, case in worst.items()} | {"illegal": "illegal"}
    lines = [
        "[tournament]",
        'game = "blooms"',
        "workers = 2",
        'seed = "s"',
        'clock = "30s"',
        'processes = "game"',
    ]
    for name, bot in bots.items():
        lines += ["[[bot]]", f"name = {json.dumps(name)}", f"cmd = {json.dumps(command(bot))}"]
        if verdicts.get(name) == "time":
            lines.append('clock = "1s"')
    file = tmp_path / "t.toml"
    file.write_text("\n".join(lines))

    done = referee("run", str(file))
    assert done.code == 0, done.err
    counted = games(tmp_path / "t-results")
    assert len(counted) == len(bots) * (len(bots) - 1)
    for game in counted.values():
        one, other = (verdicts.get(name, "") for name in game["bots"])
        if "start" in (one, other):
            expected = [word if word == "start" else "" for word in (one, other)]
        else:
            expected = [one, "" if one else other]
        assert game["faults"] == expected, game["id"]
    table = json.loads(referee("table", str(tmp_path / "t-results"), "--format", "json").out)["standings"]
    assert {row["bot"]: sum(row["faults"].values()) for row in table} == {
        name: sum(
            game["faults"][game["bots"].index(name)] != ""
            for game in counted.values()
            if name in game["bots"]
        )
        for name in bots
    }
    assert table[0]["bot"] == "good" and table[0]["points"] == 2 * (len(bots) - 1)
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    strict = referee("run", str(file), "--strict")
    assert strict.code == 8 and strict.out == done.out, "nothing is played again"


DIES = """
import os, sys
if "tournament.worker" in str(sys.orig_argv):
    import referee.tournament.workers.encounter as e
    play = e._play
    def dies(terms, *rest):
        if terms.id == "1:a:b":
            os._exit(9)
        return play(terms, *rest)
    e._play = dies
"""


@pytest.mark.slow
def test_a_game_that_kills_its_worker_each_time_holds_up_no_other(tmp_path: Path) -> None:
    env = at_start(DIES, tmp_path)
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", sh(RESIGNS)), workers=1)
    for _ in range(2):
        done = referee_process("run", str(file), env=env)
        assert done.code == 1 and "games without a result: 1:a:b;" in done.err
        assert set(games(tmp_path / "t-results")) == {"1:b:a", "2:a:b", "2:b:a"}
    assert referee("verify", str(tmp_path / "t-results")).code == 0


CHOOSES = "while asked; do q=$n; echo list $q 1; listen choice; echo move $q $n $rest; done"


@pytest.mark.slow
def test_the_seed_of_hashes_changes_no_game(tmp_path: Path) -> None:
    """As on another machine: a run is begun with one seed of Python's hashes and continued with another."""
    for rounds, seed in ((1, "1"), (2, "2")):
        file = toml(tmp_path / "t.toml", dict.fromkeys("ab", sh(CHOOSES)), rounds=rounds)
        assert referee_process("run", str(file), env={"PYTHONHASHSEED": seed}).code == 0
    whole = referee_process("run", str(file), "-o", str(tmp_path / "whole"), env={"PYTHONHASHSEED": "3"})
    assert whole.code == 0
    assert games(tmp_path / "whole") == games(tmp_path / "t-results")
    assert whole.out == referee("table", str(tmp_path / "t-results")).out
