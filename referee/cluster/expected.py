"""The limits for a machine that plays a task: how long it may take, and what it may report. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

from referee.cluster.orders import finished
from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.core.text import shown
from referee.core.units import TimeControl
from referee.gameplay.terms import Terms
from referee.records.journal import body_of
from referee.records.record import from_json, parse_json, to_json
from referee.records.replay import verify
from referee.tournament.run.forecast import LongestGame
from referee.tournament.workers.task import Began, Finished, Report, Task, Void, WorkerDied
from referee.wire.stopwatch import CPU_WALL, CPU_WALL_NS

SPARE_S = 60.0  # seconds for each game beyond what its clocks allow, after which a task is lost


def longest_s(task: Task) -> float:
    """The longest that a task may take, in seconds."""
    plan = task.plan
    moves = plan.game.longest(plan.options)
    forgiven = {entrant.bot.name for entrant in plan.entrants if entrant.bot.forgive_waiting}
    games = (
        LongestGame(moves, _on_the_wall(plan.terms(pairing), moves, forgiven)) for pairing, _ in task.games
    )
    return sum(game.us(plan.start_us) for game in games) / 1_000_000 + SPARE_S * len(task.games)


def _on_the_wall(terms: Terms, moves: int, forgiven: Set[str]) -> tuple[TimeControl, ...]:
    """The clocks of a game with the most time that passes meanwhile: an answer may be late by the margin, and
    a bot whose processor time counts, or that is in `forgiven` for its waiting for processors, may wait for
    longer than it computes, again for each move.
    """
    controls = []
    for name, control in zip(terms.bots, terms.controls, strict=True):
        move_us = control.move_us + terms.margin_us
        if control.by_cpu or name in forgiven:
            all_us = move_us + control.reserve_us + moves * control.increment_us
            move_us = CPU_WALL * all_us + CPU_WALL_NS // 1000
        controls.append(replace(control, move_us=move_us))
    return tuple(controls)


def is_answer(task: Task, reports: Sequence[Report], is_stopping: bool) -> bool:
    """Whether reports say once of each game of a task what became of it, and of no other one. Some may be
    missing where the run is stopping, or where a worker process died after it had begun.
    """
    told = Counter(_said_of(report) for report in reports if isinstance(report, Finished | Void))
    asked = Counter((pairing.id, attempt, pairing.bots) for pairing, attempt in task.games)
    if is_stopping or (_have(WorkerDied, reports) and _have(Began, reports)):
        return told <= asked
    return told == asked  # guard: what-was-asked


def replayed(task: Task, reports: Sequence[Report]) -> tuple[Report, ...]:
    """The reports of a machine, in which each finished game is made anew from its record, which is
    replayed by the rules: nothing else counts of what the machine said of it.

    Raises `RecordError` where a record is not of a game of the task, under its terms, or does not replay.
    """
    return tuple(_replayed(task, report) if isinstance(report, Finished) else report for report in reports)


def _replayed(task: Task, report: Finished) -> Finished:
    value = parse_json(report.body)
    record = from_json(value)
    given = {pairing.id: pairing for pairing, _ in task.games}
    if record.terms.id not in given:
        raise RecordError(f"game {shown(record.terms.id, 100)}: it was not assigned to this machine")
    expected = to_json(replace(record, terms=task.plan.terms(given[record.terms.id])))
    for name in expected:
        if name != "measured" and value.get(name) != expected[name]:  # guard: terms-of-games
            raise RecordError(
                f"game {shown(record.terms.id, 100)}: its `{name}` differs from what was assigned"
            )
    verify(value, task.plan.openings)  # guard: replayed-games
    return finished(body_of(value), report.dialogue)


def _said_of(report: Finished | Void) -> tuple[str, int, tuple[str, ...]]:
    """The game that a report is of: its id, its attempt, its bots."""
    if isinstance(report, Finished):
        return report.game.id, report.game.attempt, report.game.bots
    return report.id, report.attempt, Pairing.parse(report.id).bots


def _have(kind: type[Report], reports: Sequence[Report]) -> bool:
    """Whether there are reports of a kind."""
    return any(isinstance(report, kind) for report in reports)
