"""What sequential tests decided is told by every command that shows a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import PLAIN, referee
from tests.processes.runs import resigning, toml
from tests.tools import synthetic


@pytest.mark.slow
def test_which_challengers_passed_is_told_everywhere(tmp_path: Path) -> None:
    bots = {"base": PLAIN, "good": PLAIN, "gives_up": resigning()}
    words: dict[str, Any] = {"format": "gauntlet", "against": ["gives_up"], "rounds": 40, "sprt": "0,800"}
    passed = referee("run", "--strict", str(toml(tmp_path / "t.toml", bots, **words)))
    assert passed.code == 0, passed.err
    failed = referee(
        "run", "--strict", str(toml(tmp_path / "f.toml", bots, **{**words, "against": ["good", "base"]}))
    )
    assert failed.code == 8 and "2 sequential tests accepted H0" in failed.err

    folder = str(tmp_path / "t-results")
    value = json.loads(referee("table", folder, "--format", "json").out)
    (one, other) = value["tests"]
    assert [one["bot"], other["bot"]] == ["base", "good"] and one["against"] == "gives_up"
    assert one["accepted"] == other["accepted"] == "H1" and one["llr"] >= one["bounds"][1]
    assert sum(one["counts"]) < 40, "it was over before its schedule"
    verdicts = referee("table", folder, "--show", "sprt").out.splitlines()[2:4]
    assert all("H1 accepted" in line for line in verdicts)
    assert set(verdicts) < {*referee("table", folder).out.splitlines()}
    row, _ = referee("table", folder, "--show", "sprt", "--format", "csv").out.splitlines()[1:]
    assert row.startswith(",base,gives_up,") and ",H1," in row

    status = referee("status", folder).out
    assert "; finished\n" in status and " of " not in status.splitlines()[0]
    assert "H1 accepted: +800 Elo fits `good` − `gives_up` better than +0" in status
    value = json.loads(referee("status", folder, "--json").out)
    assert value["finished"] and [test["accepted"] for test in value["tests"]] == ["H1", "H1"]

    page = tmp_path / "page.html"
    assert referee("report", folder, "-o", str(page), "--no-replays").code == 0
    html = page.read_text()
    assert html.count("H1 accepted: ") == 2 and html.count(">H1 accepted<") == 2


@pytest.mark.slow
def test_the_next_bot_moves_up_where_the_first_is_disqualified(tmp_path: Path) -> None:
    bots = {"a": PLAIN, "b": PLAIN, "gives_up": resigning()}
    assert referee("run", str(toml(tmp_path / "t.toml", bots, format="swiss", rounds=2))).code == 0
    folder = str(tmp_path / "t-results")

    def standings() -> list[tuple[int | None, str]]:
        value = json.loads(referee("table", folder, "--format", "json").out)
        return [(row["rank"], row["bot"]) for row in value["standings"]]

    (_, first), *others = standings()
    words = ("--withdraw", first, "--games", "forfeit", "--reason", "an entry of the organiser")
    assert referee("amend", folder, *words).code == 0
    assert standings() == [*((rank - 1, bot) for rank, bot in others if rank), (None, first)]
    told = f"`{first}` is out of the tournament and has no rank: an entry of the organiser"
    assert told in " ".join(referee("table", folder).out.split())
    status = referee("status", folder).out
    assert told in status and first in status.splitlines()[-1]


def test_status_counts_repeated_games_as_the_table_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthetic, "HEAD", synthetic.HEAD.replace("\nseed", '\nrepeats = "count"\nseed'))
    monkeypatch.setattr(synthetic, "PLAYED", 10)
    synthetic.write(tmp_path, 3, 90)
    found = [
        [
            (row["bot"], round(row["elo"], 2), round(row["low"], 2))
            for row in json.loads(done.out)["standings"]
        ]
        for done in (
            referee("status", str(tmp_path / "pool-results"), "--json"),
            referee("table", str(tmp_path / "pool-results"), "--format", "json"),
        )
    ]
    assert found[0] == found[1]
