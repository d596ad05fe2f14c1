"""Pages of a run that was analysed: replays, reports and the server have what is proved, and tell of damage;
none of them analyses anything by itself.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import referee as referee_api
from referee.analysis.solver import Solver
from referee.analysis.store import AnalysedStep, AnalysisMethod, GameAnalysis, Store, key_of
from referee.pages.report.games import deciding_of
from referee.records.run_files import ANALYSIS
from referee.serving.reports import LastAnalyses, stamp_of
from referee.tournament.run.run import read_run
from referee.viewing.steps import Steps
from tests.command import PLAIN, referee
from tests.pages.recorded import only_game

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of one game."""
    folder = tmp_path / "run"
    bots = (f"a={PLAIN}", f"b={PLAIN}")
    done = referee(
        "match", "evengroups", *bots, "--option", "size=2", "-n", "1", "-o", str(folder), "--seed", "s"
    )
    assert done.code == 0, done.err
    return folder


def analyse(folder: Path, steps: Steps) -> GameAnalysis:
    """Writes what the solver proves of the only game."""
    solver = Solver(10_000)
    run, id_ = read_run(folder), steps.terms.id
    key = key_of(run.games[id_], run.header.section_of(id_))
    proved = [
        AnalysedStep(next(iter(step.state.to_act()), None), solver.value(step.state)) for step in steps.steps
    ]
    found = GameAnalysis(key, AnalysisMethod(10_000), (*proved,))
    store = Store(folder)
    store.append(found)
    store.close()
    return found


def replayed(folder: Path) -> dict[str, Any]:
    """The view of the only game on its page, and what was said."""
    page = folder.parent / "game.html"
    done = referee("replay", str(folder), "--html", str(page))
    assert done.code == 0, done.err
    packed = page.read_text().partition('<script type="application/json" id="game')[2].partition(">")[2]
    value = json.loads(packed.partition("</script>")[0])
    (view,) = (json.loads(zlib.decompress(b64decode(value))) if isinstance(value, str) else value)["views"]
    return {"said": done.err, "analysis": view.get("analysis"), "deciding": view["deciding"]}


def test_pages_have_the_analysis_that_there_is(folder: Path) -> None:
    steps = only_game(folder)
    before = replayed(folder)
    report = folder.parent / "report.html"
    assert referee("report", str(folder), "-o", str(report)).code == 0
    plain = report.read_text()
    assert before["analysis"] is None and not (folder / ANALYSIS).exists()
    given = analyse(folder, steps)
    after = replayed(folder)
    proofs = [step.proof for step in given.steps]
    assert after["analysis"]["proofs"] == proofs and None not in proofs[-3:]
    deciding = deciding_of(steps, given)
    assert after["deciding"] == (deciding and deciding._asdict()) and after["said"] == before["said"]
    assert referee("report", str(folder), "-o", str(report)).code == 0
    assert report.read_text() != plain
    by_cli, game = report.read_text(), referee_api.open(folder)[0]
    assert game.replay_html() == (folder.parent / "game.html").read_text().removesuffix("\n")
    assert referee_api.open(folder).report(report) and report.read_text() == by_cli.removesuffix("\n")
    with (folder / ANALYSIS).open("ab") as file:
        file.write(b"{cut")
    damaged = replayed(folder)
    assert damaged["analysis"] == after["analysis"] and "1 line cannot be read" in damaged["said"]
    told = referee("report", str(folder), "-o", str(report))
    assert told.code == 0 and sum("1 line cannot be read" in line for line in told.err.splitlines()) == 1
    (folder / ANALYSIS).unlink()
    assert replayed(folder)["analysis"] is None
    assert referee("report", str(folder), "-o", str(report)).code == 0
    assert report.read_text() == plain


def test_the_server_reads_the_file_again_when_it_has_changed(folder: Path) -> None:
    last, run = LastAnalyses(), read_run(folder)
    assert not last.of(run, stamp_of(folder))
    analyse(folder, only_game(folder))
    stamp = stamp_of(folder)
    assert stamp and [*last.of(run, stamp)] == [*run.games]
    (folder / ANALYSIS).unlink()
    assert [*last.of(run, stamp)] == [*run.games], "as long as nobody sees a change"
    assert not last.of(run, stamp_of(folder))
