"""The report on a bot's processes when all of them have ended, and exit codes as text."""

from __future__ import annotations

import signal
from typing import NamedTuple

from referee.core.units import about_size
from referee.processes import messages
from referee.processes.limits import Limits


class ExitReport(NamedTuple):
    """The report on a bot when all its processes have ended."""

    status: str  # how its own process ended
    orphans: tuple[str, ...] = ()  # processes that it had started and that outlived it; ten at most
    escaped: tuple[str, ...] = ()  # processes that had left its process group; ten at most
    unkillable: tuple[str, ...] = ()  # processes that hang in the kernel and could not be ended; ten at most
    refused: tuple[tuple[str, int], ...] = ()
    """The system calls that it was refused, where that is counted, and how often; the last one comes last."""
    cpu_us: int = 0  # the processor time of all its processes
    memory_bytes: int = 0
    """The peak of its largest process; at least some 10 MB, the size of the warden that it is forked from."""
    ignored_quit: bool = False  # whether it was not at fault, and still had to be ended after `quit`


def status_text(code: int) -> str:
    """Describes how a process ended; the code is that of `subprocess`."""
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def excess(limit: str, count: int, most: int) -> str:
    """The sentence for a limit of the whole process tree that a bot exceeded."""
    match limit:
        case messages.PROCESSES:
            return f"{count} processes and threads, expected at most {most}"
        case messages.MEMORY:
            return f"{about_size(count)} of memory, expected at most {about_size(most)}"
        case messages.SCRATCH_BYTES:
            return f"{about_size(count)} in its scratch folder, expected at most {about_size(most)}"
        case messages.SCRATCH_FILES:
            return f"more than {most} files and folders in its scratch folder"
        case messages.SCRATCH_DEPTH:
            return f"folders nested more than {most} deep in its scratch folder"
        case messages.OUT_OF_MEMORY:
            return "so much memory that the machine had none left, and the system killed it"
        case _:
            raise ValueError(limit)


def exceeded(code: int, limits: Limits, own_cpu_ns: int, all_cpu_ns: int) -> str:
    """Names the limit for which the kernel ended a process; empty if for none.

    `own_cpu_ns`: the processor time of the process as limits count it; `all_cpu_ns`: of its whole tree.
    """
    if limits.cpu is not None:
        most_ns = limits.cpu * 1_000_000_000
        ignored = code == -signal.SIGKILL and own_cpu_ns >= most_ns  # SIGXCPU comes first
        # A shell tells so that its program was ended. Of that only an exact time is known, and the kernel
        # counts in ticks.
        told_by_shell = code == 128 + signal.SIGXCPU and all_cpu_ns >= most_ns // 2
        if code == -signal.SIGXCPU or ignored or told_by_shell:
            return "more processor time than it may use"
    if code == -signal.SIGXFSZ and limits.file_size is not None:
        return "a file of more bytes than it may have"
    return ""
