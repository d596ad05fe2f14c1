"""Collects what the table of a run says besides its games: programs that changed, repeats, the order of its
format.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from referee.core.errors import UsageError
from referee.core.text import shown as as_shown
from referee.ratings.standings import Facts, FormatPlace
from referee.records.record import Summary
from referee.tournament.formats import Format, SectionState
from referee.tournament.run.remaining import stopped
from referee.tournament.run.run_state import RunState


def facts_of(run: RunState, is_open: Callable[[str], bool]) -> Facts:
    """The facts of a run; `is_open` says of an id whether the game is still to be played."""
    header, form = run.header, run.format
    remaining = stopped(run, is_open)
    last_rounds = header.closed.get("rounds") if header.closed and remaining and remaining.closed else None
    found = {
        section: _results(run, section, is_open, None if last_rounds is None else last_rounds.get(section, 0))
        for section in (header.sections if form else ())
    }
    stages = {section: form.stage_of(results) for section, results in found.items()} if form else {}
    return Facts(
        changed={run.amendments.shown(name): when for name, when in header.changed_programs.items()},
        repeats=header.repeats,
        left_out=header.left_out,
        places=_places(form, found, header.bots) if form else {},
        unknown_format="" if form else header.format_name,
        withdrawn={run.amendments.shown(name): what["reason"] for name, what in run.amendments.out.items()},
        tests=remaining.tests if remaining else (),
        closed=remaining.closed if remaining else "",
        points=header.points,
        by_points=header.by_points,
        tables={section: form.tables_of(results) for section, results in found.items()} if form else {},
        stages={section: stage for section, stage in stages.items() if stage},
    )


def _results(
    run: RunState, section: str, is_open: Callable[[str], bool], last_round: int | None
) -> SectionState:
    played = ChainMap(run.annulled, run.games)
    return SectionState(
        played,
        [*run.header.bots],
        run.seats[section],
        section,
        points=run.header.points,
        repeats=run.header.repeats,
        out=lambda: run.amendments.out,
        out_after=run.out_after,
        batches=run.batches,
        without_result=_WithoutResult(played, is_open),
        annulled=run.annulled,
        last_round=last_round,
        shown=run.amendments.shown,
    )


def _places(
    form: Format, found: Mapping[str, SectionState], bots: Collection[str]
) -> dict[str, list[FormatPlace]]:
    """By section, the order of the bots in formats that have one of their own."""
    places: dict[str, list[FormatPlace]] = {}
    for section, results in found.items():
        rows = form.standings(results)
        _check_bots(form.name, [row.bot for row in rows or ()], bots)
        for row in rows or ():
            columns = {
                name: results.shown(str(cell)) if name in form.bot_columns else cell
                for name, cell in row.columns.items()
            }
            places.setdefault(section, []).append((row.rank, results.shown(row.bot), columns))
    return places


def _check_bots(format_name: str, ranked: Sequence[str], bots: Collection[str]) -> None:
    """Raises `UsageError` where the standings of a format name something that is no bot, or a bot twice."""
    for bot, count in Counter(ranked).items():
        if bot not in bots or count > 1:
            wrong = " twice" if bot in bots else ", which is not a bot of this run"
            raise UsageError(
                f"the standings of the format `{format_name}` contain `{as_shown(str(bot), 80)}`"
                f"{wrong}, expected each bot once"
            )


class _WithoutResult:
    """The games that have no result for good, as a container of ids."""

    def __init__(self, games: Mapping[str, Summary], is_open: Callable[[str], bool]) -> None:
        self._games = games
        self._is_open = is_open

    def __contains__(self, game: object) -> bool:
        return isinstance(game, str) and game not in self._games and not self._is_open(game)
