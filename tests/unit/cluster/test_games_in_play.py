"""What machines of a cluster tell of the games in play there, from their slots to those of the referee."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from referee.cluster import games_in_play
from referee.cluster.games_in_play import SlotReceiver, SlotSender
from referee.games import game_named
from referee.live import slots
from referee.live.boards import BoardsInPlay
from referee.live.positions import MOST_GAMES
from referee.live.slots import FOLDER, FRESH_US, MOST, SlotWriter, Watch, say_watched

AHEAD_US = 1_000_000_000  # by which the host's clock is ahead of that of the referee

HEAD: dict[str, Any] = {
    "id": "1:a:b",
    "game": "blooms",
    "options": {"size": 3},
    "bots": ["a", "b"],
    "clocks": [[1_000_000, 5_000_000], None],
}


class Machines:
    """A host and the referee, whose clocks differ."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self.now_us = 2_000_000_000
        self.is_there = False
        for module in (slots, games_in_play):
            monkeypatch.setattr(module, "now_us", self._now_us)
        self._stack = stack
        self.there, here = folder / "there", folder / FOLDER
        self.there.mkdir()
        self.here = here
        self.sender = SlotSender(self.there)
        self.receiver = stack.enter_context(closing(SlotReceiver(here)))
        self.boards = BoardsInPlay(folder, game_named)

    def _now_us(self) -> int:
        return self.now_us + AHEAD_US * self.is_there

    def writer(self, name: str = "w1") -> SlotWriter:
        return self._stack.enter_context(closing(SlotWriter(self.there, name)))

    def message(self) -> bytes:
        """What the host sends next."""
        self.now_us += 250_000
        self.is_there = True
        try:
            return self.sender.message()
        finally:
            self.is_there = False

    def watch(self) -> None:
        """Somebody looks, and the host is told."""
        self.now_us += 1_000_000
        say_watched(self.here)
        assert self.receiver.is_watched()
        self.is_there = True
        self.sender.watch()
        self.is_there = False

    def whole(self) -> dict[str, Any]:
        """The boards at the referee, after the host's next message."""
        self.receiver.take("one", self.message())
        self.boards.look()
        return self.boards.whole()


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    with ExitStack() as stack:
        yield Machines(tmp_path, monkeypatch, stack)


def test_a_host_tells_what_is_new_and_the_times_are_those_of_the_referee(machines: Machines) -> None:
    writer = machines.writer()
    writer.begin(HEAD)
    machines.watch()
    assert machines.whole()["m1-w1"]["moves"] == 0
    assert machines.message() == b"", "nothing is new"
    at_us = machines.now_us
    writer.append(b"%d m 1 4000000 L:A1\n" % (at_us + AHEAD_US))
    head = machines.boards._boards["m1-w1"].game.head
    board = machines.whole()["m1-w1"]
    assert (board["moves"], board["at"], board["reserves"]) == (1, at_us, [4_000_000, None])
    assert machines.boards._boards["m1-w1"].game.head is head, "it is the same game"
    writer.begin({**HEAD, "id": "2:a:b"})
    assert machines.whole()["m1-w1"]["id"] == "2:a:b"
    machines.watch()
    writer.close()
    assert machines.whole() == {}


def test_workers_of_a_host_write_only_while_somebody_looks(machines: Machines) -> None:
    machines.writer().begin(HEAD)
    watch = Watch(machines.there)
    assert machines.message() == b"" and not watch.is_on
    machines.watch()
    assert machines.message()
    machines.is_there = True
    machines.now_us += FRESH_US // 2
    assert watch.is_on and machines.sender.is_watched
    machines.now_us += 60_000_000
    assert not machines.sender.is_watched and machines.message() == b""


def test_when_nobody_looks_any_more_no_old_game_is_left(machines: Machines) -> None:
    machines.writer().begin(HEAD)
    machines.watch()
    message = machines.message()
    machines.receiver.take("one", message)
    assert (machines.here / "m1-w1").exists()
    machines.now_us += FRESH_US
    assert not machines.receiver.is_watched()
    machines.receiver.take("one", message)
    assert not (machines.here / "m1-w1").exists()
    machines.watch()
    assert [*machines.whole()] == ["m1-w1"], "all is sent again"


def test_the_games_of_a_lost_machine_go_and_those_of_others_stay(machines: Machines) -> None:
    machines.writer().begin(HEAD)
    machines.watch()
    message = machines.message()
    for address in ("one", "other"):
        machines.receiver.take(address, message)
    machines.receiver.forget("one")
    machines.boards.look()
    assert [*machines.boards.whole()] == ["m2-w1"]


def test_what_is_too_much_for_a_message_comes_with_the_next_ones(machines: Machines) -> None:
    writers = [machines.writer(f"w{number}") for number in (1, 2, 3)]
    for writer in writers:
        writer.begin(HEAD)
        writer.append(b"x" * (MOST // 2))
    machines.watch()
    sent = [sorted(json.loads(zlib.decompress(machines.message()))["slots"]) for _ in range(2)]
    assert sorted(map(len, sent)) == [1, 2] and sorted(sent[0] + sent[1]) == ["w1", "w2", "w3"]
    for writer in writers:
        writer.append(b"y")
    assert sent[1][0] not in json.loads(zlib.decompress(machines.message()))["slots"], "others waited longer"


def packed(value: object) -> bytes:
    return zlib.compress(json.dumps(value).encode())


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"junk",
        packed([]),
        packed({"us": "x", "slots": {"w1": [HEAD, ""]}}),
        packed({"us": 1, "slots": {"w1": [HEAD]}}),
        packed({"us": 1, "slots": {"w1": [[], ""]}}),
        packed({"us": 1, "slots": {"../w1": [HEAD, ""], "watched": [HEAD, ""]}}),
        packed({"us": 1, "slots": {"w1": [HEAD, "x" * 5 * MOST]}}),
        packed({"us": 1 << 80, "slots": {"w1": [HEAD, ""]}}),
    ],
)
def test_a_message_that_makes_no_sense_is_no_board(machines: Machines, message: bytes) -> None:
    machines.watch()
    machines.receiver.take("one", message)
    assert machines.boards.look() == {} and not (machines.here.parent / "m1-w1").exists()


def test_a_machine_cannot_fill_the_folder(machines: Machines) -> None:
    machines.watch()
    many = {f"w{number}": [HEAD, ""] for number in range(1, 200)}
    machines.receiver.take("one", packed({"us": 1, "slots": many}))
    assert len([*machines.here.iterdir()]) <= MOST_GAMES + 1
