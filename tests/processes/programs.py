"""Programs that run as bots do, until they exit."""

from __future__ import annotations

import sys
from pathlib import Path

from referee.processes.process import BotProcess, end_processes
from referee.processes.program import Program
from tests.waiting import eventually

PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
"""An interpreter that every user can read, where there is one."""


def run(bot: Program) -> tuple[str, str, BotProcess]:
    """What a program writes to stdout and stderr until it exits."""
    process = BotProcess(bot)
    said = b""
    try:
        while process.stdout_open:
            said += process.read() or b""
            process.drain_stderr()
        eventually(process.exit_status)
        process.drain_stderr()
    finally:
        end_processes([process], grace_s=0)
    return said.decode(), process.complaints.text(), process
