"""When the last games of a run ended and how long they took, from the records at the end of their file."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.core.files import open_without_links
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
