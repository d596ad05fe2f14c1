"""What a worker is: light, and told of no more than its own games."""

from __future__ import annotations

import contextlib
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from referee.cli import cli
from referee.core.errors import EnvironmentLacksError, StorageError
from referee.core.this_machine import this_machine
from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.program import Program
from referee.records import journal
from referee.records.record import parse_json
from referee.tournament.file.config import load
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.plan import Entrant, Plan
from referee.tournament.playing import LATER_FAILURES, WORKER_FAILURES, TournamentPlayer
from referee.tournament.run.lock import locked
from referee.tournament.run.opening import open_run
from referee.tournament.run.readiness import programs_here, ready
from referee.tournament.run.run import find_run, read_run
from referee.tournament.schedule import encounter
from referee.tournament.tournament import Tournament
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.task import (
    Backend,
    Finished,
    Report,
    ReportHandler,
    Task,
    Void,
    Waiting,
    WorkerDied,
)
from referee.tournament.workers.worker import Player
from tests.command import PLAIN, ROOT, referee
from tests.processes.runs import lines_of, toml

NOT_FOR_WORKERS = {"click", "rich", "tabulate", "numpy", "pexpect", "tomllib", "asyncio"}


def test_a_worker_s_module_imports_nothing_of_the_command_line() -> None:
    script = "import sys, referee.tournament.workers.local_backend; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found = set(done.stdout.split())
    assert "referee.tournament.workers.worker" in found and not found & NOT_FOR_WORKERS


@pytest.mark.slow
def test_commands_import_what_computes_with_arrays_only_where_they_compute() -> None:
    commands = sorted(
        path.stem for path in (ROOT / "referee" / "cli").glob("*.py") if path.stem != "__init__"
    )
    script = f"import sys, {', '.join(f'referee.cli.{name}' for name in commands)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    found = set(done.stdout.split())
    assert "referee.cli.playing" in found and "numpy" not in found


def test_the_list_of_commands_is_printed_without_importing_them() -> None:
    script = "import sys; from referee.cli import cli; cli.main(['--help'], standalone_mode=False)"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    found = {name for name in done.stdout.split() if name.partition(".")[0] == "referee"}
    assert "Plays a tournament, or continues it." in done.stdout
    assert {name for name in found if not name.startswith("referee.core")} == {
        "referee",
        "referee.cli",
        "referee.cli.output",
    }
    assert not set(done.stdout.split()) & NOT_FOR_WORKERS - {"click"}


def test_every_module_of_a_command_is_in_the_list() -> None:
    modules = (ROOT / "referee" / "cli").glob("*.py")
    names = {path.stem.replace("_", "-"): path.read_text() for path in modules}
    stated = {name for name, text in names.items() if text.startswith(f'"""`referee {name}`: ')}
    assert stated == set(cli.commands)
    for name in stated:
        command = cli.resolve_command(click.Context(cli), [name])[1]
        assert command is not None and command.name == name and command.callback


def plan(bots: int) -> Plan:
    game = GAMES["blooms"]
    control = TimeControl.parse("10s")
    entrants = tuple(
        Entrant(
            Program(f"b{number}", (sys.executable, str(ROOT / "sample_bots" / "plain_bot.py")), ROOT), control
        )
        for number in range(bots)
    )
    return Plan(game, game.settle({"size": "3"}), entrants, "s")


def task(of: Plan) -> Task:
    games = tuple((pairing, 1) for pairing in encounter(1, ("b0", "b1")).games)
    return Task(of.among(("b0", "b1")), games, "nothing")


def test_a_task_costs_the_same_however_many_bots_there_are() -> None:
    assert len(pickle.dumps(task(plan(300)))) == len(pickle.dumps(task(plan(2)))) < 3000


def test_what_is_reported_of_a_game_is_its_record(tmp_path: Path) -> None:
    reports: list[Report] = []
    Player(reports.append, lambda: False).play(task(plan(2)))
    finished = [report for report in reports if isinstance(report, Finished)]
    written = journal.Journal.create(tmp_path)
    written.append(Tournament((plan(2),), RoundRobin()).header.members)
    written.extend(report.body for report in finished)
    written.close()
    assert list(read_run(tmp_path).games.values()) == [report.game for report in finished]
    for line, report in zip(list(journal.read(tmp_path))[1:], finished, strict=True):
        value = parse_json(line.text)
        assert {**report.record(), "prev": value["prev"], "hash": value["hash"]} == value
        moves = [event for event in value["measured"]["events"] if "used_us" in event]
        assert report.timed["all"] == len(moves) > 0


