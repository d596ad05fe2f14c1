"""What is told of a game while it is played: its events, or the position as everybody knows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from referee.check.rules import random_match
from referee.gameplay.events import Drawn, Event, Moved, Rejected
from referee.games import GAMES, game_named
from referee.games.api import Game, State
from referee.live import feed as feeds
from referee.live import slots
from referee.live.boards import BoardsInPlay
from referee.live.feed import INTERVAL_NS, Feed
from referee.live.pictures import picture_json, picture_of
from referee.live.slots import FOLDER, FRESH_US, GameInPlay, SlotReader, make_folder, say_watched
from referee.records.record import GameRecord, parse_json
from referee.records.replay import replay
from referee.viewing.knowledge import EVERYBODY, ViewKnowledge, common_picture

INTERVAL_US = INTERVAL_NS // 1000

QUICK, SLOW = INTERVAL_US // 6, INTERVAL_US


class Playing:
    """A game that was played is played again as by a worker; the test says how time passes."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_us = 1_000_000_000
        monkeypatch.setattr(slots, "now_us", lambda: self.now_us)
        monkeypatch.setattr(feeds, "now_us", lambda: self.now_us)
        self.cpu_ns = 0
        monkeypatch.setattr(time, "thread_time_ns", lambda: self.cpu_ns)
        make_folder(folder / FOLDER)
        self.folder = folder / FOLDER
        self.reader = SlotReader(self.folder)
        self.feed = Feed(self.folder, "w1")
        self.events: list[Event] = []
        self.state: State[Any] | None = None
        self.is_watched = False

    def watched(self) -> None:
        """Somebody looks as long as games are played, and the worker notices with its next look."""
        self.now_us += 1_000_000
        self.is_watched = True
        say_watched(self.folder)

    def play(
        self, record: GameRecord, used_us: int = SLOW, then: Callable[[], object] = lambda: None
    ) -> None:
        """Plays it to its end; each move takes so long, and after each event this is called."""
        self.events = []
        self.feed.begin(record.terms, self.events)

        def watch(event: Event, state: State[Any]) -> None:
            if isinstance(event, Moved):
                event = event._replace(charge=event.charge._replace(used_us=used_us), info="a secret")
            self.events.append(event)
            self.state = self.feed.state = state
            self.now_us += used_us
            if self.is_watched:
                say_watched(self.folder)
            if self.feed.is_on and self.now_us * 1000 >= self.feed.due_ns:
                self.feed.take()
            then()

        replay(record, watch)
        self.feed.end()

    def told(self) -> GameInPlay | None:
        """What a reader finds."""
        return self.reader.read().get("w1")


@pytest.fixture
def playing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Playing]:
    playing = Playing(tmp_path, monkeypatch)
    with closing(playing.feed):
        yield playing


def match(slug: str = "blooms", **given: str) -> GameRecord:
    return random_match(GAMES[slug], GAMES[slug].settle(given), "told")


def test_nothing_is_written_while_nobody_looks(playing: Playing) -> None:
    before = (playing.folder / "w1").read_bytes()
    playing.play(match(size="4"), then=lambda: playing.feed.look(0))
    assert playing.told() is None and (playing.folder / "w1").read_bytes() == before


@pytest.mark.parametrize("case", ["alone", "same start"])
def test_a_game_whose_hidden_part_others_will_meet_is_not_told(playing: Playing, case: str) -> None:
    record = match("thetree", players="1" if case == "alone" else "2")
    if case == "same start":
        (deal,) = (event for event in record.events if isinstance(event, Drawn))
        record = replace(record, terms=replace(record.terms, start=(deal,)))
    playing.watched()
    playing.play(record, then=lambda: playing.feed.look(0))
    assert playing.told() is None


def test_the_events_of_an_open_game_are_told_and_nothing_that_bots_say_besides(
    playing: Playing, tmp_path: Path
) -> None:
    record = match(size="4")
    assert any(isinstance(event, Rejected) for event in record.events)
    playing.watched()
    boards = BoardsInPlay(tmp_path, game_named)
    seen = set()

    def look() -> None:
        boards.look()
        (board,) = boards.whole().values()
        seen.add((board["moves"], board["at"] <= playing.now_us))

    playing.play(record, then=look)
    told = playing.told()
    assert told and told.head["id"] == record.terms.id and told.head["bots"] == [*record.terms.bots]
    moved = [event for event in record.events if isinstance(event, Moved)]
    lines = [line.split(" ", 4) for line in told.told.decode().splitlines()]
    assert [(kind, int(seat), int(reserve), text) for _, kind, seat, reserve, text in lines] == [
        ("m", event.seat + 1, event.charge.reserve_us, event.text) for event in moved
    ]
    assert b"secret" not in (playing.folder / "w1").read_bytes()
    assert seen == {(number, True) for number in range(1, len(moved) + 1)}


def test_who_begins_to_look_in_the_middle_is_told_all_of_the_game(playing: Playing) -> None:
    record = match(size="4")
    count = 0

    def begin() -> None:
        nonlocal count
        count += 1
        if count == 10:
            assert playing.told() is None
            playing.watched()
            playing.feed.look(300_000)
            told = playing.told()
            assert told and told.told.count(b"\n") == sum(isinstance(one, Moved) for one in playing.events)
            assert told.told.startswith(b"%d m 1 " % (playing.now_us - 300_000))

    playing.play(record, then=begin)
    told = playing.told()
    assert told and told.told.count(b"\n") == sum(isinstance(one, Moved) for one in record.events)


