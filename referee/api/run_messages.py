"""Messages between host and caller of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

STOP = "stop()"
"""The message that lets the games in progress end."""


class Said(NamedTuple):
    """A line for the user."""

    line: str


class RunBegan(NamedTuple):
    """The first game is about to begin."""

    total: int  # how many games the run has in all
    played: int  # how many of them the records have


class GameStored(NamedTuple):
    """A game is in the records."""

    id: str


class RunRequest(NamedTuple):
    """A tournament that is to be played in a folder, or continued."""

    file: Path | None  # the tournament file; None where its tables are given
    tables: dict[str, Any]
    base: Path  # what paths in the tables are relative to
    folder: Path
    workers: int | None  # None is what the tournament says
    leave_out: bool  # whether bots that cannot play are left out
    files: Mapping[str, bytes]  # what is written into the folder
