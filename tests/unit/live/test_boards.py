"""From slots to boards: what a worker tells of a game is drawn, and whatever makes no sense is no board."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import UsageError
from referee.core.fields import LARGEST
from referee.games import GAMES, game_named
from referee.games.api import Game
from referee.live import boards
from referee.live.boards import BoardsInPlay
from referee.live.pictures import picture_json
from referee.live.positions import MOST_GAMES
from referee.live.slots import FOLDER, SlotWriter
from referee.viewing.drawn_board import DrawnBoard, planes_of, seat_rows

HEAD: dict[str, Any] = {
    "id": "1:a:b",
    "game": "blooms",
    "options": {"size": 3, "target": 4},
    "bots": ["a", "b"],
    "clocks": [[1_000_000, 5_000_000], None],
}


class Slots:
    """The slots of a run's folder, and the boards that are made of them."""

    def __init__(self, folder: Path) -> None:
        (folder / FOLDER).mkdir()
        self.folder = folder / FOLDER
        self.boards = BoardsInPlay(folder, game_named)
        self.writer = SlotWriter(self.folder, "w1")

    def begin(self, **changed: object) -> None:
        self.writer.begin({**HEAD, **changed})

    def tell(self, *lines: str) -> None:
        self.writer.append("".join(f"{line}\n" for line in lines).encode())

    def look(self) -> Any:
        return self.boards.look().get("w1", "nothing new")


@pytest.fixture
def slots(tmp_path: Path) -> Iterator[Slots]:
    slots = Slots(tmp_path)
    yield slots
    slots.writer.close()


def drawn(slug: str, options: dict[str, str], moves: Sequence[str]) -> dict[str, Any]:
    """The members of a board after these moves, as a drawing of the position itself has them."""
    state = GAMES[slug].start(GAMES[slug].settle(options))
    pictures = [state.picture(None)]
    for text in moves:
        (seat,) = state.to_act()
        state = state.play({seat: state.read(seat, text)})
        pictures.append(state.picture(None))
    board = DrawnBoard("1:a:b", slug, ["a", "b"], [])
    for picture in pictures:
        board.show(
            planes_of(picture), turn=(), reserves_us=(), at_us=0, moves=0, last="", rows=seat_rows(picture, 2)
        )
    whole = board.whole()
    return {name: whole[name] for name in ("box", "ground", "defs", "new", "draw", "rows")}


def test_an_open_game_is_replayed_from_its_events(slots: Slots) -> None:
    slots.begin()
    whole = slots.look()
    assert whole["id"] == "1:a:b" and whole["bots"] == ["a", "b"] and whole["game"] == "blooms"
    assert whole["clocks"] == [[1_000_000, 5_000_000], None] and whole["reserves"] == [5_000_000, None]
    assert (whole["turn"], whole["moves"], whole["last"], whole["from"]) == ([1], 0, "", 0)
    assert slots.look() == "nothing new"
    slots.tell("7 m 1 4000000 L:A1")
    patch = slots.look()
    assert patch["from"] == len(whole["new"]) and "id" not in patch
    assert (patch["turn"], patch["moves"], patch["at"], patch["reserves"]) == ([2], 1, 7, [4_000_000, None])
    assert patch["last"] == "a: L:A1"
    slots.tell("8 m 2 0 L:B1 D:B2")
    slots.look()
    now = slots.boards.whole()["w1"]
    expected = drawn("blooms", {"size": "3", "target": "4"}, ["L:A1", "L:B1 D:B2"])
    assert {name: now[name] for name in expected} == expected


def test_a_line_that_is_being_written_is_left_for_later(slots: Slots) -> None:
    slots.begin()
    slots.writer.append(b"7 m 1 4000000 L:A1\n8 m 2 0 L:B")
    assert slots.look()["moves"] == 1
    slots.writer.append(b"1\n")
    assert slots.look()["moves"] == 2


def test_openings_and_seats_that_leave(slots: Slots) -> None:
    slots.begin()
    slots.tell("7 p 1 0 L:A1", "9 r 2 0 time")
    board = slots.look()
    assert board["reserves"] == [5_000_000, None], "no clock ran in an opening"
    assert board["turn"] == [] and board["at"] == 9


def test_a_slot_has_one_game_after_the_other_and_then_none(slots: Slots) -> None:
    slots.begin()
    slots.tell("7 m 1 4000000 L:A1")
    slots.look()
    slots.begin(id="1:b:a", bots=["b", "a"])
    board = slots.look()
    assert board["id"] == "1:b:a" and board["from"] == 0 and board["moves"] == 0
    slots.writer.close()
    assert slots.look() is None and slots.boards.whole() == {}


