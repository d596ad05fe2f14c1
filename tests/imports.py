"""What the modules of the project import, read from their source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.command import ROOT


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements in a module, a function or another statement: no expression has any in it."""
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, part, ()):
            yield child
            yield from statements(child)


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules that a module imports, and what it imports from them, by their full names."""
    names = set()
    for node in statements(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def files_used_by(test: Path) -> set[Path]:
    """A test file and the files of the project that it imports, by way of other modules of the tests and of
    `__init__.py` too. It ends at the other modules of the referee: each of them leads to most of the rest.
    """
    found: set[Path] = set()
    rest = [test.resolve()]
    while rest:
        path = rest.pop()
        if path in found:
            continue
        found.add(path)
        if path.is_relative_to(ROOT.resolve() / "tests") or path.name == "__init__.py":
            rest += [file for name in imports(path) if (file := _file(name))]
    return found


@cache
def _file(module: str) -> Path | None:
    """The file of a module of the project."""
    if module.partition(".")[0] not in ("referee", "tests"):
        return None
    place = ROOT / module.replace(".", "/")
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file.resolve() for file in files if file.is_file()), None)
