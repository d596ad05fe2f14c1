"""Openings in real runs: bots that play the same game again and again no longer do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.records import journal
from tests.catalogue import row
from tests.command import GREEDY, HERE, ROOT, in_python, referee, sh
from tests.processes.runs import games, lines_of

FIRST = in_python(ROOT / "tests" / "bots" / "first_bot.py", "-I", "-S")
"""Plays the first legal move, so that two of them always play the same game."""

RESIGNS = sh(row.RESIGNS)

SMALL = "[options]\nsize = 3\ntarget = 4\n"


def toml(folder: Path, tournament: str, bot: str = RESIGNS, more: str = SMALL, workers: int = 0) -> Path:
    """A tournament file of two bots; `tournament` has further keys."""
    file = folder / "t.toml"
    text = f'[tournament]\ngame = "blooms"\nclock = "20s"\nworkers = {workers}\n{tournament}\n{more}'
    for name, command in {"one": bot, "two": bot}.items():
        text += f"[[bot]]\nname = {json.dumps(name)}\ncmd = {json.dumps(command)}\n"
    file.write_text(text)
    return file


def openings(folder: Path) -> dict[str, list[str]]:
    """By game its opening moves; they are the first events, and seats make them in turn."""
    found = {}
    for name, game in games(folder / "t-results").items():
        opening = [event for event in game["events"] if "opening" in event]
        assert opening == game["events"][: len(opening)]
        assert [event["seat"] for event in opening] == [1 + n % 2 for n in range(len(opening))]
        found[name] = [event["opening"] for event in opening]
    return found


def moves(folder: Path) -> list[str]:
    """All that happened in each game of one seating, as text."""
    played = games(folder / "t-results")
    return [json.dumps(game["events"]) for name, game in played.items() if name.endswith(":one:two")]


def rewrite(folder: Path, lines: list[dict[str, Any]]) -> None:
    """Writes the records anew, with a right chain."""
    (folder / journal.NAME).unlink()
    written = journal.Journal.create(folder)
    for line in lines:
        written.append({name: what for name, what in line.items() if name not in ("prev", "hash")})
    written.close()


@pytest.mark.slow
def test_bots_that_always_play_the_same_play_different_games(tmp_path: Path) -> None:
    without, drawn = tmp_path / "without", tmp_path / "drawn"
    for folder, key in ((without, ""), (drawn, 'openings = { plies = 4 }\nrepeats = "count"')):
        folder.mkdir()
        file = toml(folder, f'rounds = 3\nseed = "s"\n{key}', FIRST, workers=1)
        assert referee("run", str(file)).code == 0
    assert len(set(moves(without))) == 1, "without openings it is one game, three times"
    assert len(set(moves(drawn))) == 3
    begun = openings(drawn)
    for number in range(1, 4):
        assert begun[f"{number}:one:two"] == begun[f"{number}:two:one"]
    assert len(begun) == 6 and {len(line) for line in begun.values()} == {4}

    results = drawn / "t-results"
    header = lines_of(results)[0]
    assert header["openings"] == {"plies": 4} and header["repeats"] == "count"
    done = referee("verify", str(results))
    assert done.code == 0 and "6 games verified" in done.out
    shown = referee("replay", str(results), "1:one:two").out
    assert f"1. seat 1 one: {begun['1:one:two'][0]}, an opening move made by the referee" in shown


def test_a_tampered_opening_is_found(tmp_path: Path) -> None:
    """It is a legal game with a right chain: only the seed tells."""
    assert referee("run", str(toml(tmp_path, 'rounds = 1\nseed = "s"\nopenings = { plies = 1 }'))).code == 0
    results = tmp_path / "t-results"
    lines = lines_of(results)
    opening = lines[1]["events"][0]
    was = opening["opening"]
    opening["opening"] = ("D" if was[0] == "L" else "L") + was[1:]
    rewrite(results, lines)
    done = referee("verify", str(results))
    assert done.code == 6 and "line 2 (game 1:one:two): its opening moves are `" in done.err
    assert f"`{opening['opening']}`, but according to the first line they are `{was}`" in done.err


def test_a_stopped_run_continues_with_the_same_openings(tmp_path: Path) -> None:
    """Also in a pair of which one game was played, under a seed that was never revealed."""
    file = toml(tmp_path, "rounds = 2\nopenings = { plies = 4 }")
    assert referee("run", str(file)).code == 0
    results = tmp_path / "t-results"
    before = openings(tmp_path)
    rewrite(results, lines_of(results)[:4])  # the header, round 1, and half of round 2
    assert referee("run", str(file)).code == 0
    assert openings(tmp_path) == before
    assert referee("verify", str(results)).code == 0


@pytest.mark.slow
def test_lines_of_a_file(tmp_path: Path) -> None:
    text = "# for the test\nL:C3; L:A1 D:A2\nD:B2\n"
    (tmp_path / "lines.txt").write_text(text)
    key = 'seed = "s"\nopenings = { file = "lines.txt" }'
    assert referee("run", str(toml(tmp_path, f"rounds = 3\n{key}"))).code == 0
    one, other = ["L:C3", "L:A1 D:A2"], ["D:B2"]
    assert [*openings(tmp_path).values()] == [one, one, other, other, one, one]
    results = tmp_path / "t-results"
    (tmp_path / "lines.txt").write_text(text + "L:C1\n")
    assert referee("verify", str(results)).code == 0, "the records have the lines"
    more = toml(tmp_path, f"rounds = 4\n{key}", workers=1)
    done = referee("run", str(more))
    assert done.code == 2 and "`openings` is 3 lines, sequential, of the file with the hash" in done.err
    (tmp_path / "lines.txt").write_text(text)
    assert referee("run", str(more)).code == 0
    assert openings(tmp_path)["4:one:two"] == other


@pytest.mark.parametrize(
    ("game", "key", "message"),
    [
        ("thetree", "openings = { plies = 4 }", "`thetree` deals new hidden information"),
        ("floral", "openings = { plies = 4 }", "`floral` deals new hidden information"),
        ("blooms", 'openings = { file = "no.txt" }', "no.txt`: No such file or directory"),
        ("blooms", 'openings = { file = "bad.txt" }', "bad.txt`, line 2, move 2 `A9`: not a move"),
        ("blooms", "openings = { plis = 4 }", "unknown key `tournament.openings.plis`, expected `plies`"),
        ("blooms", "openings = 4", "`tournament.openings` is `4`, expected a table, such as"),
        ("blooms", 'repeats = "no"', "`tournament.repeats` is `no`, expected one of cluster, count"),
    ],
)
def test_openings_that_will_not_do_are_refused_in_one_line(
    game: str, key: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.txt").write_text("L:A1\nL:A1; A9\n")
    file = toml(tmp_path, key, more="")
    file.write_text(file.read_text().replace('"blooms"', f'"{game}"'))
    done = referee("run", str(file))
    assert done.code == 2 and message in done.err and len(done.err.splitlines()) == 1
    assert not (tmp_path / "t-results" / "games.jsonl").exists()


@pytest.mark.slow
def test_openings_of_a_match(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("L:C3; L:A1 D:A2\n")
    words = ["match", "blooms", f"one={RESIGNS}", f"two={RESIGNS}", "--option", "size=3", *HERE]
    for name, given in (("a", ["plies=2", "seed=x"]), ("b", [f"file={tmp_path}/lines.txt", "order=random"])):
        options = [word for text in given for word in ("--openings", text)]
        done = referee(*words, "-n", "4", "-o", str(tmp_path / name), *options)
        assert done.code == 0, done.err
        assert referee("verify", str(tmp_path / name)).code == 0
        opened = [
            [e["opening"] for e in game["events"] if "opening" in e]
            for game in games(tmp_path / name).values()
        ]
        assert opened[0] == opened[1] and {len(line) for line in opened} == {2}
        assert (len({*map(tuple, opened)}) == 2) == (name == "a")
    done = referee(*words, "--openings", "plies=x")
    assert done.code == 2 and "`--openings.plies` is `x`, expected a number" in done.err
    done = referee(*words, "--openings", "4")
    assert done.code == 2 and "openings `4` has no value, expected K=V" in done.err


@pytest.mark.slow
def test_each_game_of_a_tournament_may_have_openings_of_its_own(tmp_path: Path) -> None:
    more = """[[game]]
