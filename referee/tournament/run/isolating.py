"""Applies the isolation of a run to its bots: the level of each, which `processes.levels` chooses, and the
files that are hidden from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from referee.core.settings import CONFINED
from referee.processes import levels, needs
from referee.processes.bot import Bot


def at_levels(bots: Iterable[Bot], level: str | None, is_here: bool) -> list[Bot]:
    """The bots of a tournament at a level that stands in place of their own, if one is given; persons as they
    are. The levels are settled where the games are played: on this machine if `is_here`.

    Raises `EnvironmentLacksError` where a level that was named does not work on this machine.
    """
    found = [replace(bot, isolation=level) if level and not bot.is_person else bot for bot in bots]
    return [bot if bot.is_person else levels.settled([bot])[0] for bot in found] if is_here else found


def isolated(bots: Iterable[Bot], private: Iterable[Path]) -> list[Bot]:
    """The bots of a tournament with their levels settled, and persons as they are. What is `private` to the
    referee, such as the run's folder, and the programs of the other bots are hidden from each, even where
    they lie in its own folder.

    Raises `EnvironmentLacksError` where a level that was named does not work on this machine.
    """
    given = list(bots)
    programs = [bot for bot in given if not bot.is_person]
    settled = iter(with_hidden(levels.settled(programs), [path.resolve() for path in private]))
    return [bot if bot.is_person else next(settled) for bot in given]


def with_hidden(bots: Sequence[Bot], private: Sequence[Path]) -> list[Bot]:
    """The bots; those whose files are confined, with what is hidden from them."""
    if not any(bot.isolation in CONFINED for bot in bots):
        return list(bots)
    files = [needs.files(bot.argv, bot.cwd, bot.environment()) for bot in bots]
    below: dict[Path, set[Path]] = {}  # the programs of all bots by each folder that they lie in
    for path in {path for bots_files in files for path in bots_files.named}:
        for folder in path.parents:
            below.setdefault(folder, set()).add(path)
    found = []
    for bot, (named, own) in zip(bots, files, strict=True):
        within = set[Path]().union(*(below.get(folder, ()) for folder in own))
        # Not what this bot names too, and no folder with its own files or its working directory.
        above = {parent for path in (*named, bot.cwd / "program") for parent in path.parents}
        hidden = (*private, *sorted(within - {*named} - above))
        found.append(replace(bot, hidden=hidden))  # guard: hidden-files
    return found
