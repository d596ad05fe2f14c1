"""What `match` shows while a bot is developed: the dialogue with stderr, the board, the input."""

from __future__ import annotations

from typing import Any

import pytest

from referee.cli.match import with_delays
from referee.cli.watching import Scrolling
from referee.gameplay.events import Event
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import State
from referee.records.replay import replay
from referee.wire.dialogue import FROM_BOT, STDERR, STDERR_CAP, TO_BOT, BotInput, Dialogue
from referee.wire.stoppage import StoppageDetector
from tests.rules.random_play import random_game

# --- The dialogue -----------------------------------------------------------------------------------------


def test_a_dialogue_names_who_speaks() -> None:
    lines: list[str] = []
    dialogue = Dialogue(lines.append, began_ns=0)
    dialogue.take(1_234_000, "a", TO_BOT, b"hello 1 list\nas")
    dialogue.take(2_000_000, "a", STDERR, b"thinking\n\x1b[2J deep")
    dialogue.take(2_000_000, "a", FROM_BOT, b"hello 1\nrea")
    dialogue.take(2_500_000, "a", TO_BOT, b"k 1 2 3\n")
    dialogue.close(3_000_000)
    assert lines == [
        "   0.001234 a REF: hello 1 list",
        "   0.002000 a ERR: thinking",
        "   0.002000 a BOT: hello 1",
        "   0.002500 a ERR: \\x1b[2J deep",
        "   0.002500 a REF: ask 1 2 3",
        "   0.003000 a BOT: rea [without a newline]",
    ]


def test_of_a_flood_on_stderr_only_a_part_is_shown() -> None:
    lines: list[str] = []
    dialogue = Dialogue(lines.append, began_ns=0)
    for _ in range(100):
        dialogue.take(0, "a", STDERR, b"complaint\n" * 1000)
    dialogue.take(0, "b", STDERR, b"another bot\n")
    shown = len(lines)
    assert shown < STDERR_CAP // 10 + 3
    dialogue.take(0, "a", TO_BOT, b"ask 1 2 3\n")
    assert lines[-2].endswith(f"a ERR: [… {1_000_000 - STDERR_CAP} bytes …]")
    dialogue.take(0, "a", STDERR, b"again\n")
    assert lines[-1].endswith("a ERR: again")


# --- The input of a bot ------------------------------------------------------------------------------------


def test_the_input_is_that_of_the_first_process_that_sits_there() -> None:
    written: list[bytes] = []
    tap = BotInput(2, written.append)
    for name, direction, data in (
        ("a", TO_BOT, b"hello 1 list\n"),
        ("b", TO_BOT, b"hello 1 list\n"),
        ("a", TO_BOT, b"game blooms 1 1 2\nprepare\n"),
        ("b", STDERR, b"starting\n"),
        ("b", FROM_BOT, b"hello 1\n"),
        ("b", TO_BOT, b"game blooms 1 2 2\nprepare\n"),
        ("b", TO_BOT, b"ask 1 2 3\n"),
        ("a", TO_BOT, b"ask 1 2 3\n"),
        ("a", TO_BOT, b"game blooms 1 2 2\nprepare\n"),
        ("b", TO_BOT, b"game blooms 1 1 2\nprepare\n"),
        ("b", TO_BOT, b"quit\n"),
        ("b", TO_BOT, b"hello 1 list\n"),
        ("b", TO_BOT, b"game blooms 1 2 2\nprepare\n"),
    ):
        tap(name, direction, data)
    assert tap.bot == "b"
    assert b"".join(written) == (
        b"hello 1 list\ngame blooms 1 2 2\nprepare\nask 1 2 3\ngame blooms 1 1 2\nprepare\nquit\n"
    )


# --- The board ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["blooms", "--watch", "0.5s", "A"], ["blooms", "--watch=0.5s", "A"]),
        (["blooms", "--watch", "A", "B"], ["blooms", "--watch=0s", "A", "B"]),
        (["blooms", "A", "--watch"], ["blooms", "A", "--watch=0s"]),
        (["--watch=2s", "--watch", "5"], ["--watch=2s", "--watch=0s", "5"]),
        (["--watch", "--", "1s", "--watch"], ["--watch=0s", "--", "1s", "--watch"]),
    ],
)
def test_watch_takes_no_bot_for_its_time(words: list[str], expected: list[str]) -> None:
    assert with_delays(words) == expected


def looked_at(show: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it was waited, in seconds, while a game was shown."""
    waits: list[float] = []
    monkeypatch.setattr("referee.cli.watching.time.sleep", waits.append)
    record = random_game(GAMES["blooms"], b"x", {"size": "3", "target": "1"})

    def watch(event: Event, state: State[Any]) -> None:
        terms: Terms = record.terms
        show(terms, event, state)

    replay(record, watch)
    assert len(waits) in (0, len(record.events))
    return waits


def test_the_board_is_shown_after_each_move(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(looked_at(Scrolling(250_000), monkeypatch)) == {0.25}
    capsys.readouterr()
    assert not looked_at(Scrolling(), monkeypatch)
    shown = capsys.readouterr().err
    assert shown.count("1:a:b: blooms") == 1 and "\n2. seat 2 b: " in shown and "\x1b" not in shown


def test_what_passes_while_a_board_is_shown_is_no_stoppage(monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = [0]
    monkeypatch.setattr("referee.wire.stoppage.time.monotonic_ns", lambda: now_ns[0])
    detector = StoppageDetector()
    now_ns[0] = 500_000_000
    detector.forget()
    now_ns[0] = 501_000_000
    assert detector.late_ns(0) == 0
    now_ns[0] = 801_000_000
    assert detector.late_ns(0) > 290_000_000
