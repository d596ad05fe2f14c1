"""The command line: one module per command, and the exit code of each error. stdout is data, everything
else goes to stderr.
"""

from __future__ import annotations

import io
import sys
from importlib import import_module

import click

import referee
from referee.cli.output import open_closed_streams, say, show_data
from referee.core.errors import RefereeError, Stopped, UsageError
from referee.core.stop import Interrupted, Interruptible
from referee.core.text import shown

SUMMARIES = {
    "Write a bot": {
        "new-bot": "Creates a folder with a starter bot.",
        "check": "Checks whether a bot is ready for tournaments.",
        "test": "Tests whether a bot is better than its last version.",
        "match": "Plays games between a few bots.",
        "tune": "Finds better values for the parameters of a bot.",
        "moves": "Prints the legal moves of a position, or counts them.",
        "rerun": "Plays a recorded game again and shows what differs.",
        "suite": "Asks bots for moves in the positions of a file.",
        "play": "Lets you play a game against bots or people.",
    },
    "Run a tournament": {
        "run": "Plays a tournament, or continues it.",
        "status": "Shows the progress of a run.",
        "serve": "Shows a run in a browser while it is played.",
        "table": "Prints the table of a run.",
        "report": "Makes a web page of a run, with its games.",
        "amend": "Withdraws or renames bots of a run, and annuls games.",
        "doctor": "Checks what works on this machine, and what to install.",
    },
    "Look at games": {
        "replay": "Lists the games of a run, or shows one, also as a page or a picture.",
        "find": "Finds games and their dialogues.",
        "analyse": "Tells what is proved and estimated of games, and where they turned.",
        "diagnose": "Tells what is peculiar to a bot in its games.",
        "verify": "Replays all games of a run to verify its records.",
        "export": "Exports games for other programs.",
    },
    "Learn more": {
        "games": "Lists the games, or describes one.",
        "docs": "Lists, searches and shows the documents.",
        "examples": "Copies the sample bots, tournaments, suites and a notebook.",
    },
}
"""The commands, by what they are for, with what the list says of each. A command is a function in a module of
its name, both with `_` for `-`.
"""


_WIDEST = max(len(name) for commands in SUMMARIES.values() for name in commands)


def _show_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        show_data(f"referee, version {referee.__version__}")
        context.exit()


def _show_help(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        show_data(context.get_help())
        context.exit()


# click's own option does not expect that the help cannot be written.
_HELP = click.Option(
    ["-h", "--help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_help,
    help="Show this message and exit.",
)


def _with_our_help(command: click.Command) -> click.Command:
    if command.add_help_option:
        command.add_help_option = False
        command.params.append(_HELP)
    return command


class _Commands(click.Group):
    """The commands, each imported only when it is called, since it needs much that the others do not."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves a command as click does, but returns the command itself; `help` is `--help`, `version` is
        `--version`.
        """
        if args[:1] == ["version"]:
            _show_version(ctx, self.params[0], True)
        if args[:1] == ["help"]:
            if not args[1:]:
                show_data(ctx.get_help())
                ctx.exit()
            args = [args[1], "--help"]
        name, known, rest = super().resolve_command(ctx, args)
        if name is None or known is None:
            return name, known, rest
        module = name.replace("-", "_")
        return name, _with_our_help(getattr(import_module(f"referee.cli.{module}"), module)), rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for purpose, commands in SUMMARIES.items():
            with formatter.section(purpose):
                formatter.write_dl([(f"{name:{_WIDEST}}", said) for name, said in commands.items()])


@click.group(cls=_Commands, context_settings={"max_content_width": 100})
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Plays games between bots and ranks them.

    A bot is any program that speaks a small text protocol on stdin and stdout (`referee docs protocol`).

    \b
    Examples:
      referee docs first-bot
      referee match blooms -n 1 --watch '{python} mine.py' '{python} other.py'
      referee check blooms '{python} mine.py'
      referee run tournament.toml

    \b
    Exit codes:
      0  success
      1  the referee itself failed, or a game could not be completed
      2  wrong usage: an option, a name or a file
      3  stopped by a signal; the same command continues a run
      4  a result could not be stored
      5  this machine lacks something that is needed
      6  a record failed verification
      7  a bot failed a step of `check`
      8  with --strict: a bot was at fault or left out, an SPRT
         accepted H0, or `rerun` found a difference; without it:
         `test` did not find the bot better
    """


for commands in SUMMARIES.values():
    for name, summary in commands.items():
        cli.add_command(click.Command(name, short_help=summary))
_with_our_help(cli)


def main() -> None:
    """Runs the command line, and exits with 0 or the exit code of the error."""
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a `–` is not to fail in an old locale
    sys.exit(_run())


def _run() -> int:
    try:
        with Interruptible():
            cli.main(prog_name="referee", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return UsageError.exit_code
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "referee"
        if isinstance(error, click.NoSuchOption):
            from referee.cli.options import unknown_option  # not needed by correct commands

            message = unknown_option(error)
        elif isinstance(error, click.MissingParameter) and isinstance(error.param, click.Argument):
            from referee.cli.options import missing_argument

            message = missing_argument(error.param)
        else:
            message = shown(error.format_message(), 400)  # click quotes the input unescaped
        say(f"referee: {message} (see `{where} --help`)")
        return UsageError.exit_code
    except Interrupted as interrupted:
        say(f"referee: {interrupted}")
        return Stopped.exit_code
    except RefereeError as error:
        say(f"referee: {error}")
        return error.exit_code
    except Exception as error:
        from referee.core.named_code import failure_text  # not needed by most commands

        if (failure := failure_text(error)) is None:
            raise
        say(f"referee: {failure}")
        return UsageError.exit_code
    except SystemExit:
        # click exits this way when stdout is closed, as after `| head`. That is not an error.
        pass
    return 0