def test_after_many_positions_a_board_is_told_as_a_whole_again(
    slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "MOST_POSITIONS", 2)
    slots.begin()
    found = [slots.look()]
    for line in ("7 m 1 0 L:A1", "8 m 2 0 L:B1 D:B2"):
        slots.tell(line)
        found.append(slots.look())
    assert ["id" in board for board in found] == [True, False, True]
    assert found[2]["from"] == 0 and found[2]["moves"] == 2


def common(slug: str, turns: int) -> tuple[bytes, dict[str, Any]]:
    state = GAMES[slug].start(GAMES[slug].settle({}))
    picture = state.picture(None)
    told = {"us": 3, "turn": [1, 2], "moves": turns, "picture": picture_json(picture)}
    return json.dumps(told).encode(), seat_rows(picture, 2)


def test_of_a_game_with_hidden_information_the_picture_is_drawn_without_clocks(slots: Slots) -> None:
    slots.begin(game="floral", options={})
    told, rows = common("floral", 4)
    slots.writer.replace(told)
    board = slots.look()
    assert board["turn"] == [1, 2] and board["moves"] == 4 and board["at"] == 3 and board["rows"] == rows
    assert board["reserves"] == [None, None] and board["last"] == ""


def test_a_picture_needs_no_rules(slots: Slots) -> None:
    def unknown(slug: str) -> Game[Any]:
        raise UsageError("there is no such game")

    slots.boards = BoardsInPlay(slots.folder.parent, unknown)
    slots.begin(game="of-my-own", options={"x": 1})
    slots.writer.replace(common("floral", 4)[0])
    assert slots.look()["game"] == "of-my-own"
    slots.begin()
    slots.tell("7 m 1 4000000 L:A1")
    assert slots.look() is None, "events do"


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": 5},
        {"game": "none"},
        {"game": None},
        {"options": {"size": "x"}},
        {"options": {"size": 10**9}},
        {"options": []},
        {"bots": ["a"]},
        {"bots": ["a", "<b>"]},
        {"bots": ["a"] * 5},
        {"clocks": []},
        {"clocks": [[1, 2], [1]]},
        {"clocks": [[1, LARGEST + 1], None]},
        {"clocks": {"a": 1}},
    ],
)
def test_a_game_that_makes_no_sense_is_no_board(slots: Slots, wrong: dict[str, Any]) -> None:
    slots.begin(**wrong)
    slots.tell("7 m 1 4000000 L:A1")
    assert slots.look() == "nothing new" and slots.boards.whole() == {}


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "7 m 1 4000000 Z9",
        "7 m 2 4000000 L:A1",
        "7 m 0 4000000 L:A1",
        "7 m 9 4000000 L:A1",
        "7 m x 4000000 L:A1",
        "x m 1 4000000 L:A1",
        "7 m 1 x L:A1",
        "7 d 0 0 L:A1",
        "7 r 9 0 time",
        "7 r 0 0 time",
        "",
    ],
)
def test_an_event_that_makes_no_sense_is_no_board(slots: Slots, line: str) -> None:
    slots.begin()
    assert slots.look()["moves"] == 0
    slots.tell(line)
    assert slots.look() is None
    assert slots.look() == "nothing new"
    slots.begin()
    assert slots.look()["moves"] == 0, "the next game is another matter"


@pytest.mark.parametrize(
    "told", [b"", b"{}", b"[]", b"\xff", b'{"us": 1, "turn": [1], "moves": 1, "picture": 3}']
)
def test_what_is_no_picture_is_no_board(slots: Slots, told: bytes) -> None:
    slots.begin(game="floral", options={})
    slots.writer.replace(told)
    assert slots.look() == "nothing new"


def test_one_bad_slot_spoils_no_other_and_there_are_only_so_many_boards(slots: Slots) -> None:
    writers: list[Callable[[], None]] = []
    for number in range(2, MOST_GAMES + 5):
        writer = SlotWriter(slots.folder, f"w{number}")
        writer.begin({**HEAD, "id": f"{number}:a:b"})
        writers.append(writer.close)
    slots.begin(bots=[])
    found = slots.boards.look()
    assert [*found] == [f"w{number}" for number in range(2, MOST_GAMES + 2)]
    for close in writers:
        close()
