"""`referee amend`: withdraws or renames bots of a run, annuls games, and has games played again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import group, key_values, run_argument, tournament_format_option
from referee.cli.output import say
from referee.core.errors import UsageError
from referee.core.pairing import BOT_NAME
from referee.core.text import shown

if TYPE_CHECKING:
    from referee.tournament.run.run import StoredRun


@click.command()
@run_argument
@click.option(
    "--withdraw", "withdrawn", metavar="BOT", multiple=True, help="Withdraw this bot: it plays no more games."
)
@click.option(
    "--games",
    type=click.Choice(("forfeit", "annul", "keep")),
    default="keep",
    show_default=True,
    help="What happens to the games of withdrawn bots: games already played count and no others are "
    "played (keep), the remaining ones are forfeited (forfeit), or none of them count "
    "(annul).",
)
@click.option("--annul", "annulled", metavar="ID", multiple=True, help="Annul this game: it does not count.")
@click.option(
    "--replay",
    "replayed",
    metavar="ID",
    multiple=True,
    help="Let the next `run` play this game again: one that could not be completed, or was forfeited for "
    "that reason. This also clears the bots suspected of causing that.",
)
@click.option(
    "--rename",
    "renamed",
    metavar="OLD=NEW",
    multiple=True,
    help="Show the bot OLD under the name NEW in tables.",
)
@click.option(
    "--reason",
    metavar="TEXT",
    help="The reason, which is stored in the records; required except with --rename.",
)
@tournament_format_option
def amend(path: Path, **given: Any) -> None:
    """Amends a run by adding a line to its records; nothing is removed from them.

    RUN is the run's folder or its tournament file. A renamed bot keeps its old name in the IDs of games and
    in the tournament file.

    \b
    Examples:
      referee amend results --withdraw plain --reason 'its author asked for it'
      referee amend results --rename greedy=eager
    """
    from referee.tournament.run.lock import locked
    from referee.tournament.run.open_run import OpenRun
    from referee.tournament.run.reading import run_folder
    from referee.tournament.run.run import read_run

    amendment = group(_Amendment, given)
    amendment.check()
    folder = run_folder(path)  # a folder without a run is refused before it is locked
    read_run(folder)
    with locked(folder):
        run = read_run(folder)
        change = amendment.change(run)
        with OpenRun.resume(run, {}, b"") as opened:
            opened.add_change(change)
            opened.check()
            for line in amendment.lines():
                say(line)
            say(f"head hash {opened.state.last_hash}")


@dataclass(frozen=True, slots=True)
class _Amendment:
    withdrawn: tuple[str, ...]
    games: str
    annulled: tuple[str, ...]
    replayed: tuple[str, ...]
    renamed: tuple[str, ...]
    reason: str | None

    def check(self) -> None:
        """Raises `UsageError` where nothing is to be changed, or not for a reason."""
        from referee.records.amendments import REASON_CAP

        needs_reason = self.withdrawn or self.annulled or self.replayed
        if not (needs_reason or self.renamed):
            raise UsageError("nothing to change, expected --withdraw, --annul, --replay or --rename")
        if needs_reason and not self.reason:
            raise UsageError(
                "`--reason` is missing, expected the reason for the withdrawal, annulment or replay"
            )
        reason = self.reason or ""
        if len(reason) > REASON_CAP or shown(reason, REASON_CAP) != reason:
            raise UsageError(
                f"`--reason` is too long or has control characters, expected at most {REASON_CAP} "
                "characters, without control characters"
            )

    def change(self, run: StoredRun) -> dict[str, Any]:
        """The members of the `change` line. Raises `UsageError` where they do not fit the run."""
        change: dict[str, Any] = {}
        if self.withdrawn:
            _check_games(run, self.games)
            change["out"] = {
                _bot(run, name, "--withdraw"): {"games": self.games, "reason": self.reason}
                for name in self.withdrawn
            }
        if self.annulled:
            change["annulled"] = {_game(run, name): self.reason for name in self.annulled}
        if self.replayed:
            change["replayed"] = {
                name: {"attempt": _last_attempt(run, name), "reason": self.reason} for name in self.replayed
            }
        if self.renamed:
            change["renamed"] = _renamed(run, self.renamed)
        return change

    def lines(self) -> Iterator[str]:
        from referee.records.amendments import THEN

        for name in self.withdrawn:
            yield f"bot `{name}` is withdrawn: {THEN[self.games]}"
        for name in self.annulled:
            yield f"game `{name}` is annulled"
        for name in self.replayed:
            yield f"the next `run` plays game `{name}` again"


def _check_games(run: StoredRun, games: str) -> None:
    """Raises `UsageError` where games that are not played would leave others without opponents: the bots of
    a Swiss tournament or a knockout are paired by results. A league chooses other encounters instead.
    """
    from referee.tournament.formats import from_header

    form = from_header(run.header.members)
    if form.pairs_by_round and games != "forfeit":
        raise UsageError(f"`--games` is `{games}`, expected `forfeit` with the format `{form.name}`")


def _bot(run: StoredRun, name: str, option: str) -> str:
    if name not in run.header.bots:
        known = ", ".join(run.header.bots)
        raise UsageError(f"`{option}` names `{shown(name, 80)}`, expected one of {shown(known, 400)}")
    return name


def _game(run: StoredRun, name: str) -> str:
    if name not in run.games:
        raise UsageError(f"`--annul` names `{shown(name, 200)}`, expected the id of a game that counts")
    return name


def _last_attempt(run: StoredRun, name: str) -> int:
    from referee.core.pairing import Pairing
    from referee.gameplay.events import Ending

    game, failed = run.games.get(name), sum(void.id == name for void in run.voids)
    if Ending.VOID.word not in game.faults if game else not failed or name in run.annulled:
        raise UsageError(
            f"`--replay` names `{shown(name, 200)}`, expected the id of a game that was forfeited because "
            "games became void, or that could not be completed"
        )
    if run.is_passed(Pairing.parse(name)):
        raise UsageError(
            f"`--replay` names `{name}`, but later rounds that depend on its result were already played"
        )
    return run.amendments.attempts_before(name) + failed + bool(game)


def _renamed(run: StoredRun, texts: tuple[str, ...]) -> dict[str, str]:
    given = {_bot(run, old, "--rename"): new for old, new in key_values("rename", texts).items()}
    for new in given.values():
        if not BOT_NAME.fullmatch(new):
            raise UsageError(
                f"`{shown(new, 80)}` is not a bot name, expected 1 to 64 letters, digits, . _ + -"
            )
    names = [{**run.amendments.renamed, **given}.get(name, name) for name in run.header.bots]
    if len({name.lower() for name in names}) < len(names):
        raise UsageError("two bots would have the same name, expected different names")
    return given
