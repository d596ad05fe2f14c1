"""Begins a run in a folder or continues it, after checking that the tournament file fits the folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.text import shown
from referee.tournament.comparison import additions, differences
from referee.tournament.config import Config
from referee.tournament.folder import OpenRun, Run, find_run
from referee.tournament.hashes import hashes
from referee.tournament.isolating import isolated
from referee.tournament.plan import Plan, checked_seed


@dataclass(frozen=True)
class Candidate:
    """A tournament that may be played in a folder, before anything is written there."""

    config: Config
    folder: Path
    plan: Plan
    run: Run | None
    """The run that is already there, if any."""


def examine(config: Config, folder: Path) -> Candidate:
    """Checks whether a tournament may be played in a folder, which must be `locked`.

    Raises `UsageError` where the folder belongs to another tournament, `RecordError` where a record is
    damaged.
    """
    run = find_run(folder)
    seed = run.header["seed"] if run else None
    plan = Plan(
        config.game,
        config.options,
        config.entrants,
        config.seed or seed or checked_seed(None),
        config.margin_us,
        config.rejections,
        config.start_us,
    )
    if run and (wrong := differences(run.header, plan, config.rounds)):
        raise UsageError(
            f"`{shown(str(folder))}` has the results of another tournament: "
            f"{shown('; '.join(wrong), 600)}; expected the same one, or more bots or rounds"
        )
    return Candidate(config, folder, plan, run)


def settled(candidate: Candidate, isolation: str | None) -> Candidate:
    """The candidate with the level of isolation of each bot settled; `isolation` stands in the place of what
    the tournament file says.

    Raises `EnvironmentLacksError` where a level that was named does not work on this machine.
    """
    plan = candidate.plan
    if isolation:
        bots = (replace(entrant.bot, isolation=isolation) for entrant in plan.entrants)
        entrants = (replace(entrant, bot=bot) for entrant, bot in zip(plan.entrants, bots, strict=True))
        plan = replace(plan, entrants=tuple(entrants))
    return replace(candidate, plan=isolated(plan, (candidate.folder, candidate.config.path)))


def open_run(candidate: Candidate, note: Callable[[str], None]) -> OpenRun:
    """Opens the folder for more games, once the bots' programs are built.

    `note` is called with lines for the user. Raises `StorageError`.
    """
    config, plan, run = candidate.config, candidate.plan, candidate.run
    files = {entrant.bot.name: hashes(entrant.bot) for entrant in plan.entrants}
    if run is None:
        header = {**plan.header(), "rounds": config.rounds, "files": files}
        return OpenRun.begin(candidate.folder, header, config.text)
    change = additions(run.header, plan, config.rounds, files)
    if changed := [name for name in change.get("files", ()) if name not in change.get("bots", ())]:
        note(f"bots whose program has changed since the run began: {', '.join(changed)}")
    if run.torn:
        note(f"the last record is incomplete after a crash, {run.torn} bytes; its game is played again")
        change["torn"] = run.torn
    return OpenRun.resume(run, change, config.text)
