"""The command line: one module a command. stdout is data, everything else goes to stderr."""

from __future__ import annotations

import io
import sys

import click

import referee
from referee.cli.check import check
from referee.cli.doctor import doctor
from referee.cli.find import find
from referee.cli.games import games
from referee.cli.match import match
from referee.cli.output import say
from referee.cli.replay import replay
from referee.cli.run import run
from referee.cli.table import table
from referee.cli.verify import verify
from referee.core.errors import RefereeError, Stopped, UsageError
from referee.core.text import shown


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(referee.__version__, prog_name="referee")
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


for command in (run, match, check, table, find, replay, verify, games, doctor):
    cli.add_command(command)


def main() -> None:
    """Runs the command line, and exits with 0 or the exit code of the error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a `–` is not to fail in an old locale
    sys.exit(_run())


def _run() -> int:
    try:
        cli.main(prog_name="referee", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return UsageError.exit_code
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "referee"
        # click quotes the input unescaped.
        say(f"referee: {shown(error.format_message(), 400)} (see `{where} --help`)")
        return UsageError.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("referee: stopped")
        return Stopped.exit_code
    except RefereeError as error:
        say(f"referee: {error}")
        return error.exit_code
    except SystemExit:
        # click exits this way when stdout is closed, as after `| head`. That is not an error.
        pass
    return 0
