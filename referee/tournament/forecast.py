"""What a run will take that is still to be played: games, time, disk space. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from referee.core.pairing import Pairing
from referee.core.timecontrol import TimeControl

RECORD_BYTES = 200
"""About the size of an event in a record, with its times."""

SAMPLE = 100_000
"""The games of which the longest time is computed; that of further ones is estimated from their mean."""


class Forecast(NamedTuple):
    """What the remaining games will take."""

    games: int
    moves: int
    """The most moves of a game."""
    longest_us: int
    """If every bot uses all of its time, and all that it may have for its start."""
    expected_us: int | None
    """If the games take as long as those before them; None where there were none."""
    most_bytes: int
    """The size of the records, if every game has its most moves."""
    expected_bytes: int | None
    """If the records are as large as those before them; None where there were none."""


def forecast(
    left: Iterable[Pairing],
    games: int,
    moves: int,
    controls: Mapping[str, TimeControl],
    start_us: int,
    workers: int,
    before: Sequence[tuple[int, int]],
) -> Forecast:
    """What `games` games will take, of which `left` has the first ones at least, on so many workers.

    `moves` is the most moves of a game, `start_us` the time that a bot may take to start, `before` the
    durations, in microseconds, and the sizes of the records of games that were played before.
    """
    sample = [_longest_us(pairing, moves, controls, start_us) for pairing in islice(left, SAMPLE)]
    workers = max(1, workers)
    # While the last encounter is played, the other workers may have nothing to do.
    last_us = max(sample, default=0)
    longest_us = -(-sum(sample) * games // (max(1, len(sample)) * workers)) + (workers > 1) * last_us
    expected_us = expected_bytes = None
    if before:
        expected_us = sum(took_us for took_us, _ in before) * games // (len(before) * workers)
        expected_bytes = sum(size for _, size in before) * games // len(before)
    return Forecast(games, moves, longest_us, expected_us, games * moves * RECORD_BYTES, expected_bytes)


def _longest_us(pairing: Pairing, moves: int, controls: Mapping[str, TimeControl], start_us: int) -> int:
    """The longest time of a game. All bots start at the same time, and get ready at the same time."""
    share = -(-moves // len(pairing.bots))
    used = (controls[name] for name in pairing.bots)
    clocks_us = sum(c.reserve_us + share * (c.move_us + c.increment_us) for c in used)
    return 2 * start_us + clocks_us
