"""Resource limits of a bot, parsed from text; `cgroups` and `execution` set them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from referee.core.errors import UsageError
from referee.core.text import meant, shown
from referee.core.units import parse_period, parse_size, show_period, show_size

SHARE = 0  # the value of a memory limit that stands for the bot's share of the machine's memory

SCRATCH = 1 << 30  # by default a bot may have this many bytes in its scratch folder

SHARED_PERCENT = 75
MIN_SHARE = 512 << 20
"""By default the bots that play at once have this share of the machine's memory together, in equal parts;
none has less than this.
"""


def share_of(memory: int, bots: int) -> int:
    """The bytes that each of this many bots may have by default."""
    return max(MIN_SHARE, memory * SHARED_PERCENT // 100 // max(1, bots))


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one bot and all processes that it starts; None is no limit."""

    memory: int | None = SHARE
    """Bytes of memory: of all processes together, and, where a number was given, of the data of each."""
    share: int | None = None
    """The bytes that `SHARE` means for all processes together: known when it is known how many bots play."""
    file_size: int | None = None  # the size of a file that it writes, in bytes
    open_files: int | None = None  # open files of each process
    processes: int | None = 500
    """Processes and threads at a time. By default far more than any bot needs, but it stops a fork bomb."""
    scratch: int | None = SCRATCH  # bytes in its scratch folder
    scratch_files: int | None = 20_000  # files and folders in its scratch folder
    cpu: int | None = None  # seconds of processor time of a process, over all the games that it plays

    @classmethod
    def parse(cls, given: Mapping[str, str], base: Limits | None = None) -> Limits:
        """Limits from their texts; those that are not named are taken from `base`. Raises `UsageError`."""
        changes: dict[str, int | None] = {}
        for name, text in given.items():
            if name not in _READ:
                raise UsageError(f"unknown limit `{shown(name, 40)}`, expected {meant(name, LIMITS)}")
            changes[name] = None if text == "none" else _READ[name](name, text)
        return replace(base or cls(), **changes)

    @property
    def memory_of_each(self) -> int | None:
        """The bytes of data that the kernel grants each process. Only a number that was given counts here:
        many programs reserve more than they use.
        """
        return None if self.memory == SHARE else self.memory  # guard: memory-of-each

    @property
    def memory_of_all(self) -> int | None:
        """The bytes of memory of all processes together."""
        return self.share if self.memory == SHARE else self.memory

    @property
    def names(self) -> list[str]:
        """The names of the limits that there are."""
        return [name for name in _SHOW if getattr(self, name) is not None]

    def changed(self) -> dict[str, str]:
        """The limits that differ from the default, as texts that `parse` reads."""
        texts = {}
        for name, show in _SHOW.items():
            value = getattr(self, name)
            if value != getattr(DEFAULT, name):
                texts[name] = "none" if value is None else show(value)
        return texts


def _size(name: str, text: str) -> int:
    try:
        return parse_size(text)
    except UsageError:
        raise UsageError(
            f"limit `{name}` is `{shown(text, 40)}`, expected a size such as `512MB`, or `none`"
        ) from None


LEAST_MEMORY = 1 << 20  # what the programs that start a bot need themselves


def _memory(name: str, text: str) -> int:
    memory = _size(name, text)
    if memory < LEAST_MEMORY:
        raise UsageError(
            f"limit `{name}` is `{shown(text, 40)}`, expected at least `{show_size(LEAST_MEMORY)}`, or `none`"
        )
    return memory


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise UsageError(f"limit `{name}` is `{shown(text, 40)}`, expected a number from 1, or `none`")
    return int(text)


def _seconds(name: str, text: str) -> int:
    try:
        seconds, rest = divmod(parse_period(text), 1_000_000)
    except UsageError:
        seconds = rest = 0
    if rest or not seconds:
        raise UsageError(
            f"limit `{name}` is `{shown(text, 40)}`, expected a whole number of seconds such as `90s`, "
            "or `none`"
        )
    return seconds


_READ: dict[str, Callable[[str, str], int]] = {
    "memory": _memory,
    "file_size": _size,
    "open_files": _count,
    "processes": _count,
    "scratch": _size,
    "scratch_files": _count,
    "cpu": _seconds,
}
LIMITS = tuple(_READ)  # the names of all limits

_SHOW: dict[str, Callable[[int], str]] = {
    "memory": show_size,
    "file_size": show_size,
    "open_files": str,
    "processes": str,
    "scratch": show_size,
    "scratch_files": str,
    "cpu": lambda seconds: show_period(seconds * 1_000_000),
}
DEFAULT = Limits()
