"""Analyses in words: what is proved, where a game turned and its costly moves, and what estimates are worth.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from referee.analysis.calibration import LEAST_GAMES, WORST_BRIER, Calibration, tens
from referee.analysis.store import GameAnalysis
from referee.analysis.turning import CostlyMove, costly_moves, turning_point
from referee.core.text import counted, listed, shown
from referee.gameplay.events import Ending, Moved, Preset
from referee.games.api import Seat
from referee.records.record import Summary
from referee.viewing.steps import Steps
from referee.viewing.words import placings

_RESULTS = {1: "win", 0: "draw", -1: "loss"}


def _winner_by_rules(game: Summary) -> Seat | None:
    """The only winner of a game of two that the rules ended."""
    decided = game.ending == Ending.RULES.word and len(game.ranks) == 2 and game.ranks.count(1) == 1
    return game.ranks.index(1) if decided else None


def game_text(analysis: GameAnalysis, game: Summary, steps: Steps) -> list[str]:
    """What is known of a game; `game` and `steps` have the names of its bots as they are shown."""
    found = [f"{shown(game.id)}: {shown(placings(game.bots, game.ranks))}: {shown(game.told)}"]
    if len(analysis.steps) != len(steps.steps):
        positions = counted(len(analysis.steps), "position")
        unfit = f"the stored analysis has {positions}, the game {len(steps.steps):,}"
        return [*found, f"  {unfit}: it is not used"]
    found += [f"  {line}" for line in _known_text(analysis, game.bots)]
    if any(step.lead for step in analysis.steps):
        leads = ", ".join("–" if step.lead is None else f"{step.lead}" for step in analysis.steps)
        found.append(f"  lead of {shown(game.bots[0])} by step: {leads}")
    if point := _turning_point(analysis, game):
        winner = game.ranks.index(1)
        before = "a draw was proved"
        if analysis.steps[point - 1].proof:
            before = f"{shown(game.bots[1 - winner])} had a proved win"
        after = f"{shown(game.bots[winner])} wins with best play"
        found.append(f"  it turned at {_move_at(steps, point)}: before it {before}, after it {after}")
    moves = costly_moves(analysis)
    found += ["  moves that gave most away:"] if moves else []
    return found + [f"    {_move_at(steps, move.step)}: {costly_text(analysis, move)}" for move in moves]


def _turning_point(analysis: GameAnalysis, game: Summary) -> int | None:
    winner = _winner_by_rules(game)
    return None if winner is None else turning_point(analysis, winner)


def _known_text(analysis: GameAnalysis, bots: Sequence[str]) -> Iterator[str]:
    """What is known of the positions before the end, from which step to which."""
    texts = ((number, position_text(analysis, number, bots)) for number in range(len(analysis.steps) - 1))
    for text, group in groupby(texts, key=lambda known: known[1]):
        numbers = [number for number, _ in group]
        span = f"steps {numbers[0]} to {numbers[-1]}" if numbers[1:] else f"step {numbers[0]}"
        if text:
            yield f"{span}: {text}"


def _move_at(steps: Steps, step: int) -> str:
    """Who moved in a step, and what; whether the referee made the move, or chance decided."""
    texts = []
    for event in steps.steps[step].events:
        if isinstance(event, Moved | Preset):
            opening = ", in the opening" if isinstance(event, Preset) else ""
            texts.append(f"{shown(steps.terms.bots[event.seat])} {shown(event.text, 200)}{opening}")
    return f"step {step} ({listed(texts) or 'chance'})"


def position_text(analysis: GameAnalysis, number: int, bots: Sequence[str]) -> str:
    """What is known of a position; empty where nothing is."""
    proof, chance = analysis.steps[number].proof, analysis.chances[number]
    if proof == 0:
        return "proved: a draw with best play"
    if proof is not None:
        return f"proved: {shown(bots[0 if proof > 0 else 1], 80)} wins with best play"
    if chance is not None:
        return f"{shown(bots[0], 80)} has a chance of about {tens(chance)} %, {analysis.estimated}"
    return ""


def costly_text(analysis: GameAnalysis, move: CostlyMove) -> str:
    """What a move gave away."""
    best = shown(move.best or "", 100)
    sign = -1 if move.seat else 1
    if move.given:
        before, after = (sign * (step.proof or 0) for step in analysis.steps[move.step - 1 : move.step + 1])
        kept_by = f"; {best} keeps the {_RESULTS[before]}" if best else ""
        return (
            f"proved: the move turns a {_RESULTS[before]} into a {_RESULTS[after]}, with best play{kept_by}"
        )
    chance, drop = analysis.chances[move.step], move.drop or 0.0
    if chance is None:
        lower = f"a chance about {tens(drop)} points lower than after {best}, the adviser’s move"
        return f"{lower}, {analysis.estimated}"
    played = 1 - chance if move.seat else chance
    kept, left = tens(played + drop), tens(played)
    chances = f"kept a chance of about {kept} %, this one about {left} %"
    return f"the adviser’s move {best} {chances}, {analysis.estimated}"


def totals_text(
    run_games: Mapping[str, Summary], games: Mapping[str, GameAnalysis], fitted: Calibration
) -> list[str]:
    """What is known of the games of a section together."""
    before_end = [step for one in games.values() for step in one.steps[:-1]]
    proved = sum(step.proof is not None for step in before_end)
    found = [
        f"{counted(len(games), 'game')} analysed; of {len(before_end):,} positions before the end, "
        f"{proved:,} are proved"
    ]
    first = [
        (_winner_by_rules(run_games[id_]), proof)
        for id_, one in games.items()
        if run_games[id_].ending == Ending.RULES.word
        and (proof := next((step.proof for step in one.steps[:-1] if step.proof), None))
    ]
    if first:
        held = sum(winner == (0 if proof == 1 else 1) for winner, proof in first)
        found.append(
            f"the side that was first proved to win with best play went on to win in {held:,} of "
            f"{counted(len(first), 'game')}"
        )
    turned = sum(_turning_point(one, run_games[id_]) is not None for id_, one in games.items())
    found.append(f"the turning point is proved in {counted(turned, 'game')}")
    return [*found, _chances_text(games, fitted)]


def _chances_text(games: Mapping[str, GameAnalysis], fitted: Calibration) -> str:
    """In which parts of the games chances are shown, and why."""
    scored = [one for one in games.values() if any(step.score is not None for step in one.steps)]
    if not scored:
        return "chances: none, since there are no estimates"
    by = f"chances, {scored[-1].estimated}"
    if fitted.games < LEAST_GAMES:
        games_ended = counted(fitted.games, "different game")
        return f"{by}: none, since the rules ended {games_ended}, expected {LEAST_GAMES}"
    briers = ", ".join("none" if brier is None else f"{brier:.3f}" for brier in fitted.briers)
    quarters = [str(n + 1) for n in range(4) if not fitted.is_open(n / 4)]
    where = f"in quarter{'s' * (len(quarters) > 1)} {listed(quarters)}" if quarters else "nowhere"
    return (
        f"{by}: shown {where}; Brier scores by quarter: {briers} (a coin has 0.25; the first quarter, and "
        f"those not below {WORST_BRIER}, have no chances)"
    )


def game_data(analysis: GameAnalysis, game: Summary) -> dict[str, Any]:
    """The analysis of a game as JSON has it."""
    return {
        "id": game.id,
        "bots": list(game.bots),
        "turning_point": _turning_point(analysis, game),
        "costly_moves": [{**move._asdict(), "seat": move.seat + 1} for move in costly_moves(analysis)],
        "steps": [
            {
                "seat": None if step.seat is None else step.seat + 1,
                "proof": step.proof,
                "chance": None if chance is None else tens(chance),
                "lead": step.lead,
                "best": step.best,
                "drop": drop,
            }
            for step, chance, drop in zip(analysis.steps, analysis.chances, analysis.drops, strict=True)
        ],
    }
