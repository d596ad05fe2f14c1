"""Estimates of who wins: by games that are played on, or by a bot that is asked as in a game."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any, NamedTuple

from referee.asking.asked_bot import AskedBot
from referee.asking.asked_game import AskedGame
from referee.core.files import FileHashes
from referee.core.seeds import derive
from referee.core.settings import START_US
from referee.core.text import counted, shown
from referee.core.units import TimeControl
from referee.gameplay.events import Ending, Moved, Retired
from referee.gameplay.terms import Terms
from referee.games.api import Game, Policy, Seat, State, share_beaten
from referee.kit import Quick, playout
from referee.processes.program import SAMPLE_BOTS, Program
from referee.records.record import json_of
from referee.tournament.file.file_list import hashes_of_words
from referee.viewing.info import read_info

PLAYOUTS = 24  # how many games are played on from each position

PLAYED_ON = f"{PLAYOUTS} games played on from there"  # who estimates without a bot

ASKED_FROM = 0.25
"""From which part of a game on an adviser is asked what its own move would have led to: no chance is shown in
the first quarter.
"""

_CONTROL = TimeControl(10_000_000)  # how long an adviser may take for a move: what counts is its own bound

_HIGHEST = 6.0  # the largest logit of a chance, which is 99.75 %


class StepEstimate(NamedTuple):
    """What an adviser says of a position."""

    score: float | None = None  # for seat 1
    best: str | None = None  # the adviser's move
    loss: float | None = None  # as in `AnalysedStep`


def adviser_of(game: Game[Any]) -> tuple[str, ...]:
    """The command of the bot that estimates in a game by default; empty where none does."""
    if game.slug != "blooms":
        return ()
    built = SAMPLE_BOTS / "blooms_bot"
    return (str(built), "--positions", "2000") if built.is_file() else ("@greedy",)


def played_on(states: Sequence[State[Any]], policy: Policy[Any], seed: bytes) -> list[StepEstimate]:
    """Estimates by games that both seats play on by a policy, with what nobody has seen drawn anew."""
    rng = Quick(seed.hex())
    found = []
    for state in states:
        if not state.to_act() or state.to_act()[0] < 0:
            found.append(StepEstimate())
            continue
        outcomes = (playout(state.reshuffled(rng), rng, policy) for _ in range(PLAYOUTS))
        points = sum(share_beaten(outcome.ranks, 0) for outcome in outcomes)
        found.append(StepEstimate(_logit((points + 0.5) / (PLAYOUTS + 1))))
    return found


class AdviserFailed(Exception):
    """The adviser did what loses a game; the message says what."""


class Adviser:
    """A bot that is asked about the positions of games."""

    def __init__(self, bot: Program, name: str = "") -> None:
        """The bot's level of isolation is settled; `name` is for people."""
        self._bot = bot
        self._asked = AskedBot(bot, START_US)
        self.name = name
        self._answers = 0
        self._said = 0  # how often it said a value or a score
        self._unread = 0  # how often it said one that is none

    @property
    def digest(self) -> str:
        """Stands for the files that its command names, and the rest of the command."""
        hashes = hashes_of_words(self._bot, FileHashes())
        return hashlib.sha256(json_of([hashes.get(word, word) for word in self._bot.command])).hexdigest()

    @property
    def useless(self) -> str:
        """What it said in place of what can be used, in words; empty if there is nothing to tell."""
        if self._unread:
            times = counted(self._unread, "time")
            return f"what cannot be used {times}: a `value` not from 0 to 1, or a `score` that is no number"
        return "no `value` and no `score` of any position" if self._answers and not self._said else ""

    def end(self) -> None:
        """Ends its process."""
        self._asked.end()

    def estimates(
        self, terms: Terms, states: Sequence[State[Any]], proved: Sequence[bool]
    ) -> list[StepEstimate]:
        """What it says of each position of a game of two; of moves between two `proved` positions it is not
        asked what they lost. Raises `AdviserFailed`, and `EnvironmentLacksError` where it cannot be started
        here.
        """
        if len(terms.bots) != 2:
            return [StepEstimate()] * len(states)
        seed = derive(b"analysis", terms.id)
        terms = replace(
            terms,
            controls=(_CONTROL,) * len(terms.bots),
            bots=("adviser",) * len(terms.bots),
            seed=seed,
            rejections=1,
        )
        found = [self._of(terms, state) for state in states]
        for number in range(int(ASKED_FROM * len(states)), len(states) - 1):
            state, after = states[number], states[number + 1]
            best, (acting, score) = found[number].best, (state.to_act(), found[number + 1].score)
            if best is None or score is None or (proved[number] and proved[number + 1]):
                continue
            seat = acting[0]
            kept = state.play({seat: state.read(seat, best)})
            same = kept.seen(None) == after.seen(None)
            kept_score = score if same else self._of(terms, kept).score
            if kept_score is not None:
                gain = kept_score - score
                found[number] = found[number]._replace(loss=-gain if seat else gain)
        return found

    def _of(self, terms: Terms, state: State[Any]) -> StepEstimate:
        acting = state.to_act()
        if len(acting) != 1 or acting[0] < 0:
            return StepEstimate()
        game = AskedGame(terms, acting[0], self._asked)
        *_, reply = game.ask_at(state)
        if isinstance(reply, Moved) and not reply.defaulted:
            game.leave()
            return StepEstimate(self._score(reply.info, acting[0]), reply.text)
        sentence, detail = Ending.TIME.sentence, ""
        if isinstance(reply, Retired):
            fault, _ = self._asked.end_at_fault(reply)
            sentence, detail = fault.ending.sentence, fault.detail
            if fault.ending is Ending.ILLEGAL:  # it has no second try
                sentence, detail = "made an illegal move", detail.partition(": ")[2]
        self.end()
        raise AdviserFailed(f"{sentence}: {shown(detail, 200)}" if detail else sentence)

    def _score(self, info: str, seat: Seat) -> float | None:
        """The estimate of an `info` line, for seat 1: a value as its logit, else a score."""
        self._answers += 1
        read = read_info(info)
        said = dict(read.said).get("score")
        if read.value is None and said is None:
            self._unread += info.lstrip().startswith(("value", "score"))
            return None
        self._said += 1
        score = float(said or 0) if read.value is None else _logit(read.value)
        return -score if seat else score


def _logit(chance: float) -> float:
    if not 0 < chance < 1:
        return _HIGHEST if chance else -_HIGHEST
    return max(-_HIGHEST, min(_HIGHEST, log(chance / (1 - chance))))
