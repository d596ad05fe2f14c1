"""Prints the catalogue of all that can go wrong (`tests/catalogue`): `python -m tests.tools.catalogue`."""

from __future__ import annotations

from tabulate import tabulate

from tests.catalogue import ROWS
from tests.catalogue.row import AtRandom, Attack, Case, Checked, Defect, Elsewhere, Way, Why


def told(way: Way) -> str:
    """A way of testing, in a line."""
    match way:
        case Case(verdict=verdict, detail=detail, name=name):
            outcome = f"{verdict}: {detail}" if verdict else "plays on"
            return f"{name}: {outcome}" if name else outcome
        case AtRandom(vice, verdict=verdict):
            return f"at random, {vice}: {verdict or 'plays on'}"
        case Checked(file):
            return f"checked: {file}"
        case Defect(name, step):
            return f"check, step {step}: {name}"
        case Attack(area, name):
            return f"attack on {area}: {name}"
        case Elsewhere(name):
            return name
        case Why(reason):
            return f"not provoked: {reason}"


if __name__ == "__main__":
    table = [(row.number, row.name, "\n".join(map(told, row.ways))) for row in ROWS]
    print(tabulate(table, ("row", "what goes wrong", "expected, or tested by"), maxcolwidths=[None, 40, 100]))
