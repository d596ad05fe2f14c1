"""Lines of moves from a position, as people write them: followed move by move. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from referee.core.errors import UsageError
from referee.core.text import shown
from referee.gameplay.chance import Chance
from referee.gameplay.openings import SEPARATOR, split
from referee.games.api import BadChance, Refusal, Seat, State


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
