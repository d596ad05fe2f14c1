"""Runs a tournament: from its checks to its last game, on this machine or on a Dask cluster."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from referee.core.errors import RefereeError, Stopped, StorageError
from referee.core.pairing import Pairing
from referee.core.text import shown
from referee.core.this_machine import usable_cores
from referee.gameplay.events import Ending
from referee.games.api import Game
from referee.live.slots import FOLDER, remove_folder
from referee.records.record import Summary
from referee.records.run_files import RECORDS
from referee.tournament.file.file_list import Programs
from referee.tournament.formats import Amount, count_text
from referee.tournament.playing import FaultCount, ProgressDisplay, TournamentPlayer
from referee.tournament.run.durations import last_games
from referee.tournament.run.lock import locked
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.opening import continuing, has_games_left, leaving_out, open_run, set_aside
from referee.tournament.run.readiness import Builder, at_levels, builder, programs_here, ready, unfit_bots
from referee.tournament.run.remaining import Remaining
from referee.tournament.run.run import StoredRun, find_run
from referee.tournament.tournament import Tournament
from referee.tournament.workers.local_backend import local_backend
from referee.tournament.workers.task import BackendFactory, Observer

if TYPE_CHECKING:
    from referee.cluster.bot_files import SentFiles

LineHandler = Callable[[str], None]  # called with lines for the user


@dataclass(frozen=True)
class RunOptions:
    """How a tournament is played, whatever its games and bots are."""

    folder: Path
    workers: int  # with 0, games are played in this process
    isolation: str | None = None
    """Stands in place of what the tournament file says; None where it is not given."""
    cluster: str = ""  # the address of the Dask cluster that plays; empty where this machine does
    leaves_out: bool = False  # whether bots that cannot play are left out; otherwise they are an error
    fresh: bool = False  # whether all games are played again, and the results so far are set aside
    stored: bool = True  # whether the folder remains
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What programs of bots read, by paths in the folder. It is written when the tournament is known to be
    the one that is in the folder.
    """
    observer: Observer | None = None


def run_tournament(tournament: Tournament, options: RunOptions, reporter: RunReporter) -> FinishedRun:
    """Plays a tournament in a folder, or continues it.

    Raises `Stopped` where it was stopped before all games were played, `RefereeError` where games have no
    result, and all that is wrong before the first game.
    """
    say = reporter.say
    say_before(tournament, None if options.cluster else options.workers, say)
    if options.fresh and (aside := set_aside(options.folder)):
        say(f"the results so far are now in {shown(str(aside))}")
    with locked(options.folder):
        before = find_run(options.folder)
        with (
            _prepared(tournament, before, options, say) as ready_run,
            open_run(ready_run.tournament, before, ready_run.programs, ready_run.has_games, say) as run,
        ):
            try:
                is_unfinished = _play_remaining(ready_run, run, options, reporter)
            finally:
                run.reveal_seed()
                run.check()  # no table of games that are not stored
                reporter.stored(ready_run.tournament, run)
    _report_voids(run, say)
    if is_unfinished:
        raise RefereeError("some games were not played; run the same command to continue")
    return FinishedRun(ready_run.tournament, run)


class FinishedRun(NamedTuple):
    """A run all of whose games were played."""

    tournament: Tournament  # without the bots that were left out
    run: OpenRun

    @property
    def has_faults(self) -> bool:
        """Whether a bot was at fault in a game, one included that strikes annulled, or could not play at
        all.
        """
        state = self.run.state
        games = [*state.games.values()]
        games += [game for game in state.annulled.values() if game.id not in state.amendments.annulled]
        left_out = self.tournament.left_out
        return any(any(game.faults) for game in games) or any(one.is_fault for one in left_out)


def say_before(tournament: Tournament, workers: int | None, say: LineHandler) -> None:
    """Says which bots are left out on this machine, and what may be wrong with the settings. `workers` is
    None where other machines play.
    """
    found = [one.text for one in tournament.left_out]
    plans = tournament.plans
    if not plans[0].seed_is_hidden and not all(plan.game.is_open for plan in plans):
        found.append(
            "warning: bots that read or guess the `seed` of the tournament file know what is hidden from "
            "them; without one, a seed is drawn and kept secret"
        )
    found += tournament.format.remarks()
    cores = len(usable_cores())
    if workers is not None and workers > cores:
        found.append(f"warning: {workers} workers on {cores} cores; measured times will be longer")
    if workers is not None and tournament.pin and not hasattr(os, "sched_setaffinity"):
        found.append("warning: this system cannot pin processes to cores; `pin` is ignored")
    for line in found:
        say(line)


@dataclass(frozen=True)
class _ReadyTournament:
    """A tournament that can be played, with what plays it."""

    tournament: Tournament  # its bots are ready to be started by the backend, or to be sent to its machines
    has_games: bool  # whether games are left to be played
    programs: Programs
    at_once: int  # how many games are played at a time, at least 1
    backend_factory: BackendFactory


