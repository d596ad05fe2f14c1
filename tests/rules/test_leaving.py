"""A seat that leaves, where that might be taken for the end of the game."""

from __future__ import annotations

from referee.check.rules import random_game
from referee.core.seeds import Stream
from referee.core.units import TimeControl
from referee.gameplay.events import Ending
from referee.gameplay.loop import play
from referee.gameplay.terms import Terms
from referee.games import GAMES
from tests.unit.scripted import Events, ScriptedWire, puppet


def test_a_seat_that_leaves_when_the_others_cannot_move_does_not_end_the_game_by_that() -> None:
    """The rules end it: the deal is blocked among those who stay."""
    game = GAMES["thetree"]
    options = game.settle({"players": "3", "deals": "1"})
    for seed in range(2000):
        states = list(random_game(game, options, f"blocked {seed}"))
        found = [
            n
            for n, state in enumerate(states[1:-1], 1)
            if "finished" not in " ".join(state.seen(None)) and state.drop(state.to_act()).outcome()
        ]
        if found:
            break
    deal = states[0].draw(Stream(f"blocked {seed}".encode()))
    at = found[0]
    moves = [line.split()[1:] for line in states[at].seen(None) if line.startswith("move")]
    leaving = states[at].to_act()[0]
    answers = [[text for seat, text in moves if int(seat) == number + 1] for number in range(3)]
    answers[leaving].append("resign {n}")
    names, control = ("a", "b", "c"), TimeControl.parse("1s")
    terms = Terms("1:a:b:c", game, options, names, (control,) * 3, b"seed")
    verdict = play(terms, ScriptedWire(*(puppet(*a) for a in answers)), lambda state: deal, Events())
    assert verdict.ending is Ending.RULES and "is blocked" in verdict.outcome.sentence
    assert verdict.outcome.ranks[leaving] == 3 and sorted(verdict.outcome.ranks) == [1, 1, 3]
