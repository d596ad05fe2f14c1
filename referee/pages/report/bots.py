"""The page of a bot: its figures, the course of its rating, the cells that it plays, its openings, its best
and worst games. Pure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from referee.analysis.diagnosis import Diagnosis
from referee.core.rows import Grid
from referee.core.settings import STANDARD_POINTS
from referee.core.text import counted
from referee.games.api import State
from referee.games.picture import Mark, Plane, Point, Polygon, regular
from referee.pages.report.front import EVEN, GameToSee, ListedGame, best_win, most, points_text
from referee.pages.report.rating_history import RatingHistory
from referee.ratings.columns import rating_text
from referee.ratings.metrics import Metrics
from referee.ratings.standings import Standings
from referee.records.record import Summary
from referee.viewing.claims import ILLEGAL_LINE, LOST_WIN

OPENING_MOVES = 4  # with so many moves a game begins, in trees of openings

MOST_OPENINGS = 20  # so many beginnings of games are in the tree of a bot and a seat: the most frequent ones

FEWEST_GAMES = 2  # what fewer games began with is not in a tree

MOST_CELLS = 1000  # A board with more cells has no map

_WORD = re.compile(r"\w+")
_NAME = re.compile(r"\w{1,8}")
_ROUND_CELL = regular(12, 0.46)


class BoardCell(NamedTuple):
    """A cell of a board, with its name and its middle."""

    name: str
    x: float
    y: float


class Board(NamedTuple):
    """The cells on which a game is played."""

    cells: tuple[BoardCell, ...]
    shape: tuple[Point, ...]  # the corners of a cell, around its middle


def board_of(state: State[Any]) -> Board | None:
    """The board of a game in its first position: what is drawn there with a short name, such as `A1`; None
    where the picture has no such cells.
    """
    marks = [
        mark
        for panel in state.picture(None)
        if isinstance(panel, Plane)
        for mark in (*panel.ground, *panel.marks)
        if isinstance(mark, Mark) and mark.symbol and _NAME.fullmatch(mark.title)
    ]
    cells = tuple({mark.title: BoardCell(mark.title, mark.x, mark.y) for mark in marks}.values())
    if not 1 < len(cells) <= MOST_CELLS:
        return None
    first = marks[0].symbol.shapes[0] if marks[0].symbol and marks[0].symbol.shapes else None
    return Board(cells, first.points if isinstance(first, Polygon) else _ROUND_CELL)


def words_of(moves: Iterable[str]) -> dict[str, int]:
    """How often each word stands in moves; those that name cells are such words."""
    return dict(Counter(chain.from_iterable(map(_words, moves))))


@lru_cache(maxsize=10_000)
def _words(move: str) -> frozenset[str]:
    return frozenset(_WORD.findall(move))


class Opening(NamedTuple):
    """Moves with which games of a bot began."""

    moves: tuple[str, ...]
    games: int
    score: float  # what it scored in them, as a number of games won


def openings(games: Iterable[tuple[Summary, Sequence[str]]], bot: str, seat: int) -> list[Opening]:
    """The most frequent beginnings of a bot's games from a seat, each after what it continues."""
    counts: Counter[tuple[str, ...]] = Counter()
    scored: dict[tuple[str, ...], float] = defaultdict(float)
    for game, moves in games:
        if seat >= len(game.bots) or game.bots[seat] != bot:
            continue
        score = STANDARD_POINTS.of(game.ranks, seat)
        for length in range(1, len(moves) + 1):
            begun = tuple(moves[:length])
            counts[begun] += 1
            scored[begun] += score
    frequent = [(moves, count) for moves, count in counts.items() if count >= FEWEST_GAMES]
    frequent.sort(key=lambda found: (-found[1], len(found[0]), found[0]))
    return [Opening(moves, count, scored[moves]) for moves, count in frequent[:MOST_OPENINGS]]


MOST_FAULTS = 5  # so many faults of a bot are listed with what it said: the last ones


class SaidAtFault(NamedTuple):
    """A fault of a bot, and the last line that it wrote to stderr."""

    game: str
    word: str
    said: str


class WrongSaid(NamedTuple):
    """What a bot said of its moves that was wrong, of one kind."""

    words: str  # how often, in a sentence that ends before the game
    game: str  # the first game in which it did
    step: int
    first: str  # why it was wrong there; empty where the words say it


class BotReport(NamedTuple):
    """What a report says of a bot, besides its games."""

    elo: str  # its rating with the interval; empty where it is not rated
    points: str  # its points, as in the table
    times: Sequence[tuple[str, str]]  # the headings and the cells of its row in the table of times
    course: Sequence[tuple[int, float]]  # numbers of games with its Elo after them
    cells: Mapping[Board, Mapping[str, int]]  # how often it played each cell of a board
    openings: Sequence[Sequence[Opening]]  # by seat
    to_see: Sequence[GameToSee]
    faults: Sequence[SaidAtFault]
    wrong: Sequence[WrongSaid]
    metrics: Sequence[tuple[str, Sequence[tuple[int, float]]]]
    """The numbers that it said of its moves: their names, and their means by the number of its move."""
    diagnoses: Sequence[tuple[str, Diagnosis]]  # by section


