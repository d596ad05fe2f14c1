"""The screen on which a game is chosen from a list: its keys, and what it shows.

Functions import the screen's library: it takes long, and only the workers that run these tests need it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import pytest

from tests.unit.screen_lines import screen_lines, settle

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from referee.cli.replay_list import GameList

HEADING = ("game  id     ranks", "----  -----  -----")
GAMES = [f"{number:<4}  1:a:b  1. {'ant' if number % 2 else 'bee'}" for number in range(1, 41)]


class Listed:
    """A list in a test."""

    def __init__(self, app: GameList, pilot: Pilot[int]) -> None:
        self.app = app
        self._pilot = pilot

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self._pilot.press(key)
        await settle(self._pilot)

    @property
    def lines(self) -> list[str]:
        return screen_lines(self.app)

    @property
    def marked(self) -> str:
        """The line with the sign."""
        (line,) = [line for line in self.lines if line.startswith("> ")]
        return line[2:]


def use(test: Callable[[Listed], Awaitable[None]], games: list[str] = GAMES, chosen: int = 0) -> int | None:
    """Shows a list, does with it what a test does, and gives what was chosen."""
    from referee.cli.replay_list import GameList

    async def run() -> int | None:
        app = GameList(HEADING, games, chosen)
        async with app.run_test(size=(40, 12)) as pilot:
            await test(Listed(app, pilot))
        return app.return_value

    return asyncio.run(run())


def test_arrows_mark_a_game_and_enter_chooses_it() -> None:
    async def test(screen: Listed) -> None:
        assert screen.lines[0] == f"  {HEADING[0]}" and screen.marked == GAMES[0]
        for keys, place in (
            (["down"], 1),
            (["down", "down"], 3),
            (["up"], 2),
            (["end"], 39),
            (["down"], 39),
            (["pageup"], 31),
            (["home"], 0),
            (["up"], 0),
            (["pagedown"], 8),
        ):
            await screen.press(*keys)
            assert screen.marked == GAMES[place], keys
        await screen.press("enter")

    assert use(test) == 8


def test_the_list_begins_at_the_game_that_was_shown_last() -> None:
    async def test(screen: Listed) -> None:
        assert screen.marked == GAMES[30]
        await screen.press("enter")

    assert use(test, chosen=30) == 30


@pytest.mark.slow
def test_a_filter_leaves_the_games_with_all_its_words() -> None:
    async def test(screen: Listed) -> None:
        await screen.press("slash", *"BEE", "space", *"3")
        assert screen.marked == GAMES[29]
        shown = [line for line in screen.lines if "1:a:b" in line]
        assert shown == [f"{'>' if n == 30 else ' '} {GAMES[n - 1]}" for n in (30, 32, 34, 36, 38)]
        await screen.press("down", "enter")
        assert "5 of 40 games: BEE 3" in screen.lines[-1] and screen.marked == GAMES[31]
        await screen.press("enter")

    assert use(test) == 31


@pytest.mark.slow
def test_letters_are_part_of_a_filter_and_escape_takes_it_away() -> None:
    async def test(screen: Listed) -> None:
        await screen.press("slash", *"q/")
        assert "no game has all these words" in "\n".join(screen.lines)
        await screen.press("enter", "enter", "escape")
        assert screen.app.is_running and "40 games" in screen.lines[-1] and screen.marked == GAMES[0]
        await screen.press("escape")
        assert not screen.app.is_running

    assert use(test) is None


def test_q_quits_without_a_game() -> None:
    async def test(screen: Listed) -> None:
        await screen.press("down", "q")
        assert not screen.app.is_running

    assert use(test) is None


def test_texts_of_bots_are_shown_as_text() -> None:
    async def test(screen: Listed) -> None:
        assert screen.marked == "1  [b]x[/] [@click=app.quit]y[/]"

    use(test, ["1  [b]x[/] [@click=app.quit]y[/]"])
