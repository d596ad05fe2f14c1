"""The table of a run in each form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.core.errors import UsageError
from referee.core.rows import Grid
from referee.core.text import WIDTH, counted, shown
from referee.ratings import blocks, grids
from referee.ratings.columns import default_columns, is_measured, standings_grid
from referee.ratings.data import to_csv, to_json
from referee.ratings.format_tables import FORMAT_TABLES
from referee.ratings.notes import NO_ELO, NO_INTERVALS, circumstances, findings, game_line, is_small, meanings
from referee.ratings.standings import Facts, Standings, with_sections
from referee.records.record import Summary

_SEPARATED = {"csv": ",", "tsv": "\t"}
_AGAINST = ("crosstable", "los", "pairs")  # the tables that need bots that play against each other


KNOWN = (*blocks.BLOCKS, *FORMAT_TABLES)  # the names of all tables

NARROWEST = len("  1–0–0")  # the narrowest column of a crosstable

NOTE_LINES = 3  # the number of lines that notes have under a table, where not all are asked for

_RATINGS = ("ranks", "ahead", "elo", "next")

_FOR_COMMANDS = {
    NO_ELO: "; `--notes` shows it anyway",
    NO_INTERVALS: "; `--show sprt` has the differences, corrected for this",
}
"""What notes say besides in the output of a command: what its options show."""


@dataclass(frozen=True)
class TableText:
    """Which parts of a table are shown as text."""

    columns: tuple[str, ...] = ()
    """The columns of the standings, by the names of `COLUMNS`; empty for the default."""
    show: tuple[str, ...] = ()  # the tables, by the names of `KNOWN`; empty for the default
    width: int = WIDTH  # how many characters a line has at most; 0 for any number
    times: bool = False  # whether the table of times is shown too
    notes: bool = False  # whether all notes are shown, and ratings even of few games

    by_command: bool = True
    """Whether a command prints it, whose options can show more; else all notes are shown."""

    @property
    def is_chosen(self) -> bool:
        """Whether the user said what is to be shown."""
        return bool(self.columns or self.show or self.notes)

    @property
    def needs_times(self) -> bool:
        """Whether it shows what only the measurements in the records have."""
        return self.times or "times" in self.show or any(map(is_measured, self.columns))


def parse_show(text: str) -> tuple[str, ...]:
    """The tables of a text such as `standings,los`. Raises `UsageError`."""
    names = tuple(word.strip() for word in text.split(","))
    for name in names:
        if name not in KNOWN:
            raise UsageError(f"there is no table `{shown(name, 40)}`, expected one of {', '.join(KNOWN)}")
    return tuple(dict.fromkeys(names))


def rendered(
    names: Sequence[str],
    games: Sequence[Summary],
    form: str = "simple",
    seats: int = 2,
    view: TableText | None = None,
    facts: Facts | None = None,
) -> str:
    """The complete report of these games, as `csv`, `json` or in a form of tabulate's: of each section, where
    there are several, and of the whole.

    `seats` is their number in a game where there are no games yet. Raises `UsageError` where a form with one
    table is to show several.
    """
    facts = facts or Facts()
    return drawn(*with_sections(names, games, seats, facts), form, view or TableText(), facts)


def drawn(whole: Standings, parts: Sequence[Standings], form: str, view: TableText, facts: Facts) -> str:
    """The complete report of these standings, as `rendered` gives it. Raises what it raises."""
    if form in _SEPARATED and len(view.show) > 1:
        raise UsageError(f"`{form}` can only hold one table, expected one, not {len(view.show)}")
    having = {table.name for tables in facts.tables.values() for table in tables}
    for name in view.show:
        if name in FORMAT_TABLES and name not in having:
            raise UsageError(f"this run has no table `{name}`; {FORMAT_TABLES[name]}")
    if form == "json":
        return to_json(whole, parts, [*findings(whole, facts), *circumstances(whole)], facts)
    if form in _SEPARATED:
        return to_csv(whole, parts, facts, "".join(view.show), _SEPARATED[form])
    if len(whole.games) == 1 and whole.seats > 1 and not view.is_chosen and not view.times:
        lines = [game_line(whole.games[0]), *findings(whole, facts, is_rated=False)]
        return grids.said(
            (line for line in lines if line != NO_ELO), form, grids.limit(form, view.width)
        ).strip()
    return "\n\n".join(
        piece for table in (*parts, whole) for piece in _report(table, view, form, facts, bool(parts))
    )


def _report(table: Standings, view: TableText, form: str, facts: Facts, is_headed: bool) -> Iterator[str]:
    """The tables of a report, which has a heading where there are several; the notes are under the first."""
    width = grids.limit(form, view.width)
    is_rated = view.is_chosen or not is_small(table)
    columns: list[str] = []
    left_out: list[str] = []
    texts: list[str] = []
    shown_blocks = (*(view.show or _default(table, facts, is_rated)), *(("times",) if view.times else ()))
    for name in dict.fromkeys(shown_blocks):
        if name in _AGAINST and table.seats == 1:
            continue
        own = facts.of_format(table.section).get(name)
        if name in FORMAT_TABLES and own is None:
            continue
        if own and own.fixed:
            pieces = grids.parts(own.grid, form, width, own.fixed)
            columns.append(name)
        elif own:
            fitted, without = grids.fitted(own.grid, form, width)
            pieces = [fitted]
            left_out += without
        elif name in ("crosstable", "los"):
            fitting = _parts(name, table, form, width, is_chosen=bool(view.show))
            left_out += [name] if fitting is None else []
            pieces = fitting or []
        else:
            pieces = []
            for grid in _grids(name, table, view, facts, is_rated):
                fitted, without = grids.fitted(grid, form, width)
                pieces.append(fitted)
                columns += [column.name for column in fitted.columns]
                left_out += without
        texts += [piece.drawn(form) for piece in pieces]
    notes: list[str] = []
    if left_out:  # the first, since the others may be cut
        unique = ", ".join(dict.fromkeys(left_out))
        more = "; `referee table RUN --width 0` shows all" if view.by_command else ""
        notes.append(f"left out to fit a width of {width}: {unique}{more}")
    notes += findings(table, facts, is_rated)
    if not table.section:
        notes += meanings(table, columns)
    notes += circumstances(table, is_rated)
    if is_headed:
        yield grids.headed(table.title, form)
    if view.by_command:
        notes = [note + _FOR_COMMANDS.get(note, "") for note in notes]
        notes = notes if view.notes else _first(notes, form, width)
    yield "\n".join([*texts[:1], *filter(None, [grids.said(notes, form, width)])])
    yield from texts[1:]


def _first(notes: list[str], form: str, width: int) -> list[str]:
    """The first of these notes, at least one and as many as fit, and how many others there are."""
    shown = len(notes)
    while shown > 1 and grids.said(notes[:shown], form, width).strip().count("\n") >= NOTE_LINES:
        shown -= 1
    if more := len(notes) - shown:
        return [*notes[:shown], f"{counted(more, 'more note')}: `--notes` shows all"]
    return notes


def _parts(name: str, table: Standings, form: str, width: int, is_chosen: bool) -> list[Grid] | None:
    """The crosstable, or the likelihoods, in parts that fit; None if it is wider and not `is_chosen`."""
    is_optional = width and not is_chosen
    if is_optional and len(table.names) * NARROWEST > width:
        return None
    grid = blocks.crosstable_grid(table) if name == "crosstable" else blocks.los_grid(table)
    if is_optional and grids.size(grid, form) > width:
        return None
    return grids.parts(grid, form, width, blocks.FIXED)


def _default(table: Standings, facts: Facts, is_rated: bool) -> tuple[str, ...]:
    """The standings, the tests of a run that has some, unless games are chosen, and what the format has
    in place of a crosstable, or the crosstable; of two bots, of which it says nothing new, what they did by
    seat.
    """
    tests = ("sprt",) if facts.tests and not (table.section or facts.chosen) else ()
    if own := [name for name in facts.of_format(table.section) if name not in ("pairings", "course")]:
        return "standings", *tests, *own
    if len(table.names) > 2:
        return "standings", *tests, "crosstable"
    return ("standings", *tests, "seats") if is_rated else ("standings", *tests)


def _grids(name: str, table: Standings, view: TableText, facts: Facts, is_rated: bool) -> list[Grid]:
    """The tables of one of the `BLOCKS` that are narrowed by leaving out columns."""
    match name:
        case "standings":
            default = [column for column in default_columns(table) if is_rated or column not in _RATINGS]
            return [standings_grid(table, view.columns or default, facts.times)]
        case "seats":
            return [blocks.seats_grid(table), blocks.by_seat_grid(table)]
        case "pairs":
            return [blocks.pairs_grid(table)]
        case "faults":
            return [blocks.faults_grid(table)]
        case "sprt":
            return [blocks.sprt_grid(facts)]
        case _:
            return [blocks.times_grid(table, facts)]
