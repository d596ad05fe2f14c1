"""Merges runs of the same tournament that were played on several machines into one new run."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from referee.core.errors import StorageError, UsageError
from referee.core.seeds import shared_by
from referee.core.text import counted, shown
from referee.core.time_limit import CLOSED, PLAYED_US
from referee.core.time_limit import KEYS as TIME_KEYS
from referee.records import journal
from referee.records.amendments import MEMBERS
from referee.records.header import CALIBRATION, CHANGED, GROWING, change_line
from referee.records.heads import Head
from referee.records.record import Summary
from referee.records.run_files import DIALOGUES, TOML, make_folder
from referee.tournament import formats
from referee.tournament.run.lock import is_locked
from referee.tournament.run.open_run import DIALOGUES_CAP
from referee.tournament.run.run import Run, objects_in, old_void_lines
from referee.tournament.run.run_state import RunState

_MAX_ROWS_SHOWN = 10
"""How many ids of games a message names."""

_AT_ONCE = 1000
"""How many games are written at once."""

_MAY_DIFFER = {
    "bots",
    "files",
    "seed",
    "seed_sha256",
    CALIBRATION,
    CHANGED,
    CLOSED,
    PLAYED_US,
    *TIME_KEYS,
    *GROWING,
    *MEMBERS,
}
"""The members of a header in which runs that are merged may differ."""


@dataclass
class MergeChoice:
    """Which games of several runs are taken into one."""

    owner: dict[str, int] = field(default_factory=dict)
    """The number of the run that each game is taken from, counted from 0, by id."""
    voids: dict[str, int] = field(default_factory=dict)
    """By id, the number of the run that the void attempts at a game are taken from: that of the game, if it
    has a record.
    """
    repeated: list[str] = field(default_factory=list)
    """The games that an earlier run has too, with the same events."""
    contradicting: list[str] = field(default_factory=list)
    """The games that an earlier run has with other events, and those whose encounter has another shared seed
    there.
    """


def choose(runs: Sequence[Run]) -> MergeChoice:
    """Chooses each game from the first run that has it."""
    choice = MergeChoice()
    taken: dict[str, Summary] = {}
    shared_seeds: dict[str, bytes] = {}
    for number, run in enumerate(runs):
        for game in (*run.games.values(), *run.annulled.values()):
            sharing = shared_by(game.id)
            seed = run.shared_seeds[sharing]
            if (before := taken.get(game.id)) is not None:
                is_same = (before.digest, before.ranks) == (game.digest, game.ranks)
                (choice.repeated if is_same else choice.contradicting).append(game.id)
            elif shared_seeds.setdefault(sharing, seed) != seed:  # guard: merged-encounters
                choice.contradicting.append(game.id)
            else:
                choice.owner[game.id] = number
                taken[game.id] = game
    for number, run in enumerate(runs):
        for void in run.voids:
            choice.voids.setdefault(void.id, choice.owner.get(void.id, number))
    return choice


def check_mergeable(runs: Sequence[Run]) -> None:
    """Raises `UsageError` where runs are not of the same tournament, or of one that cannot be merged."""
    first, *others = runs
    for run in runs:
        where = f"`{shown(str(run.folder))}`"
        if is_locked(run.folder):
            raise UsageError(f"another referee is running in {where}, expected a run that is not in progress")
        if "rounds" not in run.header:
            raise UsageError(
                f"{where} has the records of a match played with an earlier version of the referee, "
                "which cannot be merged"
            )
        if run.amendments.replayed:
            raise UsageError(f"{where} has games that were played again, expected a run without such games")
        if formats.from_header(run.header).follows_results:
            raise UsageError(
                f"{where} has the format `{run.header['format']}`, in which pairings depend on results: "
                "expected a format with a fixed schedule"
            )
    bots: dict[str, Any] = dict(first.header["bots"])
    for run in others:
        pair = f"`{shown(str(first.folder))}` and `{shown(str(run.folder))}`"
        wrong = [f"`{key}`" for key in _differing(first.header, run.header)]
        wrong += [
            f"bot `{name}`" for name, bot in run.header["bots"].items() if bots.setdefault(name, bot) != bot
        ]
        if wrong:
            raise UsageError(f"{pair} differ in {', '.join(wrong)}, expected runs of the same tournament")
    format_ = formats.from_header(first.header)
    added = [name for name in bots if name not in first.header["bots"]]
    for problem in format_.may_grow(format_, added):
        raise UsageError(problem)
    renamed = {old: new for run in runs for old, new in run.amendments.renamed.items()}
    if len({renamed.get(name, name).lower() for name in bots}) < len(bots):
        raise UsageError("two bots would have the same name, expected different names")


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The members of two headers that differ and decide games."""
    keys = [key for key in {**one, **other} if key not in _MAY_DIFFER]
    wrong = [key for key in keys if _decisive(one.get(key)) != _decisive(other.get(key))]
    return wrong + (["seed"] if _given_seed(one) != _given_seed(other) else [])


