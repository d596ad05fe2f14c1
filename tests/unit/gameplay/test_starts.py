"""Games that begin with the start of an earlier one: what is made, what bots are told, what records have."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from referee.check.wires import HouseWire
from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.gameplay.api import Question
from referee.gameplay.events import Drawn, Preset
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.openings import NO_OPENINGS, Openings, OpeningStart
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import Seat
from referee.records.record import GameRecord, from_json, to_json
from referee.records.replay import verify
from referee.tournament.file.opening_table import start_of
from referee.viewing.steps import Steps, steps_of
from tests.recorded import record_of
from tests.rules.random_play import CASES, NAMES, SETTINGS, random_game
from tests.unit.scripted import Events, ScriptedWire, puppet
from tests.unit.toys import Bid


class Listening(HouseWire):
    """Remembers the news of the first question to each seat."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self.first: dict[Seat, tuple[str, ...]] = {}

    def post(self, seat: Seat, question: Question) -> None:
        self.first.setdefault(seat, question.news)
        super().post(seat, question)


def begun_with(start: OpeningStart, terms: Terms) -> tuple[GameRecord, Listening]:
    """A game of random moves that begins with a start."""
    terms = replace(terms, seed=b"another", start=start.events)
    wire = Listening(terms)
    verdict = play(terms, wire, seeded_dice(terms), wire.watch)
    return record_of(terms, wire.events, verdict), wire


def playable(steps: Steps) -> int:
    """The last step after which a game goes on."""
    return max(step.number for step in steps.steps if step.state.outcome() is None)


def stored(record: GameRecord) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(json.dumps(to_json(record)))
    return value


QUICK = [next(name for name in NAMES if name.startswith(slug)) for slug in SETTINGS]


@pytest.mark.parametrize(
    ("slug", "given"),
    [
        pytest.param(*case, id=name, marks=[] if name in QUICK else pytest.mark.slow)
        for case, name in zip(CASES, NAMES, strict=True)
    ],
)
def test_a_game_begins_where_the_earlier_one_was(slug: str, given: dict[str, str]) -> None:
    earlier = steps_of(random_game(GAMES[slug], b"earlier", given))
    last = playable(earlier)
    for move in {(last + 1) // 2, last}:
        start = start_of(earlier, move)
        record, wire = begun_with(start, earlier.terms)
        again = steps_of(record)
        for view in (None, *range(len(earlier.terms.bots))):
            known = earlier.steps[move].state.seen(view)
            assert again.steps[move].state.seen(view) == known
            if view in wire.first:
                assert wire.first[view][: len(known)] == known, "all of it is news to the bot"
        value = stored(record)
        assert from_json(value) == record
        openings = Openings(start=start)
        verify(value, openings)
        header = json.loads(json.dumps(openings.header()))
        assert Openings.of_header(Fields(header, "", RecordError)) == openings
        with pytest.raises(RecordError, match="start position differs from the one"):
            verify(value, NO_OPENINGS)


def test_the_chance_of_the_start_is_given_and_that_after_it_drawn() -> None:
    earlier = steps_of(random_game(GAMES["thetree"], b"earlier"))
    record, _ = begun_with(start_of(earlier, 5), earlier.terms)
    deals = [event for event in record.events if isinstance(event, Drawn)]
    assert deals[0] == earlier.record.events[0] and len(deals) > 1
    value = stored(record)
    at = record.events.index(deals[1])
    value["events"][at]["chance"] = deals[0].text
    with pytest.raises(RecordError, match=f"event {at + 1}: chance is"):
        verify(value)


def _more(value: dict[str, Any]) -> None:
    value["start"] += 1


def _none(value: dict[str, Any]) -> None:
    del value["start"]


def _another_deal(value: dict[str, Any]) -> None:
    value["events"][0]["chance"] = " ".join(sorted(value["events"][0]["chance"].split()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_more, "`start` is `6`, expected the number of chance and opening events"),
        (_none, "several seats act here"),
        (_another_deal, "event 2"),
    ],
)
def test_a_start_that_was_changed_is_noticed(change: Callable[[dict[str, Any]], None], message: str) -> None:
    earlier = steps_of(random_game(GAMES["thetree"], b"earlier"))
    start = start_of(earlier, 5)
    value = stored(begun_with(start, earlier.terms)[0])
    change(value)
    with pytest.raises(RecordError, match=message):
        verify(value, Openings(start=start))


def test_moves_of_several_seats_at_once_are_made_together() -> None:
    game = Bid()
    options = game.settle({})
    terms = Terms("1:a:b", game, options, ("a", "b"), (game.clock,) * 2, b"own")
    start = (Drawn("prize 3"), Preset(0, "1"), Preset(1, "2"))
    events = Events()
    play(replace(terms, start=start), ScriptedWire(puppet("{n}"), puppet()), seeded_dice(terms), events)
    assert tuple(events.all[:3]) == start and events.states[1] is events.states[2]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((Drawn("prize 3"), Preset(0, "1")), "moves of other seats in the same turn are missing"),
        ((Drawn("prize 3"), Preset(0, "1"), Preset(0, "2")), "seat 1 does not act here"),
        ((Drawn("prize 3"), Drawn("prize 3")), "chance does not act here"),
        ((Drawn("prize 3"), Preset(0, "1"), Drawn("prize 1")), "chance does not act here"),
        ((Preset(0, "1"),), "seat 1 does not act here"),
        ((Drawn("prize 3"), Preset(0, "x"), Preset(1, "1")), "a number from 1 to 5"),
    ],
)
def test_a_start_that_is_not_possible_is_refused(wrong: tuple[Drawn | Preset, ...], message: str) -> None:
    game = Bid()
    options = game.settle({})
    terms = Terms("1:a:b", game, options, ("a", "b"), (game.clock,) * 2, b"own", start=wrong)
    with pytest.raises(ValueError, match=message):
        play(terms, ScriptedWire(puppet(), puppet()), seeded_dice(terms), Events())


def test_where_no_game_can_go_on_it_does_not_begin() -> None:
    steps = steps_of(random_game(GAMES["evengroups"], b"x", {"size": "2"}))
    last = playable(steps)
    for move in (0, last + 1):
        with pytest.raises(UsageError, match=f"does not continue after move {move}, expected 1 to {last}$"):
            start_of(steps, move)
    short = replace(steps, steps=[steps.steps[0], steps.steps[-1]])
    with pytest.raises(UsageError, match="is over after its first move, expected a longer one"):
        start_of(short, 1)


def test_a_seat_that_left_before_is_named() -> None:
    game = GAMES["thetree"]
    options = game.settle({"players": "3"})
    terms = Terms("1:a:b:c", game, options, ("a", "b", "c"), (game.clock,) * 3, b"own")
    events = Events()
    verdict = play(terms, ScriptedWire(*(puppet("resign {n}") for _ in "abc")), seeded_dice(terms), events)
    record = record_of(terms, events.all, verdict)
    with pytest.raises(UsageError, match=r"seat \d dropped out of game `1:a:b:c` before move 2"):
        start_of(steps_of(record), 2)
