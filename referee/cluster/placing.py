"""Translates a bot's paths for another machine, where its files are unpacked: its folder and its command."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from referee.cluster.bot_files import BotFiles
from referee.core.errors import EnvironmentLacksError
from referee.core.text import shown
from referee.processes.bot import Bot
from referee.tournament.file.file_list import MAX_BYTES, MAX_FILES

_LONGEST_PATH = 2000
"""Maximum number of characters of a path in a bot's files."""


def check(files: BotFiles) -> None:
    """Raises `EnvironmentLacksError` where the files have paths that lead elsewhere, or are too many."""
    paths = [file.path for file in files.files]
    folders = [path for path in (files.cwd, *(path for _, path in files.places)) if path not in ("", ".")]
    for path in (*paths, *folders):
        parts = path.split("/")
        if not {"", ".", ".."}.isdisjoint(parts) or "\0" in path or len(path) > _LONGEST_PATH:
            raise EnvironmentLacksError(  # guard: paths-in-files
                f"bot `{files.bot.name}`: `{shown(path)}` is not a path inside its folder"
            )
    if len(paths) > MAX_FILES or sum(file.size for file in files.files) > MAX_BYTES:
        raise EnvironmentLacksError(f"bot `{files.bot.name}` has too many files, or files that are too large")
    if len({*paths}) < len(paths):
        raise EnvironmentLacksError(f"bot `{files.bot.name}` has two files with the same path")


def placed(files: BotFiles, top: Path) -> Bot:
    """The bot with its files in the folder `top`."""
    bot, places = files.bot, _places(files, top)
    return replace(
        bot,
        cwd=Path(os.path.normpath(top / files.cwd)),
        command=tuple(_word(word, places) for word in bot.command),
        env=tuple((name, _word(value, places)) for name, value in bot.env),
        read=tuple(Path(places.get(str(path), path)) for path in bot.read),
    )


def placed_build(files: BotFiles, top: Path) -> tuple[str, ...]:
    """The words of the bot's build command with its files in the folder `top`."""
    places = _places(files, top)
    return tuple(_word(word, places) for word in files.build)


def _places(files: BotFiles, top: Path) -> dict[str, str]:
    """Maps paths on the referee's machine to paths on this one."""
    return {text: os.path.normpath(top / path) for text, path in files.places}


def _word(word: str, places: Mapping[str, str]) -> str:
    """A word with other paths: the whole, or its parts between `=` and `:`."""
    if word in places:
        return places[word]
    return "".join(places.get(part, part) for part in re.split("([=:])", word))
