"""Ends several bots together: the end of their input, a grace, SIGTERM, SIGKILL."""

from __future__ import annotations

import select
import time
from collections.abc import Iterable

from referee.processes.process import BotProcess

GRACE_S = 0.5
"""After `quit` and the end of its input a bot has this time to exit by itself …"""

TERM_S = 0.2
"""… and this time after SIGTERM; then comes SIGKILL."""


def end_processes(processes: Iterable[BotProcess], grace_s: float = GRACE_S) -> None:
    """Ends bots together: no more input, a moment to exit, SIGTERM, a moment more, SIGKILL to all of it."""
    to_end = list(processes)
    try:
        for process in to_end:
            process.close_input()
        if not _exited_within(to_end, grace_s):
            for process in to_end:
                process.terminate()
            _exited_within(to_end, TERM_S)
    finally:
        for process in to_end:
            process.kill()
        for process in to_end:
            process.reap()


def _exited_within(processes: list[BotProcess], seconds: float) -> bool:
    """Waits until all have exited, hearing what they still write. Whether they have, in time."""
    deadline = time.monotonic() + seconds
    while True:
        living = [process for process in processes if process.exit_status() is None]
        for process in processes:  # who has just exited may have said something before
            process.hear_final_output()
        if not living:
            return True
        rest = deadline - time.monotonic()
        if rest <= 0:
            return False
        poll = select.poll()
        for process in living:
            poll.register(process.control, select.POLLIN)
            if process.stdout_open:
                poll.register(process.stdout, select.POLLIN)
            if process.stderr_open:
                poll.register(process.stderr, select.POLLIN)
        poll.poll(rest * 1000)
