"""Estimates what the rest of a run will take: games, time, disk space. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from referee.core.units import TimeControl

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
