"""Bots to begin with: templates in several languages, and the sample bots that are installed.

A template plays every game at random, by asking the referee for the legal moves, and has a place for its
author's idea. Of the sample bots, one for each game plays with some sense.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from referee.processes.program import SAMPLE_BOTS, Program

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


BY_GAME: Mapping[str, str] = {
    "blooms": "greedy",
    "vinetree": "vine",
    "evengroups": "even",
    "floral": "deducing",
    "thetree": "tree",
}
"""For each game, the name of a sample bot that plays it with some sense."""

RANDOM = "random"
"""The name of the sample bot that plays every game: it asks for the legal moves."""


def file_of(name: str) -> str:
    """The file of the sample bot with this name, in the folder of all."""
    return f"{name}_bot.py"


def sample_bot(slug: str, folder: Path) -> Program:
    """The sample bot for a game, to be run in this folder."""
    path = SAMPLE_BOTS / file_of(BY_GAME.get(slug, RANDOM))
    return Program.of(path.stem, ("{python}", str(path)), folder)
