"""What the page of a run is told: boards of games in play, results, and why boards are not shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.core.text import shown
from referee.live import slots
from referee.live.slots import FOLDER, WATCHED, SlotWriter, Watch
from referee.ratings.tally import Tallies
from referee.records.record import to_json
from referee.serving import arena as arena_module
from referee.serving.arena import ELSEWHERE, ENDED, UNWRITABLE, Arena
from referee.serving.event_streams import EventData
from referee.serving.live import LiveRun, OrderAt
from referee.tournament.run.lock import locked
from referee.tournament.run.progress import BotOrder
from tests.unit.growing import Growing


def members(event: EventData | None) -> dict[str, Any]:
    """The members of an event; empty where there is none."""
    found: dict[str, Any] = (
        json.loads(event.data.decode().split("\n")[1].removeprefix("data: ")) if event else {}
    )
    return found


class Looked:
    """A run that a referee plays, and the page of a viewer."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.growing = Growing(folder, **given)
        self.growing.begin()
        self.folder = folder / FOLDER
        self.folder.mkdir()
        self.run = LiveRun(folder)
        self.arena = Arena(self.run, folder)

    def told(self) -> dict[str, Any]:
        """What is new."""
        self.run.look()
        return members(self.arena.tick())

    def known(self) -> dict[str, Any]:
        """All that the page knows."""
        self.told()
        return members(self.arena.whole())


@pytest.fixture
def looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Looked]:
    monkeypatch.setattr(arena_module, "SAY_S", 0)
    with locked(tmp_path):
        yield Looked(tmp_path, bots="abc", rounds=10)


@pytest.fixture
def writer(looked: Looked) -> Iterator[SlotWriter]:
    writer = SlotWriter(looked.folder, "w1")
    yield writer
    writer.close()


GAME = {
    "id": "1:a:b",
    "game": "blooms",
    "options": {"size": 3, "target": 1},
    "bots": ["a", "b"],
    "clocks": [None, None],
}


def test_boards_are_told_whole_then_what_is_new_and_that_they_are_gone(
    looked: Looked, writer: SlotWriter
) -> None:
    writer.begin(GAME)
    known = looked.known()
    assert known["boards"]["w1"]["id"] == "1:a:b" and known["boards"]["w1"]["moves"] == 0
    writer.append(b"5 m 1 0 L:A1\n")
    frame = looked.told()
    assert frame["seq"] == known["seq"] + 1 and frame["boards"]["w1"]["moves"] == 1
    assert "id" not in frame["boards"]["w1"] and frame["now"] >= known["now"]
    assert looked.told() == {}, "nothing is different"
    writer.close()
    assert looked.told()["boards"] == {"w1": None} and looked.known()["boards"] == {}


def test_workers_are_told_that_somebody_looks_while_a_referee_plays(looked: Looked) -> None:
    assert not (looked.folder / WATCHED).exists()
    assert looked.known()["note"] == "" and Watch(looked.folder).is_on


def test_nobody_is_told_where_no_referee_plays(tmp_path: Path) -> None:
    looked = Looked(tmp_path)
    assert looked.known()["note"] == "" and not (looked.folder / WATCHED).exists()


def test_that_workers_cannot_be_told_is_said(looked: Looked) -> None:
    (looked.folder / WATCHED).mkdir()
    assert looked.known()["note"] == UNWRITABLE
    (looked.folder / WATCHED).rmdir()
    assert looked.told() | {"seq": 0, "now": 0} == {"seq": 0, "now": 0, "note": ""}, "it is possible again"
    looked.folder.joinpath(WATCHED).unlink()
    looked.folder.rmdir()
    assert looked.told() == {}, "workers have not begun yet"


