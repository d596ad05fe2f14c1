"""The files in a run's folder: their names, and the folder, made for its owner alone."""

from __future__ import annotations

import contextlib
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.text import shown

RECORDS = "games.jsonl"
TOML = "tournament.toml"
NEW_TOML = "tournament.toml.new"
DIALOGUES = "dialogues.jsonl"
LOCK = "lock"

_NAMES = {RECORDS, TOML, NEW_TOML, DIALOGUES, LOCK}


def results_folder(toml: Path) -> Path:
    """The default folder of the results of a tournament file: beside it."""
    return toml.with_name(f"{toml.stem}-results")


def make_folder(folder: Path) -> list[Path]:
    """Makes a run's folder, and its parents, where they are missing: only their owner may enter them. Returns
    what was made, the innermost first.

    A folder that is there already is closed to others if it holds nothing but a run. Raises `UsageError`.
    """
    try:
        made = [part for part in (folder, *folder.parents) if not part.exists()]
        for missing in reversed(made):
            missing.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_dir():
            raise FileExistsError
        mode = folder.stat().st_mode
        if mode & 0o077 and all(found.name in _NAMES for found in folder.iterdir()):
            with contextlib.suppress(OSError):  # some file systems have no permissions
                folder.chmod(mode & 0o700)
        return made
    except FileExistsError:
        raise UsageError(f"cannot write to `{shown(str(folder))}`: it is not a folder") from None
    except OSError as error:
        raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None
