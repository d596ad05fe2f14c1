"""The position that `referee moves` looks at: where it comes from, and what is printed of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from referee.cli.options import key_values, place_in_game
from referee.cli.output import say, show_data
from referee.core.errors import UsageError
from referee.core.seeds import position_seeds
from referee.core.text import listed, shown
from referee.gameplay.chance import Chance
from referee.gameplay.events import Drawn
from referee.gameplay.lines import LinePosition, turn_text
from referee.gameplay.perft import divided, lines_by_depth, moves_in_all
from referee.games.api import Game, Options, Seat, State
from referee.tournament.file.opening_table import recorded_game
from referee.tournament.run.reading import records_at
from referee.viewing.characters import picture_text
from referee.viewing.knowledge import View, ViewKnowledge
from referee.viewing.steps import steps_of


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
    if number >= len(steps.steps):
        if damage := steps.damage_for(view):
            raise damage
        raise UsageError(f"the game has no move {number}, expected 0 to {len(steps.steps) - 1}")
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
    return LineStart(record.terms.options, LinePosition.settled(steps.steps[number].state, chance))


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
        """The seats whose moves are shown."""
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
        """The seats whose news are shown."""
        return self.known.seats(self.game.seats(self.options))

    def say_chance(self) -> None:
        """Says what chance decided, as far as it is known."""
        for text in self.known.outcomes(self.position.chance.decided) or ():
            say(f"chance: {shown(text, 1000)}")

    def say_who_acts(self) -> None:
        """Says who acts where that is not the seat that was named."""
        if not self._acting and self._state.to_act():
            acting = listed([f"seat {seat + 1}" for seat in self._state.to_act()])
            say(f"it is not the turn of seat {(self.known.view or 0) + 1} here; to move: {acting}")

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
