"""A game as data for a page's script, which draws it without knowing any game. Pure.

The data of a game is a JSON object:

    {"id", "game", "bots": [NAME, …], "clocks": [{"text", "move_us", "reserve_us"} or null, …],
     "result", "end": {"ranks": [NUMBER, …], "why", "fault": BOOLEAN} or null, "damage": TEXT or null,
     "lead": {"of": TEXT, "steps": [[NUMBER or null, …], …]} or null,
     "elements": [SVG, …], "lines": [LINE, …], "views": [VIEW, …]}

`end` says how the game ended; null where the record is damaged. `lead` says how far each seat is ahead in
each step of a view, and of what: all seats know it. It is null for a game without.

A view is what one seat knows of the game (`"seat": 1`), or a spectator, who sees all (`"seat": null`):

    {"seat", "box": "0 0 WIDTH HEIGHT", "ground": SVG, "rows": {SEAT: BOX, …},
     "steps": [STEP, …], "faults": [TEXT, …], "written": {SEAT: [[WHAT, TEXT], …]},
     "deciding": {"step": NUMBER, "words": TEXT} or null}

A view of the whole position may have `"analysis"`, with lists by the numbers of steps: `"proofs"` and
`"chances"` of seat 1 (1, 0, −1; percent in tens; null where nothing is known), and `"said"`, texts; besides
by whom chances are `"estimated"`, and `"costly"`: `[STEP, SEAT, IS_PROVED]` for moves that gave much away.

`"grows": true` says that each position is drawn as large as fits in the box.

A step is the position after it, `"draw"`: the view's ground and the elements with these indexes. `"more"` is
true of a position on the way to it, which comes before it. Where there are any, it has `"rows"`, what is
drawn of each seat below its name, and of seat 0 what stands beside the board, such as its legend, in the box
that the view has for it, `"position"`, the position in
characters, `"lines"`, indexes of what happened, `"news"`, the texts that told the view of it, `"turn"`, the
seats that are asked next, `"written"`, what bots wrote besides their answers, `"expected"`, what bots
expected when they moved, as `{"seat", "moves": [{"text", "draw", "rows"}, …]}`, `"wrong"`, what bots said
there that was wrong, as `[SEAT, TEXT]`, and `"reserves"` where they
differ from those before: by seat, in microseconds, null where there is none or it is not known. The
`"written"` of a view is that of which the record does not say when it came.

A line has its `"kind"`, the `"seat"`, a short `"text"`, and `"words"`: all that there is to say, on one or
two lines. Besides, where there is something: the time `"used_us"` of a move or until a seat ran out of time,
`"taken_us"`, what of the reserve a move took, `"late"` of a seat that ran out of time, and of what the bot
said of its move `"value"`, its own chance to win from 0 to 1, and `"info"`, pairs of keys and texts.

All SVG is escaped already; everything else is plain text, made safe to be shown. A view of a seat is made
only from what this seat knows, and no data holds the seeds of a game. What all views of a page have in common
stands in it once, and nothing else does.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar

from referee.analysis.store import GameAnalysis
from referee.core.text import by_name, shown, without_folders
from referee.core.units import TimeControl
from referee.gameplay.events import Drawn, Ending, Event, Moved, Preset, Rejected, Retired, Unplayed
from referee.gameplay.terms import Terms, Verdict
from referee.games.api import Seat
from referee.games.picture import Picture, boards_and_notes, panels_of_seat
from referee.pages.game_analysis import ShownAnalysis
from referee.viewing.characters import picture_text
from referee.viewing.claims import wrong_claims
from referee.viewing.deciding import deciding_move
from referee.viewing.info import METRIC, Expected, expected_moves, read_info
from referee.viewing.knowledge import View, ViewKnowledge
from referee.viewing.steps import Step, Steps
from referee.viewing.svg import Layout, draw
from referee.viewing.words import event_text, fault_report, result, written

WRITTEN_LINES = 40  # how many lines of what a bot wrote besides its answers are kept, from the end
WRITTEN_LINES_WITH_TEXTS = 2000  # the same, where texts are to be with the data

NOTES_WIDTH = 11.1
"""Where the rows beside the board are broken into lines, so that they can be read on a phone."""
ROW_WIDTHS = (11.1, 10.6, 7.2, 5.3)
"""Where rows of a seat are broken into lines, by the number of seats, which stand beside each other."""

T = TypeVar("T", bound=Hashable)

_WrittenBySeat = dict[str, list[tuple[str, str]]]  # by number of the seat, texts with what they are


@dataclass(frozen=True, slots=True)
class GameData:
    """A game as data."""

    value: dict[str, Any]  # for JSON; the docstring of this module describes it
    symbols: dict[str, str]
    """The SVG definitions that the elements refer to, by id. Those of several games go together, since an id
    stands for what is drawn.
    """

    def packed(self) -> str:
        """The JSON, deflated (zlib) and in base64."""
        return packed(self.value)

    def drawn(self, step: int = -1) -> str:
        """The board after a step, in the first view, as the inside of an `<svg>` without the symbols."""
        view = self.value["views"][0]
        return str(view["ground"]) + self._inside(view["steps"][step]["draw"])

    def drawn_rows(self) -> list[tuple[str, str]]:
        """Beside the board and for each seat that has rows, in the first view: their box, and at the end of
        the game the inside of their `<svg>`.
        """
        view = self.value["views"][0]
        return [
            (view["rows"][seat], self._inside(rows))
            for seat, rows in view["steps"][-1].get("rows", {}).items()
        ]

    def _inside(self, indexes: Sequence[int]) -> str:
        return "".join(self.value["elements"][index] for index in indexes)


def game_data(
    steps: Steps,
    views: Sequence[View] = (),
    with_news: bool = True,
    with_texts: bool = False,
    analysis: GameAnalysis | None = None,
) -> GameData:
    """The data of a game: of these views, or of all that differ if none is named. Without news it is smaller;
    with texts, each step has its position in characters too, as `"position"`. The analysis is in the views
    that know the whole position.
    """
    terms = steps.terms
    # In an open game the news are the moves.
    maker = _Maker(steps, with_news and not terms.game.is_open, with_texts, analysis)
    views = views or steps.views
    made = [maker.view(view) for view in views]
    known = steps.known_by(views[0]).events(steps.record.events)
    return GameData(
        {
            "id": terms.id,
            "game": terms.game.name,
            "bots": list(terms.bots),
            "clocks": [_clock(control) for control in terms.controls],
            "result": result(terms, _with_crash(steps.record.verdict, known)),
            "end": steps.verdict and _end(_with_crash(steps.verdict, known), terms.bots),
            "damage": str(steps.damage_for(views[0]) or "") or None,
            "lead": _lead(steps),
            "elements": maker.elements.values,
            "lines": [_line(event, terms) for event in maker.events.values],
            "views": made,
        },
        maker.symbols,
    )


def packed(value: dict[str, Any]) -> str:
    """A value as JSON, deflated (zlib) and in base64."""
    text = json.dumps(value, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _lead(steps: Steps) -> dict[str, Any] | None:
    terms = steps.terms
    if not terms.game.counted:
        return None
    states = [frame.step.state for frame in frames_of(steps.steps)]
    seats = range(len(terms.bots))
    return {
        "of": shown(terms.game.counted),
        "steps": [[state.lead(seat) for seat in seats] for state in states],
    }


def _with_crash(verdict: Verdict, known: Sequence[Event]) -> Verdict:
    """A verdict whose sentence says how a bot crashed, if these events tell it."""
    match verdict.ending, known[-1:]:
        case Ending.GONE, [Retired(detail=detail)] if detail:
            outcome = verdict.outcome
            sentence = f"{outcome.sentence}: {shown(without_folders(detail), 80)}"
            return verdict._replace(outcome=outcome._replace(sentence=sentence))
    return verdict


def _end(verdict: Verdict, bots: Sequence[str]) -> dict[str, Any]:
    outcome = verdict.outcome
    return {
        "ranks": outcome.ranks,
        "why": shown(by_name(outcome.sentence, bots)),
        "fault": verdict.ending.is_fault,
    }


def _clock(control: TimeControl) -> dict[str, Any] | None:
    if not control.timed:
        return None
    return {"text": str(control), "move_us": control.move_us, "reserve_us": control.reserve_us}


class _Distinct(Generic[T]):
    """Values that are kept once each."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._indexes: dict[T, int] = {}

    def index(self, value: T) -> int:
        if value not in self._indexes:
            self._indexes[value] = len(self.values)
            self.values.append(value)
        return self._indexes[value]


