"""Ends several bots together: closes their input, then sends SIGTERM and SIGKILL."""

from __future__ import annotations

import select
import time
from collections.abc import Iterable

from referee.processes.process import BotProcess

GRACE_S = 0.5  # seconds that a bot has to exit by itself after `quit` and the end of its input

PATIENT_S = 3_600_000.0
"""Seconds that a bot has to exit where there are no time limits: longer than anybody waits."""

TERM_S = 0.2  # seconds between SIGTERM and SIGKILL


_LONGEST_WAIT_S = 3600.0  # seconds of one wait at most: the system call takes no more than some weeks


def end_processes(processes: Iterable[BotProcess], grace_s: float = GRACE_S) -> None:
    """Ends bots together: closes their input, waits, sends SIGTERM, waits, kills all their processes."""
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
    """Waits until all have exited, reading their output meanwhile. Returns whether they exited in time."""
    deadline = time.monotonic() + seconds
    while True:
        living = [process for process in processes if process.exit_status() is None]
        for process in processes:  # one that has just exited may have written something before
            process.drain_final_output()
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
        poll.poll(min(rest, _LONGEST_WAIT_S) * 1000)
