"""Runs the steps and yields the result of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from referee.check.settings import CheckSettings
from referee.check.steps import ALWAYS, STEPS, StepSkipped
from referee.check.tested_bot import StepFailed


class StepResult(NamedTuple):
    """The result of one step."""

    number: int
    title: str
    result: str
    """`passed`, `failed` or `skipped`."""
    text: str
    """What was found, or why the step was skipped."""
    figures: dict[str, Any]
    failure: StepFailed | None
    used_us: int


def run_steps(
    settings: CheckSettings,
    chosen: Collection[int] = (),
    on_start: Callable[[str], object] = lambda title: None,
) -> Iterator[StepResult]:
    """The results of all steps, or of the chosen ones and the first ones, which all others need.

    `on_start` is called with the title of each step before it runs.
    """
    failed: dict[int, int] = {}
    """Steps that failed or were skipped because of a failure, with the step that did fail."""
    for number, step in enumerate(STEPS, 1):
        if chosen and number not in chosen and number > min(ALWAYS, max(chosen)):
            continue
        if causes := [failed[other] for other in step.needs if other in failed]:
            failed[number] = causes[0]
            yield StepResult(number, step.title, "skipped", f"needs step {causes[0]}", {}, None, 0)
            continue
        on_start(step.title)
        started_ns = time.monotonic_ns()
        result, text, failure = "passed", "", None
        figures: dict[str, Any] = {}
        try:
            text, figures = step.trial(settings)
        except StepFailed as error:
            failed[number] = number
            result, text, failure = "failed", error.what, error
        except StepSkipped as reason:
            result, text = "skipped", str(reason)
        used_us = (time.monotonic_ns() - started_ns) // 1000
        yield StepResult(number, step.title, result, text, figures, failure, used_us)
