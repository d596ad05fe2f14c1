"""Bad bots for encounters with real processes."""

from __future__ import annotations

from pathlib import Path

from referee.processes.bot import Bot
from tests.command import BAD

MARGIN_US = 10_000


def bot(name: str, *vice: str) -> Bot:
    return Bot(name, (*BAD.split(), *vice), Path.cwd())
