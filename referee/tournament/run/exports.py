"""Games for other programs: PGN, CSV, JSON lines, and a game with all that it needs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.core.rows import as_csv
from referee.core.seeds import shared_by
from referee.core.text import shown
from referee.records import journal
from referee.records.heads import Head
from referee.records.record import PlayedOn, Summary, parse_json
from referee.tournament.run.run import StoredRun, dialogues, game_lines, places_of, read_lines

GamesOfRuns = Iterable[tuple[StoredRun, Iterable[Summary]]]  # games by the runs that they are of


Dialogues = Mapping[tuple[Path, str], str]
"""Stored dialogues, by the folder of the run and the id of the game."""


def csv_of(games: GamesOfRuns, kept: Dialogues | None = None) -> str:
    """A line for each game, after one with the names of the columns; with columns by seat.

    If dialogues are given, the last column is the game's, empty where it is not stored.
    """
    listed = list(placed(games))
    seats = range(1, 1 + max((len(game.bots) for _, game, _ in listed), default=2))
    by_seat = [f"{name}_{seat}" for seat in seats for name in _OF_SEAT]
    names = ["run", "id", "section", "round", "game", *by_seat, "ending", "rated", "sentence", "digest"]
    names += ["machine", "cpu", "worker"]
    rows = [row_of(*one) for one in listed]
    if kept is not None:
        names.append("dialogue")
        for row, (run, game, _) in zip(rows, listed, strict=True):
            row["dialogue"] = "\n".join(dialogue_lines(kept.get((run.folder, game.id), "")))
    return as_csv(rows, names)


_OF_SEAT = ("bot", "rank", "score", "fault")


def row_of(run: StoredRun, game: Summary, place: PlayedOn, first_seat: int = 1) -> dict[str, Any]:
    """What a table of games has of one: values by column. The number of its first seat, which is part of the
    names of columns, is `first_seat`.
    """
    pairing = Pairing.parse(game.id)
    seats = enumerate(zip(game.bots, game.ranks, game.scores, game.faults, strict=True), first_seat)
    return {
        "run": str(run.folder),
        "id": game.id,
        "section": pairing.section,
        "round": pairing.round,
        "game": game.game,
        **{
            f"{name}_{seat}": what
            for seat, values in seats
            for name, what in zip(_OF_SEAT, values, strict=True)
        },
        "ending": game.ending,
        "rated": "true" if game.rated else "false",
        "sentence": shown(game.sentence),
        "digest": game.digest,
        **dict(zip(("machine", "cpu", "worker"), map(shown, place), strict=True)),
    }


def dialogues_of(games: GamesOfRuns) -> Dialogues:
    """The dialogues of these games, as far as they are stored. Raises `UsageError`."""
    return {
        (run.folder, game_id): text
        for run, some in games
        for game_id, text in dialogues(run.folder, {game.id for game in some}).items()
    }


def dialogue_lines(dialogue: str) -> list[str]:
    """The lines of a dialogue, each escaped and bounded; none where it is not stored."""
    return [shown(line, 5000) for line in dialogue.split("\n")] if dialogue else []


def json_of_heads(games: GamesOfRuns, kept: Dialogues | None = None) -> Iterator[str]:
    """The heads of games, each as a JSON object, with the machine that played it; if dialogues are given,
    with the game's, as a list of lines or null where it is not stored.
    """
    for run, game, place in placed(games):
        pairing = Pairing.parse(game.id)
        more: dict[str, Any] = {
            "run": str(run.folder),
            "section": pairing.section,
            "round": pairing.round,
        }
        if kept is not None:
            more["dialogue"] = dialogue_lines(kept.get((run.folder, game.id), "")) or None
        yield json.dumps({**game._asdict(), **more, "machine": place._asdict()})


def placed(games: GamesOfRuns) -> Iterator[tuple[StoredRun, Summary, PlayedOn]]:
    """The games with their runs, and where they were played. Raises `RecordError`."""
    for run, some in games:
        listed = list(some)
        places = places_of(run, {game.id for game in listed})
        yield from ((run, game, places[game.id]) for game in listed)


def pgn_of(games: GamesOfRuns) -> Iterator[str]:
    """Games of two seats as PGN, for programs that compute ratings: seat 1 is White. The moves, which are not
    those of chess, are a comment.

    A game that is not rated has the result `*`, which these programs leave out. Raises `UsageError` where a
    game has another number of seats, and `RecordError`.
    """
    for run, some in games:
        listed = {game.id: game for game in some}
        for line in game_lines(run, listed):
            game = listed[line.game.id]
            if len(game.bots) != 2:
                raise UsageError(
                    f"game `{shown(game.id)}` has {len(game.bots)} seats, expected 2 in every game for PGN"
                )
            record = Fields(parse_json(line.text), "", RecordError)
            date, time = _began(record.object("measured"))
            one, other = game.ranks
            result = "1/2-1/2" if one == other else "1-0" if one < other else "0-1"
            pairing = Pairing.parse(game.id)
            tags = {
                "Event": f"{game.game} {pairing.section}".strip(),
                "Site": "?",
                "Date": date,
                "Round": pairing.round,
                "White": game.bots[0],
                "Black": game.bots[1],
                "Result": result if game.rated else "*",
                "GameId": game.id,
                "Termination": game.ending,
                **({"UTCTime": time} if time else {}),
            }
            lines = [f'[{name} "{_quoted(value)}"]' for name, value in tags.items()]
            yield "\n".join([*lines, "", *_moves(record), tags["Result"], ""])


def _moves(record: Fields) -> list[str]:
    """The moves of a game with their seats, as lines of a comment; none of a game without moves."""
    events = [event for event in record.objects("events") if event.has("move")]
    moves = [shown(f"{event.value('seat')}: {event.value('move')}") for event in events]
    # A brace would end the comment.
    text = "; ".join(moves).replace("{", "(").replace("}", ")")
    return textwrap.wrap(f"{{ {text} }}", 80, break_long_words=False, break_on_hyphens=False) if moves else []


def _began(measured: Fields) -> tuple[str, str]:
    """The date and the time in UTC at which a game began, as PGN has them; unknown in some records."""
    try:
        when = datetime.fromisoformat(str(measured.value("began"))).astimezone(UTC)
    except ValueError:
        return "????.??.??", ""
    return f"{when:%Y.%m.%d}", f"{when:%H:%M:%S}"


def _quoted(text: str) -> str:
    """A text for a PGN tag."""
    return shown(text).replace("\\", "\\\\").replace('"', '\\"')


def game_alone(run: StoredRun, game_id: str) -> bytes:
    """A file of records with one game of a run: the first line, all changes, its void attempts, and the game.

    Also the first game that has the same shared seed, since the seeds of the others are compared with its.
    """
    companions = [game for game in run.games if shared_by(game) == shared_by(game_id)]
    wanted = {game_id, *companions[:1]}
    prev, lines = journal.FIRST, []
    for line, said in read_lines(run):
        game = said.game.id if isinstance(said, Head) else said.get("id")
        if game is None or game in wanted:
            text, prev = journal.chained(journal.unchained(line.text), prev)
            lines.append(text)
    return b"".join(lines)