@pytest.mark.slow
def test_a_player_names_its_worker(tmp_path: Path) -> None:
    given = replace(task(plan(2)), keep="all")
    reports: list[Report] = []
    Player(reports.append, lambda: False, worker="tcp://10.0.0.2:40001\x1b 3").play(given)
    finished = [report for report in reports if isinstance(report, Finished)]
    for report in finished:
        assert report.record()["measured"]["machine"] == {
            **this_machine()._asdict(),
            "worker": "tcp://10.0.0.2:40001\\x1b 3",
        }
    written = journal.Journal.create(tmp_path)
    written.append(Tournament((plan(2),), RoundRobin()).header.members)
    written.extend(report.body for report in finished)
    written.close()
    done = referee("verify", str(tmp_path))
    assert done.code == 0, done.err


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_every_record_of_a_run_names_the_machine_and_the_worker(workers: int, tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("abc", PLAIN), rounds=1, workers=workers)
    assert referee("run", str(file)).code == 0
    machines = [line["measured"]["machine"] for line in lines_of(tmp_path / "t-results") if "id" in line]
    assert len(machines) == 6
    names = {machine.pop("worker") for machine in machines}
    assert names == {"1", "2"} if workers else names == {"0"}
    assert machines == [this_machine()._asdict()] * 6


class Silent:
    """Is told of a tournament."""

    def __init__(self) -> None:
        self.counted: list[str] = []

    def began(self, game: str) -> None:
        pass

    def waiting(self, waiting: Waiting) -> None:
        pass

    def finished(self, finished: Finished) -> None:
        self.counted.append(finished.game.id)

    def void(self, void: Void, then: str) -> None:
        pass

    def note(self, line: str) -> None:
        pass

    def rule(self, line: str) -> None:
        pass

    def tick(self) -> None:
        pass


def test_a_game_counts_only_when_it_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = "".join(f"[[bot]]\nname = '{name}'\ncmd = {json.dumps(PLAIN)}\n" for name in "ab")
    (tmp_path / "t.toml").write_text(f"[tournament]\ngame = 'blooms'\n[options]\nsize = 3\n{bots}")
    tournament, run = load(tmp_path / "t.toml"), find_run(tmp_path / "run")
    programs = programs_here(tournament, run.folder)
    with locked(run.folder), open_run(tournament, run, programs, True, print) as opened:
        show = Silent()
        player = TournamentPlayer(tournament, opened, tournament.keep, show, programs, 0)

        def full(file: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("referee.records.journal.os.fsync", full)
        with pytest.raises(StorageError):
            player.play(local_backend(0), lambda: False)
        assert show.counted == [] and not opened.state.games


class Dying(Backend):
    """Workers that die before their first game as often as is said, before each game; in this process."""

    def __init__(self, take: ReportHandler, deaths: list[int]) -> None:
        self._take = take
        self._deaths = deaths
        self._task: Task | None = None
        self._player = Player(lambda report: take([report]), lambda: False)

    @property
    def has_room(self) -> bool:
        return not self._task

    @property
    def busy(self) -> bool:
        return bool(self._task)

    def play(self, task: Task) -> None:
        self._task = task

    def take_reports(self, seconds: float) -> None:
        task, self._task = self._task, None
        if task and self._deaths and self._deaths[0]:
            self._deaths[0] -= 1
            self._take([WorkerDied(task, "died")])
        elif task:
            del self._deaths[:1]
            self._player.play(task)

    def stop(self) -> None:
        pass

    def end_idle_bots(self) -> None:
        pass

    def close(self) -> None:
        self._player.close()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("deaths", "is_played"),
    [
        ([WORKER_FAILURES - 1, LATER_FAILURES - 1], True),
        ([WORKER_FAILURES], False),
        ([0, LATER_FAILURES], False),
    ],
)
def test_a_run_ends_when_workers_cannot_start_and_outlives_it_when_fresh_ones_are_killed(
    deaths: list[int], is_played: bool, tmp_path: Path
) -> None:
    run = find_run(tmp_path / "run")
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=4)
    tournament = ready(load(file), run.folder, 1)
    programs = programs_here(tournament, run.folder)
    with locked(run.folder), open_run(tournament, run, programs, True, print) as opened:
        player = TournamentPlayer(tournament, opened, tournament.keep, Silent(), programs, 1)
        ended = contextlib.nullcontext() if is_played else pytest.raises(EnvironmentLacksError, match="exit")
        with ended:
            player.play(lambda take, stopping: Dying(take, deaths), lambda: False)
        assert (len(opened.state.games) == opened.games_in_all.games) == is_played
