"""Suites of positions: bots are to find a move there, or to avoid one.

    [suite]
    game = "blooms"
    options = { size = 3 }
    clock = "1s"

    [[position]]
    name = "two captures"
    moves = "L:A1; L:B1 D:C3"
    find = ["L:A2 D:B2"]

A position comes from a line of `moves` from the start, with the outcomes of `chance`, or `from` a recorded
game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import RefereeError, UsageError
from referee.core.fields import Fields
from referee.core.seeds import position_seeds
from referee.core.settings import POSITION_SEED
from referee.core.text import counted, shown
from referee.gameplay.events import Drawn, Moved, Preset, Retired
from referee.gameplay.lines import Chance, LinePosition, followed
from referee.gameplay.openings import joined, split
from referee.games import game_given
from referee.games.api import Game, Options, Refusal, Seat, State
from referee.tournament.file.bot_table import control_of
from referee.tournament.file.config import parse, read_text, written
from referee.viewing.steps import Steps

SUITE_START = "[suite]"  # how a file begins that `suite_text` made

MAX_POSITIONS = 1000

MAX_POINTS = 1000

Recorded = Callable[[Game[Any], str], tuple[Options, State[Any]]]
"""The position that a text `RUN ID@N` names, with the options of its game."""


class SuiteEntry(NamedTuple):
    """A position as a file has it. One of `moves` and `begin` says where it comes from, one of `find` and
    `avoid` is not empty.
    """

    name: str
    moves: str = ""  # the moves that lead to it, with `;` between them
    chance: tuple[str, ...] = ()  # what chance decides on the way, in order
    begin: str = ""  # the recorded position, `RUN ID@N`, in the file as `from`
    seat: int | None = None  # who is asked, counted from 1; None where a single seat acts
    find: tuple[str, ...] = ()  # the moves that give the points
    avoid: tuple[str, ...] = ()  # the moves that do not, while all others do
    points: int = 1
    note: str = ""  # for people: why

    def table(self) -> dict[str, Any]:
        """The entry as a table of the file."""
        values = {
            "name": self.name,
            "from": self.begin,
            "moves": self.moves,
            "chance": [*self.chance],
            "seat": self.seat,
            "find": [*self.find],
            "avoid": [*self.avoid],
            "points": None if self.points == 1 else self.points,
            "note": self.note,
        }
        return {key: value for key, value in values.items() if value not in ("", [], None)}


class SuitePosition(NamedTuple):
    """A position that was reached by the rules."""

    entry: SuiteEntry  # its moves to find and to avoid are in canonical spelling
    state: State[Any]
    seat: Seat

    def points_for(self, move: str) -> int:
        """The points that a move gives, which is in canonical spelling."""
        entry = self.entry
        is_right = move in entry.find if entry.find else move not in entry.avoid
        return entry.points if is_right else 0


class Suite(NamedTuple):
    """The positions of a file."""

    game: Game[Any]
    options: Options
    clock: str  # for each position; empty for that of the game
    positions: tuple[SuitePosition, ...]

    @property
    def points(self) -> int:
        """What all positions give together."""
        return sum(position.entry.points for position in self.positions)


def suite_text(game: str, options: Options, entries: Sequence[SuiteEntry], clock: str = "") -> str:
    """The text of a file with these positions, of a game by its name on the command line."""
    head: dict[str, Any] = {"game": game}
    if options:
        head["options"] = dict(options)
    if clock:
        head["clock"] = clock
    return written({"suite": head, "position": [entry.table() for entry in entries]})


def recorded_entry(steps: Steps, number: int, entry: SuiteEntry) -> SuiteEntry | None:
    """The entry with what leads to the position after a step of a recorded game; None where that is not a
    line of moves, since a seat has left the game.
    """
    events = [event for step in steps.steps[: number + 1] for event in step.events]
    if any(isinstance(event, Retired) for event in events):
        return None
    moves = joined(tuple(event.text for event in events if isinstance(event, Moved | Preset)))
    return entry._replace(
        moves=moves, chance=tuple(event.text for event in events if isinstance(event, Drawn))
    )


def read_suite(path: Path, recorded: Recorded) -> Suite:
    """The positions of a file. Raises `UsageError`, which names the file and the position, for one that is
    not possible, `RecordError` for a record that cannot be read.
    """
    try:
        fields = Fields(parse(read_text(path)), "", UsageError, examples=_EXAMPLES)
        fields.only("suite", "position")
        head = fields.object("suite")
        head.only("game", "options", "clock")
        game = game_given(head.text("game"), path.parent)
        options = game.settle(head.scalars("options") if head.has("options") else {})
        clock = head.text("clock", "")
        if clock:
            control_of(head, "clock")
        tables = [*fields.objects("position")]
        if not 1 <= len(tables) <= MAX_POSITIONS:
            raise fields.wrong("position", f"1 to {MAX_POSITIONS:,} tables")
        return Suite(game, options, clock, tuple(_positions(tables, game, options, recorded)))
    except UsageError as error:
        named = shown(str(path))
        text = str(error)
        raise UsageError(text if f"`{named}`" in text else f"`{named}`: {text}") from None


_EXAMPLES = {
    "position.moves": '"L:A1; L:B1 D:C3"',
    "position.find": '["L:A2 D:B2"]',
    "position.avoid": '["L:A2 D:B2"]',
    "position.from": '"results 7@12"',
    "suite.options": "{ size = 3 }",
}


def _positions(
    tables: Sequence[Fields], game: Game[Any], options: Options, recorded: Recorded
) -> Iterator[SuitePosition]:
    for number, fields in enumerate(tables, 1):
        entry = _entry(fields, number)
        try:
            yield _position(entry, game, options, recorded)
        except RefereeError as error:
            raise type(error)(f"position {number} `{shown(entry.name, 80)}`: {error}") from None


def _entry(fields: Fields, number: int) -> SuiteEntry:
    fields.only("name", "from", "moves", "chance", "seat", "find", "avoid", "points", "note")
    entry = SuiteEntry(
        fields.text("name", str(number)),
        fields.text("moves", ""),
        fields.texts("chance") if fields.has("chance") else (),
        fields.text("from", ""),
        fields.number("seat", 1) if fields.has("seat") else None,
        fields.texts("find") if fields.has("find") else (),
        fields.texts("avoid") if fields.has("avoid") else (),
        fields.number("points", 1, MAX_POINTS, 1),
        fields.text("note", ""),
    )
    if bool(entry.find) == bool(entry.avoid):
        raise fields.wrong("find", "moves to find or to avoid, one of the two")
    if entry.begin and (entry.moves or entry.chance):
        raise fields.wrong("from", "none with `moves` or `chance`")
    return entry


def _position(entry: SuiteEntry, game: Game[Any], options: Options, recorded: Recorded) -> SuitePosition:
    """Raises `UsageError`, `RecordError`."""
    state = _recorded(entry, game, options, recorded) if entry.begin else _played(entry, game, options)
    acting = state.to_act()
    if not acting:
        raise UsageError("the game is over, expected a position in which a seat acts")
    seats = ", ".join(str(seat + 1) for seat in acting)
    if entry.seat is None and len(acting) > 1:
        raise UsageError(f"several seats act, expected `seat`, one of {seats}")
    seat = acting[0] if entry.seat is None else entry.seat - 1
    if seat not in acting:
        raise UsageError(f"`seat` is {seat + 1}, expected {seats}, whose turn it is")
    find, avoid = (
        tuple(_written(state, seat, name, text) for text in texts)
        for name, texts in (("find", entry.find), ("avoid", entry.avoid))
    )
    return SuitePosition(entry._replace(find=find, avoid=avoid), state, seat)


def _played(entry: SuiteEntry, game: Game[Any], options: Options) -> State[Any]:
    chance = Chance.of_seeds(*position_seeds(POSITION_SEED), given=entry.chance)
    position = LinePosition.settled(game.start(options), chance)
    position = followed(position, split(entry.moves) if entry.moves else ())
    if position.chance.given:
        raise UsageError(f"`chance` has {counted(len(position.chance.given), 'outcome')} too many")
    return position.state


def _recorded(entry: SuiteEntry, game: Game[Any], options: Options, recorded: Recorded) -> State[Any]:
    played, state = recorded(game, entry.begin)
    if dict(played) != dict(options):
        raise UsageError(
            f"the options of `{shown(entry.begin, 80)}` are `{_text(played)}`, expected `{_text(options)}`"
        )
    return state


def _text(options: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in options.items())


def _written(state: State[Any], seat: Seat, name: str, text: str) -> str:
    try:
        return state.write(state.read(seat, text))
    except Refusal as refusal:
        raise UsageError(f"`{name}` has `{shown(text, 80)}`: {shown(refusal.sentence, 200)}") from None
