"""`referee analyse`: its text, its data, advisers that hang, die or lie, and what is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import referee as referee_api
from referee.records.run_files import ANALYSIS
from tests.command import PLAIN, referee

ADVISER = """
from referee.protocol.bot import play

def choose(game):
    game.info({said})
    {does}
    return game.legal(1)[0]

play(choose)
"""


def adviser(folder: Path, said: str, does: str = "pass") -> str:
    """The command of an adviser."""
    path = folder / "adviser.py"
    path.write_text(ADVISER.format(said=said, does=does))
    return f"{{python}} {path}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of two games."""
    bots = (f"a={PLAIN}", f"b={PLAIN}")
    options = ("--option", "size=3", "--option", "target=1", "-n", "2", "--seed", "s")
    done = referee("match", "blooms", *bots, *options, "-o", str(tmp_path / "run"))
    assert done.code == 0, done.err
    return tmp_path / "run"


def test_games_are_analysed_and_printed(folder: Path, tmp_path: Path) -> None:
    command = ("analyse", str(folder), "--proof", "300", "--by", adviser(tmp_path, "'value 0.5'"))
    done = referee(*command, "1")
    assert done.code == 0, done.err
    first, proved, *_ = done.out.splitlines()
    assert first.startswith("1:a:b: ") and " wins with best play" in proved
    done = referee(*command, "--workers", "2")
    assert done.code == 0 and done.out.startswith("2 games analysed; of ") and not done.err.strip()
    assert (
        "chances, estimated by adviser.py: none, since the rules ended 2 different games, expected 30"
        in done.out
    )
    before = (folder / ANALYSIS).read_bytes()
    (one, other) = json.loads(referee(*command, "--json").out)
    assert one["id"] == "1:a:b" and one["steps"][-1]["proof"] in (1, -1) and other["bots"] == ["b", "a"]
    assert (folder / ANALYSIS).read_bytes() == before, "nothing is computed again"
    assert referee("verify", str(folder)).code == 0
    analysis = referee_api.open(folder)[0].analysis
    assert analysis and {step.score for step in analysis.steps[:-1]} == {0.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "does", "told"),
    [
        ("'value 7'", "pass", "` said what cannot be used "),
        ("'nothing'", "pass", "` said no `value` and no `score` of any position"),
        ("'value 1'", "return 'L:Z9'", "` made an illegal move: there is no cell Z9"),
        ("'value 1'", "raise SystemExit(3)", "` crashed: exited with status 3"),
    ],
)
def test_an_adviser_that_lies_or_dies_is_told_in_a_line(
    folder: Path, tmp_path: Path, said: str, does: str, told: str
) -> None:
    done = referee("analyse", str(folder), "--by", adviser(tmp_path, said, does), "--workers", "0")
    first, *more = done.err.splitlines()
    assert f"the adviser `adviser.py{told}" in first
    if does == "pass":
        assert done.code == 0 and done.out.startswith("2 games analysed; of ") and not more
        assert len((folder / ANALYSIS).read_text().splitlines()) == 2
    else:
        assert done.code == 2 and first.startswith("game 1:a:b is not analysed: ")
        assert more[-1].startswith("referee: the adviser `adviser.py` failed in 2 games, expected a move")
        assert not (folder / ANALYSIS).exists()


@pytest.mark.slow
def test_wrong_usage_is_one_line(folder: Path, tmp_path: Path) -> None:
    done = referee("analyse", str(folder), "9")
    assert done.code == 2 and "there is no game `9`" in done.err
    done = referee("analyse", str(folder), "--by", "./nothing-here")
    assert done.code == 2 and len(done.err.splitlines()) == 1
    bots = (f"a={PLAIN}", f"b={PLAIN}")
    even = tmp_path / "even"
    done = referee("match", "evengroups", *bots, "--option", "size=2", "-n", "1", "-o", str(even))
    assert done.code == 0, done.err
    done = referee("analyse", str(even), "--by", "@search")
    assert done.code == 2 and "estimates say too little" in done.err
