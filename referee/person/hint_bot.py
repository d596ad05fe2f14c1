"""Asks a bot for a move in place of a person: it is told what the seat knows, and nothing else."""

from __future__ import annotations

from typing import Any

from referee.core.seeds import bot_seed, list_stream
from referee.core.text import shown
from referee.core.units import TimeControl
from referee.gameplay.api import (
    Answer,
    Failure,
    GameDescription,
    LegalMoves,
    ListRequest,
    Question,
    Ready,
    Silence,
)
from referee.gameplay.terms import Terms
from referee.games.api import Refusal, Seat, State
from referee.games.sampling import legal_moves
from referee.processes.bot import Bot
from referee.tournament.workers.encounter import PERSON
from referee.wire.connection import BotConnection, end_connections
from referee.wire.process_wire import ProcessWire

HINT_CONTROL = TimeControl(10_000_000)  # how long a hint may take; the bot sees it as its clock


class NoHint(Exception):
    """The bot gave no legal move; says why."""


def hint(bot: Bot, start_us: int, terms: Terms, state: State[Any], seat: Seat) -> tuple[str, str]:
    """A legal move that a bot would make for a seat, and what it said of it; it is started for this alone.

    Raises `NoHint`.
    """
    others = BotConnection(bot, failure=PERSON)
    asked = BotConnection(bot)
    wire = ProcessWire([asked if one == seat else others for one in range(len(terms.bots))], start_us)
    try:
        answer = _answer(wire, terms, state, seat)
        return state.write(state.read(seat, answer.text)), answer.info
    except Refusal as refusal:
        raise NoHint(f"its answer is not legal: {shown(refusal.sentence)}") from None
    finally:
        end_connections([asked])


def _answer(wire: ProcessWire, terms: Terms, state: State[Any], seat: Seat) -> Answer:
    game, seed = terms.game, bot_seed(terms.seed, seat)
    wire.open(
        seat, GameDescription(game.slug, game.rules, len(terms.bots), terms.options, HINT_CONTROL, seed)
    )
    content = wire.next_reply().content
    if not isinstance(content, Ready):
        raise NoHint(_why(content, "did not start"))
    wire.catch_up((seat,))
    time_us = HINT_CONTROL.move_us
    news = state.seen(seat)  # guard: news-of-hints
    wire.post(seat, Question(news, time_us, 0, time_us))
    lists = 0
    while isinstance(content := wire.next_reply().content, ListRequest):
        lists += 1
        moves, total, sampled = legal_moves(state, seat, content.most, list_stream(terms.seed, seat, lists))
        wire.show_legal(seat, LegalMoves(tuple(map(state.write, moves)), total, sampled))
    if not isinstance(content, Answer):
        raise NoHint(_why(content, f"did not answer within {time_us // 1_000_000} s"))
    return content


def _why(content: object, otherwise: str) -> str:
    detail = shown(content.detail, 200) if isinstance(content, Silence | Failure) else ""
    return f"it {otherwise}: {detail}" if detail else f"it {otherwise}"
