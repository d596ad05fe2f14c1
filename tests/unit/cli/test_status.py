"""What `status` and `table` print of each kind of run: within 80 columns, and without what is over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import Done, referee
from tests.unit.simulated_runs import CLOSED, ONE_BY_ONE, STOPPED, STRIKES, Simulation, tournament

OUT = "league as a stage, forfeit"

RUNS = {
    **{name: STOPPED[name] for name in ("sprt", "league with an interval")},
    **{name: ONE_BY_ONE[name] for name in ("swiss", "stages of several games")},
    "knockout": ("abcd", {"format": "knockout", "third_place": True}),
    "closed league": CLOSED["league"],
    OUT: STRIKES[OUT],
}

SLOW = pytest.mark.slow


def printed(folder: Path, lines: list[bytes]) -> tuple[Done, Done]:
    """What `status` and `table` print of a run with these lines."""
    folder.mkdir()
    (folder / "games.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    status, table = referee("status", str(folder)), referee("table", str(folder), "--notes")
    assert status.code == table.code == 0, status.err + table.err
    return status, table


def points(command: str, folder: Path, *options: str) -> dict[str, float]:
    """The points of each bot, as a command has them in its JSON."""
    standings = json.loads(referee(command, str(folder), *options).out)["standings"]
    return {row["bot"]: row["points"] for row in standings}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "knockout" else SLOW) for name in RUNS]
)
def test_a_run_is_told_within_80_columns_and_its_most_games_until_it_is_over(
    name: str, tmp_path: Path
) -> None:
    made = tournament(*RUNS[name])
    lines = [line.text for line in Simulation(made, 3, 1).play().run.stored]
    for told, count in (("half", len(lines) // 2), ("whole", len(lines))):
        status, table = printed(tmp_path / told, lines[:count])
        for line in (status.out + table.out).splitlines():
            assert len(line) <= 80, line
        is_over = "; finished" in status.out
        assert is_over == (told == "whole") or name not in ("sprt", "knockout")
        in_all = made.format.games_in_all(len(made.names), max(made.matchmaking.seats.values()))
        if not in_all.is_exact or name in STOPPED:
            assert ("at most" in status.out.split("\n")[0]) != is_over
            assert ("at most" in table.err) != is_over
        assert points("status", tmp_path / told, "--json") == points(
            "table", tmp_path / told, "--format", "json"
        )
        if name == "knockout":
            assert "0–0, by seed" not in table.out, "a series of which no encounter is over"
