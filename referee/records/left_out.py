"""Bots that a run was played without, since they could not be built or started. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from referee.core.fields import Fields
from referee.core.pairing import BOT_NAME
from referee.core.text import shown

LEFT_OUT = "left_out"
"""The member of a header or a `change` line that has the bots that are left out from then on."""

REASON_CAP = 300
"""Maximum number of characters of a reason, and of a line of output."""

LINES = 10
"""Maximum number of lines of output that are kept."""


class LeftOut(NamedTuple):
    """A bot that does not play, while the others do."""

    bot: str
    reason: str
    output: tuple[str, ...] = ()
    """The last lines that its build printed."""
    is_fault: bool = True
    """Whether something is wrong with the bot: not where the machine lacks a program that it `needs`."""

    @property
    def text(self) -> str:
        """The line that reports it."""
        return f"bot `{self.bot}` is left out: {self.reason}"

    @property
    def error(self) -> str:
        """The reason where it may not be left out."""
        return f"bot `{self.bot}`: {self.reason}"


def left_out_json(bots: Iterable[LeftOut]) -> dict[str, Any]:
    """The bots as the value of `LEFT_OUT`."""
    return {
        one.bot: {
            "reason": one.reason[:REASON_CAP],
            **({"output": [line[:REASON_CAP] for line in one.output[-LINES:]]} if one.output else {}),
        }
        for one in bots
    }


def left_out_of(header: Mapping[str, Any]) -> list[LeftOut]:
    """The bots that are left out by a header with all changes, which have been checked."""
    return [
        LeftOut(bot, what["reason"], tuple(what.get("output", ())))
        for bot, what in header.get(LEFT_OUT, {}).items()
    ]


def check_left_out(fields: Fields) -> None:
    """Raises the error of `fields` where a header or a `change` line has a wrong `LEFT_OUT`."""
    if not fields.has(LEFT_OUT):
        return
    bots = fields.object(LEFT_OUT)
    for name in bots.names():
        what = bots.object(name)
        texts = (what.text("reason"), *(what.texts("output") if what.has("output") else ()))
        is_safe = all(len(text) <= REASON_CAP and shown(text, REASON_CAP) == text for text in texts)
        if not BOT_NAME.fullmatch(name) or len(texts) > 1 + LINES or not is_safe:
            raise fields.wrong(LEFT_OUT, "names of bots, each with a reason and the last lines of its output")
