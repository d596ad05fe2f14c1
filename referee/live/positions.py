"""The positions of games in play, from what their slots tell: an open game is replayed from its events, of
another one there is the common picture.

Nothing that stands in a slot is trusted: where it makes no sense, there is no game.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from referee.core.errors import RecordError, UsageError
from referee.core.fields import LARGEST, Fields
from referee.core.pairing import BOT_NAME
from referee.core.units import NO_CLOCK, TimeControl
from referee.games.api import MAX_SEATS, Game, Seat
from referee.games.picture import Picture
from referee.live.pictures import picture_of
from referee.live.slots import FOLDER, GameInPlay, SlotReader
from referee.records.record import parse_json
from referee.viewing.knowledge import EVERYBODY, ViewKnowledge

MOST_GAMES = 24  # maximum number of games that are followed: who shows more shows nothing

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
    shift_us: int  # what its times lack to the clock of this machine

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
            fields.number("shift_us", low=-LARGEST, default=0),
        )


def _control(clock: object) -> TimeControl:
    match clock:
        case None:
            return NO_CLOCK
        case [int(move_us), int(reserve_us)] if 0 <= move_us <= LARGEST and 0 <= reserve_us <= LARGEST:
            return TimeControl(move_us, reserve_us)
    raise RecordError("`clocks` has something that is no clock")


class PositionInPlay(NamedTuple):
    """What a slot told of a game last."""

    picture: Picture
    turn: Sequence[Seat]  # the seats that are asked
    reserves_us: Sequence[int | None]
    """What each seat had when its turn began; None where it has no clock, or none is told."""
    at_us: int  # when the turn began, on the clock of slots
    moves: int
    last: str = ""  # the last turn; empty where it is not told


class FollowedGame:
    """A game in play, with the position that its slot told last."""

    def __init__(self, slot: GameInPlay, game_of: GameOf) -> None:
        """Raises whatever is wrong with the slot."""
        self.head = GameHead.of(slot.head)
        self._slot = slot
        self._told = _told(self.head, game_of)
        self.position = self._told.take(slot.told)
        """Another object whenever more was told."""

    def is_of(self, slot: GameInPlay) -> bool:
        """Whether the slot still has this game."""
        return self._slot.head is slot.head

    def take(self, slot: GameInPlay) -> None:
        """Takes what the slot has now. Raises whatever is wrong with it."""
        if self._slot is not slot:
            self._slot = slot
            self.position = self._told.take(slot.told)


class GamesInPlay:
    """The games that are played in a run's folder."""

    def __init__(self, folder: Path, game_of: GameOf) -> None:
        self._reader = SlotReader(folder / FOLDER)
        self._game_of = game_of
        self._games: dict[str, FollowedGame] = {}

    @property
    def is_elsewhere(self) -> bool:
        """Whether the games are played on another machine, so that they cannot be followed."""
        return self._reader.is_elsewhere

    def look(self) -> dict[str, FollowedGame]:
        """The games by their slots: the same objects as long as they are the same games."""
        found: dict[str, FollowedGame] = {}
        for name, slot in self._reader.read().items():
            if len(found) == MOST_GAMES:
                break
            game = self._games.get(name)
            try:
                if game and game.is_of(slot):
                    game.take(slot)
                else:
                    game = FollowedGame(slot, self._game_of)
            except Exception:  # whatever is wrong with a slot, or raised by a game from outside
                continue
            found[name] = game
        self._games = found
        return found


class _Told(Protocol):
    """What the slot of one game tells, again and again."""

    @abstractmethod
    def take(self, told: bytes) -> PositionInPlay:
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
        self._shift_us = head.shift_us
        self._at_us = head.began_us
        self._last = ""

    def take(self, told: bytes) -> PositionInPlay:
        """Applies the events that are new. Raises whatever is wrong with them."""
        end = told.rfind(b"\n") + 1
        for line in told[self._taken : end].splitlines():
            self._apply(line.decode())
        self._taken = end
        state = self._state
        turn = self._known.to_move(state)
        picture = self._known.picture(state)
        return PositionInPlay(picture, turn, self._reserves_us, self._at_us, self._count, self._last)

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
        self._at_us = min(max(int(at_us) + self._shift_us, 0), LARGEST)


class _Pictures:
    """The common picture of a game with hidden information:
    `{"us", "turn": [SEAT, …], "moves", "picture"}`, see `live.pictures`.
    """

    def __init__(self, head: GameHead) -> None:
        self._head = head

    def take(self, told: bytes) -> PositionInPlay:
        """The picture that there is now. Raises `RecordError`."""
        fields = Fields(parse_json(told), "", RecordError)
        seats = range(len(self._head.bots))
        turn = [seats[number - 1] for number in fields.numbers("turn") if number - 1 in seats]
        picture = picture_of(fields.value("picture"))
        at_us = min(max(fields.number("us") + self._head.shift_us, 0), LARGEST)
        return PositionInPlay(picture, turn, [None for _ in seats], at_us, fields.number("moves"))
