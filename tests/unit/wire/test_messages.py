"""Messages and lines: any bytes, in any chunks, give messages or a fault, and memory stays bounded."""

from __future__ import annotations

from dataclasses import astuple, fields
from string import ascii_lowercase, digits
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.units import TimeControl
from referee.gameplay.api import Failure, GameDescription, Question
from referee.gameplay.events import Ending
from referee.games.api import Outcome
from referee.protocol import messages as m
from referee.protocol.session import Phase
from referee.wire.connection import BotConnection
from referee.wire.referee_session import (
    LINES_CAP,
    LIST_CAP,
    LOG_CAP,
    TURN_CAP,
    AskedTurn,
    ExtraOutput,
    RefereeSession,
)
from tests.unit.characters import NO_CONTROL
from tests.unit.scripted import puppet

NUMBERS = st.integers(0, 10**15)
WORDS = st.text(ascii_lowercase + digits + "-", min_size=1, max_size=12)
TEXTS = st.text(NO_CONTROL, min_size=1, max_size=60).map(lambda text: text.strip(" ") or "x")

VALUES = {
    m.NUMBER: NUMBERS,
    m.WORD: WORDS,
    m.TEXT: TEXTS,
    m.FREE: st.just("") | TEXTS,
    m.RANKS: st.lists(NUMBERS, min_size=1, max_size=4).map(tuple),
    m.WORDS: st.lists(WORDS, max_size=4).map(tuple),
    m.TOTAL: st.none() | NUMBERS,
    m.OPTIONAL_NUMBER: st.none() | NUMBERS,
}


@st.composite
def messages(draw: st.DrawFn) -> tuple[m.Speaker, m.Message]:
    speaker = draw(st.sampled_from(m.Speaker))
    kind = draw(st.sampled_from(sorted(m.WORDS_OF[speaker].values(), key=lambda kind: kind.word)))
    return speaker, kind(*(draw(VALUES[shape]) for shape in kind.shape))


@given(messages())
def test_what_is_written_reads_back(said: tuple[m.Speaker, m.Message]) -> None:
    speaker, message = said
    line = m.encode(message)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert m.parse(line[:-1], speaker) == message
    assert m.parse(line[:-1] + b"\r", speaker) == message
    assert m.parse(line[:-1].replace(b" ", b"\t"), speaker) == message
    assert m.parse(b"  " + line[:-1].replace(b" ", b"  ", 1) + b"  ", speaker) == message


def test_every_shape_has_a_field() -> None:
    for words in m.WORDS_OF.values():
        for kind in words.values():
            assert len(fields(kind)) == len(kind.shape)


@pytest.mark.parametrize(
    "line", [b"", b"   ", b"MOVE 1 x", b"thinking ...", b"mov\xffe 1 x", b"ask 1 0 0", b"\0"]
)
def test_noise_is_no_message(line: bytes) -> None:
    with pytest.raises(m.NotAMessage):
        m.parse(line, m.Speaker.BOT)


@pytest.mark.parametrize(
    "line",
    [
        b"move",
        b"move 1",
        b"move x L:A1",
        b"move 01 L:A1",
        b"move +1 L:A1",
        b"move -1 L:A1",
        b"move 1_0 L:A1",
        b"move \xef\xbc\x91 L:A1",  # a full-width digit one
        b"move 12345678901234567 L:A1",
        b"move 1 L:A1\0",
        b"move 1 L:A1\x7f",
        b"move 1 \x1b[2J",
        b"move 1 \xff\xfe",
        b"\xef\xbb\xbfmove 1 L:A1",
        b"resign",
        b"resign 1 please",
        b"list 1 2 3",
        b"list 1 -1",
        b"hello",
        b"hello one",
        b"ready now",
    ],
)
def test_malformed(line: bytes) -> None:
    with pytest.raises(m.Malformed, match="expected"):
        m.parse(line, m.Speaker.BOT)


