"""How games are told to a person while they are played."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from referee.cli.output import say, say_now
from referee.cli.show import came_out, explained, result
from referee.core.units import about
from referee.ratings.table import Tally
from referee.records.record import GameRecord, Summary, from_json
from referee.tournament.task import Finished

SHOWN_BOTS = 20
SHOWN_FAULTS = 5


def tell(record: GameRecord) -> None:
    """A finished game, in a line; a fault with what its author needs to know."""
    say(f"{record.terms.id}: {result(record.terms, record.verdict)}")
    for line in explained(record):
        say(f"  {line}")


def tell_stoppages(timed: Counter[str]) -> None:
    """Says how often the referee itself was not running, if that happened; `timed_moves` counts it."""
    if timed["stopped"]:
        say(
            f"in {timed['stopped']} of {timed['all']} moves the referee itself had been stopped, "
            "or got no processor; nobody was charged for that"
        )


class Lines:
    """Tells a tournament in plain lines."""

    def __init__(self, total: int, played: int) -> None:
        self._total = total
        self._played = played
        self._explained: set[tuple[str, str]] = set()

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def began(self, game: str) -> None:
        """Not worth a line."""

    def finished(self, finished: Finished) -> None:
        """A line, and what there is to say of a fault."""
        game = finished.game
        self._played += 1
        say(f"{self._played} of {self._total}: {game.id}: {_came_out(game)}")
        faults = {(name, fault) for name, fault in zip(game.bots, game.faults, strict=True) if fault}
        if not faults <= self._explained:  # once for each bot and fault: `find` has the others
            self._explained |= faults
            for line in explained(from_json(finished.record())):
                say(f"  {line}")

    def note(self, line: str) -> None:
        """A line."""
        say(line)

    def interrupt(self, line: str) -> None:
        """The same, from a signal's handler."""
        say_now(line)

    def tick(self) -> None:
        """Nothing moves here."""


class Screen:
    """Tells a tournament on a terminal: how far it is, who leads, what is on, what went wrong."""

    def __init__(self, names: tuple[str, ...], total: int, games: dict[str, Summary]) -> None:
        self._total = total
        self._games = games
        self._before = len(games)
        self._tallies = {name: Tally() for name in names}
        for game in games.values():
            self._take_in(game)
        self._began = time.monotonic()
        self._on: dict[str, float] = {}
        self._notes: deque[str] = deque(maxlen=SHOWN_FAULTS)
        self._live = Live(
            console=Console(stderr=True), get_renderable=self._picture, refresh_per_second=4, transient=True
        )

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def began(self, game: str) -> None:
        """It is shown as long as it is on."""
        self._on[game] = time.monotonic()

    def finished(self, finished: Finished) -> None:
        """The standings take it in; a fault is shown for a while."""
        game = finished.game
        self._take_in(game)
        self._on.pop(game.id, None)
        if any(game.faults):
            self._notes.append(f"{game.id}: {_came_out(game)}")

    def _take_in(self, game: Summary) -> None:
        for name in game.bots:
            self._tallies[name].add(name, game)

    def note(self, line: str) -> None:
        """It is shown for a while."""
        self._notes.append(line)

    def interrupt(self, line: str) -> None:
        """The same, from a signal's handler."""
        self._notes.append(line)

    def tick(self) -> None:
        """The screen looks for itself."""

    def _picture(self) -> Group:
        played = len(self._games)
        bar = Table.grid(expand=True)  # by itself a bar does not end its line
        bar.add_row(ProgressBar(max(1, self._total), played))
        parts: list[Any] = [
            Text(f"{played} of {self._total} games{self._left(played)}"),
            bar,
            self._standings(),
        ]
        now = time.monotonic()
        on = [f"{game} ({now - since:.0f} s)" for game, since in list(self._on.items())]
        parts.append(Text(f"on: {', '.join(on[:SHOWN_BOTS])}" if on else ""))
        parts += [Text(line, style="yellow") for line in list(self._notes)]
        return Group(*parts)

    def _left(self, played: int) -> str:
        """How long it may still take, from how long it took so far."""
        new = played - self._before
        if not new:
            return ""
        seconds = (time.monotonic() - self._began) / new * (self._total - played)
        return f", about {about(round(seconds * 1_000_000))} left"

    def _standings(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for column in ("bot", "games", "points", "faults"):
            table.add_column(column, justify="left" if column == "bot" else "right")
        tallies = self._tallies
        best = sorted(tallies, key=lambda name: (-tallies[name].points / max(1, tallies[name].games), name))
        for name in best[:SHOWN_BOTS]:
            found = tallies[name]
            percent = f"{100 * found.points / found.games:.1f} %" if found.games else "–"
            faults = sum(Counter(found.faults).values())
            table.add_row(Text(name), str(found.games), percent, str(faults or "–"))
        if len(best) > SHOWN_BOTS:
            table.add_row(Text(f"… and {len(best) - SHOWN_BOTS} more"))
        return table


def _came_out(game: Summary) -> str:
    return f"{came_out(game.bots, game.ranks)}: {game.sentence}"


def on_a_terminal() -> bool:
    """Whether somebody watches stderr."""
    return sys.stderr is not None and sys.stderr.isatty()
