"""The languages that there are templates of bots for: how a bot is built and started in each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
"""The folder with the templates: for each language a folder, named like its key."""


class Language(NamedTuple):
    """How a bot in a language is built and started, in its folder."""

    name: str
    program: str
    """The file of its template, in the folder that is named like the language's key."""
    build: str
    """The command that builds it; empty where there is nothing to build."""
    command: str
    """The command that starts it."""
    needs: tuple[str, ...] = ()
    """The programs that build and start it."""
    library: Path | None = None
    """A file that is copied beside the program."""


LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        "Python", "main.py", "", "{python} main.py", library=HERE.parent / "protocol" / "bot.py"
    ),
    "c": Language("C", "main.c", "cc -O2 -Wall -Wextra -o main main.c", "./main", ("cc",)),
    "cpp": Language(
        "C++", "main.cpp", "c++ -std=c++17 -O2 -Wall -Wextra -o main main.cpp", "./main", ("c++",)
    ),
    "rust": Language("Rust", "main.rs", "rustc --edition 2021 -O -o main main.rs", "./main", ("rustc",)),
    "java": Language(
        "Java",
        "Main.java",
        "javac -Xlint Main.java",
        "java -XX:+UseSerialGC -Xmx256m -cp . Main",
        ("javac", "java"),
    ),
    "go": Language("Go", "main.go", "go build -o main main.go", "./main", ("go",)),
    "javascript": Language("JavaScript", "main.js", "", "node main.js", ("node",)),
}
"""The languages that there are templates for."""