class _Maker:
    """Makes the views of a game, and collects what they refer to."""

    def __init__(
        self, steps: Steps, with_news: bool, with_texts: bool, analysis: GameAnalysis | None
    ) -> None:
        self._steps = steps
        self._with_news = with_news
        self._with_texts = with_texts
        self._analysis = analysis
        self.elements = _Distinct[str]()
        self.events = _Distinct[Event]()
        self.symbols: dict[str, str] = {}

    def view(self, view: View) -> dict[str, Any]:
        known = self._steps.known_by(view)
        frames = [*frames_of(self._steps.steps)]
        pictures = [known.picture(frame.step.state) for frame in frames]
        lines = [self._expected(frame, known) for frame in frames] if self._with_texts else []
        wrong: dict[int, list[tuple[int, str]]] = {}
        for claim in wrong_claims(self._steps, known):
            wrong.setdefault(claim.step, []).append((claim.seat + 1, claim.words))
        # What is expected is drawn as what happened is, behind it.
        pictures += [known.picture(one.state) for of_frame in lines for _, moves in of_frame for one in moves]
        planes, notes = boards_and_notes(pictures)
        layout, boards = self._drawn(planes)
        of_seats = {0: self._rows(notes, NOTES_WIDTH)}
        seats = range(len(self._steps.terms.bots))
        for seat in seats:
            panels = [panels_of_seat(picture, seat) for picture in pictures]
            of_seats[seat + 1] = self._rows(panels, ROW_WIDTHS[len(seats) - 1])
        of_seats = {seat: made for seat, made in of_seats.items() if any(made[1])}
        found = []
        before: Step | None = None
        said, said_besides = self._written(known)
        for number, (frame, picture, board) in enumerate(zip(frames, pictures, boards, strict=False)):
            value = self._step(frame, before, known)
            if frame.is_first and said[frame.step.number]:
                value["written"] = said[frame.step.number]
            if frame.is_first and frame.step.number in wrong:
                value["wrong"] = wrong[frame.step.number]
            if self._with_texts:
                value["position"] = picture_text(picture)
            if of_seats:
                value["rows"] = {seat: rows[number] for seat, (_, rows) in of_seats.items()}
            found.append({**value, "draw": board})
            before = frame.step
        at = len(frames)
        for value, of_frame in zip(found, lines, strict=False):
            for seat, moves in of_frame:
                shown_moves = []
                for move in moves:
                    rows = {seat: rows[at] for seat, (_, rows) in of_seats.items()}
                    shown_moves.append({"text": shown(move.text, 100), "draw": boards[at], "rows": rows})
                    at += 1
                value.setdefault("expected", []).append({"seat": seat + 1, "moves": shown_moves})
        record = self._steps.record
        told = known.seats(len(record.terms.bots))
        faults = [*map(without_folders, fault_report(record, told))]  # guard: faults-of-others
        analysis = ShownAnalysis.of(self._steps, self._analysis, known)
        deciding = deciding_move(self._steps, known, analysis and analysis.proved_turn)
        return {
            "seat": view + 1 if isinstance(view, int) else None,
            "box": layout.view_box,
            "ground": layout.ground,
            **({"grows": True} if layout.grows else {}),
            "rows": {seat: box for seat, (box, _) in of_seats.items()},
            "steps": found,
            "faults": faults,
            "written": said_besides,
            "deciding": deciding and deciding._asdict(),
            **({"analysis": analysis.data()} if analysis else {}),
        }

    def _drawn(
        self, pictures: Sequence[Picture], row_width: float | None = None
    ) -> tuple[Layout, list[list[int]]]:
        """The frame for these pictures, and of each the indexes of its elements."""
        layout, drawn = draw(pictures, row_width=row_width)
        self.symbols.update(layout.symbols)
        indexes = [self.elements.index(text) for text in drawn.elements]
        return layout, [[indexes[index] for index in picture] for picture in drawn.pictures]

    def _rows(self, pictures: Sequence[Picture], width: float) -> tuple[str, list[list[int]]]:
        """The box for what is drawn beside a board or of a seat, and of each picture the indexes of its
        elements.
        """
        layout, drawn = self._drawn(pictures, width)
        ground = [self.elements.index(layout.ground)] if layout.ground else []
        return layout.view_box, [[*ground, *indexes] for indexes in drawn]

    def _expected(self, frame: Frame, known: ViewKnowledge) -> list[tuple[Seat, list[Expected]]]:
        """What the bots expected that moved in a step; only for those who know the whole position."""
        step = frame.step
        if not (frame.is_first and step.number and known.is_full):
            return []
        before = self._steps.steps[step.number - 1].state
        found = []
        for event in known.events(step.events):
            line = dict(read_info(event.info).said).get("pv", "") if isinstance(event, Moved) else ""
            if isinstance(event, Moved) and (moves := expected_moves(before, line)):
                found.append((event.seat, moves))
        return found

    def _written(self, known: ViewKnowledge) -> tuple[list[_WrittenBySeat], _WrittenBySeat]:
        """What the bots wrote besides their answers: in each step, and what belongs to none."""
        measured, terms = self._steps.record.measured, self._steps.terms
        most = WRITTEN_LINES_WITH_TEXTS if self._with_texts else WRITTEN_LINES
        at_steps: list[_WrittenBySeat] = [{} for _ in self._steps.steps]
        besides: _WrittenBySeat = {}
        for seat in known.seats(len(terms.bots)):
            number_of_seat = str(seat + 1)
            lines = [
                (number, (one.what, one.line))
                for number, of_step in enumerate(self._steps.written)
                for one in of_step
                if one.seat == seat
            ]
            for number, some in groupby(lines[-most:], lambda line: line[0]):
                at_steps[number][number_of_seat] = _grouped([line for _, line in some])
            if rest := [*written(measured, seat)][-most:]:
                besides[number_of_seat] = _grouped(rest)
        return at_steps, besides

    def _step(self, frame: Frame, before: Step | None, known: ViewKnowledge) -> dict[str, Any]:
        step = frame.step
        value: dict[str, Any] = {}
        if not frame.is_last:
            value["more"] = True
        lines = [self.events.index(event) for event in known.events(step.events)]
        if frame.is_first and lines:
            value["lines"] = lines
        news = known.news(step.state, before.state if before else None)
        if self._with_news and news:
            value["news"] = [shown(self._told(line), 300) for line in news]
        reserves = known.reserves(step.reserves_us)
        if before is None or reserves != known.reserves(before.reserves_us):
            value["reserves"] = reserves
        turn = known.to_move(step.state)
        if frame.is_last and turn:
            value["turn"] = [seat + 1 for seat in turn]
        return value

    def _told(self, line: str) -> str:
        """A line of news in words, with the names of the bots."""
        terms = self._steps.terms
        return by_name(terms.game.told(line), terms.bots)


