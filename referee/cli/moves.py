"""`referee moves`: the legal moves of a position, its news, and counts to a depth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import click

from referee.cli.options import (
    game_argument,
    game_options_option,
    key_values,
    place_in_game,
    seat_option,
)
from referee.cli.output import say, show_data, show_lines
from referee.core.errors import UsageError
from referee.core.seeds import position_seeds
from referee.core.text import listed, shown
from referee.gameplay.chance import Chance
from referee.gameplay.events import Drawn
from referee.gameplay.lines import Position, followed, moves_of, turn_text
from referee.gameplay.perft import divided, lines_by_depth, moves_in_all
from referee.games import game_given
from referee.games.api import Game, Options, Seat, State
from referee.tournament.opening_table import recorded_game
from referee.tournament.reading import records_at
from referee.viewing.characters import picture_text
from referee.viewing.steps import steps_of

SEED = "1"
"""The seed of chance where none is given: a position that is tested is to be the same every time."""


@click.command()
@game_argument
@click.argument("line", metavar="[MOVE]...", nargs=-1)
@game_options_option
@click.option("--seed", metavar="TEXT", help=f"Seed of what chance decides. Default: {SEED}.")
@click.option(
    "--chance",
    "outcomes",
    metavar="TEXT",
    multiple=True,
    help="An outcome of chance in the place of one from the seed; repeat it for the ones after it.",
)
@click.option(
    "--from",
    "begin",
    metavar="DIR ID@N",
    type=(click.Path(path_type=Path), str),
    help="Begin after move N of a recorded game, as `replay DIR ID --move N` shows it, chance included.",
)
@seat_option
@click.option("--most", type=click.IntRange(1), metavar="N", help="Print the first N moves of a seat only.")
@click.option("--count", is_flag=True, help="Print only how many legal moves there are.")
@click.option("--picture", is_flag=True, help="Print the position as a picture.")
@click.option(
    "--news", is_flag=True, help="Print what the seats would have been told, as the protocol has it."
)
@click.option(
    "--perft",
    "depth",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Count the lines of 1 to N turns from here, each depth as soon as it is known.",
)
@click.option("--divide", is_flag=True, help="With --perft: the lines of N turns only, by their first turn.")
@click.option("--json", "as_json", is_flag=True, help="Print the position, or what --perft counts, as JSON.")
def moves(
    game: str,
    line: tuple[str, ...],
    options: tuple[str, ...],
    seed: str | None,
    outcomes: tuple[str, ...],
    begin: tuple[Path, str] | None,
    seat: int | None,
    most: int | None,
    count: bool,
    picture: bool,
    news: bool,
    depth: int | None,
    divide: bool,
    as_json: bool,
) -> None:
    """Prints the legal moves in GAME after a line of moves: in canonical spelling, one a line.

    MOVE is a move, quoted where it has blanks, or several with ; between them. Where several seats act at
    once, the line has a move of each, in the order of seats, and what is printed of a seat has its number
    before it, unless --seat names one. What begins with - stands after --.

    \b
    Examples:
      referee moves blooms
      referee moves vinetree 'E5 L R; E4 DLL ULL' --option bend=included --count
      referee moves evengroups --option size=3 --perft 3
      referee moves thetree --seed 7 --news --seat 1
      referee moves floral --from results 3@12 --picture
    """
    ways = {"--count": count, "--picture": picture, "--news": news, "--perft": depth is not None}
    given = [name for name, is_given in ways.items() if is_given]
    if as_json and given != ["--perft"]:
        given.append("--json")
    if len(given) > 1:
        raise UsageError(f"{listed(given)} are given, expected one of them")
    if divide and depth is None:
        raise UsageError("`--divide` is given without `--perft N`, expected both")
    if most is not None and given not in ([], ["--json"]):
        raise UsageError(f"`--most` is given with {given[0]}, which prints no moves, expected one of them")
    if seat is not None and depth is not None:
        raise UsageError(
            "`--seat` is given with --perft, which counts the moves of all, expected one of them"
        )
    chosen = game_given(game, Path.cwd())
    if begin and (options or seed or outcomes):
        raise UsageError(
            "`--option`, `--seed` and `--chance` are those of the game with `--from`, expected none of them"
        )
    root = _logged(chosen, *begin) if begin else _started(chosen, options, seed, outcomes)
    seats = chosen.seats(root.options)
    if seat is not None and seat > seats:
        raise UsageError(f"the game has {seats} seats, expected --seat 1 to {seats}")
    position = followed(root.position, moves_of(line))
    looked_at = _LookedAt(chosen, root.options, position, None if seat is None else seat - 1)
    if as_json:
        show_lines(looked_at.perft_json(depth, divide) if depth else looked_at.json(most))
        return
    for text in position.chance.decided:
        say(f"chance: {shown(text, 1000)}")
    if outcome := position.state.outcome():
        say(f"the game is over: {shown(outcome.sentence)}")
    if depth is not None:
        _show_counts(position, depth, divide)
    elif count:
        looked_at.say_who_acts()
        show_lines(looked_at.counts())
    elif picture:
        show_data(picture_text(position.state.picture(looked_at.seat), colour=True))
    elif news:
        show_lines(looked_at.news())
    else:
        looked_at.say_who_acts()
        show_lines(looked_at.moves(most))


class _Root(NamedTuple):
    """Where a line of moves begins."""

    options: Options
    position: Position


def _started(game: Game[Any], options: tuple[str, ...], seed: str | None, outcomes: tuple[str, ...]) -> _Root:
    """The start of a game."""
    settled = game.settle(key_values("option", options))
    chance = Chance.of_seeds(*position_seeds(SEED if seed is None else seed), given=outcomes)
    return _Root(settled, Position.settled(game.start(settled), chance))


def _logged(game: Game[Any], path: Path, at: str) -> _Root:
    """The position after a step of a logged game. Raises `UsageError` and `RecordError`."""
    game_id, number = place_in_game(at)
    record = recorded_game(records_at(path), game_id, game)
    steps = steps_of(record)
    if number >= len(steps.steps):
        if steps.damage:
            raise steps.damage
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
                chance = chance.settled(before.state)[1]
        events_before += len(after.events)
    return _Root(record.terms.options, Position.settled(steps.steps[number].state, chance))


def _show_counts(position: Position, depth: int, divide: bool) -> None:
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


class _LookedAt(NamedTuple):
    """A position, and which seat's part of it is shown."""

    game: Game[Any]
    options: Options
    position: Position
    seat: Seat | None

    @property
    def _state(self) -> State[Any]:
        return self.position.state

    @property
    def _acting(self) -> tuple[Seat, ...]:
        """The seats whose moves are shown."""
        return tuple(seat for seat in self._state.to_act() if self.seat in (None, seat))

    def _label(self, seat: Seat) -> str:
        """What stands before what belongs to a seat: its number, where several act and none was named."""
        return f"{seat + 1} " if len(self._state.to_act()) > 1 and self.seat is None else ""

    def moves(self, most: int | None) -> Iterator[str]:
        """The legal moves, seat by seat."""
        for seat in self._acting:
            label = self._label(seat)
            for move in islice(self._state.legal(seat), most):
                yield f"{label}{self._state.write(move)}"

    def counts(self) -> Iterator[str]:
        """How many legal moves there are, seat by seat."""
        if not self._acting:
            yield "0"
        for seat in self._acting:
            yield f"{self._label(seat)}{moves_in_all(self._state, seat)}"

    def news(self) -> Iterator[str]:
        """The news, as lines of the protocol: seat by seat where they differ and no seat is named."""
        if self.game.is_open or self.seat is not None:
            yield from (f"news {line}" for line in self._state.seen(self.seat))
            return
        for seat in range(self.game.seats(self.options)):
            yield from (f"{seat + 1} news {line}" for line in self._state.seen(seat))

    def say_who_acts(self) -> None:
        """Says who acts where that is not the seat that was named."""
        if not self._acting and self._state.to_act():
            acting = listed([f"seat {seat + 1}" for seat in self._state.to_act()])
            say(f"seat {(self.seat or 0) + 1} does not act here, but {acting}")

    def _head(self) -> dict[str, Any]:
        return {
            "game": self.game.slug,
            "rules": self.game.rules,
            "options": dict(self.options),
            "chance": list(self.position.chance.decided),
        }

    def perft_json(self, depth: int, divide: bool) -> Iterator[str]:
        """What `--perft` counts, as JSON."""
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
        seats = range(self.game.seats(self.options)) if self.seat is None else (self.seat,)
        head = {
            **self._head(),
            "outcome": outcome and outcome._asdict(),
            "acting": [seat + 1 for seat in self._state.to_act()],
            "news": {str(seat + 1): list(self._state.seen(seat)) for seat in seats},
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
