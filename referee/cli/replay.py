"""`referee replay`: shows a recorded game, move by move."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli import completion
from referee.cli.options import (
    game_option,
    given_of,
    group,
    only_one,
    outside_game,
    run_argument,
    seat_option,
    view_of,
)
from referee.cli.output import can_draw, is_stdout, pasteable, put_text, say, show_data
from referee.core.errors import RecordError, UsageError
from referee.core.rows import Grid, text_columns
from referee.core.text import listed, shown

if TYPE_CHECKING:
    from referee.pages.game_analysis import Analyses
    from referee.records.record import GameRecord
    from referee.viewing.knowledge import View
    from referee.viewing.steps import Steps


@click.command()
@run_argument
@click.argument("game_id", metavar="[ID]", required=False, shell_complete=completion.game_of_run)
@click.option("--all", "at_once", is_flag=True, help="Print all moves at once, even in a terminal.")
@seat_option
@click.option(
    "--move",
    "--step",
    "step",
    type=click.IntRange(0),
    metavar="N",
    help="Start at step N instead of the beginning; with --image, draw it instead of the last.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all positions as JSON.")
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a web page that replays the game: a single file that needs no network. - is stdout.",
)
@click.option(
    "--image",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Draw a position as an SVG file. - is stdout.",
)
@click.option(
    "--beside",
    metavar="OTHER",
    help="With --html: show game OTHER of the run beside ID, in step, from the first step that differs.",
)
@game_option
def replay(**given: Any) -> None:
    """Shows the game ID of a run move by move, with the board and the clocks; without ID, lists the games.

    RUN is a run's folder, its tournament file, or a file of records. ID is the game's id or number; a
    run of one game needs none. In a terminal, keys choose a game from the list and step through it; `?`
    shows them.

    \b
    Examples:
      referee replay results
      referee replay results 7
      referee replay results 7 --html game7.html
      referee replay results 7 --beside 8 --html games.html
      referee replay results 7 --step 5 --image step5.svg
    """
    from referee.records.finding import find_game
    from referee.records.record import GameRecord
    from referee.tournament.run.reading import records_at
    from referee.viewing.words import placings

    options = group(_ReplayOptions, given)
    options.check()
    file = records_at(options.path)
    found = find_game(file, options.game_id, outside_game(options.game), say)
    if isinstance(found, GameRecord):
        _show(found, options, _beside(found, file, options))
        return
    if of_one := options.of_one:
        raise UsageError(
            f"`{shown(str(file))}` has {len(found):,} games, expected the ID of "
            f"one of them with {listed(of_one)}"
        )
    rows = [
        [number, shown(s.id), shown(placings(s.bots, s.ranks)), shown(s.told)]
        for number, s in enumerate(found, 1)
    ]
    listing = Grid(text_columns("game", "id", "result", "how it ended"), rows).drawn()
    if options.is_on_screen:
        _show_chosen(file, listing.split("\n"), options)
    else:
        show_data(listing)
        say(f"hint: `{pasteable('replay', file, 1)}` shows one of them")


@dataclass(frozen=True, slots=True)
class _ReplayOptions:
    path: Path
    game_id: str | None
    at_once: bool
    seat: int | None
    step: int | None
    as_json: bool
    page: Path | None
    image: Path | None
    beside: str | None
    game: str | None

    @property
    def ways(self) -> dict[str, object]:
        """The options that say how the game is shown."""
        return {"--all": self.at_once, "--json": self.as_json, "--html": self.page, "--image": self.image}

    @property
    def of_one(self) -> list[str]:
        """The options given that need a single game."""
        others = {"--seat": self.seat, "--step": self.step, "--beside": self.beside}
        return given_of({**others, **self.ways, "--all": None})

    @property
    def is_on_screen(self) -> bool:
        """Whether the whole screen of a terminal is used."""
        return not given_of(self.ways) and all(map(can_draw, (sys.stdin, sys.stdout, sys.stderr)))

    def check(self) -> None:
        """Raises `UsageError` for options that exclude each other."""
        only_one(self.ways)
        only_one({"--step": self.step, "--json": self.as_json, "--html": self.page})
        if self.beside is not None and not self.page:
            raise UsageError("--beside is given without --html, expected both: only a page shows two games")
        image = self.image
        if image and not is_stdout(image) and image.suffix.lower() != ".svg":
            raise UsageError(f"`{shown(str(image))}` is not a valid name for a picture, expected NAME.svg")


def _show_chosen(file: Path, listing: Sequence[str], options: _ReplayOptions) -> None:
    """Shows the games that the user chooses from a list, one after another, until it is left."""
    from referee.cli.screen import choose  # it loads rich, for which nothing else is to wait
    from referee.records.finding import find_game
    from referee.records.record import GameRecord

    heading, games = listing[:2], listing[2:]
    chosen = choose(heading, games)
    while chosen is not None:
        record = find_game(file, str(chosen + 1), outside_game(options.game), say)
        assert isinstance(record, GameRecord), "a number is one game"
        _show(record, options)
        chosen = choose(heading, games, chosen)


def _beside(record: GameRecord, file: Path, options: _ReplayOptions) -> GameRecord | None:
    """The game that is to be shown beside this one. Raises `UsageError` where it is of another game
    or lacks the seat of `--seat`.
    """
    from referee.records.finding import find_game
    from referee.records.record import GameRecord

    if options.beside is None:
        return None
    other = find_game(file, options.beside, outside_game(options.game), say)
    assert isinstance(other, GameRecord), "it has an id"
    name, other_name = record.terms.game.name, other.terms.game.name
    if name != other_name:
        raise UsageError(
            f"--beside {shown(options.beside, 80)} is a game of {shown(other_name)}, "
            f"expected one of {shown(name)}"
        )
    view_of(options.seat, other)  # whether it has this seat too
    return other


def _show(record: GameRecord, options: _ReplayOptions, other: GameRecord | None = None) -> None:
    """Shows a game, on a page with another one beside it. Raises `UsageError` where it has no such seat or
    step, and `RecordError` if it is damaged.
    """
    from referee.viewing.states import game_states
    from referee.viewing.steps import steps_of

    view, step = view_of(options.seat, record), options.step or 0
    steps = steps_of(record)
    if options.image:
        _write_image(options.image, steps, view, options.step)
        return
    if step >= len(steps.steps):
        raise _no_step(step, steps)
    if options.page:
        beside = steps_of(other) if other else None
        _write_page(options, steps, view, beside)
        steps = beside if beside and not steps.damage else steps  # what is damaged is told of at the end
    elif options.as_json:
        show_data(json.dumps(game_states(steps, view)))
    elif options.is_on_screen:
        from referee.cli.replay_screen import (  # it loads rich, for which nothing else is to wait
            Browser,
            show,
        )

        show(Browser(steps, view, step))
    else:
        for text in _texts(steps, view, step):
            show_data(text)
    if damage := steps.damage_for(view):
        raise damage


def _no_step(step: int, steps: Steps) -> UsageError:
    return UsageError(f"the game has no step {step}, expected 0 to {len(steps.steps) - 1}")


def _write_image(path: Path, steps: Steps, view: View, step: int | None) -> None:
    """Draws the position after a step, by default the last. Raises `UsageError`, and `RecordError` if the
    record is too damaged for it.
    """
    from referee.viewing.palette import file_style
    from referee.viewing.svg import SVG_START, Layout
    from referee.viewing.words import heading, result, step_lines

    last = len(steps.steps) - 1
    at = last if step is None else step
    if damage := steps.damage_for(view):
        if step is None or step > last:
            raise damage
        say(f"warning: {damage}")
    elif at > last:
        raise _no_step(at, steps)
    pictures = [steps.known_by(view).picture(one.state) for one in steps.steps]
    words = [result(steps.terms, steps.verdict)] if at == last and steps.verdict else []
    words += step_lines(steps, at, view)
    svg = Layout.of(pictures).svg(
        pictures[at],
        file_style("light"),
        f"{heading(steps.terms)}, step {at} of {last}",
        "; ".join(line.strip() for line in words),
    )
    put_text(path, svg, SVG_START, "an SVG file")


def _write_page(options: _ReplayOptions, steps: Steps, view: View, beside: Steps | None) -> None:
    # Templates are loaded for pages alone.
    from referee.pages.environment import PAGE_START
    from referee.pages.replay_page import replay_page

    html = replay_page(steps, view, beside=beside, analyses=_analyses(options.path))
    put_text(options.page, html, PAGE_START, "a page")


def _analyses(path: Path) -> Analyses:
    """The analyses of the run's games; none where nobody has analysed it, or its records are damaged."""
    from referee.analysis.store import analysed
    from referee.records.run_files import ANALYSIS
    from referee.tournament.run.reading import records_at
    from referee.tournament.run.run import read_run

    folder = records_at(path)
    if not (folder / ANALYSIS).exists():
        return {}
    try:
        found = analysed(read_run(folder))
    except RecordError as error:
        say(f"warning: without the analysis: {error}")
        return {}
    for problem in found.problems:
        say(f"warning: {problem}")
    return found.games


def _texts(steps: Steps, view: View, first: int) -> Iterator[str]:
    """The game as text, beginning with a step: each step of which the view knows something, and the end."""
    from referee.viewing.characters import picture_text
    from referee.viewing.words import end_lines, heading, place_text, step_lines

    yield heading(steps.terms)
    if place := place_text(steps.record.measured):
        yield place
    for number in range(first, len(steps.steps)):
        known = step_lines(steps, number, view)
        if known or number == first:
            said = "\n".join([f"{number}. {known[0]}", *known[1:], ""]) if known else ""
            picture = steps.known_by(view).picture(steps.steps[number].state)
            yield f"{said}{picture_text(picture, colour=True)}\n"
    yield from end_lines(steps, view)
