"""Lines and histograms as SVG, in the colours of the page: its stylesheet has their classes; and the scales
on which values lie, with the round values that are labelled. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from referee.core.text import counted, signed, true_minus
from referee.viewing.svg_elements import escaped

SCALE_WIDTH = 240  # the usual length of a scale, in the units of the drawing

MAX_TICKS = 6  # so many values are labelled at most

NEGLIGIBLE = 1e-6  # values that differ by no more lie in one place: labels are rounded


@dataclass(frozen=True)
class Scale:
    """A scale from its low to its high end."""

    low: float
    high: float
    is_logarithmic: bool = False
    length: int = SCALE_WIDTH  # in the units of the drawing

    @classmethod
    def over(cls, values: Iterable[float], is_logarithmic: bool = False, length: int = SCALE_WIDTH) -> Scale:
        """The scale that all these values lie on, with a little space around them. On a logarithmic scale
        what is less than 1 counts as 1.
        """
        found = [max(1.0, value) if is_logarithmic else value for value in values] or [1.0]
        low, high = min(found), max(found)
        if is_logarithmic:
            return cls(low / 1.3, high * 1.3, True, length)
        space = 0.05 * (high - low) if high - low > NEGLIGIBLE else 1.0
        return cls(low - space, high + space, length=length)

    def at(self, value: float) -> float:
        """Maps a value to its position, from 0 to the length of the scale; values beyond an end are put at
        that end.
        """
        value = min(max(value, self.low), self.high)
        if self.is_logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.length * share, 1)

    @property
    def ticks(self) -> list[float]:
        """The round values on the scale that are labelled."""
        if not self.is_logarithmic:
            return round_values(self.low, self.high, MAX_TICKS)
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        step = max(1, math.ceil((last - first + 1) / MAX_TICKS))
        return [10.0**power for power in range(first, last + 1, step)]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, … and their tenths that is not below this."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def round_values(low: float, high: float, most: int) -> list[float]:
    """The multiples of a round step between two ends, at most this many."""
    step = round_step((high - low) / most)
    return [round(number * step, 9) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def bins(low: int, high: int, most: int) -> list[tuple[int, int]]:
    """Ranges of whole numbers of equal, round length that cover all from `low` to `high`: the first number of
    each, and the first one after it.
    """
    step = math.ceil(round_step(max(1.0, (high + 1 - low) / most)))
    ends = range(low // step * step, high + step + 1, step)
    return [(begin, end) for begin, end in pairwise(ends) if begin <= high]


WIDTH, HEIGHT = 760, 300

LEFT, TOP, RIGHT, BOTTOM = 68, 8, 8, 46  # the space round the plot: for the labels and titles of the axes

PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

MAX_BINS = 30  # so many bars a histogram has at most

LABEL_CAPS = 8  # so many values of an axis are labelled at most

SERIES = 8  # so many lines the stylesheet of reports tells apart


class ChartLine(NamedTuple):
    """A line of a chart."""

    name: str
    points: Sequence[tuple[int, float]]
    texts: Sequence[str] = ()  # what each point says; empty for its value after so many games


def histogram(key: str, title: str, description: str, counts: Mapping[int, int], axis: str) -> Markup:
    """Draws how often each of some whole numbers occurs, as bars. `key` tells the chart apart on its page,
    `axis` says what the numbers are.
    """
    ranges = bins(min(counts), max(counts), MAX_BINS)
    heights = [
        sum(count for number, count in counts.items() if begin <= number < end) for begin, end in ranges
    ]
    low, high = ranges[0][0], ranges[-1][1]
    plot = _Plot(
        Scale.over((low - 0.5, high - 0.5), length=PLOT_WIDTH),
        Scale(0, max(heights), length=PLOT_HEIGHT),
    )
    bars = []
    for (begin, end), height in zip(ranges, heights, strict=True):
        (left, top), (right, bottom) = plot.at(begin - 0.5, height), plot.at(end - 0.5, 0)
        numbers = f"{begin}" if end == begin + 1 else f"{begin} to {end - 1}"
        bars.append(
            f'<rect class="rect" x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}">'
            f"<title>{escaped(f'{numbers} {axis}: {height:,}')}</title></rect>"
        )
    axes = plot.axes((axis, "games"), _whole(low, high), _whole(0, max(heights)))
    return _svg(key, title, description, [*axes, *bars])


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
    points = [point for line in (*drawn, *(between or ())) for point in line.points]
    last = max(number for number, _ in points)
    low, high = min(value for _, value in points) - 1, max(value for _, value in points) + 1
    plot = _Plot(Scale.over((0, last), length=PLOT_WIDTH), Scale.over((low, high), length=PLOT_HEIGHT))
    elements = [*plot.axes(axes, round_values(0, last, LABEL_CAPS), round_values(low, high, LABEL_CAPS))]
    for number, line in enumerate(drawn):
        dots = ""
        texts = line.texts or [f"{signed(value)} after {counted(at, 'game')}" for at, value in line.points]
        for (at, value), said in zip(line.points, texts, strict=True):
            x, y = plot.at(at, value)
            text = f"{line.name}: {said}"
            dots += (
                f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="2.5"><title>{escaped(text)}</title></circle>'
            )
        elements.append(f'<g class="serie-{number}">{plot.path(line.points)}{dots}</g>')
    elements += [f'<g class="interval">{plot.path(line.points)}</g>' for line in between or ()]
    return _svg(key, title, description, elements)


def evidence(key: str, llr: Sequence[float], bounds: tuple[float, float], elo0: str, elo1: str) -> Markup:
    """The evidence of a sequential test after each pair, between the bounds at which it ends; `elo0` and
    `elo1` are the differences that it compares.
    """
    low, high = bounds
    plot = _Plot(
        Scale(0, max(1, len(llr)), length=PLOT_WIDTH),
        Scale(min(low, *llr) - 0.5, max(high, *llr) + 0.5, length=PLOT_HEIGHT),
    )
    _, top = plot.at(0, high)
    _, bottom = plot.at(0, low)
    x, y = plot.at(len(llr), llr[-1])
    last = true_minus(f"{llr[-1]:+.2f}")
    elements = [
        *plot.axes(("pairs", "log-likelihood ratio"), _whole(0, len(llr)), [-2.0, 0.0, 2.0]),
        f'<path class="bound-high" d="M0 {top:g}h{PLOT_WIDTH}"/>',
        f'<path class="bound-low" d="M0 {bottom:g}h{PLOT_WIDTH}"/>',
        f'<text class="high" x="8" y="{top - 6:g}">{f"{elo1} Elo: {high:+.2f}"}</text>',
        f'<text class="low" x="8" y="{bottom + 16:g}">{true_minus(f"{elo0} Elo: {low:+.2f}")}</text>',
        f'<g class="llr">{plot.path([(0, 0.0), *enumerate(llr, 1)])}</g>',
        f'<circle class="llr-end" cx="{x:g}" cy="{y:g}" r="5"/>',
        f'<text class="end strong" x="{x - 10:g}" y="{y + 22:g}">{last}</text>',
    ]
    description = f"{last} after {counted(len(llr), 'pair')}"
    return _svg(key, "The evidence, pair by pair", description, elements)


class _Plot(NamedTuple):
    """Where values lie in the drawing."""

    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a point, from the left and from the top."""
        return self.x.at(x), PLOT_HEIGHT - self.y.at(y)

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        places = (self.at(*point) for point in points)
        return f'<path class="line" d="M{" ".join(f"{x:g} {y:g}" for x, y in places)}"/>'

    def axes(
        self, titles: tuple[str, str], x_values: Iterable[float], y_values: Iterable[float]
    ) -> Iterable[str]:
        """The axes with their titles, and with labels at those of the values that lie on them."""
        yield f'<path class="guide" d="M0 0v{PLOT_HEIGHT}"/>'
        for value in y_values:
            _, y = self.at(0, value)
            yield f'<path class="{"guide" if value else "zero"}" d="M0 {y:g}h{PLOT_WIDTH}"/>'
            yield f'<text class="end" x="-6" y="{y + 4.5:g}">{_label(value)}</text>'
        for value in x_values:
            if self.x.low <= value <= self.x.high:
                x = f"{self.x.at(value):g}"
                yield f'<text class="middle" x="{x}" y="{PLOT_HEIGHT + 18}">{_label(value)}</text>'
        below, beside = map(escaped, titles)
        yield f'<text class="middle" x="{PLOT_WIDTH // 2}" y="{PLOT_HEIGHT + 41}">{below}</text>'
        yield f'<text class="middle" transform="translate(-54 {PLOT_HEIGHT // 2})rotate(-90)">{beside}</text>'


def _whole(low: float, high: float) -> list[float]:
    """Round whole numbers between two ends, to be labelled."""
    return [value for value in round_values(low, high, LABEL_CAPS) if value == int(value)]


def _label(value: float) -> str:
    return true_minus(f"{value:,g}")


def _svg(key: str, title: str, description: str, elements: Iterable[str]) -> Markup:
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-labelledby="{key}-title {key}-desc">'
        f'<title id="{key}-title">{escaped(title)}</title><desc id="{key}-desc">{escaped(description)}</desc>'
        f'<g transform="translate({LEFT} {TOP})">{"".join(elements)}</g></svg>'
    )