class Frame(NamedTuple):
    """A position that is shown: that after a step, or one on the way to it."""

    step: Step  # the step, with this position
    is_first: bool
    is_last: bool


def frames_of(steps: Iterable[Step]) -> Iterator[Frame]:
    """The positions of these steps, one after the other."""
    before = None
    for step in steps:
        on_the_way = step.state.between() if step.state is not before else ()
        states = [*on_the_way, step.state]
        for number, state in enumerate(states, 1):
            yield Frame(replace(step, state=state), number == 1, number == len(states))
        before = step.state


def _grouped(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Lines of the same kind that follow each other as one text, with what they are."""
    return [
        (what, "\n".join(without_folders(line) for _, line in found))
        for what, found in groupby(lines, lambda line: line[0])
    ]


def _line(event: Event, terms: Terms) -> dict[str, Any]:
    kind, text = _short(event)
    line: dict[str, Any] = {
        "kind": kind,
        "text": text,
        "words": without_folders(event_text(event, terms.bots, terms.controls)),
    }
    if not isinstance(event, Drawn):
        line["seat"] = event.seat + 1
    match event:
        case Moved(charge=charge, info=info):
            line["used_us"] = charge.used_us
            if charge.taken_us:
                line["taken_us"] = charge.taken_us
            line.update(_said(info))
        case Retired(ending=Ending.TIME, used_us=used_us):
            line.update(used_us=used_us, late=True)
    return line


def _said(info: str) -> dict[str, Any]:
    """What the bot said of its move, as far as there is something."""
    found = read_info(info)
    value: dict[str, Any] = {}
    if found.value is not None:
        value["value"] = found.value
    if told := [*found.said, *([("", found.text)] if found.text else [])]:
        value["info"] = [(key.removeprefix(f"{METRIC} "), shown(text, 300)) for key, text in told]
    return value


def _short(event: Event) -> tuple[str, str]:
    """The kind of an event, and the event in a few words."""
    match event:
        case Moved(text=text, defaulted=defaulted):
            return "default" if defaulted else "move", shown(text, 100)
        case Preset(text=text):
            return "opening", shown(text, 100)
        case Rejected(text=text, sentence=sentence):
            return "rejected", f"{shown(text, 60)}: {shown(sentence, 100)}"
        case Unplayed(text=text):
            return "unplayed", shown(text, 100)
        case Retired(ending=ending):
            return "left", ending.sentence
        case Drawn(text=text):
            return "chance", shown(text, 100)
