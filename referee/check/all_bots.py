"""Checks all bots of a tournament file, once they are built."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from referee.check.steps import StepResult, run_steps
from referee.check.tested_bot import SCALE, CheckSettings, scaled_clocks
from referee.core.this_machine import usable_memory
from referee.tournament.run.readiness import Builder, at_levels, isolated, unfit_bots
from referee.tournament.tournament import Tournament

PASSED, FAILED, LEFT_OUT = "passed", "failed", "left out"


class CheckedBot(NamedTuple):
    """The result of checking a bot for one of the games of a file."""

    bot: str
    game: str
    """The section, or the game where there is only one; empty where the bot cannot be started for any."""
    result: str
    why: str  # what failed; empty where it passed
    output: tuple[str, ...] = ()  # the last lines of a build that failed
    hint: str = ""  # what to do about it, where that is known

    def as_json(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {**self._asdict(), "output": list(self.output)}


def check_all(
    tournament: Tournament,
    isolation: str | None,
    steps: Collection[int],
    seed: str,
    build: Builder,
    on_bot: Callable[[str], object],
    out: Collection[str] = (),
) -> Iterator[CheckedBot]:
    """The results of all bots that are not `out`, in each game of the file; of a bot that cannot start only
    one, and as one those of a bot that enters under several names. `steps` are the chosen ones, as for
    `run_steps`; `on_bot` is called with what is checked next.

    Raises `UsageError` for a person, `EnvironmentLacksError` where this machine lacks something.
    """
    given_name = tournament.format.given_name
    once = {given_name(name): name for name in tournament.names}.values()
    out = {*out, *(name for name in tournament.names if name not in once)}
    tournament = at_levels(tournament, isolation, is_here=True)
    private = tournament.private(tournament.file.folder)
    unfit = {one.bot: one for one in unfit_bots(tournament, private, out, build)}
    for name, one in {given_name(one.bot): one for one in (*tournament.left_out, *unfit.values())}.items():
        yield CheckedBot(name, "", FAILED if one.is_fault else LEFT_OUT, one.reason, one.output)
    fit = [entrant.bot for entrant in tournament.entrants if entrant.bot.name not in {*unfit, *out}]
    settled = {bot.name: bot for bot in isolated(fit, private)}
    for plan in tournament.sharing(usable_memory(), 1).plans:
        game = plan.section or plan.game.slug
        for entrant in plan.entrants:
            if (name := entrant.bot.name) not in settled:
                continue
            bot = replace(settled[name], limits=entrant.bot.limits)
            settings = CheckSettings(
                bot,
                plan.game,
                {key: str(value) for key, value in plan.options.items()},
                seed,
                scaled_clocks(entrant.control),
                plan.start_us,
                bot.limits.memory,
                scale=SCALE,
            )
            on_bot(f"{given_name(name)} in {game}")
            yield _checked(given_name(name), game, [*run_steps(settings, steps)])


def _checked(name: str, game: str, results: list[StepResult]) -> CheckedBot:
    failed = [one for one in results if one.result == "failed"]
    if not failed:
        return CheckedBot(name, game, PASSED, "")
    why = "; ".join(f"step {one.number}, {one.title}: {one.text}" for one in failed)
    first = failed[0].failure
    return CheckedBot(name, game, FAILED, why, hint=first.hint if first else "")
