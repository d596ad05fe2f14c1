"""Runs the steps and yields the result of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from referee.check.remarks import Remark
from referee.check.settings import CheckSettings
from referee.check.steps import ALWAYS, STEPS, CheckStep, StepSkipped
from referee.check.tested_bot import StepFailed


class StepResult(NamedTuple):
    """The result of one step."""

    number: int
    title: str
    result: str  # `passed`, `warning`, `failed` or `skipped`; a warning is a step that passed with remarks
    text: str  # what was found, or why the step was skipped
    figures: dict[str, Any]
    failure: StepFailed | None  # why the step failed
    remarks: tuple[Remark, ...]
    used_us: int
    needed: int = 0  # the failed step that this one needs, and was skipped for; 0 where there is none


def run_steps(
    settings: CheckSettings,
    chosen: Collection[int] = (),
    on_start: Callable[[str], object] = lambda title: None,
) -> Iterator[StepResult]:
    """The results of all steps, or of the chosen ones and the first ones, which all others need.

    `on_start` is called with the title of each step before it runs.
    """
    known = _Failures({}, {})
    for number, step in enumerate(STEPS, 1):
        if chosen and number not in chosen and number > min(ALWAYS, max(chosen)):
            continue
        if first := [known.failed[other] for other in step.needs if other in known.failed]:
            known.failed[number] = first[0]
            why = f"needs step {first[0]}"
            yield StepResult(number, step.title, "skipped", why, {}, None, (), 0, needed=first[0])
            continue
        on_start(step.title)
        yield _result(number, step, settings, known)


class _Failures(NamedTuple):
    """The steps that have failed so far."""

    failed: dict[int, int]
    """Steps that failed or were skipped because of a failure, with the step that did fail."""
    causes: dict[str, int]  # the causes of failures that are known, with the step that failed first

    def add(self, number: int, cause: str) -> int:
        """Notes that a step failed, and returns the step that failed first of the same cause."""
        first = self.causes.get(cause, number)
        self.failed[number] = first
        if cause:
            self.causes[cause] = first
        return first


def _result(number: int, step: CheckStep, settings: CheckSettings, known: _Failures) -> StepResult:
    """Runs one step."""
    started_ns = time.monotonic_ns()
    result, text, failure = "passed", "", None
    figures: dict[str, Any] = {}
    try:
        text, figures = step.trial(settings)
    except StepFailed as error:
        first = known.add(number, error.cause)
        if first != number:
            result, text = "skipped", f"step {first} failed the same way"
        else:
            result, text, failure = "failed", error.what, error
    except StepSkipped as reason:
        result, text = "skipped", str(reason)
    used_us = (time.monotonic_ns() - started_ns) // 1000
    remarks: tuple[Remark, ...] = ()
    if number >= ALWAYS and result in ("passed", "failed"):
        remarks = tuple(remark for remark in settings.remarks.take() if remark.cause not in known.causes)
    if remarks and result == "passed":
        result = "warning"
    return StepResult(number, step.title, result, text, figures, failure, remarks, used_us)
