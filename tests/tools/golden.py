"""Golden games: whole random games, as a person reads them, of each game under several options.

`python -m tests.tools.golden` writes them anew. What changes then is a change of the rules, of the news or of
the pictures, and belongs into the review.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from referee.check.rules import is_chance
from referee.core.seeds import Stream
from referee.games import GAMES
from referee.games.api import Seat, State
from referee.viewing.characters import picture_text
from tests.rules.random_play import CASES

GOLDEN = Path(__file__).parent.parent / "rules" / "golden_games"

PICTURED = 5
"""Every so many steps the position is drawn."""


def file_of(slug: str, given: dict[str, str]) -> Path:
    """Where the game of a case is kept."""
    options = "".join(f"-{name}-{value.split()[0]}" for name, value in given.items())
    return GOLDEN / f"{slug}{options}.txt"


def who(audience: Seat | None) -> str:
    """An audience in a golden game."""
    return "all" if audience is None else f"seat {audience + 1}"


def together(news: Mapping[Seat | None, Sequence[str]]) -> Iterator[tuple[list[Seat | None], str]]:
    """Each line of news once, with those who are told it, in the order in which each of them is told."""
    left = {audience: list(lines) for audience, lines in news.items()}
    for line in news[None]:
        told = [audience for audience, lines in left.items() if line in lines]
        for audience in told:
            before = left[audience].index(line)
            yield from (([audience], own) for own in left[audience][:before])
            del left[audience][: before + 1]
        yield told, line
    yield from (([audience], own) for audience, lines in left.items() for own in lines)


def golden(slug: str, given: dict[str, str]) -> str:
    """A random game: what was done, who was told what of it, and how it looked."""
    game = GAMES[slug]
    options = game.settle(given)
    rng = Stream(b"golden")
    state: State[Any] = game.start(options)
    audiences: list[Seat | None] = [None] if game.is_open else [None, *range(game.seats(options))]
    told: dict[Seat | None, int] = dict.fromkeys(audiences, 0)
    lines = [f"{slug} {' '.join(f'{name}={value}' for name, value in options.items())}"]
    number = 0
    while state.outcome() is None:
        number += 1
        if is_chance(state):
            text = state.draw(rng)
            lines.append(f"\n{number}. chance: {text}")
            state = state.chance(text)
        else:
            moves = {seat: state.sample(seat, rng) for seat in state.to_act()}
            done = ", ".join(f"seat {seat + 1}: {state.write(move)}" for seat, move in moves.items())
            lines.append(f"\n{number}. {done}")
            state = state.play(moves)
        news = {audience: state.seen(audience)[told[audience] :] for audience in audiences}
        told = {audience: told[audience] + len(news[audience]) for audience in audiences}
        lines += [
            f"   {'told' if game.is_open else ', '.join(map(who, those))}: {line}"
            for those, line in together(news)
        ]
        if number % PICTURED == 0 or state.outcome():
            lines.append(picture_text(state.picture(None), colour=False))
    outcome = state.outcome()
    assert outcome
    lines.append(f"\nranks {outcome.ranks}, scores {outcome.scores}: {outcome.sentence}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    shutil.rmtree(GOLDEN, ignore_errors=True)
    GOLDEN.mkdir()
    for case in CASES:
        file_of(*case).write_text(golden(*case))
