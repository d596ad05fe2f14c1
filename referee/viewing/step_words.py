"""Steps of a game in words: what happened, as far as a view knows it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from referee.core.text import shown
from referee.gameplay.events import Drawn, Event, Rejected, Retired, Unplayed
from referee.viewing.knowledge import View
from referee.viewing.steps import Steps
from referee.viewing.words import bot_output, event_text, result


def step_lines(steps: Steps, number: int, view: View) -> list[str]:
    """Describes a step line by line: its events, in games with hidden information the news, and what the bots
    wrote besides their answers.

    Empty where the view knew of nothing.
    """
    step, terms = steps.steps[number], steps.terms
    known = steps.known_by(view)
    texts = [event_text(event, terms.bots, terms.controls) for event in known.events(step.events)]
    lines = [line for text in texts for line in text.split("\n")]
    if not known.is_open:
        before = steps.steps[number - 1].state if number else None
        lines += [f"news: {shown(line, 300)}" for line in known.news(step.state, before)]
    seats = known.seats(len(terms.bots))
    written = (one for one in steps.written[number] if one.seat in seats)
    return lines + [f"{terms.bots[seat]} {what}: {line}" for seat, what, line in written]


def end_lines(steps: Steps, view: View) -> Iterator[str]:
    """Describes how the game ended, and quotes what the bots wrote besides their answers; nothing if the
    record is damaged.
    """
    if steps.verdict:
        yield result(steps.terms, steps.verdict)
        seats = steps.known_by(view).seats(len(steps.terms.bots))
        yield from bot_output(steps.terms, steps.record.measured, seats)


def step_label(steps: Steps, number: int, view: View) -> str:
    """A step in a few words: who played what; of hidden moves of others, the news."""
    if number == 0:
        return "start"
    known, step, before = steps.known_by(view), steps.steps[number], steps.steps[number - 1]
    events = known.events(step.events)
    rejections = sum(isinstance(event, Rejected) for event in events)
    parts = [_label(event) for event in events if not isinstance(event, Rejected)]
    if not parts and not known.is_open:
        parts = [shown(line) for line in known.news(step.state, before.state)]
    return ", ".join([*parts, f"{rejections} rejected"] if rejections else parts)


def _label(event: Event) -> str:
    if isinstance(event, Drawn):
        return f"chance: {shown(event.text)}"
    what = event.ending.word if isinstance(event, Retired) else shown(event.text)
    return f"{event.seat + 1}: {what}{' (does not count)' if isinstance(event, Unplayed) else ''}"
