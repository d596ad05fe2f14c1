"""The floors: a module imports only from below, so there are no cycles."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import referee
import referee.protocol
from tests.command import ROOT as REPOSITORY
from tests.imports import imports, parsed
from tests.tools import module_list

ROOT = Path(referee.__file__).parent

PROTOCOL = Path(referee.protocol.__file__).parent.resolve()
"""`referee/protocol` is a link to it; a link is not followed where modules are searched for."""

IMPURE = {"os", "subprocess", "selectors", "time", "signal", "socket", "threading", "random", "pathlib"}


OURS = module_list.files(ROOT, "referee")


@pytest.mark.slow
def test_a_package_imports_only_from_packages_above_it() -> None:
    place = {name: number for number, name in enumerate(module_list.PACKAGES)}
    packages = {name.split(".")[1] for name in OURS if "." in name} - {"__main__"}
    assert set(place) == packages and len(place) == len(module_list.PACKAGES)
    for name, path in OURS.items():
        for other in imports(path) & set(OURS) - {"referee"}:
            if name not in ("referee", "referee.__main__"):
                assert place[other.split(".")[1]] <= place[name.split(".")[1]], f"{name} imports {other}"
    TopologicalSorter(module_list.imported(OURS)).prepare()  # raises CycleError


@pytest.mark.slow
def test_the_list_of_modules_is_up_to_date() -> None:
    assert module_list.page() == module_list.PAGE.read_text(), "python -m tests.tools.module_list --write"
    missing = [name for name, path in OURS.items() if not module_list.summary(path)]
    assert missing == []


@pytest.mark.slow
def test_no_two_types_have_the_same_name() -> None:
    where: dict[str, list[str]] = {}
    ours = {**OURS, **module_list.files(PROTOCOL, "referee.protocol")}
    del ours["referee.protocol.bot"]  # it can be copied away, and is then all that there is
    for name, path in ours.items():
        for defined in types(parsed(path)):
            where.setdefault(defined, []).append(name)
    assert len(where) > 300
    assert {defined: names for defined, names in where.items() if len(names) > 1} == {}


def types(module: ast.Module) -> Iterator[str]:
    """The names of the classes and type aliases that a module defines."""
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.strip("_")[:1].isupper() and not name.isupper():
                yield name


@pytest.mark.slow
def test_the_glossaries_are_sorted_and_have_only_words_in_use() -> None:
    tables = [re.findall(r"^\| (.+?) \| (.+) \|$", text, re.MULTILINE)[1:] for text in glossaries()]
    for_code, for_users = ([word.casefold() for word, _ in rows] for rows in tables)
    assert for_code == sorted(set(for_code)) and for_users == sorted(set(for_users))
    assert not {*for_code} & {*for_users} and len(for_code) > 30 and len(for_users) > 20
    assert [word for rows in tables for word, meaning in rows if meaning.endswith(".")] == []
    used = text_of_the_code()
    unused = [word for word in for_code + for_users if not re.search(rf"\b{re.escape(word)}", used)]
    assert unused == []


GLOSSARY = ROOT / "docs" / "GLOSSARY.md"
"""The words for users; those of the code alone are in ARCHITECTURE.md."""


def glossaries() -> tuple[str, str]:
    """The glossary of ARCHITECTURE.md, and the one for users."""
    return (REPOSITORY / "ARCHITECTURE.md").read_text().split("\n## Glossary\n")[1], GLOSSARY.read_text()


def text_of_the_code() -> str:
    """All modules and documents except the glossaries, in lower case, with names divided into words."""
    files = [*OURS.values(), *PROTOCOL.rglob("*.md"), *ROOT.rglob("*.md"), REPOSITORY / "README.md"]
    texts = [file.read_text() for file in files if file not in (module_list.PAGE, GLOSSARY)]
    texts.append((REPOSITORY / "ARCHITECTURE.md").read_text().split("\n## Glossary\n")[0])
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", "\n".join(texts)).casefold()


def test_the_protocol_imports_nothing_but_itself_and_the_standard_library() -> None:
    for name, path in module_list.files(PROTOCOL, "referee.protocol").items():
        for other in imports(path):
            own = other.startswith("referee.protocol")
            assert own or other.split(".")[0] in sys.stdlib_module_names, f"{name} imports {other}"
            assert not (own and name == "referee.protocol.bot"), "bot.py can be copied away"


@pytest.mark.slow
def test_pure_modules_touch_no_clock_no_file_and_no_process() -> None:
    ours = {**OURS, **module_list.files(PROTOCOL, "referee.protocol")}
    pure = [name for name, path in OURS.items() if module_list.is_pure(path)]
    assert len(pure) > 50 and {"referee.gameplay.loop", "referee.tournament.run.run_state"} <= set(pure)
    for name in (*pure, "referee.protocol.messages", "referee.protocol.session"):
        assert not imports(ours[name]) & IMPURE, name
