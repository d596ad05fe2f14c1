"""The progress of a run as JSON, a line for each event, on stdout. `EVENTS.md` describes them for people."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any

from referee.cli.output import show_data
from referee.core.pairing import Pairing
from referee.records.record import Summary, from_json
from referee.run import Display, RunInfo
from referee.tournament.workers.task import Finished, Void, Waiting
from referee.viewing.words import fault_report


def event_line(event: str, **members: Any) -> str:
    """An event as a line of JSON."""
    return json.dumps({"event": event, **members}, separators=(",", ":"))


class JsonLines(Display):
    """Prints each event on stdout, and has another display show it to people on stderr."""

    def __init__(self, info: RunInfo, people: Display) -> None:
        """`people` is opened and closed with this one."""
        self._info = info
        self._people = people
        self._played = len(info.games)
        self._rule = ""

    def __enter__(self) -> JsonLines:
        info = self._info
        _print(
            "run",
            bots=list(info.names),
            seats=info.seats,
            games=info.total,
            played=self._played,
            workers=info.workers,
        )
        self._people.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the other display."""
        self._people.__exit__(kind, error, trace)

    def began(self, game: str) -> None:
        """Prints `began`."""
        _print("began", id=game, bots=list(Pairing.parse(game).bots))
        self._people.began(game)

    def waiting(self, waiting: Waiting) -> None:
        """Is for people only."""
        self._people.waiting(waiting)

    def finished(self, finished: Finished) -> None:
        """Prints `finished`, with a report of the game's faults if it has any."""
        game = finished.game
        self._played += 1
        report = list(fault_report(from_json(finished.record()))) if any(game.faults) else []
        _print(
            "finished",
            **_members(game),
            played=self._played,
            games=self._info.total,
            **({"report": report} if report else {}),
        )
        self._people.finished(finished)

    def void(self, void: Void, then: str) -> None:
        """Prints `void`."""
        suspects = sorted(void.suspects)
        _print("void", id=void.id, attempt=void.attempt, error=void.error, suspects=suspects, then=then)
        self._people.void(void, then)

    def note(self, line: str) -> None:
        """Prints `note`."""
        _print("note", text=line)
        self._people.note(line)

    def rule(self, line: str) -> None:
        """Prints `rule`, where it is new."""
        if line != self._rule:
            self._rule = line
            _print("rule", text=line)
        self._people.rule(line)

    def tick(self) -> None:
        """Prints nothing."""
        self._people.tick()

    def interrupt(self, line: str) -> None:
        """Prints nothing on stdout, since the signal may have come while a line was printed there."""
        self._people.interrupt(line)


def end_lines(played: int, total: int, head: str, table: str) -> str:
    """The last lines: `table`, from the table as JSON where games were played, and `end`."""
    end = event_line("end", played=played, games=total, head=head)
    return f"{event_line('table', **json.loads(table))}\n{end}" if table else end


def _members(game: Summary) -> dict[str, Any]:
    """The members of a game, as they are called in its record."""
    value = game._asdict()
    return {name: value[name] for name in MEMBERS}


MEMBERS = ("id", "attempt", "game", "bots", "ranks", "scores", "ending", "sentence", "rated", "faults")
"""What an event has of a game's summary."""


def _print(event: str, **members: Any) -> None:
    show_data(event_line(event, **members))
