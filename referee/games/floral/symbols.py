"""What is drawn in pictures of Floral Extract: pots, flowers unlike in shape, the weather, runes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from referee.games.floral.flowers import CHILLY, FLOWERS, RAINY, SUNNY
from referee.games.picture import Circle, Letters, Point, Polygon, Shape, Stroke, Symbol, regular

POT = Symbol(
    "pot",
    (
        Polygon(((-0.68, -0.35), (0.68, -0.35), (0.56, 0.36), (-0.56, 0.36)), "own-first", "own-edge", 0.05),
        Polygon(((-0.8, -0.5), (0.8, -0.5), (0.8, -0.32), (-0.8, -0.32)), "own-second", "own-edge", 0.05),
    ),
)
"""A pot in the paint of its mark; its plant stands on the point 0.52 above its middle."""

SHELF = Symbol("shelf", (Stroke(((-4.2, 0), (4.2, 0)), "board", 0.1),))  # what three pots stand on


def _across(count: int, radius: float, turn: float = 0.0, y: float = 0.0) -> Iterator[tuple[Point, Point]]:
    """Lines through (0, y), from one end of a star to the opposite one."""
    tips = regular(2 * count, radius, turn, 0, y)
    yield from zip(tips, tips[count:], strict=False)


def _stem(height: float) -> list[Shape]:
    leaf = ((0.0, -0.15), (0.1, -0.27), (0.26, -0.32), (0.42, -0.3), (0.34, -0.2), (0.2, -0.14))
    other = tuple((-x, y - 0.12) for x, y in leaf)
    return [
        Stroke(((0, 0.1), (0, -height)), "vine", 0.07),
        Polygon(leaf, "vine", "vine"),
        Polygon(other, "vine", "vine"),
    ]


def _florets(places: Sequence[Point]) -> list[Shape]:
    return [Circle(x, y, 0.115, "violet", "page", 0.02) for x, y in places]


def _azalea() -> list[Shape]:
    """Five wide petals."""
    petals = [Circle(x, y, 0.2, "flower", "page", 0.025) for x, y in regular(5, 0.24, 0, 0, -0.95)]
    return [*_stem(0.9), *petals, Circle(0, -0.95, 0.1, "white")]


def _chrysanthemum() -> list[Shape]:
    """Many narrow petals."""
    petals = [Stroke(line, "sun", 0.1) for line in _across(6, 0.42, 0, -0.95)]
    return [*_stem(0.9), *petals, Circle(0, -0.95, 0.17, "back", "page", 0.02)]


def _hyacinth() -> list[Shape]:
    """An upright spike of florets."""
    pairs = [(side * 0.13, -0.5 - 0.17 * row) for row in range(5) for side in (-1, 1)]
    return [*_stem(1.2), *_florets([*pairs, (0, -1.36)])]


def _wisteria() -> list[Shape]:
    """Florets that hang from a bent stem."""
    bent = Stroke(((0, 0.1), (0, -1.1), (0.12, -1.28), (0.34, -1.28)), "vine", 0.07)
    rows = [
        (0.12, -1.14),
        (0.34, -1.14),
        (0.56, -1.14),
        (0.23, -0.95),
        (0.45, -0.95),
        (0.34, -0.76),
        (0.34, -0.58),
    ]
    return [bent, *_stem(0.6)[1:], *_florets(rows)]


def _xanthium() -> list[Shape]:
    """A bur with spines."""
    spines = [Stroke(line, "back", 0.05) for line in _across(6, 0.42, 1 / 24, -0.95)]
    return [*_stem(0.8), *spines, Circle(0, -0.95, 0.27, "back", "page", 0.02)]


PLANTS = {
    kind: Symbol(FLOWERS[kind], tuple(shapes()))
    for kind, shapes in zip(FLOWERS, (_azalea, _chrysanthemum, _hyacinth, _wisteria, _xanthium), strict=True)
}
"""Flowers by kind. They stand on the point (0, 0), and are 1.5 high."""
UNKNOWN = Symbol(
    "flower of unknown kind",
    (*_stem(0.7), Circle(0, -0.9, 0.28, "board", "edge"), Letters(0, -0.9, "?", "", 0.5)),
)

SKIES = {
    SUNNY: Symbol(
        "sunny",
        (
            *(Stroke(line, "sun", 0.08) for line in _across(4, 0.45)),
            Circle(0, 0, 0.24, "sun", "page", 0.04),
        ),
    ),
    CHILLY: Symbol("chilly", tuple(Stroke(line, "water", 0.08) for line in _across(3, 0.42))),
    RAINY: Symbol(
        "rainy",
        (
            *(Circle(x, y, 0.17, "edge") for x, y in ((-0.2, -0.15), (0, -0.25), (0.2, -0.15), (0, -0.1))),
            *(Stroke(((x, 0.1), (x - 0.1, 0.38)), "water", 0.07) for x in (-0.18, 0.05, 0.28)),
        ),
    ),
}
"""By weather."""


_PILL = ((-0.44, -0.32), (0.44, -0.32), (0.44, 0.32), (-0.44, 0.32))
_BOX = ((-0.27, -0.31), (0.27, -0.31), (0.27, 0.31), (-0.27, 0.31))


@cache
def rune(text: str) -> Symbol:
    """A rune with its identity, such as `A3`, or `A?` where that is not known."""
    outline = Polygon(_PILL, "own-tint", "own-edge", 0.06)
    return Symbol(f"rune {text}", (outline, Letters(0, 0, text, "", 0.5)))


SLOT = Symbol("slot", (Polygon(_BOX, "board", "board", 0.06),))
"""Of a spell: a rune that it still takes; below, one that counts."""


@cache
def filled(identity: int) -> Symbol:
    """A rune that counts for a spell."""
    shapes = Polygon(_BOX, "own-tint", "own-edge", 0.06), Letters(0, 0, str(identity), "", 0.54)
    return Symbol(f"counted {identity}", shapes)


GUESSED = Symbol("guessed", (Circle(0, 0, 0.23, "own-first", "own-edge"),))
NOT_GUESSED = Symbol("to guess", (Circle(0, 0, 0.23, "board", "edge", 0.02),))
