"""Plays the ladders of the sample bots: `python -m tests.tools.ladders [GAME ...]`.

A ladder is a list of bots for one game, the weakest first. Each bot plays the one below it, by `referee match
--sprt`, until the test is decided or 2,000 games have been played. Prints the tables that stand in
`referee/docs/LADDERS.md`, as Markdown; `--write` puts them there.

With `-o DIR` the games are kept there, and rungs whose test is decided there are not played again.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.ratings.columns import interval_text

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "referee" / "docs" / "LADDERS.md"

MAX_GAMES = 2000
SPRT = "0,50"
"""H0: the bot is as strong as the one below it; H1: it is stronger by 50 Elo."""

HEADERS = ["bot", "what it does", "games", "score", "Elo", "processor time"]


class Rung(NamedTuple):
    """A bot of a ladder."""

    name: str
    command: str
    """Run in the project's folder."""
    does: str
    """What it does, in a phrase."""
    build: str = ""
    """The command that makes its program."""


class Ladder(NamedTuple):
    """The bots of a game, the weakest first."""

    rungs: tuple[Rung, ...]
    options: tuple[str, ...] = ()
    """The options of the game, as `NAME=VALUE`, where they are not its own."""
    clock: str = ""
    """The clock, where it is not the game's own."""


def python(file: str) -> str:
    """The command of a sample bot in Python."""
    return f"{{python}} sample_bots/{file}"


RANDOM = Rung("random", python("random_bot.py"), "plays a random legal move")

LADDERS: dict[str, Ladder] = {
    "blooms": Ladder(
        (
            RANDOM,
            Rung("search", python("search_bot.py --playouts 50"), "tree search (UCT) with random games"),
            Rung("greedy", python("greedy_bot.py"), "looks one turn ahead, and counts stones and liberties"),
            Rung(
                "quick",
                "sample_bots/blooms_bot --positions 2000",
                "alpha-beta search, two turns deep as a rule",
                "cc -O2 -o sample_bots/blooms_bot sample_bots/blooms_bot.c",
            ),
            Rung("deep", "sample_bots/blooms_bot", "the same with 30,000 positions, four turns deep"),
        ),
    ),
    "evengroups": Ladder(
        (
            RANDOM,
            Rung("search", python("search_bot.py --playouts 20"), "tree search (UCT) with random games"),
            Rung("even", python("even_bot.py"), "random at first, then complete search of the last 10 cells"),
            Rung(
                "exact",
                "sample_bots/evengroups_bot",
                "complete search of the last 16 cells, before that playouts with exact results",
                "rustc -O -o sample_bots/evengroups_bot sample_bots/evengroups_bot.rs",
            ),
        ),
    ),
    "vinetree": Ladder(
        (
            RANDOM,
            Rung("search", python("search_bot.py --playouts 20"), "tree search (UCT) with random games"),
            Rung("vine", python("vine_bot.py"), "compares moves by random games, and solves the end"),
            Rung(
                "solver",
                "sample_bots/vine_search_bot",
                "the same in C: more playouts, whose ends are solved, and the end solved earlier",
                "cc -O2 -o sample_bots/vine_search_bot sample_bots/vine_search_bot.c",
            ),
        ),
    ),
    "floral": Ladder(
        (
            RANDOM,
            Rung("floral", python("floral_bot.py"), "casts its runes in turn, and excludes wrong guesses"),
            Rung(
                "deducing", python("deducing_bot.py"), "deduces runes from the news, looks a few turns ahead"
            ),
            Rung(
                "planner",
                python("floral_search_bot.py"),
                "plans eight turns in imagined positions, and guesses by exact counts",
            ),
        ),
        clock="2s",  # `deducing` takes a share of the time that it is given
    ),
    "thetree": Ladder(
        (
            RANDOM,
            Rung("tree", python("tree_bot.py"), "looks one tile ahead, and counts what fits"),
            Rung(
                "dealer",
                python("tree_search_bot.py"),
                "deals the hidden tiles anew, compares moves by playouts, and solves the end",
            ),
        ),
    ),
}
"""By the slug of the game."""


class Result(NamedTuple):
    """What a bot did against the one below it."""

    games: int
    points: float
    elo: str
    test: str
    """The decision of the sequential test; empty where it accepted H1, as it must for a ladder."""
    mean_us: int
    """The mean processor time of a move, which depends less on what else the machine does than time does."""


