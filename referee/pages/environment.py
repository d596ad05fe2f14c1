"""How a page is made: templates that escape whatever they show, and a policy that lets nothing else run.

A page is a template in `templates/` that extends `base.html` and fills its blocks `main` and, where they
are needed, `top` (beside the heading) and `data` (what the script reads). `page` renders it:

    page("report.html", title="Spring", styles=[static("report.css")], scripts=[static("report.js")], run=run)

`styles` and `scripts` are texts of CSS and JavaScript, which become the page's one stylesheet and its one
script at the end; `base.css` and `theme.js` come first by themselves. The page's content security policy
names both by their hash. So no other script runs, attributes such as `onclick` and `style` have no effect,
and nothing is loaded from anywhere; scripts may still set `element.style`.

In templates everything is escaped. Text from a record, a file or a user passes the filter `shown` besides
(`{{ name|shown }}`), which cuts it and makes control characters visible. Data for a script is
`<script type="application/json" id="game">{{ data|tojson }}</script>`, where nothing can end the element. A
variable that is not given is an error.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

import referee
from referee.core.text import counted, shown
from referee.core.units import about, about_seconds, seconds
from referee.viewing.palette import page_style

PAGE_START = "<!doctype html>"  # how every page begins


def page(
    template: str,
    *,
    title: str,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    connects: bool = False,
    description: str = "",
    **values: object,
) -> str:
    """A whole page as HTML. `connects` allows its script to ask the server that the page came from;
    `description` is what previews of links show below the title.
    """
    style = "\n".join([static("base.css"), *styles])
    script = "\n".join([static("theme.js"), *scripts])
    return (
        _environment()
        .get_template(template)
        .render(
            values,
            title=title,
            description=description,
            style=_inline(style),
            script=_inline(script),
            policy=policy(style, script, connects),
            version=referee.__version__,
        )
    )


def policy(style: str, script: str, connects: bool = False) -> str:
    """The content security policy of a page with this stylesheet and this script."""
    rules = [
        "default-src 'none'",
        f"script-src '{_digest(script)}'",  # guard: page-scripts
        f"style-src '{_digest(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if connects else rules)


def replay_scripts(in_pairs: bool) -> list[str]:
    """The scripts of a page that replays games, and of one that shows two beside each other."""
    names = ["replay_motion.js", "game_parts.js", "replay_parts.js", "replay_graph.js", "replay_board.js"]
    return [static(name) for name in [*names, *["replay_pair.js"] * in_pairs, "replay.js"]]


def replay_styles(in_pairs: bool) -> list[str]:
    """The stylesheets of the same pages."""
    names = ["game_parts.css", "replay.css", *["replay_pair.css"] * in_pairs]
    return [page_style(), *map(static, names)]


_LEFT_OUT = re.compile(r"^[ \t]*(/\*.*?\*/[ \t]*\n|//.*?\n|\n)|^[ \t]+", re.MULTILINE | re.DOTALL)
"""Whole lines of comments, empty lines, and indentation: no text in the files has several lines."""


@cache
def static(name: str) -> str:
    """The text of a file in `static/`, without whole lines of comments, indentation and, in stylesheets, all
    comments and needless blanks.
    """
    text = (resources.files("referee.pages") / "static" / name).read_text("utf-8")
    text = _LEFT_OUT.sub("", text)
    if not name.endswith(".css"):
        return text
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"(?<=[{};,])\s+|\s+(?=[{}])|(?<=:) ", "", text)


def _unbroken(text: str) -> Markup:
    """A sentence whose numbers stay on one line with their percent signs, and whose intervals do."""
    return Markup(str(escape(text)).replace(" %", "&nbsp;%").replace("…", "…&NoBreak;"))


def _breakable(text: str) -> Markup:
    """The id of a game, which may be broken into lines after its section and between the bots."""
    return Markup(re.sub("([/:])", r"\1<wbr>", str(escape(text))))


def _inline(text: str) -> Markup:
    """The text of a stylesheet or script as it stands in its element, where nothing is escaped. Raises
    `ValueError` where a browser would take something in it for the element's end.
    """
    if "</" in text or "<!--" in text:
        raise ValueError("`</` or `<!--` in a stylesheet or script")
    return Markup(text)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("referee.pages"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.autoescape = True  # guard: page-escaping
    environment.filters.update(
        shown=shown,
        breakable=_breakable,
        unbroken=_unbroken,
        about=about,
        about_seconds=about_seconds,
        seconds=seconds,
        counted=counted,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment
