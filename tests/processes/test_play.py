"""Every game as people use it: matches, tournaments, replay and verification, through the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.games import GAMES
from tests.command import BAD, HERE, PLAIN, RANDOM, referee
from tests.processes.runs import games, toml

SEATS: list[tuple[str, dict[str, str], int]] = [
    ("blooms", {}, 2),
    ("floral", {"max_turns": "20"}, 2),
    *(("thetree", {"players": str(seats)}, seats) for seats in (1, 3)),
]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("slug", "given", "seats"),
    [pytest.param(slug, given, seats, id=f"{slug} {seats}") for slug, given, seats in SEATS],
)
def test_a_match_a_replay_and_a_verification(
    slug: str, given: dict[str, str], seats: int, tmp_path: Path
) -> None:
    folder = str(tmp_path / "run")
    bots = [f"{name}={RANDOM}" for name in "abcd"[:seats]]
    options = [word for name, value in given.items() for word in ("--option", f"{name}={value}")]
    match = referee(
        "match", slug, *bots, *options, "-n", str(2 * seats), "--time", "5s", "-o", folder, "--strict", *HERE
    )
    assert match.code == 0, match.err
    assert all(re.search(rf"^ *(\d+ +)?{name} ", match.out, re.MULTILINE) for name in "abcd"[:seats])
    assert f"{2 * seats} games verified" in referee("verify", folder).out
    everything = referee("replay", folder, "1").out
    assert f"{slug} " in everything.splitlines()[0]
    for seat in range(1, seats + 1):
        view = referee("replay", folder, "1", "--seat", str(seat))
        assert view.code == 0
        if not GAMES[slug].is_open and seats > 1:
            assert "chance:" in everything and "chance:" not in view.out
            record = json.loads((tmp_path / "run" / "games.jsonl").read_text().splitlines()[1])
            others = [line for line in view.out.splitlines() if re.match(r"\d+\. seat ", line)]
            assert all(line.split()[2] == str(seat) or "seat" not in line[:20] for line in others)
            assert len(view.out) < len(everything) or record["events"]
    wrong = referee("replay", folder, "1", "--seat", str(seats + 1))
    assert wrong.code == 2 and f"expected --seat 1 to {seats}" in wrong.err


@pytest.mark.slow
@pytest.mark.parametrize("players", [1, 4])
def test_a_tournament_of_tables_of_other_sizes_than_two(players: int, tmp_path: Path) -> None:
    bots = dict.fromkeys(("a", "b", "c", "d"), RANDOM)
    options = f"players = {players}"
    file = toml(tmp_path / "t.toml", bots, options, game="thetree", rounds=2, workers=1, clock="5s")
    done = referee("run", str(file), "--notes")
    assert done.code == 0, done.err
    found = games(tmp_path / "t-results")
    assert len(found) == {1: 8, 4: 8}[players]
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    assert ("Elo" in done.out) == (players > 1) and ("mean left" in done.out) == (players == 1)
    for form, mark in (("csv", "bot,"), ("json", '"bot": "a"')):
        assert mark in referee("table", str(tmp_path / "t-results"), "--format", form).out
    if players == 1:
        for number in ("1", "2"):  # all bots of a round play the same deal, of another one another
            deals = {g["events"][0]["chance"] for name, g in found.items() if name.startswith(f"{number}:")}
            assert len(deals) == 1
        assert len({game["events"][0]["chance"] for game in found.values()}) == 2


@pytest.mark.slow
def test_conditions_are_shared_by_a_pair_and_mappings_are_not(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", RANDOM), "max_turns = 6", game="floral", rounds=3)
    assert referee("run", str(file)).code == 0
    drawn = [
        [event["chance"] for event in game["events"] if "chance" in event]
        for _, game in sorted(games(tmp_path / "t-results").items())
    ]
    assert len(drawn) == 6
    for one, other in zip(drawn[::2], drawn[1::2], strict=True):
        assert one[0] == other[0] and one[1] != other[1]
    assert len({conditions for conditions, _ in drawn}) == 3


CHATTY = """
import sys
from referee.protocol.bot import play
def choose(game):
    game.log("my hand is secret " + str(game.seat))
    print("my thoughts too", game.seat, file=sys.stderr)
    moves = game.legal(5)
    return None if game.seat == 2 and len(game.news) > 14 else moves[0]
