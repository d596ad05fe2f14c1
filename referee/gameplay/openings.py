"""Opening moves by the referee: without them, bots would often play the same game. Pure.

They are drawn from a seed, or they are a line of a list. All games of an encounter begin with the same ones,
so only games in which the same moves are legal then can have them. A start is the beginning of an earlier
game, with the moves of all seats and the outcomes of chance: every game can begin with one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.core.seeds import Stream, chance_stream, opening_stream, shared_seed
from referee.core.text import shown
from referee.gameplay.events import Drawn, Preset
from referee.gameplay.terms import Terms
from referee.games.api import SHARED_CHANCE, Game, Options, Refusal, Seat, State

OpeningLine = tuple[str, ...]  # the moves of an opening, in their canonical spelling

MAX_PLIES = 100  # maximum number of moves that are drawn

TRIES = 20  # how many lines are drawn at most for an opening, while each of them ends the game

ORDERS = ("sequential", "random")
"""How lines are taken from a list: one after the other, round by round, or drawn for each encounter."""

SEPARATOR = ";"  # between the moves of a line


class BadOpening(ValueError):
    """An opening move that is not possible."""


def split(text: str) -> OpeningLine:
    """The moves of a line as they are written there."""
    return tuple(move.strip() for move in text.split(SEPARATOR))


def joined(line: OpeningLine) -> str:
    """The moves of a line as one text."""
    return f"{SEPARATOR} ".join(line)


class OpeningMove(NamedTuple):
    """A move of an opening, and the seat in whose name it is made."""

    seat: Seat
    move: Any


def opening_move(state: State[Any], text: str) -> OpeningMove:
    """The opening move that a text means in a position. Raises `BadOpening`."""
    acting = state.to_act()
    if not acting:
        raise BadOpening("the game is over")
    if len(acting) > 1 or acting[0] < 0:
        raise BadOpening("chance or several seats act here, expected one seat")
    try:
        return OpeningMove(acting[0], state.read(acting[0], text))
    except Refusal as refusal:
        raise BadOpening(refusal.sentence) from None


def set_up(
    state: State[Any], events: Iterable[Drawn | Preset]
) -> Iterator[tuple[Drawn | Preset, State[Any]]]:
    """The events of a start, made one after the other, each with the position after it; where several seats
    act at once, with the position after all of them. Raises `BadOpening` and `BadChance`.
    """
    turn: list[Preset] = []
    moves: dict[Seat, Any] = {}
    for event in events:
        acting = state.to_act()
        if isinstance(event, Drawn):
            if turn or not acting or acting[0] >= 0:
                raise BadOpening("chance does not act here")
            state = state.chance(event.text)
            yield event, state
            continue
        if event.seat not in acting or event.seat in moves:
            raise BadOpening(f"seat {event.seat + 1} does not act here")
        try:
            moves[event.seat] = state.read(event.seat, event.text)
        except Refusal as refusal:
            raise BadOpening(refusal.sentence) from None
        turn.append(Preset(event.seat, state.write(moves[event.seat])))
        if len(turn) == len(acting):
            state = state.play(moves)
            yield from ((made, state) for made in turn)
            turn, moves = [], {}
    if turn:
        raise BadOpening("moves of other seats in the same turn are missing")


@dataclass(frozen=True, slots=True)
class OpeningStart:
    """The beginning of an earlier game, with which games of a run begin."""

    game: str  # the id of the earlier game
    move: int  # the step of it after which they go on, as `replay --move` counts
    events: tuple[Drawn | Preset, ...]  # what had happened by then

    def header(self) -> dict[str, Any]:
        """The start as it stands in the first line of a run's records.

        No member there may have the name `events`, by which readers find the end of a game's head.
        """
        events = [
            {"chance": event.text}
            if isinstance(event, Drawn)
            else {"seat": event.seat + 1, "opening": event.text}
            for event in self.events
        ]
        return {"game": self.game, "move": self.move, "played": events}

    @classmethod
    def of_header(cls, fields: Fields) -> OpeningStart:
        """The start that a header describes. Raises the error of `fields`."""
        fields.only("game", "move", "played")
        events = tuple(
            Drawn(event.text("chance"))
            if event.has("chance")
            else Preset(event.number("seat", 1) - 1, event.text("opening"))
            for event in fields.objects("played")
        )
        return cls(fields.text("game"), fields.number("move", 1), events)


@dataclass(frozen=True, slots=True)
class Openings:
    """The openings of the games of a run: none, moves that are drawn, the lines of a list, or a start."""

    plies: int = 0  # how many moves are drawn; a ply is one turn of one seat
    lines: tuple[OpeningLine, ...] = ()  # A list of lines, instead of drawn moves
    order: str = ORDERS[0]  # how lines are taken from the list; one of `ORDERS`
    seed: str | None = None
    """The seed of what is drawn; None if it is drawn from the shared seed of the games."""
    sha256: str = ""  # the hash of the file that has the list
    start: OpeningStart | None = None  # what all games begin with, instead of moves that are drawn or listed

    @property
    def are_given(self) -> bool:
        """Whether games have openings."""
        return bool(self.plies or self.lines or self.start)

    def header(self) -> dict[str, Any]:
        """The member `openings` of the first line of a run's records; empty if there are none."""
        if not self.are_given:
            return {}
        if self.start:
            return {"openings": {"start": self.start.header()}}
        seed = {} if self.seed is None else {"seed": self.seed}
        if self.plies:
            return {"openings": {"plies": self.plies, **seed}}
        lines = [joined(line) for line in self.lines]
        return {"openings": {"lines": lines, "order": self.order, **seed, "sha256": self.sha256}}

    @classmethod
    def of_header(cls, header: Fields) -> Openings:
        """The openings of the run that a header describes. Raises the error of `header`."""
        if not header.has("openings"):
            return cls()
        fields = header.object("openings")
        if fields.has("start"):
            fields.only("start")
            return cls(start=OpeningStart.of_header(fields.object("start")))
        seed = fields.text("seed") if fields.has("seed") else None
        if fields.has("plies"):
            fields.only("plies", "seed")
            return cls(plies=fields.number("plies", 1, MAX_PLIES), seed=seed)
        fields.only("lines", "order", "seed", "sha256")
        order = fields.text("order")
        if order not in ORDERS:
            raise fields.wrong("order", f"one of {', '.join(ORDERS)}")
        lines = tuple(split(text) for text in fields.texts("lines"))
        if not lines or not all(move for line in lines for move in line):
            raise fields.wrong("lines", "a list of lines of moves")
        return cls(lines=lines, order=order, seed=seed, sha256=fields.text("sha256"))

    def line(self, game: Game[Any], options: Options, game_id: str, shared: bytes) -> OpeningLine:
        """The opening of a game, the same in all games of its encounter; `shared` is their shared seed."""
        if self.lines:
            return self._from_list(game_id, shared)
        if self.plies:
            return drawn(game, options, self.plies, self._stream(game_id, shared), shared)
        return ()

    @property
    def start_events(self) -> tuple[Drawn | Preset, ...]:
        """The events of the start; empty where there is none."""
        return self.start.events if self.start else ()

    def of_encounter(self, game_id: str, shared: bytes) -> Openings:
        """The openings reduced to what the encounter of a game needs: of a list, its line; `shared` is the
        shared seed of its games.
        """
        return Openings(lines=(self._from_list(game_id, shared),)) if self.lines else self

    def _from_list(self, game_id: str, shared: bytes) -> OpeningLine:
        if self.order == "random":
            return self._stream(game_id, shared).choice(self.lines)
        pairing = Pairing.parse(game_id)
        return self.lines[(pairing.number - 1 + max(0, pairing.part - 1)) % len(self.lines)]

    def _stream(self, game_id: str, shared: bytes) -> Stream:
        return opening_stream(shared if self.seed is None else shared_seed(self.seed, game_id))

    def text(self) -> str:
        """The openings in a few words."""
        if not self.are_given:
            return "none"
        if self.start:
            return f"the start of the game {shown(self.start.game)} up to move {self.start.move}"
        seed = "" if self.seed is None else f" with the seed {self.seed}"
        if self.plies:
            return f"{self.plies} random plies{seed}"
        return f"{len(self.lines)} lines, {self.order}{seed}, of the file with the hash {self.sha256}"

    def check(self, terms: Terms) -> None:
        """Raises `RecordError` where a game does not begin with the opening that these openings give it."""
        if terms.start != self.start_events:  # guard: starts
            raise RecordError("its start position differs from the one in the first line of the records")
        expected = self.line(terms.game, terms.options, terms.id, terms.shared_seed)
        if terms.opening != expected:  # guard: openings
            raise RecordError(
                f"its opening moves are `{shown(joined(terms.opening), 200)}`, but according to the "
                f"first line they are `{shown(joined(expected), 200)}`"
            )