def test_games_on_another_machine_are_not_shown(
    looked: Looked, writer: SlotWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.begin(GAME)
    monkeypatch.setattr(slots, "boot_id", lambda: "another")
    known = looked.known()
    assert known["note"] == ELSEWHERE and known["boards"] == {}


def test_results_are_counted_with_each_game(looked: Looked) -> None:
    games = [f"{number}:{bots}" for number in range(1, 8) for bots in ("a:b", "b:a", "a:c", "c:a")]
    for number, game in enumerate(games, 1):
        looked.growing.play(game)
        known = looked.known()
        counts = {one["bot"]: one["w"] + one["d"] + one["l"] for one in known["standings"]}
        assert sum(counts.values()) == 2 * number and known["count"] == number
    by_bot = {one["bot"]: one for one in known["standings"]}
    last = [one for one in reversed(known["ended"]) if "b" in one["bots"]][-5:]
    won = ["w" if one["won"] == [one["bots"].index("b") + 1] else "l" for one in last]
    assert by_bot["b"]["form"] == won and len(known["ended"]) == ENDED
    shares = [one["share"] for one in known["standings"]]
    assert shares == sorted(shares, reverse=True), "they have the order of their points"
    again = members(Arena(LiveRun(looked.folder.parent), looked.folder.parent).whole())
    assert again["standings"] == known["standings"], "whoever comes later counts the same"


def test_faults_are_counted_and_named(looked: Looked) -> None:
    record = looked.growing.record("1:a:b")
    value = {**to_json(record), "faults": ["time", ""], "sentence": "seat 1 <ran> out of time\x1b"}
    looked.growing.append(looked.growing.line(value))
    known = looked.known()
    (game,) = known["ended"]
    assert game["fault"] == "time" and game["why"] == shown("a <ran> out of time\x1b")
    assert (game["bots"], game["scores"]) == (["a", "b"], [*record.verdict.outcome.scores])
    by_bot = {one["bot"]: one for one in known["standings"]}
    assert by_bot["a"]["f"] == 1 and by_bot["a"]["form"] == ["f"] and by_bot["b"]["f"] == 0


def test_places_are_compared_with_those_of_some_games_ago(looked: Looked) -> None:
    order = BotOrder(Tallies("abc"), None, [(1, "a", {}), (2, "b", {}), (3, "c", {})])
    looked.run.order = OrderAt(order, 100)
    assert [(one["bot"], one["moved"]) for one in looked.known()["standings"]] == [
        ("a", 0),
        ("b", 0),
        ("c", 0),
    ]
    looked.run.order = OrderAt(replace(order, places=[(1, "c", {}), (2, "a", {}), (3, "b", {})]), 120)
    known = looked.known()
    assert [(one["bot"], one["moved"]) for one in known["standings"]] == [("c", 2), ("a", -1), ("b", -1)]
    assert known["since"] == 20
    looked.run.order = OrderAt(replace(order, places=[(1, "c", {}), (2, "b", {}), (3, "a", {})]), 150)
    known = looked.known()
    assert [(one["bot"], one["moved"]) for one in known["standings"]] == [("c", 0), ("b", 1), ("a", -1)]
    assert known["since"] == 30, "ten for each bot"


def test_no_bot_has_moved_from_its_place_before_the_first_game(looked: Looked) -> None:
    for games, bots in ((0, "abc"), (0, "cba"), (1, "bca")):
        looked.run.order = OrderAt(BotOrder(Tallies("abc"), None, [(1, bot, {}) for bot in bots]), games)
        known = looked.known()
        assert [(one["bot"], one["moved"]) for one in known["standings"]] == [(bot, 0) for bot in bots]
        assert known["since"] == 0


def test_an_order_of_much_fewer_games_gives_way_to_that_of_the_shares(looked: Looked) -> None:
    looked.run.order = OrderAt(BotOrder(Tallies("abc"), None, [(1, bot, {}) for bot in "abc"]), 1)
    orders, scores = [], []
    for game in ("1:a:b", "1:a:c", "2:a:b"):
        looked.growing.play(game)
        standings = looked.known()["standings"]
        orders.append([one["bot"] for one in standings])
        scores.append([one["share"] or 0 for one in standings])
    assert orders[:2] == [[*"abc"]] * 2, "it is not older than that"
    assert orders[2] != [*"abc"] and scores[2] == sorted(scores[2], reverse=True)


def test_a_game_of_several_is_told_with_all_of_them(tmp_path: Path) -> None:
    looked = Looked(tmp_path, game="thetree", options={"players": "3"}, bots="abc")
    looked.growing.play("1:a:b:c")
    (game,) = looked.known()["ended"]
    assert game["bots"] == ["a", "b", "c"] and len(game["scores"]) == 3
