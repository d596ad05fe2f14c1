"""The pages of a report, each with its charts: the tournament with the list of its games, and pages of games
to be replayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from referee.analysis.diagnosis import Diagnosis
from referee.analysis.findings import Example
from referee.core.pairing import section_of
from referee.core.settings import STANDARD_POINTS, PointScale
from referee.core.text import shown, signed, true_minus
from referee.pages.environment import page, replay_scripts, replay_styles, static
from referee.pages.game_data import packed
from referee.pages.report.bots import BotReport, Opening
from referee.pages.report.charts import SERIES, ChartLine, evidence, histogram, lines
from referee.pages.report.front import Front, GameToSee, ListedGame, PairOfBots, elo_text
from referee.pages.report.gathering import TournamentReport
from referee.pages.report.rating_history import RatingHistory

Replays = Sequence[tuple[str, str]]  # the ids of games, each with its packed data


class Links(NamedTuple):
    """Where games are replayed."""

    pages: Mapping[str, str]
    """By id, the page that has the game, empty for this one; games that are missing are not replayed."""

    def of(self, game: str, step: int | None = None) -> str:
        """The address of a game, or of a step in it; empty where it is not replayed."""
        at = "" if step is None else f"@{step}"
        return f"{self.pages[game]}#{quote(game, safe=_SAFE)}{at}" if game in self.pages else ""

    def is_here(self, game: str) -> bool:
        """Whether this page itself replays a game, so that it can draw its positions."""
        return self.pages.get(game) == ""


_SAFE = "/:+,;=@!$&'()*-._~?"  # what the script leaves as it is in a fragment too


def report_page(
    report: TournamentReport,
    replays: Replays,
    symbols: Mapping[str, str],
    pages: Mapping[str, str],
    on_a_page: int | None = 0,
) -> str:
    """The page of a tournament as HTML, with these replays in it. `pages` says for each game which page
    replays it; where that is another one, each has `on_a_page` games, or is for one game alone where that is
    None.
    """
    own_pages = [pages[each.game.id] for each in report.games] if on_a_page is None else []
    charts = {
        part.key: histogram(
            f"histogram-{part.key}",
            f"Length of the games of {part.title}",
            part.length_text,
            part.lengths,
            "moves",
        )
        for part in report.parts
        if part.lengths
    }
    drawn = [*report.course.elo][:SERIES] if report.course else []
    values_lines = _values_lines(report.values)
    return page(
        "report.html",
        title=report.title,
        description=_description(report.front),
        styles=_styles(),
        scripts=[*replay_scripts(in_pairs=True), static("bot_pages.js"), static("games.js")],
        report=report,
        charts=charts,
        evidence_chart=_evidence_chart(report.front),
        course_lines=drawn,
        course_left_out=len(report.best) - len(drawn),
        course_interval=bool(report.course and report.course.between),
        course_chart=_course_chart(report.course, drawn) if report.course else None,
        values_lines=[line.name for line in values_lines],
        values_left_out=len({row["parameter"] for row in report.values}) - len(values_lines),
        values_chart=_values_chart(values_lines) if values_lines else None,
        links=Links(pages),
        games_data=packed(
            {
                **games_data(report.games, on_a_page or 0),
                **bots_data(report.bots),
                "pairs": pairs_data(report.pairs),
                "points": points_data(report.scale),
                "pages": own_pages,
            }
        ),
        replays=replays,
        symbols=Markup("".join(symbols.values())),
    )


def _description(front: Front) -> str:
    """The answer in a line, for previews of links."""
    found = front.headline
    return f"{found.kicker}: {found.answer}. {found.sentence}" if found else ""


def _evidence_chart(front: Front) -> Markup | None:
    if not front.test or len(front.evidence) < 2:
        return None
    low, high = front.test.bounds
    asked = elo_text(front.test.elo0), elo_text(front.test.elo1)
    return evidence("evidence-chart", front.evidence, (low, high), *asked)


def _course_chart(course: RatingHistory, drawn: Sequence[str]) -> Markup:
    ends = (
        ChartLine("lower end", [(count, low) for count, low, _ in course.between]),
        ChartLine("upper end", [(count, high) for count, _, high in course.between]),
    )
    last = ", ".join(f"{name} {signed(course.elo[name][-1][1])}" for name in drawn)
    return lines(
        "course-chart",
        "Ratings over the course of the tournament",
        f"Elo as games are added; at the end: {last}",
        [ChartLine(name, course.elo[name]) for name in drawn],
        ends if course.between else None,
        ("games", "Elo"),
    )


def _values_lines(rows: Sequence[Mapping[str, Any]]) -> list[ChartLine]:
    """The courses of the values of parameters, in percent of their ranges, as many as can be told apart."""
    names = list(dict.fromkeys(row["parameter"] for row in rows))[:SERIES]
    found = []
    for name in names if rows and rows[-1]["pairs"] else ():
        of_name = [row for row in rows if row["parameter"] == name]
        points = [(row["pairs"], 100 * row["share"]) for row in of_name]
        texts = [f"{true_minus(format(row['value'], 'g'))} after {row['pairs']:,} pairs" for row in of_name]
        found.append(ChartLine(name, points, texts))
    return found


def _values_chart(drawn: Sequence[ChartLine]) -> Markup:
    last = "; ".join(f"{line.name} {line.texts[-1]}" for line in drawn)
    axes = ("pairs", "percent of the range")
    return lines("values-chart", "Values of the parameters, pair by pair", last, drawn, None, axes)


def games_page(
    games: Sequence[ListedGame],
    first: int,
    replays: Replays,
    symbols: Mapping[str, str],
    beside: tuple[tuple[str, str] | None, tuple[str, str] | None],
) -> str:
    """A page of games that can be replayed, as HTML. `first` is the number of the first game in the report,
    counted from 0; `beside` are the game before it and the game after its last, each with its page.
    """
    return page(
        "games.html",
        title=f"games {first + 1:,} to {first + len(games):,}",
        styles=_styles(),
        scripts=[*replay_scripts(in_pairs=True), static("games.js")],
        games_data=packed({**games_data(games, 0), "first": first, "beside": beside}),
        replays=replays,
        symbols=Markup("".join(symbols.values())),
    )


def games_data(games: Sequence[ListedGame], on_a_page: int) -> dict[str, Any]:
    """A list of games for the script: names, words and sentences once each, and their indexes by game."""
    bots, sections, endings, sentences, faults = (
        _TextIndexes(),
        _TextIndexes(),
        _TextIndexes(),
        _TextIndexes(),
        _TextIndexes(),
    )
    rows = [
        [
            game.id,
            sections.of(section_of(game.id)),
            [bots.of(name) for name in game.bots],
            game.ranks,
            endings.of(game.ending),
            sentences.of(shown(game.told)),
            each.moves,
            [faults.of(word) if word else -1 for word in game.faults] if any(game.faults) else [],
            each.deciding,
            *([] if game.rated else [1]),
        ]
        for each in games
        for game in [each.game]
    ]
    return {
        "on_a_page": on_a_page,
        "first": 0,
        "beside": [None, None],
        "bots": [*bots],
        "sections": [*sections],
        "endings": [*endings],
        "sentences": [*sentences],
        "faults": [*faults],
        "games": rows,
    }


def bots_data(bots: Mapping[str, BotReport]) -> dict[str, Any]:
    """What there is to say of each bot, for the script: boards once each, and what refers to them."""
    boards = list(dict.fromkeys(board for bot in bots.values() for board in bot.cells))
    return {
        "boards": [
            {
                "cells": [(cell.name, round(cell.x, 3), round(cell.y, 3)) for cell in board.cells],
                "shape": board.shape,
            }
            for board in boards
        ],
        "about": {
            name: {
                "elo": bot.elo,
                "points": bot.points,
                "times": bot.times,
                "course": [(games, round(elo)) for games, elo in bot.course],
                "cells": [
                    [bot.cells[board].get(cell.name, 0) for cell in board.cells] if board in bot.cells else []
                    for board in boards
                ],
                "openings": [opening_rows(found) for found in bot.openings],
                "see": _cards(bot.to_see),
                "faults": [(fault.game, fault.word, shown(fault.said)) for fault in bot.faults],
                "wrong": bot.wrong,
                "metrics": [
                    (name, [(move, float(f"{mean:.5g}")) for move, mean in points])
                    for name, points in bot.metrics
                ],
                "diagnoses": [_diagnosis_rows(section, found) for section, found in bot.diagnoses],
            }
            for name, bot in bots.items()
        },
    }


def _diagnosis_rows(section: str, found: Diagnosis) -> tuple[str, list[tuple[str, Sequence[Example]]]]:
    """What was found of a bot in a section, with examples; else that nothing was."""
    claims = [(f"{finding.claim}.", finding.examples) for finding in found.findings]
    return section, claims or [(line, ()) for line in found.found]


def pairs_data(pairs: Mapping[PairOfBots, Sequence[GameToSee]]) -> list[tuple[Any, ...]]:
    """The games to see of each pair, for the script."""
    return [(*met.bots, met.section, _cards(found)) for met, found in pairs.items()]


def points_data(scale: PointScale) -> dict[str, float] | None:
    """The points of a game by its result, for the script; None for the standard ones."""
    return None if scale == STANDARD_POINTS else {"won": scale.win, "drawn": scale.draw, "lost": scale.loss}


def _cards(to_see: Sequence[GameToSee]) -> list[tuple[str, str, str, str, int | None]]:
    return [(seen.name, seen.number, shown(seen.sentence), seen.game.id, seen.deciding) for seen in to_see]


def opening_rows(found: Sequence[Opening]) -> list[tuple[int, str, int, float]]:
    """Openings as rows of a tree, each below what it continues: how many moves come before, the last move,
    games, and its score in them.
    """
    rows: list[tuple[int, str, int, float]] = []

    def add(before: tuple[str, ...]) -> None:
        for each in found:
            if each.moves[:-1] == before:
                rows.append((len(before), each.moves[-1], each.games, round(each.score, 6)))
                add(each.moves)

    add(())
    return rows


def _styles() -> list[str]:
    return [*replay_styles(in_pairs=True), static("report.css")]


class _TextIndexes(dict[str, int]):
    """Texts in the order in which they were first used, each with its index."""

    def of(self, text: str) -> int:
        return self.setdefault(text, len(self))
