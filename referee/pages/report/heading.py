"""The heading of a report: its title, and the facts about how the tournament was played."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from referee.core.errors import UsageError
from referee.core.text import counted, listed, shown
from referee.core.this_machine import ThisMachine
from referee.games import game_named
from referee.pages.report.games import MADE_BY
from referee.pages.report.tables import NO_GAMES
from referee.ratings.columns import test_text
from referee.ratings.standings import Standings
from referee.records.header import SectionGame
from referee.records.record import Summary
from referee.tournament.run.lock import is_locked
from referee.tournament.run.reading import Runs
from referee.tournament.run.remaining import games_in_all, stopped
from referee.tournament.run.run import Run

MANY_CLOCKS = 4  # with more different clocks, they are counted in the heading

MANY_MACHINES = 8  # with more machines, those that played the fewest games are not named in the heading

HeadingFact = tuple[str, str]  # the name of a fact, and the fact


def title_of(runs: Runs, whole: Standings, games: Sequence[Summary]) -> str:
    """The title of a report."""
    played = listed(sorted({_game_name(game.game) for game in games})) or NO_GAMES
    named = {run.format.title for run in runs.runs if run.format and run.format.title}
    what = ", ".join([played, *sorted(named)])
    return f"{what}: {counted(len(whole.names), 'bot')}, {counted(len(games), 'game')}"


def heading(runs: Runs, clocks: Collection[str], began: Sequence[str]) -> Iterator[HeadingFact]:
    """Describes what was played, by how many bots, with which clocks, and when: `began` has the moments at
    which the first and the last game began, and is empty where there are none.
    """
    for run in runs.runs:
        several = f" in {shown(run.folder.name, 80)}" if len(runs.runs) > 1 else ""
        for section, played in run.header.sections.items():
            yield f"{shown(section, 80) or 'game'}{several}", _game_text(played)
        yield f"format{several}", _format_text(run)
        yield f"games{several}", _games_text(run)
        if remaining := stopped(run, run.is_open):
            for test in remaining.tests:
                section = f"{shown(test.section, 80)}: " if test.section else ""
                yield f"SPRT{several}", section + test_text(test)
            if remaining.decision and not remaining.tests:
                yield f"stopped{several}", remaining.decision
    yield "bots", f"{len(runs.names):,}"
    if clocks:
        few = len(clocks) <= MANY_CLOCKS
        yield "clocks", listed(sorted(clocks)) if few else f"{len(clocks)} different ones"
    if began:
        first, last = (f"{moment.replace('T', ' ')} UTC" for moment in began)
        yield "played", first if first == last else f"{first} to {last}"


def machines(games: Mapping[ThisMachine, int]) -> Iterator[HeadingFact]:
    """Describes where how many games were played, if several machines played."""
    if len(games) > 1:
        most_first = sorted(games, key=lambda machine: -games[machine])
        texts = [
            f"{one.name} ({one.cpu}) {counted(games[one], 'game')}" for one in most_first[:MANY_MACHINES]
        ]
        if elsewhere := sum(games[machine] for machine in most_first[MANY_MACHINES:]):
            texts.append(f"{counted(elsewhere, 'game')} elsewhere")
        yield "played on", f"{counted(len(games), 'machine')}: {'; '.join(texts)}"


def made_by(found: Mapping[str, Collection[str]]) -> Iterator[HeadingFact]:
    """Names the software that played the games, as far as records have it."""
    for name, what in zip(MADE_BY, ("referee", "Python", "machine"), strict=True):
        if found[name]:
            yield what, ", ".join(sorted(found[name]))


def hashes(runs: Runs) -> Iterator[HeadingFact]:
    """The head hashes of the runs."""
    for run in runs.runs:
        yield "head hash", run.last_hash


def _game_name(slug: str) -> str:
    """The name of a game for people; its short name where the game is not known."""
    try:
        return game_named(slug).name
    except UsageError:
        return slug


def _game_text(played: SectionGame) -> str:
    settings = [f"{name} {value}" for name, value in played.options.items() if value != ""]
    return shown(" · ".join([_game_name(played.game), *settings, *_aim(played)]), 300)


def _aim(played: SectionGame) -> list[str]:
    """What decides who wins; nothing where the game is not known."""
    try:
        game = game_named(played.game)
        return [aim] if (aim := game.aim(game.settle(played.settings))) else []
    except UsageError:
        return []


def _format_text(run: Run) -> str:
    form = run.format
    return form.description if form else shown(run.header.format_name, 80)


def _games_text(run: Run) -> str:
    in_all = games_in_all(run)
    text = f"{len(run.games):,}"
    if in_all is not None and in_all.games != len(run.games):
        text += f" of {'' if in_all.is_exact else 'at most '}{in_all.games:,}"
    if run.annulled:
        text += f", and {len(run.annulled)} annulled"
    if run.voids:
        text += f"; {counted(len(run.voids), 'attempt')} became void"
    if is_locked(run.folder):
        text += "; a referee is running"
    return text
