"""A match as tables of a tournament file: games between as many bots as the game has seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from referee.core.errors import UsageError
from referee.core.settings import MATCH_GAMES, MAX_SPRT_GAMES
from referee.core.text import counted, shown
from referee.games import game_given
from referee.games.api import Game
from referee.tournament.file.opening_table import recorded_game
from referee.tournament.run.reading import records_at

MAX_GAMES = 1_000_000


def match_tables(
    game: str,
    bots: Sequence[Mapping[str, Any]],
    options: Mapping[str, int | str],
    games: int | None,
    settings: Mapping[str, Any],
    base: Path,
) -> dict[str, Any]:
    """The tables of a tournament file for a match of `game`, which is found from the folder `base`, between
    these bots, tables of `[[bot]]`; they change seats after every game. `settings` are further keys of
    `[tournament]`; those that are None are not given. The values are checked only as far as others follow
    from them.

    Raises `UsageError` where the game has not as many seats, or the number of games is wrong.
    """
    if games is not None and not 1 <= games <= MAX_GAMES:
        raise UsageError(f"`games` is {games}, expected a number from 1 to {MAX_GAMES:,}")
    found = game_given(game, base)
    seats = found.seats(found.settle({name: str(value) for name, value in options.items()}))
    if len(bots) != seats:
        names = ", ".join(str(bot.get("name")) for bot in bots)
        more = "; a tournament plays more bots" if len(bots) > seats else ""
        raise UsageError(
            f"`{found.slug}` has {counted(seats, 'seat')}, expected {counted(seats, 'bot')}, "
            f"not {len(bots)} ({shown(names)}){more}"
        )
    count = games or (MATCH_GAMES if settings.get("sprt") is None else MAX_SPRT_GAMES)
    main = {
        "game": game,
        "format": "pairings",
        "pairings": [[bot.get("name") for bot in bots]],
        "rounds": -(-count // seats),
        "budget": count,
        **{name: value for name, value in settings.items() if value is not None},
    }
    tables = {"tournament": main, "options": dict(options), "bot": [dict(bot) for bot in bots]}
    return {name: table for name, table in tables.items() if table}


def recorded_start(
    path: Path, game_id: str, move: int, game: Game[Any], given: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The table `openings` for a match that starts after a move of a recorded game, and the options of that
    game with the `given` ones, which have to be the same. Raises `UsageError` and `RecordError`.
    """
    file = records_at(path).absolute()
    record = recorded_game(file, game_id, game)
    options = {name: str(value) for name, value in record.terms.options.items()}
    return {"from": str(file), "game": record.terms.id, "move": move}, {**options, **given}
