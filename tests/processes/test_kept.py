"""How long a bot's process is kept: for a game, an encounter, or by its worker."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import UsageError
from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.program import Program
from referee.tournament.file.config import load
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.plan import PROCESSES, Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.tournament import Tournament
from referee.tournament.workers.encounter import IDLE_PER_SEAT
from referee.tournament.workers.task import Finished, Report, Task
from referee.tournament.workers.worker import Player
from tests.command import referee

NOTES = (
    'log() { echo "$1 $2 $$" >> "$0.log"; }; echo hello 1; '
    "while read word n rest; do case $word in prepare) log $1 game; echo ready;; ask) %s;; "
    "quit) log $1 quit; exit;; esac; done"
)
"""Writes each game and the `quit` into a file, with its process."""

RESIGNS = NOTES % "echo resign $n"
FAULTS = NOTES % "echo nonsense >&2; exit"


def plan(folder: Path, names: Iterable[str], processes: str, script: str = RESIGNS) -> Plan:
    game = GAMES["blooms"]
    control = TimeControl.parse("30s")
    entrants = tuple(
        Entrant(Program(name, ("sh", "-c", script, str(folder / name), name), folder), control, processes)
        for name in names
    )
    return Plan(game, game.settle({}), entrants, "s")


class ReportingPlayer:
    """A player that plays encounters and keeps its reports."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: list[Report] = []
        self.player = Player(self.reports.append, lambda: False)

    def play_encounter(self, number: int, of: Plan, *names: str) -> list[dict[str, Any]]:
        """An encounter; its records."""
        self.reports.clear()
        games = encounter(number, names).games
        self.player.play(Task(of.among(names), tuple((game, 1) for game in games), "nothing"))
        return [report.record() for report in self.reports if isinstance(report, Finished)]

    def log(self, name: str) -> list[tuple[str, str]]:
        """What a bot noted: the event, and its process."""
        lines = (self.folder / f"{name}.log").read_text().splitlines()
        return [(what, pid) for _, what, pid in map(str.split, lines)]


def before(records: list[dict[str, Any]]) -> list[list[int | None]]:
    return [[seat.get("games_before") for seat in record["measured"]["seats"]] for record in records]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("processes", "started"), [("game", 4), ("encounter", 2), ("worker", 1)])
def test_how_many_processes_serve_two_encounters(tmp_path: Path, processes: str, started: int) -> None:
    reporting = ReportingPlayer(tmp_path)
    of = plan(tmp_path, "ab", processes)
    records = reporting.play_encounter(1, of, "a", "b") + reporting.play_encounter(2, of, "a", "b")
    kept = processes == "worker"
    assert before(records) == [[None, None]] * 2 + ([[2, 2], [3, 3]] if kept else [[None, None]] * 2)
    assert ("quit" in dict(reporting.log("a"))) is not kept, "a process that is kept goes on waiting"
    reporting.player.close()
    events = reporting.log("a")
    assert [what for what, _ in events].count("game") == 4
    assert len({pid for _, pid in events}) == started == [what for what, _ in events].count("quit")


def test_a_bot_that_broke_something_is_not_kept(tmp_path: Path) -> None:
    reporting = ReportingPlayer(tmp_path)
    good, bad = plan(tmp_path, "a", "worker"), plan(tmp_path, "b", "worker", FAULTS)
    of = Plan(good.game, good.options, good.entrants + bad.entrants, "s")
    records = reporting.play_encounter(1, of, "a", "b") + reporting.play_encounter(2, of, "a", "b")
    reporting.player.close()
    assert [record["ending"] for record in records] == ["resigned", "gone"] * 2
    assert before(records) == [[None, None], [None, None], [2, None], [None, 3]]
    processes = [pid for what, pid in reporting.log("b") if what == "game"]
    assert processes[0] == processes[1] != processes[2] == processes[3]


def test_those_that_waited_longest_go_where_too_many_would_wait(tmp_path: Path) -> None:
    reporting = ReportingPlayer(tmp_path)
    room = IDLE_PER_SEAT * 2
    names = [f"bot{number}" for number in range(room + 2)]
    of = plan(tmp_path, names, "worker")
    for one in range(0, len(names), 2):
        reporting.play_encounter(1, of, *names[one : one + 2])
    quitted = [name for name in names if "quit" in dict(reporting.log(name))]
    assert quitted == names[:2]
    reporting.player.close()
    assert all("quit" in dict(reporting.log(name)) for name in names)


def toml(folder: Path, processes: str) -> Path:
    lines = ["[tournament]", 'game = "blooms"', "rounds = 3", 'clock = "30s"', 'seed = "s"', processes]
    for name in "ab":
        command = json.dumps(["sh", "-c", RESIGNS, str(folder / name), name])
        lines += ["[[bot]]", f'name = "{name}"', f"cmd = {command}"]
    (folder / "t.toml").write_text("\n".join(lines))
    return folder / "t.toml"


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_run_whose_workers_keep_the_bots(tmp_path: Path, workers: str) -> None:
    file = toml(tmp_path, 'processes = "worker"')
    done = referee("run", str(file), "--workers", workers, "--strict")
    assert done.code == 0, done.err
    text = (tmp_path / "t-results" / "games.jsonl").read_text()
    header, *records = map(json.loads, text.splitlines())
    assert all(bot["processes"] == "worker" and not bot["fresh"] for bot in header["bots"].values())
    assert before(records) == [[None] * 2] * 2 + [[count] * 2 for count in (2, 3, 4, 5)]
    events = ReportingPlayer(tmp_path).log("a")
    assert events[-1][0] == "quit" and len({pid for _, pid in events}) == 1, "it is told to quit in the end"
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    done = referee("run", str(toml(tmp_path, "")))
    assert done.code == 2 and "`processes` of bot `a` is not given, but was worker" in done.err


def test_what_is_as_usual_does_not_stand_in_the_records(tmp_path: Path) -> None:
    headers = {
        processes: Tournament((plan(tmp_path, "ab", processes),), RoundRobin()).header.members["bots"]["a"]
        for processes in PROCESSES
    }
    assert ["processes" in header for header in headers.values()] == [False, False, True]
    assert [header["fresh"] for header in headers.values()] == [True, False, False]


@pytest.mark.parametrize(
    ("main", "bot", "found"),
    [("", "", "encounter"), ('"worker"', "", "worker"), ('"worker"', '"game"', "game")],
)
def test_a_bot_may_differ_from_the_tournament(tmp_path: Path, main: str, bot: str, found: str) -> None:
    file = toml(tmp_path, f"processes = {main}" if main else "")
    file.write_text(file.read_text() + (f"\nprocesses = {bot}\n" if bot else ""))
    assert load(file).entrants[1].processes == found


def test_a_wrong_choice_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"`tournament\.processes` is `none`, expected one of game, encounter"
    ):
        load(toml(tmp_path, 'processes = "none"'))
