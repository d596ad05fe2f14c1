"""The list of all modules, made from their docstrings: `python -m tests.tools.module_list [--write]`.

Prints the page `referee/MODULES.md`; `--write` replaces it. Packages stand in the order of ARCHITECTURE.md,
and the modules of a package by name, those of its inner packages under a heading of their own.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.command import ROOT
from tests.imports import imports, parsed

PACKAGE = ROOT / "referee"
PAGE = PACKAGE / "MODULES.md"

PACKAGES = re.findall(r"^\| `([a-z]+)` \| .+ \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
"""The packages of the referee, each below those that it may import from."""

FURTHER = (
    "made|kept|sent|read|each|not|even|unless|until|without|which|where|when|how|what|"
    "as|in|with|by|for|so|whose|once|including|field|found|compared|parsed|that|on|of|from|whatever"
)
"""The words with which an explanation begins behind a comma."""

HEAD = """\
# The modules

`python -m tests.tools.module_list --write` makes this page from the docstrings; do not edit it. \
[ARCHITECTURE](../ARCHITECTURE.md) says how the modules work together.
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


def idea(path: Path) -> str:
    """What a module is: the beginning of its docstring, without what explains it further."""
    sentence = re.split(r"[.](?= [A-Z`]|$)", summary(path))[0]
    for end in re.finditer(rf"[:;] |, (?=(?:and )?(?:{FURTHER})\b)| and then |, and ", sentence):
        before = sentence[: end.start()]
        lists = end[0] == ", and " and "," in before
        if (end[0] == ": " or before.count(" ") > 1) and not lists:
            return before
    return sentence


def is_pure(path: Path) -> bool:
    """Whether the module says so of itself."""
    return summary(path).endswith(" Pure.")


def imported(modules: dict[str, Path]) -> dict[str, frozenset[str]]:
    """By module, those that it imports, without the package that it is in."""
    return {
        name: frozenset(
            other
            for other in imports(path) & set(modules) - {name}
            if path.name == "__init__.py" or not name.startswith(f"{other}.")
        )
        for name, path in modules.items()
    }


def page() -> str:
    """The page as it follows from the docstrings of all modules."""
    lines = [HEAD]
    for package in PACKAGES:
        modules = files(PACKAGE / package, f"referee.{package}") or {
            f"referee.{package}": PACKAGE / f"{package}.py"
        }
        for inner in sorted({_package_of(name, path) for name, path in modules.items()}):
            own = {name: path for name, path in modules.items() if _package_of(name, path) == inner}
            lines += [
                f"## `{inner.removeprefix('referee.')}`\n",
                *_rows(own),
                "",
            ]
    return "\n".join(lines)


def _package_of(name: str, path: Path) -> str:
    parent = name.rpartition(".")[0]
    return name if path.name == "__init__.py" or parent == "referee" else parent


def _rows(modules: dict[str, Path]) -> Iterable[str]:
    commands = []
    for name, path in sorted(modules.items()):
        if summary(path).startswith(f"`referee {path.stem.replace('_', '-')}`"):
            commands.append(f"`{path.stem}`")
        elif len(parsed(path).body) > 1:  # not the package's docstring alone
            yield f"- `{name.removeprefix('referee.')}`: {idea(path)}"
    if commands:
        yield f"- A module for each command, of the same name: {', '.join(commands)}"


def main(words: list[str]) -> None:
    """Prints or writes the page."""
    if words == ["--write"]:
        PAGE.write_text(page())
    else:
        print(page(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
