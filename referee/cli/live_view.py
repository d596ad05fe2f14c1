"""The live view of a run on a terminal: what happens scrolls above, the standings stay below."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from itertools import islice
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from referee.cli.boards import BoardsInCharacters
from referee.cli.output import console_at_stderr
from referee.cli.progress import Narrator
from referee.core.pairing import Pairing
from referee.core.units import in_minutes
from referee.core.work import DutyCycle
from referee.ratings.columns import brief, fitted
from referee.ratings.notes import FEW_ENCOUNTERS
from referee.ratings.pool import FittedPool
from referee.ratings.tally import Tallies, clusters
from referee.running import RunInfo
from referee.tournament.workers.task import Finished, Waiting

PICTURE_S = 0.25  # how often the view is drawn at most

PICTURE_SHARE = 0.03  # the share of the referee's time that drawing takes at most

FIT_SHARE = 0.03  # the share of the referee's time that fitting the ratings takes at most

MAX_PLAYING = 50  # maximum number of games in progress that are listed

BESIDE_BOARDS = 8  # so many lines of the standings stay where there are boards

WAIT_US = 3_000_000
"""How long a bot has to be waited for until that is shown, and for how long that is believed: while it is
waited for, it is reported every second.
"""


class FittedRatings:
    """The ratings of the games so far, fitted again now and then, and only where there are new games. As in a
    table, there are none as long as there are few encounters.
    """

    def __init__(self, info: RunInfo, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self._names = info.names
        self._games = info.games
        self._is_rated = info.seats > 1
        self._duty_cycle = DutyCycle(clock, FIT_SHARE)
        self.pool: FittedPool | None = None  # none before there are any
        self.games = 0  # how many games they are fitted to
        fitted(self._names, [], [])  # loads numpy, which takes longer than the first fits

    def refresh(self) -> None:
        """Fits the ratings, if that is due."""
        has_new = self._is_rated and self.games < len(self._games)
        if has_new and self._duty_cycle.is_due and (self.pool or not self._are_few()):
            with self._duty_cycle.spent():
                games = [*self._games.values()]
                self.pool = fitted(self._names, games, clusters(games).of)
                self.games = len(self._games)

    def _are_few(self) -> bool:
        encounters = {Pairing.parse(game.id).encounter for game in self._games.values()}
        return len(encounters) < FEW_ENCOUNTERS


class LiveView(Narrator):
    """Shows the progress of a run on a terminal."""

    def __init__(
        self, info: RunInfo, clock: Callable[[], float] = time.monotonic, console: Console | None = None
    ) -> None:
        """`clock` gives seconds; `console` is the terminal at stderr if it is not given."""
        super().__init__(info, clock)
        self._names = info.names
        self._seats = info.seats
        self._tallies = Tallies(info.names, info.games.values())
        self._fitted = FittedRatings(info, clock)
        self._console = console or console_at_stderr()
        self._boards = BoardsInCharacters(info.folder, info.rules.__getitem__) if info.folder else None
        self._duty_cycle = DutyCycle(clock, PICTURE_SHARE, PICTURE_S)
        self._waits: dict[str, tuple[Waiting, int]] = {}
        """By game, the bot that is waited for, and when that was reported."""
        self._lines: list[str] = []  # the lines that are printed above the picture when it is drawn next
        self._stopping = ""  # the line that was printed when a signal came
        self._is_drawing = False
        # The renderable is asked for a picture whenever something is drawn; stdout may be a file.
        self._live = Live(
            self, console=self._console, auto_refresh=False, transient=True, redirect_stdout=False
        )

    def __enter__(self) -> LiveView:
        with contextlib.suppress(OSError):  # the terminal is gone
            self._live.start()
        self._draw()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Removes the picture; what was printed above it stays."""
        self._draw()
        with contextlib.suppress(OSError):
            self._live.stop()

    def began(self, game: str) -> None:
        """Notes that a game is in progress."""
        super().began(game)
        self.tick()

    def waiting(self, waiting: Waiting) -> None:
        """Notes which bot is waited for."""
        self._waits[waiting.game] = waiting, self._now_us()

    def finished(self, finished: Finished) -> None:
        """Adds the result of a game to the standings, and prints it."""
        self._tallies.add(finished.game)
        self._waits.pop(finished.game.id, None)
        super().finished(finished)
        self.tick()

    def tick(self) -> None:
        """Draws the view, if that is due."""
        self._fitted.refresh()
        if self._duty_cycle.is_due:
            with self._duty_cycle.spent():
                self._draw()

    def interrupt(self, line: str) -> None:
        """Prints a line from a signal handler, at once unless the signal came while the view was drawn."""
        self._stopping = line
        self._lines.append(line)
        if not self._is_drawing:
            self._draw()

    def note(self, line: str) -> None:
        """Prints a line above the picture when that is drawn next."""
        self._lines.append(line)

    def _draw(self) -> None:
        self._is_drawing = True  # first, so that a signal's line is in one of the two lists
        try:
            lines, self._lines = self._lines, []
            with self._at_once():
                if lines:
                    self._console.print(Text("\n".join(lines)), soft_wrap=True)  # and the picture below them
                else:
                    self._live.refresh()
        except OSError:
            pass  # the terminal is gone
        finally:
            self._is_drawing = False

    @contextlib.contextmanager
    def _at_once(self) -> Iterator[None]:
        """Has the terminal show what is drawn inside at once, and nothing of how it is erased before: those
        that cannot take no notice.
        """
        file = self._console.file
        file.write("\x1b[?2026h")
        try:
            yield
        finally:
            file.write("\x1b[?2026l")
            file.flush()

    def __rich__(self) -> RenderableType:
        """Renders what stays on the screen: at most two thirds of its height, since the rest shows the last
        lines.
        """
        width, height = self._console.size
        bar = Table.grid(expand=True)  # a bar alone does not end its line
        done, part = self._part
        bar.add_row(ProgressBar(max(1, part.games), done))
        above = [self._headline(), *filter(None, (self.rule_text, self._stopping))]
        below = [self._playing()] if self._pace.playing else []
        most = max(3, height * 2 // 3 - len(above) - len(below) - 1)
        boards: list[Text] = []
        if self._boards:
            boards = self._boards.lines(width, most - min(BESIDE_BOARDS, len(self._names) + 1) - 1)
            most -= len(boards) + 1 if boards else 0
        standings = brief(self._tallies, self._fitted.pool, self._seats, most, width)
        parts: list[RenderableType] = [_text(above[:1]), bar]
        if above[1:]:
            parts.append(_text(above[1:]))
        if boards:
            parts += [*boards, Text()]
        return Group(*parts, _text([*standings, *below]))

    def _headline(self) -> str:
        rated = self._fitted.games
        return self.headline() + (f"; Elo after {rated} games" if 0 < rated < self._played else "")

    def _playing(self) -> str:
        """The games in progress, the longest first, as many as anybody can see."""
        games = islice(self._pace.playing.items(), MAX_PLAYING)
        return f"playing: {', '.join(f'{game} ({self._how_long(game, since)})' for game, since in games)}"

    def _how_long(self, game: str, since_us: int) -> str:
        """How long a game is being played, or which bot is waited for in it for a while."""
        now_us = self._now_us()
        if game in self._waits:
            (_, (bot, waited_us, most_us)), told_us = self._waits[game]
            passed_us = now_us - told_us
            if passed_us < WAIT_US <= waited_us:
                return f"{bot} to move for {in_minutes(waited_us + passed_us)} of {in_minutes(most_us)}"
        return in_minutes(now_us - since_us)


def _text(lines: list[str]) -> Text:
    return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
