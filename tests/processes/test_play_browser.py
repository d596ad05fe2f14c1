"""`referee play --browser`: whole games on pages, and what their links give to whom."""

from __future__ import annotations

import json
import re
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from referee.core.seeds import Stream
from referee.games.api import State
from referee.records.record import GameRecord, from_json
from referee.records.replay import replay
from tests.command import RANDOM, ROOT, referee
from tests.processes.browser_play import BrowserGame, Page, browser_game
from tests.processes.test_persons import records, typed
from tests.waiting import TOO_LONG_S

pytestmark = pytest.mark.slow

SMALL = {
    "blooms": ("size=3", "target=3"),
    "vinetree": ("size=5",),
    "evengroups": ("size=3",),
    "floral": ("max_turns=8",),
    "thetree": ("deals=1",),
}


def clicked(page: Page, rng: Stream) -> str:
    """A random legal move, clicked part by part."""
    parts: list[str] = []
    while True:
        found = page.act({"click": parts})
        assert found["parts"] == parts
        choices = len(found["next"]) + len(found["moves"])
        assert choices, found
        number = rng.below(choices)
        if number >= len(found["next"]):
            move: str = found["moves"][number - len(found["next"])]
            return move
        parts = [*parts, found["next"][number]]


def play_on(page: Page, rng: Stream) -> None:
    """Plays random moves for a person until the game is over."""
    page.open()
    while not page.until(lambda view: view["over"] or view["asked"])["over"]:
        began_at = page.view["at"]
        assert page.line(clicked(page, rng)) == ""
        page.until_after(began_at)


def play_all(game: BrowserGame) -> None:
    """Plays random moves for all persons at the same time, while somebody watches."""
    failures: list[BaseException] = []

    def play_one(page: Page, number: int) -> None:
        try:
            play_on(page, Stream(b"%d" % number))
        except BaseException as failure:
            failures.append(failure)
            game.process.kill()

    pages = game.persons
    threads = [threading.Thread(target=play_one, args=[page, number]) for number, page in enumerate(pages)]
    game.watching.open()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure
    game.watching.until(lambda view: view["over"])


@pytest.mark.parametrize("slug", SMALL)
def test_a_game_against_a_bot_ends_in_a_record_and_a_replay(slug: str, tmp_path: Path) -> None:
    options = [word for option in SMALL[slug] for word in ("--option", option)]
    words = (slug, "me", f"b={RANDOM}", *options, "--isolation", "none", "-o", str(tmp_path / "run"))
    with browser_game(*words) as game:
        play_all(game)
        (page,) = game.persons
        assert page.view["result"] and page.view["replay"] == f"{page.path}/replay"
        for either in (page, game.watching):
            status, replay = either.request("GET", "/replay")
            assert status == 200 and b"</html>" in replay
        code, out, err = game.ended()
    assert code == 0 and out.endswith(f"{page.view['result']}\n") and "recorded as 1:me:b" in err
    assert referee("verify", str(tmp_path / "run")).code == 0


SECRET = {
    "floral": re.compile(r"\b([BDEFGSTUVYZ])(?:: | )?([0-7])\b"),
    "thetree": re.compile(r"\b([0-7])-([0-7])\b"),
}
"""How runes and tiles are written. Other letters of runes are also those of flowers."""


def secrets_in(slug: str, text: str) -> set[str]:
    """The values of runes, or the tiles, that are in a text."""
    pairs = SECRET[slug].findall(text)
    return {"".join(sorted(pair) if slug == "thetree" else pair) for pair in pairs}


def told(record: GameRecord, seat: int) -> set[str]:
    """Those that a seat was told of until the end of a game."""
    states: list[State[Any]] = []
    replay(record, lambda event, state: states.append(state))
    return secrets_in(record.terms.game.slug, "\n".join(states[-1].seen(seat)))


def sent(page: Page) -> str:
    """All texts that a page was sent before the game was over: those in drawings too, and parts of moves."""
    before_the_end = [
        {**one, "notation": "its example is a tile"} for one in page.sent if not one.get("over")
    ]
    texts = json.dumps(before_the_end)
    parts = re.findall(r'data-part=."([^"]*)."', texts)
    return " ".join([re.sub(r"<[^>]*>", " ", texts), *parts])


@pytest.mark.parametrize(
    "players",
    [
        ("floral", "anna=me", "bob=me", "--option", "max_turns=20"),
        ("thetree", "anna=me", "bob=me", "--option", "deals=2"),
        ("thetree", "anna=me", f"b={RANDOM}", "bob=me", "--option", "deals=2"),
        ("thetree", f"a={RANDOM}", "anna=me", f"b={RANDOM}", "bob=me", "--option", "deals=2"),
    ],
)
def test_no_page_has_what_only_another_seat_knows(players: tuple[str, ...], tmp_path: Path) -> None:
    seats = sum(not word.startswith("-") and "=" in word for word in players[1:]) - ("--option" in players)
    option = ["--option", f"players={seats}"] if players[0] == "thetree" else []
    with browser_game(*players, *option, "--isolation", "none", "-o", str(tmp_path)) as game:
        play_all(game)
        assert game.ended()[0] == 0
    record = played(tmp_path)
    slug = record.terms.game.slug
    names = record.terms.bots
    for name, page in game.pages.items():
        found = secrets_in(slug, sent(page))
        if name == "to watch":
            assert found <= set.intersection(*(told(record, seat) for seat in range(len(names))))
        else:
            own = told(record, names.index(name.split()[-1]))
            assert found <= own and len(own - found) < 4, "only the last ones come with the end"


