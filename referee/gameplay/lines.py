"""Lines of moves: their chance, lines that people write, and how many there are. Pure.

Counting them tests move generators (a test known as perft). A line of *n* turns is *n* turns one after
another, each of which is a legal move of every seat that acts. Chance is no turn: its outcomes are those that
follow from the seeds, on every line as if it were a game of its own. Lines that end the game earlier are not
counted at later depths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

from referee.core.errors import UsageError
from referee.core.seeds import Stream, chance_stream
from referee.core.text import shown
from referee.gameplay.openings import SEPARATOR, split
from referee.games.api import CHANCE, SHARED_CHANCE, BadChance, Refusal, Seat, State


@dataclass(frozen=True, slots=True)
class Chance:
    """What chance decides from a position on. Immutable: every line of moves from there has the same chance,
    as if it were a game of its own.
    """

    streams: Mapping[Seat, Stream]
    """By the actor, `CHANCE` or `SHARED_CHANCE`; what is drawn is drawn from copies."""
    given: tuple[str, ...] = ()  # the next outcomes, each in place of the one that would be drawn
    decided: tuple[str, ...] = ()  # all outcomes so far

    @classmethod
    def of_seeds(cls, own: bytes, shared: bytes, given: Sequence[str] = ()) -> Chance:
        """The chance of a game from its own seed and the shared one, as in the game loop."""
        streams = {CHANCE: chance_stream(own), SHARED_CHANCE: chance_stream(shared)}
        return cls(streams, tuple(given))

    def after(self, text: str) -> Chance:
        """The chance after an outcome that neither was given nor is drawn, such as one of an earlier game."""
        return replace(self, decided=(*self.decided, text))

    def settled(self, state: State[Any]) -> tuple[State[Any], Chance]:
        """The position when chance has decided all that it decides next, and the chance from there on.

        Raises `BadChance` where an outcome that is given is not possible.
        """
        chance = self
        while (acting := state.to_act()) and acting[0] < 0:
            state, chance = chance.once(state)
        return state, chance

    def once(self, state: State[Any]) -> tuple[State[Any], Chance]:
        """The position after one decision of chance, which acts in it, and the chance from there on.

        Raises `BadChance` where an outcome that is given is not possible.
        """
        actor = state.to_act()[0]
        stream = copy(self.streams[actor])
        text = state.draw(stream)
        if self.given:
            text = self.given[0]
        after = Chance({**self.streams, actor: stream}, self.given[1:], (*self.decided, text))
        return state.chance(text), after


class LinePosition(NamedTuple):
    """A position in which chance does not act, with the chance from there on."""

    state: State[Any]
    chance: Chance

    @classmethod
    def settled(cls, state: State[Any], chance: Chance) -> LinePosition:
        """The position when chance has acted. Raises `UsageError` where an outcome is not possible."""
        try:
            return cls(*chance.settled(state))
        except BadChance as error:
            raise UsageError(f"chance: {error}") from None

    def after(self, moves: Mapping[Seat, Any]) -> LinePosition:
        """The position after a move of every seat that acts, and chance. Raises `UsageError` as `settled`."""
        return self.settled(self.state.play(moves), self.chance)


def moves_of(texts: Iterable[str]) -> list[str]:
    """The moves of some texts, each of which has one move or several with `;` between them."""
    return [move for text in texts for move in split(text) if move]


def turn_text(state: State[Any], moves: Mapping[Seat, Any]) -> str:
    """The moves of a turn in canonical spelling, as they stand in a line: in the order of seats."""
    return f"{SEPARATOR} ".join(state.write(moves[seat]) for seat in sorted(moves))


def followed(position: LinePosition, texts: Sequence[str], only_seat: Seat | None = None) -> LinePosition:
    """The position after a line of moves. In a turn of several seats there is a move of each, in the order of
    seats. Raises `UsageError`, which names the move. With `only_seat` it says only of that seat's moves why
    they are not legal: the reason may be what other seats hold.
    """
    number = 0
    while number < len(texts):
        state = position.state
        acting = state.to_act()
        if not acting:
            raise _wrong(texts, number, "the game is over")
        moves = {}
        for seat in acting:
            if number == len(texts):
                raise UsageError(
                    "the line ends in the middle of a simultaneous turn, "
                    f"expected a move of seat {seat + 1} too"
                )
            try:
                moves[seat] = state.read(seat, texts[number])
            except Refusal as refusal:
                is_told = only_seat in (None, seat)  # guard: refusals-of-others
                raise _wrong(
                    texts, number, refusal.sentence if is_told else "it is not legal", seat
                ) from None
            number += 1
        position = position.after(moves)
    return position


def _wrong(texts: Sequence[str], number: int, why: str, seat: Seat | None = None) -> UsageError:
    who = "" if seat is None else f" of seat {seat + 1}"
    return UsageError(f"move {number + 1} `{shown(texts[number], 80)}`{who}: {shown(why, 200)}")


def turns(state: State[Any], seats: tuple[Seat, ...] | None = None) -> Iterator[Mapping[Seat, Any]]:
    """The possible turns, lazily: the moves of the first seat that acts, with those of the others."""
    first, *rest = state.to_act() if seats is None else seats
    others = tuple(rest)
    for move in state.legal(first):
        if others:
            yield from ({first: move, **turn} for turn in turns(state, others))
        else:
            yield {first: move}


def moves_in_all(state: State[Any], seat: Seat) -> int:
    """Counts the legal moves of a seat, one by one where the game has no faster way."""
    count = state.count(seat)
    return sum(1 for _ in state.legal(seat)) if count is None else count


def lines_of(position: LinePosition, depth: int) -> int:
    """Counts the lines of `depth` turns, at least one, from a position."""
    state = position.state
    acting = state.to_act()
    if not acting:
        return 0
    if depth == 1:
        return prod(moves_in_all(state, seat) for seat in acting)
    return sum(lines_of(position.after(turn), depth - 1) for turn in turns(state))


def lines_by_depth(position: LinePosition, depth: int) -> Iterator[int]:
    """Counts the lines of 1, 2, … turns up to a depth; the last number is 0 if all lines end before."""
    for turns_each in range(1, depth + 1):
        lines = lines_of(position, turns_each)
        yield lines
        if not lines:
            return


def divided(position: LinePosition, depth: int) -> Iterator[tuple[Mapping[Seat, Any], int]]:
    """Each first turn with the number of lines of this many turns that begin with it."""
    if position.state.to_act():
        for turn in turns(position.state):
            yield turn, 1 if depth == 1 else lines_of(position.after(turn), depth - 1)
