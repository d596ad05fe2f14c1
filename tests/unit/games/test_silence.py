"""What is said of a bot whose time is up: what came from it instead of an answer."""

from __future__ import annotations

from unittest import mock

from referee.gameplay.api import Answer, Failure, GameDescription, Question
from referee.gameplay.events import Ending
from referee.games import GAMES
from referee.wire.connection import BotConnection


def test_answers_to_closed_questions_are_counted_and_hinted_at() -> None:
    connection = BotConnection(mock.Mock(), failure=Failure(Ending.START, ""))
    session = connection.session
    game = GAMES["blooms"]
    session.greet()
    session.receive(b"hello 1\n")
    session.open(0, GameDescription(game.slug, game.rules, 2, game.settle({}), game.clock, 7))
    session.receive(b"ready\n")
    question = Question((), 1000, 0, 1000)
    session.ask(0, question)
    assert [type(what) for what in session.receive(b"move 1 a\n")] == [Answer]
    session.ask(0, question)
    assert session.receive(b"move 1 a\nmove 1 b\n") == []
    detail, hint = connection.what_came(10_000_000, False)
    assert detail == "2 answers to closed questions arrived"
    assert hint == "it answered a question that was already closed: use the number of the last `ask`"
