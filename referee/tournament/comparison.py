"""A plan beside the header of a run: what may differ when the run is continued, and what may not."""

from __future__ import annotations

from typing import Any

from referee.records.header import other_origin
from referee.tournament.plan import Plan

Files = dict[str, dict[str, str]]
"""By bot the hashes of the files that its command names."""


def differences(header: dict[str, Any], plan: Plan, rounds: int) -> list[str]:
    """What was changed that must not be: all but bots and rounds that were added. For people."""
    wrong = []
    now = plan.header()
    for name in ("game", "rules", "options", "margin_us", "rejections", "start_us", "seed"):
        if now[name] != header.get(name):
            wrong.append(f"`{name}` is {now[name]}, and was {header.get(name)}")
    if difference := other_origin(header, plan.game):
        wrong.append(difference)
    for name, was in header["bots"].items():
        if name not in now["bots"]:
            wrong.append(f"bot `{name}` is missing")
            continue
        is_now = now["bots"][name]
        for key in {**is_now, **was}:
            if is_now.get(key) != was.get(key):
                wrong.append(
                    f"`{key}` of bot `{name}` is {_said(is_now.get(key))}, and was {_said(was.get(key))}"
                )
    if "rounds" not in header:
        wrong.append("these are the records of a match")
    elif rounds < header["rounds"]:
        wrong.append(f"`rounds` is {rounds}, and was {header['rounds']}")
    return wrong


def _said(value: object) -> object:
    """What is as usual does not stand in a header."""
    return "not given" if value is None else value


def additions(header: dict[str, Any], plan: Plan, rounds: int, files: Files) -> dict[str, Any]:
    """What was added to a run, or may change: as a line of kind `change` has it, empty for nothing."""
    before, now = header["bots"], plan.header()["bots"]
    change: dict[str, Any] = {}
    if added := {name: what for name, what in now.items() if name not in before}:
        change["bots"] = added
    if rounds > header["rounds"]:
        change["rounds"] = rounds
    known = header.get("files", {})
    if changed := {name: what for name, what in files.items() if known.get(name) != what}:
        change["files"] = changed
    return change
