"""The colours of paints in terminals and drawings, which colour-blind people can tell apart too. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from referee.games.picture import SEATS, Paint

INKS: dict[Paint, str] = {
    "faint": "bright_black",
    "seat1": "bright_blue",
    "seat2": "yellow",
    "seat3": "bright_green",
    "seat4": "bright_magenta",
    "seat1-second": "bright_cyan",
    "seat2-second": "bright_yellow",
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

PAGE = "page"  # the name of the colour behind a picture

_INK = "ink"  # the name of ordinary ink in style sheets

FILLS: dict[Theme, dict[str, str]] = {
    "light": {
        PAGE: "#ffffff",
        _INK: "#24221e",
        "faint": "#635e55",
        "board": "#eeeae1",
        "edge": "#7d766a",
        "seat1": "#2b60b4",
        "seat1-second": "#a9cdf5",
        "seat1-edge": "#1d478a",
        "seat1-tint": "#e6eefa",
        "seat2": "#b9520b",
        "seat2-second": "#f9c78a",
        "seat2-edge": "#8f3f06",
        "seat2-tint": "#fceedd",
        "seat3": "#29a370",
        "seat3-edge": "#145c39",
        "seat3-tint": "#dcf1e5",
        "seat4": "#923f76",
        "seat4-edge": "#742a5d",
        "seat4-tint": "#f8e4f0",
        "white": "#ffffff",
        "white-edge": "#5d6f8c",
        "white-tint": "#e3e9f2",
        "orange": "#ee9a3d",
        "orange-edge": "#a84a08",
        "orange-tint": "#fbe4c8",
        "vine": "#2c6a33",
        "flower": "#960d6e",
        "violet": "#6a55b8",
        "sun": "#b07800",
        "water": "#2f7fb8",
        "dead": "#878074",
        "tile": "#fbf3df",
        "wood": "#40301a",
        "added": "#338d3b",
        "back": "#8a6a45",
        "fresh": "#24221e",
        "gone": "#635e55",
    },
    "dark": {
        PAGE: "#1b1e23",
        _INK: "#efece5",
        "faint": "#a6abb3",
        "board": "#2d323a",
        "edge": "#858c99",
        "seat1": "#2f68c2",
        "seat1-second": "#b3d3f8",
        "seat1-edge": "#86b6f5",
        "seat1-tint": "#22314a",
        "seat2": "#b95610",
        "seat2-second": "#facd96",
        "seat2-edge": "#f5a85c",
        "seat2-tint": "#40301f",
        "seat3": "#2db487",
        "seat3-edge": "#4fdfae",
        "seat3-tint": "#1d3a31",
        "seat4": "#9e4c83",
        "seat4-edge": "#ee77b6",
        "seat4-tint": "#40263a",
        "white": "#f4f1ea",
        "white-edge": "#c4d0e3",
        "white-tint": "#3b424e",
        "orange": "#ea9538",
        "orange-edge": "#f5a85c",
        "orange-tint": "#4a3620",
        "vine": "#7cc47a",
        "flower": "#fbb3da",
        "violet": "#a99bf0",
        "sun": "#f0c04a",
        "water": "#6fb7ea",
        "dead": "#7a7f88",
        "tile": "#e9dfc8",
        "wood": "#3a2d1a",
        "added": "#338d3b",
        "back": "#a0805a",
        "fresh": "#efece5",
        "gone": "#a6abb3",
    },
}
"""The colours of shapes and lines, by paint. Those of a seat are one hue: strong, light, for outlines, and as
a shade. What is on a tile has nearly the same colour in both themes.
"""

TEXTS: dict[Theme, dict[str, str]] = {
    "light": {
        PAGE: "#635e55",
        "board": "#635e55",
        "edge": "#635e55",
        "seat1": "#2457a6",
        "seat2": "#a84a08",
        "seat3": "#1a7047",
        "seat4": "#863769",
        "white": "#516382",
        "orange": "#a04507",
        "vine": "#2e6b34",
        "flower": "#960d6e",
        "sun": "#7d5500",
        "water": "#23658f",
        "dead": "#635e55",
        "tile": "#635e55",
        "added": "#2a7030",
        "back": "#6e5436",
    },
    "dark": {
        PAGE: "#a6abb3",
        "board": "#a6abb3",
        "edge": "#a6abb3",
        "seat1": "#86b6f5",
        "seat2": "#f5a85c",
        "seat3": "#4fdfae",
        "seat4": "#ee77b6",
        "dead": "#a6abb3",
        "wood": "#d8c6a0",
        "added": "#7cc47a",
        "back": "#c9a880",
    },
}
"""The colours of texts where those of shapes have too little contrast. Texts in any paint of a seat, or of
what is white or orange, have one colour.
"""

FONTS = 'Inter,system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif'
MONOSPACED = '"DejaVu Sans Mono",Menlo,Consolas,"Liberation Mono",monospace'  # for rows that stand in columns


def text_colour(paint: str, theme: Theme) -> str:
    """The colour of a text in a paint on the page or a board."""
    paint = paint.partition("-")[0]
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


def own_style() -> str:
    """The style sheet of a picture that is shown within anything: light, or dark where the surroundings say
    so in CSS, as `color-scheme` or as notebooks do, and what shows it knows that.
    """
    dark = dict(_values("dark"))
    both = {
        name: light if light == dark[name] else f"light-dark({light},{dark[name]})"
        for name, light in _values("light")
    }
    known = "@supports (color:light-dark(#000,#fff))"
    dark_notebook = "[data-jp-theme-light=false] .picture,.vscode-dark .picture{color-scheme:dark}"
    return f"{file_style('light')}{known}{{{dark_notebook}{''.join(_rules(both))}}}"


def page_style() -> str:
    """The style sheet of pages with pictures. The attribute `data-theme` of `<html>` chooses the theme,
    without it the reader's settings do; on paper it is the light one. The colours are variables, such as
    `--seat1`, `--seat1-text` and `--seat1-over`; those that are equal in both themes are one.
    """
    of_dark = dict(_values("dark"))
    both = {name: (light, of_dark[name]) for name, light in _values("light")}
    first: dict[tuple[str, str], str] = {}
    for name, colours in both.items():
        first.setdefault(colours, name)
    used = {name: colours for name, colours in both.items() if first[colours] == name or name in _NAMED}
    light, dark = (
        f"color-scheme:{theme};{''.join(f'--{name}:{colours[number]};' for name, colours in used.items())}"
        for number, theme in enumerate(THEMES)
    )
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        f"{''.join(_rules({name: f'var(--{first[colours]})' for name, colours in both.items()}))}"
    )


_NAMED = (PAGE, *(f"{seat}{kind}" for seat in SEATS for kind in ("", "-text", "-over")))
"""The variables that the style sheets of pages refer to."""


def _values(theme: Theme) -> Iterator[tuple[str, str]]:
    for paint, colour in FILLS[theme].items():
        yield paint, colour
        yield f"{paint}-text", text_colour(paint, theme)
        yield f"{paint}-over", over_colour(paint, theme)


def _rules(values: dict[str, str]) -> Iterator[str]:
    """Returns the rules for the classes of pictures: one for each colour. No selector names a parent, since
    within `<use>` there is none.
    """
    yield f".picture{{font-family:{FONTS};stroke-linecap:round;stroke-linejoin:round}}\n"
    yield f".mono{{font-family:{MONOSPACED}}}\n"
    found: dict[str, list[str]] = {}
    for paint in FILLS["light"]:
        found.setdefault(f"stroke:{values[paint]}", []).append(f".line-{paint}")
        for kind, name in (("fill", paint), ("text", f"{paint}-text"), ("over", f"{paint}-over")):
            found.setdefault(f"fill:{values[name]}", []).append(f".{kind}-{paint}")
    for rule, selectors in found.items():
        yield f"{','.join(selectors)}{{{rule}}}\n"


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
