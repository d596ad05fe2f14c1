"""Plays a tournament for the commands `run` and `match`: from its checks to its table."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from referee.cli.backends import PreparedTournament, build, on_cluster, on_this_machine
from referee.cli.displays import display
from referee.cli.json_lines import end_lines
from referee.cli.output import amount_text, count_text, pasteable, say, show_data, table_width
from referee.cli.progress import RunInfo, report_bots, report_stoppages
from referee.core.cores import usable_cores
from referee.core.errors import BotFaulted, RefereeError, Stopped
from referee.core.stop import StopSignals
from referee.core.text import counted, shown
from referee.ratings.table import TableText, rendered
from referee.records.durations import last_games
from referee.records.header import CHANGED
from referee.records.run_files import RECORDS
from referee.tournament.file.config import Config
from referee.tournament.playing import TournamentPlayer
from referee.tournament.run.lock import locked
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.opening import Candidate, open_run, set_aside
from referee.tournament.run.readiness import Readiness, unfit_bots
from referee.tournament.run.remaining import Remaining, games_in_all
from referee.tournament.run.strikes import FaultCount
from referee.tournament.stopping import NEVER
from referee.tournament.tournament import Tournament
from referee.tournament.workers.task import Observer

_VOID_LINES = f"the lines of kind `void` in `{RECORDS}`"


@dataclass(frozen=True)
class PlayOptions:
    """How a tournament is played, whatever its games and bots are."""

    folder: Path
    workers: int
    """With 0, games are played in this process."""
    isolation: str | None
    """Stands in place of what the tournament file says; None where it is not given."""
    strict: bool
    """Whether a bot's fault is an error."""
    observer: Observer | None = None
    stored: bool = True
    """Whether the folder remains."""
    json_lines: bool = False
    """Whether events and the table are printed as JSON."""
    cluster: str = ""
    """The address of the Dask cluster that plays; empty where this machine does."""
    leaves_out: bool = False
    """Whether bots that cannot play are left out; otherwise they are an error."""
    notes: bool = False
    """Whether all notes are printed under the table."""
    fresh: bool = False
    """Whether all games are played again, and the results so far are set aside."""


def play(config: Config, options: PlayOptions) -> None:
    """Plays a tournament in a folder, or continues it, and prints its table.

    Raises `Stopped` where a signal stopped it before all games were played, `RefereeError` where games have
    no result, `BotFaulted` where that is an error, and all that is wrong before the first game.
    """
    say_before(config, None if options.cluster else options.workers)
    if options.fresh and (aside := set_aside(options.folder)):
        say(f"the results so far are now in {shown(str(aside))}")
    is_unfinished = False
    with (
        locked(options.folder),
        _prepared(config, options) as prepared,
        open_run(prepared.candidate, say) as opened,
    ):
        try:
            is_unfinished = _play(prepared, opened, options)
        finally:
            opened.reveal_seed()
            opened.check()  # no table of games that are not stored
            _show_table(prepared.candidate, opened, options)
    _report_voids(opened)
    if opened.unscored:
        games = ", ".join(opened.unscored[:10])
        raise RefereeError(f"games without a result: {games}; see {_VOID_LINES}")
    if opened.unexplained:
        unexplained = ", ".join(opened.unexplained[:10])
        raise RefereeError(
            "games could not be completed and any of their bots may be the cause, so all of their bots "
            f"forfeited: {unexplained}; see {_VOID_LINES}"
        )
    if is_unfinished:
        raise RefereeError("some games were not played; run the same command to continue")
    if options.stored and not options.json_lines:
        _say_what_next(opened)
    if options.strict and _has_faults(prepared.candidate.config, opened):
        raise BotFaulted("a bot was at fault, or was left out")
    if options.strict and (failed := [test for test in opened.facts.tests if test.accepted == "H0"]):
        raise BotFaulted(f"{counted(len(failed), 'sequential test')} accepted H0")


def _say_what_next(opened: OpenRun) -> None:
    """Says how the games of a complete run can be looked at."""
    say(f"next: {pasteable('replay', opened.folder)}")
    say(f"      {pasteable('report', opened.folder, '-o', f'{opened.folder.resolve().name}.html')}")


def _has_faults(config: Config, opened: OpenRun) -> bool:
    """Whether a bot was at fault in a game, one included that strikes annulled, or could not play at all."""
    state = opened.state
    games = [*state.games.values()]
    games += [game for game in state.annulled.values() if game.id not in state.amendments.annulled]
    return any(any(game.faults) for game in games) or any(one.is_fault for one in config.left_out)


