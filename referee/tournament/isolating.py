"""Settles the isolation of the bots of a plan: the level of each, and the files that are hidden from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from referee.processes import levels, needs
from referee.processes.bot import Bot
from referee.tournament.plan import Plan


def isolated(plan: Plan, private: Iterable[Path]) -> Plan:
    """The plan with bots whose levels are settled. What is `private` to the referee, such as the run's
    folder, and the programs of the other bots are hidden from each, even where they lie in its own folder.

    Raises `EnvironmentLacksError` where a level that was named does not work on this machine.
    """
    bots = levels.settled(entrant.bot for entrant in plan.entrants)
    bots = with_hidden(bots, [path.resolve() for path in private])
    entrants = (replace(entrant, bot=bot) for entrant, bot in zip(plan.entrants, bots, strict=True))
    return replace(plan, entrants=tuple(entrants))


def with_hidden(bots: Sequence[Bot], private: Sequence[Path]) -> list[Bot]:
    """The bots, each with what is hidden from it."""
    files = [set(needs.named(bot.argv, bot.cwd, bot.environment())) for bot in bots]
    programs = set[Path]().union(*files)
    found = []
    for bot, own in zip(bots, files, strict=True):
        folders = set(needs.own(bot.argv, bot.cwd, bot.environment()))
        # Not what this bot names too, and no folder with its own files or its working directory.
        above = {parent for path in (*own, bot.cwd / "program") for parent in path.parents}
        others = (path for path in programs if path not in own and path not in above)
        within = [path for path in others if not folders.isdisjoint(path.parents)]
        found.append(replace(bot, hidden=(*private, *sorted(within))))
    return found
