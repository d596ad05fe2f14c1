"""The sample bots, in real matches."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from referee.games import GAMES
from referee.games.blooms import BloomsState
from referee.tournament.file.config import load
from tests.command import GREEDY, PLAIN, RANDOM, ROOT, in_python, referee
from tests.processes.runs import games, lines_of
from tests.programs import path_of


@pytest.mark.slow
def test_every_bot_plays_on_a_large_board(c_bot: str, js_bot: str) -> None:
    for one, other in ((RANDOM, PLAIN), (GREEDY, c_bot), (js_bot, RANDOM)):
        words = ["--option", "size=8", "--option", "target=6", "--strict", "--time", "20s"]
        done = referee("match", "blooms", one, other, *words)
        assert done.code == 0, done.err


@pytest.mark.slow
def test_the_same_seed_plays_the_same_games(tmp_path: Path, c_bot: str, js_bot: str) -> None:
    for one, other in ((GREEDY, RANDOM), (c_bot, js_bot)):
        runs = []
        for number, seed in enumerate(("7", "7", "8")):
            folder = tmp_path / f"{len(list(tmp_path.iterdir()))}-{number}"
            done = referee("match", "blooms", one, other, "--seed", seed, "-o", str(folder), "-n", "4")
            assert done.code == 0
            runs.append([*games(folder).values()])
        assert runs[0] == runs[1]
        assert [game["events"] for game in runs[0]] != [game["events"] for game in runs[2]]


TOURNAMENTS = ["thetree-four", *(f"ladder-{slug}" for slug in GAMES)]
"""Files in which each sample bot plays. Those of other formats are played by the tests of pages."""

QUICKER = {
    "ladder-blooms": "positions 400",
    "ladder-evengroups": "playouts 20",
    "ladder-floral": "beam 2",
    "ladder-thetree": "playouts 8",
    "ladder-vinetree": "playouts 20",
}
"""What makes the last bot of a ladder quick."""

SHORTER = {"ladder-evengroups": "size = 3", "ladder-floral": "max_turns = 16", "ladder-vinetree": "size = 5"}
"""The option that makes the games of a ladder short."""


@pytest.mark.slow
@pytest.mark.parametrize("name", TOURNAMENTS)
def test_a_tournament_is_played_without_a_fault(name: str, tmp_path: Path) -> None:
    (tmp_path / "tournaments").mkdir()
    # Bots are built there, while other tests read the folder of the checkout.
    shutil.copytree(
        ROOT / "sample_bots", tmp_path / "sample_bots", ignore=shutil.ignore_patterns("*_bot", "*.o")
    )
    file = tmp_path / "tournaments" / f"{name}.toml"
    text = (ROOT / "tournaments" / f"{name}.toml").read_text()
    text = re.sub(r"^rounds = .*", "rounds = 1", text, flags=re.MULTILINE)
    text = re.sub(r"--playouts \d+", "--playouts 8", text)
    if name in QUICKER:
        whole, last, command = text.rpartition('cmd = "')
        text = whole + last + command.replace('"', f' --{QUICKER[name]}"', 1)
    text = re.sub(r"^clock = .*", 'clock = "1m"', text, flags=re.MULTILINE)
    if name == "ladder-floral":  # one of its bots takes a share of the time that it has
        text = text.replace('clock = "1m"', 'clock = "5s"')
    if name in SHORTER:
        text += f"\n[options]\n{SHORTER[name]}\n"
    file.write_text(text)
    done = referee("run", str(file), "--notes")
    assert done.code == 0, done.err
    assert re.search(r"Elo ± 95 %|mean left|Buchholz", done.out)
    folder = tmp_path / "tournaments" / f"{name}-results"
    assert not any(any(game["faults"]) for game in games(folder).values())
    assert referee("verify", str(folder)).code == 0


def test_every_tournament_file_is_read() -> None:
    for path in sorted((ROOT / "tournaments").glob("*.toml")):
        assert load(path).entrants


@pytest.mark.slow
def test_a_match_of_greedy_against_random_stops_as_soon_as_the_test_is_decided(tmp_path: Path) -> None:
    words = ["match", "blooms", f"greedy={GREEDY}", f"random={RANDOM}", "--option", "size=3", "--seed", "1"]
    words += ["--sprt", "0,200", "-o", str(tmp_path), "--workers", "2"]
    done = referee(*words)
    assert done.code == 0, done.err
    assert (
        "the stopping rule has decided: H1 accepted: +200 Elo fits `greedy` − `random` better than +0, LLR +"
        in done.err
    )
    assert 8 <= len(games(tmp_path)) <= 40 and f"\n{len(games(tmp_path))} games, head hash" in done.err
    assert re.search(r"^ *1 +greedy ", done.out, re.MULTILINE)
    assert referee("verify", str(tmp_path)).code == 0
    again = referee(*words)
    assert again.code == 0 and again.out == done.out, "the same is decided, and nothing more is played"


class Searcher(NamedTuple):
    """A search bot that is compiled, and has rules of its own."""

    game: str
    source: str
    build: str
    quick: str
    """What makes it quick."""
    options: tuple[str, ...]
    """Options of the game, besides none."""


C = "cc -O2 -Wall -Wextra -Werror"
SEARCHERS = [
    Searcher("blooms", "blooms_bot.c", C, "--positions 400", ("size=3", "target=40", "size=8 target=3")),
    Searcher(
        "evengroups", "evengroups_bot.rs", "rustc -O -D warnings", "--playouts 20", ("size=3", "size=8")
    ),
    Searcher("vinetree", "vine_search_bot.c", C, "--playouts 20", ("bend=included", "size=3", "size=13")),
]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Searcher], str]:
    """Builds a searcher, and gives the command of a quick one."""
    folder = tmp_path_factory.mktemp("searchers")

    def build(it: Searcher) -> str:
        compiler, *words = it.build.split()
        found = path_of(compiler)
        program = folder / it.game
        if not program.exists():
            source = str(ROOT / "sample_bots" / it.source)
            subprocess.run([found, *words, "-o", str(program), source], check=True)
        return f"{program} {it.quick}"

    return build


@pytest.mark.slow
@pytest.mark.parametrize("it", SEARCHERS, ids=lambda it: it.game)
def test_a_search_bot_with_rules_of_its_own_knows_them(
    it: Searcher, built: Callable[[Searcher], str], tmp_path: Path
) -> None:
    """None of its moves is rejected, it wins what it says is won, and knows how much was captured."""
    said = 0
    for number, given in enumerate(("", *it.options)):
        folder = tmp_path / str(number)
        words = [word for option in given.split() for word in ("--option", option)]
        words += ["-n", "1", "--seed", "rules", "--strict", "-o", str(folder)]
        done = referee("match", it.game, f"one={built(it)}", f"other={built(it)}", *words)
        assert done.code == 0, done.err
        for game in lines_of(folder)[1:]:
            assert not [event for event in game["events"] if "rejected" in event]
            rules = GAMES[it.game]
            state = rules.start(rules.settle({key: str(value) for key, value in game["options"].items()}))
            for event, measured in zip(game["events"], game["measured"]["events"], strict=True):
                (mover,) = state.to_act()
                info = measured.get("info", "")
                if info.startswith("value 1 nodes"):
                    said += 1
                    assert game["ranks"][mover] == 1, info
                if captured := re.search(r"captured (\d+) : (\d+)", info):
                    said += 1
                    assert isinstance(state, BloomsState)
                    own, others = state.captures[mover], state.captures[1 - mover]
                    assert (int(captured[1]), int(captured[2])) == (own, others)
                state = state.play({mover: state.read(mover, event["move"])})
    assert said >= 5


@pytest.mark.slow
@pytest.mark.parametrize("it", SEARCHERS[:2], ids=lambda it: it.game)  # one in each language
def test_the_search_bots_pass(it: Searcher, built: Callable[[Searcher], str]) -> None:
    done = referee("check", it.game, built(it), "--start", "10s", "--time", "5s")
    assert done.code == 0, done.out


ONE_GAME = {
    name: slug
    for slug, names in {
        "blooms": ("greedy",),
        "evengroups": ("even",),
        "floral": ("deducing", "floral", "floral_search"),
        "thetree": ("tree", "tree_search"),
        "vinetree": ("vine",),
    }.items()
    for name in names
}
"""The bots in Python that know one game alone."""


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", ONE_GAME)
def test_a_bot_that_is_given_a_game_that_it_does_not_know_says_so(name: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "sample_bots" / f"{name}_bot.py"],
        input="hello 1\ngame chess 1 1 2\n",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, f"this bot plays `{ONE_GAME[name]}`, not `chess`\n")


TREE_SEARCH = f"{in_python(ROOT / 'sample_bots' / 'tree_search_bot.py')} --playouts 20"
FLORAL_SEARCH = f"{in_python(ROOT / 'sample_bots' / 'floral_search_bot.py')} --worlds 2 --beam 4 --depth 4"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("thetree", [TREE_SEARCH, "--option", "players=1"]),
        ("thetree", [TREE_SEARCH] * 3 + ["--option", "players=3", "--option", "places=first"]),
        ("floral", [FLORAL_SEARCH, FLORAL_SEARCH, "--option", "max_turns=30"]),
    ],
)
def test_the_search_bots_of_hidden_games_play_the_same_game_again(
    game: str, words: list[str], tmp_path: Path
) -> None:
    """Without a fault or a rejected move."""
    runs = []
    for number in "12":
        folder = tmp_path / number
        words = [f"{index}={word}" if "_bot" in word else word for index, word in enumerate(words)]
        done = referee("match", game, *words, "-n", "1", "--seed", "7", "--strict", "-o", str(folder))
        assert done.code == 0, done.err
        (line,) = lines_of(folder)[1:]
        assert not [event for event in line["events"] if "rejected" in event or "defaulted" in event]
        runs.append(line["events"])
        words = [word.partition("=")[2] if "_bot" in word else word for word in words]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("slug", GAMES)
def test_the_page_of_the_ladders_has_the_bots_of_each_tournament_in_order(slug: str) -> None:
    page = (ROOT / "referee" / "docs" / "LADDERS.md").read_text()
    section = page.partition(f"(`{slug}`)\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| \*\*(\w+)\*\*: `(.*?)`", section, re.MULTILINE)
    text = (ROOT / "tournaments" / f"ladder-{slug}.toml").read_text()
    played = re.findall(r'^name = "(.*)"\n(?:(?:needs|cwd|build) = .*\n)*cmd = "(.*)"', text, re.MULTILINE)
    assert told == [(name, command.split("/")[-1]) for name, command in played]
