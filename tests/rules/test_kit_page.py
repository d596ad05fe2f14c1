"""The page about the kit: its listings run and print what stands there, and its tables are right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from referee import kit
from referee.encoding import encoding_of
from tests.command import RANDOM, ROOT, THIS_PYTHON, referee

PAGE = (ROOT / "referee" / "docs" / "KIT.md").read_text()
LISTINGS = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", PAGE, re.MULTILINE | re.DOTALL)
SLUGS = {
    "Blooms": "blooms",
    "Even Groups": "evengroups",
    "Beautiful Vine Tree": "vinetree",
    "The Tree": "thetree",
    "Floral Extract": "floral",
}


@pytest.mark.slow
def test_the_listings_print_what_stands_there(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    assert len(LISTINGS) == 7
    for code, printed in LISTINGS:
        needed = "pettingzoo" if "referee.pettingzoo" in code else "numpy"
        if code.startswith("# flat_bot.py") or not find_spec(needed):
            continue
        exec(code, names)
        out = capsys.readouterr().out
        if printed:
            assert out == printed, code


def test_the_table_of_encodings_has_their_numbers() -> None:
    rows = re.findall(r"^\| ([\w ]+) \|[^|]*\| ([\d,]+) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
    assert [name for name, *_ in rows] == [*SLUGS]
    for name, actions, size in rows:
        position = kit.new(SLUGS[name])
        encoding = encoding_of(position.game, position.options)
        assert (f"{encoding.actions:,}", f"{encoding.size:,}") == (actions, size)


def test_all_that_the_kit_has_stands_in_the_page() -> None:
    methods = [name for name in vars(kit.Position) if not name.startswith("_")]
    fields = {"game", "options", "seed", "drawn"}
    types = {
        "BadChance",
        "Game",
        "LegalMovesSample",
        "Outcome",
        "Policy",
        "Position",
        "Random",
        "Seat",
        "State",
        "Told",
    }
    for name in ({*methods} - fields) | ({*kit.__all__} - types - {"game_played"}):
        assert re.search(rf"\b{name}\b", PAGE), name


@pytest.mark.slow
def test_the_bot_of_the_page_plays_every_game_in_turn(tmp_path: Path) -> None:
    (code,) = [code for code, _ in LISTINGS if code.startswith("# flat_bot.py")]
    (tmp_path / "flat_bot.py").write_text(code)
    bots = (f"{{python}} {tmp_path / 'flat_bot.py'}", RANDOM)
    for game, option in (("blooms", "size=3"), ("evengroups", "size=2"), ("thetree", "deals=2")):
        words = ["match", game, *bots, "--option", option, "-n", "1", "--strict", "--seed", "1"]
        done = referee(*words)
        assert done.code == 0, done.err


@pytest.mark.slow
def test_a_bot_is_trained_and_plays(tmp_path: Path) -> None:
    """By the commands of the page, with fewer games."""
    train, match = re.findall(r"^(?:python|referee match) .*value.*$", PAGE, re.MULTILINE)
    (tmp_path / "sample_bots").symlink_to(ROOT / "sample_bots")
    done = subprocess.run(
        f"{THIS_PYTHON} {train.removeprefix('python ')} --games 80",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = re.findall(r"mean reward ([+-][\d.]+) against random", done.stdout)
    assert float(found[-1]) > 0.6, "an untrained one gets about 0.5"
    done = run(match, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "H1 accepted: +200 Elo fits `value` − `random` better than +0" in done.stderr


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-euc", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
