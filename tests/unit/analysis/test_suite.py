"""Suites: positions of a file, read and written; what is not possible is one line that says where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.analysis.solver import Solver
from referee.analysis.suite import SuiteEntry, read_suite, recorded_entry, suite_text
from referee.core.errors import UsageError
from referee.games import GAMES
from referee.games.api import Game, Options, State
from referee.viewing.steps import steps_of
from tests.command import ROOT
from tests.rules.random_play import random_game
from tests.unit.viewing.test_steps import recorded

LINE = 'moves = "L:A1; L:B1 D:C3"'


def refused(game: Game[Any], text: str) -> tuple[Options, State[Any]]:
    raise UsageError(f"no run `{text}`")


def suite_file(folder: Path, *positions: str, head: str = 'game = "blooms"\noptions = { size = 3 }') -> Path:
    path = folder / "suite.toml"
    path.write_text("\n".join([f"[suite]\n{head}", *(f"[[position]]\n{one}" for one in positions)]))
    return path


def test_a_move_gives_points_if_it_is_found_or_avoided(tmp_path: Path) -> None:
    path = suite_file(
        tmp_path, f'{LINE}\nfind = ["D:B2 L:A2"]\npoints = 3', f'name = "x"\n{LINE}\navoid = ["L:A2"]'
    )
    suite = read_suite(path, refused)
    find, avoid = suite.positions
    assert (suite.points, suite.clock, find.entry.name, find.seat) == (4, "", "1", 0)
    assert [find.points_for(move) for move in ("L:A2 D:B2", "L:A2")] == [3, 0], "canonical"
    assert [avoid.points_for(move) for move in ("L:A2 D:B2", "L:A2")] == [1, 0]


@pytest.mark.parametrize(
    ("position", "error"),
    [
        ('moves = "L:A1; L:A1"\nfind = ["L:B1"]', r"position 1 `1`: move 2 `L:A1` of seat 2: A1 is occupied"),
        (f'{LINE}\nfind = ["L:A1"]', "position 1 `1`: `find` has `L:A1`: A1 is occupied"),
        (f'name = "y"\n{LINE}\nfind = ["L:A2"]\nseat = 2', "position 1 `y`: `seat` is 2, expected 1"),
        (LINE, "`position.1.find` is missing, expected moves to find or to avoid, one of the two"),
        (f'{LINE}\nfind = ["L:A2"]\navoid = ["L:A2"]', "expected moves to find or to avoid"),
        (f'{LINE}\nfind = ["L:A2"]\nfrom = "results 1@2"', "expected none with `moves` or `chance`"),
        ('from = "results 1@2"\nfind = ["L:A2"]', "position 1 `1`: no run `results 1@2`"),
        (f'{LINE}\nfind = ["L:A2"]\npoints = 0', "expected a number from 1 to 1000"),
        (f'{LINE}\nfind = ["L:A2"]\nchance = ["x"]', "`chance` has 1 outcome too many"),
        (f'{LINE}\nfinds = ["L:A2"]', "unknown key `position.1.finds`, expected `find`"),
    ],
)
def test_an_impossible_position_is_one_line(tmp_path: Path, position: str, error: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_suite(suite_file(tmp_path, position), refused)
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
            read_suite(path, refused)
    with pytest.raises(UsageError, match="cannot read"):
        read_suite(tmp_path / "none.toml", refused)


def test_recorded_positions_are_written_and_read_again(tmp_path: Path) -> None:
    steps = steps_of(recorded(GAMES["blooms"], ("L:A1", "L:D4"), ("L:A2 D:B1", "L:B2"), target="1"))
    options = dict(steps.terms.options)
    entry = SuiteEntry('the "last" \x7f', find=("L:D4",), note="why", points=2)
    written = recorded_entry(steps, 2, entry)
    assert written is not None and written.moves == "L:A1; L:A2 D:B1"
    path = tmp_path / "suite.toml"
    path.write_text(suite_text("blooms", options, [written], "1s"))
    suite = read_suite(path, refused)
    assert suite.positions[0].entry == written and suite.clock == "1s" and dict(suite.options) == options
    assert suite.positions[0].state.seen(None) == steps.steps[2].state.seen(None)


def test_what_chance_decided_is_part_of_a_position(tmp_path: Path) -> None:
    steps = steps_of(random_game(GAMES["thetree"], b"0", {"players": "2"}))
    number = next(step.number for step in steps.steps if step.number > 4 and step.state.to_act()[0] >= 0)
    state = steps.steps[number].state
    (seat,) = state.to_act()
    move = state.write(next(state.legal(seat)))
    written = recorded_entry(steps, number, SuiteEntry("x", avoid=(move,)))
    assert written is not None and written.chance
    path = tmp_path / "suite.toml"
    path.write_text(suite_text("thetree", steps.terms.options, [written]))
    assert read_suite(path, refused).positions[0].state.seen(None) == state.seen(None)


def test_a_position_after_a_seat_has_left_cannot_be_written() -> None:
    steps = steps_of(recorded(GAMES["thetree"], ("resign {n}",), (None,), (None,), players="3"))
    assert recorded_entry(steps, len(steps.steps) - 1, SuiteEntry("x")) is None


SUITES = sorted((ROOT / "referee" / "examples" / "suites").glob("*.toml"))


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_the_examples_are_twenty_positions_each(path: Path) -> None:
    suite = read_suite(path, refused)
    assert len(suite.positions) == suite.points == 20 and suite.game.slug == path.stem
    lines = {position.entry.moves for position in suite.positions}
    assert len(lines) == 20 and dict(suite.options) == dict(suite.game.settle({}))


@pytest.mark.slow
@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_the_examples_are_proved(path: Path) -> None:
    for position in read_suite(path, refused).positions:
        state, entry = position.state, position.entry
        solver, win = Solver(40_000), -1 if position.seat else 1
        values = {
            move: solver.value(state.play({position.seat: move})) for move in state.legal(position.seat)
        }
        assert None not in values.values(), f"position {entry.name} is not decided"
        wins = [move for move, value in values.items() if value == win]
        assert {*map(state.write, wins)} == {*entry.find}, f"position {entry.name}"
        legal = sum(1 for _ in state.legal(position.seat))
        assert entry.note.startswith(f"{len(wins)} of {legal} moves") and 5 * len(wins) <= legal
