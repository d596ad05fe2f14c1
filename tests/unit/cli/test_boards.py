"""The boards of games in play in the live view of a run: they fit, stay in place, and trust no slot."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from referee.cli import boards as cli_boards
from referee.cli.boards import BoardsInCharacters
from referee.cli.live_view import LiveView
from referee.core.seeds import Stream
from referee.games import GAMES
from referee.games.api import State
from referee.games.picture import Mark, Picture, Plane
from referee.kit import step
from referee.live.pictures import picture_json
from referee.live.slots import FOLDER, WATCHED, SlotWriter, now_us
from referee.running import RunInfo
from referee.tournament.formats import Amount
from referee.viewing.knowledge import EVERYBODY, ViewKnowledge
from tests.unit.cli.test_progress import picture, written

S = 1_000_000


class Slots:
    """The slots of a run's folder."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        (folder / FOLDER).mkdir()

    def begin(self, name: str, slug: str, *bots: str, **options: str) -> SlotWriter:
        """A slot with a game that has begun."""
        writer = self._stack.enter_context(closing(SlotWriter(self.folder / FOLDER, name)))
        settled = dict(GAMES[slug].settle(options))
        clocks = [[5 * S, 60 * S] for _ in bots]
        writer.begin({"id": "1:a:b", "game": slug, "options": settled, "bots": bots, "clocks": clocks})
        return writer

    def boards(self) -> BoardsInCharacters:
        return BoardsInCharacters(self.folder, GAMES.__getitem__)


@pytest.fixture
def slots(tmp_path: Path) -> Iterator[Slots]:
    with ExitStack() as stack:
        yield Slots(tmp_path, stack)


def told(shown: Picture, turn: tuple[int, ...] = (1,)) -> bytes:
    """What the slot of a game with hidden information says of this picture."""
    return json.dumps({"us": now_us(), "turn": turn, "moves": 3, "picture": picture_json(shown)}).encode()


def texts(boards: BoardsInCharacters, columns: int = 120, most: int = 20) -> list[str]:
    return [line.plain for line in boards.lines(columns, most)]


def test_a_board_has_the_names_the_clocks_and_who_is_to_move(slots: Slots) -> None:
    slot = slots.begin("w1", "blooms", "ant", "bee")
    slot.append(b"%d m 1 %d L:A1\n" % (now_us(), 42 * S))
    boards = slots.boards()
    first, second, head, row, *_ = texts(boards)
    assert first.split() == ["ant", "0", "of", "15", "0:47"]
    assert second.split() == [">", "bee", "0", "of", "15", "1:05"]
    assert head.split() == ["1", "2", "3", "4"] and row.split() == ["A", "[1L]", "·", "·", "·", "A4"]
    assert (slots.folder / FOLDER / WATCHED).exists(), "workers are told that somebody looks"


def test_both_gardens_of_floral_fit_where_two_boards_share_the_terminal(slots: Slots) -> None:
    slot, game = slots.begin("w1", "floral", "ant", "bee"), GAMES["floral"]
    options = game.settle({})
    state = step(game.start(options), Stream(b"floral"))  # the runes are dealt
    slot.replace(told(ViewKnowledge.of(EVERYBODY, game, options).picture(state)))
    gardens = [line for line in texts(slots.boards(), columns=100) if line.startswith("pots")]
    assert [line.count("]") for line in gardens] == [3, 3]


def test_a_board_that_is_too_wide_is_cut_but_not_the_names_of_its_rows(slots: Slots) -> None:
    slot = slots.begin("w1", "vinetree", "ant", "bee", size="13")
    slot.append(b"%d m 1 0 G7 R U\n" % now_us())
    lines = texts(slots.boards(), columns=100, most=30)
    rows = [line.split() for line in lines[3:] if "·" in line]
    assert [row[0] for row in rows] == [*"ABCDEFGHIJKLM"] and len(rows[0]) < 14, "else nothing was cut"


def test_a_narrow_terminal_shows_none_and_tells_no_worker_that_it_looks(slots: Slots) -> None:
    slots.begin("w1", "blooms", "ant", "bee")
    assert texts(slots.boards(), columns=99) == texts(slots.boards(), most=9) == []
    assert not (slots.folder / FOLDER / WATCHED).exists()


