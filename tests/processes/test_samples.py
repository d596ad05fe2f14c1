"""The sample bots, in real matches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import GREEDY, PLAIN, RANDOM, ROOT, referee
from tests.processes.runs import games


@pytest.mark.slow
@pytest.mark.parametrize("other", ["c_bot", "js_bot"])
def test_a_hundred_games_across_languages_without_a_fault(
    other: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    program = request.getfixturevalue(other)
    folder = tmp_path / "run"
    done = referee("match", "blooms", f"other={program}", PLAIN, "-n", "100", "-o", str(folder), "--strict")
    assert done.code == 0, done.err
    assert referee("verify", str(folder)).code == 0
    picture = referee("replay", str(folder), "50").out
    assert "A        " in picture and "seat 1: " in picture
    assert referee("match", "blooms", f"other={program}", PLAIN, "-o", str(folder)).code == 2


@pytest.mark.slow
@pytest.mark.parametrize("size", ["3", pytest.param("8", marks=pytest.mark.slow)])
def test_every_bot_plays_on_every_board(size: str, c_bot: str, js_bot: str) -> None:
    for one, other in ((RANDOM, PLAIN), (GREEDY, c_bot), (js_bot, RANDOM)):
        words = ["--option", f"size={size}", "--option", "target=6", "--strict", "--time", "20s"]
        done = referee("match", "blooms", one, other, *words)
        assert done.code == 0, done.err


@pytest.mark.slow
def test_the_same_seed_plays_the_same_games(tmp_path: Path, c_bot: str, js_bot: str) -> None:
    for one, other in ((GREEDY, RANDOM), (c_bot, js_bot), (PLAIN, PLAIN)):
        runs = []
        for number, seed in enumerate(("7", "7", "8")):
            folder = tmp_path / f"{len(list(tmp_path.iterdir()))}-{number}"
            done = referee("match", "blooms", one, other, "--seed", seed, "-o", str(folder), "-n", "4")
            assert done.code == 0
            runs.append([*games(folder).values()])
        assert runs[0] == runs[1]
        assert [game["events"] for game in runs[0]] != [game["events"] for game in runs[2]]


TOURNAMENTS = sorted(path.stem for path in (ROOT / "tournaments").glob("*.toml"))
QUICK = "thetree-alone"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == QUICK else pytest.mark.slow) for name in TOURNAMENTS],
)
def test_every_tournament_is_played_without_a_fault(name: str, tmp_path: Path) -> None:
    (tmp_path / "tournaments").mkdir()
    (tmp_path / "sample_bots").symlink_to(ROOT / "sample_bots")
    file = tmp_path / "tournaments" / f"{name}.toml"
    text = (ROOT / "tournaments" / f"{name}.toml").read_text()
    text = re.sub(r"^rounds = .*", "rounds = 1", text, flags=re.MULTILINE)
    text = re.sub(r"--playouts \d+", "--playouts 8", text)
    file.write_text(re.sub(r"^clock = .*", 'clock = "1m"', text, flags=re.MULTILINE))
    done = referee("run", str(file))
    assert done.code == 0, done.err
    assert re.search(r"Elo ± 95 %|mean left|Buchholz", done.out)
    folder = tmp_path / "tournaments" / f"{name}-results"
    assert not any(any(game["faults"]) for game in games(folder).values())
    assert referee("verify", str(folder)).code == 0


@pytest.mark.slow
def test_a_match_of_greedy_against_random_stops_as_soon_as_the_test_is_decided(tmp_path: Path) -> None:
    words = ["match", "blooms", f"greedy={GREEDY}", f"random={RANDOM}", "--option", "size=3", "--seed", "1"]
    words += ["--sprt", "0,200", "-o", str(tmp_path), "--workers", "2"]
    done = referee(*words)
    assert done.code == 0, done.err
    assert "the stopping rule has decided: H1 accepted: `greedy` − `random` is +200 Elo, LLR +" in done.err
    assert 8 <= len(games(tmp_path)) <= 40 and "of at most 20000 games, head hash" in done.err
    assert re.search(r"^ *1 +greedy ", done.out, re.MULTILINE)
    assert referee("verify", str(tmp_path)).code == 0
    again = referee(*words)
    assert again.code == 0 and again.out == done.out, "the same is decided, and nothing more is played"
