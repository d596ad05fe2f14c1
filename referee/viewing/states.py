"""A recorded game as data, position by position. `STATES.md` describes it for people. Pure."""

from __future__ import annotations

from typing import Any

from referee.games.picture import Mark, Picture, Piece, Plane, Row, Span, Symbol
from referee.records.record import event_data
from referee.viewing.characters import picture_text
from referee.viewing.knowledge import View, ViewKnowledge, view_data
from referee.viewing.steps import Step, Steps
from referee.viewing.words import event_text, result

VERSION = 1  # raised when a member changes or is taken away


def game_states(steps: Steps, view: View) -> dict[str, Any]:
    """A game with all its steps, as a view knows them, for JSON."""
    terms = steps.terms
    known, drawing = steps.known_by(view), _Drawing()
    positions = [
        _step(steps, step, before, known, drawing)
        for before, step in zip((None, *steps.steps), steps.steps, strict=False)
    ]
    return {
        "states": VERSION,
        "id": terms.id,
        "game": terms.game.slug,
        "rules": steps.record.rules,
        "options": dict(terms.options),
        "bots": list(terms.bots),
        "clocks": [str(control) for control in terms.controls],
        "view": view_data(view),
        "steps": positions,
        "symbols": drawing.symbols,
        "result": _result(steps),
        "damage": str(steps.damage_for(view) or "") or None,
    }


def _step(
    steps: Steps, step: Step, before: Step | None, known: ViewKnowledge, drawing: _Drawing
) -> dict[str, Any]:
    terms = steps.terms
    events = known.events(step.events)
    picture = known.picture(step.state)
    return {
        "step": step.number,
        "events": [
            {**event_data(event), "text": event_text(event, terms.bots, terms.controls)} for event in events
        ],
        "news": list(known.news(step.state, before.state if before else None)),
        "to_act": [seat + 1 for seat in step.state.to_act() if seat >= 0],
        "reserves_us": list(known.reserves(step.reserves_us)),
        "text": picture_text(picture).split("\n"),
        "picture": drawing.panels(picture),
    }


def _result(steps: Steps) -> dict[str, Any] | None:
    verdict = steps.verdict
    if verdict is None:
        return None
    return {
        "ranks": list(verdict.outcome.ranks),
        "scores": list(verdict.outcome.scores),
        "ending": verdict.ending.word,
        "sentence": verdict.outcome.sentence,
        "rated": verdict.rated,
        "text": result(steps.terms, verdict),
    }


class _Drawing:
    def __init__(self) -> None:
        self.symbols: dict[str, list[dict[str, Any]]] = {}  # the shapes of each symbol, by name
        self._grounds: dict[int, tuple[Piece, ...]] = {}  # the ground of each panel as it was last written

    def panels(self, picture: Picture) -> list[dict[str, Any]]:
        """The panels of a picture; the ground of a plane only where it was another one before."""
        return [
            self._plane(number, panel) if isinstance(panel, Plane) else self._row(panel)
            for number, panel in enumerate(picture)
        ]

    def _plane(self, number: int, plane: Plane) -> dict[str, Any]:
        data: dict[str, Any] = {"columns": plane.columns, "rows": plane.rows}
        if plane.ground != self._grounds.get(number):
            data["ground"] = [self._piece(mark) for mark in plane.ground]
            self._grounds[number] = plane.ground
        return {**data, "marks": [self._piece(mark) for mark in plane.marks]}

    def _row(self, row: Row) -> dict[str, Any]:
        return {"spans": [self._piece(span) for span in row.spans]}

    def _piece(self, piece: Piece | Span) -> dict[str, Any]:
        data = _members(piece)
        if isinstance(piece, Mark | Span) and piece.symbol:
            data["symbol"] = self._symbol(piece.symbol)
        return data

    def _symbol(self, symbol: Symbol) -> str:
        if symbol.name not in self.symbols:
            self.symbols[symbol.name] = [
                {"shape": type(shape).__name__.lower(), **_members(shape)} for shape in symbol.shapes
            ]
        return symbol.name


def _members(value: Any) -> dict[str, Any]:
    """The members of a named tuple that differ from their defaults, without what is for clicking."""
    defaults = value._field_defaults
    return {
        name: _listed(member) if name in ("points", "lines") else member
        for name, member in value._asdict().items()
        if name != "part" and (name not in defaults or member != defaults[name])
    }


def _listed(points: Any) -> Any:
    return [*map(_listed, points)] if isinstance(points, tuple) else points