def turns(slug: str, **options: str) -> Iterator[tuple[bytes, State[Any]]]:
    """What a slot says of the turns of a game, and the position after each."""
    game, rng = GAMES[slug], Stream(b"boards")
    state = game.start(game.settle(options))
    for _ in range(20):
        said = b""
        if game.is_open:
            (seat,) = state.to_act()
            move = state.sample(seat, rng)
            said = f"{now_us()} m {seat + 1} 0 {state.write(move)}\n".encode()
            state = state.play({seat: move})
        else:
            state = step(state, rng)
        yield said, state
        if state.outcome():
            return


@pytest.mark.quick_cases(5)  # the narrower boards
@pytest.mark.parametrize("slug", GAMES)
@pytest.mark.parametrize("columns", [100, 120])
def test_boards_fit_and_stay_in_place(slug: str, columns: int, slots: Slots) -> None:
    options = {"players": "4"} if slug == "thetree" else {}
    names = ("ant", "bee", "cat", "dog")[: 4 if options else 2]
    writers = [slots.begin(f"w{number}", slug, *names, **options) for number in range(4)]
    boards, rows = slots.boards(), 0
    for said, state in turns(slug, **options):
        whole = b"" if said else told(state.picture(0))
        for writer in writers:
            writer.append(said) if said else writer.replace(whole)
        lines = texts(boards, columns)
        assert max(rows, 4) <= len(lines) <= 20 and max(map(len, lines)) <= columns
        assert 2 <= lines[0].split().count("ant") <= 3
        rows = len(lines)
    for writer in writers:
        writer.close()
    assert texts(boards, columns) == [""] * rows


def test_a_game_with_hidden_information_has_no_clocks(slots: Slots) -> None:
    *_, (_, state) = turns("thetree")
    slots.begin("w1", "thetree", "ant", "bee").replace(told(state.picture(0), (2,)))
    first, second, *_ = texts(slots.boards())
    assert first.startswith("  ant") and second.startswith("> bee") and ":" not in first + second


@pytest.mark.parametrize(
    "mark", [Mark(900, 900, "x"), Mark(0, 0, "\x1b[2J"), Mark(0, 0, "\x9b2J"), Mark(0, 0, "x", title="\r")]
)
def test_what_no_terminal_should_get_is_no_board(mark: Mark, slots: Slots) -> None:
    slots.begin("w1", "thetree", "ant", "bee").replace(told((Plane((mark,), (), 5, 2),)))
    slots.begin("w2", "thetree", "cat", "dog").replace(told((Plane((Mark(0, 0, "x"),)),)))
    lines = texts(slots.boards())
    assert lines[0].startswith("> cat") and not any("ant" in line or not line.isprintable() for line in lines)


def test_a_picture_that_cannot_be_drawn_ends_no_run(slots: Slots, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(picture: Picture) -> None:
        raise ValueError

    monkeypatch.setattr(cli_boards, "lines", fail)
    slots.begin("w1", "blooms", "ant", "bee", size="4")
    assert texts(slots.boards()) == []


@pytest.mark.parametrize(("columns", "height"), [(120, 40), (100, 30), (100, 24), (99, 40)])
def test_the_live_view_shows_boards_above_the_standings(columns: int, height: int, slots: Slots) -> None:
    slots.begin("w1", "blooms", "ant", "bee")
    info = RunInfo(("ant", "bee"), 2, Amount(10, True), {}, 1, folder=slots.folder, rules=GAMES)
    console = Console(file=io.StringIO(), force_terminal=True, width=columns, height=height)
    with LiveView(info, console=console) as view:
        view.began("1:ant:bee")
        lines = picture(view)
    assert len(lines) <= height * 2 // 3
    has_boards = columns >= 100 and height > 24
    assert any(line.startswith("> ant") for line in lines) == has_boards
    assert [line.split()[:2] for line in lines[-4:]] == [
        ["#", "bot"],
        ["1", "ant"],
        ["1", "bee"],
        ["playing:", "1:ant:bee"],
    ]
    assert written(console).count("\x1b[?2026h") == written(console).count("\x1b[?2026l") > 1