play(choose)
"""


@pytest.mark.slow
def test_a_seat_s_replay_shows_nothing_that_it_did_not_know(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text(CHATTY)
    bots = [f"{name}={{python}} {tmp_path / 'chatty.py'}" for name in "abc"]
    folder = str(tmp_path / "run")
    options = ("--option", "players=3", "--seed", "3", "--time", "20s", "-n", "1", "-o", folder)
    assert referee("match", "thetree", *bots, *options, *HERE).code == 0
    for seat in (1, 2, 3):
        view = referee("replay", folder, "1", "--seat", str(seat)).out
        for other in {1, 2, 3} - {seat}:
            assert f"secret {other}" not in view and f"too {other}" not in view
            assert not re.search(rf"^\d+\. seat {other} ", view, re.MULTILINE)
        assert f"secret {seat}" in view
        told = re.findall(r"news: (.*)", view)
        assert any(line.startswith("out 2") for line in told)


def test_a_forged_deal_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    made = referee("match", "thetree", f"a={RANDOM}", f"b={RANDOM}", "-n", "1", "-o", str(folder), *HERE)
    assert made.code == 0
    path = folder / "games.jsonl"
    text = path.read_text()
    record = json.loads(text.splitlines()[1])
    deal = record["events"][0]["chance"].split(" ")
    deal[-1], deal[-2] = deal[-2], deal[-1]  # the last tiles of the supply, which hardly anybody draws
    path.write_text(text.replace(record["events"][0]["chance"], " ".join(deal)))
    done = referee("verify", str(folder))
    assert done.code == 6 and "chance" in done.err


@pytest.mark.slow
def test_a_bot_that_never_starts_is_out_and_the_others_play_on(tmp_path: Path) -> None:
    bots = {"a": RANDOM, "b": RANDOM, "bad": f"{BAD} 'crashes at the start'"}
    file = toml(tmp_path / "t.toml", bots, "players = 3", game="thetree", rounds=3)
    done = referee("run", str(file))
    assert done.code == 0, done.err
    found = games(tmp_path / "t-results")
    assert len(found) == 9
    for game in found.values():
        bad = game["bots"].index("bad")
        assert game["ranks"][bad] == 3 and game["faults"][bad] == "start"
        assert any("move" in event for event in game["events"])
    assert (tmp_path / "t-results" / "games.jsonl").read_text().count("is not tried again") == 6
    assert referee("verify", str(tmp_path / "t-results")).code == 0


def test_a_match_is_given_its_test(tmp_path: Path) -> None:
    words = ["match", "blooms", f"a={PLAIN}", f"b={PLAIN}", "--option", "size=3", "--time", "5s"]
    more = ["-n", "2", "--sprt", "0,10,0.1,0.05,normalized", *HERE]
    done = referee(*words, *more, "-o", str(tmp_path / "run"))
    assert done.code == 0, done.err
    header = json.loads((tmp_path / "run" / "games.jsonl").read_text().splitlines()[0])
    test = {"elo0": 0, "elo1": 10, "alpha": 0.1, "beta": 0.05, "model": "normalized"}
    assert (header["sprt"], header["budget"]) == (test, 2)
    for wrong in ("0", "10,0", "0,10,2,2"):
        done = referee(*words, "--sprt", wrong, "-o", str(tmp_path / "wrong"))
        assert done.code == 2 and done.err.startswith("referee: `--sprt`: ") and "expected" in done.err
    assert not (tmp_path / "wrong").exists()
