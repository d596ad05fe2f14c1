"""Charts of reports as SVG: drawn by pygal, without its scripts and styles, so that a page's own apply."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pygal  # type: ignore[import-untyped]
from markupsafe import Markup
from pygal.style import Style  # type: ignore[import-untyped]

from referee.pages.report.scales import bins, round_values

WIDTH, HEIGHT = 760, 300
TEXT_SIZE = 13
"""The size of the labels, in the units of the drawing; the stylesheet of reports has the same."""

MAX_BINS = 30
"""So many bars a histogram has at most."""

MAX_LABELS = 8
"""So many values of an axis are labelled at most."""

SERIES = 8
"""So many lines the stylesheet of reports tells apart."""


class ChartLine(NamedTuple):
    """A line of a chart."""

    name: str
    points: Sequence[tuple[int, float]]


def histogram(key: str, title: str, description: str, counts: Mapping[int, int], axis: str) -> Markup:
    """How often each of some whole numbers occurs, as bars. `key` tells the chart apart on its page, `axis`
    says what the numbers are.
    """
    ranges = bins(min(counts), max(counts), MAX_BINS)
    heights = [
        sum(count for number, count in counts.items() if begin <= number < end) for begin, end in ranges
    ]
    chart = pygal.Histogram(x_title=axis, y_title="games", **_SETTINGS)
    chart.x_labels = round_values(ranges[0][0], ranges[-1][1], MAX_LABELS)
    chart.x_value_formatter = lambda value: f"{value:g}"
    chart.y_labels = _whole_labels(max(heights))
    chart.value_formatter = lambda value: f"{value:g}"
    texts = [f"{begin}" if end == begin + 1 else f"{begin} to {end - 1}" for begin, end in ranges]
    chart.add(
        title,
        [
            {
                "value": (height, ends[0] - 0.5, ends[1] - 0.5),
                "formatter": lambda value, text=text: f"{text} {axis}: {value[0]}",
            }
            for height, ends, text in zip(heights, ranges, texts, strict=True)
        ],
    )
    return _svg(chart, key, title, description)


def lines(
    key: str,
    title: str,
    description: str,
    drawn: Sequence[ChartLine],
    between: tuple[ChartLine, ChartLine] | None,
    axes: tuple[str, str],
) -> Markup:
    """Lines over a common axis of whole numbers; `between` are two lines that bound an interval of the first
    one. `axes` says what the horizontal and the vertical axis have.
    """
    chart = pygal.XY(x_title=axes[0], y_title=axes[1], dots_size=2.5, **_SETTINGS)
    shown = [*drawn, *(between or ())]
    numbers = [number for line in shown for number, _ in line.points]
    values = [value for line in shown for _, value in line.points]
    chart.x_labels = round_values(0, max(numbers), MAX_LABELS)
    chart.x_value_formatter = lambda value: f"{value:g}"
    chart.y_labels = round_values(min(values) - 1, max(values) + 1, MAX_LABELS)
    chart.value_formatter = lambda value: f"{value:g}"
    for line in drawn:
        chart.add(
            line.name,
            [
                {
                    "value": (number, value),
                    "formatter": lambda at, line=line: f"{line.name}: {at[1]:+.0f} after {at[0]}",
                }
                for number, value in line.points
            ],
        )
    for line in between or ():
        chart.add(line.name, list(line.points), show_dots=False)
    return _svg(chart, key, title, description, len(drawn))


def _whole_labels(highest: int) -> list[int]:
    """Whole numbers from 0 for a vertical axis."""
    return [int(value) for value in round_values(0, max(highest, 1), MAX_LABELS) if value == int(value)]


_SETTINGS: dict[str, Any] = {
    "width": WIDTH,
    "height": HEIGHT,
    "margin": 4,
    "css": [],
    "js": [],
    "show_legend": False,
    "disable_xml_declaration": True,
    "style": Style(label_font_size=TEXT_SIZE, major_label_font_size=TEXT_SIZE, title_font_size=TEXT_SIZE),
}

_NOT_SHOWN = {"tooltip-overlay", "text-overlay", "background"}
"""The parts of a drawing that only pygal's script fills, and the background, which is that of the page."""


def _svg(chart: Any, key: str, title: str, description: str, thin_from: int = SERIES) -> Markup:
    """The drawing of a chart for a page with a stylesheet for it: without scripts, styles and comments, and
    with the text of each point as its title, which browsers show. Series from the number `thin_from` on have
    the class `interval` in place of their own.
    """
    root = ElementTree.fromstring(chart.render(is_unicode=True))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]  # HTML needs no namespace
        if found := _SERIES.search(element.get("class", "")):
            element.set("class", found[0] if int(found[1]) < thin_from else "interval")
    for parent in list(root.iter()):
        for child in list(parent):
            classes = child.get("class", "").split()
            if child.tag == "desc" and classes == ["value"]:
                child.tag = "title"
                del child.attrib["class"]
            elif child.tag in ("defs", "title", "desc") or not _NOT_SHOWN.isdisjoint(classes):
                parent.remove(child)
    names = {"title": title, "desc": description}
    for number, (tag, text) in enumerate(names.items()):
        named = ElementTree.Element(tag, id=f"{key}-{tag}")
        named.text = text
        root.insert(number, named)
    root.attrib = {
        "class": "chart",
        "viewBox": f"0 0 {WIDTH} {HEIGHT}",
        "role": "img",
        "aria-labelledby": " ".join(f"{key}-{tag}" for tag in names),
    }
    return Markup(_LONG_FRACTION.sub(r"\1", ElementTree.tostring(root, encoding="unicode")))


_SERIES = re.compile(r"serie-(\d+)")
"""The class that pygal gives to everything of a series, with its number."""

_LONG_FRACTION = re.compile(r"(\d+\.\d)\d+")
"""Coordinates with more digits than can be seen."""
