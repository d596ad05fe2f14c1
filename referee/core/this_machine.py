"""The name of this machine and the model of its processor, as records have them."""

from __future__ import annotations

import platform
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from referee.core.text import shown

CPU_INFO = Path("/proc/cpuinfo")

UNKNOWN = "unknown"

MAX_TEXT = 100  # maximum number of characters of the name, and of the model

_READ = 1 << 14
"""Maximum number of bytes that are read of the description of the processors, which repeats itself for each
core.
"""

_MODELS = ("model name", "cpu model", "cpu", "uarch", "model", "hardware")
"""What the model is called there, what tells most first. On x86 `model` is a number, beside `model name`."""

_ARM = ("cpu implementer", "cpu part")  # the numbers that stand for a model of ARM where it has no name


class ThisMachine(NamedTuple):
    """A machine as it names itself; both texts are escaped and bounded."""

    name: str
    cpu: str  # the model of its processor


@cache
def this_machine() -> ThisMachine:
    """This machine; what the system does not tell is `unknown`."""
    return ThisMachine(_text(socket.gethostname()), _text(_model()))


def _text(text: str) -> str:
    return shown(" ".join(text.split()), MAX_TEXT)[:MAX_TEXT] or UNKNOWN


def _model() -> str:
    return _model_of_macos() if sys.platform == "darwin" else model_in(_cpu_info()) or platform.machine()


def _cpu_info() -> str:
    with suppress(OSError), CPU_INFO.open("rb") as file:
        return file.read(_READ).decode(errors="replace")
    return ""


def model_in(text: str) -> str:
    """The model of the first processor in a text of the form of `/proc/cpuinfo`; empty where it has none."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and value.strip():
            values.setdefault(name.strip().lower(), value.strip())
    for name in _MODELS:
        if name in values:
            return values[name]
    numbers = [f"{name.removeprefix('cpu ')} {values[name]}" for name in _ARM if name in values]
    return f"ARM {' '.join(numbers)}" if numbers else ""


def _model_of_macos() -> str:
    command = ["sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        return subprocess.run(
            command, capture_output=True, check=False, timeout=10, text=True, errors="replace"
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