def say_before(config: Config, workers: int | None) -> None:
    """Says which bots are left out on this machine, and what may be wrong with the settings. `workers` is
    None where other machines play.
    """
    found = [one.text for one in config.left_out]
    if config.seed is not None and not all(section.game.is_open for section in config.sections):
        found.append(
            "warning: bots that read or guess the `seed` of the tournament file know what is hidden from "
            "them; without one, a seed is drawn and kept secret"
        )
    cores = len(usable_cores())
    if workers is not None and workers > cores:
        found.append(f"warning: {workers} workers on {cores} cores; measured times will be longer")
    if workers is not None and config.pin and not hasattr(os, "sched_setaffinity"):
        found.append("warning: this system cannot pin processes to cores; `pin` is ignored")
    for line in found:
        say(line)


def _prepared(config: Config, options: PlayOptions) -> AbstractContextManager[PreparedTournament]:
    """Builds and checks the bots that play here, and prepares the tournament for its backend."""
    is_here = not options.cluster
    readiness = Readiness(options.folder, options.isolation, is_here, say, options.leaves_out)
    if options.cluster:
        return on_cluster(config, readiness, options.cluster)
    candidate = readiness.candidate(config)
    candidate = readiness.without(candidate, unfit_bots(candidate, build))
    return nullcontext(on_this_machine(candidate, options.workers, options.observer))


def _play(prepared: PreparedTournament, opened: OpenRun, options: PlayOptions) -> bool:
    """Plays the remaining games; whether some were not played nevertheless. Raises `Stopped` if a signal
    stopped the run before all were played.
    """
    candidate, tournament = prepared.candidate, prepared.tournament
    in_all = opened.games_in_all
    where = (
        f"results in {shown(str(opened.folder))}" if options.stored else "nothing is stored without -o DIR"
    )
    say(f"{len(opened.state.games):,} of {amount_text(in_all)} games played; {where}")
    for line in FaultCount(tournament.strikes, opened).take_out():  # guard: late-strikes
        say(line)
    if not candidate.has_games_left:
        _say_decision(tournament, opened)
        if CHANGED in opened.state.header:
            say(
                "no games are left for the programs that have changed; `--fresh` plays all games again and "
                "keeps these results in a folder with a number after its name"
            )
        return False
    info = RunInfo(
        tournament.names,
        max(plan.seats for plan in tournament.plans),
        in_all.games,
        opened.state.games,
        prepared.at_once,
        [(game.id, game.took_us) for game in last_games(opened.folder)],
    )
    progress = display(info, options.json_lines, is_live=not options.observer)
    player = TournamentPlayer(
        tournament, opened, candidate.config.keep, progress, candidate.programs, prepared.at_once
    )
    with StopSignals(progress.interrupt) as stop, progress:
        player.play(prepared.backend_factory(opened), lambda: bool(stop.asked))
    report_stoppages(player.timed)
    report_bots(player.bot_totals, player.first_rejected)
    _say_decision(tournament, opened)
    is_unfinished = Remaining(tournament.matchmaking, opened.state, opened.is_open).next() is not None
    if stop.asked and is_unfinished:
        done = count_text(len(opened.state.games), in_all)
        then = "; the same command continues the run" if options.stored else ", which are not stored"
        raise Stopped(f"stopped by {stop.asked} after {done}{then}")
    return is_unfinished


def _say_decision(tournament: Tournament, opened: OpenRun) -> None:
    """Says why the schedule is not played to its end, if a stopping rule has decided."""
    remaining = Remaining(tournament.matchmaking, opened.state, opened.is_open)
    if tournament.stopping == NEVER and not remaining.closed:
        return
    remaining.next()
    if remaining.closed:
        say(f"{remaining.closed}; with a later `until`, or more `time`, the same command continues the run")
    elif remaining.decision:
        say(f"the stopping rule has decided: {remaining.decision}")


def _show_table(candidate: Candidate, opened: OpenRun, options: PlayOptions) -> None:
    tournament, games = candidate.tournament, opened.state.shown_games
    seats = max(plan.seats for plan in tournament.plans)
    form = "json" if options.json_lines else "simple"
    view = TableText(width=table_width(), notes=options.notes)
    table = rendered(opened.state.names, games, form, seats, view, opened.facts) if games else ""
    if options.json_lines:
        show_data(end_lines(len(games), opened.games_in_all.games, opened.state.last_hash, table))
    elif table:
        show_data(table)
    if options.stored:
        say(f"{count_text(len(games), games_in_all(opened.state))}, head hash {opened.state.last_hash}")
    else:
        say(f"seed {tournament.plans[0].seed}")


def _report_voids(opened: OpenRun) -> None:
    if opened.suspects:
        seen = ", ".join(f"{name} {count}" for name, count in opened.suspects.most_common(10))
        say(f"some games were void; number of void games by bot: {seen}")
    if opened.forfeited:
        lost = ", ".join(f"{name} {count}" for name, count in opened.forfeited.most_common(10))
        say(
            "some games were forfeited because they kept becoming void; number of "
            f"forfeited games by bot: {lost}"
        )
