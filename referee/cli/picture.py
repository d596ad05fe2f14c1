"""`referee picture`: draws a position of a recorded game as SVG or PNG."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import (
    game_id_argument,
    game_option,
    group,
    outside_game,
    run_argument,
    seat_option,
    view_of,
)
from referee.cli.output import is_stdout, put_text, say
from referee.core.errors import UsageError
from referee.core.text import shown

if TYPE_CHECKING:
    from referee.viewing.palette import Theme
    from referee.viewing.steps import Steps


@click.command(short_help="Draws a position of a game as SVG or PNG.")
@run_argument
@game_id_argument
@click.option(
    "--move",
    "--step",
    "number",
    type=int,
    metavar="N",
    default=-1,
    help="Show the position after step N; 0 is the start, negative numbers count from the end. Default: -1.",
)
@seat_option
@click.option(
    "--theme",
    type=click.Choice(("light", "dark")),
    default="light",
    show_default=True,
    help="The colours of the picture.",
)
@click.option(
    "--width",
    type=click.IntRange(16, 10_000),
    metavar="PX",
    help="Width in pixels. Default: depends on the content.",
)
@click.option(
    "-o",
    "out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write NAME.svg, or NAME.png if a program that converts it is installed. Default: SVG on stdout.",
)
@game_option
def picture(path: Path, game_id: str | None, game: str | None, out: Path | None, **given: Any) -> None:
    """Draws a position from game ID of a run, as `referee replay` shows it.

    RUN is a run's folder, its tournament file, or a file of records. ID is the game's id or number, as
    `replay RUN` lists them; a run of one game needs none. All pictures of a game have the same size. PNG is
    made by rsvg-convert, inkscape, resvg, ImageMagick or cairosvg, whichever is installed.

    \b
    Examples:
      referee picture results 7 --move 5 -o move5.svg
      referee picture results 7 -o end.png --width 800
    """
    from referee.core.whole_file import write_whole
    from referee.records.finding import find_game
    from referee.records.record import GameRecord
    from referee.tournament.run.reading import records_at
    from referee.viewing.png import PNG_START, png_of
    from referee.viewing.steps import steps_of
    from referee.viewing.svg import SVG_START

    kind = out.suffix.lower() if out else ""
    if not is_stdout(out) and kind not in (".svg", ".png"):
        raise UsageError(
            f"`{shown(str(out))}` is not a valid name for a picture, expected NAME.svg or NAME.png"
        )
    record = find_game(records_at(path), game_id, outside_game(game), say)
    if not isinstance(record, GameRecord):
        raise UsageError(
            f"`{shown(str(path))}` has {len(record):,} games, expected the ID of "
            "one; `referee replay` lists them"
        )
    svg = group(_PictureSettings, given).of(steps_of(record))
    if out and kind == ".png":
        write_whole(out, png_of(svg), PNG_START, "a PNG file")
    else:
        put_text(out, svg, SVG_START, "an SVG file")


@dataclass(frozen=True, slots=True)
class _PictureSettings:
    """The options of `referee picture` that say what is drawn, and how."""

    number: int
    seat: int | None
    theme: Theme
    width: int | None

    def of(self, steps: Steps) -> str:
        """The position after a step, as SVG. Raises `UsageError`, and `RecordError` if the record is too
        damaged for it.
        """
        from referee.viewing.palette import file_style
        from referee.viewing.step_words import step_lines
        from referee.viewing.svg import Layout
        from referee.viewing.words import heading, result

        view, number, last = view_of(self.seat, steps.record), self.number, len(steps.steps) - 1
        if damage := steps.damage_for(view):
            if not 0 <= number <= last:
                raise damage
            say(f"warning: {damage}")
        at = number if number >= 0 else last + 1 + number
        if not 0 <= at <= last:
            raise UsageError(
                f"the game has no step {number}, expected --move 0 to {last}, or -{last + 1} to -1"
            )
        pictures = [steps.known_by(view).picture(step.state) for step in steps.steps]
        words = [result(steps.terms, steps.verdict)] if at == last and steps.verdict else []
        words += step_lines(steps, at, view)
        return Layout.of(pictures).svg(
            pictures[at],
            file_style(self.theme),
            f"{heading(steps.terms)}, step {at} of {last}",
            "; ".join(line.strip() for line in words),
            self.width,
        )
