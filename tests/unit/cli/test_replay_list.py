"""The screen on which a game is chosen from a list: its keys, and what it shows."""

from __future__ import annotations

from referee.cli.screen import GameList

HEADING = ("game  id     ranks", "----  -----  -----")
GAMES = [f"{number:<4}  1:a:b  1. {'ant' if number % 2 else 'bee'}" for number in range(1, 41)]


class Listed:
    """A list in a test."""

    def __init__(self, games: list[str] = GAMES, chosen: int = 0) -> None:
        self.app = GameList(HEADING, games, chosen)
        self.press()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.app.press(key)
        self.lines = [line.plain for line in self.app.draw(40, 12)]

    @property
    def marked(self) -> str:
        """The line with the sign."""
        (line,) = [line for line in self.lines if line.startswith("> ")]
        return line[2:]


def test_arrows_mark_a_game_and_enter_chooses_it() -> None:
    screen = Listed()
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
        screen.press(*keys)
        assert screen.marked == GAMES[place], keys
    screen.press("enter")
    assert screen.app.chosen == 8


def test_the_list_begins_at_the_game_that_was_shown_last() -> None:
    screen = Listed(chosen=30)
    assert screen.marked == GAMES[30]
    screen.press("enter")
    assert screen.app.chosen == 30


def test_a_filter_leaves_the_games_with_all_its_words() -> None:
    screen = Listed()
    screen.press("/", *"BEE", " ", *"3")
    assert screen.marked == GAMES[29]
    shown = [line for line in screen.lines if "1:a:b" in line]
    assert shown == [f"{'>' if n == 30 else ' '} {GAMES[n - 1]}" for n in (30, 32, 34, 36, 38)]
    screen.press("down", "enter")
    assert "5 of 40 games: BEE 3" in screen.lines[-1] and screen.marked == GAMES[31]
    screen.press("enter")
    assert screen.app.chosen == 31


def test_letters_are_part_of_a_filter_and_escape_takes_it_away() -> None:
    screen = Listed()
    screen.press("/", *"q/")
    assert "no game has all these words" in "\n".join(screen.lines)
    screen.press("enter", "enter", "escape")
    assert not screen.app.is_over and "40 games" in screen.lines[-1] and screen.marked == GAMES[0]
    screen.press("escape")
    assert screen.app.is_over
    assert screen.app.chosen is None


def test_q_quits_without_a_game() -> None:
    screen = Listed()
    screen.press("down", "q")
    assert screen.app.is_over
    assert screen.app.chosen is None


def test_texts_of_bots_are_shown_as_text() -> None:
    screen = Listed(["1  [b]x[/] [@click=app.quit]y[/]"])
    assert screen.marked == "1  [b]x[/] [@click=app.quit]y[/]"