def _decisive(value: Any) -> Any:
    """A member of a header without the paths of files that games come from: their hashes count."""
    if isinstance(value, dict):
        return {
            key: _decisive(what) for key, what in value.items() if (key, "sha256" in value) != ("file", True)
        }
    return value


def _given_seed(header: dict[str, Any]) -> str | None:
    """The seed that the user gave; None where it was drawn."""
    return None if "seed_sha256" in header else header["seed"]


def check_choice(runs: Sequence[Run], choice: MergeChoice) -> None:
    """Raises `UsageError` where games of several runs contradict each other."""
    if not (wrong := choice.contradicting):
        return
    some = ", ".join(wrong[:_MAX_ROWS_SHOWN]) + (", …" if len(wrong) > _MAX_ROWS_SHOWN else "")
    folders = " ".join(shown(str(run.folder)) for run in runs)
    raise UsageError(
        f"the runs have different moves for {counted(len(wrong), 'game')}: {some}; expected `--prefer first` "
        f"to take those of the run named first, or `referee table {folders}` for one table of all games"
    )


def merge(out: Path, runs: Sequence[Run], choice: MergeChoice) -> None:
    """Writes a new run with the chosen games of all runs. The folder appears when it is complete.

    Raises `UsageError` where there is a folder already, `StorageError`.
    """
    if os.path.lexists(out) and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError(f"`{shown(str(out))}` already exists, expected a new folder")
    make_folder(out.absolute().parent)
    try:
        new = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.absolute().parent))
        try:
            _write_records(new, runs, choice)
            _copy_side_files(new, runs, choice)
            new.replace(out)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    except OSError as error:
        raise StorageError(f"cannot write to `{shown(str(out))}`: {error.strerror}") from None


def _write_records(new: Path, runs: Sequence[Run], choice: MergeChoice) -> None:
    records = journal.Journal.create(new)
    try:
        merged = _Merged(records)
        for number, run in enumerate(runs):
            games, voids = (
                {game for game, owner in owners.items() if owner == number}
                for owners in (choice.owner, choice.voids)
            )
            merged.take(run, games, voids)
        records.check()
    finally:
        records.close()


