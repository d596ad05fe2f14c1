"""A check's results as people read them, and as data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click

from referee.check.bench import Bench
from referee.check.course import StepResult
from referee.core.units import about

_INDENT = " " * 11
_TITLE = 25
_INKS = {"passed": "green", "failed": "red", "skipped": "yellow"}


def heading(bench: Bench) -> str:
    """What is checked, and under what."""
    options = " ".join(f"{name}={value}" for name, value in bench.options.items())
    return f"{bench.bot.name} in {bench.game.slug} ({options}), clock {bench.clocks[0]}, seed {bench.seed}"


def told(step: StepResult, again: str, width: int) -> Iterator[str]:
    """The lines of the result of a step; `again` is the command that repeats the step."""
    result = click.style(f"{step.result:7}", fg=_INKS[step.result], bold=step.result == "failed")
    head = f"{step.number:2} {result} {step.title:{_TITLE}} "
    failure = step.failure
    if failure is None:
        column = len(_INDENT) + _TITLE + 1
        first, *others = _wrapped(step.text, width - column) or [""]
        yield f"{head}{first}".rstrip()
        yield from (" " * column + line for line in others)
        return
    yield head.rstrip()
    evidence = failure.evidence
    block = [*_wrapped(failure.what, width - len(_INDENT)), "", *(f"| {line}" for line in evidence.dialogue)]
    if evidence.stderr:
        block += ["", "its stderr:", *(f"| {line}" for line in evidence.stderr)]
    block += ["", f"its process {evidence.process or 'was still there'}"]
    block += [*_wrapped(f"hint: {failure.hint}", width - len(_INDENT)), f"again: {again}"]
    yield from ((_INDENT + line).rstrip() for line in ("", *block, ""))


def summary(results: Sequence[StepResult]) -> str:
    """All of it in a line."""
    counts = {result: sum(one.result == result for one in results) for result in _INKS}
    parts = [f"{count} {result}" for result, count in counts.items() if count]
    return f"{', '.join(parts)} in {about(sum(one.used_us for one in results))}"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def as_json(bench: Bench, results: Sequence[StepResult], again: Sequence[str]) -> dict[str, Any]:
    """Everything."""
    return {
        "bot": bench.bot.name,
        "command": list(bench.bot.command),
        "game": bench.game.slug,
        "options": dict(bench.options),
        "clocks": [str(clock) for clock in bench.clocks],
        "seed": bench.seed,
        "passed": all(one.result != "failed" for one in results),
        "steps": [_json_step(one, command) for one, command in zip(results, again, strict=True)],
    }


def _json_step(step: StepResult, again: str) -> dict[str, Any]:
    value: dict[str, Any] = {
        "number": step.number,
        "title": step.title,
        "result": step.result,
        "text": step.text,
        "figures": step.figures,
        "used_us": step.used_us,
        "again": again,
    }
    if failure := step.failure:
        value["failure"] = {"hint": failure.hint, **failure.evidence._asdict()}
    return value
