"""Begins a run in a folder or continues it, after checking that the tournament file fits the folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.seeds import seed_hash
from referee.core.text import shown
from referee.records.amendments import LEFT_OUT, LeftOut, left_out_json
from referee.records.header import have_changed
from referee.records.run_files import RECORDS
from referee.tournament.file.config import Config
from referee.tournament.run.comparison import additions, differences
from referee.tournament.run.hashes import ListedFiles, Programs
from referee.tournament.run.isolating import at_levels, isolated
from referee.tournament.run.lock import locked
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.remaining import Remaining
from referee.tournament.run.run import Run, find_run
from referee.tournament.tournament import Tournament, tournament_of


@dataclass(frozen=True)
class Candidate:
    """A tournament that may be played in a folder, before anything is written there."""

    config: Config
    folder: Path
    tournament: Tournament
    run: Run | None
    """The run that is already there, if any."""
    programs: Programs = field(default_factory=Programs)
    """The programs of the bots; asked for all of them when the run is opened."""

    @property
    def out(self) -> Collection[str]:
        """The bots that are out of the tournament: they forfeit their games, and are not started."""
        return self.run.amendments.out if self.run else ()

    @cached_property
    def has_games_left(self) -> bool:
        """Whether games are to be played; where they are arranged one by one, always another one."""
        if self.tournament.format.is_arranged:
            return True
        run = self.run or Run.new(self.folder, self.tournament.header())
        return Remaining(self.tournament.matchmaking, run).next() is not None


def examine(config: Config, folder: Path, isolation: str | None = None, is_here: bool = True) -> Candidate:
    """Checks whether a tournament may be played in a folder, which must be `locked`.

    `isolation` stands in place of the levels that the tournament file names. Where the bots play on this
    machine the candidate has a level for each that works here; on a cluster, each machine settles them.

    Raises `UsageError` where the folder belongs to another tournament, `RecordError` where a record is
    damaged, `EnvironmentLacksError` where a level that was named does not work on this machine.
    """
    run = find_run(folder)
    with config.naming_file():
        if run and (late := _too_late(config, run)):
            config = config.without(late)
        tournament = tournament_of(config)
        tournament.check()
    left_out = {one.bot: one.reason for one in config.left_out}
    if run and (wrong := differences(run.header, tournament, left_out)):
        raise UsageError(
            f"`{shown(str(folder))}` has the results of another tournament: "
            f"{shown('; '.join(wrong), 600)}; expected the same tournament, perhaps with more bots or rounds "
            "or a larger budget, or another folder (`-o DIR`)"
        )
    bots = (entrant.bot for entrant in tournament.entrants)
    with config.naming_file():
        tournament = tournament.with_bots(at_levels(bots, isolation, is_here))
    programs = Programs(ListedFiles(config.origins, private_files(config, folder)).of)
    return Candidate(config, folder, tournament, run, programs)


def _too_late(config: Config, run: Run) -> list[LeftOut]:
    """The bots that the run began without, if its format takes in no bots later."""
    if config.format.is_open:
        return []
    began_without = run.header.get(LEFT_OUT, {}).keys() - run.header["bots"].keys()
    return [
        LeftOut(
            entrant.bot.name,
            f"this run started without it, and bots cannot be added to {config.format.kind} later; it can "
            "play in a new run, in another folder (`-o DIR`)",
            is_fault=False,
        )
        for entrant in config.entrants
        if entrant.bot.name in began_without
    ]


def private_files(config: Config, folder: Path) -> tuple[Path, ...]:
    """Lists what belongs to the referee and to no bot: the folder of the run, and the tournament file."""
    return folder.resolve(), config.path.resolve()


def with_hidden_files(candidate: Candidate) -> Candidate:
    """The candidate with the files that are hidden from each bot; the bots' programs must be built."""
    bots = (entrant.bot for entrant in candidate.tournament.entrants)
    hidden = isolated(bots, private_files(candidate.config, candidate.folder))
    return replace(candidate, tournament=candidate.tournament.with_bots(hidden))


def open_run(candidate: Candidate, note: Callable[[str], None]) -> OpenRun:
    """Opens the folder for more games, once the bots' programs are built.

    `note` is called with lines for the user. Raises `StorageError`.
    """
    config, tournament, run = candidate.config, candidate.tournament, candidate.run
    seed = tournament.plans[0].seed if tournament.plans[0].seed_is_hidden else None
    files = candidate.programs.changes(entrant.bot for entrant in tournament.entrants)
    if run is None:
        header = {**tournament.header(), "files": files}
        if config.left_out:
            header[LEFT_OUT] = left_out_json(config.left_out)
        return OpenRun.begin(candidate.folder, header, config.text, seed)
    change = additions(run.header, tournament, files)
    if (left_out := left_out_json(config.left_out)) != run.header.get(LEFT_OUT, {}):
        change[LEFT_OUT] = left_out
    known = run.header.get("files", {})
    if changed := [
        name for name, now in change.get("files", {}).items() if have_changed(known.get(name), now)
    ]:
        note(f"bots whose program has changed since the run began: {', '.join(changed)}")
    if run.torn:
        note(f"the last record is incomplete after a crash ({run.torn} bytes); its game is played again")
        change["torn"] = run.torn
    if seed is None or not candidate.has_games_left:
        return OpenRun.resume(run, change, config.text)
    # The earlier seed was revealed, or is lost: only the process that drew it knew it.
    return OpenRun.resume(run, {**change, "seed_sha256": seed_hash(seed)}, config.text, seed)


def set_aside(folder: Path) -> Path | None:
    """Renames the folder of a run, so that another one can begin there, and returns its new path: with the
    first number after its name that is free. None where no run is there. Raises `UsageError`.
    """
    if not os.path.lexists(folder / RECORDS):
        return None
    if Path.cwd().is_relative_to(folder.resolve()):
        raise UsageError(f"`{shown(str(folder))}` is the working directory or above it, expected another one")
    with locked(folder):
        paths = (folder.with_name(f"{folder.name}-{number}") for number in count(1))
        aside = next(path for path in paths if not os.path.lexists(path))
        try:
            folder.rename(aside)
        except OSError as error:
            raise UsageError(f"cannot rename `{shown(str(folder))}`: {error.strerror}") from None
    return aside
