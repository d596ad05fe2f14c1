"""Parses moves in a position, and finds why they are illegal. Pure."""

from __future__ import annotations

import re

from referee.core.text import shown
from referee.games.api import Illegal, NotAMove
from referee.games.grid import SquareBoard
from referee.games.notation import parts_of
from referee.games.vinetree.position import Growth, VinePosition

_PARTS = re.compile(r"([A-Za-z])(0|[1-9][0-9]*) ([DLRUdlru]+) ([DLRUdlru]+)")
_FORM = "a flower and two vines such as `E5 LLU UUR`"
_SIDES = {"D": "down", "L": "left", "R": "right", "U": "up"}


def read(position: VinePosition, text: str) -> Growth:
    """The move that a text means: a flower's cell and two vines, in either order and case. Raises `NotAMove`
    or `Illegal`, with the first reason that applies.
    """
    match = _PARTS.fullmatch(" ".join(parts_of(text)))
    if not match:
        raise NotAMove(_FORM)
    board = position.rules.board
    name = match[1].upper() + match[2]
    vines = (match[3].upper(), match[4].upper())
    if name not in board.cells:
        raise Illegal("no-such-cell", f"there is no cell {name[:20]} on a board of size {board.size}")
    flower = board.cells[name]
    if not position.flowers >> flower & 1:
        raise Illegal("no-flower", f"there is no flower on {name}")
    _check_length(position, flower, vines)
    _check_sides(position, flower, vines)
    paths = [position.cells_of(flower, vine) for vine in vines]
    for vine, path in zip(vines, paths, strict=True):
        _check_board(board, flower, vine, path)
    for vine, path in zip(vines, paths, strict=True):
        _check_room(position, vine, path)
    for cell in paths[0]:
        if cell in paths[1]:
            raise Illegal("vines-cross", f"the vines cross on {board.names[cell]}")
    return Growth(flower, *sorted(vines))


def _check_length(position: VinePosition, flower: int, vines: tuple[str, str]) -> None:
    """Raises `Illegal` where a vine has not as many steps as the flower requires."""
    length = position.length(flower)
    for vine in vines:
        if len(vine) != length:
            name = position.rules.board.names[flower]
            steps = "1 step" if length == 1 else f"{length} steps"
            sentence = f"a vine out of {name} takes {steps}, and {shown(vine, 20)} has {len(vine)}"
            raise Illegal("wrong-length", sentence)


def _check_sides(position: VinePosition, flower: int, vines: tuple[str, str]) -> None:
    """Raises `Illegal` where a vine leaves the flower on a side that another vine uses."""
    name = position.rules.board.names[flower]
    if vines[0][0] == vines[1][0]:
        raise Illegal("same-side", f"both vines leave {name} {_SIDES[vines[0][0]]}")
    for vine in vines:
        if position.joined(flower, vine[0]):
            raise Illegal("side-used", f"{name} has a vine {_SIDES[vine[0]]} already")


def _check_board(board: SquareBoard, flower: int, vine: str, path: list[int]) -> None:
    """Raises `Illegal` where a new vine leaves the board."""
    last = flower
    for i, cell in enumerate(path):
        if cell not in board.names:
            raise Illegal("leaves-board", f"{vine} leaves the board at {board.names[last]}, step {i + 1}")
        last = cell


def _check_room(position: VinePosition, vine: str, path: list[int]) -> None:
    """Raises `Illegal` where a new vine runs into something."""
    for i, cell in enumerate(path):
        if position.flowers >> cell & 1:
            what = "a flower"
        elif not position.room >> cell & 1:
            what = "a vine"
        elif cell in path[:i]:
            what = "itself"
        else:
            continue
        where = f"on {position.rules.board.names[cell]}, step {i + 1}"
        raise Illegal("runs-into", f"{vine} runs into {what} {where}")


def write(board: SquareBoard, move: Growth) -> str:
    """The flower, then the vines in alphabetical order."""
    return f"{board.names[move.flower]} {move.one} {move.other}"