@contextmanager
def _prepared(
    tournament: Tournament, run: StoredRun, options: RunOptions, say: LineHandler
) -> Iterator[_ReadyTournament]:
    """Checks a tournament, and builds and checks its bots where they play."""
    if not options.cluster:
        at_once = max(1, options.workers)
        tournament = ready(fit_here(tournament, run, options, builder(say), say), run.folder, at_once)
        programs = programs_here(tournament, run.folder)
        pin = tournament.pin and hasattr(os, "sched_setaffinity")
        backend = local_backend(options.workers, pin, options.observer, options.folder.absolute() / FOLDER)
        yield _ReadyTournament(tournament, has_games_left(tournament, run), programs, at_once, backend)
        return
    from referee.cluster.cluster_backend import cluster_backend
    from referee.cluster.connecting import scheduler_at

    tournament, sent = fit_to_be_sent(tournament, run, options, say)
    programs = Programs(sent.hashes_of)
    with ExitStack() as stack:
        if not has_games_left(tournament, run):
            yield _ReadyTournament(tournament, False, programs, 1, local_backend(0))
            return
        scheduler = stack.enter_context(scheduler_at(options.cluster))
        out = run.amendments.out
        machines = stack.enter_context(cluster_backend(scheduler.address, sent, tournament, out, say))
        unfit = machines.unfit_bots()
        for line in (line for one in unfit for line in one.output):
            say(f"  {line}")
        tournament = leaving_out(tournament, run, unfit, options.leaves_out, say)
        at_once = max(1, scheduler.size.slots)
        has_games = has_games_left(tournament, run)
        slots = options.folder.absolute() / FOLDER
        yield _ReadyTournament(
            tournament, has_games, programs, at_once, lambda take, _: machines.begin(take, slots)
        )


def fit_here(
    tournament: Tournament, run: StoredRun, options: RunOptions, build: Builder | None, say: LineHandler
) -> Tournament:
    """A tournament without the bots that cannot play on this machine; `build` as for `unfit_bots`. Raises
    what `continuing`, `at_levels`, `unfit_bots` and `leaving_out` raise.
    """
    tournament = at_levels(_continuing(tournament, run, options, say), options.isolation, is_here=True)
    if not has_games_left(tournament, run):
        return tournament
    unfit = unfit_bots(tournament, tournament.private(run.folder), run.amendments.out, build)
    return leaving_out(tournament, run, unfit, options.leaves_out, say)


def fit_to_be_sent(
    tournament: Tournament, run: StoredRun, options: RunOptions, say: LineHandler
) -> tuple[Tournament, SentFiles]:
    """A tournament that is played on a cluster, without the bots whose files are missing, and the files of
    its bots. Raises what `continuing`, `at_levels` and `leaving_out` raise.
    """
    from referee.cluster.bot_files import sent_files

    tournament = at_levels(_continuing(tournament, run, options, say), options.isolation, is_here=False)
    bots = [entrant.bot for entrant in tournament.entrants]
    has_games = has_games_left(tournament, run)
    if has_games:
        for bot in bots:
            bot.check_is_program()
    sent = sent_files(bots, tournament.origins, tournament.private(run.folder))
    unfit = sent.unfit if has_games else ()
    return leaving_out(tournament, run, unfit, options.leaves_out, say), sent


def _continuing(tournament: Tournament, run: StoredRun, options: RunOptions, say: LineHandler) -> Tournament:
    """The tournament with all bots that may still be taken in, whose files are written."""
    found = continuing(tournament, run)
    for one in found.left_out[len(tournament.left_out) :]:
        say(one.text)
    for path, content in options.files.items():
        try:
            (run.folder / path).parent.mkdir(mode=0o700, exist_ok=True)
            (run.folder / path).write_bytes(content)
        except OSError as error:
            raise StorageError(f"cannot write `{shown(str(run.folder / path))}`: {error.strerror}") from None
    return found


