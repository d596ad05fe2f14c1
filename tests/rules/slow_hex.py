"""A hexagonal board, slow and obvious: which cells touch follows from where their middles are."""

from __future__ import annotations


def touching(side: int) -> dict[str, set[str]]:
    """The cells of a board by name, each with those that it touches."""
    rows = 2 * side - 1
    at: dict[str, tuple[float, int]] = {}
    for row in range(rows):
        length = rows - abs(side - 1 - row)
        for i in range(length):
            # Where the middle of the cell is, in cells to the right and in rows down.
            at[f"{chr(65 + row)}{i + 1}"] = (i - length / 2, row)
    return {
        cell: {
            other
            for other, (ox, oy) in at.items()
            if (oy == y and abs(ox - x) == 1) or (abs(oy - y) == 1 and abs(ox - x) == 0.5)
        }
        for cell, (x, y) in at.items()
    }
