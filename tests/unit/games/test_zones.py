"""Where cells lie, by their names."""

from collections import Counter

import pytest

from referee.games import game_named


@pytest.mark.parametrize(
    "slug, size, corner, edge, inside, corners, edges",
    [
        ("blooms", 3, "C5", "B1", "B2", 6, 6),
        ("evengroups", 4, "A1", "A2", "D4", 6, 12),
        ("vinetree", 5, "E1", "C5", "B2", 4, 12),
    ],
)
def test_corners_and_edges(
    slug: str, size: int, corner: str, edge: str, inside: str, corners: int, edges: int
) -> None:
    game = game_named(slug)
    options = game.settle({"size": str(size)})
    names = [f"{row}{number}" for row in "ABCDEFGHI" for number in range(1, 20)]
    found = Counter(game.zone(options, name) for name in names)
    assert (found["corner"], found["edge"]) == (corners, edges)
    assert [game.zone(options, name) for name in (corner, edge, inside, "Z9", "")] == [
        "corner",
        "edge",
        "",
        "",
        "",
    ]