@pytest.mark.parametrize("text", ["a\nmove 1 x", "a\rb", "\x1b[2J", "x" * m.LINE_CAP])
def test_what_is_no_line_is_not_sent(text: str) -> None:
    with pytest.raises(ValueError, match="a message"):
        m.encode(m.NewsLine(text))


@given(st.lists(st.binary(max_size=40)))
def test_lines_do_not_depend_on_the_chunks(chunks: list[bytes]) -> None:
    whole = m.LineSplitter(32).feed(b"".join(chunks))
    cut = m.LineSplitter(32)
    assert [line for chunk in chunks for line in cut.feed(chunk)] == whole


@given(st.lists(st.binary(max_size=200) | st.sampled_from([b"\n", b"\r\n", b"x" * 31])))
def test_lines_hold_no_more_than_the_cap(chunks: list[bytes]) -> None:
    lines = m.LineSplitter(32)
    for chunk in chunks:
        for line in lines.feed(chunk):
            assert isinstance(line, m.Overlong) or len(line) < 32
        assert len(lines.partial) < 32


def test_a_line_of_just_the_cap_is_a_line() -> None:
    line = b"x" * (m.LINE_CAP - 1)
    assert m.LineSplitter().feed(line + b"\n") == [line]
    assert m.LineSplitter().feed(line + b"x\n") == [m.Overlong(b"x" * 200)]
    assert m.LineSplitter().feed(line + b"x") == [m.Overlong(b"x" * 200)], "before any newline came"


def test_only_a_newline_ends_a_line() -> None:
    data = "a\x0bb\x0cc\x1cd\x85e\u2028f\rg".encode()
    assert m.LineSplitter().feed(data + b"\n") == [data]


def greeted() -> RefereeSession:
    session = RefereeSession()
    session.greet()
    session.receive(b"hello 1\n")
    return session


def open_game(session: RefereeSession) -> None:
    session.open(0, GameDescription("blooms", 1, 2, {}, TimeControl(1_000_000), 1))


@given(
    st.lists(st.binary(max_size=100) | st.sampled_from([b"move 1 a\n", b"ready\n", b"list 1\n", b"log \n"]))
)
def test_a_channel_never_raises(chunks: list[bytes]) -> None:
    session = greeted()
    for chunk in chunks:
        facts = session.receive(chunk)
        assert all(isinstance(fact, Failure) for fact in facts), "nothing was asked"
        assert bool(facts) <= (session.failure is not None)


@pytest.mark.parametrize(
    ("line", "size", "cap"),
    [(b"# hm\n", 1, LINES_CAP), (b"#" * 999 + b"\n", 1000, TURN_CAP)],
    ids=["lines", "bytes"],
)
def test_a_stream_of_lines_is_a_flood_at_its_cap(line: bytes, size: int, cap: int) -> None:
    session = greeted()
    heard = 0
    while not session.failure:
        session.receive(line * 100)
        heard += 100 * size
    assert session.failure.ending is Ending.FLOOD
    assert cap <= heard <= cap + 100 * size, "its hello was a line too"
    assert session.extra_output.noise_count > len(session.extra_output.noise)


def test_the_puppet_of_the_tests_speaks_the_protocol() -> None:
    assert list(puppet("L:A1")(["hello 1", "prepare", "ask 1 0 0"])) == [
        (0, b"hello 1\n"),
        (0, b"ready\n"),
        (1000, b"move 1 L:A1\n"),
    ]


def test_debug_output_before_a_game_counts_in_it_and_an_answer_to_the_one_before_does_not() -> None:
    session = RefereeSession()
    session.begin()
    session.greet()
    session.receive(b"loading\nhello 1\n")
    open_game(session)
    session.receive(b"ready\n")
    session.ask(0, Question((), 1_000_000, 0, 1_000_000))
    assert session.extra_output == ExtraOutput(["loading"], 1)
    session.close(Outcome((2, 1), (0, 0), "over"), Ending.RULES)
    session.begin()
    session.receive(b"move 1 L:A1\nI lost\n")
    open_game(session)
    assert session.extra_output == ExtraOutput(["I lost"], 1)


