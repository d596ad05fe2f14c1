"""`referee test`: tests a bot against its last version, and keeps it as the next one if it is better."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import form_option, isolation_option, only_one, workers_option
from referee.cli.output import pasteable, say, show_data
from referee.core.errors import CheckFailed, NotBetter, UsageError
from referee.core.text import shown

if TYPE_CHECKING:
    from referee.ratings.sprt import SprtResult
    from referee.tournament.tournament import Tournament
    from referee.versions.bot_folder import BotFolder


@click.command()
@click.argument("path", metavar="BOT", type=click.Path(path_type=Path))
@click.option("--against", metavar="NAME@VERSION", help="Test against this version; nothing is stored.")
@click.option("--null", "is_null", is_flag=True, help="Test the bot against itself; nothing is stored.")
@click.option("--note", metavar="TEXT", default="", help="What is new, for the list of versions.")
@click.option("--versions", "lists", is_flag=True, help="List the versions, rated by all games between them.")
@form_option
@workers_option
@isolation_option
def test(
    path: Path, against: str | None, is_null: bool, note: str, lists: bool, form: str, **how: Any
) -> None:
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
    from referee.records.run_files import RECORDS
    from referee.tournament.run.lock import locked
    from referee.versions.bot_folder import VERSIONS, BotFolder
    from referee.versions.store import Versions

    only_one({"--against": against, "--null": is_null, "--versions": lists})
    bot = BotFolder.load(path)
    if lists:
        versions = Versions(bot)
        show_data(versions.table().drawn(form))
        legend = (
            "Elo: by all games between these versions on this machine; gain: by the test it passed (95 %)"
        )
        say(legend if versions.all else f"no version of `{bot.name}` has passed yet")
        return
    if form != "simple":
        raise UsageError("`--format` is given without `--versions`, whose table it is the form of")
    with locked(path / VERSIONS):
        versions = Versions(bot)
        old = None if is_null else versions.named(against)
        opponent = f"`{versions.name(old)}`" if old else "itself (any difference is chance)"
        if old and old.sha256 == bot.sha256:
            say(f"`{bot.name}` has the files of {opponent}: nothing is new, so nothing is tested")
            return
        new, other = versions.built(bot, versions.load(old) if old else bot)
        tournament = bot.test(new, other)
        if not (tournament.file.folder / RECORDS).exists():  # it is checked before its games begin
            _check(bot, tournament, how["isolation"])
        result = None
        if old or is_null:
            say(f"testing `{bot.name}` against {opponent}, `{tournament.names[1]}` in these games")
            result = _play(tournament, **how)
            if not is_null and result.accepted != "H1":
                raise NotBetter(f"`{bot.name}` was not found to be better than {opponent}: {result}")
        if is_null or against:
            say(f"nothing is stored: {result}")
        else:
            version = versions.add(new, shown(note), old, result)
            say(f"`{versions.name(version)}` is stored: {version.result}")


def _check(bot: BotFolder, tournament: Tournament, isolation: str | None) -> None:
    """Builds and checks the bot that is tested. Raises `CheckFailed`."""
    from referee.check.all_bots import FAILED
    from referee.cli.check import checked_bots, checked_table
    from referee.core.seeds import fresh_seed

    name, other = tournament.names
    say(f"checking {name}")
    results = checked_bots(tournament, isolation, (), fresh_seed().hex()[:8], {other})
    if any(one.result == FAILED for one in results):
        show_data(checked_table(results))
        if results[0].game:
            command = f"{name}={shlex.join(bot.table.bot.command)}"
            options = [f"--option={key}={value}" for key, value in bot.tables.get("options", {}).items()]
            again = pasteable("check", bot.tables["tournament"]["game"], command, *options)
            say(f"`{again}` in its folder shows what it wrote")
        raise CheckFailed(f"`{name}` is broken: it cannot be built or failed the check")


def _play(tournament: Tournament, workers: int | None, isolation: str | None) -> SprtResult:
    """Plays a test, or continues it; how it ended. Raises what a run raises."""
    from referee.cli.playing import TerminalReporter
    from referee.running import RunOptions, run_tournament

    workers = tournament.workers if workers is None else workers
    options = RunOptions(tournament.file.folder, workers, isolation)
    finished = run_tournament(tournament, options, TerminalReporter(options, False, False))
    say(f"next: {pasteable('replay', options.folder)}")
    (result,) = finished.run.facts.tests
    return result
