"""`referee serve`: shows a run in a browser while it is played."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.options import game_option, outside_game, run_argument, tournament_format_option
from referee.cli.output import say, show_data
from referee.core.text import shown

PORT = 8000


@click.command(short_help="Shows a run in a browser while it is played.")
@run_argument
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="The port to listen on; 0 picks a free one.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. With any but the default, other machines can read the run.",
)
@click.option("--log", is_flag=True, help="Print a line for each request on stderr.")
@game_option
@tournament_format_option
def serve(path: Path, port: int, host: str, log: bool, game: str | None) -> None:
    """Serves web pages about a run: the games in play, standings, faults, and all finished games.

    RUN is the run's folder or its tournament file. The run may not have started yet. To leave the processors
    to the bots, a game may appear a few seconds after its end. Of a game with hidden information, only what
    all seats know is shown while it is played, and the rest when all games with the same chance events are
    over. The address of the pages is printed on stdout; Ctrl-C stops the server.

    While somebody watches, `live/watched` is written in the folder of the run: by it the referee knows. Where
    that is not possible, or the referee is on another machine, only finished games are shown.

    \b
    Examples:
      referee serve results
      referee serve results --port 0
    """
    from referee.records.run_files import RECORDS
    from referee.serving.server import hosts_of, is_local, listening, serve_run, url_of  # only when it serves
    from referee.tournament.run.reading import future_folder

    folder, given = future_folder(path), outside_game(game)
    with listening(host, port) as listener:
        show_data(url_of(listener))
        if not is_local(listener):
            say(f"warning: anyone who can reach {url_of(listener)} over the network can read this run")
        if not (folder / RECORDS).exists():
            say(f"waiting for a run to start in `{shown(str(folder))}`")
        serve_run(folder, given, listener, hosts_of(listener, host), _log if log else None, say)


def _log(line: str) -> None:
    say(shown(line, 300))
