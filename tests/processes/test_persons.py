"""`referee play` with lines from a pipe: what it prints, what it stores, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.core.this_machine import this_machine
from tests.command import PLAIN, RANDOM, Done, referee
from tests.waiting import TOO_LONG_S

SMALL = ("--option", "size=3", "--option", "target=2", "--isolation", "none")


def typed(lines: str, *words: str, stdin: int | None = None) -> Done:
    """Runs `referee play` with these lines."""
    done = subprocess.run(
        [sys.executable, "-m", "referee", "play", *words],
        input=lines.encode() if stdin is None else None,
        stdin=stdin,
        capture_output=True,
        timeout=TOO_LONG_S,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err, err
    assert all(c.isprintable() or c == "\n" for c in out + err), out + err
    return Done(done.returncode, out, err)


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "games.jsonl").read_text().splitlines()
    return [value for line in lines if (value := json.loads(line))["kind"] == "game"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games of a person, against different bots and in different seats."""
    folder = tmp_path_factory.mktemp("play") / "run"
    lines = "L:A1\nD:A1\nback\nL:B1\nback 5\nhint\nresign\n"
    first = typed(lines, "blooms", *SMALL, f"plain={PLAIN}", "--hint", RANDOM, "-o", str(folder))
    assert first.code == 0, first.err
    assert "illegal: A1 is occupied" in first.out and "taken back" in first.out
    assert "only 1 move can be taken back" in first.out and "\nhint: " in first.out
    assert "plain won: me resigned" in first.out
    assert "recorded as 1:me:plain" in first.err
    second = typed("resign\n", "blooms", *SMALL, f"other={PLAIN}", "anna=me", "-o", str(folder))
    assert second.code == 0 and "recorded as 2:other:anna" in second.err, second.err
    return folder


@pytest.mark.slow
def test_games_of_persons_accumulate_in_a_folder_and_verify(folder: Path) -> None:
    first, second = records(folder)
    assert first["events"][0] == {"seat": 1, "move": "L:B1"}, "the move that counts"
    assert first["measured"]["taken_back"] == 1
    assert first["measured"]["machine"] == {**this_machine()._asdict(), "worker": "0"}
    assert first["measured"]["seats"][0] == {"person": True, "hints": 1}
    assert first["isolation"] == ["none", "none"] and second["bots"] == ["other", "anna"]
    done = referee("verify", str(folder))
    assert done.code == 0 and "2 games verified" in done.out, done.err


@pytest.mark.slow
def test_other_commands_know_games_of_persons(folder: Path) -> None:
    assert "anna" in referee("table", str(folder)).out
    assert "L:B1" in referee("replay", str(folder), "1").out
    assert "2:other:anna" in referee("find", str(folder), "--bot", "anna").out
    assert "2 of 2 games" in referee("status", str(folder)).out


@pytest.mark.slow
def test_no_other_command_starts_a_person(folder: Path) -> None:
    done = referee("run", str(folder / "tournament.toml"), "-o", str(folder))
    assert done.code == 2
    where = f"`{folder / 'tournament.toml'}`: "
    wrong = "`anna` is a person, expected a bot; a person plays with `referee play`"
    assert done.err == f"referee: {where}{wrong}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("blooms", "a=true", "b=true"), "none of the players is `me`"),
        (
            ("blooms", "me"),
            "`blooms` has 2 seats, expected 2 players, including `me`, not 1",
        ),
        (("blooms", "me", "me", "me"), "not 3"),
        (("blooms", "--seat", "3"), "`--seat` is 3, but the game has 2 seats, expected 1 to 2"),
        (("blooms", "me", "me", "--seat", "1"), "`--seat` is given although the place of `me`"),
        (("blooms", "x=me", "X=me"), "two bots are named"),
        (("blooms", "a+é=me"), "is not a bot name"),
        (("blooms", "./no-such-bot --against=me"), "no program at `./no-such-bot`"),
        (("blooms", "no-such-program"), "the program `no-such-program` is not on the path"),
        (("blooms", "--hint", "no-such-program"), "the program `no-such-program` is not on the path"),
        (("blooms", "--time", "soon"), "`soon` is not a time control"),
    ],
)
def test_wrong_usage_is_one_line(words: tuple[str, ...], message: str) -> None:
    done = referee("play", *words)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1, done.err


