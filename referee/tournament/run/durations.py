"""How long games took, and what the rest will take: games, time, disk space.

What is estimated while games are played depends on those in progress; their times of day are microseconds of
any clock that does not go back.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.core.files import open_without_links
from referee.core.units import TimeControl
from referee.records.record import parse_json
from referee.records.run_files import RECORDS

GAMES = 400  # maximum number of games that are read

TAIL = 16 << 20
"""Maximum number of bytes at the end of the file that are read; a game of a thousand moves has about 100,000.
"""


class TimedGame(NamedTuple):
    """When a game was played."""

    id: str
    began_us: int  # microseconds since 1970, by the clock of the machine that it was played on
    took_us: int  # from its beginning to its last answer
    size: int  # the bytes of its record

    @property
    def ended_us(self) -> int:
        """When its last answer came; as `began_us`."""
        return self.began_us + self.took_us


def last_games(folder: Path) -> list[TimedGame]:
    """The last games in a run's folder, in the order of their records; none if there is no run.

    This is for estimates, so nothing is verified: lines that cannot be read are left out, such as one that is
    being written at this moment.
    """
    try:
        with os.fdopen(open_without_links(folder / RECORDS), "rb") as file:
            start = max(0, os.fstat(file.fileno()).st_size - TAIL)
            file.seek(start)
            *lines, _ = file.read(TAIL).split(b"\n")
    except OSError:
        return []
    found = filter(None, map(timed, reversed(lines[1:] if start else lines)))
    return [game for _, game in zip(range(GAMES), found, strict=False)][::-1]


def timed(line: bytes) -> TimedGame | None:
    """Reads when the game on a line was played; None where the line is no game, or cannot be read."""
    with suppress(RecordError, ValueError, OverflowError):
        fields = Fields(parse_json(line), "", RecordError)
        if fields.text("kind") == "game":
            measured = fields.object("measured")
            began = datetime.fromisoformat(measured.text("began")).timestamp()
            return TimedGame(fields.text("id"), int(began * 1_000_000), _took_us(measured), len(line) + 1)
    return None


def _took_us(measured: Fields) -> int:
    """The time from the beginning of a game to its last answer."""
    ends = (
        event.number("asked_us", default=0)
        + max(event.number("wall_us", default=0), event.number("used_us", default=0))
        for event in measured.objects("events")
    )
    return max(ends, default=0)


RECORD_BYTES = 200  # about the size of an event in a record, with its times


class LongestGame(NamedTuple):
    """What bounds the length of a game."""

    moves: int  # maximum number of moves, of all seats together
    controls: tuple[TimeControl, ...]  # the clocks, by seat

    def us(self, start_us: int) -> int:
        """The longest time. All bots start at the same time, and get ready at the same time."""
        share = -(-self.moves // len(self.controls))
        clocks_us = sum(c.reserve_us + share * (c.move_us + c.increment_us) for c in self.controls)
        return 2 * start_us + clocks_us


class Forecast(NamedTuple):
    """The estimate for the remaining games."""

    games: int
    moves: int  # maximum number of moves of a game
    longest_us: int  # if every bot uses all of its time, and all that it may have for its start
    expected_us: int | None  # if the games take as long as those before them; None where there were none
    most_bytes: int  # the size of the records, if every game has its most moves
    expected_bytes: int | None  # if the records are as large as those before them; None where there were none


def forecast(
    left: Sequence[LongestGame], games: int, start_us: int, workers: int, before: Sequence[tuple[int, int]]
) -> Forecast:
    """Estimates what `games` games will take on this many workers; `left` has at least the first of them.

    `start_us` is the time that a bot may take to start, and to get ready; `before` has the durations, in
    microseconds, and the sizes of the records of games that were played before.
    """
    times_us = [game.us(start_us) for game in left]
    moves = [game.moves for game in left]
    known, workers = max(1, len(left)), max(1, workers)
    # While the last game is played, the other workers may have nothing to do.
    last_us = max(times_us, default=0) if workers > 1 else 0
    expected_us = expected_bytes = None
    if before:
        expected_us = sum(took_us for took_us, _ in before) * games // (len(before) * workers)
        expected_bytes = sum(size for _, size in before) * games // len(before)
    return Forecast(
        games=games,
        moves=max(moves, default=0),
        longest_us=-(-sum(times_us) * games // (known * workers)) + last_us,
        expected_us=expected_us,
        most_bytes=sum(moves) * games * RECORD_BYTES // known,
        expected_bytes=expected_bytes,
    )


class Pace:
    """The games in progress, and the time that games took so far."""

    def __init__(self, workers: int, history_us: Collection[int] = ()) -> None:
        """`workers` is how many games are played at a time; `history_us` has the times of earlier games."""
        self._workers = max(1, workers)
        self._games = len(history_us)  # how many ended, and how long these took together
        self._took_us = sum(history_us)
        self._began_us: int | None = None  # when the first game of this run began
        self._played_us = 0  # how long the games that ended in this run took together
        self.playing: dict[str, int] = {}  # the games in progress and when they began, the longest first

    def began(self, game: str, now_us: int) -> None:
        """Notes that a game began."""
        if self._began_us is None:
            self._began_us = now_us
        self.playing.pop(game, None)  # an attempt that became void
        self.playing[game] = now_us

    def finished(self, game: str, now_us: int) -> None:
        """Notes that a game is over."""
        if (began_us := self.playing.pop(game, None)) is not None:
            self._games += 1
            self._took_us += now_us - began_us
            self._played_us += now_us - began_us

    def void(self, game: str) -> None:
        """Notes that a game became void: how long it took says nothing."""
        self.playing.pop(game, None)

    def remaining_us(self, left: int, now_us: int) -> int | None:
        """The time that `left` games will take, games in progress included; None before the first is over.

        Each game takes as long as the mean of those so far: a median would leave out the long ones. Between
        games, workers are occupied otherwise, or have nothing to do, for the same share of the time as so
        far.
        """
        if not self._games:
            return None
        mean_us = self._took_us // self._games
        rests = [max(0, mean_us - now_us + began) for began in self.playing.values()]
        work_us = sum(rests) + max(0, left - len(rests)) * mean_us
        return max([round(work_us / (self._workers * self._share_of_play(now_us))), *rests])

    def _share_of_play(self, now_us: int) -> float:
        """The share of the workers' time in which they played games, in this run so far."""
        if self._began_us is None or not self._played_us:
            return 1.0
        played_us = self._played_us + sum(now_us - began_us for began_us in self.playing.values())
        return min(1.0, played_us / (self._workers * (now_us - self._began_us)))
