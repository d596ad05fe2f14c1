"""`referee run --dry-run`: what is left to play, how long it takes, or what is wrong with the file."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.cli.output import say
from referee.core.errors import UsageError
from referee.core.text import counted, listed, shown
from referee.core.units import about, about_seconds, about_size
from referee.running import RunOptions, fit_here, fit_to_be_sent
from referee.tournament.formats import Amount
from referee.tournament.run.durations import Forecast, LongestGame, forecast, last_games
from referee.tournament.run.lock import is_locked
from referee.tournament.run.remaining import Remaining
from referee.tournament.run.run import StoredRun, find_run
from referee.tournament.tournament import Tournament

if TYPE_CHECKING:
    from referee.cluster.bot_files import SentFiles


SAMPLE = 100_000
"""The games of which the longest time is computed; that of further ones is estimated from their mean."""


class _PlannedBackend(NamedTuple):
    text: str
    at_once: int  # how many games are played at a time
    notes: tuple[str, ...]  # what the run would do before its first game


def dry_run(tournament: Tournament, options: RunOptions) -> str:
    """Describes what a run would do. Nothing is written, no folder is made, no program is built, and no
    machine of a cluster is asked.

    Raises what the run would raise before its first game: `UsageError`, `EnvironmentLacksError`,
    `RecordError`.
    """
    folder = options.folder
    _check_folder(folder)
    run = find_run(folder)
    if options.cluster:
        tournament, sent = fit_to_be_sent(tournament, run, options, say)
        backend = _on_cluster(tournament, sent, options.cluster)
    else:
        tournament = fit_here(tournament, run, options, None, say)
        backend = _here(tournament, options.workers)
    before = last_games(folder) if run.lines else []
    in_all = tournament.games_in_all
    known = list(islice(_left(tournament, run), SAMPLE))
    found = forecast(
        known,
        _games_left(tournament, run, len(known)),
        tournament.plans[0].start_us,
        backend.at_once,
        [(game.took_us, game.size) for game in before],
    )
    played = listed(sorted({plan.game.slug for plan in tournament.plans}))
    rounds = f"{counted(tournament.format.rounds, 'round')}, " if tournament.format.has_rounds else ""
    bots = counted(len(tournament.names), "bot")
    lines = [f"{in_all.text} games of {played}, {bots}, {rounds}{backend.text}"]
    if run.lines:
        where = shown(str(folder))
        played_text = counted(len(run.games), "game")
        lines.append(f"this continues the run in `{where}`, which already has {played_text}")
    lines += _forecast_lines(found, in_all.is_exact, folder, len(before))
    return "\n".join((*lines, *backend.notes, *tournament.format.remarks_on_workers(backend.at_once)))


def _here(tournament: Tournament, workers: int) -> _PlannedBackend:
    building = _builds(tournament)
    notes = f"programs that would be built first, and are not checked: {', '.join(building)}"
    return _PlannedBackend(counted(workers, "worker"), workers, (notes,) if building else ())


def _on_cluster(tournament: Tournament, sent: SentFiles, address: str) -> _PlannedBackend:
    """A Dask cluster. What its machines lack is known only when they are told to play. Raises
    `EnvironmentLacksError` where there is no cluster.
    """
    from referee.cluster.connecting import size_of

    size = size_of(address)
    archives = {bot.digest: [file.size for file in bot.files] for bot in sent.bots}.values()
    number = counted(sum(map(len, archives)), "file")
    notes = [
        f"a machine that has none of the bots' files would be sent {number}, "
        f"{about_size(sum(map(sum, archives)))}; only then is it known whether it can play"
    ]
    if not size.slots:
        notes.append("the Dask cluster has no machine at the moment: the run would wait for one")
    if building := _builds(tournament):
        notes.append(f"programs that each machine would build first: {', '.join(building)}")
    machines = counted(size.machines, "machine")
    return _PlannedBackend(
        f"{counted(size.slots, 'game')} at a time on {machines}", max(1, size.slots), tuple(notes)
    )


def _builds(tournament: Tournament) -> list[str]:
    given = tournament.format.given_name
    return sorted({given(name) for name, origin in tournament.origins.items() if origin.build})


def _check_folder(folder: Path) -> None:
    if is_locked(folder):
        raise UsageError(
            f"another referee is already running in `{shown(str(folder))}`, expected only one at a time"
        )
    present = _present(folder)
    if not present.is_dir():
        reason = "it is not a folder" if present == folder.absolute() else os.strerror(errno.ENOTDIR)
        raise UsageError(f"cannot write to `{shown(str(folder))}`: {reason}")
    if not os.access(present, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write to `{shown(str(folder))}`: {os.strerror(errno.EACCES)}")


def _present(folder: Path) -> Path:
    """Returns the folder, or its nearest ancestor that exists."""
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(path))


def _left(tournament: Tournament, run: StoredRun) -> Iterator[LongestGame]:
    """Yields bounds on the length of the remaining games, in their order, as far as they are known."""
    moves = {plan.section: plan.game.longest(plan.options) for plan in tournament.plans}
    controls = {
        plan.section: {entrant.bot.name: entrant.control for entrant in plan.entrants}
        for plan in tournament.plans
    }
    if not run.lines:
        run = StoredRun.new(run.folder, tournament.header)
    remaining = Remaining(tournament.matchmaking, run)
    while encounter := remaining.next():
        for game in encounter.games:
            if run.is_open(game.id):
                clocks = controls[game.section]
                yield LongestGame(moves[game.section], tuple(clocks[name] for name in game.bots))


def _games_left(tournament: Tournament, run: StoredRun, known: int) -> int:
    """Counts the remaining games; where that depends on results, returns the maximum. `known` games are known
    already.
    """
    if not known or (known < SAMPLE and not tournament.format.follows_results):
        return known
    ids = {*run.games, *run.annulled, *run.without_suspects}
    closed = sum(not run.is_open(game) for game in ids)
    return max(known, tournament.games_in_all.games - closed)


def _forecast_lines(found: Forecast, is_exact: bool, folder: Path, before: int) -> Iterator[str]:
    if not found.games:
        yield "no games are left to play: only the table would be printed"
        return
    yield f"{Amount(found.games, is_exact).text} games left to play, at most {found.moves} moves each"
    if found.expected_us is None or found.expected_bytes is None:
        yield "how long they will take is unknown until some have been played"
    else:
        yield f"about {about_seconds(found.expected_us)}, if they take as long as the last {before} games"
    yield f"at most {about(found.longest_us)}, if every bot uses all of its time"
    free = shutil.disk_usage(_present(folder)).free
    expected = "" if found.expected_bytes is None else f"about {about_size(found.expected_bytes)}, "
    yield (
        f"{expected}at most about {about_size(found.most_bytes)} in `{shown(str(folder))}`, and as much "
        f"again until the run ends; {about_size(free)} are free there"
    )
