"""From a bot's start to its first answer; steps 1 to 3 report on it.

A bot that does not answer in time is watched for as long again, and its input is closed if it seems to wait:
that distinguishes a slow bot from one that does not flush, and from one that does not answer at all.
"""

from __future__ import annotations

import array
import fcntl
import select
import termios
import time
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from referee.check import advice
from referee.check.tested_bot import CheckSettings, StepFailed, TestedBot
from referee.check.wires import BotWire
from referee.core.text import shown
from referee.core.units import about, show_period
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.games.api import Refusal
from referee.wire.connection import BotConnection

_S = 1_000_000


class FirstContact(NamedTuple):
    """What was observed, and at which step it failed, if it did."""

    failure: StepFailed | None
    step: int  # the step that failed, or 0
    hello_us: int = 0
    ready_us: int = 0
    answer_us: int = 0
    answer: str = ""

    def require(self, step: int) -> FirstContact:
        """Returns itself. Raises `StepFailed` if this is the step that failed."""
        if self.failure and self.step == step:
            raise self.failure
        return self


class _Awaited(NamedTuple):
    """What the bot was asked for: what it did not do if it is late, the message, its time, and advice."""

    action: str
    message: str
    time_us: int
    asked: bytes  # the word of the referee's message, which is empty for the start
    words: tuple[bytes, ...]  # the words of the bot's message
    advice: str


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
            return FirstContact(bot.failed(what, hint or advice.NOT_STARTED), 1)
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
    """Returns the failure and the number of its step; None and 0 if nothing failed."""
    fault = wire.fault
    if fault is None or fault.ending is Ending.ILLEGAL:  # the bot did answer
        return None, 0
    if fault.ending is not Ending.START:
        clock = settings.clocks[0]
        time_us = clock.move_us + clock.reserve_us
        awaited = _Awaited(
            "answer its first question",
            "the answer to the first question",
            time_us,
            b"ask",
            (b"move",),
            advice.ANSWER,
        )
        return _timeout_or_fault(bot, wire, fault, awaited), 3
    if said_hello:
        awaited = _Awaited(
            "answer `prepare` with `ready`",
            "`ready`",
            settings.start_us,
            b"prepare",
            (b"ready",),
            advice.SAY_READY,
        )
        return _not_ready(bot, wire, fault, awaited), 2
    if bot.connection.process and (ended := bot.connection.process.how_it_ended()):
        what = f"the bot {ended} before it sent `hello`"
        return bot.failed(what, fault.hint or advice.NOT_STARTED), 1
    awaited = _Awaited("send `hello`", "`hello`", settings.start_us, b"", (b"hello",), advice.SAY_HELLO)
    return _timeout_or_fault(bot, wire, fault, awaited), 2


def _not_ready(bot: TestedBot, wire: BotWire, fault: Retired, awaited: _Awaited) -> StepFailed:
    """Why the bot did not get ready; a bot may say on stderr that it does not play the game."""
    failed = _timeout_or_fault(bot, wire, fault, awaited)
    if any(advice.NOT_THIS_GAME in line for line in bot.stderr_lines()):
        what = f"the bot does not play {wire.terms.game.name}, as its stderr says"
        return StepFailed(what, advice.OTHER_GAMES, failed.diagnostics)
    return failed


def _timeout_or_fault(bot: TestedBot, wire: BotWire, fault: Retired, awaited: _Awaited) -> StepFailed:
    """Why the bot did not do this. After a timeout it is watched for as long again."""
    connection = bot.connection
    if connection.session.failure:
        starting = fault.ending is Ending.START
        not_done = "get ready: " if starting else f"{awaited.action}: it {fault.ending.sentence}: "
        return bot.failed(f"the bot did not {not_done}{shown(fault.detail, 300)}", bot.hint_of(fault))
    not_in_time = f"the bot did not {awaited.action} within {show_period(awaited.time_us)}"
    came, hint, computing = fault.detail, fault.hint, fault.timing.computing
    if computing:
        came += f"; it computed for {about(fault.timing.cpu_us)} of that"
    nothing = came.startswith("nothing")
    noise = connection.session.turn.noise
    failed = bot.failed(f"{not_in_time}: {came}", hint)
    if any(connection.session.is_awaited(line.encode()) for line in bot.stderr_lines()):
        return StepFailed(failed.what, advice.ON_STDERR, failed.diagnostics)
    if awaited.asked == b"ask" and noise and _is_legal(wire, noise):
        hint = f"the bot wrote only the move: write `move N {noise}`, with the number N of the question"
        return StepFailed(failed.what, hint, failed.diagnostics)
    late = late_answer(connection, awaited.time_us / _S, computing)
    if late is LateAnswer.HELD_BACK:
        what = (
            f"{not_in_time}, but only after its input ended: its output is buffered, or it reads its input "
            "to the end first"
        )
        return StepFailed(what, advice.FLUSH, failed.diagnostics)
    if late is LateAnswer.LATER:
        return _came_later(bot, awaited)
    if nothing and computing:
        hint = f"{hint}; {advice.LATE}" if awaited.asked == b"ask" else hint
    elif late is LateAnswer.UNREAD and not awaited.asked:  # otherwise it has read `hello`
        hint = advice.UNREAD
    elif nothing:
        hint = awaited.advice
    return StepFailed(failed.what, hint, failed.diagnostics)


