"""`referee suite`: bots are asked in positions of a file, and what they reply gives points."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.command import PLAIN, ROOT, referee, sh

LINE = 'moves = "L:A1; D:B1"'

CASES = f"""
[suite]
game = "blooms"
options = {{ size = 3 }}
clock = "1h"

[[position]]
name = "corner"
{LINE}
find = ["D:A3 L:A2"]
points = 2

[[position]]
{LINE}
avoid = ["L:A2"]
"""

SAYS = "while read -r line; do set -- $line; case $1 in hello) echo hello 1;; prepare) echo ready;;"


def player(answer: str) -> str:
    """A bot that answers this to every question."""
    return sh(f"{SAYS} ask) {answer};; quit) exit;; esac; done")


@pytest.mark.slow
def test_bots_get_points_for_what_they_find_and_avoid(tmp_path: Path) -> None:
    file = tmp_path / "suite.toml"
    file.write_text(CASES)
    bots = (
        f"finds={player('echo move $2 L:A2 D:A3')}",
        f"falls={player('echo move $2 L:A2')}",
        f"leaves={player('exit 3')}",
        f"starts={sh('exit 3')}",
    )
    done = referee("suite", str(file), *bots, "--positions", "--format", "csv")
    assert done.code == 0, done.err
    rows = [*csv.DictReader(io.StringIO(done.out))]
    found = {(row["position"], row["bot"]): (row["move"], row["points"]) for row in rows}
    assert found == {
        ("corner", "finds"): ("L:A2 D:A3", "2"),
        ("corner", "falls"): ("L:A2", "0"),
        ("corner", "leaves"): ("gone", "0"),
        ("corner", "starts"): ("start", "0"),
        ("2", "finds"): ("L:A2 D:A3", "1"),
        ("2", "falls"): ("L:A2", "0"),
        ("2", "leaves"): ("gone", "0"),
        ("2", "starts"): ("start", "0"),
    }
    told = [line for line in done.err.splitlines() if " in position " in line]
    assert [line.split(":")[0] for line in told] == [
        "leaves in position `corner`",
        "leaves in position `2`",
        "starts in position `corner`",
    ], "a bot that does not start is not asked again"


@pytest.mark.slow
def test_the_table_has_the_best_bot_first_and_positions_of_runs(tmp_path: Path) -> None:
    size = ("--option", "size=3")
    played = referee(
        "match", "blooms", *size, "-n", "1", f"a={PLAIN}", f"b={PLAIN}", "-o", str(tmp_path / "run")
    )
    assert played.code == 0, played.err
    file = tmp_path / "suite.toml"
    recorded = CASES.replace(LINE, 'from = "run 1@0"')
    file.write_text(recorded)
    bots = (f"falls={player('echo move $2 D:A2')}", f"good={player('echo move $2 L:A2')}")
    told = referee("suite", str(file), *bots)
    assert told.code == 2 and "position 1 `corner`: the move `D:A3 L:A2`: " in told.err, (
        "the first turn is one stone"
    )
    file.write_text(recorded.replace("D:A3 L:A2", "L:A2").replace("avoid = [", 'avoid = ["D:A2", '))
    done = referee("suite", str(file), *bots, "--format", "json", "--time", "1h")
    rows = json.loads(done.out)
    assert [(row["bot"], row["points"], row["of"], row["solved"], row["positions"]) for row in rows] == [
        ("good", 2, 3, 1, 2),
        ("falls", 0, 3, 0, 2),
    ]
    file.write_text(recorded.replace("run 1@0", "run 1@99"))
    assert "the game has no move 99" in referee("suite", str(file), *bots).err
    lacking = referee("suite", str(ROOT / "referee/examples/suites/blooms.toml"), "./nobody")
    assert lacking.code == 2 and "no program at `./nobody`" in lacking.err
