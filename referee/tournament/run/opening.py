"""Begins a run in a folder or continues it, after checking that the tournament file fits the folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.seeds import seed_hash
from referee.core.text import shown
from referee.core.this_machine import usable_memory
from referee.records.amendments import LEFT_OUT, LeftOut, left_out_json
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
    run: Run | None  # the run that is already there, if any
    isolation: str | None = None  # stands in place of the levels that the tournament file names
    is_here: bool = True  # whether the bots play on this machine

    @property
    def out(self) -> Collection[str]:
        """The bots that are out of the tournament: they forfeit their games, and are not started."""
        return self.run.amendments.out if self.run else ()

    @cached_property
    def has_games_left(self) -> bool:
        """Whether games are to be played; where they are arranged one by one, always another one."""
        if self.tournament.format.is_arranged:
            return True
        run = self.run or Run.new(self.folder, self.tournament.header)
        return Remaining(self.tournament.matchmaking, run).next() is not None

    @property
    def private(self) -> tuple[Path, ...]:
        """What belongs to the referee and to no bot: the folder of the run, and the tournament file."""
        return self.folder.resolve(), self.config.path.resolve()

    def without(self, left_out: Iterable[LeftOut]) -> Candidate:
        """The same without further bots. Raises what `examine` raises."""
        return _checked(self.config.without(left_out), self.folder, self.run, self.isolation, self.is_here)

    def ready(self, at_once: int) -> Candidate:
        """The same as it is played on this machine, this many games at once: with the files that are hidden
        from each bot, and its share of the memory. The programs must be built. Raises
        `EnvironmentLacksError`.
        """
        bots = isolated((entrant.bot for entrant in self.tournament.entrants), self.private)
        return replace(self, tournament=self.tournament.with_bots(bots).sharing(usable_memory(), at_once))

    def programs(self) -> Programs:
        """The programs of bots that play on this machine, none of which was asked for yet."""
        return Programs(ListedFiles(self.config.origins, self.private).of)


def examine(config: Config, folder: Path, isolation: str | None = None, is_here: bool = True) -> Candidate:
    """Checks whether a tournament may be played in a folder, which must be `locked`.

    The last two arguments as in `Candidate`. Where the bots play on this machine it has a level for each
    that works here; on a cluster, each machine settles them.

    Raises `UsageError` where the folder belongs to another tournament, `RecordError` where a record is
    damaged, `EnvironmentLacksError` where a level that was named does not work on this machine.
    """
    return _checked(config, folder, find_run(folder), isolation, is_here)


def _checked(
    config: Config, folder: Path, run: Run | None, isolation: str | None, is_here: bool
) -> Candidate:
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
    return Candidate(config, folder, tournament, run, isolation, is_here)


def _too_late(config: Config, run: Run) -> list[LeftOut]:
    """The bots that the run began without, if its format takes in no bots later."""
    if config.format.is_open:
        return []
    began_without = {one.bot for one in run.header.left_out} - run.header.bots.keys()
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


def open_run(candidate: Candidate, programs: Programs, note: Callable[[str], None]) -> OpenRun:
    """Opens the folder for more games, once the bots' `programs` are built.

    `note` is called with lines for the user. Raises `StorageError`.
    """
    config, tournament, run = candidate.config, candidate.tournament, candidate.run
    seed = tournament.plans[0].seed if tournament.plans[0].seed_is_hidden else None
    files = programs.changes(entrant.bot for entrant in tournament.entrants)
    if run is None:
        header = {**tournament.header.members, "files": files}
        if config.left_out:
            header[LEFT_OUT] = left_out_json(config.left_out)
        return OpenRun.begin(candidate.folder, header, config.text, seed)
    change = additions(run.header, tournament, files)
    if (left_out := left_out_json(config.left_out)) != run.header.members.get(LEFT_OUT, {}):
        change[LEFT_OUT] = left_out
    if changed := run.header.changed_files(change.get("files", {})):
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
