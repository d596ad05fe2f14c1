"""The results of a check, as text and as data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import click

from referee.check.advice import Remark
from referee.check.steps import StepResult
from referee.check.tested_bot import CheckSettings
from referee.core.text import listed
from referee.core.units import about

_INDENT = " " * 11
_TITLE_WIDTH = 25
_COLOURS = {"passed": "green", "warning": "yellow", "failed": "red", "skipped": "bright_black"}
"""The results of steps in the order of the summary, each with its colour."""


def heading(settings: CheckSettings, width: int) -> str:
    """The text above the results: the bot, the game with its options, the clock and the seed."""
    options = " ".join(f"{name}={value}" for name, value in settings.options.items())
    game = f"{settings.game.slug} ({options})" if options else settings.game.slug
    clock = str(settings.clocks[0])
    if settings.scale:
        clock += f" (1/{settings.scale} of the game's own {settings.game.clock})"
    return "\n".join(_wrapped(f"{settings.bot.name} in {game}, clock {clock}, seed {settings.seed}", width))


def step_lines(step: StepResult, again: str, width: int) -> Iterator[str]:
    """The result of a step in lines of text; `again` is the command that repeats the step. A step that was
    skipped because another one failed has none: the summary counts them.
    """
    if step.result == "skipped" and step.needed:
        return
    result = click.style(f"{step.result:7}", fg=_COLOURS[step.result], bold=step.result == "failed")
    head = f"{step.number:2} {result} {step.title:{_TITLE_WIDTH}} "
    failure = step.failure
    if failure is None:
        column = len(_INDENT) + _TITLE_WIDTH + 1
        first, *others = _wrapped(step.text, width - column) or [""]
        yield f"{head}{first}".rstrip()
        yield from (" " * column + line for line in others)
        yield from _remark_lines(step.remarks, width)
        return
    yield head.rstrip()
    diagnostics = failure.diagnostics
    block = _wrapped(failure.what, width - len(_INDENT))
    if diagnostics.dialogue:
        block += ["", *(f"| {line}" for line in diagnostics.dialogue)]
    if diagnostics.stderr:
        block += ["", "stderr of the bot:", *(f"| {line}" for line in diagnostics.stderr)]
    block += ["", f"the bot's process {diagnostics.process}"]
    block += [*_wrapped(f"hint: {failure.hint}", width - len(_INDENT)), f"run again: {again}"]
    yield from ((_INDENT + line).rstrip() for line in ("", *block, ""))
    yield from _remark_lines(step.remarks, width)


def _remark_lines(remarks: Sequence[Remark], width: int) -> Iterator[str]:
    if remarks:
        yield ""
    for remark in remarks:
        block = [
            *_wrapped(f"warning: {remark.what}", width - len(_INDENT)),
            *(f"| {line}" for line in remark.lines),
            *_wrapped(f"hint: {remark.hint}", width - len(_INDENT)),
        ]
        yield from ((_INDENT + line).rstrip() for line in (*block, ""))


def summary(results: Sequence[StepResult]) -> str:
    """One line with the number of steps by result, and the total time."""
    counts = {result: sum(one.result == result for one in results) for result in _COLOURS}
    words = {**{result: result for result in counts}, "warning": "with a warning"}
    if needed := dict.fromkeys(f"step {one.needed}" for one in results if one.needed):
        words["skipped"] = f"skipped (because {listed(needed)} failed)"
    parts = [f"{count} {words[result]}" for result, count in counts.items() if count]
    return f"{', '.join(parts)} in {about(sum(one.used_us for one in results))}"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def as_json(settings: CheckSettings, results: Sequence[StepResult], again: Sequence[str]) -> dict[str, Any]:
    """The whole report as JSON data."""
    return {
        "bot": settings.bot.name,
        "command": list(settings.bot.command),
        "game": settings.game.slug,
        "options": dict(settings.options),
        "clocks": [str(clock) for clock in settings.clocks],
        "clock_scale": settings.scale or None,
        "seed": settings.seed,
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
        "warnings": [
            {"what": remark.what, "hint": remark.hint, "lines": list(remark.lines)} for remark in step.remarks
        ],
        "used_us": step.used_us,
        "again": again,
    }
    if failure := step.failure:
        value["failure"] = {"hint": failure.hint, **failure.diagnostics._asdict()}
    return value
