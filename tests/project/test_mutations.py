"""The tool that makes small wrong changes of the core, and what it finds with one of them."""

from __future__ import annotations

import ast

import pytest

from tests.command import ROOT
from tests.tools import mutations
from tests.tools.changes import parsed
from tests.tools.mutations import MODULES, drawn, mutants, outcomes, report, source_of


@pytest.mark.slow
def test_changes_give_other_modules_that_compile() -> None:
    for mutant in drawn(tuple(MODULES), 1, 50):
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(parsed(source_of(mutant.module))), mutant.title


def test_every_module_and_test_that_is_named_exists() -> None:
    assert all(source_of(module) for module in MODULES)
    assert all((ROOT / test).exists() for tests in MODULES.values() for test in tests.split())


def test_the_same_seed_draws_the_same_changes() -> None:
    modules = ("gameplay/clock", "core/seeds")
    assert drawn(modules, 1, 9) == drawn(modules, 1, 9) != drawn(modules, 2, 9)


@pytest.mark.slow
def test_a_change_that_a_test_notices_and_one_that_none_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "gameplay/clock", "tests/unit/gameplay/test_clock.py")
    noticed = next(one for one in mutants("gameplay/clock") if one.before == "over <= 0")
    source = source_of("gameplay/clock")
    wrong = noticed._replace(after="over > 0", source=source.replace("over <= 0", "over > 0"))
    harmless = noticed._replace(source=source + "\n# nothing\n")
    results = [*outcomes([wrong, harmless], 1)]
    assert results[0][1].startswith("tests/unit/gameplay/test_clock.py::") and results[1][1] == ""
    table, survivors = report(results)
    assert survivors == [harmless.title]
    assert "| gameplay/clock |         2 |         1 |            1 |" in table


def test_the_changes_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    mutations.main(["--list", "--count", "2", "core/seeds"])
    assert len(capsys.readouterr().out.splitlines()) == 2
