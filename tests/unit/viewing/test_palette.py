"""The colours of paints: enough contrast, and seats that can be told apart by everybody."""

from __future__ import annotations

import re
from itertools import combinations
from math import dist
from typing import get_args

import pytest

from referee.games.picture import SEATS, Paint
from referee.viewing.palette import (
    FILLS,
    INKS,
    PAGE,
    THEMES,
    Theme,
    contrast,
    file_style,
    over_colour,
    page_style,
    text_colour,
)

BEHIND = (PAGE, "board")
"""What is behind shapes and texts."""

ON_TILE = ("wood", "added")
"""What is drawn on a tile, which has nearly the same colour in both themes, and nowhere else."""

OUTLINED = {
    *(f"{seat}{kind}" for seat in SEATS for kind in ("", "-second", "-tint")),
    *("white", "white-tint", "orange", "orange-tint"),
}
"""What may be nearly as light or as dark as what is behind it: it has an outline in the paint `…-edge`."""

Matrix = tuple[tuple[float, float, float], ...]

SEEN: dict[str, Matrix] = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""What of linear red, green and blue is seen (Machado, Oliveira and Fernandes 2009, severity 1)."""

TOGETHER = (
    SEATS,
    ("seat1", "seat1-second", "seat2", "seat2-second"),
    ("white", "orange"),
    ("vine", "flower"),
    ("vine", "violet"),
    ("vine", "sun"),
    ("wood", "added"),
    ("flower", "dead"),
)
"""Paints that stand beside each other, and say different things."""


def lab(colour: str, matrix: Matrix) -> tuple[float, float, float]:
    """A colour as it is seen, in CIE L*a*b*."""
    values = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    red, green, blue = (
        min(1, max(0, sum(a * b for a, b in zip(row, linear, strict=True)))) for row in matrix
    )
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def test_every_paint_has_a_colour_in_each_theme() -> None:
    paints = {paint or "ink" for paint in get_args(Paint) if not paint.startswith("own")}
    for theme in THEMES:
        assert set(FILLS[theme]) == paints | {PAGE}
    assert set(INKS) <= set(get_args(Paint))


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#ffffff", "#777777") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_shapes_and_texts_have_enough_contrast(theme: Theme) -> None:
    fills = FILLS[theme]
    for paint in fills:
        for behind in BEHIND:
            if paint not in (*BEHIND, "tile", *ON_TILE, *OUTLINED):
                assert contrast(fills[paint], fills[behind]) >= 3, (paint, behind)
            assert contrast(text_colour(paint, theme), fills[behind]) >= 4.5, (paint, behind)
        assert contrast(over_colour(paint, theme), fills[paint]) >= 4.5, paint
    for paint in ON_TILE:
        assert contrast(fills[paint], fills["tile"]) >= 3
    for seat in SEATS[:2]:
        assert contrast(fills[seat], fills[f"{seat}-second"]) >= 3, "a mark on a stone"
    assert theme == "dark" or contrast(fills["white-edge"], fills["white"]) >= 3


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("who", SEEN)
def test_paints_beside_each_other_can_be_told_apart(theme: Theme, who: str) -> None:
    for group in TOGETHER:
        for one, other in combinations(group, 2):
            colours = [lab(FILLS[theme][paint], SEEN[who]) for paint in (one, other)]
            assert dist(*colours) >= 25, (one, other)


@pytest.mark.slow
def test_a_file_has_plain_colours_and_a_page_has_both_themes() -> None:
    for theme in THEMES:
        style = file_style(theme)
        assert "var(" not in style and "@" not in style
        selectors = re.findall(r"([^{}\n]+)\{", style)
        names = [name for selector in selectors for name in selector.split(",")]
        assert all(re.fullmatch(r"\.[a-z0-9-]+", name) for name in names), "or `<use>` has none"
        assert len(set(names)) == len(names) == 4 * len(FILLS[theme]) + 2
        assert re.search(rf"\.fill-seat1[,{{][^}}]*fill:{FILLS[theme]['seat1']}}}", style)
        assert f"--seat1:{FILLS[theme]['seat1']};" in page_style()
    assert re.search(r"\.fill-seat1[,{][^}]*fill:var\(--seat1\)}", page_style())
    variables = set(re.findall(r"var\(--([a-z0-9-]+)\)", page_style()))
    assert variables <= set(re.findall(r"--([a-z0-9-]+):#", page_style()))
    assert page_style().index("prefers-color-scheme:dark") < page_style().index("[data-theme=dark]")
    assert all(line.startswith("@media screen") for line in page_style().splitlines() if "theme" in line)