def test_of_quick_moves_only_some_are_told_at_once_and_the_rest_with_the_next_look(playing: Playing) -> None:
    record = match(size="4")
    playing.watched()
    found: list[int] = []

    def look() -> None:
        told = playing.told()
        found.append(told.told.count(b"\n") if told else 0)

    playing.play(record, used_us=QUICK, then=look)
    assert len({*found}) <= 2 + len(found) * QUICK // INTERVAL_US
    assert found[-1] < sum(isinstance(one, Moved) for one in record.events)
    told = playing.told()
    assert told and told.told.count(b"\n") == sum(isinstance(one, Moved) for one in record.events)
    playing.watched()
    found.clear()

    def look_again() -> None:
        playing.feed.look(0)
        look()

    playing.play(record, used_us=QUICK, then=look_again)
    assert {*found} == {*range(found[0], found[-1] + 1)} and found[0] < 2


def test_the_end_of_a_game_stands_for_a_while_before_the_next_is_told(playing: Playing) -> None:
    record, next_record = match(size="4"), match(size="5")
    playing.watched()
    playing.play(record)
    ended_us = playing.now_us
    found: set[tuple[bool, object]] = set()

    def look() -> None:
        if told := playing.told():
            found.add((playing.now_us - ended_us < INTERVAL_US, told.head["options"]["size"]))

    playing.play(next_record, used_us=20_000, then=look)
    assert found == {(True, 4), (False, 5)}
    told = playing.told()
    moves = sum(isinstance(event, Moved) for event in next_record.events)
    assert told and told.told.count(b"\n") == moves, "nothing of it is left out"


def test_when_nobody_looks_any_more_the_worker_stops_and_the_old_game_goes(playing: Playing) -> None:
    record = match(size="4")
    playing.watched()
    playing.play(record)
    assert playing.told()
    playing.now_us += FRESH_US
    playing.feed.begin(record.terms, [])
    assert not playing.feed.is_on and playing.told() is None
    playing.watched()
    playing.feed.look(0)
    assert playing.feed.is_on and playing.told()
    playing.now_us += FRESH_US
    playing.feed.look(0)
    assert not playing.feed.is_on


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "given"), [("thetree", {"players": "3"}), ("floral", {"max_turns": "12"})])
def test_of_a_hidden_game_only_what_everybody_knows_is_told(
    playing: Playing, tmp_path: Path, slug: str, given: dict[str, str]
) -> None:
    record = match(slug, **given)
    playing.watched()
    boards = BoardsInPlay(tmp_path, game_named)
    known = ViewKnowledge.of(EVERYBODY, record.terms.game, record.terms.options)
    count = 0

    def look() -> None:
        nonlocal count
        playing.now_us += 1_000_000
        playing.feed.look(0)
        told = playing.told()
        assert told and playing.state
        value = parse_json(told.told)
        assert value.keys() == {"us", "turn", "moves", "picture"}
        if not isinstance(playing.events[-1], Rejected):  # which comes with the position that was asked
            assert picture_of(value["picture"]) == picture_of(picture_json(known.picture(playing.state)))
            assert value["turn"] == [seat + 1 for seat in known.to_move(playing.state)]
        boards.look()
        count += len(boards.whole())

    playing.play(record, then=look)
    assert count == len(record.events)


def test_nobody_is_told_that_an_answer_was_rejected_in_a_hidden_game(playing: Playing) -> None:
    record = match("thetree", players="3")
    playing.watched()
    before = b""

    def look() -> None:
        nonlocal before
        playing.watched()
        playing.feed.look(0)
        told = playing.told()
        assert told
        if isinstance(playing.events[-1], Rejected):
            assert told.told == before
        before = told.told

    playing.play(record, then=look)
    assert any(isinstance(event, Rejected) for event in record.events)


def test_common_pictures_take_a_small_share_of_the_time(
    playing: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def draw(*args: Any, **options: Any) -> Any:
        playing.cpu_ns += 10_000_000
        drawn.append(playing.now_us)
        return common_picture(*args, **options)

    monkeypatch.setattr("referee.viewing.knowledge.common_picture", draw)
    playing.watched()
    playing.play(match("thetree", players="4"), used_us=100_000)
    assert len(drawn) > 1 and min(b - a for a, b in pairwise(drawn)) >= 2_000_000


def test_the_last_position_of_a_hidden_game_is_told_even_if_none_is_due(
    playing: Playing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "SHARE", 1e-9)
    with closing(Feed(playing.folder, "w1")) as playing.feed:

        def draw(*args: Any, **options: Any) -> Any:
            playing.cpu_ns += 10_000_000
            return common_picture(*args, **options)

        monkeypatch.setattr("referee.viewing.knowledge.common_picture", draw)
        record = match("thetree", players="3")
        playing.watched()
        playing.play(record)
        told = playing.told()
        moves = sum(isinstance(event, Moved) for event in record.events)
        assert told and parse_json(told.told)["moves"] == moves > 2


class Broken(type(GAMES["thetree"])):  # type: ignore[misc]
    """Its pictures fail."""

    common_panels = property(lambda self: 1 // 0)


def test_a_game_from_outside_that_fails_here_is_played_on(playing: Playing) -> None:
    record = match("thetree")
    broken: Game[Any] = Broken()
    playing.watched()
    playing.play(replace(record, terms=replace(record.terms, game=broken)))
    assert not playing.feed.is_on and len(playing.events) == len(record.events)
    playing.play(match(size="4"))
    told = playing.told()
    assert told and told.told


def test_a_feed_without_a_folder_tells_nothing() -> None:
    feed = Feed()
    feed.begin(match(size="4").terms, [])
    feed.look(0)
    feed.end()
    feed.close()
    assert not feed.is_on