def _came_later(bot: TestedBot, awaited: _Awaited) -> StepFailed:
    used_us = _used_us(bot, awaited)
    what = f"{awaited.message} came after {about(used_us)}, expected within {show_period(awaited.time_us)}"
    is_move = awaited.asked == b"ask"
    hint = advice.more_time(used_us) if is_move else advice.more_start(used_us, awaited.time_us)
    return StepFailed(what, hint, bot.failed(what, hint).diagnostics)


def _used_us(bot: TestedBot, awaited: _Awaited) -> int:
    """Measures how long the bot took to send a message that came too late."""
    asked_us = (bot.dialogue.when_us("<", awaited.asked) or 0) if awaited.asked else 0
    came_us = [us for word in awaited.words if (us := bot.dialogue.when_us(">", word)) is not None]
    return max(came_us, default=asked_us) - asked_us


def _is_legal(wire: BotWire, text: str) -> bool:
    try:
        wire.state.read(wire.seat, text)
    except Refusal:
        return False
    return True


BEFORE_INPUT_S = 1.0
"""Seconds, at most, in which an answer that is a little late may come while the input is still open."""

AFTER_INPUT_S = 0.5  # seconds within which an answer that was held back comes after the end of the input


class LateAnswer(Enum):
    """When a late answer came, if it came at all."""

    LATER = "later"
    HELD_BACK = "only when the input ended"
    UNREAD = "never: the bot has not read its input"
    NEVER = "never"


def late_answer(connection: BotConnection, patience_s: float, computing: bool) -> LateAnswer:
    """Waits for the answer for this many seconds more. The input of a bot that seems to wait is closed.

    `computing`: whether the bot was busy until now, so that it need not wait for anything.
    """
    now_s = time.monotonic()
    deadline_s = now_s + patience_s
    process = connection.process
    assert process
    unread = unread_bytes(process.stdin) > 0
    if not unread and not computing:
        if _came_by(connection, now_s + min(BEFORE_INPUT_S, patience_s / 2)):
            return LateAnswer.LATER
        connection.send(connection.session.quit())
        process.close_input()
        if _came_by(connection, time.monotonic() + AFTER_INPUT_S):
            return LateAnswer.HELD_BACK
    if _came_by(connection, deadline_s):
        return LateAnswer.LATER
    return LateAnswer.UNREAD if unread and unread_bytes(process.stdin) > 0 else LateAnswer.NEVER


def unread_bytes(pipe: int) -> int:
    """Counts the unread bytes in a pipe; 0 where that is not known."""
    count = array.array("i", [0])
    try:
        fcntl.ioctl(pipe, termios.FIONREAD, count)
    except (OSError, ValueError):
        return 0
    return count[0]


def _came_by(connection: BotConnection, deadline_s: float) -> bool:
    """Whether the answer comes before this time; the bot's output is read meanwhile."""
    process, session = connection.process, connection.session
    assert process
    while process.stdout_open and not session.failure:
        rest_s = deadline_s - time.monotonic()
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        if process.stderr_open:
            poll.register(process.stderr, select.POLLIN)
        if rest_s <= 0 or not poll.poll(rest_s * 1000):
            return False
        process.drain_stderr()
        if data := process.read():
            connection.receive(data)
        if any(map(session.is_awaited, session.last_received)):
            return True
    return False
