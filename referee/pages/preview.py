"""The picture that previews of links show for a page: its title and its answer in large letters. Pure."""

from __future__ import annotations

import base64
import textwrap

from referee.core.text import shown
from referee.viewing.svg_elements import escaped

WIDTH, HEIGHT = 1200, 630

_LINES = {"title": (25, 2, 76, 84), "text": (54, 6, 38, 54)}
"""How many characters a line has at most, how many lines there are, the size of letters and of lines."""


def preview_image(title: str, text: str) -> str:
    """A page's picture as the address of an SVG that is in it."""
    y = 60
    parts = []
    for name, words in (("title", title), ("text", text)):
        most, lines, size, step = _LINES[name]
        for line in textwrap.wrap(shown(words, 1000), most, max_lines=lines, placeholder=" …"):
            y += step
            parts.append(f'<text class="{name}" x="80" y="{y}" font-size="{size}">{escaped(line)}</text>')
        y += 20
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" font-family="system-ui,sans-serif" fill="#1d1c1a">'
        "<style>.title{font-weight:800}.text{fill:#5e6058}</style>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fbfaf7"/><rect width="24" height="{HEIGHT}"'
        f' fill="#17694a"/>{"".join(parts)}</svg>'
    )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
