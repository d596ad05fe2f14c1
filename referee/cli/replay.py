"""`referee replay`: shows a recorded game, move by move."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from referee.cli.options import game_option, outside_game
from referee.cli.output import columns, say, show_data
from referee.core.errors import RecordError, UsageError
from referee.core.text import listed, shown
from referee.core.whole_file import write_whole
from referee.gameplay.events import Event, Seat
from referee.games.api import State
from referee.records.finding import find_game
from referee.records.record import GameRecord, Summary
from referee.records.replay import replay as play_again
from referee.tournament.reading import records_at
from referee.viewing.characters import picture_text
from referee.viewing.states import game_states
from referee.viewing.steps import Steps, View, steps_of
from referee.viewing.words import SeatView, bot_output, frame, heading, result


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("game_id", metavar="[ID]", required=False)
@click.option("--all", "at_once", is_flag=True, help="Print all moves at once, in a terminal too.")
@click.option(
    "--seat", type=click.IntRange(1), metavar="N", help="Show only what seat N knew during the game."
)
@click.option("--json", "as_json", is_flag=True, help="Print all positions as JSON.")
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a page for a browser that replays the game: one file, which needs no network. - is stdout.",
)
@game_option
def replay(
    file: Path,
    game_id: str | None,
    at_once: bool,
    seat: int | None,
    as_json: bool,
    page: Path | None,
    game: str | None,
) -> None:
    """Shows the game ID of FILE move by move, with the board and the clocks.

    FILE is a file of records, a folder with one, or a tournament file, which stands for its results. ID is
    a game's id, or its number in the file, counted from 1. Without ID, shows the game if the file has only
    one, and otherwise lists the games. In a terminal, keys step through the game.
    """
    ways = {"--all": at_once, "--json": as_json, "--html": page is not None}
    given = [name for name, is_given in ways.items() if is_given]
    if len(given) > 1:
        raise UsageError(f"{listed(given)} are given, expected one of them")
    file = records_at(file)
    found = find_game(file, game_id, outside_game(game), say)
    if not isinstance(found, GameRecord):
        if as_json or page:
            raise UsageError(
                f"`{shown(str(file))}` has {len(found)} games, expected the ID of one with {given[0]}"
            )
        rows = [[str(number), shown(s.id), _seats(s), shown(s.sentence)] for number, s in enumerate(found, 1)]
        show_data(columns(["", "id", "ranks", "ending"], rows))
        say(f"hint: referee replay {shown(str(file))} ID shows one of them")
        return
    colour = sys.stdout.isatty()
    if found.rules != found.terms.game.rules:
        say(
            f"warning: this game was played with rules {found.rules}, the referee has "
            f"{found.terms.game.rules}"
        )
    seats = len(found.terms.bots)
    if seat is not None and seat > seats:
        raise UsageError(f"the game has {seats} seats, expected --seat 1 to {seats}")
    if page:
        _write_page(page, steps_of(found), None if seat is None else seat - 1)
        return
    if as_json:
        steps = steps_of(found)
        show_data(json.dumps(game_states(steps, None if seat is None else seat - 1)))
        if steps.damage:
            raise steps.damage
        return
    frames, damage = _frames(found, colour, None if seat is None else seat - 1)
    if at_once or not (sys.stdin.isatty() and colour):
        for text in frames:
            show_data(text)
    else:
        _step_through(frames)
    if damage:
        raise damage


def _write_page(path: Path, steps: Steps, view: View) -> None:
    # Templates are loaded for pages alone.
    from referee.pages.environment import PAGE_START
    from referee.pages.replay_page import replay_page

    html = replay_page(steps, view)
    if str(path) == "-":
        show_data(html)
    else:
        write_whole(path, f"{html}\n".encode(), PAGE_START.encode(), "a page")
    if steps.damage:
        raise steps.damage


def _seats(game: Summary) -> str:
    return ", ".join(
        f"{rank}. {shown(name)}" for rank, name in sorted(zip(game.ranks, game.bots, strict=False))
    )


def _frames(record: GameRecord, colour: bool, seat: Seat | None) -> tuple[list[str], RecordError | None]:
    """Every event of a game as text, and the error if the record can be replayed only in part. With a seat,
    only what that seat knew.
    """
    terms = record.terms
    start = terms.game.start(terms.options)
    frames = [f"{heading(terms)}\n{picture_text(start.picture(seat), colour)}\n"]
    view = SeatView(seat, terms, colour) if seat is not None else None

    def watch(event: Event, state: State[Any]) -> None:
        if view:
            for text in view.take(event, state):
                frames.append(f"{len(frames)}. {text}")
        else:
            frames.append(frame(len(frames), event, state, terms, colour))

    try:
        verdict = play_again(record, watch)
    except RecordError as error:
        return frames, RecordError(f"game {shown(terms.id)}: {error}")
    frames.append("\n".join([result(terms, verdict), *bot_output(terms, record.measured, seat)]))
    return frames, None


def _step_through(frames: list[str]) -> None:
    """Shows one frame at a time; keys step forward and back."""
    at = 0
    while True:
        click.clear()
        show_data(frames[at])
        say(f"{at + 1} of {len(frames)}: any key next, b back, e end, q quit")
        match click.getchar():
            case "q" | "\x1b":
                return
            case "b" | "\x1b[D":
                at = max(0, at - 1)
            case "e":
                at = len(frames) - 1
            case _ if at + 1 == len(frames):
                return
            case _:
                at += 1
