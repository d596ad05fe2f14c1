"""The page that replays one game."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup

from referee.core.text import shown
from referee.pages.environment import page, replay_scripts, static
from referee.pages.game_data import game_data
from referee.viewing.knowledge import View
from referee.viewing.palette import page_style
from referee.viewing.steps import Steps
from referee.viewing.words import event_text

_MINUTE = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)", re.ASCII)
"""The beginning of a moment as records have it: up to the minute."""


def replay_page(steps: Steps, view: View = None, home: str = "") -> str:
    """The page of a game as HTML; with a seat, it holds only what that seat knew. It leads back to the
    address `home`, if there is one.
    """
    data = game_data(steps, () if view is None else (view,), with_texts=True)
    terms = steps.terms
    bots = terms.bots
    known = steps.known_by(view)
    events = (event for step in steps.steps for event in known.events(step.events))
    return page(
        "replay.html",
        title=f"{' – '.join(bots)}, {terms.game.name}",
        description=data.value["result"],
        styles=[page_style(), static("replay.css")],
        scripts=replay_scripts(),
        home=home,
        bots=bots,
        result=data.value["result"],
        damage=data.value["damage"],
        facts=list(_facts(steps, view)),
        # The renderer has escaped these.
        box=data.value["views"][0]["box"],
        final=Markup(data.drawn()),
        rows=[(box, Markup(inside)) for box, inside in data.drawn_rows()],
        symbols=Markup("".join(data.symbols.values())),
        lines=[event_text(event, bots, terms.controls) for event in events],
        data=data.packed(),
    )


def _facts(steps: Steps, view: View) -> Iterator[str]:
    """Lists the facts below the result."""
    terms = steps.terms
    options = ", ".join(f"{name} {value}" for name, value in terms.options.items() if value != "")
    yield f"{terms.game.name} ({shown(options)})" if options else terms.game.name
    yield f"game {shown(terms.id)}"
    if found := _MINUTE.match(str(steps.record.measured.get("began"))):
        yield f"{found[1]} {found[2]} UTC"
    if steps.record.rules != terms.game.rules:
        yield f"played with version {steps.record.rules} of the rules, shown with version {terms.game.rules}"
    if view is not None:
        yield f"as seat {view + 1} knew it"
