"""Which bots can play: each is built and checked before the first game, or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from referee.core.errors import UsageError
from referee.processes.bot import Bot
from referee.processes.building import BuildFailure
from referee.records.left_out import LeftOut
from referee.tournament.file.bot_table import BotOrigin
from referee.tournament.file.config import Config
from referee.tournament.file.file_list import file_list
from referee.tournament.run.opening import Candidate, examine, private_files

Builder = Callable[[Bot, BotOrigin, Sequence[Path]], BuildFailure | None]
"""Builds a bot by the command of its origin while some paths are hidden, and returns how that failed."""


def ready(
    config: Config,
    folder: Path,
    isolation: str | None,
    is_here: bool,
    build: Builder | None,
    say: Callable[[str], None],
    leaves_out: bool = True,
) -> Candidate:
    """The tournament without the bots that cannot play, if it may be played in a folder: arguments and errors
    as for `examine`, and `UsageError` where too few bots are left, or a bot cannot play and none may be left
    out. `say` is called with lines for the user.

    With no `build`, bots that would be built are taken to be ready. On a cluster, where its machines build
    and check the bots, only the files of the bots are looked at.
    """
    candidate = examine(config, folder, isolation, is_here)
    for one in candidate.config.left_out[len(config.left_out) :]:
        say(one.text)
    unfit = []
    for one in unfit_bots(candidate, is_here, build) if candidate.has_games_left else ():
        if not leaves_out:
            raise UsageError(f"bot `{one.bot}`: {one.reason}")
        say(one.text)
        unfit.append(one)
    if not unfit:
        return candidate
    try:
        return examine(candidate.config.without(unfit), folder, isolation, is_here)
    except UsageError as error:
        which = f"bot `{unfit[0].bot}`: {unfit[0].reason}"
        raise UsageError(f"{which}; without {'it' if len(unfit) == 1 else 'these bots'}, {error}") from None


def unfit_bots(candidate: Candidate, is_here: bool, build: Builder | None) -> Iterator[LeftOut]:
    """The bots that cannot play, of those that are to play. Raises `UsageError` for a person,
    `EnvironmentLacksError` where a clock does not work on this machine.
    """
    config = candidate.config
    private = private_files(config, candidate.folder)
    out = candidate.run.amendments.out if candidate.run else {}
    for number, entrant in enumerate(candidate.tournament.entrants):
        bot, origin = entrant.bot, config.origins.get(entrant.bot.name, BotOrigin())
        if bot.is_person:
            bot.check()  # which refuses
        if bot.name in out:
            continue
        if is_here and origin.build:
            if build is None:
                continue
            if failure := build(bot, origin, private):
                yield LeftOut(bot.name, f"it cannot be built: {failure.reason}", failure.output)
                continue
        try:
            if is_here:
                for plan in candidate.tournament.plans:
                    plan.entrants[number].check()
            if origin.files is not None or not (is_here or origin.shared):
                file_list(bot, origin, private)
        except UsageError as error:
            yield LeftOut(bot.name, str(error).removeprefix(f"bot `{bot.name}`: "))
