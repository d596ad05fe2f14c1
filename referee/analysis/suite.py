"""Suites of positions: bots are to find a move there, or to avoid one. `ANALYSIS.md` describes the file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import RefereeError, UsageError
from referee.core.fields import Fields
from referee.core.seeds import position_seeds
from referee.core.settings import POSITION_SEED
from referee.core.text import counted, shown, value_text
from referee.gameplay.events import Drawn, Moved, Preset, Retired
from referee.gameplay.lines import Chance, LinePosition, followed, moves_of
from referee.gameplay.openings import joined
from referee.games import game_given
from referee.games.api import Game, Options, Refusal, Seat, State
from referee.tournament.file.bot_table import control_of
from referee.tournament.file.config import parse, read_text, written
from referee.tournament.file.opening_table import recorded_game
from referee.tournament.run.reading import records_at
from referee.tournament.tournament import TournamentFile
from referee.viewing.steps import Steps, steps_of

SUITE_START = "[suite]"  # how a file begins that `suite_text` made

MAX_POSITIONS = 1000


class SuitePosition(NamedTuple):
    """A position that was reached by the rules."""

    name: str
    state: State[Any]
    seat: Seat  # who is asked
    moves: frozenset[str]  # the moves to find, or those to avoid, in canonical spelling
    finds: bool  # whether these moves give the points; else all others do
    points: int

    def points_for(self, move: str) -> int:
        """The points that a move gives, which is in canonical spelling."""
        return self.points if (move in self.moves) == self.finds else 0


class Suite(NamedTuple):
    """The positions of a file."""

    game: Game[Any]
    options: Options
    clock: str  # for each position; empty for that of the game
    positions: tuple[SuitePosition, ...] = ()


def suite_text(game: str, options: Options, positions: Sequence[Mapping[str, Any]]) -> str:
    """The text of a file with these tables `[[position]]`, of a game by its name on the command line."""
    return written({"suite": {"game": game, "options": dict(options)}, "position": [*positions]})


def line_to(steps: Steps, number: int) -> dict[str, Any] | None:
    """The keys `moves` and `chance` of the position after a step of a recorded game; None where no line of
    moves leads to it, since a seat has left the game.
    """
    events = [event for step in steps.steps[: number + 1] for event in step.events]
    if any(isinstance(event, Retired) for event in events):
        return None
    moves = joined(tuple(event.text for event in events if isinstance(event, Moved | Preset)))
    chance = [event.text for event in events if isinstance(event, Drawn)]
    return {"moves": moves, "chance": chance} if chance else {"moves": moves}


def read_suite(path: Path) -> Suite:
    """The positions of a file. Raises `UsageError`, which names the file and the position, for one that is
    not possible, `RecordError` for a record that cannot be read.
    """
    text = read_text(path)
    with TournamentFile(where=f"`{shown(str(path))}`: ").named():
        fields = Fields(parse(text), "", UsageError, examples=_EXAMPLES)
        fields.only("suite", "position")
        head = fields.object("suite")
        head.only("game", "options", "clock")
        game = game_given(head.text("game"), path.parent)
        options = game.settle(head.scalars("options") if head.has("options") else {})
        control_of(head, "clock")
        tables = [*fields.objects("position")]
        if not 1 <= len(tables) <= MAX_POSITIONS:
            raise fields.wrong("position", f"1 to {MAX_POSITIONS:,} tables")
        suite = Suite(game, options, head.text("clock", ""))
        positions = (_position(suite, path.parent, *numbered) for numbered in enumerate(tables, 1))
        return suite._replace(positions=tuple(positions))


_EXAMPLES = {
    "position.moves": '"L:A1; L:B1 D:C3"',
    "position.find": '["L:A2 D:B2"]',
    "position.from": '"results 7@12"',
    "suite.options": "{ size = 3 }",
}


def _position(suite: Suite, folder: Path, number: int, fields: Fields) -> SuitePosition:
    """A position from its table; runs are relative to the folder. Raises `UsageError` and `RecordError`."""
    fields.only("name", "from", "moves", "chance", "seat", "find", "avoid", "points", "note")
    name, begin = fields.text("name", str(number)), fields.text("from", "")
    points, _ = fields.number("points", 1, 1000, 1), fields.text("note", "")
    line = moves_of([fields.text("moves", "")])
    given = fields.number("seat", 1) if fields.has("seat") else None
    find, avoid, chance = (
        fields.texts(key) if fields.has(key) else () for key in ("find", "avoid", "chance")
    )
    if bool(find) == bool(avoid):
        raise fields.wrong("find", "moves to find or to avoid, one of the two")
    if begin and (line or chance):
        raise fields.wrong("from", "none with `moves` or `chance`")
    try:
        state = _recorded(suite, folder, begin) if begin else _played(suite, line, chance)
        seat = _seat(state, given)
        moves = frozenset(_canonical(state, seat, move) for move in find or avoid)
    except RefereeError as error:
        raise type(error)(f"position {number} `{shown(name, 80)}`: {error}") from None
    return SuitePosition(name, state, seat, moves, bool(find), points)


def _played(suite: Suite, line: Sequence[str], outcomes: Sequence[str]) -> State[Any]:
    chance = Chance.of_seeds(*position_seeds(POSITION_SEED), given=outcomes)
    position = followed(LinePosition.settled(suite.game.start(suite.options), chance), line)
    if left := len(position.chance.given):
        raise UsageError(f"`chance` has {counted(left, 'outcome')} too many")
    return position.state


def _recorded(suite: Suite, folder: Path, begin: str) -> State[Any]:
    found = re.fullmatch(r"(.+) ([^ ]+)@([0-9]{1,9})", begin)
    if not found:
        raise UsageError(f"`from` is `{shown(begin, 80)}`, expected `RUN ID@N`")
    record = recorded_game(records_at(folder / found[1]), found[2], suite.game)
    if dict(record.terms.options) != dict(suite.options):
        played, expected = (value_text(dict(one)) for one in (record.terms.options, suite.options))
        raise UsageError(f"the options of `{shown(begin, 80)}` are `{played}`, expected `{expected}`")
    return steps_of(record).step(int(found[3])).state


def _seat(state: State[Any], given: int | None) -> Seat:
    """Who is asked, of the seats that act: the one that is given, counted from 1, or else the only one."""
    acting = [seat for seat in state.to_act() if seat >= 0]
    if not acting:
        raise UsageError("no seat acts here, expected a position in which one does")
    seat = acting[0] if given is None and len(acting) == 1 else (given or 0) - 1
    if seat not in acting:
        seats = ", ".join(str(one + 1) for one in acting)
        raise UsageError(f"`seat` is {given or 'missing'}, expected {seats}, whose turn it is")
    return seat


def _canonical(state: State[Any], seat: Seat, move: str) -> str:
    try:
        return state.write(state.read(seat, move))
    except Refusal as refusal:
        raise UsageError(f"the move `{shown(move, 80)}`: {shown(refusal.sentence, 200)}") from None