name = "drawn"
game = "blooms"
options = { size = 3 }
openings = { plies = 3 }
[[game]]
name = "usual"
game = "blooms"
options = { size = 3 }
[[game]]
game = "floral"
"""
    file = toml(tmp_path, "", more=more)
    file.write_text(file.read_text().replace('game = "blooms"\n', "", 1).replace('clock = "20s"\n', ""))
    done = referee("run", str(file))
    assert done.code == 0, done.err
    lengths = {name: len(line) for name, line in openings(tmp_path).items() if name.endswith(":one:two")}
    assert lengths == {"drawn/1:one:two": 3, "usual/1:one:two": 0, "floral/1:one:two": 0}
    assert referee("verify", str(tmp_path / "t-results")).code == 0
    file.write_text(file.read_text().replace("[tournament]", "[tournament]\nopenings = { plies = 2 }"))
    done = referee("run", str(file))
    assert done.code == 2 and "`floral` deals new hidden information" in done.err


VINE = in_python(ROOT / "sample_bots" / "vine_bot.py")
EVEN = in_python(ROOT / "sample_bots" / "even_bot.py")
SEARCH = f"{in_python(ROOT / 'sample_bots' / 'search_bot.py')} --playouts 4"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "options", "one", "other"),
    [
        ("blooms", ["size=3", "target=5"], GREEDY, SEARCH),
        ("vinetree", ["size=5"], VINE, SEARCH),
        ("evengroups", ["size=3"], EVEN, SEARCH),
    ],
)
def test_the_sample_bots_play_on_from_an_opening(game: str, options: list[str], one: str, other: str) -> None:
    """They know the position from the news, so none of their moves is rejected; each goes on first once."""
    given = [word for option in options for word in ("--option", option)]
    words = ["--openings", "plies=3", "--strict", "--time", "20s", *HERE]
    done = referee("match", game, f"one={one}", f"two={other}", "-n", "2", *given, *words)
    assert done.code == 0 and "rejected" not in done.err, done.err


@pytest.mark.slow
def test_bots_in_other_languages_play_on_from_an_opening(c_bot: str, js_bot: str) -> None:
    words = ["--openings", "plies=4", "--strict", "--time", "20s", "-n", "2", *HERE]
    done = referee("match", "blooms", c_bot, js_bot, *words)
    assert done.code == 0 and "rejected" not in done.err, done.err
