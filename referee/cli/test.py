"""`referee test`: tests a bot against its last version, and keeps it as the next one if it is better."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import form_option, group, isolation_option, only_one, workers_option
from referee.cli.output import pasteable, say, show_data
from referee.core.errors import CheckFailed, NotBetter, UsageError
from referee.core.text import counted, shown

if TYPE_CHECKING:
    from referee.ratings.sprt import SprtResult
    from referee.tournament.run.run import StoredRun
    from referee.tournament.tournament import Tournament
    from referee.versions.bot_file import BotFile
    from referee.versions.snapshot import BotSnapshot
    from referee.versions.store import Version, Versions


@click.command()
@click.argument("path", metavar="BOT", type=click.Path(path_type=Path))
@click.option(
    "--against",
    metavar="NAME@VERSION",
    help="Test against another version than the last one. Nothing is stored.",
)
@click.option(
    "--null",
    "is_null",
    is_flag=True,
    help="Test the bot against itself, to see how large differences are by chance. Nothing is stored.",
)
@click.option("--note", metavar="TEXT", default="", help="What is new, for the list of versions.")
@click.option(
    "--versions",
    "lists",
    is_flag=True,
    help="List the versions, with ratings from all games between them.",
)
@form_option
@workers_option
@isolation_option
def test(**given: Any) -> None:
    """Builds and checks a bot, and plays a sequential test against its last version that passed.

    BOT is the bot's folder. Its file `bot.toml` has the game, the clock, the openings and the test; `referee
    new-bot` writes one. If the bot is better, its files are stored in the folder `versions` as the next
    version; the first one only has to pass the check. A test that was stopped continues when the same files
    are tested again.

    Exits with 0 if the bot is better, or has not changed, with 8 if it is not better, and with 7 if it is
    broken. `referee docs better` has hooks and jobs that use this.

    \b
    Examples:
      referee test petal --note "looks two moves ahead"
      referee test petal --versions
      referee test petal --against petal@2
      referee test petal --null
    """
    from referee.tournament.run.lock import locked
    from referee.versions.bot_file import BotFile
    from referee.versions.store import Versions

    only_one({"--against": given["against"], "--null": given["is_null"], "--versions": given["lists"]})
    bot = BotFile.load(given["path"])
    if given["lists"]:
        _list(bot, Versions(bot), given["form"])
        return
    if given["form"] != "simple":
        raise UsageError("`--format` is given without `--versions`, whose table it is the form of")
    if len(given["note"]) > _LONGEST_NOTE or shown(given["note"]) != given["note"]:
        raise UsageError(f"`--note` is not a line of at most {_LONGEST_NOTE} characters")
    with locked(bot.versions):
        group(_Test, {**given, "bot": bot, "versions": Versions(bot)}).run()


_LONGEST_NOTE = 200  # maximum number of characters of a note


def _list(bot: BotFile, versions: Versions, form: str) -> None:
    from referee.versions.listing import listing

    grid = listing(versions, is_data=form in ("csv", "json", "tsv"))
    if grid.rows or form != "simple":
        show_data(grid.drawn(form))
    if grid.rows:
        say(
            "Elo: from all games between these versions that were played here, the mean is 0; gain: Elo "
            "after the test by which it passed (95 %)"
        )
    else:
        say(f"no version of `{bot.name}` has passed yet")


@dataclass(frozen=True)
class _Test:
    """A test that is to be played."""

    bot: BotFile
    versions: Versions
    against: str | None
    is_null: bool
    note: str
    workers: int | None
    isolation: str | None

    def run(self) -> None:
        """Tests the bot, and stores it. Raises `CheckFailed` where it is broken, `NotBetter`, and whatever a
        run raises.
        """
        from referee.tournament.run.run import find_run

        name, snapshot = self.bot.name, self.bot.snapshot()
        known = self.versions.of(snapshot)
        old = self._old()
        if old and old.sha256 == snapshot.sha256:
            same = f"`{name}` has the files of `{self.versions.name(old)}`"
            if self.against:
                raise UsageError(f"{same}, expected another version; `--null` tests a bot against itself")
            say(f"{same}: nothing is new, so nothing is tested")
            return
        self.versions.prepare()
        opponent = self.versions.snapshot(old) if old else snapshot
        built, _ = self.versions.built([snapshot, opponent])
        tournament = self.bot.test(snapshot, opponent)
        run = find_run(tournament.file.folder)
        _check_budget(tournament, run)
        if not known and not run.games:  # it was checked before games of this test were played
            self._check(tournament)
        if old or self.is_null:
            self._play(tournament, built, old)
        else:
            self._store(built, None, None)

    def _old(self) -> Version | None:
        """The version to test against; None where there is none yet, or for a null test."""
        if self.is_null:
            return None
        return self.versions.named(self.against) if self.against else self.versions.last

    def _check(self, tournament: Tournament) -> None:
        """Checks the bot. Raises `CheckFailed`."""
        from referee.check.all_bots import FAILED
        from referee.cli.check import checked_bots, checked_table
        from referee.core.seeds import fresh_seed

        name, other = tournament.names
        say(f"checking {name}")
        results = checked_bots(tournament, self.isolation, (), fresh_seed().hex()[:8], {other})
        if any(one.result == FAILED for one in results):
            show_data(checked_table(results))
            if results[0].game:
                say(f"`{self._check_again()}` in its folder shows what it wrote")
            raise CheckFailed(f"`{name}` is broken: it cannot be built or failed the check")

    def _check_again(self) -> str:
        """The command that checks the bot by itself."""
        command = self.bot.table["cmd"]
        words = command if isinstance(command, str) else shlex.join(command)
        options = [
            word for name, value in self.bot.options.items() for word in ("--option", f"{name}={value}")
        ]
        return pasteable("check", self.bot.main["game"], f"{self.bot.name}={words}", *options)

    def _play(self, tournament: Tournament, built: BotSnapshot, old: Version | None) -> None:
        from referee.cli.playing import TerminalReporter
        from referee.running import RunOptions, run_tournament
        from referee.versions.store import write_test

        name = self.bot.name
        against = f"`{self.versions.name(old)}`" if old else "itself"
        say(f"testing `{name}` against {against}, which is `{tournament.names[1]}` in these games")
        write_test(tournament)
        workers = tournament.workers if self.workers is None else self.workers
        options = RunOptions(tournament.file.folder, workers, self.isolation)
        finished = run_tournament(tournament, options, TerminalReporter(options, False, False))
        say(f"next: {pasteable('replay', options.folder)}")
        (test,) = finished.run.facts.tests
        if old is None:
            say(f"both are the same, so that any difference is chance: {_null_text(test)}")
        elif test.accepted != "H1":
            games = counted(2 * sum(test.counts), "game")
            why = "H0 accepted" if test.accepted else f"the test is undecided after {games}"
            raise NotBetter(f"`{name}` was not found to be better than {against}: {why}")
        elif self.against:
            say(f"`{name}` is better than {against}; nothing is stored with `--against`")
        else:
            self._store(built, old, test)

    def _store(self, built: BotSnapshot, old: Version | None, test: SprtResult | None) -> None:
        version = self.versions.add(built, self.note, old, test)
        how = (
            f"better than `{self.versions.name(old)}`" if old else "the first version, which passed the check"
        )
        say(f"`{self.versions.name(version)}` is stored: {how}")


def _check_budget(tournament: Tournament, run: StoredRun) -> None:
    """Raises `UsageError` where the test began with a larger budget."""
    budget = tournament.header.members["budget"]
    if run.lines and budget < (before := run.header.members["budget"]):
        raise UsageError(
            f"`tournament.budget` is {budget}, but was {before} when this test began, expected at least "
            f"{before}; or remove `{shown(str(run.folder))}`, then it begins again"
        )


def _null_text(test: SprtResult) -> str:
    from referee.ratings.columns import estimate_text

    verdict = f"{test.verdict} after {counted(sum(test.counts), 'pair')} of games"
    return f"{verdict}, Elo after the test {estimate_text(test)}" if test.accepted else verdict
