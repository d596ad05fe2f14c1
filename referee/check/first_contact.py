"""The first contact with a bot, from its start to its first answer; steps 1 to 3 report on it.

The input of a bot that sends nothing is closed, to see what follows: a program that buffers its output writes
it then, which distinguishes a missing flush from a bot that does nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from referee.check.settings import CheckSettings
from referee.check.tested_bot import StepFailed, TestedBot, hint_of
from referee.check.wires import BotWire
from referee.core.text import shown
from referee.core.units import about, show_period
from referee.gameplay.events import Ending, Moved, Rejected, Retired

FLUSH_HINT = (
    "flush after every line; protocol/PROTOCOL.md has a table that shows how in your language (in "
    "Python `print(line, flush=True)`)"
)
SILENT_HINT = (
    "read lines from standard input one by one as they arrive, answer each at once, and flush; if the bot "
    "only needs longer, `--time` gives it more time for a move, `--start` more to get ready"
)
START_HINT = (
    "run the command by hand in the same folder: it must start, keep running, and wait for lines on standard "
    "input"
)
SLOW_HINT = (
    "the bot needs longer than that: `--time` gives it more time for a move, `--start` more to get ready"
)

BUSY_DIVISOR = 10
"""A bot whose processor time is more than 1/10 of the time is busy and does not just wait."""


class FirstContact(NamedTuple):
    """What was observed, and at which step it failed, if it did."""

    failure: StepFailed | None
    step: int
    """The step that failed, or 0."""
    hello_us: int = 0
    ready_us: int = 0
    answer_us: int = 0
    answer: str = ""

    def require(self, step: int) -> FirstContact:
        """Returns itself. Raises `StepFailed` if this is the step that failed."""
        if self.failure and self.step == step:
            raise self.failure
        return self


@lru_cache(1)
def make_first_contact(settings: CheckSettings) -> FirstContact:
    """Starts the bot and plays to its first answer; the three steps share one result."""
    with settings.start() as bot:
        if bot.connection.process is None:
            assert bot.connection.failure
            what, hint = (
                f"the bot cannot be started: {bot.connection.failure.detail}",
                bot.connection.failure.hint,
            )
            return FirstContact(bot.failed(what, hint or START_HINT), 1)
        wire = BotWire(bot.seated(settings.terms_with_questions("acquaintance", 0, 1), 0), max_answers=1)
        bot.play(wire)
        hello_us, ready_us = (bot.dialogue.when_us(">", word) for word in (b"hello", b"ready"))
        failure, step = _failure(settings, bot, wire, hello_us is not None)
        first = next(
            (event for event in wire.events if isinstance(event, Moved | Rejected) and event.seat == 0), None
        )
        return FirstContact(
            failure,
            step,
            hello_us or 0,
            (ready_us or 0) - (bot.dialogue.when_us("<", b"prepare") or 0),
            (first.charge.used_us if isinstance(first, Moved) else first.used_us) if first else 0,
            first.text if first else "",
        )


def _failure(
    settings: CheckSettings, bot: TestedBot, wire: BotWire, said_hello: bool
) -> tuple[StepFailed | None, int]:
    """What went wrong, and at which step; None and 0 if nothing did."""
    fault = wire.fault
    if fault is None or fault.ending is Ending.ILLEGAL:  # the bot did answer
        return None, 0
    if fault.ending is not Ending.START:
        return _timeout_or_fault(settings, bot, fault, "answer its first question"), 3
    if said_hello:
        return _timeout_or_fault(settings, bot, fault, "get ready"), 2
    if bot.connection.process and bot.connection.process.how_it_ended():
        return bot.failed(f"the bot {fault.detail} before it sent `hello`", fault.hint or START_HINT), 1
    return _timeout_or_fault(settings, bot, fault, "send `hello`"), 2


def _timeout_or_fault(settings: CheckSettings, bot: TestedBot, fault: Retired, action: str) -> StepFailed:
    """Why the bot did not do this. After a timeout its input is closed, to see what it sends then."""
    if bot.connection.conversation.failure:
        how = "" if fault.ending is Ending.START else f"it {fault.ending.sentence}: "
        return bot.failed(f"the bot did not {action}: {how}{shown(fault.detail, 300)}", hint_of(fault))
    clock = settings.clocks[0]
    time_us = clock.move_us + clock.reserve_us if fault.ending is Ending.TIME else settings.start_us
    what, hint = bot.connection.what_came()
    timing = fault.timing
    if computing := timing.cpu_us * BUSY_DIVISOR > timing.wall_us:
        what, hint = f"{what}; it computed for {about(timing.cpu_us)} of that", SLOW_HINT
    failed = bot.failed(f"the bot did not {action} in {show_period(time_us)}: {what}", hint or SILENT_HINT)
    bot.end()
    if bot.connection.held_back and not computing:
        what = (
            f"the bot did not {action} in {show_period(time_us)}, only after its input ended: its output is "
            "buffered"
        )
        return StepFailed(what, FLUSH_HINT, failed.diagnostics)
    return failed
