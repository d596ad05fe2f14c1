"""The list of all modules, made from their docstrings: `python -m tests.tools.module_list [--write]`.

Prints the page `referee/MODULES.md`; `--write` replaces it. Packages stand in the order of ARCHITECTURE.md,
and within a package each module stands below those that it imports.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from graphlib import TopologicalSorter
from pathlib import Path

from tests.command import ROOT
from tests.imports import imports, parsed

PACKAGE = ROOT / "referee"
PAGE = PACKAGE / "MODULES.md"

PACKAGES = re.findall(r"^\| `([a-z]+)` \| .+ \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
"""The packages of the referee, each below those that it may import from."""

HEAD = """\
# The modules

`python -m tests.tools.module_list --write` makes this page from the docstrings; do not edit it. \
[ARCHITECTURE](../ARCHITECTURE.md) tells how they work together. A module imports only from modules above it \
on this page. A module that says *Pure* reads no clock, touches no file and starts no process.
"""


def files(package: Path, name: str) -> dict[str, Path]:
    """The modules of a package by their full names, without templates, which are copied and not imported."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        if (path.parent / "__init__.py").exists():
            parts = [name, *path.relative_to(package).with_suffix("").parts]
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def summary(path: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    return " ".join((ast.get_docstring(parsed(path)) or "").partition("\n\n")[0].split())


def is_pure(path: Path) -> bool:
    """Whether the module says so of itself."""
    return summary(path).endswith(" Pure.")


def in_order(modules: dict[str, Path]) -> list[str]:
    """The modules by name, but each below those that it imports.

    Raises graphlib.CycleError if there is no such order.
    """
    needed = {name: sorted(_needed(name, path) & set(modules)) for name, path in modules.items()}
    TopologicalSorter(needed).prepare()
    order: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in order:
            for other in needed[name]:
                add(other)
            order[name] = None

    for name in sorted(modules):
        add(name)
    return list(order)


def _needed(name: str, path: Path) -> frozenset[str]:
    """What a module imports, without the package that it is in: what a package offers needs its modules."""
    return frozenset(
        other
        for other in imports(path)
        if other != name and not (name.startswith(f"{other}.") and path.name != "__init__.py")
    )


def page() -> str:
    """The page as it follows from the docstrings and the imports of all modules."""
    lines = [HEAD]
    for package in PACKAGES:
        modules = files(PACKAGE / package, f"referee.{package}") or {package: PACKAGE / f"{package}.py"}
        lines += [f"## `{package}`\n", "| module | idea |", "|---|---|", *_rows(modules), ""]
    return "\n".join(lines)


def _rows(modules: dict[str, Path]) -> Iterable[str]:
    for name in in_order(modules):
        if len(parsed(modules[name]).body) > 1:  # not the package's docstring alone
            idea = summary(modules[name])
            yield f"| `{name.removeprefix('referee.')}` | {re.sub(' Pure[.]$', ' *Pure.*', idea)} |"


def main(words: list[str]) -> None:
    """Prints or writes the page."""
    if words == ["--write"]:
        PAGE.write_text(page())
    else:
        print(page(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
