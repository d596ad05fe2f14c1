"""The floors: a module imports only from below, so there are no cycles."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import referee
import referee.protocol
from tests.imports import imports, parsed

ROOT = Path(referee.__file__).parent

PROTOCOL = Path(referee.protocol.__file__).parent.resolve()
"""`referee/protocol` is a link to it; a link is not followed where modules are searched for."""

PAGE = (ROOT.parent / "ARCHITECTURE.md").read_text()
ROWS = re.findall(r"^\| `([a-z_.]+)` \| (.+) \|$", PAGE, re.MULTILINE)
"""Every module with its one idea, in the order of the page."""

IMPURE = {"os", "subprocess", "selectors", "time", "signal", "socket", "threading", "random", "pathlib"}


def modules(package: Path, name: str) -> dict[str, Path]:
    found = {}
    for path in sorted(package.rglob("*.py")):
        if not (path.parent / "__init__.py").exists():
            continue  # a template, which is copied
        parts = [name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


@pytest.mark.promise("ARCHITECTURE", "A module imports only from modules above it.")
@pytest.mark.slow(seconds=2)
def test_a_module_imports_only_from_modules_above_it_on_the_page() -> None:
    place = {f"referee.{name}": number for number, (name, _) in enumerate(ROWS)}
    assert len(place) == len(ROWS)
    ours = modules(ROOT, "referee")
    faces = {name for name, path in ours.items() if len(parsed(path).body) == 1}
    assert set(place) == set(ours) - faces - {"referee", "referee.__main__"}
    for name in place:
        for other in imports(ours[name]) & set(place):
            assert place[other] < place[name] or ours[name].name == "__init__.py", f"{name} imports {other}"


@pytest.mark.promise("ARCHITECTURE", "The page lists every module with the first sentence of its docstring.")
@pytest.mark.slow
def test_the_page_says_what_each_module_says_of_itself() -> None:
    ours = modules(ROOT, "referee")
    for name, idea in ROWS:
        docstring = ast.get_docstring(parsed(ours[f"referee.{name}"])) or ""
        summary = " ".join(docstring.partition("\n\n")[0].split())
        assert summary.startswith(idea.removesuffix(" *Pure.*").rstrip(".")), name


@pytest.mark.promise("ARCHITECTURE", "No two classes or types have the same name.")
@pytest.mark.slow
def test_no_two_types_have_the_same_name() -> None:
    where: dict[str, list[str]] = {}
    ours = {**modules(ROOT, "referee"), **modules(PROTOCOL, "referee.protocol")}
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


def test_the_protocol_imports_nothing_but_itself_and_the_standard_library() -> None:
    for name, path in modules(PROTOCOL, "referee.protocol").items():
        for other in imports(path):
            own = other.startswith("referee.protocol")
            assert own or other.split(".")[0] in sys.stdlib_module_names, f"{name} imports {other}"
            assert not (own and name == "referee.protocol.bot"), "bot.py can be copied away"


def test_the_pure_core_touches_no_clock_no_file_and_no_process() -> None:
    ours = {**modules(ROOT, "referee"), **modules(PROTOCOL, "referee.protocol")}
    pure = [f"referee.{name}" for name, idea in ROWS if idea.endswith("*Pure.*")]
    assert len(pure) > 10
    for name in (*pure, "referee.protocol.messages", "referee.protocol.session"):
        assert not imports(ours[name]) & IMPURE, name