OVER = Outcome((2, 1), (0, 0), "over")


def test_who_was_told_of_a_game_is_told_of_its_end_and_nobody_else_is() -> None:
    """Whether it is still getting ready, waits or is asked."""
    session = greeted()
    assert session.close(OVER, Ending.START) == b""
    open_game(session)
    assert session.close(OVER, Ending.START) == b"end 2,1 start over\n"
    assert session.close(OVER, Ending.START) == b"", "once"
    open_game(session)
    session.receive(b"ready\n")
    assert session.close(OVER, Ending.TIME) == b"end 2,1 time over\n"
    open_game(session)
    session.receive(b"ready\n")
    session.ask(0, Question((), 1_000_000, 0, 1_000_000))
    assert session.close(OVER, Ending.RULES) == b"end 2,1 rules over\n"


def test_what_answers_the_last_words_is_awaited() -> None:
    lines = (b"hello 1", b"ready", b"move 1 L:A1", b"resign 1", b"move 2 L:A1", b"list 1", b"move")

    def awaited(session: RefereeSession) -> list[bytes]:
        return [line for line in lines if session.is_awaited(line)]

    session = RefereeSession()
    session.greet()
    assert awaited(session) == [b"hello 1"]
    session.receive(b"hello 1\n")
    open_game(session)
    assert awaited(session) == [b"ready"]
    session.receive(b"ready\n")
    session.ask(0, Question((), 1_000_000, 0, 1_000_000))
    assert awaited(session) == [b"move 1 L:A1", b"resign 1"]


def asked(session: RefereeSession) -> None:
    session.ask(0, Question((), 1_000_000, 0, 1_000_000))


def playing() -> RefereeSession:
    """A session with a bot that was asked for its first move."""
    session = greeted()
    open_game(session)
    session.receive(b"ready\n")
    asked(session)
    return session


def test_nothing_has_come_from_a_new_bot() -> None:
    session = RefereeSession()
    assert (session.received_bytes, session.more_behind) == (0, False)
    assert astuple(session.extra_output) == ([], 0, 0, [], [], 0, 0)
    session.greet()
    session.receive(b"hello 1\nx")
    assert (session.received_bytes, session.more_behind) == (9, True)
    session.receive(b"\n")
    assert (session.received_bytes, session.more_behind) == (10, True), "noise answers nothing"


def test_before_a_game_the_dialogue_of_the_one_before_is_forgotten() -> None:
    session = playing()
    session.receive(b"move 1 L:A1\n")
    assert session.last_received and session.last_sent and session.asked == 1
    session.begin()
    assert not session.last_received and not session.last_sent and session.asked == 0


def test_with_each_question_what_came_instead_of_an_answer_is_counted_anew() -> None:
    session = playing()
    session.receive(b"noise\n")
    assert session.turn == AskedTurn("noise", 1)
    session.receive(b"move 1 L:A1\n")
    asked(session)
    assert session.turn == AskedTurn()
    session.receive(b"move 1 L:A1\n")
    assert session.turn == AskedTurn(stale_count=1)
    asked(session)
    assert astuple(session.turn) == ("", 0, 0)


def test_an_answer_after_the_time_was_up_is_stale() -> None:
    session = playing()
    session.lapse()
    assert session.receive(b"move 1 L:A1\n") == [] and not session.failure
    assert session.extra_output.stale_count == 1


def test_answers_to_closed_questions_are_counted_and_hinted_at() -> None:
    connection = BotConnection(mock.Mock(), failure=Failure(Ending.START, ""))
    connection.session = playing()
    connection.session.receive(b"move 1 L:A1\n")
    asked(connection.session)
    assert connection.session.receive(b"move 1 a\nmove 1 b\n") == []
    assert connection.what_came(10_000_000, False) == (
        "2 answers to closed questions arrived",
        "it answered a question that was already closed: use the number of the last `ask`",
    )


