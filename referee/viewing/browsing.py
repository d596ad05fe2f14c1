"""Browsing a recorded game: the current step and view, how both change, and searching. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.units import about
from referee.gameplay.events import Moved
from referee.games.picture import Picture
from referee.viewing.knowledge import View
from referee.viewing.step_words import end_lines, step_label, step_lines
from referee.viewing.steps import Step, Steps


class Browser:
    """Moves through the steps of a game, and gives what is to be shown there."""

    def __init__(self, steps: Steps, only: View = None, at: int = 0) -> None:
        """A seat in `only` allows its own view alone. `at` is a step; the number after the last means the
        last.
        """
        self.steps = steps
        self.last = len(steps.steps) - 1  # the number of the last step
        self.views = steps.views if only is None else (only,)
        self.at = 0  # the step that is looked at
        self.view = self.views[0]
        self._texts: dict[View, list[list[str]]] = {}
        self._labels: dict[View, list[str]] = {}
        self._times: dict[View, list[str]] = {}
        self.go(at)

    def go(self, number: int) -> None:
        """Goes to a step, or to the nearest that there is."""
        self.at = max(0, min(number, self.last))

    def turn_view(self) -> None:
        """Takes the next view, after the last one the first."""
        self.view = self.views[(self.views.index(self.view) + 1) % len(self.views)]

    @property
    def step(self) -> Step:
        """The step that is looked at."""
        return self.steps.steps[self.at]

    def picture(self, number: int) -> Picture:
        """The position after a step, as the view knows it."""
        return self.steps.known_by(self.view).picture(self.steps.steps[number].state)

    def known(self, number: int) -> list[str]:
        """Lists what the view knows about the events of a step."""
        return step_lines(self.steps, number, self.view)

    @property
    def texts(self) -> Sequence[Sequence[str]]:
        """What happened in each step, line by line; after the last one also how the game ended."""
        if self.view not in self._texts:
            texts = [self.known(number) or [self._nothing(number)] for number in range(self.last + 1)]
            texts[-1] += ["", *end_lines(self.steps, self.view)]
            if damage := self.steps.damage_for(self.view):
                texts[-1].append(f"the record cannot be replayed any further: {damage}")
            self._texts[self.view] = texts
        return self._texts[self.view]

    @property
    def labels(self) -> Sequence[str]:
        """Each step in a few words."""
        if self.view not in self._labels:
            self._labels[self.view] = [
                step_label(self.steps, number, self.view) for number in range(self.last + 1)
            ]
        return self._labels[self.view]

    @property
    def times(self) -> Sequence[str]:
        """How long the moves of each step took, as far as the view knows it."""
        if self.view not in self._times:
            known = self.steps.known_by(self.view)
            moved = [
                [event for event in known.events(step.events) if isinstance(event, Moved)]
                for step in self.steps.steps
            ]
            self._times[self.view] = [", ".join(about(one.charge.used_us) for one in some) for some in moved]
        return self._times[self.view]

    def matches(self, sought: str) -> list[int]:
        """The steps in whose text a word or phrase occurs, in whatever case."""
        sought = sought.casefold()
        return [number for number, text in enumerate(self.texts) if sought in "\n".join(text).casefold()]

    def _nothing(self, number: int) -> str:
        """Returns the line for a step in which the view saw nothing."""
        if number == 0:
            return "the position before the first move"
        return f"nothing that seat {(self.view or 0) + 1} was told about"
