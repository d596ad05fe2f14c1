"""Suites: positions of a file, read and written; what is not possible is one line that says where."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from referee.analysis.solver import Solver
from referee.analysis.suite import line_to, read_suite, suite_text
from referee.core.errors import UsageError
from referee.games import GAMES
from referee.viewing.steps import steps_of
from tests.command import ROOT
from tests.rules.random_play import random_game
from tests.unit.viewing.test_steps import recorded

LINE = 'moves = "L:A1; L:B1 D:C3"'


def suite_file(folder: Path, *positions: str, head: str = 'game = "blooms"\noptions = { size = 3 }') -> Path:
    path = folder / "suite.toml"
    path.write_text("\n".join([f"[suite]\n{head}", *(f"[[position]]\n{one}" for one in positions)]))
    return path


def test_a_move_gives_points_if_it_is_found_or_avoided(tmp_path: Path) -> None:
    path = suite_file(
        tmp_path, f'{LINE}\nfind = ["D:B2 L:A2"]\npoints = 3', f'name = "x"\n{LINE}\navoid = ["L:A2"]'
    )
    suite = read_suite(path)
    find, avoid = suite.positions
    assert (suite.clock, find.name, find.seat, avoid.name) == ("", "1", 0, "x")
    assert [find.points_for(move) for move in ("L:A2 D:B2", "L:A2")] == [3, 0], "canonical"
    assert [avoid.points_for(move) for move in ("L:A2 D:B2", "L:A2")] == [1, 0]


def test_a_position_may_be_the_start(tmp_path: Path) -> None:
    steps = steps_of(recorded(GAMES["blooms"], ("L:A1",), (None,), target="1"))
    start = line_to(steps, 0)
    assert start == {"moves": ""}
    path = tmp_path / "suite.toml"
    path.write_text(suite_text("blooms", {}, [{**start, "avoid": ["L:A1"]}]))
    assert read_suite(path).positions[0].state.seen(None) == steps.steps[0].state.seen(None)


@pytest.mark.parametrize(
    ("position", "error"),
    [
        ('moves = "L:A1; L:A1"\nfind = ["L:B1"]', r"position 1 `1`: move 2 `L:A1` of seat 2: A1 is occupied"),
        (f'{LINE}\nfind = ["L:A1"]', "position 1 `1`: the move `L:A1`: A1 is occupied"),
        (f'name = "y"\n{LINE}\nfind = ["L:A2"]\nseat = 2', "position 1 `y`: `seat` is 2, expected 1"),
        (LINE, "`position.1.find` is missing, expected moves to find or to avoid, one of the two"),
        (f'{LINE}\nfind = ["L:A2"]\navoid = ["L:A2"]', "expected moves to find or to avoid"),
        (f'{LINE}\nfind = ["L:A2"]\nfrom = "results 1@2"', "expected none with `moves` or `chance`"),
        ('from = "results 1@2"\nfind = ["L:A2"]', "position 1 `1`: cannot read `"),
        ('from = "results"\nfind = ["L:A2"]', "position 1 `1`: `from` is `results`, expected `RUN ID@N`"),
        ('moves = "L:A1"\nfind = ["L:A2"]\nname = 3', "`position.1.name` is `3`, expected a string"),
        (f'{LINE}\nfind = ["L:A2"]\npoints = 0', "expected a number from 1 to 1000"),
        (f'{LINE}\nfind = ["L:A2"]\nchance = ["x"]', "`chance` has 1 outcome too many"),
        (f'{LINE}\nfinds = ["L:A2"]', "unknown key `position.1.finds`, expected `find`"),
    ],
)
def test_an_impossible_position_is_one_line(tmp_path: Path, position: str, error: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_suite(suite_file(tmp_path, position))
    text = str(raised.value)
    assert text.startswith(f"`{tmp_path / 'suite.toml'}`") and error in text and "\n" not in text


def test_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    cases = (
        ("[suite]\ngame = 3", "`suite.game` is `3`"),
        ("\0", "not valid TOML"),
        ('[suite]\ngame = "blooms"', "`position` is missing"),
        (f'[suite]\ngame = "blooms"\nclock = "soon"\n[[position]]\n{LINE}\nfind = ["L:A2"]', "clock"),
        (f'[suite]\ngame = "blooms"\noptions = {{ size = 99 }}\n[[position]]\n{LINE}', "option `size`"),
    )
    path = tmp_path / "suite.toml"
    for text, error in cases:
        path.write_text(text)
        with pytest.raises(UsageError, match=error):
            read_suite(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_suite(tmp_path / "none.toml")


def test_recorded_positions_are_written_and_read_again(tmp_path: Path) -> None:
    steps = steps_of(recorded(GAMES["blooms"], ("L:A1", "L:D4"), ("L:A2 D:B1", "L:B2"), target="1"))
    options = dict(steps.terms.options)
    line = line_to(steps, 2)
    assert line == {"moves": "L:A1; L:A2 D:B1"}
    table = {"name": 'the "last" \x7f', **line, "find": ["L:D4"], "note": "why", "points": 2}
    path = tmp_path / "suite.toml"
    path.write_text(suite_text("blooms", options, [table]))
    suite = read_suite(path)
    (position,) = suite.positions
    assert position.name == 'the "last" \x7f' and position.points_for("L:D4") == 2
    assert position.state.seen(None) == steps.steps[2].state.seen(None) and dict(suite.options) == options


def test_what_chance_decided_is_part_of_a_position(tmp_path: Path) -> None:
    steps = steps_of(random_game(GAMES["thetree"], b"0", {"players": "2"}))
    number = next(step.number for step in steps.steps if step.number > 4 and step.state.to_act()[0] >= 0)
    state = steps.steps[number].state
    (seat,) = state.to_act()
    move = state.write(next(state.legal(seat)))
    line = line_to(steps, number)
    assert line is not None and line["chance"]
    path = tmp_path / "suite.toml"
    path.write_text(suite_text("thetree", steps.terms.options, [{**line, "avoid": [move]}]))
    assert read_suite(path).positions[0].state.seen(None) == state.seen(None)


def test_a_position_after_a_seat_has_left_cannot_be_written() -> None:
    steps = steps_of(recorded(GAMES["thetree"], ("resign {n}",), (None,), (None,), players="3"))
    assert line_to(steps, len(steps.steps) - 1) is None


def tables(path: Path) -> list[dict[str, Any]]:
    """The tables of the positions of a file."""
    found: list[dict[str, Any]] = tomllib.loads(path.read_text())["position"]
    return found


SUITES = sorted((ROOT / "referee" / "examples" / "suites").glob("*.toml"))


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_the_examples_are_twenty_positions_each(path: Path) -> None:
    suite = read_suite(path)
    assert [position.points for position in suite.positions] == [1] * 20 and suite.game.slug == path.stem
    lines = {table["moves"] for table in tables(path)}
    assert len(lines) == 20 and dict(suite.options) == dict(suite.game.settle({}))


@pytest.mark.slow
@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_the_examples_are_proved(path: Path) -> None:
    for position, table in zip(read_suite(path).positions, tables(path), strict=True):
        state, name = position.state, position.name
        solver, win = Solver(40_000), -1 if position.seat else 1
        values = {
            move: solver.value(state.play({position.seat: move})) for move in state.legal(position.seat)
        }
        assert None not in values.values(), f"position {name} is not decided"
        wins = [move for move, value in values.items() if value == win]
        assert {*map(state.write, wins)} == position.moves, f"position {name}"
        legal = sum(1 for _ in state.legal(position.seat))
        assert table["note"].startswith(f"{len(wins)} of {legal} moves") and 5 * len(wins) <= legal
