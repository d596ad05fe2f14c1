"""Settles the isolation of bots: the level of each, and the files that are hidden from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from referee.core.isolation import CONFINED
from referee.processes import levels, needs
from referee.processes.bot import Bot


def isolated(bots: Iterable[Bot], private: Iterable[Path]) -> list[Bot]:
    """The bots of a tournament with their levels settled. What is `private` to the referee, such as the run's
    folder, and the programs of the other bots are hidden from each, even where they lie in its own folder.

    Raises `EnvironmentLacksError` where a level that was named does not work on this machine.
    """
    return with_hidden(levels.settled(bots), [path.resolve() for path in private])


def with_hidden(bots: Sequence[Bot], private: Sequence[Path]) -> list[Bot]:
    """The bots; those whose files are confined, with what is hidden from them."""
    if not any(bot.isolation in CONFINED for bot in bots):
        return list(bots)
    files = [set(needs.named(bot.argv, bot.cwd, bot.environment())) for bot in bots]
    below: dict[Path, set[Path]] = {}
    """The programs of all bots by each folder that they lie in."""
    for path in set[Path]().union(*files):
        for folder in path.parents:
            below.setdefault(folder, set()).add(path)
    found = []
    for bot, own in zip(bots, files, strict=True):
        folders = needs.own(bot.argv, bot.cwd, bot.environment())
        within = set[Path]().union(*(below.get(folder, ()) for folder in folders))
        # Not what this bot names too, and no folder with its own files or its working directory.
        above = {parent for path in (*own, bot.cwd / "program") for parent in path.parents}
        hidden = (*private, *sorted(within - own - above))
        found.append(replace(bot, hidden=hidden))  # guard: hidden-files
    return found
