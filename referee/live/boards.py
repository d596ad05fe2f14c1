"""The boards of games in play, as pages are told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from referee.core.text import shown
from referee.live.positions import FollowedGame, GameOf, GamesInPlay, PositionInPlay
from referee.viewing.drawn_board import DrawnBoard, planes_of, seat_rows

LONGEST_LAST = 100  # maximum number of characters that are told of a turn

MOST_POSITIONS = 1000
"""After so many positions a board is told as a whole again: what they had is forgotten, so that no slot fills
the memory.
"""


class BoardsInPlay:
    """The boards of the games that are played in a run's folder, and what of them is new at each look."""

    def __init__(self, folder: Path, game_of: GameOf) -> None:
        self._games = GamesInPlay(folder, game_of)
        self._boards: dict[str, _Board] = {}

    @property
    def is_elsewhere(self) -> bool:
        """Whether the games are played on another machine, so that they cannot be followed."""
        return self._games.is_elsewhere

    def look(self) -> dict[str, dict[str, Any] | None]:
        """What is new in the slots, by their names: patches of boards, and None for a board that is gone."""
        patches: dict[str, dict[str, Any] | None] = {}
        found: dict[str, _Board] = {}
        for name, game in self._games.look().items():
            before = self._boards.get(name)
            is_new = before is None or before.game is not game or before.positions == MOST_POSITIONS
            board = _Board(game) if is_new or before is None else before
            try:
                patch = board.patch()
            except Exception:  # a picture that cannot be drawn
                continue
            found[name] = board
            if patch:
                patches[name] = board.whole() if is_new else patch
        patches |= dict.fromkeys(self._boards.keys() - found.keys())
        self._boards = found
        return patches

    def whole(self) -> dict[str, dict[str, Any]]:
        """All boards as they were at the last look."""
        return {name: board.whole() for name, board in self._boards.items()}


class _Board:
    """The board of a game."""

    def __init__(self, game: FollowedGame) -> None:
        self.game = game
        head = game.head
        self._drawn = DrawnBoard(head.id, head.game, head.bots, head.controls)
        self._shown: PositionInPlay | None = None
        self.positions = 0  # how many were drawn

    def patch(self) -> dict[str, Any]:
        """What is new on the board. Raises whatever is wrong with a picture."""
        position = self.game.position
        if self._shown is not position:
            self._shown = position
            self.positions += 1
            self._drawn.show(
                planes_of(position.picture),
                turn=position.turn,
                reserves_us=position.reserves_us,
                at_us=position.at_us,
                moves=position.moves,
                last=shown(position.last, LONGEST_LAST),
                rows=seat_rows(position.picture, len(position.reserves_us)),
            )
            return self._drawn.patch()
        return {}

    def whole(self) -> dict[str, Any]:
        """All of the board, as the last patch left it."""
        return self._drawn.whole()
