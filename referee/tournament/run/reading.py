"""Runs as the command line names them: where they are, and several of them as one set of games."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from referee.core.errors import RecordError, UsageError
from referee.core.files import is_regular, read_start
from referee.core.pairing import Pairing
from referee.core.text import shown
from referee.core.work import Stage, untold_stage
from referee.ratings.standings import Facts
from referee.ratings.times import Times
from referee.records.record import Summary, json_of
from referee.records.run_files import RECORDS, results_folder
from referee.tournament.run.progress import facts_of
from referee.tournament.run.run import StoredRun, game_lines, numbers_of, read_run, wrong_line

_LOOK = 1 << 20  # how many bytes of a file are looked at to tell whether it is a file of records

_FIRST_LINE = re.compile(rb'\{"kind":|[^\n]*,"hash":"[0-9a-f]{64}"\}\n')
"""A first line that has the beginning or the end of one, damaged or not."""


def run_folder(path: Path) -> Path:
    """The folder of the run that a path means: the folder itself, that of a file of records in it, or the
    default folder of the results of a tournament file.

    Raises `UsageError` where there is no run.
    """
    folder = path
    if path.suffix == ".toml" and not path.is_dir():
        folder = results_folder(path)
        if is_regular(path) and not os.path.lexists(folder / RECORDS):
            raise UsageError(
                f"`{shown(str(path))}` has no results in `{shown(str(folder))}`, expected a folder with "
                "results; run the tournament first, or name the folder"
            )
    elif path.name == RECORDS and not path.is_dir():
        folder = path.parent
    if not os.path.lexists(folder / RECORDS):
        raise _no_run(path)
    return folder


def future_folder(path: Path) -> Path:
    """The folder of the run that a path means, as `run_folder` finds it, where the run may be still to begin:
    then any folder, or a tournament file. Raises `UsageError`.
    """
    if path.suffix == ".toml" and is_regular(path):
        return results_folder(path)
    return path if path.is_dir() else run_folder(path)


def records_at(path: Path) -> Path:
    """A file of records, or a folder with one, that a path means: any such file, or else the folder of a run,
    as `run_folder` finds it.

    Raises `UsageError` where there are no records. A file with the name of a run's is taken for one, whatever
    is in it, and another one if its first line looks like theirs: so what is damaged is not overlooked.
    """
    if path.suffix == ".toml" or not is_regular(path):
        return run_folder(path)
    try:
        start = read_start(path, _LOOK)
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None
    if path.name != RECORDS and not _FIRST_LINE.match(start):
        raise _no_run(path)
    return path


def _no_run(path: Path) -> UsageError:
    expected = f"expected a run's folder, with a file `{RECORDS}`, or a tournament file that was run"
    try:
        path.lstat()
    except OSError as error:
        return UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}, {expected}")
    return UsageError(f"`{shown(str(path))}` is not a run, {expected}")


def game_named(runs: Iterable[StoredRun], name: str) -> tuple[StoredRun, str]:
    """The game with this id, or with this number in the file of a single run, and the run that has it.

    Raises `UsageError` where there is none, or several runs have one with this id.
    """
    runs = list(runs)
    having = [(run, name) for run in runs if name in run.games]
    if not having and len(runs) == 1 and name.isascii() and name.isdecimal():
        having = [(runs[0], game) for game, number in numbers_of(runs[0]).items() if str(number) == name]
    if len(having) == 1:
        return having[0]
    where = ", ".join(f"`{shown(str(run.folder))}`" for run in ([run for run, _ in having] or runs))
    if having:
        raise UsageError(f"game `{shown(name, 200)}` is in several runs ({where}), expected only one of them")
    example = next((game for run in runs for game in run.games), None)
    number = f" or a number from 1 to {len(runs[0].games)}" if len(runs) == 1 else ""
    expected = f"an id such as `{shown(example)}`{number}" if example else "a run with games"
    raise UsageError(f"there is no game `{shown(name, 200)}` in {where}, expected {expected}")


@dataclass(frozen=True)
class Runs:
    """Several runs as one set of games."""

    runs: tuple[StoredRun, ...]  # in the order in which they were named
    chosen: Mapping[Path, Collection[str]] | None = None
    """The ids of the games that count, by the folder of their run; None where all do."""

    @cached_property
    def names(self) -> list[str]:
        """The names of the bots of all runs; where games are chosen, of those that played them. Bots with the
        same name are taken for the same bot.
        """
        names = list(dict.fromkeys(name for run in self.runs for name in run.names))
        if self.chosen is None:
            return names
        playing = {bot for game in self.games for bot in game.bots}
        return [name for name in names if name in playing]

    @cached_property
    def games(self) -> list[Summary]:
        """The games of all runs; where there are several runs, with ids that tell them apart.

        Sections of the same name, or runs without sections, are one section where the game, its rules and its
        options are the same; else each has a name of its own, made from that of the game. Where two runs have
        the same id in a section, the rounds of the later one are counted on from those of the earlier.
        """
        if len(self.runs) == 1:
            return self.games_of(self.runs[0])
        sections = self._section_names()
        found: dict[str, Summary] = {}
        last_rounds: dict[str, int] = {}  # the highest round so far in each section
        for run, names in zip(self.runs, sections, strict=True):
            games = [(names[pairing.section], pairing, game) for pairing, game in self._pairings(run)]
            repeated = {section for section, pairing, _ in games if _moved(pairing, section, 0).id in found}
            before = dict(last_rounds)
            for section, pairing, game in games:
                moved = _moved(pairing, section, before[section] if section in repeated else 0)
                found[moved.id] = game._replace(id=moved.id)
                last_rounds[section] = max(last_rounds.get(section, 0), moved.number)
        return list(found.values())

    def games_of(self, run: StoredRun) -> list[Summary]:
        """The games of one of the runs that count, with their ids in that run."""
        games = run.shown_games
        return games if self.chosen is None else [g for g in games if g.id in self.chosen[run.folder]]

    def _pairings(self, run: StoredRun) -> list[tuple[Pairing, Summary]]:
        return [(Pairing.parse(game.id), game) for game in self.games_of(run)]

    @property
    def seats(self) -> int:
        """How many seats a game has; the most, where they differ. Raises `RecordError`."""
        return max(seats for run in self.runs for seats in run.seats.values())

    @property
    def facts(self) -> Facts:
        """What tables say of the runs besides their games; several runs, and chosen games, have no order of a
        format.
        """
        if self.chosen is None:
            return self._facts
        counted = len(self.games), sum(len(run.games) for run in self.runs)
        return replace(
            self._facts, places={}, tables={}, stages={}, unknown_format="", closed="", chosen=counted
        )

    @property
    def _facts(self) -> Facts:
        facts = [facts_of(run, run.is_open) for run in self.runs]
        if len(facts) == 1:
            return facts[0]
        changed = {bot: when for one in facts for bot, when in one.changed.items()}
        counts = all(one.repeats == "count" for one in facts)
        left_out = [bot for one in facts for bot in one.left_out]
        return Facts(changed=changed, repeats="count" if counts else "cluster", left_out=left_out)

    def _section_names(self) -> list[dict[str, str]]:
        """Maps the names of the sections of each run to new ones."""
        kinds: dict[str, list[bytes]] = {}  # by the name of a section, the different games that have it
        sections = [{name: _kind(run, name) for name in _sections(run)} for run in self.runs]
        for one in sections:
            for name, (_, settings) in one.items():
                if settings not in kinds.setdefault(name, []):
                    kinds[name].append(settings)
        taken = {name for name, different in kinds.items() if len(different) == 1}
        names: dict[tuple[str, bytes], str] = {}
        for one in sections:
            for name, (slug, settings) in one.items():
                if len(kinds[name]) == 1:
                    names[name, settings] = name
                elif (name, settings) not in names:
                    names[name, settings] = _free(name or slug, taken)
                    taken.add(names[name, settings])
        return [{name: names[name, settings] for name, (_, settings) in one.items()} for one in sections]


def read_runs(paths: Sequence[Path], stage: Stage = untold_stage) -> Runs:
    """The runs that some paths mean, as `run_folder` finds them.

    Raises `UsageError` where there is no run, or one comes twice, `RecordError` where a record is damaged.
    """
    runs: dict[str, StoredRun] = {}
    for path in paths:
        run = read_run(run_folder(path), stage("reading the results"))
        if run.last_hash in runs:
            other = runs[run.last_hash].folder
            raise UsageError(
                f"`{shown(str(other))}` and `{shown(str(run.folder))}` are the same run, expected each once"
            )
        runs[run.last_hash] = run
    return Runs(tuple(runs.values()))


def times_of(runs: Runs) -> Times:
    """The times of the moves of all bots; this reads the whole records. Raises `RecordError`."""
    times = Times()
    for run in runs.runs:
        for line in game_lines(run, {game.id for game in runs.games_of(run)}):
            try:
                times.add(run.shown_bots(line.game), line.text)
            except RecordError as error:
                raise wrong_line(run, line, error) from None
    return times


def _moved(pairing: Pairing, section: str, rounds: int) -> Pairing:
    """A game in another section, this many rounds later."""
    return Pairing.of(pairing.number + rounds, pairing.bots, pairing.part, section)


def _sections(run: StoredRun) -> list[str]:
    """The names of the sections that a run has games of."""
    return list(dict.fromkeys(Pairing.parse(game).section for game in run.games))


def _kind(run: StoredRun, section: str) -> tuple[str, bytes]:
    """The slug of the game of a section, and what has to be the same in games that are rated together."""
    played = run.header.sections[section]
    return played.game, json_of([played.game, played.rules, played.options])


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken: this one, or with a number."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found
