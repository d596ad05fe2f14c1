"""The table `openings` of a tournament file, and the file of lines or the game that it names."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.files import read_start
from referee.core.text import listed, shown, value_text
from referee.gameplay.events import Drawn, Moved, Preset, Retired
from referee.gameplay.openings import (
    MAX_PLIES,
    ORDERS,
    OpeningLine,
    Openings,
    OpeningStart,
    check_takes_openings,
    checked_line,
)
from referee.games import origin_of
from referee.games.api import Game, Options
from referee.records.finding import find_game
from referee.records.record import GameRecord
from referee.records.run_files import RECORDS, results_folder
from referee.tournament.plan import checked_seed
from referee.viewing.steps import Steps, steps_of

_KINDS = ("plies", "file", "from")  # what openings are made of: one of these keys

SIZE_CAP = 1 << 20
"""Maximum number of bytes of a file of lines: all of them stand in the first line of a run's records."""


def openings_of(fields: Fields, folder: Path, game: Game[Any], options: Options) -> Openings:
    """The openings that a table describes, checked against the rules; the path of a file is relative to the
    folder. Raises `UsageError`.
    """
    fields.only(*_KINDS, "order", "seed", "game", "move")
    given = [kind for kind in _KINDS if fields.has(kind)]
    if len(given) != 1:
        has = listed(f"`{kind}`" for kind in given) if given else "none of `plies`, `file` and `from`"
        raise UsageError(f"`{fields.at('')[:-1]}` has {has}, expected exactly one of them")
    if fields.has("from"):
        fields.only("from", "game", "move")
        return Openings(start=_start(fields, folder, game, options))
    fields.only("plies", "file", "order", "seed")
    check_takes_openings(game, options)
    seed = checked_seed(fields.text("seed")) if fields.has("seed") else None
    if fields.has("plies"):
        if fields.has("order"):
            raise fields.wrong("order", "none with `plies`, because `order` only applies to a `file`")
        return Openings(plies=fields.number("plies", 1, MAX_PLIES), seed=seed)
    order = fields.one_of("order", ORDERS, ORDERS[0])
    if seed is not None and order != "random":
        raise fields.wrong("seed", "none, or `random` as `order`")
    name = fields.text("file")
    if not name or "\0" in name:
        raise fields.wrong("file", "the path of a file")
    text = _read(folder / name)
    lines = _lines(folder / name, text, game, options)
    return Openings(lines=lines, order=order, seed=seed, sha256=hashlib.sha256(text).hexdigest())


def _start(fields: Fields, folder: Path, game: Game[Any], options: Options) -> OpeningStart:
    """The start that a table names. Raises `UsageError`."""
    name = fields.text("from")
    if not name or "\0" in name:
        raise fields.wrong("from", "a run's folder")
    record = recorded_game(folder / name, fields.text("game"), game)
    for option, value in record.terms.options.items():
        if value != options[option]:
            raise UsageError(
                f"option `{option}` is `{value_text(options[option])}`, expected `{value_text(value)}` as in "
                f"the game `{shown(record.terms.id)}`"
            )
    return start_of(steps_of(record), fields.number("move"))


def recorded_game(path: Path, game_id: str, game: Game[Any]) -> GameRecord:
    """The game with an id, or a number that counts from 1, in a run's folder, its tournament file or its file
    of records: one of this game. Raises `UsageError` and `RecordError`.
    """
    if path.suffix == ".toml":
        path = results_folder(path)
    if path.is_dir():
        path = path / RECORDS

    def refuse(warning: str) -> None:
        why = warning.removeprefix("warning: ")
        raise UsageError(f"cannot start from a game in `{shown(str(path))}`: {why}")

    record = find_game(path, game_id, game if origin_of(game) else None, refuse)
    assert isinstance(record, GameRecord)  # it was asked for by its id
    if record.terms.game.slug != game.slug:
        raise UsageError(
            f"`{shown(record.terms.id)}` is a game of `{record.terms.game.slug}`, "
            f"expected a game of `{game.slug}`"
        )
    return record


def start_of(steps: Steps, move: int) -> OpeningStart:
    """Takes the events of a recorded game up to a step as the beginning of other games. Raises `UsageError`
    where no game can go on there, and `RecordError` where the record is damaged before.
    """
    game_id = shown(steps.terms.id)
    last = max((step.number for step in steps.steps if step.state.outcome() is None), default=0)
    if move > last and steps.damage:
        raise steps.damage
    if not last:
        raise UsageError(f"game `{game_id}` is over after its first move, expected a longer one")
    if not 1 <= move <= last:
        raise UsageError(f"game `{game_id}` does not continue after move {move}, expected 1 to {last}")
    events: list[Drawn | Preset] = []
    for event in (event for step in steps.steps[: move + 1] for event in step.events):
        if isinstance(event, Retired):
            raise UsageError(
                f"seat {event.seat + 1} dropped out of game `{game_id}` before move "
                f"{move}, expected an earlier move"
            )
        if isinstance(event, Moved):
            events.append(Preset(event.seat, event.text))
        elif isinstance(event, Drawn | Preset):
            events.append(event)
    return OpeningStart(steps.terms.id, move, tuple(events))


def _read(path: Path) -> bytes:
    try:
        text = read_start(path, SIZE_CAP + 1)
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None
    if len(text) > SIZE_CAP:
        raise UsageError(
            f"`{shown(str(path))}` has more than {SIZE_CAP:,} bytes, expected a file of openings"
        )
    return text


def _lines(path: Path, text: bytes, game: Game[Any], options: Options) -> tuple[OpeningLine, ...]:
    """The lines of a file except for empty ones and those that begin with `#`. Raises `UsageError`."""
    lines: list[OpeningLine] = []
    for number, encoded in enumerate(text.split(b"\n"), 1):
        try:
            line = encoded.decode().strip()
            if line and not line.startswith("#"):
                lines.append(checked_line(game, options, line))
        except UnicodeDecodeError:
            raise UsageError(f"`{shown(str(path))}`, line {number}: not UTF-8") from None
        except UsageError as error:
            raise UsageError(f"`{shown(str(path))}`, line {number}, {error}") from None
    if not lines:
        raise UsageError(
            f"`{shown(str(path))}` is empty, expected one opening per line, its moves separated by `;`"
        )
    return tuple(lines)
