"""What the broken bots know of Blooms, so that each of them shows its mistake and little else."""

from __future__ import annotations


class Board:
    """The empty cells of a board, kept by the `option size` and the `news` of a game."""

    def __init__(self) -> None:
        self.empty: list[str] = []

    def option(self, name: str, value: str) -> None:
        if name == "size":
            side = int(value)
            rows = 2 * side - 1
            self.empty = [
                f"{chr(65 + row)}{place + 1}"
                for row in range(rows)
                for place in range(rows - abs(side - 1 - row))
            ]

    def news(self, kind: str, seat: str, *cells: str) -> None:
        if kind == "captured":
            self.empty += cells
        else:
            self.empty = [
                cell for cell in self.empty if f"L:{cell}" not in cells and f"D:{cell}" not in cells
            ]

    def move(self) -> str:
        return f"L:{self.empty[0]}"