def main(words: list[str]) -> None:
    given = arguments(words)
    with tempfile.TemporaryDirectory(prefix="ladders-") as temporary:
        folder = given.folder or Path(temporary)
        for slug in given.games or LADDERS:
            print(f"## {slug}\n", flush=True)
            made = table(slug, folder, given.most, given.workers)
            print(made, flush=True)
            if given.write:
                PAGE.write_text(replaced(PAGE.read_text(), slug, made))


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plays the ladders of the sample bots.")
    parser.add_argument("games", metavar="GAME", nargs="*", help="default: all that have a ladder")
    parser.add_argument("--most", metavar="N", type=int, default=MAX_GAMES, help="the most games for a rung")
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="how many games at a time")
    parser.add_argument("-o", dest="folder", metavar="DIR", type=Path, help="keeps the games in DIR")
    parser.add_argument("--write", action="store_true", help=f"puts the tables into {PAGE.name}")
    given = parser.parse_args(words)
    for slug in given.games:
        if slug not in LADDERS:
            parser.error(f"`{slug}` has no ladder, expected {', '.join(LADDERS)}")
    return given


def table(slug: str, folder: Path, most: int, workers: int) -> str:
    """The table of a ladder, each rung played."""
    ladder = LADDERS[slug]
    for rung in ladder.rungs:
        if rung.build:
            build(shlex.split(rung.build))
    rows = [row(ladder.rungs[0], None)]
    for below, rung in pairwise(ladder.rungs):
        result = played(slug, ladder, rung, below, folder / f"{slug}-{rung.name}-{below.name}", most, workers)
        rows.append(row(rung, result))
        print(f"{slug}: {rung.name} against {below.name}: {result.test or 'H1'}", file=sys.stderr, flush=True)
    return tabulate(rows, HEADERS, tablefmt="github", disable_numparse=True) + "\n"


def build(command: list[str]) -> None:
    """Makes the program of a bot. Raises `SystemExit` where the compiler is missing or fails."""
    if not shutil.which(command[0]):
        raise SystemExit(f"`{command[0]}` is missing, which builds a bot of this ladder")
    if subprocess.run(command, cwd=ROOT).returncode:
        raise SystemExit(f"`{shlex.join(command)}` failed")


def row(rung: Rung, result: Result | None) -> list[str]:
    """A row of the table; the first rung has nobody below it."""
    command = rung.command.replace("sample_bots/", "").replace("{python} ", "")
    named = [f"**{rung.name}**: `{command}`", rung.does]
    if result is None:
        return named + ["–"] * (len(HEADERS) - len(named))
    score = f"{100 * result.points / result.games:.1f} %"
    games = f"{result.games}{result.test and f', {result.test}'}"
    return [*named, games, score, result.elo, f"{result.mean_us / 1000:.1f} ms"]


def played(
    slug: str, ladder: Ladder, rung: Rung, below: Rung, folder: Path, most: int, workers: int
) -> Result:
    """Plays a rung by the command line. Raises `SystemExit` where that fails or a bot is at fault."""
    words = ["match", slug, f"{rung.name}={rung.command}", f"{below.name}={below.command}"]
    words += ["--sprt", SPRT, "-n", str(most), "--seed", "ladder", "-o", str(folder), "--strict"]
    words += ["--workers", str(workers)]
    for option in ladder.options:
        words += ["--option", option]
    if ladder.clock:
        words += ["--time", ladder.clock]
    told = referee(*words).stderr
    table = json.loads(referee("table", str(folder), "--times", "--format", "json").stdout)
    (own,) = (line for line in table["standings"] if line["bot"] == rung.name)
    (test,) = table["tests"]
    times = own["times"]
    return Result(
        own["games"],
        own["points"],
        interval_text(test["elo"], test["low"], test["high"]),
        decision(told),
        times["cpu_us"] // max(1, times["moves"]),
    )


def decision(told: str) -> str:
    """What `referee match` says of its test; nothing if it accepted H1."""
    found = re.search(r"has decided: (H.) accepted", told)
    return found[1].removeprefix("H1") if found else "not decided"


def referee(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs `referee`. Raises `SystemExit` with what it says where it fails."""
    command = [sys.executable, "-m", "referee", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"`{shlex.join(['referee', *words])}` ended with {done.returncode}\n{done.stderr}")
    return done


def replaced(page: str, slug: str, made: str) -> str:
    """The page with the table of a game replaced: the first one after the heading that ends in its slug.

    Raises `SystemExit` where the page has none.
    """
    pattern = rf"(^## [^\n]*`{slug}`[^\n]*\n(?:(?!## |\|)[^\n]*\n)*)(?:\|[^\n]*\n)+"
    text, count = re.subn(pattern, lambda found: found[1] + made, page, count=1, flags=re.MULTILINE)
    if not count:
        raise SystemExit(f"{PAGE.name} has no table under a heading with `{slug}`")
    return text


if __name__ == "__main__":
    main(sys.argv[1:])
