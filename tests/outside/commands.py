"""The command line in this process, where nothing from outside the package is loaded."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import ModuleType
from unittest import mock

from referee import games
from referee.core import named_code
from referee.tournament.formats import outside
from tests.command import Done, referee


def referee_in(folder: Path, *words: str) -> Done:
    """Runs `referee` in a folder; it knows as little of the files of games and formats as in a process of its
    own, and leaves as little behind.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(mock.patch.dict(os.environ))
        for known in (games._from_outside, games._sources, outside._loaded, named_code._run):
            stack.enter_context(mock.patch.dict(known, clear=True))
        loaded = _take_loaded()
        try:
            return referee(*words)
        finally:
            _take_loaded()
            sys.modules.update(loaded)


def _take_loaded() -> dict[str, ModuleType]:
    """Takes the modules of files out of those that are loaded."""
    return {name: sys.modules.pop(name) for name in [*sys.modules] if name.startswith(("game_", "format_"))}
