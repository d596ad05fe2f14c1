"""The legal moves of a position: an iterator over all of them, and a random one. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Protocol, TypeVar

from referee.core.seeds import Random
from referee.games.grid import Cells, members
from referee.games.vinetree.life import room_of
from referee.games.vinetree.paths import Fit
from referee.games.vinetree.position import Growth, VinePosition

T = TypeVar("T")

BLIND_TRIES = 12
"""Random pairs of vines that a sample tries before it searches. On most boards one of the first few fits,
and they cost little.
"""


class Arrange(Protocol):
    """A function that orders the choices of the search."""

    def __call__(self, items: list[T]) -> list[T]:
        """The items in the order in which they are tried."""


def growths(position: VinePosition, dead: Cells) -> Iterator[Growth]:
    """The legal moves, where some flowers are known to be dead: by flower, row by row, then by the sides that
    the vines leave by, then by alphabet.
    """
    return _growths(position, dead, lambda items: items)


def sample(position: VinePosition, dead: Cells, rng: Random) -> Growth:
    """A random legal move, not uniform: flowers, sides and steps are drawn one by one. Only where there is
    one.
    """
    room = position.room
    flowers = [cell for cell in members(position.flowers) if len(position.ways(room, 1 << cell)) > 1]
    for _ in range(BLIND_TRIES):
        move = _blind_growth(position, rng.choice(flowers), rng)
        if move:
            return move

    def shuffled(items: list[T]) -> list[T]:
        rng.shuffle(items)
        return items

    return next(_growths(position, dead, shuffled))


def _blind_growth(position: VinePosition, flower: int, rng: Random) -> Growth | None:
    """Two random walks out of a flower, or None where one gets stuck."""
    room = position.room
    vines = ["", ""]
    length = position.length(flower)
    for i in range(2):
        head = 1 << flower
        for _ in range(length):
            ways = position.ways(room, head)
            if not ways:
                return None
            letter, head = rng.choice(ways)
            room ^= head
            vines[i] += letter
    return Growth(flower, *sorted(vines))


def _growths(position: VinePosition, dead: Cells, arranged: Arrange) -> Iterator[Growth]:
    """The legal moves; `arranged` orders the choices."""
    fit = Fit(position.rules.board)
    for flower in arranged(members(position.flowers)):
        length = position.length(flower)
        # Later calls of `arranged` must not depend on whether the flower was known to be dead.
        if dead >> flower & 1 or not room_of(position, fit, flower, length):
            continue
        sides = combinations(position.ways(position.room, 1 << flower), 2)
        for (one, head), (other, end) in arranged(list(sides)):
            room = position.room & ~head & ~end
            rests = _finish(position, fit, arranged, room, head, end, length - 1, length - 1)
            for rest, other_rest in rests:
                yield Growth(flower, one + rest, other + other_rest)


def _finish(  # noqa: PLR0913 - the state of a search in which an object would cost time
    position: VinePosition,
    fit: Fit,
    arranged: Arrange,
    room: Cells,
    one: Cells,
    other: Cells,
    steps: int,
    other_steps: int,
) -> Iterator[tuple[str, str]]:
    """The ways to finish two vines, the first one first.

    It never takes a step from which they cannot be finished, so the next result is always close.
    """
    if fit.two(room, one, other, steps, other_steps) is None:
        return
    if steps:
        for letter, head in arranged(position.ways(room, one)):
            rests = _finish(position, fit, arranged, room ^ head, head, other, steps - 1, other_steps)
            for rest, other_rest in rests:
                yield letter + rest, other_rest
    elif other_steps:
        for letter, head in arranged(position.ways(room, other)):
            for _, other_rest in _finish(position, fit, arranged, room ^ head, one, head, 0, other_steps - 1):
                yield "", letter + other_rest
    else:
        yield "", ""
