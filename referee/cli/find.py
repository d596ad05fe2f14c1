"""`referee find`: finds games of runs, and prints their dialogues."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from referee.cli import completion
from referee.cli.options import form_option, group, only_one, runs_argument
from referee.cli.output import say, show_data
from referee.core.errors import RefereeError, UsageError
from referee.core.pairing import Pairing
from referee.core.rows import Grid, text_columns
from referee.core.text import listed, meant, shown
from referee.gameplay.events import Ending

if TYPE_CHECKING:
    from referee.records.header import SectionGame
    from referee.records.record import Summary
    from referee.tournament.run.exports import Dialogues
    from referee.tournament.run.reading import Runs
    from referee.tournament.run.run import StoredRun

NOT_STORED = "(not stored; `referee rerun RUN ID --dialogue` plays the game again and shows it)"

_FAULTS = frozenset(ending.word for ending in Ending if ending.is_fault)


@click.command()
@runs_argument
@click.option(
    "--id",
    "game_id",
    metavar="ID",
    shell_complete=completion.game_of_run,
    help="Only the game with this id or number.",
)
@click.option(
    "--bot",
    "bots",
    metavar="BOT",
    multiple=True,
    shell_complete=completion.bot_of_run,
    help="Games of this bot; repeat the option for games between several.",
)
@click.option("--section", metavar="NAME", help="Games of one section of the tournament.")
@click.option("--round", "number", type=click.IntRange(1), help="Games of one round.")
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
    "--fault",
    type=click.Choice(["any", *(ending.word for ending in Ending if ending.is_fault)]),
    help="Games in which a bot had this fault (with --bot: one of those bots).",
)
@click.option(
    "--ending",
    type=click.Choice([ending.word for ending in Ending]),
    help="Games that ended in this way.",
)
@click.option("--moves", metavar="M, M, …", help="Games that began with these moves, as `replay` shows them.")
@click.option("--longer", metavar="N", type=click.IntRange(0), help="Games of more than N moves.")
@click.option("--shorter", metavar="N", type=click.IntRange(1), help="Games of fewer than N moves.")
@click.option("--machine", metavar="NAME", help="Games that were played on the machine with this name.")
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
    from referee.tournament.run.exports import csv_of, json_of_heads
    from referee.tournament.run.reading import game_named, read_runs

    query, form = group(_Query, given), given["form"]
    only_one({"--to-see": given["to_see"], "--dialogue": given["dialogue"]})
    runs = read_runs(given["paths"])
    if query.game_id is not None:
        _, game_id = game_named(runs.runs, query.game_id)
        query = replace(query, game_id=game_id)
    query.check(runs)
    found = query.games(runs)
    if is_none := not any(games for _, games in found):
        query.check_moves(runs)
    if given["to_see"]:
        _show_games_to_see(runs, found, form)
        return
    kept = _kept(found) if given["dialogue"] else None
    if form == "csv":
        show_data(csv_of(found, kept))
    elif form == "json":
        show_data("[\n" + ",\n".join(json_of_heads(found, kept)) + "\n]")
    elif kept is not None:
        _show_dialogues(found, kept, form)
    else:
        _show_list(found, form)
    if is_none:
        say("no games match")


@dataclass(frozen=True, slots=True)
class _Query:
    game_id: str | None
    bots: tuple[str, ...]
    section: str | None
    number: int | None
    won_by: str | None
    lost_by: str | None
    fault: str | None
    ending: str | None
    moves: str | None
    longer: int | None
    shorter: int | None
    machine: str | None

    def check(self, runs: Runs) -> None:
        """Raises `UsageError` where these runs have no such bot or game."""
        for name in (*self.bots, *filter(None, (self.won_by, self.lost_by))):
            if name not in runs.names:
                expected = meant(name, runs.names)
                raise UsageError(f"there is no bot `{shown(name, 80)}` in this run, expected {expected}")
        if self.section is not None and runs.runs:
            _check_section(runs, self.section)

    @property
    def opening(self) -> list[str]:
        return [" ".join(move.split()) for move in (self.moves or "").split(",") if move.strip()]

    def check_moves(self, runs: Runs) -> None:
        """Raises `UsageError` where one of the moves is none of any game that was played."""
        sections = [section for run in runs.runs for section in run.header.sections.values()]
        for move in self.opening:
            reasons = [_why_no_move(section, move) for section in sections]
            if reasons and all(reasons):
                raise UsageError(f"`--moves` has `{shown(move, 80)}`: {reasons[0]}")

    def games(self, runs: Runs) -> list[tuple[StoredRun, list[Summary]]]:
        """The games that fit, by run. Raises `UsageError` where none was played on the machine."""
        found = [(run, [*filter(self._fits, run.shown_games)]) for run in runs.runs]
        if not (self.moves is None and self.longer is None and self.shorter is None):
            found = [(run, self._by_moves(run, games)) for run, games in found]
        return found if self.machine is None else _by_machine(found, runs, self.machine)

    def _fits(self, game: Summary) -> bool:
        """Whether a game fits, as far as its summary tells."""
        return (
            self.game_id in (None, game.id)
            and set(self.bots).issubset(game.bots)
            and self._fits_pairing(game.id)
            and self._fits_ending(game)
        )

    def _fits_pairing(self, game_id: str) -> bool:
        if self.section is None and self.number is None:
            return True
        pairing = Pairing.parse(game_id)
        return self.section in (None, pairing.section) and self.number in (None, pairing.number)

    def _fits_ending(self, game: Summary) -> bool:
        faults = _FAULTS if self.fault == "any" else {self.fault}
        return (
            (self.won_by is None or (self.won_by, 1) in zip(game.bots, game.ranks, strict=True))
            and (self.lost_by is None or _is_lost(game, self.lost_by))
            and (self.fault is None or bool(_faults_among(game, self.bots) & faults))
            and self.ending in (None, game.ending)
        )

    def _by_moves(self, run: StoredRun, games: list[Summary]) -> list[Summary]:
        """The games that begin with the given moves and are longer and shorter than what is given."""
        from referee.records.record import moves_of_line
        from referee.tournament.run.run import game_lines

        opening = self.opening
        fitting = set()
        for line in game_lines(run, {game.id for game in games}):
            moves = moves_of_line(line.text)
            if moves[: len(opening)] == opening and self._fits_length(len(moves)):
                fitting.add(line.game.id)
        return [game for game in games if game.id in fitting]

    def _fits_length(self, moves: int) -> bool:
        return (self.longer is None or moves > self.longer) and (self.shorter is None or moves < self.shorter)


def _why_no_move(section: SectionGame, text: str) -> str:
    """Why a text is not a move of a section's game in any position; empty if it may be one."""
    from referee.games.api import NotAMove, Refusal

    try:
        game = section.available()
        game.start(game.settle({})).read(0, text)
    except NotAMove as refusal:
        return refusal.sentence
    except (Refusal, RefereeError, ValueError):
        pass  # a move elsewhere, or nobody can tell
    return ""


