"""From slots to boards: an open game is replayed from its events, of another one the common picture is drawn.

Nothing that stands in a slot is trusted: where it makes no sense, there is no board.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from referee.core.errors import RecordError, UsageError
from referee.core.fields import LARGEST, Fields
from referee.core.pairing import BOT_NAME
from referee.core.text import shown
from referee.core.units import NO_CLOCK, TimeControl
from referee.games.api import MAX_SEATS, Game, Seat
from referee.games.picture import Picture
from referee.live.pictures import picture_of
from referee.live.slots import FOLDER, GameInPlay, SlotReader
from referee.records.record import parse_json
from referee.viewing.drawn_board import DrawnBoard, planes_of, seat_rows
from referee.viewing.knowledge import EVERYBODY, ViewKnowledge

MOST_BOARDS = 24  # maximum number of boards that are made: a page that shows more shows nothing

LONGEST_LAST = 100  # maximum number of characters that are told of a turn

GameOf = Callable[[str], Game[Any]]
"""The game with a slug. Raises `UsageError`."""


class GameHead(NamedTuple):
    """What the first line of a slot says of a game."""

    id: str
    game: str  # the slug
    options: Mapping[str, str]
    bots: tuple[str, ...]
    controls: tuple[TimeControl, ...]
    began_us: int

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> GameHead:
        """Raises `RecordError`."""
        fields = Fields(dict(members), "", RecordError)
        bots = fields.texts("bots")
        clocks = members.get("clocks")
        if not all(map(BOT_NAME.fullmatch, bots)) or not 1 <= len(bots) <= MAX_SEATS:
            raise fields.wrong("bots", "the names of bots")
        if not isinstance(clocks, list) or len(clocks) != len(bots):
            raise fields.wrong("clocks", "one for each seat")
        return cls(
            fields.text("id"),
            fields.text("game"),
            fields.scalars("options"),
            bots,
            tuple(map(_control, clocks)),
            fields.number("began_us"),
        )


def _control(clock: object) -> TimeControl:
    match clock:
        case None:
            return NO_CLOCK
        case [int(move_us), int(reserve_us)] if 0 <= move_us <= LARGEST and 0 <= reserve_us <= LARGEST:
            return TimeControl(move_us, reserve_us)
    raise RecordError("`clocks` has something that is no clock")


class BoardsInPlay:
    """The boards of the games that are played in a run's folder, and what of them is new at each look."""

    def __init__(self, folder: Path, game_of: GameOf) -> None:
        self._reader = SlotReader(folder / FOLDER)
        self._game_of = game_of
        self._boards: dict[str, _Followed] = {}

    @property
    def is_elsewhere(self) -> bool:
        """Whether the games are played on another machine, so that they cannot be followed."""
        return self._reader.is_elsewhere

    def look(self) -> dict[str, dict[str, Any] | None]:
        """What is new in the slots, by their names: patches of boards, and None for a board that is gone."""
        slots = self._reader.read()
        patches: dict[str, dict[str, Any] | None] = {}
        found: dict[str, _Followed] = {}
        for name, game in slots.items():
            if len(found) == MOST_BOARDS:
                break
            before = self._boards.get(name)
            if before and before.game is game:
                found[name] = before
                continue
            try:
                board = before if before and before.game.head is game.head else None
                board = board or _Followed(game, self._game_of)
                board.take(game)
            except Exception:  # whatever is wrong with a slot, or raised by a game from outside
                continue
            found[name] = board
            if patch := board.patch(is_new=before is not board):
                patches[name] = patch
        patches |= dict.fromkeys(self._boards.keys() - found.keys())
        self._boards = found
        return patches

    def whole(self) -> dict[str, dict[str, Any]]:
        """All boards as they were at the last look."""
        return {name: board.whole() for name, board in self._boards.items()}


