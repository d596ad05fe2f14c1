"""Runs as values: games by place and id, positions, tables as rows, and what is damaged."""

from __future__ import annotations

import html
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.api import results
from referee.api.results import Run
from referee.core.errors import RecordError, UsageError
from referee.games.blooms import Blooms
from referee.records import journal
from referee.records.run_files import DIALOGUES
from referee.viewing.steps import steps_of
from tests.command import referee
from tests.unit.records.test_records import record
from tests.unit.tournament.test_exports import written

PLAYED = [
    record("L:A1", "L:C3", others=("L:A2 D:B1", "L:B2")),
    record("x", "L:A1", "resign {n}", others=("L:A1", "L:A2"), number=2),
    record("L:A1", others=(None,), number=3),
    record(*["x"] * 10, number=4),
]
GAMES = [replace(game, measured={**game.measured, "seats": [{}, {}]}) for game in PLAYED]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("api") / "run", *GAMES)


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return results.open(folder)


def test_a_run_is_opened_by_its_folder_its_records_and_a_file_elsewhere(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "some.jsonl"
    elsewhere.write_bytes((folder / "games.jsonl").read_bytes())
    for path in (folder, str(folder), folder / "games.jsonl", elsewhere):
        opened = results.open(path)
        assert [game.id for game in opened] == [game.terms.id for game in GAMES]
        assert opened[0].moves and opened[3].dialogue is None and opened.verify()
        assert opened.status.data["played"] == 4 and len(opened.find(moves=["L:A1"])) == 3
    with pytest.raises(UsageError, match="cannot read"):
        results.open(tmp_path / "none")
    with pytest.raises(UsageError, match="is not a run"):
        results.open(tmp_path)


def test_games_are_a_sequence_from_0_and_have_their_ids(run: Run) -> None:
    assert len(run) == len(run.games) == 4 and run[-1].id == "4:a:b" == run["4:a:b"].id
    assert [game.id for game in run[1:3]] == ["2:a:b", "3:a:b"] == [game.id for game in run.games[1:3]]
    assert [game.number for game in run] == [1, 2, 3, 4]
    assert run[1:3]["3:a:b"].number == 3, "as the commands call it"
    with pytest.raises(IndexError):
        run[4]
    with pytest.raises(UsageError, match=r"there is no game `9` among these, expected an id such as `1:a:b`"):
        run["9"]
    assert str(run.games).splitlines()[2].split()[:3] == ["0", "1:a:b", "b"]


def test_a_game_has_its_result_by_seat(run: Run) -> None:
    game = run[3]
    assert (game.game, game.bots, game.ranks, game.winner) == ("blooms", ("a", "b"), (2, 1), "b")
    assert (game.ending, game.faults, game.rated) == ("illegal", ("illegal", ""), True)
    assert game.result == "b won: a made too many illegal moves"
    assert any(line.startswith("hint: ") for line in game.fault_report)
    assert [(move.seat, move.text) for move in run[0].moves[:2]] == [(0, "L:A1"), (1, "L:A2 D:B1")]
    assert game.record["id"] == "4:a:b" and game.record["seed"] == GAMES[3].terms.seed.hex()


def test_a_game_has_its_dialogue_where_that_was_stored(tmp_path: Path) -> None:
    folder = written(tmp_path / "run", *GAMES)
    (folder / DIALOGUES).write_text('{"id": "4:a:b", "dialogue": "to a: hello 1"}\n')
    assert [game.dialogue for game in results.open(folder)[2:]] == [None, "to a: hello 1"]


def test_positions_are_those_of_a_replay(run: Run) -> None:
    steps = steps_of(GAMES[0]).steps
    positions = run[0].positions
    assert len(positions) == len(steps)
    for position, step in zip(positions, steps, strict=True):
        assert str(position) == str(position.picture()) and position.news(None) == step.state.seen(None)
    assert positions[1].turn == 1 and positions[-1].is_over
    assert positions[0].play("L:A1").picture() == positions[1].picture()


def test_a_position_draws_itself_in_the_colours_around_it(run: Run) -> None:
    position = run[0].positions[2]
    svg = position.svg()
    assert svg == position.svg(None) == position._repr_svg_() == position._repr_html_()
    assert svg.startswith("<svg") and "light-dark(" in svg and f">{Blooms.name}</title>" in svg


def test_tables_are_rows_text_and_html(run: Run, folder: Path) -> None:
    rows = run.table.rows
    assert [(row["rank"], row["bot"], row["wins"], row["faults_time"]) for row in rows] == [
        (1, "b", 3, 1),
        (2, "a", 1, 0),
    ]
    assert all(
        value is None or isinstance(value, str | int | float) for row in rows for value in row.values()
    )
    assert run.standings.rows == rows
    assert run.crosstable.rows[0] == {
        "section": "",
        "bot": "b",
        "against": "a",
        "wins": 3,
        "draws": 0,
        "losses": 1,
    }
    assert str(run.table).splitlines()[:4] == referee("table", str(folder)).out.splitlines()[:4]
    assert "--" not in re.sub(r"-{3,}", "", str(run.table)), "options are those of commands"
    shown = run.table._repr_html_()
    assert "<table>" in shown and "no Elo yet" in shown
    assert [*run.ratings] == ["b", "a"] and round(run.ratings["b"].elo, 2) == rows[0]["elo"]
    assert [row["moves"] for row in run.table_of("times").rows] == [3, 4]
    with pytest.raises(UsageError, match="there is no table `x`"):
        run.table_of("x")


def test_games_are_found_as_the_command_finds_them(run: Run) -> None:
    assert [game.number for game in run.find(lost_by="a")] == [1, 2, 4]
    assert [game.number for game in run.find(bot=["a", "b"], fault="any")] == [3, 4]
    assert [game.number for game in run.find(bot="a", fault="illegal", longer=-1)] == [4]
    with pytest.raises(UsageError, match="there is no bot `c` in this run"):
        run.find(bot="c")


def test_games_are_rows_with_seats_from_0(run: Run) -> None:
    row = run.games.rows[3]
    assert (row["bot_0"], row["rank_0"], row["fault_0"], row["bot_1"]) == ("a", 2, "illegal", "b")
    assert "run" not in row and (row["winner"], row["rated"], row["machine"]) == ("b", True, "here")
    assert len(run[:2].rows) == 2


@pytest.mark.slow
def test_a_data_frame_has_the_rows(run: Run) -> None:
    pytest.importorskip("pandas")
    frame = run.to_frame()
    assert list(frame.columns) == [*run.games.rows[0]] and list(frame.winner) == ["b", "b", "a", "b"]
    assert run.table.to_frame().to_dict("records")[0]["bot"] == "b"


def test_without_pandas_there_is_one_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for has_rows in (run, run.games, run.table):
        with pytest.raises(UsageError, match=r"needs pandas.*`pip install pandas`.*`rows` has the same"):
            has_rows.to_frame()


def test_games_are_read_where_their_lines_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "read", lambda *_: pytest.fail("the file is read from its beginning"))
    assert [len(game.positions) for game in run] == [len(steps_of(game).steps) for game in GAMES]


