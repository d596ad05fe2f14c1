"""Goes through the steps and says of each what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from referee.check.bench import Bench
from referee.check.steps import ALWAYS, STEPS, Skipped
from referee.check.subject import Failed


class StepResult(NamedTuple):
    """What came of a step."""

    number: int
    title: str
    result: str
    """`passed`, `failed` or `skipped`."""
    text: str
    """What was found; of a step that was skipped, why."""
    figures: dict[str, Any]
    failure: Failed | None
    used_us: int


def course(
    bench: Bench, chosen: Collection[int] = (), begins: Callable[[str], object] = lambda title: None
) -> Iterator[StepResult]:
    """The results of all steps, or of the chosen ones with the first, which they all need. `begins` is told
    of a step before it is tried.
    """
    failed: dict[int, int] = {}
    """Steps that failed or were skipped for that, with the step that it came from."""
    for number, step in enumerate(STEPS, 1):
        if chosen and number not in chosen and number > min(ALWAYS, max(chosen)):
            continue
        if missing := [failed[other] for other in step.needs if other in failed]:
            failed[number] = missing[0]
            yield StepResult(number, step.title, "skipped", f"it needs step {missing[0]}", {}, None, 0)
            continue
        begins(step.title)
        began_ns = time.monotonic_ns()
        result, text, failure = "passed", "", None
        figures: dict[str, Any] = {}
        try:
            text, figures = step.trial(bench)
        except Failed as error:
            failed[number] = number
            result, text, failure = "failed", error.what, error
        except Skipped as reason:
            result, text = "skipped", str(reason)
        used_us = (time.monotonic_ns() - began_ns) // 1000
        yield StepResult(number, step.title, result, text, figures, failure, used_us)
