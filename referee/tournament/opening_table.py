"""Reads the table `openings` of a tournament file, and the file of lines that it names."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.regular import read_start
from referee.core.text import shown
from referee.gameplay.openings import (
    MOST_PLIES,
    ORDERS,
    Line,
    Openings,
    check_takes_openings,
    checked_line,
)
from referee.games.api import Game, Options
from referee.tournament.plan import checked_seed

SIZE_CAP = 1 << 20
"""The most bytes of a file of lines: all of them stand in the first line of a run's records."""


def openings_of(fields: Fields, folder: Path, game: Game[Any], options: Options) -> Openings:
    """The openings that a table describes, checked against the rules; the path of a file is relative to the
    folder. Raises `UsageError`.
    """
    fields.only("plies", "file", "order", "seed")
    if fields.has("plies") == fields.has("file"):
        how = "both" if fields.has("plies") else "neither"
        raise UsageError(f"`{fields.at('')[:-1]}` has {how} of `plies` and `file`, expected one of them")
    check_takes_openings(game, options)
    seed = checked_seed(fields.text("seed")) if fields.has("seed") else None
    if fields.has("plies"):
        if fields.has("order"):
            raise fields.wrong("order", "none with `plies`, it is for a `file`")
        return Openings(plies=fields.number("plies", 1, MOST_PLIES), seed=seed)
    order = fields.text("order", ORDERS[0])
    if order not in ORDERS:
        raise fields.wrong("order", f"one of {', '.join(ORDERS)}")
    if seed is not None and order != "random":
        raise fields.wrong("seed", "none, or `order` to be `random`")
    name = fields.text("file")
    if not name or "\0" in name:
        raise fields.wrong("file", "the path of a file")
    text = _read(folder / name)
    lines = _lines(folder / name, text, game, options)
    return Openings(lines=lines, order=order, seed=seed, sha256=hashlib.sha256(text).hexdigest())


def _read(path: Path) -> bytes:
    try:
        text = read_start(path, SIZE_CAP + 1)
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None
    if len(text) > SIZE_CAP:
        raise UsageError(f"`{shown(str(path))}` has more than {SIZE_CAP} bytes")
    return text


def _lines(path: Path, text: bytes, game: Game[Any], options: Options) -> tuple[Line, ...]:
    """The lines of a file but for empty ones and those that begin with `#`. Raises `UsageError`."""
    lines: list[Line] = []
    for number, encoded in enumerate(text.split(b"\n"), 1):
        try:
            line = encoded.decode().strip()
            if line and not line.startswith("#"):
                lines.append(checked_line(game, options, line))
        except UnicodeDecodeError:
            raise UsageError(f"`{shown(str(path))}`, line {number}: it is not UTF-8") from None
        except UsageError as error:
            raise UsageError(f"`{shown(str(path))}`, line {number}, {error}") from None
    if not lines:
        raise UsageError(f"`{shown(str(path))}` has no lines, expected moves separated by `;` in each")
    return tuple(lines)
