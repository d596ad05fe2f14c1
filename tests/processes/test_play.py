"""Every game as people use it: matches, tournaments, replay and verification, through the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from referee.check.rules import random_game
from referee.core.rng import Stream
from referee.core.timecontrol import TimeControl
from referee.gameplay.events import Ending
from referee.gameplay.loop import play
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.ratings.table import alone, rendered, tally
from referee.records.record import Summary
from tests.command import BAD, RANDOM, referee
from tests.processes.test_tournament import games, toml
from tests.unit.scripted import Events, ScriptedWire, puppet

SEATS: list[tuple[str, dict[str, str], int]] = [(slug, {}, 2) for slug in GAMES if slug != "thetree"]
SEATS += [("thetree", {"players": str(seats)}, seats) for seats in (1, 2, 3, 4)]
IDS = [f"{slug} {seats}" for slug, _, seats in SEATS]


@pytest.mark.parametrize(("slug", "given", "seats"), SEATS, ids=IDS)
def test_a_match_a_replay_and_a_verification(
    slug: str, given: dict[str, str], seats: int, tmp_path: Path
) -> None:
    folder = str(tmp_path / "run")
    bots = [f"{name}={RANDOM}" for name in "abcd"[:seats]]
    options = [word for name, value in given.items() for word in ("--option", f"{name}={value}")]
    match = referee(
        "match", slug, *bots, *options, "-n", str(2 * seats), "--time", "5s", "-o", folder, "--strict"
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


@pytest.mark.parametrize("players", [1, 3, 4])
def test_a_tournament_of_tables_of_other_sizes_than_two(players: int, tmp_path: Path) -> None:
    bots = dict.fromkeys(("a", "b", "c", "d"), RANDOM)
    options = f"players = {players}"
    file = toml(tmp_path / "t.toml", bots, options, game="thetree", rounds=2, workers=1, clock="5s")
    done = referee("run", str(file))
    assert done.code == 0, done.err
    found = games(tmp_path / "t-results")
    assert len(found) == {1: 8, 3: 24, 4: 8}[players]
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    assert ("Elo" in done.out) == (players > 1) and ("mean left" in done.out) == (players == 1)
    for form, mark in (("csv", "bot,"), ("json", '"bot": "a"')):
        assert mark in referee("table", str(tmp_path / "t-results"), "--format", form).out
    if players == 1:
        for number in ("1", "2"):  # all bots of a round play the same deal, of another one another
            deals = {g["events"][0]["chance"] for name, g in found.items() if name.startswith(f"{number}:")}
            assert len(deals) == 1
        assert len({game["events"][0]["chance"] for game in found.values()}) == 2


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
from protocol.bot import play
def choose(game):
    game.log("my hand is secret " + str(game.seat))
    print("my thoughts too", game.seat, file=sys.stderr)
    moves = game.legal(5)
    return None if game.seat == 2 and len(game.news) > 14 else moves[0]
play(choose)
"""


