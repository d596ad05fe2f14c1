"""`referee find`: finds games of runs, and prints their dialogues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from referee.cli import completion
from referee.cli.options import form_option, only_one, runs_argument
from referee.cli.output import say, show_data
from referee.cli.query import query_of, query_options
from referee.core.rows import Grid, text_columns
from referee.core.text import listed, shown

if TYPE_CHECKING:
    from referee.records.record import Summary
    from referee.tournament.run.exports import Dialogues
    from referee.tournament.run.finding import FoundGames
    from referee.tournament.run.reading import Runs

NOT_STORED = "(not stored; `referee rerun RUN ID --dialogue` plays the game again and shows it)"


@click.command()
@runs_argument
@click.option(
    "--id",
    metavar="ID",
    shell_complete=completion.game_of_run,
    help="Only the game with this id or number.",
)
@query_options
@click.option(
    "--won-by", metavar="BOT", shell_complete=completion.bot_of_run, help="Games that this bot won."
)
@click.option(
    "--lost-by",
    metavar="BOT",
    shell_complete=completion.bot_of_run,
    help="Games in which this bot was not first.",
)
@click.option(
    "--to-see",
    is_flag=True,
    help="Of the games found, those worth looking at, each with the reason: an upset, the biggest swing, "
    "the longest, the quickest win, the strangest fault.",
)
@click.option("--dialogue", is_flag=True, help="Print the stored dialogue of each game found.")
@form_option
def find(**given: Any) -> None:
    """Finds games of one run or several, and shows how they ended.

    RUN is a run's folder or its tournament file. What bots wrote to stderr is in the record (`referee replay
    RUN ID`). The dialogue with the referee is stored only for games with faults, or for all games with `keep
    = "all"`.

    \b
    Examples:
      referee find results --bot greedy --lost-by random
      referee find results --fault any --dialogue
      referee find results --moves 'L:A1, L:A2 D:B1' --longer 20
      referee find results --bot greedy --to-see
    """
    from referee.tournament.run.exports import csv_of, dialogues_of, json_of_heads
    from referee.tournament.run.finding import found_games
    from referee.tournament.run.reading import read_runs

    form = given["form"]
    only_one({"--to-see": given["to_see"], "--dialogue": given["dialogue"]})
    runs = read_runs(given["paths"])
    found = found_games(runs, query_of(given))
    if given["to_see"]:
        _show_games_to_see(runs, found, form)
        return
    kept = dialogues_of(found) if given["dialogue"] else None
    if form == "csv":
        show_data(csv_of(found, kept))
    elif form == "json":
        show_data("[\n" + ",\n".join(json_of_heads(found, kept)) + "\n]")
    elif kept is not None:
        _show_dialogues(found, kept, form)
    else:
        _show_list(found, form)
    if not any(games for _, games in found):
        say("no games match")


def _show_dialogues(found: FoundGames, kept: Dialogues, form: str) -> None:
    from referee.tournament.run.exports import dialogue_lines

    rows = []
    for run, games in found:
        for game in games:
            lines = dialogue_lines(kept.get((run.folder, game.id), "")) or [NOT_STORED]
            if form == "simple":
                show_data("\n".join([f"# {game.id}: {shown(game.told)}", *lines]))
            rows += [[shown(str(run.folder)), game.id, line] for line in lines]
    if form != "simple":
        show_data(Grid(text_columns("run", "id", "line"), rows).drawn(form))


def _show_list(found: FoundGames, form: str) -> None:
    from referee.tournament.run.run import numbers_of

    found = [(run, games) for run, games in found if games]
    several = len(found) > 1
    rows: list[list[object]] = []
    for run, games in found:
        numbers = numbers_of(run)
        rows += [
            [
                *([shown(str(run.folder))] if several else []),
                numbers[game.id],
                game.id,
                _winner(game),
                game.ending,
                shown(game.told),
            ]
            for game in games
        ]
    if rows or form != "simple":
        headers = [*(["run"] if several else []), "game", "id", "winner", "ending", "how it ended"]
        show_data(Grid(text_columns(*headers), rows).drawn(form))
    if rows:
        example = f"{shown(str(found[0][0].folder))} {rows[0][several]}"
        say(f"hint: `referee replay {example}` shows a game, `find … --dialogue` its dialogue")


def _show_games_to_see(runs: Runs, found: FoundGames, form: str) -> None:
    """Prints the games to see among those found, as a table: with the step of the deciding move, if known."""
    from referee.pages.report.gathering import chosen_games

    chosen = chosen_games(runs, {(run.folder, game.id) for run, games in found for game in games})
    several = len(runs.runs) > 1
    rows = [
        [
            *([shown(str(one.run.folder))] if several else []),
            one.id,
            one.seen.name,
            one.seen.number,
            shown(one.seen.sentence, 300),
            one.deciding,
        ]
        for one in chosen
    ]
    headers = [*(["run"] if several else []), "id", "to see", "figure", "what happened", "deciding move"]
    if rows or form != "simple":
        show_data(Grid(text_columns(*headers), rows).drawn(form))
    if rows:
        example = f"{shown(str(chosen[0].run.folder))} {chosen[0].id}"
        step = "" if chosen[0].deciding is None else f" --move {chosen[0].deciding}"
        say(f"hint: `referee replay {example}{step}` shows a game")
    else:
        say("no games match")


def _winner(game: Summary) -> str:
    """The name of the bot that was first alone; of a draw, the names of all that were."""
    first = [name for name, rank in zip(game.bots, game.ranks, strict=True) if rank == 1]
    return first[0] if len(first) == 1 else "draw" if len(first) == len(game.bots) else listed(first)
