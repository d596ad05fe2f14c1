"""Whether an answer that did not come in time comes later, only when the input ends, or never.

This tells a slow bot from one that does not flush, and from one that does not answer at all.
"""

from __future__ import annotations

import array
import fcntl
import select
import termios
import time
from enum import Enum

from referee.wire.connection import BotConnection

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
