"""What notebooks show: tables, and pages within the page."""

from __future__ import annotations

from html import escape

_STYLE = """\
<style>
div.referee table{margin:.4em 0;border-collapse:collapse;font-variant-numeric:tabular-nums}
div.referee table th,div.referee table td{padding:.25em .8em;white-space:nowrap}
div.referee :is(th,td):not([style]){text-align:left!important}
div.referee table th{border-bottom:1px solid currentColor}
.referee h3{margin:.9em 0 .2em;font-size:1em}
.referee p{margin:.15em 0;font-size:.9em;opacity:.8}
</style>
"""

_THEMES = """\
<style>
.referee-page{display:block;width:100%;border:0}
[data-jp-theme-light=true] .referee-page{color-scheme:light}
[data-jp-theme-light=false] .referee-page,.vscode-dark .referee-page{color-scheme:dark}
</style>
"""
"""Pages take the theme of the notebook, which may be another one than the reader's settings say."""

_HEIGHT = 620  # of a page within a page, in pixels: a board with what stands beside it


def as_html(tables: str) -> str:
    """Tables that are HTML already, in which all texts are escaped, with a style sheet of their own."""
    return f'{_STYLE}<div class="referee">\n{tables}\n</div>'


def framed(page: str, title: str) -> str:
    """A whole page within another one, apart from it: its script runs, and can reach nothing outside."""
    return (
        f'{_THEMES}<iframe class="referee-page" sandbox="allow-scripts" title="{escape(title)}"'
        f' height="{_HEIGHT}" srcdoc="{escape(page)}"></iframe>'
    )
