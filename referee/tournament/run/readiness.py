"""Makes bots ready for games: each has its level of isolation, is built, and is checked.

Which level a name means, `processes.levels` decides; which files of a bot are hidden from the others, and
which bots cannot play and are left out, is decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.settings import CONFINED
from referee.core.this_machine import usable_memory
from referee.processes import building, levels, needs
from referee.processes.building import BuildFailure
from referee.processes.program import Program
from referee.records.amendments import LeftOut
from referee.tournament.file.file_list import ListedFiles, Programs, file_list
from referee.tournament.plan import BotOrigin
from referee.tournament.tournament import Tournament

Builder = Callable[[Program, BotOrigin, Sequence[Path]], BuildFailure | None]
"""Builds a bot by the command of its origin while some paths are hidden, and returns how that failed."""


def builder(say: Callable[[str], None]) -> Builder:
    """Builds bots, each once, under whatever names it enters; `say` is called with lines for the user."""
    built: dict[object, BuildFailure | None] = {}

    def build(bot: Program, origin: BotOrigin, private: Sequence[Path]) -> BuildFailure | None:
        key = replace(bot, name=""), origin.build, origin.build_network
        if key in built:
            return built[key]
        say(f"building {bot.name}")
        failure = built[key] = building.build(bot, origin.build, origin.build_network, private)
        for line in failure.output if failure else ():
            say(f"  {line}")
        return failure

    return build


def unfit_bots(
    tournament: Tournament, private: Sequence[Path], out: Collection[str], build: Builder | None
) -> Iterator[LeftOut]:
    """The bots that cannot play on this machine, of those that are to play there, which are not `out`. What
    is `private` to the referee is hidden from builds, and belongs to no bot. With no `build`, bots that would
    be built are taken to be ready. Raises `UsageError` for a person, `EnvironmentLacksError` where a
    clock does not work here.
    """
    for number, entrant in enumerate(tournament.entrants):
        bot, origin = entrant.bot, entrant.origin
        with tournament.file.named():
            bot.check_is_program()
        if bot.name in out:
            continue
        if origin.build:
            if build is None:
                continue
            given = replace(bot, name=tournament.format.given_name(bot.name))
            if failure := build(given, origin, private):
                yield not_built(bot, failure)
                continue
        try:
            for plan in tournament.plans:
                plan.entrants[number].check()
            if origin.files is not None:
                file_list(bot, origin, private)
        except UsageError as error:
            yield refused(bot, error)


def not_built(bot: Program, failure: BuildFailure) -> LeftOut:
    """The bot, left out since its build failed."""
    return LeftOut(bot.name, f"it cannot be built: {failure.reason}", failure.output)


def refused(bot: Program, error: UsageError) -> LeftOut:
    """The bot, left out for an error that may name it."""
    return LeftOut(bot.name, str(error).removeprefix(f"bot `{bot.name}`: "))


def at_levels(tournament: Tournament, level: str | None, is_here: bool) -> Tournament:
    """The tournament whose bots have a level that stands in place of their own, if one is given; persons as
    they are. The levels are settled where the games are played: on this machine if `is_here`.

    Raises `EnvironmentLacksError` where a level that was named does not work on this machine.
    """

    def settled(bot: Program) -> Program:
        if bot.is_person:
            return bot
        bot = replace(bot, isolation=level) if level else bot
        if not is_here:
            return bot
        given = replace(bot, name=tournament.format.given_name(bot.name))
        return replace(levels.settled([given])[0], name=bot.name)

    with tournament.file.named():
        return tournament.with_bots([settled(entrant.bot) for entrant in tournament.entrants])


def ready(tournament: Tournament, folder: Path, at_once: int) -> Tournament:
    """The tournament as it is played on this machine, this many games at once: with the files that are hidden
    from each bot, and its share of the memory. The programs must be built. Raises `EnvironmentLacksError`.
    """
    bots = isolated((entrant.bot for entrant in tournament.entrants), tournament.private(folder))
    return tournament.with_bots(bots).sharing(usable_memory(), at_once)


def programs_here(tournament: Tournament, folder: Path) -> Programs:
    """The programs of bots that play on this machine, none of which was asked for yet."""
    return Programs(ListedFiles(tournament.origins, tournament.private(folder)).of)


def isolated(bots: Iterable[Program], private: Iterable[Path]) -> list[Program]:
    """The bots of a tournament with their levels settled, and persons as they are. What is `private` to the
    referee, such as the run's folder, and the programs of the other bots are hidden from each, even where
    they lie in its own folder.

    Raises `EnvironmentLacksError` where a level that was named does not work on this machine.
    """
    given = list(bots)
    programs = [bot for bot in given if not bot.is_person]
    settled = iter(with_hidden(levels.settled(programs), [path.resolve() for path in private]))
    return [bot if bot.is_person else next(settled) for bot in given]


def with_hidden(bots: Sequence[Program], private: Sequence[Path]) -> list[Program]:
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
