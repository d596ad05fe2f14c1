"""Prints a tournament's progress, as lines or events, and its table, for `run` and `match`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass

from referee.cli.output import can_draw, pasteable, say, show_data, table_width
from referee.cli.progress import (
    JsonLines,
    ProgressLines,
    end_lines,
    report_bots,
    report_stoppages,
)
from referee.core.errors import BotFaulted
from referee.core.stop import StopSignals
from referee.core.text import counted
from referee.processes.program import filled
from referee.ratings.standings import Facts
from referee.ratings.table import TableText, rendered
from referee.running import Display, RunInfo, RunOptions, RunReporter, run_tournament
from referee.tournament.file.config import written
from referee.tournament.formats import count_text
from referee.tournament.formats.tuning import Tuning
from referee.tournament.playing import TournamentPlayer
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.remaining import games_in_all
from referee.tournament.run.run_state import RunState
from referee.tournament.tournament import Tournament
from referee.tuning.parameters import value_text


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

    def stop(self, display: Display) -> StopSignals:
        """Signals: the first lets the games in progress end."""
        return StopSignals(display.interrupt)

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
            if text := _tuned_text(run.state, run.facts):
                show_data(f"\n{text}")
        if self.options.stored:
            say(f"{count_text(len(games), games_in_all(run.state))}, head hash {run.state.last_hash}")
        else:
            say(f"seed {tournament.plans[0].seed}")


def _tuned_text(run: RunState, facts: Facts) -> str:
    """The bot of a run with its tuned values, as a command and as a table of a tournament file, after a
    comment that says what the test found; empty for other runs, and while values are looked for. `facts` are
    those of the run.
    """
    form, tables = run.format, facts.of_format("")
    if not isinstance(form, Tuning) or tables["course"].data[-1]["pairs"] < form.pairs:
        return ""
    found = tables["parameters"].data
    values = [(row["parameter"], value_text(row["value"])) for row in found]
    name, bot = next(iter(run.header.bots.items()))
    env = {name: filled(value, values) for name, value in bot["env"].items()}
    cmd = shlex.join(filled(word, values) for word in bot["command"]).replace("'{python}'", "{python}")
    shell = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in env.items()), cmd])
    table = {"name": form.given_name(name), "cmd": cmd, **({"env": env} if env else {})}
    verdict = "the values found are those of the start"
    if any(row["start"] != row["value"] for row in found):
        verdict = _VERDICTS[facts.tests[0].accepted]
    return f"# {verdict}\n{shell}\n\n{written({'bot': [table]})}".rstrip()


_VERDICTS = {
    "H1": "the test found these values better than those of the start",
    "H0": "the test did not find these values better than those of the start",
    "": "the test has not decided whether these values are better than those of the start",
}


def run_and_report(
    tournament: Tournament, options: RunOptions, *, strict: bool, json_lines: bool, notes: bool
) -> None:
    """Runs a tournament and prints its table. Raises what `run_tournament` raises, and where it is `strict`
    `BotFaulted` for a bot's fault.
    """
    finished = run_tournament(tournament, options, TerminalReporter(options, json_lines, notes))
    run = finished.run
    if options.stored and not json_lines:
        say(f"next: {pasteable('replay', run.folder)}")
        say(f"      {pasteable('report', run.folder, '-o', f'{run.folder.resolve().name}.html')}")
    if strict and finished.has_faults:
        raise BotFaulted("a bot was at fault, or was left out")
    if strict and (failed := [test for test in run.facts.tests if test.accepted == "H0"]):
        raise BotFaulted(f"{counted(len(failed), 'sequential test')} accepted H0")


def display(info: RunInfo, json_lines: bool = False, is_live: bool = True) -> Display:
    """A live view where stderr is a terminal that can draw, else plain lines; with `json_lines`, events on
    stdout as well. `is_live` is false where other lines are printed there meanwhile.

    Where these appear on a terminal too, they would disturb the live view, so that plain lines are used.
    """
    is_live = is_live and can_draw(sys.stderr) and not (json_lines and sys.stdout.isatty())
    people = _live_view(info) if is_live else ProgressLines(info)
    return JsonLines(info, people) if json_lines else people


def _live_view(info: RunInfo) -> Display:
    from referee.cli.live_view import LiveView  # it needs rich

    return LiveView(info)