def _play_remaining(
    ready: _ReadyTournament, run: OpenRun, options: RunOptions, reporter: RunReporter
) -> bool:
    """Plays the remaining games; whether some were not played nevertheless. Raises `Stopped` if the run was
    stopped before all were played.
    """
    tournament, say = ready.tournament, reporter.say
    in_all = run.games_in_all
    where = f"results in {shown(str(run.folder))}" if options.stored else "nothing is stored without -o DIR"
    say(f"{in_all.progress_text(len(run.state.games), 'games played')}; {where}")
    for line in FaultCount(tournament.strikes, run).take_out():  # guard: late-strikes
        say(line)
    if not ready.has_games:
        remove_folder(run.folder / FOLDER)  # of a referee that was killed after its last game
        _say_what_remains(tournament, run, say)
        if run.state.header.changed_programs:
            say(
                "no games are left for the programs that have changed; `--fresh` plays all games again and "
                "keeps these results in a folder with a number after its name"
            )
        return False
    for line in tournament.format.remarks_on_workers(ready.at_once):
        say(line)
    info = RunInfo(
        tournament.names,
        max(plan.seats for plan in tournament.plans),
        in_all,
        run.state.games,
        ready.at_once,
        [game.took_us for game in last_games(run.folder)],
        run.folder,
        {plan.game.slug: plan.game for plan in tournament.plans},
    )
    display = reporter.display(info)
    player = TournamentPlayer(tournament, run, tournament.keep, display, ready.programs, ready.at_once)
    with reporter.stop(display) as stop, display:
        player.play(ready.backend_factory, lambda: bool(stop.asked))
    reporter.played(player)
    is_unfinished = _say_what_remains(tournament, run, say)
    if stop.asked and is_unfinished:
        done = count_text(len(run.state.games), in_all)
        then = "; the same command continues the run" if options.stored else ", which are not stored"
        raise Stopped(f"stopped by {stop.asked} after {done}{then}")
    return is_unfinished


def _say_what_remains(tournament: Tournament, run: OpenRun, say: LineHandler) -> bool:
    """Whether a game is left to play; says why the schedule is not played to its end, where it is not."""
    remaining = Remaining(tournament.matchmaking, run.state, run.is_open)
    is_unfinished = remaining.next() is not None
    if remaining.closed:
        say(f"{remaining.closed}; with a later `until`, or more `time`, the same command continues the run")
    elif remaining.decision:
        say(f"the stopping rule has decided: {remaining.decision}")
    return is_unfinished


def _report_voids(run: OpenRun, say: LineHandler) -> None:
    """Says which bots sat in games that became void, and lost games by that.

    Raises `RefereeError` where games have no result, or all of their bots forfeited.
    """
    state = run.state
    lines = f"the lines of kind `void` in `{RECORDS}`"
    lost = {
        game.id: [bot for bot, fault in zip(game.bots, game.faults, strict=True) if fault == Ending.VOID.word]
        for game in state.games.values()
        if Ending.VOID.word in game.faults
    }
    if suspects := Counter(bot for void in state.voids for bot in void.bots):
        say(f"some games were void; number of void games by bot: {_counts(suspects)}")
    if lost:
        forfeited = Counter(bot for bots in lost.values() for bot in bots)
        say(
            "some games were forfeited because they kept becoming void; number of forfeited games by bot: "
            f"{_counts(forfeited)}"
        )
    unscored = [
        game
        for game in state.without_suspects
        if not state.is_played(game)
        and not run.is_open(game)
        and not state.amendments.is_dropped(Pairing.parse(game))
    ]
    if unscored:
        raise RefereeError(f"games without a result: {', '.join(unscored[:10])}; see {lines}")
    if unexplained := [game for game, bots in lost.items() if len(bots) > 1]:
        raise RefereeError(
            "games could not be completed and any of their bots may be the cause, so all of their bots "
            f"forfeited: {', '.join(unexplained[:10])}; see {lines}"
        )


def _counts(bots: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in bots.most_common(10))


@dataclass(frozen=True)
class RunInfo:
    """What a display of progress is told of a run at the start."""

    names: tuple[str, ...]
    seats: int
    in_all: Amount  # how many games the run has
    games: Mapping[str, Summary]  # the games that count, by id; it grows while the run goes on
    workers: int  # how many games are played at a time
    history_us: Sequence[int] = ()  # how long games took that were played earlier
    folder: Path | None = None  # where the games in play can be followed; None where they cannot
    rules: Mapping[str, Game[Any]] = field(default_factory=dict)  # the games, by slug


class Display(ProgressDisplay, AbstractContextManager["Display"]):
    """Shows the progress of a run from when it is entered to when it is left."""

    def interrupt(self, line: str) -> None:
        """A line for the user, from a signal handler."""
        return


class Stop(Protocol):
    """What may ask a run to stop while it is entered: signals, or the caller of a function."""

    @property
    def asked(self) -> str:
        """What asked; empty as long as nothing has."""


class RunReporter(Protocol):
    """Tells the user of a run, and the run when to stop."""

    @abstractmethod
    def say(self, line: str) -> None:
        """A line for the user."""

    @abstractmethod
    def display(self, info: RunInfo) -> Display:
        """What shows the games while they are played."""

    @abstractmethod
    def stop(self, display: Display) -> AbstractContextManager[Stop]:
        """What may stop the run while its games are shown."""

    def played(self, player: TournamentPlayer) -> None:
        """No more games are played; the player has counted what bots did."""
        return

    def stored(self, tournament: Tournament, run: OpenRun) -> None:
        """All games that were played are stored, however playing ended."""
        return
