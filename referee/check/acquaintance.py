"""The first conversation with a bot, from its start to its first answer. Steps 1 to 3 look at it.

A bot that says nothing is asked once more, in a way: its input is ended. A program that holds its output
back lets go of it then, and what comes tells a buffer from a bot that does nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from referee.check.bench import Bench
from referee.check.subject import Failed, Subject, hint_of
from referee.check.table import Table
from referee.core.text import shown
from referee.core.units import about, show_period
from referee.gameplay.events import Ending, Moved, Rejected, Retired

FLUSH = (
    "flush after every line; protocol/PROTOCOL.md has a table that tells your language how (in Python "
    "`print(line, flush=True)`)"
)
SILENT = (
    "read lines from standard input, one by one as they come, answer each at once, and flush; if it only "
    "thinks longer, `--time` gives it more time and `--start` more to get ready"
)
STARTS = (
    "run the command by hand, in the same folder: it must start, stay, and wait for lines on standard input"
)
SLOW = "it takes longer than that: `--time` gives it more time for a move, `--start` more to get ready"

BUSY = 10
"""Who computes for this part of the time does not just wait, however little of the machine it gets."""


class Acquaintance(NamedTuple):
    """How it went, and where it ended."""

    failure: Failed | None
    step: int
    """At which it failed."""
    hello_us: int = 0
    ready_us: int = 0
    answer_us: int = 0
    answer: str = ""

    def passed(self, step: int) -> Acquaintance:
        """Itself. Raises `Failed` where it failed at this step."""
        if self.failure and self.step == step:
            raise self.failure
        return self


@lru_cache(1)
def acquaint(bench: Bench) -> Acquaintance:
    """Starts the bot and plays to its first answer: once for the three steps."""
    with bench.start() as bot:
        if bot.link.process is None:
            assert bot.link.failure
            what, hint = f"it cannot be started: {bot.link.failure.detail}", bot.link.failure.hint
            return Acquaintance(bot.failed(what, hint or STARTS), 1)
        table = Table(bot.sits(bench.lively("acquaintance", 0, 1), 0), most=1)
        bot.play(table)
        hello_us, ready_us = (bot.witness.when_us(">", word) for word in (b"hello", b"ready"))
        failure, step = _failure(bench, bot, table, hello_us is not None)
        first = next(
            (event for event in table.events if isinstance(event, Moved | Rejected) and event.seat == 0), None
        )
        return Acquaintance(
            failure,
            step,
            hello_us or 0,
            (ready_us or 0) - (bot.witness.when_us("<", b"prepare") or 0),
            (first.charge.used_us if isinstance(first, Moved) else first.used_us) if first else 0,
            first.text if first else "",
        )


def _failure(bench: Bench, bot: Subject, table: Table, greeted: bool) -> tuple[Failed | None, int]:
    """What went wrong, and at which step."""
    fault = table.fault
    if fault is None or fault.ending is Ending.ILLEGAL:  # then it did answer
        return None, 0
    if fault.ending is not Ending.START:
        return _why(bench, bot, fault, "answer its first question"), 3
    if greeted:
        return _why(bench, bot, fault, "get ready"), 2
    if bot.link.process and bot.link.process.how_it_ended():
        return bot.failed(f"it {fault.detail} before it said hello", fault.hint or STARTS), 1
    return _why(bench, bot, fault, "say hello"), 2


def _why(bench: Bench, bot: Subject, fault: Retired, do: str) -> Failed:
    """Why a bot did not do what it was expected to. Where its time was up, a closer look is taken: at what
    still comes when its input ends.
    """
    if bot.link.channel.failure:
        how = "" if fault.ending is Ending.START else f"it {fault.ending.sentence}: "
        return bot.failed(f"it did not {do}: {how}{shown(fault.detail, 300)}", hint_of(fault))
    clock = bench.clocks[0]
    time_us = clock.move_us + clock.reserve_us if fault.ending is Ending.TIME else bench.start_us
    what, hint = bot.link.what_came()
    timing = fault.timing
    if computing := timing.cpu_us * BUSY > timing.wall_us:
        what, hint = f"{what}; it computed for {about(timing.cpu_us)} of that", SLOW
    failed = bot.failed(f"it did not {do} in {show_period(time_us)}: {what}", hint or SILENT)
    bot.end()
    if bot.link.held_back and not computing:
        what = f"it did not {do} in {show_period(time_us)}, but when its input ended: a buffer holds it back"
        return Failed(what, FLUSH, failed.evidence)
    return failed