@pytest.mark.slow
def test_a_game_that_is_left_is_not_recorded(tmp_path: Path) -> None:
    done = typed("L:A1", "blooms", "me", "bob=me", "-o", str(tmp_path / "run"))
    assert done.code == 0 and "the game is unfinished and is not recorded" in done.err
    assert "seat 2 bob> " not in done.out and records(tmp_path / "run") == []
    again = typed("resign\n", "blooms", "me", "bob=me", "-o", str(tmp_path / "run"))
    assert again.code == 0 and "recorded as 1:me:bob" in again.err, again.err
    assert referee("verify", str(tmp_path / "run")).code == 0


@pytest.mark.slow
def test_what_is_typed_is_shown_escaped_and_bounded(tmp_path: Path) -> None:
    done = typed("\x1b[31mL:A1\n" + "x" * 200_000 + "\n\xff\nquit\n", "blooms", "me", "me")
    assert done.code == 0 and r"\x1b[31mL:A1" in done.out
    assert len(done.out) < 10_000 and "the line has more than 500 characters" in done.out


@pytest.mark.slow
def test_a_hint_bot_is_told_what_the_seat_knows_and_no_more(tmp_path: Path) -> None:
    bot = tmp_path / "telling.py"
    bot.write_text(
        "from referee.protocol.bot import play\n"
        "def choose(game):\n"
        "    game.info(f'seat {game.seat}: {[line for line in game.news if \"runes\" in line]}')\n"
        "    return '-'\n"
        "play(choose)\n"
    )
    words = ("floral", "me", "bob=me", "--hint", f"{{python}} {bot}", "--isolation", "none")
    done = typed("hint\n-\nhint\nquit\n", *words)
    hints = [line for line in done.out.splitlines() if line.startswith("hint: ")]
    assert len(hints) == 2, done.out
    assert "seat 1: ['runes 1 A" in hints[0] and "runes 2" not in hints[0]
    assert "seat 2: ['runes 2 S" in hints[1] and "runes 1" not in hints[1]


@pytest.mark.slow
def test_a_person_whose_time_is_up_loses_or_gets_the_default(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        done = typed("", "blooms", *SMALL, PLAIN, "--time", "200ms", "-o", str(tmp_path / "a"), stdin=reading)
        assert "plain_bot won: me ran out of time" in done.out
        words = ("floral", "me", "bob=me", "--option", "max_turns=1", "--time", "200ms")
        done = typed("", *words, "-o", str(tmp_path / "b"), stdin=reading)
        assert "a draw" in done.out, done.out
    finally:
        os.close(reading)
        os.close(writing)
    for name in "ab":
        assert referee("verify", str(tmp_path / name)).code == 0
    assert [event["default"] for event in records(tmp_path / "b")[0]["events"] if "default" in event]


@pytest.mark.slow
def test_a_bot_that_thinks_at_the_same_time_is_heard_while_a_person_is_waited_for(tmp_path: Path) -> None:
    """It asks for the legal moves, which it could not wait for until the person has moved."""
    reading, writing = os.pipe()
    try:
        words = ("floral", RANDOM, "--option", "max_turns=1", "--time", "1500ms", "--isolation", "none")
        done = typed("", *words, "-o", str(tmp_path / "run"), stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert done.code == 0, done.err
    moves = [event for event in records(tmp_path / "run")[0]["events"] if event.get("seat") == 2]
    assert moves and all("move" in event for event in moves), "the bot's own moves, in time"
    assert referee("verify", str(tmp_path / "run")).code == 0