def test_each_question_may_be_followed_by_as_many_lists() -> None:
    session = playing()
    for number in (1, 2):
        assert len(session.receive(b"list %d\n" % number * LIST_CAP)) == LIST_CAP and not session.failure
        session.receive(b"move %d L:A1\n" % number)
        asked(session)
    session.receive(b"list 3\n" * (LIST_CAP + 1))
    assert session.failure and session.failure.ending is Ending.FLOOD


def test_the_caps_of_a_turn_may_be_reached() -> None:
    for line, most in ((b"\n", LINES_CAP), (b"#" * 1023 + b"\n", TURN_CAP // 1024)):
        session = playing()
        session.receive(b"noise\nmove 1 L:A1\n")
        session.receive(line * most)
        assert not session.failure, "an answer begins the count anew"
        session.receive(b"\n")
        assert session.failure and session.failure.ending is Ending.FLOOD


def test_log_lines_are_kept_with_the_question_before_them() -> None:
    session = greeted()
    open_game(session)
    session.receive(b"log getting ready\nready\n")
    for number in (1, 2):
        session.ask(0, Question((), 1_000_000, 0, 1_000_000))
        session.receive(b"log thinking\nmove %d L:A1\nlog done\n" % number)
    assert session.extra_output.log_asked == [0, 1, 1, 2, 2]
    session.close(Outcome((2, 1), (0, 0), "over"), Ending.RULES)
    session.begin()
    open_game(session)
    session.receive(b"log getting ready again\n")
    assert session.extra_output.log_asked == [0]


def test_log_lines_are_bounded_in_number_too() -> None:
    session = greeted()
    session.receive(b"log\n" * (LOG_CAP + 1))
    assert len(session.extra_output.log) <= LOG_CAP
    assert session.extra_output.log_dropped == LOG_CAP + 1 - len(session.extra_output.log) > 0


def test_after_a_breach_nothing_more_is_heard() -> None:
    session = greeted()
    assert len(session.receive(b"ready\nready\n")) == 1
    assert session.receive(b"ready\nlog more\n") == [] and not session.extra_output.log


class ByTheTable(RefereeSession):
    """A session without the short way for plain moves."""

    def _plain_move(self, data: bytes) -> None:
        return None


ANSWERS = st.sampled_from(
    [
        b"move 1 a",
        b"move 1  a b ",
        b"move 01 a",
        b"move 2 a",
        b"move 1",
        b"move 1 ",
        b"MOVE 1 a",
        b" move 1 a",
    ]
    + [
        b" move 1 a",
        b"move 1 a\r",
        b"move 1 \ta",
        b"move 1 \xc3\xa9",
        b"move 1 \xff",
        b"move 1 \x1b",
        b"move 1 a\x7f",
    ]
    + [b"info x", b"list 1", b"resign 1", b"noise", b"move 1 " + b"a" * 4088, b"move 1 " + b"a" * 4089]
)
CHUNKS = st.lists(
    st.lists(ANSWERS | st.binary(max_size=20), min_size=1, max_size=3).map(b"\n".join)
    | st.lists(ANSWERS, min_size=1, max_size=2).map(lambda lines: b"\n".join(lines) + b"\n")
)


@given(CHUNKS)
def test_the_short_way_for_plain_moves_says_what_the_table_says(chunks: list[bytes]) -> None:
    sessions = (RefereeSession(), ByTheTable())
    seen = []
    for session in sessions:
        session.greet()
        session.receive(b"hello 1\n")
        open_game(session)
        session.receive(b"ready\n")
        heard: list[object] = []
        for chunk in chunks:
            if session.phase is Phase.WAITING and not session.failure:
                session.ask(0, Question((), 1_000_000, 0, 1_000_000))
            heard += [
                session.receive(chunk),
                session.phase,
                list(session.last_received),
                session.partial,
            ]
        seen.append((heard, session.failure, session.extra_output, session.received_bytes))
    assert seen[0] == seen[1]
