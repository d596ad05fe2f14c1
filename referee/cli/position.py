"""What `moves` shows of a position: its moves, its news, its picture, and counts to a depth."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from referee.cli.options import (
    key_values,
    only_one,
    place_in_game,
)
from referee.cli.output import say, show_data, show_lines
from referee.core.errors import UsageError
from referee.core.seeds import position_seeds
from referee.core.settings import POSITION_SEED
from referee.core.text import counted, listed, shown
from referee.gameplay.events import Drawn
from referee.gameplay.lines import (
    Chance,
    LinePosition,
    divided,
    followed,
    lines_by_depth,
    moves_in_all,
    moves_of,
    turn_text,
)
from referee.games import game_given
from referee.games.api import Game, Options, Seat, State
from referee.tournament.file.opening_table import recorded_game
from referee.tournament.run.reading import records_at
from referee.viewing.characters import picture_text
from referee.viewing.knowledge import View, ViewKnowledge, view_text
from referee.viewing.steps import steps_of


@dataclass(frozen=True, slots=True)
class MovesOptions:
    """The options of `referee moves`."""

    game: str
    line: tuple[str, ...]
    options: tuple[str, ...]
    seed: str | None
    outcomes: tuple[str, ...]
    begin: tuple[Path, str] | None
    seat: int | None
    most: int | None
    count: bool
    picture: bool
    news: bool
    depth: int | None
    divide: bool
    as_json: bool

    def check(self) -> None:
        """Raises `UsageError` for options that exclude each other."""
        ways = {
            "--count": self.count,
            "--picture": self.picture,
            "--news": self.news,
            "--perft": self.depth,
        }
        only_one({**ways, "--json": self.as_json and self.depth is None})
        only_one({"--most": self.most, **ways})
        only_one({"--seat": self.seat, "--perft": self.depth})
        if self.divide and self.depth is None:
            raise UsageError("`--divide` is given without `--perft N`, expected both of them")

    def looked_at(self) -> PositionView:
        """The position that is meant. Raises `UsageError`."""
        game = game_given(self.game, Path.cwd())
        known = ViewKnowledge(None if self.seat is None else self.seat - 1, game.is_open)
        if self.begin:
            self._check_begin(known)
            root = recorded(game, *self.begin, known.view)
        else:
            root = started(game, self.options, self.seed or POSITION_SEED, self.outcomes)
        seats = game.seats(root.options)
        if self.seat is not None and self.seat > seats:
            raise UsageError(f"the game has {seats} seats, expected --seat 1 to {seats}")
        only_seat = None if known.is_full or self.seat is None else self.seat - 1
        position = followed(root.position, moves_of(self.line), only_seat)
        if self.outcomes and self.depth is None and (unused := len(position.chance.given)):
            given = len(self.outcomes)
            raise UsageError(
                f"`--chance` is given {counted(given, 'time')}, but the number of chance events here is "
                f"{given - unused}"
            )
        return PositionView(game, root.options, position, known)

    def _check_begin(self, known: ViewKnowledge) -> None:
        if self.options or self.seed or self.outcomes:
            raise UsageError(
                "with `--from`, options, seed and chance are those of the game: expected no "
                "`--option`, `--seed` or `--chance`"
            )
        if self.line and not known.is_full:
            raise UsageError(
                f"moves are given with --from and --seat {self.seat}: their effect depends on what is hidden "
                "from that seat, expected no MOVE"
            )


def show(options: MovesOptions) -> None:
    """Prints what is asked for. Raises `UsageError`."""
    options.check()
    looked_at, depth = options.looked_at(), options.depth
    if options.as_json:
        show_lines(looked_at.perft_json(depth, options.divide) if depth else looked_at.json(options.most))
        return
    looked_at.say_chance()
    if outcome := looked_at.position.state.outcome():
        say(f"the game is over: {shown(outcome.sentence)}")
    if depth is not None:
        show_counts(looked_at.position, depth, options.divide)
    elif options.picture:
        show_data(looked_at.picture())
    elif options.news:
        show_lines(looked_at.news())
    else:
        looked_at.say_who_acts()
        show_lines(looked_at.counts() if options.count else looked_at.moves(options.most))


class LineStart(NamedTuple):
    """Where a line of moves begins."""

    options: Options
    position: LinePosition


def started(game: Game[Any], options: tuple[str, ...], seed: str, outcomes: tuple[str, ...]) -> LineStart:
    """The start of a game."""
    settled = game.settle(key_values("option", options))
    chance = Chance.of_seeds(*position_seeds(seed), given=outcomes)
    return LineStart(settled, LinePosition.settled(game.start(settled), chance))


def recorded(game: Game[Any], path: Path, at: str, view: View) -> LineStart:
    """The position after a step of a recorded game, for a view. Raises `UsageError` and `RecordError`."""
    game_id, number = place_in_game(at)
    record = recorded_game(records_at(path), game_id, game)
    steps = steps_of(record)
    state = steps.step(number, view).state
    outcomes = [event.text for event in record.events[len(record.terms.start) :] if isinstance(event, Drawn)]
    chance = Chance.of_seeds(record.terms.seed, record.terms.shared_seed, outcomes)
    # The streams go on where they were in the game, so what is drawn after it is what it would have drawn.
    events_before = len(steps.steps[0].events)
    for before, after in pairwise(steps.steps[: number + 1]):
        for event in after.events:
            if isinstance(event, Drawn) and events_before < len(record.terms.start):
                chance = chance.after(event.text)
            elif isinstance(event, Drawn):
                chance = chance.once(before.state)[1]
        events_before += len(after.events)
    return LineStart(record.terms.options, LinePosition.settled(state, chance))


def show_counts(position: LinePosition, depth: int, divide: bool) -> None:
    """Prints how many lines there are, each number when it is known."""
    if divide:
        lines = 0
        for turn, count in divided(position, depth):
            lines += count
            if not show_data(f"{count:>12}  {turn_text(position.state, turn)}"):
                return
        say(f"{lines} in all")
        return
    show_data("depth         lines")
    for number, count in enumerate(lines_by_depth(position, depth), 1):
        if not show_data(f"{number:>5}  {count:>12}"):
            return


class PositionView(NamedTuple):
    """A position as a seat or a spectator sees it."""

    game: Game[Any]
    options: Options
    position: LinePosition
    known: ViewKnowledge

    @property
    def _state(self) -> State[Any]:
        return self.position.state

    @property
    def _acting(self) -> tuple[Seat, ...]:
        return self.known.acting(self._state)

    def _label(self, seat: Seat) -> str:
        """Returns the label of a seat: its number, where several seats act and none was named."""
        return f"{seat + 1} " if len(self._state.to_act()) > 1 and self.known.view is None else ""

    def moves(self, most: int | None) -> Iterator[str]:
        """The legal moves, seat by seat."""
        for seat in self._acting:
            label = self._label(seat)
            for move in islice(self._state.legal(seat), most):
                yield f"{label}{self._state.write(move)}"

    def counts(self) -> Iterator[str]:
        """Counts the legal moves of each seat."""
        if not self._acting:
            yield "0"
        for seat in self._acting:
            yield f"{self._label(seat)}{moves_in_all(self._state, seat)}"

    def news(self) -> Iterator[str]:
        """The news, as lines of the protocol: seat by seat where they differ and no seat is named."""
        if self.known.is_open or self.known.view is not None:
            yield from (f"news {line}" for line in self.known.news(self._state))
            return
        for seat in self._seats:
            yield from (f"{seat + 1} news {line}" for line in self._state.seen(seat))

    def picture(self) -> str:
        """The position as a picture in characters."""
        return picture_text(self.known.picture(self._state), colour=True)

    @property
    def _seats(self) -> Sequence[Seat]:
        return self.known.seats(self.game.seats(self.options))

    def say_chance(self) -> None:
        """Says what chance decided, as far as it is known."""
        for text in self.known.outcomes(self.position.chance.decided) or ():
            say(f"chance: {shown(text, 1000)}")

    def say_who_acts(self) -> None:
        """Says who acts where that is not the seat that was named."""
        if not self._acting and self._state.to_act():
            acting = listed([f"seat {seat + 1}" for seat in self._state.to_act()])
            say(f"it is not the turn of {view_text(self.known.view)} here; to move: {acting}")

    def _head(self) -> dict[str, Any]:
        return {
            "game": self.game.slug,
            "rules": self.game.rules,
            "options": dict(self.options),
            "chance": self.known.outcomes(self.position.chance.decided),
        }

    def perft_json(self, depth: int, divide: bool) -> Iterator[str]:
        """Formats what `--perft` counts as JSON."""
        if divide:
            found: list[Any] = [
                {"turn": turn_text(self._state, turn), "lines": count}
                for turn, count in divided(self.position, depth)
            ]
            yield json.dumps({**self._head(), "depth": depth, "divide": found})
        else:
            yield json.dumps({**self._head(), "perft": list(lines_by_depth(self.position, depth))})

    def json(self, most: int | None) -> Iterator[str]:
        """The position as JSON, in pieces, since there may be millions of moves."""
        outcome = self._state.outcome()
        head = {
            **self._head(),
            "outcome": outcome and outcome._asdict(),
            "acting": [seat + 1 for seat in self._state.to_act()],
            "news": {str(seat + 1): list(self._state.seen(seat)) for seat in self._seats},
        }
        yield f'{json.dumps(head)[:-1]}, "legal": ['
        for place, seat in enumerate(self._acting):
            yield f'{", " if place else ""}{{"seat": {seat + 1}, "moves": ['
            comma = ""
            for move in islice(self._state.legal(seat), most):
                yield f"{comma}{json.dumps(self._state.write(move))}"
                comma = ", "
            yield f'], "count": {json.dumps(self._state.count(seat))}}}'
        yield "]}"