def bot_reports(
    table: Standings,
    games: Sequence[ListedGame],
    times: Grid | None,
    course: RatingHistory | None,
    cells: Mapping[str, Mapping[Board, Mapping[str, int]]],
    metrics: Mapping[str, Metrics],
    diagnoses: Mapping[str, Sequence[tuple[str, Diagnosis]]],
) -> dict[str, BotReport]:
    """What there is to say of each bot of these standings; `times` is the table of its times, `cells` has by
    bot how often it played each cell, `metrics` what it said of its moves in numbers of its own,
    `diagnoses` what is peculiar to it, by section.
    """
    elo = {bot: rating.elo for bot, rating in table.pool.ratings.items()}
    own: dict[str, list[ListedGame]] = defaultdict(list)
    for each in games:
        for bot in each.game.bots:
            own[bot].append(each)
    rated = {row.bot: rating_text(row.rating) for row in table.rows if row.is_rated and table.seats > 1}
    points = {row.bot: points_text(row) for row in table.rows}
    times_of = _by_bot(times) if times else {}
    return {
        bot: BotReport(
            rated.get(bot, ""),
            points[bot],
            times_of.get(bot, ()),
            course.elo.get(bot, ()) if course else (),
            cells.get(bot, {}),
            [
                openings([(each.game, each.opening) for each in own[bot]], bot, seat)
                for seat in range(table.seats)
            ],
            _to_see(bot, own[bot], elo),
            [
                SaidAtFault(each.game.id, each.game.faults[each.game.bots.index(bot)], each.last_words)
                for each in own[bot]
                if each.game.faults[each.game.bots.index(bot)]
            ][-MOST_FAULTS:],
            [*_wrong(bot, own[bot])],
            [(name, metrics[bot].course(name)) for name in metrics[bot].names] if bot in metrics else (),
            diagnoses.get(bot, ()),
        )
        for bot in table.names
    }


def _wrong(bot: str, games: Iterable[ListedGame]) -> Iterator[WrongSaid]:
    """What the bot said that was wrong, counted by its kind."""
    for key in (ILLEGAL_LINE, LOST_WIN):
        found = [
            (each.game.id, claim, count)
            for each in games
            for claim, count in each.claims
            if claim.key == key and each.game.bots[claim.seat] == bot
        ]
        if found:
            game, first, _ = found[0]
            in_games = counted(len(found), "game")
            moves = counted(sum(count for *_, count in found), "move")
            words = (
                f"In {moves} of {in_games}, the line of play that it expected (pv) was not legal"
                if key == ILLEGAL_LINE
                else f"In {in_games}, it gave itself a certain win (value 1) and then lost"
            )
            yield WrongSaid(words, game, first.step, first.why)


def _by_bot(grid: Grid) -> dict[str, list[tuple[str, str]]]:
    """The cells of each bot's row, with the headings of their columns."""
    names = [column.name for column in grid.columns]
    at = names.index("bot")
    return {
        row[at]: [
            (column.heading, text)
            for number, (column, text) in enumerate(zip(grid.columns, row, strict=True))
            if number > at
        ]
        for row in grid.texts
    }


def _to_see(bot: str, games: Collection[ListedGame], elo: Mapping[str, float]) -> list[GameToSee]:
    """Its best win, its best comeback and its worst loss, none of them twice."""
    found: list[GameToSee] = []

    def add(name: str, number: str, sentence: str, each: ListedGame) -> None:
        if all(each.game is not seen.game for seen in found):
            found.append(GameToSee(name, number, sentence, each.game, each.deciding))

    if win := best_win(bot, games, elo):
        each, against = win
        add("Best win", counted(each.moves, "move"), f"against {against}", each)
    if turned := most(games, lambda each: _gain(bot, each)):
        each, gain = turned
        least = f"{100 * (1 - gain):.0f} %"
        add("Best comeback", least, f"it gave itself a chance of {least}, and still won", each)
    if lost := most(games, lambda each: _lead_lost(bot, each, elo)):
        each, lead = lost
        winner = each.game.bots[each.winner or 0]
        lower = f"{abs(lead):,.0f} Elo"
        rated = f"rated {lower} {'lower' if lead > 0 else 'higher'}"
        add("Worst loss", lower, f"against {winner}, {rated}", each)
    return found


def _gain(bot: str, each: ListedGame) -> float | None:
    """What a win added to the least chance that the bot gave itself, if that was below one half."""
    if each.winner is None or each.game.bots[each.winner] != bot or not each.is_clean or not each.lowest:
        return None
    lowest = each.lowest[each.winner]
    return 1 - lowest if lowest is not None and lowest < EVEN else None


def _lead_lost(bot: str, each: ListedGame, elo: Mapping[str, float]) -> float | None:
    """How much higher a bot is rated than the one that beat it without a fault of either."""
    if each.winner is None or each.game.bots[each.winner] == bot or not each.is_clean:
        return None
    winner = each.game.bots[each.winner]
    return elo[bot] - elo[winner] if elo.keys() >= {bot, winner} else None
