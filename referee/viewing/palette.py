"""The colours of paints in terminals and drawings, which colour-blind people can tell apart too. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from referee.games.picture import Paint

INKS: dict[Paint, str] = {
    "faint": "bright_black",
    "seat1": "bright_red",
    "seat2": "bright_blue",
    "seat3": "bright_green",
    "seat4": "bright_yellow",
    "seat1-second": "bright_yellow",
    "seat2-second": "bright_cyan",
    "orange": "yellow",
    "vine": "green",
    "flower": "bright_magenta",
    "dead": "bright_black",
    "gone": "bright_black",
}
"""Colours of a terminal by paint; what is not here has the terminal's own. None is white or black, which
could be the colour behind it.
"""

Theme = Literal["light", "dark"]

THEMES: tuple[Theme, ...] = get_args(Theme)

PAGE = "page"
"""The name of the colour behind a picture."""

_INK = "ink"
"""The name of ordinary ink in style sheets."""

FILLS: dict[Theme, dict[str, str]] = {
    "light": {
        PAGE: "#ffffff",
        _INK: "#1d1c1a",
        "faint": "#6b6760",
        "board": "#faf7f0",
        "edge": "#8a8378",
        "tile": "#fdf6e3",
        "seat1": "#a82a18",
        "seat1-second": "#c37f01",
        "seat2": "#1a3580",
        "seat2-second": "#3196c3",
        "seat3": "#0c9c68",
        "seat4": "#b84ad0",
        "white": "#ffffff",
        "orange": "#d06f00",
        "vine": "#2e7d32",
        "flower": "#9c0f72",
        "dead": "#938a7c",
        "fresh": "#111111",
        "gone": "#5c5850",
    },
    "dark": {
        PAGE: "#14171c",
        _INK: "#ebe9e4",
        "faint": "#a5a19a",
        "board": "#21252c",
        "edge": "#858c99",
        "tile": "#2e2a22",
        "seat1": "#e0503c",
        "seat1-second": "#fecd1a",
        "seat2": "#2b7cea",
        "seat2-second": "#89eefe",
        "seat3": "#49efb2",
        "seat4": "#b07aa6",
        "white": "#f7f7f5",
        "orange": "#ea8a1e",
        "vine": "#5fbf63",
        "flower": "#f07cc0",
        "dead": "#7d756c",
        "fresh": "#ffffff",
        "gone": "#c9c5bd",
    },
}
"""The colours of shapes and lines, by paint. Those of the seats differ in lightness as well as in hue."""

TEXTS: dict[Theme, dict[str, str]] = {
    "light": {
        "board": "#6b6760",
        "tile": "#6b6760",
        "edge": "#6b6760",
        "seat1-second": "#875700",
        "seat2-second": "#1a6d95",
        "seat3": "#08754d",
        "white": "#55524c",
        "seat4": "#9c33b3",
        "orange": "#9a5200",
        "dead": "#6f665d",
        PAGE: "#6b6760",
    },
    "dark": {
        "board": "#a5a19a",
        "tile": "#a5a19a",
        "edge": "#a5a19a",
        "seat1": "#f0705c",
        "seat2": "#6aa5f5",
        "seat4": "#c796be",
        "dead": "#a69d93",
        PAGE: "#a5a19a",
    },
}
"""The colours of texts where those of shapes have too little contrast."""

FONTS = '"DejaVu Sans Mono",Menlo,Consolas,"Liberation Mono",monospace'


def text_colour(paint: str, theme: Theme) -> str:
    """The colour of a text in a paint on the page, a board or a tile."""
    return TEXTS[theme].get(paint) or FILLS[theme][paint]


def over_colour(paint: str, theme: Theme) -> str:
    """The colour of a text on a shape in a paint: black or white, of which one has enough contrast to any."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, FILLS[theme][paint]))


def contrast(one: str, other: str) -> float:
    """The ratio of the lightness of two colours as WCAG defines it, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def file_style(theme: Theme) -> str:
    """The style sheet of a file with a picture: colours as plain values, which any program understands."""
    return "".join(_rules(dict(_values(theme))))


def page_style() -> str:
    """The style sheet of pages with pictures. The attribute `data-theme` of `<html>` chooses the theme,
    without it the reader's settings do; on paper it is the light one. The colours are variables, such as
    `--seat1`, `--seat1-text` and `--seat1-over`.
    """
    light, dark = (
        f"color-scheme:{theme};{''.join(f'--{name}:{value};' for name, value in _values(theme))}"
        for theme in THEMES
    )
    variables = {name: f"var(--{name})" for name, _ in _values("light")}
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        f"{''.join(_rules(variables))}"
    )


def _values(theme: Theme) -> Iterator[tuple[str, str]]:
    for paint, colour in FILLS[theme].items():
        yield paint, colour
        yield f"{paint}-text", text_colour(paint, theme)
        yield f"{paint}-over", over_colour(paint, theme)


def _rules(values: dict[str, str]) -> Iterator[str]:
    """Returns the rules for the classes of pictures. No selector names a parent, since within `<use>` there
    is none.
    """
    yield f".picture{{font-family:{FONTS}}}\n"
    for paint in FILLS["light"]:
        yield (
            f".fill-{paint}{{fill:{values[paint]}}}.line-{paint}{{stroke:{values[paint]}}}"
            f".text-{paint}{{fill:{values[f'{paint}-text']}}}.over-{paint}{{fill:{values[f'{paint}-over']}}}\n"
        )


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