def test_a_seat_s_replay_shows_nothing_that_it_did_not_know(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text(CHATTY)
    bots = [f"{name}={{python}} {tmp_path / 'chatty.py'}" for name in "abc"]
    folder = str(tmp_path / "run")
    options = ("--option", "players=3", "--seed", "3", "--time", "20s", "-n", "1", "-o", folder)
    assert referee("match", "thetree", *bots, *options).code == 0
    for seat in (1, 2, 3):
        view = referee("replay", folder, "1", "--seat", str(seat)).out
        for other in {1, 2, 3} - {seat}:
            assert f"secret {other}" not in view and f"too {other}" not in view
            assert not re.search(rf"^\d+\. seat {other} ", view, re.MULTILINE)
        assert f"secret {seat}" in view
        told = re.findall(r"told: (.*)", view)
        if seat == 2:  # it resigned, and heard no more
            assert view.index("seat 2 b resigned") > view.rindex("told: ")
        else:
            assert any(line.startswith("out 2") for line in told)


def test_a_seat_that_leaves_when_the_others_cannot_move_does_not_end_the_game_by_that(tmp_path: Path) -> None:
    """The rules end it: the deal is blocked among those who stay."""
    game = GAMES["thetree"]
    options = game.settle({"players": "3", "deals": "1"})
    for seed in range(2000):
        states = list(random_game(game, options, f"blocked {seed}"))
        found = [
            n
            for n, state in enumerate(states[1:-1], 1)
            if "finished" not in " ".join(state.seen(None)) and state.drop(state.to_act()).outcome()
        ]
        if found:
            break
    deal = states[0].draw(Stream(f"blocked {seed}".encode()))
    at = found[0]
    moves = [line.split()[1:] for line in states[at].seen(None) if line.startswith("move")]
    leaving = states[at].to_act()[0]
    answers = [[text for seat, text in moves if int(seat) == number + 1] for number in range(3)]
    answers[leaving].append("resign {n}")
    names, control = ("a", "b", "c"), TimeControl.parse("1s")
    terms = Terms("1:a:b:c", game, options, names, (control,) * 3, b"seed")
    verdict = play(terms, ScriptedWire(*(puppet(*a) for a in answers)), lambda state: deal, Events())
    assert verdict.ending is Ending.RULES and "is blocked" in verdict.outcome.sentence
    assert verdict.outcome.ranks[leaving] == 3 and sorted(verdict.outcome.ranks) == [1, 1, 3]


def test_a_forged_deal_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    made = referee("match", "thetree", f"a={RANDOM}", f"b={RANDOM}", "-n", "1", "-o", str(folder))
    assert made.code == 0
    path = folder / "games.jsonl"
    text = path.read_text()
    record = json.loads(text.splitlines()[1])
    deal = record["events"][0]["chance"].split(" ")
    deal[-1], deal[-2] = deal[-2], deal[-1]  # the last tiles of the supply, which hardly anybody draws
    path.write_text(text.replace(record["events"][0]["chance"], " ".join(deal)))
    done = referee("verify", str(folder))
    assert done.code == 6 and "chance" in done.err


def test_a_bot_that_never_starts_is_out_and_the_others_play_on(tmp_path: Path) -> None:
    bots = {"a": RANDOM, "b": RANDOM, "bad": f"{BAD} 'crashes at the start'"}
    file = toml(tmp_path / "t.toml", bots, "players = 3", game="thetree", rounds=3, workers=0)
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


def summary(bots: str, ranks: tuple[int, ...], scores: tuple[int, ...], number: int = 1) -> Summary:
    names = tuple(bots)
    return Summary(
        ":".join((str(number), *names)),
        1,
        "thetree",
        names,
        ranks,
        scores,
        "rules",
        "",
        True,
        ("",) * len(names),
    )


def test_points_are_the_share_of_the_others_that_were_beaten() -> None:
    results = [summary("abcd", (1, 2, 2, 4), (0, 3, 3, 9))]
    assert [tally(name, results).points for name in "abcd"] == [1, 0.5, 0.5, 0]
    results.append(summary("bcda", (1, 1, 3, 4), (2, 2, 5, 6), 2))
    assert tally("b", results).points == 0.5 + 2.5 / 3
    assert tally("b", results).counts == [1, 1, 0]
    table = rendered("abcd", results, "simple", 4)
    assert "first" in table and "behind" in table and "41.7 %" not in table
    assert "66.7 %" in table  # b: 4/3 of 2


def test_bots_that_play_alone_are_ranked_by_wins_and_then_by_what_is_left() -> None:
    results = []
    for number, (a, b, c) in enumerate([(0, 4, 3), (5, 0, 2), (9, 0, 0)], 1):
        for name, left in zip("abc", (a, b, c), strict=True):
            results.append(summary(name, (1,) if left == 0 else (2,), (left,), number))
    rows = alone("abc", results)
    assert [(row.bot, row.wins, round(row.left, 2)) for row in rows] == [
        ("b", 2, 1.33),
        ("c", 1, 1.67),
        ("a", 1, 4.67),
    ]
    text = rendered("abc", results, "simple", 1)
    assert "Elo" not in text and text.index(" b ") < text.index(" c ") < text.index(" a ")
    values: dict[str, Any] = json.loads(rendered("abc", results, "json", 1))
    assert values["standings"][0]["share"] == pytest.approx(2 / 3)
    assert rendered("abc", results, "csv", 1).splitlines()[1].startswith("1,b,3,2,0.6667,1.3333")
