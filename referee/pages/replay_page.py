"""The replay of a game as a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from referee.analysis.store import GameAnalysis
from referee.core.text import shown, without_folders
from referee.pages.environment import page, replay_scripts, replay_styles
from referee.pages.game_analysis import NO_ANALYSES, Analyses
from referee.pages.game_data import game_data
from referee.viewing.knowledge import View, view_text
from referee.viewing.steps import Steps
from referee.viewing.words import event_text

_MINUTE = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)", re.ASCII)
"""The beginning of a moment as records have it: up to the minute."""


@dataclass(frozen=True, slots=True)
class _ShownGame:
    """A game as the template shows it. The renderer has escaped what is drawn."""

    bots: tuple[str, ...]
    result: str
    damage: str | None
    facts: list[str]
    box: str
    final: Markup
    rows: list[tuple[str, Markup]]
    lines: list[str]
    data: str
    symbols: dict[str, str]


def replay_page(
    steps: Steps,
    view: View = None,
    home: str = "",
    beside: Steps | None = None,
    analyses: Analyses = NO_ANALYSES,
) -> str:
    """The page of a game as HTML; with a seat, it holds only what that seat knew. It leads back to the
    address `home`, if there is one. `beside` is a second game, which is shown beside it, in step. `analyses`
    has those of the games of their run.
    """
    games = [_shown_game(each, view, analyses.get(each.terms.id)) for each in (steps, beside) if each]
    names = [" – ".join(game.bots) for game in games]
    return page(
        "replay.html",
        title=f"{' beside '.join(names)}, {steps.terms.game.name}",
        description=games[0].result,
        styles=replay_styles(in_pairs=beside is not None),
        scripts=replay_scripts(in_pairs=beside is not None),
        home=home,
        games=games,
        symbols=Markup("".join({id: text for game in games for id, text in game.symbols.items()}.values())),
    )


def _shown_game(steps: Steps, view: View, analysis: GameAnalysis | None) -> _ShownGame:
    data = game_data(steps, () if view is None else (view,), with_texts=True, analysis=analysis)
    terms = steps.terms
    known = steps.known_by(view)
    events = (event for step in steps.steps for event in known.events(step.events))
    return _ShownGame(
        terms.bots,
        data.value["result"],
        data.value["damage"],
        list(_facts(steps, view)),
        data.value["views"][0]["box"],
        Markup(data.drawn()),
        [(box, Markup(inside)) for box, inside in data.drawn_rows()],
        [without_folders(event_text(event, terms.bots, terms.controls)) for event in events],
        data.packed(),
        data.symbols,
    )


def _facts(steps: Steps, view: View) -> Iterator[str]:
    terms = steps.terms
    options = ", ".join(f"{name} {value}" for name, value in terms.options.items() if value != "")
    aim = terms.game.aim(terms.options)
    yield f"{terms.game.name}{f' ({shown(options)})' * bool(options)}{f': {shown(aim)}' * bool(aim)}"
    yield f"game {shown(terms.id)}"
    if found := _MINUTE.match(str(steps.record.measured.get("began"))):
        yield f"{found[1]} {found[2]} UTC"
    if steps.record.rules != terms.game.rules:
        yield f"played with version {steps.record.rules} of the rules, shown with version {terms.game.rules}"
    if view is not None:
        yield f"as {view_text(view)} knew it"
