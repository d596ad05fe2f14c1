"""Messages between referee and machines: those of a Dask cluster.

Orders are sent as they are; the answers of machines are JSON, which is checked when it is read. A game counts
if it was asked for, and its record replays under its terms.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import referee
from referee.cluster.bot_files import BotFiles
from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.core.text import shown
from referee.records.amendments import OUTPUT_CAP, OUTPUT_LINES, LeftOut
from referee.records.journal import body_of
from referee.records.record import bot_totals, from_json, parse_json, summary_of, timed_moves, to_json
from referee.records.replay import verify
from referee.tournament.workers.task import (
    Began,
    Finished,
    IgnoredQuit,
    LeftBehind,
    Notice,
    Report,
    Task,
    Void,
    WorkerDied,
)


class Requirement(NamedTuple):
    """What a run requires of every machine."""

    bots: tuple[BotFiles, ...]
    seats: int  # maximum number of seats of a game
    pin: bool
    cpu_clocks: bool  # whether clocks count processor time


class Greet(NamedTuple):
    """Asks a machine what it is, and which of these bots' files it does not have; answered by `Greeting`."""

    bots: tuple[BotFiles, ...]


class Greeting(NamedTuple):
    """A machine's description of itself."""

    name: str
    cpu: str
    version: str  # the version of the referee there
    code: str  # the hash of the referee's own code there
    lacking: tuple[str, ...]  # the digests of the bots whose files have to be sent to it


class FilePart(NamedTuple):
    """A part of the archive of a bot's files; answered by None, or by `MachineUnfit`."""

    digest: str  # the hash of the bot's files together
    offset: int
    data: bytes


class Prepare(NamedTuple):
    """Tells a machine to get ready to play; answered by `MachineReady`, or by `MachineUnfit`."""

    requirement: Requirement
    label: str  # what the worker is called in records
    slots: int  # how many games it is to play at a time
    slots_of_machine: int
    """How many games all workers of its machine play at a time: the bots share the memory."""
    first_core: int  # which of the machine's cores its first game is pinned to


class MachineReady(NamedTuple):
    """A machine is ready to play, with the bots that could be prepared there."""

    levels: dict[str, str]  # by bot, its level of isolation there
    files: dict[str, dict[str, str]]
    """By bot, the hashes of the files that its command names, as they are there."""
    remarks: tuple[str, ...]  # what the user should know of its bots
    unfit: tuple[LeftOut, ...] = ()  # the bots that cannot be prepared there


class MachineUnfit(NamedTuple):
    """A machine cannot give what the run requires."""

    why: str


class Play(NamedTuple):
    """Tells a machine to play a task; answered by `PlayedTask`, or by `BotFilesChanged`."""

    task: Task


class PlayedTask(NamedTuple):
    """All reports about a task, from its beginning to its end."""

    reports: tuple[Report, ...]


class BotFilesChanged(NamedTuple):
    """A task was not played, since the files of a bot are not what they were when the machine got ready."""

    bot: str
    what: str


class EndIdleBots(NamedTuple):
    """Tells a machine to end its idle bots; answered by `PlayedTask`."""


class CancelTask(NamedTuple):
    """Tells a machine to stop playing a task, named by its key; not answered."""

    key: str


class StopMachine(NamedTuple):
    """Tells a machine to stop after the current games; not answered."""


class WatchGames(NamedTuple):
    """Tells a machine that somebody looks at the games in play; not answered, see `games_in_play`."""


IN_PLAY = "in play"  # the key under which a host tells of the games in play; no order has it

MachineOrder = Greet | FilePart | Prepare | Play | EndIdleBots | CancelTask | StopMachine | WatchGames

MachineAnswer = Greeting | MachineReady | MachineUnfit | PlayedTask | BotFilesChanged | None


