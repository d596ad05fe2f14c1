"""`referee tune`: finds better values for the parameters of a bot, and tests them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from referee.cli.options import group
from referee.cli.run import RunWords, play, run_options

if TYPE_CHECKING:
    from referee.ratings.standings import Facts
    from referee.tournament.run.run_state import RunState


@click.command()
@run_options
def tune(**given: Any) -> None:
    """Finds better values for the parameters of a bot, or continues to, and tests them against the start.

    The TOML file is a tournament file with one bot and `[[parameter]]` tables (`referee docs tuning`). First
    the bot plays pairs of games with two sets of values each, then a sequential test decides whether the
    values found are better. Prints them, and the bot with them. Ctrl-C stops after the games in progress; the
    same command continues.

    \b
    Examples:
      referee tune mine.toml
      referee tune mine.toml --dry-run
      referee tune mine.toml --workers 4 -o tuning --serve
    """
    play(group(RunWords, given), tunes=True)


def tuned_text(run: RunState, facts: Facts) -> str:
    """The bot of a run with its tuned values, as a command and as a table of a tournament file, after a
    comment that says what the test found; empty for other runs, and while values are looked for. `facts` are
    those of the run.
    """
    from referee.processes.program import filled
    from referee.tournament.file.config import written
    from referee.tournament.formats.tuning import Tuning
    from referee.tuning.parameters import value_text

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