def played(folder: Path) -> GameRecord:
    """The one game in a folder, which verifies."""
    assert referee("verify", str(folder)).code == 0
    (value,) = records(folder)
    return from_json(value)


def test_persons_who_move_at_once_are_asked_at_once(tmp_path: Path) -> None:
    words = ("floral", "anna=me", "bob=me", "--time", "1h", "--option", "max_turns=1", "-o", str(tmp_path))
    with browser_game(*words) as game:
        anna, bob = game.persons
        for page in (anna, bob):
            page.open()
        for page in (anna, bob):
            page.until(lambda view: view["asked"])
        assert bob.line("-") == ""
        assert bob.until(lambda view: not view["asked"])["turn"] == [1], "the other one still thinks"
        assert bob.line("-") == "it is not your turn"
        assert anna.line("-") == ""
        for page in (anna, bob):
            page.until(lambda view: view["asked"])
        assert anna.line("resign") == bob.line("resign") == ""
        for page in (anna, bob):
            page.until(lambda view: view["over"])
        assert game.ended()[0] == 0
    played(tmp_path)


def test_moves_are_taken_back_where_the_other_person_agrees(tmp_path: Path) -> None:
    words = ("blooms", "anna=me", "bob=me", "--option", "size=3", "-o", str(tmp_path))
    with browser_game(*words) as game:
        anna, bob = game.persons
        for page in (anna, bob):
            page.open()
        for moves, move in enumerate(("L:A1", "D:B1", "L:C1")):
            page = (anna, bob)[moves % 2]
            page.until_asked(moves)
            assert page.line(move) == ""
        assert bob.until_asked(3)["back"] == 3
        assert bob.line("back 1") == ""
        assert "take back 1 move" in anna.until(lambda view: view["question"])["question"]
        assert anna.line("no") == ""
        bob.until(lambda view: "seat 1 anna does not agree" in view["news"])
        assert not any("agree" in line for line in anna.until(lambda view: not view["question"])["news"])
        for asking, other, moves in ((bob, anna, 2), (anna, bob, 1)):
            assert asking.line("back 1") == ""
            other.until(lambda view: view["question"])
            assert other.line("yes") == ""
            other.until_asked(moves)
        assert anna.line("x") == "it is not your turn" and bob.line("resign") == ""
        for page in (anna, bob):
            page.until(lambda view: view["over"])
        assert game.ended()[0] == 0
    assert [event.get("move") for event in records(tmp_path)[0]["events"]][:1] == ["L:A1"]
    assert played(tmp_path).measured["taken_back"] == 2


def test_who_comes_back_by_the_link_goes_on(tmp_path: Path) -> None:
    words = ("blooms", "me", f"b={RANDOM}", "--option", "size=3", "--isolation", "none")
    with browser_game(*words, left_s=TOO_LONG_S) as game:
        (page,) = game.persons
        page.open()
        page.until(lambda view: view["asked"])
        assert page.line("L:A1") == ""
        page.until_asked(2)
        log = page.view["log"]
        page.close()
        page.open()
        assert page.until(lambda view: True)["log"] == log and page.view["asked"] and page.view["from"] == 0
        assert page.line("resign") == ""
        page.until(lambda view: view["over"])
        game.until_said("this command ends when")
        page.close()
        page.open()
        assert page.until(lambda view: True)["over"], "it waits for some time before it ends"
        game.process.send_signal(signal.SIGINT)
        code, out, err = game.ended()
    assert code == 0 and out.endswith("b won: me resigned\n"), "the game was over"
    assert "SIGINT" not in err


@pytest.mark.parametrize("begins", [False, True])
def test_an_interrupted_game_is_not_recorded_and_leaves_its_folder_in_order(
    begins: bool, tmp_path: Path
) -> None:
    folder = str(tmp_path / "run")
    words = ("blooms", "me", f"b={RANDOM}", "--option", "size=3", "--isolation", "none", "-o", folder)
    with browser_game(*words) as game:
        (page,) = game.persons
        game.watching.open()
        game.watching.until(lambda view: view["waiting"] == "waiting for me")
        if begins:
            page.open()
            page.until(lambda view: view["asked"])
            assert page.line("L:A1") == ""
        game.process.send_signal(signal.SIGINT)
        code, _, err = game.ended()
    assert code == 3 and err.endswith("referee: stopped by SIGINT\n")
    assert records(tmp_path / "run") == []
    assert typed("resign\n", *words).code == 0 and referee("verify", folder).code == 0


def test_a_game_from_outside_is_clicked_too() -> None:
    game_file = f"{ROOT / 'tests' / 'outside' / 'connect_four.py'}:GAME"
    with browser_game(game_file, "anna=me", "bob=me") as game:
        play_all(game)
        assert len({page.view["result"] for page in game.pages.values()}) == 1
        assert game.ended()[0] == 0


def test_wrong_usage_is_one_line() -> None:
    done = referee("play", "blooms", "--port", "8000")
    assert done.code == 2 and "`--port` is given without `--browser`" in done.err
    done = referee("play", "blooms", "--browser", "--host", "no.such.host.example")
    assert done.code == 2 and "cannot listen on no.such.host.example:0" in done.err
    assert done.err.count("\n") == 1
