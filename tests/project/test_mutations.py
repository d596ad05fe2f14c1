"""The tool that makes small wrong changes of the core, and what it finds with one of them."""

from __future__ import annotations

import ast

import pytest

from tests.command import ROOT
from tests.tools import mutations
from tests.tools.changes import parsed
from tests.tools.mutants import EQUIVALENT, KNOWN, MODULES, Mutant, mutants, source_of
from tests.tools.mutations import drawn, outcomes, report


def is_another_module(mutant: Mutant) -> bool:
    """Whether a change makes a difference, in a module that compiles."""
    return ast.dump(ast.parse(mutant.source)) != ast.dump(parsed(source_of(mutant.module)))


@pytest.mark.slow
def test_changes_give_other_modules_that_compile() -> None:
    assert all(map(is_another_module, drawn(tuple(MODULES), 1, 50)))


@pytest.mark.slow
def test_every_change_of_a_module_is_another_module_that_compiles() -> None:
    for found in map(mutants, MODULES):
        assert found and all(map(is_another_module, found))


def test_the_breaks_that_were_once_overlooked_are_still_there_to_be_made() -> None:
    assert all(known.mutant.source != source_of(known.module) for known in KNOWN)


@pytest.mark.slow
def test_what_makes_no_difference_is_still_among_the_changes() -> None:
    assert EQUIVALENT.keys() <= {mutant.key for module in MODULES for mutant in mutants(module)}


def test_every_module_and_test_that_is_named_exists() -> None:
    assert all((ROOT / test).exists() for tests in MODULES.values() for test in tests.split())
    assert all((ROOT / test).exists() for known in KNOWN for test in mutations.tests_of(known.mutant))


def test_the_same_seed_draws_the_same_changes() -> None:
    modules = ("gameplay/clock", "core/seeds")
    assert drawn(modules, 1, 9) == drawn(modules, 1, 9) != drawn(modules, 2, 9)


@pytest.mark.slow
def test_a_change_that_a_test_notices_and_one_that_none_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "gameplay/clock", "tests/unit/gameplay/test_clock.py")
    found = mutants("gameplay/clock")
    noticed = next(one for one in found if one.before == "over <= 0")._replace(after="over > 0")
    source = source_of("gameplay/clock")
    wrong = noticed._replace(source=source.replace("over <= 0", "over > 0"))
    harmless = noticed._replace(source=source + "\n# nothing\n")
    results = [*outcomes([wrong, harmless], 1)]
    assert results[0][1].startswith("tests/unit/gameplay/test_clock.py::") and results[1][1] == ""
    table, survivors = report(results)
    assert survivors == [harmless.title]
    assert "| gameplay/clock |         2 |         1 |            0 |            1 |" in table


def test_the_changes_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    mutations.main(["--list", "--count", "2", "core/seeds"])
    assert len(capsys.readouterr().out.splitlines()) == 4