class _Followed:
    """The board of a slot."""

    def __init__(self, game: GameInPlay, game_of: GameOf) -> None:
        """Raises `RecordError`, `UsageError`."""
        self.game = game
        head = GameHead.of(game.head)
        self._drawn = DrawnBoard(head.id, head.game, head.bots, head.controls)
        self._told = _told(head, game_of)

    def take(self, game: GameInPlay) -> None:
        """Takes what the slot has now. Raises whatever is wrong with it."""
        self.game = game
        position = self._told.take(game.told)
        self._drawn.show(
            planes_of(position.picture),
            turn=position.turn,
            reserves_us=position.reserves_us,
            at_us=position.at_us,
            moves=position.moves,
            last=shown(position.last, LONGEST_LAST),
            rows=seat_rows(position.picture, len(position.reserves_us)),
        )

    def patch(self, is_new: bool) -> dict[str, Any]:
        """What is new on the board: all of it if it is new itself."""
        patch = self._drawn.patch()
        return self._drawn.whole() if is_new else patch

    def whole(self) -> dict[str, Any]:
        """All of the board, as the last patch left it."""
        return self._drawn.whole()


class _Position(NamedTuple):
    """What a slot told of a game last."""

    picture: Picture
    turn: Sequence[Seat]
    reserves_us: Sequence[int | None]
    at_us: int
    moves: int
    last: str = ""


class _Told(Protocol):
    """What the slot of one game tells, again and again."""

    @abstractmethod
    def take(self, told: bytes) -> _Position:
        """The position after all that was told. Raises whatever is wrong with it."""


def _told(head: GameHead, game_of: GameOf) -> _Told:
    try:
        game = game_of(head.game)
    except UsageError:
        return _Pictures(head)  # no rules are needed for these
    return _Events(head, game) if game.is_open else _Pictures(head)


class _Events:
    """The events of an open game, which are replayed.

    Each is a line `US m SEAT RESERVE_US MOVE` for a move, with the reserve after it, where `p` stands for one
    that the referee made, `US d 0 0 OUTCOME` for chance, and `US r SEAT 0 WORD` for a seat that left.
    """

    def __init__(self, head: GameHead, game: Game[Any]) -> None:
        """Raises `UsageError`."""
        options = game.settle(head.options)
        if game.seats(options) != len(head.bots):
            raise RecordError("the game has another number of seats")
        self._bots = head.bots
        self._known = ViewKnowledge.of(EVERYBODY, game, options)
        self._taken = 0  # how many bytes were taken
        self._state = game.start(options)
        self._moves: dict[Seat, Any] = {}  # those of this turn, as long as others have not moved
        self._reserves_us = [one.reserve_us if one.timed else None for one in head.controls]
        self._count = 0
        self._at_us = head.began_us
        self._last = ""

    def take(self, told: bytes) -> _Position:
        """Applies the events that are new. Raises whatever is wrong with them."""
        end = told.rfind(b"\n") + 1
        for line in told[self._taken : end].splitlines():
            self._apply(line.decode())
        self._taken = end
        state = self._state
        turn = self._known.to_move(state)
        picture = self._known.picture(state)
        return _Position(picture, turn, self._reserves_us, self._at_us, self._count, self._last)

    def _apply(self, line: str) -> None:
        at_us, kind, number, reserve_us, text = line.split(" ", 4)
        state, seat = self._state, int(number) - 1
        acting = state.to_act()
        if kind == "d":
            self._state = state.chance(text)
        elif seat not in range(len(self._bots)):
            raise RecordError("there is no such seat")
        elif kind == "r":
            self._state, self._moves = state.drop([seat]), {}
        elif seat in acting:
            self._moves[seat] = state.read(seat, text)
            self._last = f"{self._bots[seat]}: {text}"
            if kind == "m" and self._reserves_us[seat] is not None:
                self._reserves_us[seat] = min(max(int(reserve_us), 0), LARGEST)
            if len(self._moves) == len(acting):
                self._state, self._moves = state.play(self._moves), {}
                self._count += 1
        else:
            raise RecordError("a move out of turn")
        self._at_us = min(max(int(at_us), 0), LARGEST)


class _Pictures:
    """The common picture of a game with hidden information:
    `{"us", "turn": [SEAT, …], "moves", "picture"}`, see `live.pictures`.
    """

    def __init__(self, head: GameHead) -> None:
        self._head = head

    def take(self, told: bytes) -> _Position:
        """The picture that there is now. Raises `RecordError`."""
        fields = Fields(parse_json(told), "", RecordError)
        seats = range(len(self._head.bots))
        turn = [seats[number - 1] for number in fields.numbers("turn") if number - 1 in seats]
        picture = picture_of(fields.value("picture"))
        return _Position(picture, turn, [None for _ in seats], fields.number("us"), fields.number("moves"))
