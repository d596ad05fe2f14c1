"""Boards in characters, of the games in play, for the live view of a run on a wide terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from rich.text import Text

from referee.core.text import shown
from referee.core.units import TimeControl
from referee.games.api import Seat
from referee.games.picture import SEATS, Mark, Picture, Plane, Region, panels_of_seat
from referee.live.positions import FollowedGame, GameOf, GamesInPlay, PositionInPlay
from referee.live.slots import FOLDER, now_us, say_watched
from referee.person.words import minutes
from referee.viewing.characters import Ink, InkLine, lines, part, width
from referee.viewing.drawn_board import seat_rows

FEWEST_COLUMNS = 100  # a narrower terminal shows no boards

FEWEST_ROWS = 10  # nor does one with fewer lines for them

NARROWEST = 36  # a board has at least so many columns

BETWEEN = 3  # so many columns are between two boards

LONGEST_NAME = 20

FARTHEST = 500
"""So many characters a board can reach from the middle: what a slot has is not trusted, and each line and
column takes time.
"""


class BoardsInCharacters:
    """The boards of the games that are played in a run's folder, as many as fit beside each other."""

    def __init__(self, folder: Path, game_of: GameOf) -> None:
        self._folder = folder / FOLDER
        self._games = GamesInPlay(folder, game_of)
        self._drawn: dict[str, _DrawnPosition] = {}
        self._widest = NARROWEST
        self._rows = 0

    def lines(self, columns: int, most: int) -> list[Text]:
        """The boards in so many columns and at most so many lines; none where there is no game, or no room.
        Workers are told that somebody looks. There are never fewer lines than before, so that what is below
        stays where it is.
        """
        if columns < FEWEST_COLUMNS or most < FEWEST_ROWS:
            return []
        with contextlib.suppress(OSError):  # there is nothing to look at then
            say_watched(self._folder)
        games = self._games.look()
        self._drawn = {name: drawn for name, game in games.items() if (drawn := self._draw(name, game))}
        self._widest = max([self._widest, *(drawn.columns for drawn in self._drawn.values())])
        fitting = max(2, (columns + BETWEEN) // (self._widest + BETWEEN))
        wide = (columns + BETWEEN) // fitting - BETWEEN
        boards = [
            _board(games[name], drawn, wide, most) for name, drawn in islice(self._drawn.items(), fitting)
        ]
        self._rows = min(most, max([self._rows, *map(len, boards)]))
        return [_beside([board[row : row + 1] for board in boards], wide) for row in range(self._rows)]

    def _draw(self, name: str, game: FollowedGame) -> _DrawnPosition | None:
        """The position in characters; None where it is too large, or nothing that can be drawn."""
        before = self._drawn.get(name)
        if before and before.position is game.position:
            return before
        planes = [panel for panel in game.position.picture if isinstance(panel, Plane)]
        try:
            return _DrawnPosition(game) if all(map(_is_near, planes)) else None
        except Exception:  # a picture that cannot be drawn ends no run
            return None


class _DrawnPosition:
    """The position of a game in characters."""

    def __init__(self, game: FollowedGame) -> None:
        self.position = game.position
        picture = game.position.picture
        seats = len(game.head.bots)
        self.said = seat_rows(picture, seats)
        self.planes = lines(tuple(panel for panel in picture if isinstance(panel, Plane)))
        self.notes = lines(panels_of_seat(_rows(picture), None))
        is_a_board = len(self.planes) > len(self.notes)
        self.columns = width(self.planes) if is_a_board else max(width(self.planes), width(self.notes))


def _is_near(plane: Plane) -> bool:
    """Whether all that is written of a plane is so near that it can be drawn."""
    pieces = [piece for piece in (*plane.ground, *plane.marks) if not isinstance(piece, Region)]
    points = [
        point for one in pieces for point in (((one.x, one.y),) if isinstance(one, Mark) else one.points)
    ]
    return all(max(abs(x) * plane.columns, abs(y) * plane.rows) <= FARTHEST for x, y in points)


def _rows(picture: Picture) -> Picture:
    return tuple(panel for panel in picture if not isinstance(panel, Plane))


def _board(game: FollowedGame, drawn: _DrawnPosition, columns: int, most: int) -> list[Text]:
    """The strips of the seats, and below them as much of the position as fits: what is around the last move,
    and what stands beside the board.
    """
    strips = [
        _strip(game, seat, drawn.said.get(str(seat + 1), ""), columns) for seat in range(len(game.head.bots))
    ]
    room = most - len(strips)
    position = part(drawn.planes, columns, room)
    notes = drawn.notes[: room - len(position)]
    return [*strips, *map(_text, [*position, *notes])]


def _strip(game: FollowedGame, seat: Seat, said: str, columns: int) -> Text:
    """Who sits there, whether it is to move, what the picture says of it, and its clock."""
    head, position = game.head, game.position
    mark = ">" if seat in position.turn else " "
    name = Text(f"{mark} {shown(head.bots[seat], LONGEST_NAME)}", "bold" if mark == ">" else "")
    name.stylize(Ink("", SEATS[seat]).colour)
    left = _left(head.controls[seat], position, seat)
    said_text = Text(f"  {said}" if said else "")
    said_text.truncate(max(0, columns - len(name) - len(left) - 1), overflow="ellipsis", pad=True)
    return Text.assemble(name, said_text, " ", left)


def _left(control: TimeControl, position: PositionInPlay, seat: Seat) -> str:
    """The time that a seat has left for its move, its reserve included; empty where it is not known."""
    reserve_us = position.reserves_us[seat]
    if not control.timed or reserve_us is None:
        return ""
    used_us = now_us() - position.at_us if seat in position.turn else 0
    return minutes(max(0, control.move_us + reserve_us - max(0, used_us)))


def _text(line: InkLine) -> Text:
    return Text.assemble(*((ink.text, ink.colour) for ink in line))


def _beside(boards: Sequence[Sequence[Text]], columns: int) -> Text:
    """A line of each board, or none where the board has fewer lines, beside each other."""

    def parts() -> Iterator[Text | str]:
        for (line,) in (board or [Text()] for board in boards):
            line.truncate(columns, overflow="ellipsis", pad=True)
            yield line
            yield " " * BETWEEN

    line = Text.assemble(*parts(), no_wrap=True, overflow="crop")
    line.rstrip()
    return line
