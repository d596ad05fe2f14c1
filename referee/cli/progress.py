"""Progress of matches and tournaments on stderr: as plain lines, or as a live screen."""

from __future__ import annotations

import contextlib
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

from referee.cli.game_text import fault_report, placings, result
from referee.cli.output import say, say_now
from referee.core.units import about
from referee.ratings.tally import Tallies
from referee.records.record import OFF_TURN, GameRecord, Summary, from_json
from referee.tournament.task import Finished

MAX_BOTS = 20
MAX_NOTES = 5


def report_game(record: GameRecord) -> None:
    """Prints the result of a finished game in one line, and a report of each fault."""
    say(f"{record.terms.id}: {result(record.terms, record.verdict)}")
    for line in fault_report(record):
        say(f"  {line}")


def report_stoppages(timed: Counter[str]) -> None:
    """Prints in how many moves the referee itself was not running, if any; `timed_moves` counts them."""
    if timed["stopped"]:
        say(
            f"in {timed['stopped']} of {timed['all']} moves the referee itself was stopped or got no "
            "processor; no bot was charged for that time"
        )


OFF_TURN_PERCENT = 10
OFF_TURN_US = 100_000
"""What a bot computes while it is not asked is told if it is this share of that time, and this much."""


def report_off_turn(times: Counter[tuple[str, str]]) -> None:
    """Prints which bots computed while they were not asked; `off_turn_times` measures them."""
    for bot in dict.fromkeys(bot for bot, _ in times):
        idle_us, cpu_us = (times[bot, name] for name in OFF_TURN)
        if cpu_us >= OFF_TURN_US and 100 * cpu_us >= OFF_TURN_PERCENT * idle_us:
            say(
                f"bot `{bot}` computed for {about(cpu_us)} in the {about(idle_us)} in which it was not "
                "asked; with `pause` it is stopped then"
            )


class ProgressLines:
    """Reports the progress of a tournament in plain lines."""

    def __init__(self, total: int, played: int) -> None:
        self._total = total
        self._played = played
        self._explained: set[tuple[str, str]] = set()

    def __enter__(self) -> ProgressLines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def began(self, game: str) -> None:
        """Prints nothing when a game starts."""

    def finished(self, finished: Finished) -> None:
        """Prints the result of a game, and a report of each fault that is new for its bot."""
        game = finished.game
        self._played += 1
        say(f"{self._played} of {self._total}: {game.id}: {_result(game)}")
        faults = {(name, fault) for name, fault in zip(game.bots, game.faults, strict=True) if fault}
        if not faults <= self._explained:  # once for each bot and fault: `find` has the others
            self._explained |= faults
            for line in fault_report(from_json(finished.record())):
                say(f"  {line}")

    def note(self, line: str) -> None:
        """Prints a note."""
        say(line)

    def interrupt(self, line: str) -> None:
        """Prints a note from a signal handler."""
        say_now(line)

    def tick(self) -> None:
        """Does nothing: plain lines need no refresh."""


class ProgressScreen:
    """Shows the progress of a tournament on a terminal: standings, current games, latest faults."""

    def __init__(self, names: tuple[str, ...], total: int, games: dict[str, Summary]) -> None:
        self._total = total
        self._games = games
        self._played_before = len(games)
        self._tallies = Tallies(names, games.values())
        self._started_s = time.monotonic()
        self._current: dict[str, float] = {}
        self._notes: deque[str] = deque(maxlen=MAX_NOTES)
        self._live = Live(
            console=Console(stderr=True), get_renderable=self._render, refresh_per_second=4, transient=True
        )

    def __enter__(self) -> ProgressScreen:
        with contextlib.suppress(OSError):  # the terminal is gone
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._live.stop()

    def began(self, game: str) -> None:
        """Adds a game to the current ones."""
        self._current[game] = time.monotonic()

    def finished(self, finished: Finished) -> None:
        """Adds the result of a game to the standings, and a note if it had a fault."""
        game = finished.game
        self._tallies.add(game)
        self._current.pop(game.id, None)
        if any(game.faults):
            self._notes.append(f"{game.id}: {_result(game)}")

    def note(self, line: str) -> None:
        """Shows a note until newer ones replace it."""
        self._notes.append(line)

    def interrupt(self, line: str) -> None:
        """Shows a note from a signal handler."""
        self._notes.append(line)

    def tick(self) -> None:
        """Does nothing: the screen refreshes itself."""

    def _render(self) -> Group:
        played = len(self._games)
        bar = Table.grid(expand=True)  # a bar alone does not end its line
        bar.add_row(ProgressBar(max(1, self._total), played))
        parts: list[Any] = [
            Text(f"{played} of {self._total} games{self._time_remaining(played)}"),
            bar,
            self._standings(),
        ]
        now = time.monotonic()
        on = [f"{game} ({now - since:.0f} s)" for game, since in list(self._current.items())]
        parts.append(Text(f"playing: {', '.join(on[:MAX_BOTS])}" if on else ""))
        parts += [Text(line, style="yellow") for line in list(self._notes)]
        return Group(*parts)

    def _time_remaining(self, played: int) -> str:
        """The estimated time that remains, from the games played so far."""
        new = played - self._played_before
        if not new:
            return ""
        seconds = (time.monotonic() - self._started_s) / new * (self._total - played)
        return f", about {about(round(seconds * 1_000_000))} remaining"

    def _standings(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for column in ("bot", "games", "points", "faults"):
            table.add_column(column, justify="left" if column == "bot" else "right")
        tallies = self._tallies.by_bot
        best = sorted(tallies, key=lambda name: (-tallies[name].points / max(1, tallies[name].games), name))
        for name in best[:MAX_BOTS]:
            found = tallies[name]
            percent = f"{100 * found.points / found.games:.1f} %" if found.games else "–"
            faults = sum(Counter(found.faults).values())
            table.add_row(Text(name), str(found.games), percent, str(faults or "–"))
        if len(best) > MAX_BOTS:
            table.add_row(Text(f"… and {len(best) - MAX_BOTS} more"))
        return table


def _result(game: Summary) -> str:
    return f"{placings(game.bots, game.ranks)}: {game.sentence}"


def on_a_terminal() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr.isatty()
