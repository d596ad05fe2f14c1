"""The command line: one module a command. stdout is data, everything else goes to stderr."""

from __future__ import annotations

import io
import sys

import click

import referee
from referee.cli.amend import amend
from referee.cli.check import check
from referee.cli.doctor import doctor
from referee.cli.export import export
from referee.cli.find import find
from referee.cli.games import games
from referee.cli.match import match
from referee.cli.merge import merge_runs
from referee.cli.output import open_closed_streams, say, show_data
from referee.cli.replay import replay
from referee.cli.report import report
from referee.cli.run import run
from referee.cli.status import status
from referee.cli.table import table
from referee.cli.verify import verify
from referee.core.errors import RefereeError, Stopped, UsageError
from referee.core.stop import Interrupted, Interruptible
from referee.core.text import shown


def _show_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        show_data(f"referee, version {referee.__version__}")
        context.exit()


def _show_help(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        show_data(context.get_help())
        context.exit()


@click.group(context_settings={"max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Plays games between bots and ranks them.

    A bot is any program that speaks the protocol of protocol/PROTOCOL.md on stdin and stdout.

    \b
    Exit codes:
      0  success                          5  the machine lacks something needed
      1  an error of the referee itself   6  a record failed verification
      2  wrong usage                      7  a bot failed a step of its check
      3  stopped by a signal              8  a bot was at fault, with --strict
      4  a result could not be stored
    """


# click's own option does not expect that the help cannot be written.
_HELP = click.Option(
    ["-h", "--help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_help,
    help="Show this message and exit.",
)

for command in (
    run,
    match,
    check,
    status,
    table,
    find,
    replay,
    report,
    verify,
    export,
    amend,
    merge_runs,
    games,
    doctor,
):
    cli.add_command(command)
for command in (cli, *cli.commands.values()):
    command.add_help_option = False
    command.params.append(_HELP)


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
        # click quotes the input unescaped.
        say(f"referee: {shown(error.format_message(), 400)} (see `{where} --help`)")
        return UsageError.exit_code
    except Interrupted as interrupted:
        say(f"referee: {interrupted}")
        return Stopped.exit_code
    except RefereeError as error:
        say(f"referee: {error}")
        return error.exit_code
    except SystemExit:
        # click exits this way when stdout is closed, as after `| head`. That is not an error.
        pass
    return 0
