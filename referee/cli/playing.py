"""Prints the progress of a tournament and its table, for the commands `run` and `match`."""

from __future__ import annotations

from dataclasses import dataclass

from referee.cli.displays import display
from referee.cli.json_lines import end_lines
from referee.cli.output import pasteable, say, show_data, table_width
from referee.cli.progress import report_bots, report_stoppages
from referee.core.errors import BotFaulted
from referee.core.text import counted
from referee.ratings.table import TableText, rendered
from referee.run import Display, RunInfo, RunOptions, RunReporter, run_tournament
from referee.tournament.file.config import Config
from referee.tournament.formats import count_text
from referee.tournament.playing import TournamentPlayer
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.remaining import games_in_all
from referee.tournament.tournament import Tournament


@dataclass(frozen=True)
class TerminalReporter(RunReporter):
    """Prints what happens in a run on stderr, and its table on stdout."""

    options: RunOptions
    json_lines: bool  # whether events and the table are printed as JSON
    notes: bool  # whether all notes are printed under the table

    def say(self, line: str) -> None:
        """Prints a line."""
        say(line)

    def display(self, info: RunInfo) -> Display:
        """A live view where the terminal is not used otherwise."""
        return display(info, self.json_lines, is_live=not self.options.observer)

    def played(self, player: TournamentPlayer) -> None:
        """Prints what bots did besides moves."""
        report_stoppages(player.timed)
        report_bots(player.bot_totals, player.first_rejected)

    def stored(self, tournament: Tournament, run: OpenRun) -> None:
        """Prints the table."""
        games = run.state.shown_games
        seats = max(plan.seats for plan in tournament.plans)
        form = "json" if self.json_lines else "simple"
        view = TableText(width=table_width(), notes=self.notes)
        table = rendered(run.state.names, games, form, seats, view, run.facts) if games else ""
        if self.json_lines:
            show_data(end_lines(len(games), run.games_in_all.games, run.state.last_hash, table))
        elif table:
            show_data(table)
        if self.options.stored:
            say(f"{count_text(len(games), games_in_all(run.state))}, head hash {run.state.last_hash}")
        else:
            say(f"seed {tournament.plans[0].seed}")


def run_and_report(
    config: Config, options: RunOptions, *, strict: bool, json_lines: bool, notes: bool
) -> None:
    """Runs a tournament and prints its table. Raises what `run_tournament` raises, and where it is `strict`
    `BotFaulted` for a bot's fault.
    """
    finished = run_tournament(config, options, TerminalReporter(options, json_lines, notes))
    run = finished.run
    if options.stored and not json_lines:
        say(f"next: {pasteable('replay', run.folder)}")
        say(f"      {pasteable('report', run.folder, '-o', f'{run.folder.resolve().name}.html')}")
    if strict and finished.has_faults:
        raise BotFaulted("a bot was at fault, or was left out")
    if strict and (failed := [test for test in run.facts.tests if test.accepted == "H0"]):
        raise BotFaulted(f"{counted(len(failed), 'sequential test')} accepted H0")