@cache
def code_digest() -> str:
    """The SHA-256 of the referee's modules: machines that play the same run need the same."""
    package = Path(referee.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if "examples" not in path.relative_to(package).parts:
            digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


_ANSWERS = {Greeting: "greeting", MachineUnfit: "unfit", BotFilesChanged: "changed"}
_REPORTS = {Began: "began", LeftBehind: "left-behind", IgnoredQuit: "ignored-quit", Notice: "notice"}
"""The names of what is sent as it is."""


def to_bytes(answer: MachineAnswer) -> bytes:
    """An answer as JSON. The task of a worker that died is left out: the referee knows it."""
    return json.dumps(_json_of(answer)).encode()


def _json_of(answer: MachineAnswer) -> dict[str, Any]:
    match answer:
        case None:
            return {"answer": "nothing"}
        case PlayedTask(reports):
            return {"answer": "played", "reports": [_json_of_report(report) for report in reports]}
        case MachineReady(unfit=unfit):
            return {"answer": "ready", **answer._asdict(), "unfit": [one._asdict() for one in unfit]}
        case _:
            return {"answer": _ANSWERS[type(answer)], **answer._asdict()}


def _json_of_report(report: Report) -> dict[str, Any]:
    match report:
        case Finished(body=body, dialogue=dialogue):
            return {"report": "finished", "body": body.decode(), "dialogue": dialogue}
        case Void():
            return {"report": "void", **report._asdict(), "suspects": sorted(report.suspects)}
        case WorkerDied(how=how, suspects=suspects):
            return {"report": "died", "how": how, "suspects": sorted(suspects)}
        case Began() | LeftBehind() | IgnoredQuit() | Notice():
            return {"report": _REPORTS[type(report)], **report._asdict()}
    raise TypeError(f"a machine does not report {type(report).__name__}")


def from_bytes(data: bytes) -> MachineAnswer:
    """An answer. Raises `RecordError`, which says what is wrong."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise RecordError("the answer from a machine is not valid JSON") from None
    if not isinstance(value, dict):
        raise RecordError("the answer from a machine is not a JSON object")
    fields = Fields(value, "", RecordError)
    match fields.text("answer"):
        case "nothing":
            return None
        case "greeting":
            return Greeting(
                fields.text("name"),
                fields.text("cpu"),
                fields.text("version"),
                fields.text("code"),
                fields.texts("lacking"),
            )
        case "ready":
            return MachineReady(
                dict(_texts(fields.object("levels"))),
                {
                    name: _texts(fields.object("files").object(name))
                    for name in fields.object("files").names()
                },
                fields.texts("remarks"),
                tuple(_unfit(bot) for bot in fields.objects("unfit")),
            )
        case "unfit":
            return MachineUnfit(fields.text("why"))
        case "changed":
            return BotFilesChanged(fields.text("bot"), fields.text("what"))
        case "played":
            return PlayedTask(tuple(_report(report) for report in fields.objects("reports")))
    raise fields.wrong("answer", "the name of an answer")


def _unfit(fields: Fields) -> LeftOut:
    return LeftOut(
        fields.text("bot"),
        shown(fields.text("reason"), OUTPUT_CAP),
        tuple(shown(line, OUTPUT_CAP) for line in fields.texts("output")[-OUTPUT_LINES:]),
        fields.flag("is_fault"),
    )


def _texts(fields: Fields) -> dict[str, str]:
    return {name: fields.text(name) for name in fields.names()}


def _report(fields: Fields) -> Report:
    match fields.text("report"):
        case "began":
            return Began(fields.text("id"))
        case "finished":
            return finished(fields.text("body").encode(), fields.text("dialogue"))
        case "void":
            suspects = frozenset(fields.texts("suspects"))
            return Void(
                fields.text("id"),
                fields.number("attempt"),
                fields.text("error"),
                suspects,
                fields.flag("lost"),
            )
        case "left-behind":
            return LeftBehind(fields.text("bot"), fields.text("processes"))
        case "ignored-quit":
            return IgnoredQuit(fields.text("bot"))
        case "died":
            return WorkerDied(None, fields.text("how"), frozenset(fields.texts("suspects")))
        case "notice":
            return Notice(fields.text("line"))
    raise fields.wrong("report", "the name of a report")


def finished(body: bytes, dialogue: str) -> Finished:
    """The report of a game, made from its record alone. Raises `RecordError`."""
    value = parse_json(body)
    record = from_json(value)
    try:
        times = timed_moves(value), bot_totals(value)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise RecordError(f"game {record.terms.id!a}: its measurements are malformed") from None
    return Finished(summary_of(record), body, *times, dialogue)


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
    return any(isinstance(report, kind) for report in reports)