def _is_lost(game: Summary, name: str) -> bool:
    return name in game.bots and game.ranks[game.bots.index(name)] > 1


def _faults_among(game: Summary, bots: tuple[str, ...]) -> set[str]:
    """The faults in a game of these bots, or of all if none are named; maybe with the empty word of none."""
    return {word for name, word in zip(game.bots, game.faults, strict=True) if not bots or name in bots}


def _check_section(runs: Runs, section: str) -> None:
    known = list(dict.fromkeys(Pairing.parse(game).section for run in runs.runs for game in run.games))
    if section not in known:
        names = [name for name in known if name]
        expected = meant(section, names) if names else "a run with sections"
        raise UsageError(
            f"there is no section `{shown(section, 80)}` in this run, expected {shown(expected)}"
        )


def _by_machine(
    found: list[tuple[StoredRun, list[Summary]]], runs: Runs, machine: str
) -> list[tuple[StoredRun, list[Summary]]]:
    from referee.tournament.run.run import places_of

    names = {
        run.folder: {game: place.name for game, place in places_of(run, run.games).items()}
        for run in runs.runs
    }
    known = sorted({name for of_run in names.values() for name in of_run.values()})
    if machine not in known:
        expected = meant(machine, known) if known else "a run with games"
        raise UsageError(f"no game was played on `{shown(machine, 80)}`, expected {shown(expected)}")
    return [
        (run, [game for game in games if names[run.folder].get(game.id) == machine]) for run, games in found
    ]


def _kept(found: Iterable[tuple[StoredRun, list[Summary]]]) -> Dialogues:
    from referee.tournament.run.run import dialogues

    return {
        (run.folder, game_id): text
        for run, games in found
        for game_id, text in dialogues(run.folder, {game.id for game in games}).items()
    }


def _show_dialogues(found: Iterable[tuple[StoredRun, list[Summary]]], kept: Dialogues, form: str) -> None:
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


def _show_list(found: Iterable[tuple[StoredRun, list[Summary]]], form: str) -> None:
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


def _show_games_to_see(runs: Runs, found: Iterable[tuple[StoredRun, list[Summary]]], form: str) -> None:
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