class _Merged:
    """The records of the new run, as far as they are written."""

    def __init__(self, records: journal.Journal) -> None:
        self._records = records
        self.state = RunState()
        """What they say."""
        self._bodies: list[bytes] = []
        """The bodies of games, and of attempts that became void, that are not written yet."""

    def take(self, run: Run, games: set[str], voids: set[str]) -> None:
        """Adds games of a run, attempts at games that became void, by the ids, and what it has changed."""
        source = Run(run.folder)
        when, is_new = "", True
        for line in journal.read(run.folder):
            is_taken = False
            match source.take_line(line):
                case Head(game):
                    is_taken = game.id in games
                case {"kind": "void", "id": game_id}:
                    is_taken = game_id in voids
                case {"kind": "change", **change}:
                    when, is_new = str(change.get("when", "")), True
                    if "seed" in change and self._has_seed_of(source):
                        self._change(self._missing_seed(source), when)
                case {"kind": "tournament"}:
                    if not self.state.lines:
                        self._store([journal.unchained(line.text)])
                    self._take_old_voids(run, voids)
            if is_taken:
                if is_new:
                    self._change({**self._missing(source), **self._missing_seed(source)}, when)
                    is_new = False
                self._bodies.append(journal.unchained(line.text))
                if len(self._bodies) >= _AT_ONCE:
                    self._flush()
        self._change(self._missing(source), when)

    def _take_old_voids(self, run: Run, voids: set[str]) -> None:
        """Adds the attempts that became void in a run of an earlier version, before all of its games."""
        lines = [line for line in old_void_lines(run.folder) if line["id"] in voids]
        if lines:
            self._change(self._missing(run, ("bots",)), "")
            self._store([journal.body_of(line) for line in lines])

    def _has_seed_of(self, source: RunState) -> bool:
        """Whether the last games that were written have the seed that the run has now."""
        return source.header.get("seed_sha256") == self.state.header.get("seed_sha256")

    def _missing(
        self, source: RunState, members: Sequence[str] = ("bots", "files", *MEMBERS)
    ) -> dict[str, Any]:
        """What the header of a run has and that of the new one has not, but for seeds: of what it has by name
        only these members.
        """
        header, header_now = source.header, self.state.header
        change: dict[str, Any] = {}
        for member in members:
            known = header_now.get(member, {})
            if new := {
                name: what for name, what in header.get(member, {}).items() if known.get(name) != what
            }:
                change[member] = new
        for member in GROWING:
            if header.get(member, 0) > header_now.get(member, 0):
                change[member] = header[member]
        if CALIBRATION in header and CALIBRATION not in header_now:
            change[CALIBRATION] = header[CALIBRATION]
        return change

    def _missing_seed(self, source: RunState) -> dict[str, Any]:
        """The hash of the seed of the games that follow, where it is another one, and the seed, where it is
        revealed.
        """
        header, header_now = source.header, self.state.header
        if header.get("seed_sha256") != header_now.get("seed_sha256"):
            return {name: header[name] for name in ("seed_sha256", "seed") if name in header}
        if "seed" in header and "seed" not in header_now:
            return {"seed": header["seed"]}
        return {}

    def _change(self, change: dict[str, Any], when: str) -> None:
        """Writes a change, unless it is empty."""
        self._flush()
        if not change:
            return
        line = change_line(change)
        line["when"] = when or line["when"]
        self._store([journal.body_of(line)])

    def _flush(self) -> None:
        if self._bodies:
            self._store(self._bodies)
            self._bodies.clear()

    def _store(self, bodies: Sequence[bytes]) -> None:
        for stored in self._records.extend(bodies):
            self.state.take(stored.text, stored.hash)


def _copy_side_files(new: Path, runs: Sequence[Run], choice: MergeChoice) -> None:
    """Copies the tournament file of the first run that has one, and the dialogues of the games that were
    taken, at most `DIALOGUES_CAP` bytes of them.
    """
    for run in runs:
        if (toml := run.folder / TOML).is_file():
            shutil.copyfile(toml, new / TOML, follow_symlinks=False)
            (new / TOML).chmod(0o600)
            break
    lines = [
        json.dumps(value, separators=(",", ":")).encode() + b"\n"
        for number, run in enumerate(runs)
        for value in objects_in(run.folder / DIALOGUES)
        if choice.owner.get(str(value.get("id"))) == number
    ]
    sizes = accumulate(map(len, lines))
    kept = [line for line, size in zip(lines, sizes, strict=True) if size <= DIALOGUES_CAP]
    if kept:
        with os.fdopen(os.open(new / DIALOGUES, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.writelines(kept)