NO_OPENINGS = Openings()


def drawn(game: Game[Any], options: Options, plies: int, stream: Stream, shared: bytes) -> OpeningLine:
    """A random line of this many moves after which the game is not over; `shared` is the seed of shared
    chance.

    The line is shorter where chance that differs from game to game, or several seats, would act before its
    end. If `TRIES` lines end the game, it is the longest of them without the move that ended the game.
    """
    longest: OpeningLine = ()
    for _ in range(TRIES):
        line: list[str] = []
        state = game.start(options)
        chance = chance_stream(shared)
        while len(line) < plies:
            acting = state.to_act()
            if acting == (SHARED_CHANCE,):
                state = state.chance(state.draw(chance))
            elif len(acting) == 1 and acting[0] >= 0:
                move = state.sample(acting[0], stream)
                line.append(state.write(move))
                state = state.play({acting[0]: move})
            else:
                break
        if state.outcome() is None:  # guard: open-openings
            return tuple(line)
        longest = max(longest, tuple(line[:-1]), key=len)
    return longest


def check_takes_openings(game: Game[Any], options: Options) -> None:
    """Raises `UsageError` where the games of an encounter cannot begin with the same moves."""
    if not game.is_open:  # guard: openings-of-open-games
        raise UsageError(
            f"`{game.slug}` deals new hidden information in each game, so its games cannot begin with the "
            "same moves: expected no `openings`"
        )
    if not drawn(game, options, 1, opening_stream(b""), b""):
        raise UsageError(
            f"games of `{game.slug}` do not begin with a move of a single seat, expected no `openings`"
        )


def checked_line(game: Game[Any], options: Options, text: str) -> OpeningLine:
    """The line that a text means, in canonical spelling. Raises `UsageError`, naming the move."""
    line: list[str] = []
    state = game.start(options)
    for number, move_text in enumerate(split(text), 1):
        try:
            seat, move = opening_move(state, move_text)
        except BadOpening as error:
            raise UsageError(f"move {number} `{shown(move_text, 80)}`: {shown(str(error), 200)}") from None
        line.append(state.write(move))
        state = state.play({seat: move})
    if state.outcome() is not None:
        raise UsageError(f"the game is over after move {len(line)}, expected moves that do not end it")
    return tuple(line)
