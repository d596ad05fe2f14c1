"""Compares a plan with the header of a run: what may differ when the run is continued, and what may not."""

from __future__ import annotations

from typing import Any

from referee.core.text import value_text
from referee.records.header import other_origin
from referee.tournament.hashes import Files
from referee.tournament.plan import Plan


def differences(header: dict[str, Any], plan: Plan, rounds: int) -> list[str]:
    """Forbidden changes, as messages: only bots and rounds may be added."""
    wrong = []
    now = plan.header()
    for name in ("game", "rules", "options", "margin_us", "rejections", "start_us"):
        if now[name] != header.get(name):
            wrong.append(f"`{name}` is {_given(now[name])}, and was {_given(header.get(name))}")
    if not plan.seed_is_hidden and plan.seed != header.get("seed"):
        wrong.append(f"`seed` is {plan.seed}, and was {_given(header.get('seed'))}")
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
                    f"`{key}` of bot `{name}` is {_given(is_now.get(key))}, and was {_given(was.get(key))}"
                )
    if "rounds" not in header:
        wrong.append("these are the records of a match")
    elif rounds < header["rounds"]:
        wrong.append(f"`rounds` is {rounds}, and was {header['rounds']}")
    return wrong


def _given(value: object) -> str:
    """A value as shown in a message; default values are not in a header."""
    return "not given" if value is None else value_text(value)


def additions(header: dict[str, Any], plan: Plan, rounds: int, files: Files) -> dict[str, Any]:
    """Additions to a run and allowed changes, as members of a `change` line; empty if there are none."""
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