def test_a_verification_is_true_or_has_problems_by_line(folder: Path, tmp_path: Path) -> None:
    found = results.open(folder).verify()
    assert found and found.games == 4 and found.problems == () and not found.error
    assert results.open(folder).verify(found.head_hash)
    assert not results.open(folder).verify("0" * 64)
    wrong = results.open(damaged(folder, tmp_path)).verify()
    assert not wrong and [(problem.line, problem.game) for problem in wrong.problems] == [(3, "2:a:b")]
    assert "1 line of" in wrong.error


def damaged(folder: Path, place: Path) -> Path:
    """A run whose third line, the second game, was changed."""
    lines = (folder / "games.jsonl").read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b"L:A1", b"L:A2", 1)
    (place / "games.jsonl").write_bytes(b"\n".join(lines))
    return place


def test_of_damaged_records_single_games_can_be_had(folder: Path, tmp_path: Path) -> None:
    run = results.open(damaged(folder, tmp_path))
    assert "hash mismatch" in run.damage and run.damage in repr(run)
    assert "4 games can be read" in run._repr_html_()
    assert run[0].result.startswith("b won") and run["3:a:b"].winner == "a"
    assert "The record is damaged" in run[1].replay_html()
    for whole in (
        lambda: len(run),
        lambda: run.table,
        lambda: [*run],
        lambda: run.status,
        lambda: run.find(),
    ):
        with pytest.raises(RecordError, match=r"line 3 of .*hash mismatch"):
            whole()
    with pytest.raises(RecordError):
        print(run[1].positions)
    (tmp_path / "games.jsonl").write_bytes(b"{}\n")
    with pytest.raises(RecordError, match="line 1"):
        results.open(tmp_path)


MARKUP = "</iframe><script>owned=1</script>"


def test_markup_is_text_wherever_it_is_shown(tmp_path: Path) -> None:
    game = record("L:A1", others=(None,))
    outcome = game.verdict.outcome._replace(sentence=MARKUP)
    run = results.open(
        written(tmp_path / "run", replace(game, verdict=game.verdict._replace(outcome=outcome)))
    )
    for shown in (run._repr_html_(), run.games._repr_html_(), run[0]._repr_html_()):
        assert "<script" not in shown
    shown = run[0]._repr_html_()
    frame = re.fullmatch(r'(?s)<style>.*</style>\n<iframe [^<>]* srcdoc="([^"<>]*)"></iframe>', shown)
    assert frame is not None and 'sandbox="allow-scripts"' in shown
    assert html.unescape(frame[1]) == run[0].replay_html()


def test_a_replay_of_a_seat_is_one_of_its_seats(run: Run) -> None:
    assert "as seat 2 knew it" in run[0].replay_html(seat=1)
    with pytest.raises(UsageError, match="`seat` is 2, expected 0 to 1"):
        run[0].replay_html(seat=2)


@pytest.mark.slow
def test_a_report_is_a_page_or_a_folder(run: Run, tmp_path: Path) -> None:
    assert run.report(tmp_path / "r.html", replays=False).read_text().startswith("<!doctype html>")
    assert run.report(tmp_path / "r", folder=True) == tmp_path / "r" / "index.html"
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError):
        run.report(tmp_path / "notes.txt", replays=False)


def test_a_notebook_lists_some_of_many_games(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "_MOST_LISTED", 2)
    shown = run.games._repr_html_()
    assert "2:a:b" in shown and "3:a:b" not in shown and "<p>… and 2 more games</p>" in shown


def test_code_from_a_file_is_run_where_it_is_named(folder: Path) -> None:
    with pytest.raises(UsageError, match="none"):
        results.open(folder, game="none.py:None")
    with pytest.raises(UsageError, match="none"):
        results.open(folder, tournament_format="none.py:None")
