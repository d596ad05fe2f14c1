"""`referee find`: finds games of a run, and prints their dialogues."""

from __future__ import annotations

from pathlib import Path

import click
from tabulate import tabulate

from referee.cli.output import say, show_data
from referee.core.errors import UsageError
from referee.core.text import meant, shown
from referee.gameplay.events import Ending
from referee.tournament.folder import dialogues, read_run


@click.command(short_help="Finds games of a run, and their dialogues.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--id", "game_id", metavar="ID", help="Only the game with this id.")
@click.option(
    "--bot", "bots", metavar="A", multiple=True, help="Games of this bot; repeat it for games of several."
)
@click.option("--round", "number", type=click.IntRange(1), help="Games of one round.")
@click.option("--won-by", metavar="A", help="Games that this bot won.")
@click.option("--lost-by", metavar="A", help="Games in which this bot was not first.")
@click.option(
    "--fault",
    type=click.Choice(["any", *(ending.word for ending in Ending if ending.is_fault)]),
    help="Games in which a bot had this fault (with --bot: one of those bots).",
)
@click.option("--dialogue", is_flag=True, help="Print the stored dialogue of each game found.")
def find(
    folder: Path,
    game_id: str | None,
    bots: tuple[str, ...],
    number: int | None,
    won_by: str | None,
    lost_by: str | None,
    fault: str | None,
    dialogue: bool,
) -> None:
    """Finds games of the run in DIR.

    Shows how they ended. What the bots wrote to stderr is in the record (`referee replay DIR ID`). The
    dialogue with the referee is stored for games with faults, or for all games with `keep = "all"`.
    """
    run = read_run(folder)
    for name in (*bots, *filter(None, (won_by, lost_by))):
        if name not in run.header["bots"]:
            expected = meant(name, run.header["bots"])
            raise UsageError(f"no bot `{shown(name, 80)}` in this run, expected {expected}")
    found = []
    for game in run.games.values():
        places = dict(zip(game.bots, game.ranks, strict=True))
        at_fault = {
            word
            for name, word in zip(game.bots, game.faults, strict=True)
            if word and (not bots or name in bots)
        }
        if (
            (game_id is None or game.id == game_id)
            and all(name in places for name in bots)
            and (number is None or game.id.startswith(f"{number}:"))
            and (won_by is None or places.get(won_by) == 1)
            and (lost_by is None or places.get(lost_by, 1) > 1)
            and (fault is None or (fault in at_fault or (fault == "any" and bool(at_fault))))
        ):
            found.append(game)
    if dialogue:
        kept = dialogues(folder, {game.id for game in found})
        for game in found:
            lines = [shown(line, 5000) for line in kept[game.id].split("\n")] if game.id in kept else []
            show_data("\n".join([f"# {game.id}: {shown(game.sentence)}", *(lines or ["(not stored)"])]))
        return
    rows = [[game.id, ", ".join(map(str, game.ranks)), game.ending, shown(game.sentence)] for game in found]
    show_data(tabulate(rows, ["id", "ranks", "ending", ""], disable_numparse=True))
    if found:
        say(f"hint: referee replay {shown(str(folder))} '{found[0].id}'; find … --dialogue")
