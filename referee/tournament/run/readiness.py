"""Which bots can play: each is built and checked before the first game, or left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from referee.core.errors import UsageError
from referee.processes import building
from referee.processes.bot import Bot
from referee.processes.building import BuildFailure
from referee.records.amendments import LeftOut
from referee.tournament.file.bot_table import BotOrigin
from referee.tournament.file.file_list import file_list
from referee.tournament.run.opening import Candidate

Builder = Callable[[Bot, BotOrigin, Sequence[Path]], BuildFailure | None]
"""Builds a bot by the command of its origin while some paths are hidden, and returns how that failed."""


def builder(say: Callable[[str], None]) -> Builder:
    """Builds bots; `say` is called with lines for the user."""

    def build(bot: Bot, origin: BotOrigin, private: Sequence[Path]) -> BuildFailure | None:
        say(f"building {bot.name}")
        failure = building.build(bot, origin.build, origin.build_network, private)
        for line in failure.output if failure else ():
            say(f"  {line}")
        return failure

    return build


def without(
    candidate: Candidate, unfit: Iterable[LeftOut], leaves_out: bool, say: Callable[[str], None]
) -> Candidate:
    """The tournament without the bots that are `unfit` and are to play; nothing is asked of `unfit` where no
    games are left. `say` is called with lines for the user.

    Raises `UsageError` where too few bots are left, or a bot is unfit although none may be left out.
    """
    left_out = []
    for one in unfit if candidate.has_games_left else ():
        if one.bot in candidate.out:
            continue
        if not leaves_out:
            raise UsageError(one.error)
        left_out.append(one)
    if not left_out:
        return candidate
    try:
        found = candidate.without(left_out)
    except UsageError as error:
        for one in left_out[1:]:
            say(one.text)
        which = "it" if len(left_out) == 1 else "these bots"
        where = candidate.config.where
        why = str(error).removeprefix(where)
        raise UsageError(f"{where}{left_out[0].error}; without {which}, {why}") from None
    for one in left_out:
        say(one.text)
    return found


def unfit_bots(candidate: Candidate, build: Builder | None) -> Iterator[LeftOut]:
    """The bots that cannot play on this machine, of those that are to play there. With no `build`, bots that
    would be built are taken to be ready. Raises `UsageError` for a person, `EnvironmentLacksError` where a
    clock does not work here.
    """
    config, private = candidate.config, candidate.private
    for number, entrant in enumerate(candidate.tournament.entrants):
        bot, origin = entrant.bot, config.origins.get(entrant.bot.name, BotOrigin())
        with config.naming_file():
            bot.check_is_program()
        if bot.name in candidate.out:
            continue
        if origin.build:
            if build is None:
                continue
            if failure := build(bot, origin, private):
                yield not_built(bot, failure)
                continue
        try:
            for plan in candidate.tournament.plans:
                plan.entrants[number].check()
            if origin.files is not None:
                file_list(bot, origin, private)
        except UsageError as error:
            yield refused(bot, error)


def not_built(bot: Bot, failure: BuildFailure) -> LeftOut:
    """The bot, left out since its build failed."""
    return LeftOut(bot.name, f"it cannot be built: {failure.reason}", failure.output)


def refused(bot: Bot, error: UsageError) -> LeftOut:
    """The bot, left out for an error that may name it."""
    return LeftOut(bot.name, str(error).removeprefix(f"bot `{bot.name}`: "))
