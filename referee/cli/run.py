"""`referee run`: plays a tournament, or continues it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import click

from referee.cli.displays import display
from referee.cli.dry_run import dry_run as dry_run_text
from referee.cli.json_lines import end_lines
from referee.cli.options import isolation_option
from referee.cli.output import count_text, say, show_data
from referee.cli.progress import Outset, report_off_turn, report_stoppages
from referee.core.control_groups import usable_memory
from referee.core.cores import usable_cores
from referee.core.errors import BotFaulted, RefereeError, Stopped, UsageError
from referee.core.stop import Stop
from referee.core.text import shown
from referee.ratings.table import rendered
from referee.records.durations import last_games
from referee.tournament.config import load
from referee.tournament.folder import OpenRun, locked
from referee.tournament.opening import Candidate, examine, open_run, settled
from referee.tournament.tournament import Tournament, game_ids, total


@click.command(short_help="Plays a tournament, or continues it.")
@click.argument("file", metavar="TOML", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the results. Default: NAME-results beside NAME.toml.",
)
@click.option(
    "--workers",
    type=click.IntRange(0, 1000),
    help="Games at a time; with 0, games are played in this process.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print what is left to play and how long that takes, or what would be refused; write nothing.",
)
@click.option(
    "--json-lines", is_flag=True, help="Print each event as a line of JSON on stdout, and the table as one."
)
@isolation_option
@click.option("--strict", is_flag=True, help="Exit with 8 if a bot was at fault.")
def run(
    file: Path,
    folder: Path | None,
    workers: int | None,
    dry_run: bool,
    json_lines: bool,
    isolation: str | None,
    strict: bool,
) -> None:
    """Plays the tournament of a TOML file and prints its table, or continues it where it stopped.

    A finished game counts as soon as it is stored, and is not played again. Ctrl-C stops after the current
    games, a second Ctrl-C stops at once; the same command continues.
    """
    config = load(file)
    folder = folder or config.folder
    count = config.workers if workers is None else workers
    for line in config.absent:
        say(line)
    if config.seed is not None and not config.game.is_open:
        say(
            "warning: bots that read or guess the `seed` of the tournament file know what is hidden from "
            "them; without one, a seed is drawn and kept secret"
        )
    if dry_run:
        show_data(dry_run_text(config, folder, count, isolation))
        return
    cores = len(usable_cores())
    if count > cores:
        say(f"warning: {count} workers on {cores} cores; measured times will be longer")
    if config.pin and not hasattr(os, "sched_setaffinity"):
        say("warning: this system cannot pin processes to cores; `pin` is ignored")
    with locked(folder):
        candidate = examine(config, folder)
        for name, command, cwd in config.builds:
            _build(name, command, cwd)
        for entrant in config.entrants:
            entrant.check()
        candidate = settled(candidate, isolation)
        with open_run(candidate, say) as opened:
            try:
                _play(candidate, opened, count, json_lines)
            finally:
                opened.reveal_seed()
                opened.check()  # no table of games that are not stored
                games = list(opened.games.values())
                form = "json" if json_lines else "simple"
                table = rendered(candidate.plan.names, games, form, candidate.plan.seats) if games else ""
                if json_lines:
                    show_data(end_lines(len(games), total(config), opened.head, table))
                elif table:
                    show_data(table)
                say(f"{count_text(len(games), total(config))}, head hash {opened.head}")
    if opened.suspects:
        seen = ", ".join(f"{name} {count}" for name, count in opened.suspects.most_common(10))
        say(f"some games were void; how often each bot played in one: {seen}")
    if opened.forfeited:
        lost = ", ".join(f"{name} {count}" for name, count in opened.forfeited.most_common(10))
        say(f"games were forfeited since games had become void; how many by each bot: {lost}")
    missing = [game for game in game_ids(config) if game not in opened.games]
    if unscored := [game for game in missing if not opened.is_open(game)]:
        raise RefereeError(f"games without a result: {', '.join(unscored[:10])}; see void.jsonl")
    if opened.unexplained:
        unexplained = ", ".join(opened.unexplained[:10])
        raise RefereeError(
            f"games became void, and any of their bots may be the cause, so all forfeited: {unexplained}; "
            "see void.jsonl"
        )
    if missing:
        raise RefereeError(f"{len(missing)} games were not played; the same command continues")
    if strict and any(any(game.faults) for game in games):
        raise BotFaulted("a bot was at fault")


def _play(candidate: Candidate, opened: OpenRun, workers: int, json_lines: bool) -> None:
    """Plays the remaining games. Raises `Stopped` if a signal stopped the run before all were played."""
    names, in_all, played = candidate.plan.names, total(candidate.config), len(opened.games)
    say(f"{played} of {in_all} games played; results in {shown(str(opened.folder))}")
    if played == in_all:
        return
    history = [(game.id, game.took_us) for game in last_games(opened.folder)]
    outset = Outset(names, candidate.plan.seats, in_all, opened.games, max(1, workers), history)
    progress = display(outset, json_lines)
    plan = candidate.plan.sharing(usable_memory(), max(1, workers))
    tournament = Tournament(candidate.config, plan, opened, progress, candidate.programs)
    pin = candidate.config.pin and hasattr(os, "sched_setaffinity")
    with Stop(progress.interrupt) as stop, progress:
        tournament.play(workers, pin, lambda: bool(stop.asked))
    report_stoppages(tournament.timed)
    report_off_turn(tournament.off_turn)
    if stop.asked and len(opened.games) < in_all:
        done = len(opened.games)
        raise Stopped(f"stopped by {stop.asked} after {done} of {in_all} games; the same command continues")


def _build(name: str, command: tuple[str, ...], cwd: Path) -> None:
    """Runs the build command of a bot. Raises `UsageError` if that fails."""
    say(f"building {name}")
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    except OSError as error:
        raise UsageError(f"cannot build bot `{name}`: {error.strerror}: `{shown(command[0])}`") from None
    if done.returncode:
        for line in (done.stdout + done.stderr).splitlines()[-10:]:
            say(f"  {shown(line)}")
        raise UsageError(
            f"cannot build bot `{name}`: `{shown(command[0])}` exited with status {done.returncode}"
        )
