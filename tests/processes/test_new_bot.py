"""`referee new-bot`: what it writes and refuses, and that the bots of all languages build, pass and play."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.games import GAMES
from referee.templates import HERE, LANGUAGES
from referee.templates.new_bot import NewBot, make
from referee.tournament.file.config import load
from referee.versions.bot_folder import BotFolder
from tests.command import ROOT, referee
from tests.processes.runs import games
from tests.programs import path_of

OUTSIDE = ROOT / "tests" / "outside" / "connect_four.py"


def made(monkeypatch: pytest.MonkeyPatch, parent: Path, language: str, name: str = "petal") -> Path:
    """The folder of a new bot for Blooms."""
    monkeypatch.chdir(parent)
    done = referee("new-bot", name, "--game", "blooms", "--lang", language)
    assert done.code == 0, done.err
    return parent / name


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_folder_has_all_that_its_commands_name(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = referee("new-bot", "petal", "--game", "blooms", "--lang", language)
    assert done.code == 0
    known = LANGUAGES[language]
    entering, *building, checking, matching, playing = done.out.splitlines()
    assert (entering, playing) == ("cd petal", "referee run tournament.toml")
    opponent = "greedy={python} opponents/greedy_bot.py"
    assert shlex.split(matching) == ["referee", "match", "blooms", f"petal={known.command}", opponent]
    assert building == ([known.build] if known.build else [])
    assert shlex.split(checking) == ["referee", "check", "blooms", f"petal={known.command}"]
    folder = tmp_path / "petal"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    beside = {"bot.py"} if language == "python" else set()
    opponents = {"opponents/greedy_bot.py", "opponents/random_bot.py"}
    assert files == {known.program, "README.md", "bot.toml", "tournament.toml", *beside, *opponents}
    for name in (known.program, "README.md"):
        text = (folder / name).read_text()
        assert "petal" in text and "referee docs blooms" in text
        assert not re.search("@[A-Z]+@", text)
    (own, *_) = tomllib.loads((folder / "tournament.toml").read_text())["bot"]
    assert own == {"name": "petal", "cmd": known.command} | ({"build": known.build} if known.build else {})
    readme = (folder / "README.md").read_text()
    assert "against `greedy` and `random` (sample bots in `opponents`)" in readme
    assert "\n".join(["```sh", *building, checking, matching, playing, "```"]) in readme
    (program,) = (path for path in (HERE / language).iterdir() if path.is_file())
    assert program.name == known.program
    assert f"created the bot `petal`: your own idea goes into `choose` in petal/{known.program}" in done.err


@pytest.mark.parametrize("game", GAMES)
def test_the_tournament_has_opponents_that_fit_the_game(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert referee("new-bot", "petal", "--game", game, "--lang", "c").code == 0
    folder = tmp_path / "petal"
    config = load(folder / "tournament.toml")
    names = [entrant.bot.name for entrant in config.entrants]
    assert names[0] == "petal" and names[2] == "random"
    for entrant in config.entrants[1:]:
        program = Path(entrant.bot.command[1])
        assert (folder / program).read_bytes() == (ROOT / "sample_bots" / program.name).read_bytes()
    assert config.origins["petal"].build == tuple(shlex.split(LANGUAGES["c"].build))
    assert config.entrants[0].bot.cwd == folder
    bot = BotFolder.load(folder)
    assert bot.test(bot, bot).names == ("petal", "petal-old") and bot.files[0].path == "main.c"


@pytest.mark.parametrize("given", [OUTSIDE.name, str(OUTSIDE)])
def test_a_game_from_outside_is_found_from_the_bot_s_folder(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(OUTSIDE, tmp_path)
    monkeypatch.chdir(tmp_path)
    done = referee("new-bot", "four", "--game", f"{given}:GAME")
    assert done.code == 0
    monkeypatch.chdir(tmp_path / "four")
    words = shlex.split(done.out.splitlines()[1])
    assert referee("games", words[2]).code == 0
    done = referee("run", "tournament.toml", "--dry-run")
    assert done.code == 0, done.err


def test_an_opponent_gives_way_to_a_bot_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(monkeypatch, tmp_path, "python", "Random")
    tables = tomllib.loads((folder / "tournament.toml").read_text())
    assert [bot["name"] for bot in tables["bot"]] == ["Random", "greedy", "random-2"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("petal", "--game", "blooms"), "`petal` already exists, expected another name"),
        (("file", "--game", "blooms"), "`file` already exists, expected another name"),
        (("link", "--game", "blooms"), "`link` already exists, expected another name"),
        (
            ("a b", "--game", "blooms"),
            "`a b` is not a bot name, expected 1 to 64 characters of A-Z a-z 0-9 . _ + -, not",
        ),
        (("a/b", "--game", "blooms"), "`a/b` is not a bot name"),
        (("..", "--game", "blooms"), "`..` is not a bot name"),
        (("", "--game", "blooms"), "`` is not a bot name"),
        (("x\x1b[2J", "--game", "blooms"), r"`x\x1b[2J` is not a bot name"),
        (
            ("--game", "blooms", "--", "-x"),
            "`-x` would be read as an option on a command line, expected another name",
        ),
        (("new", "--game", "bloms"), "unknown game `bloms`, expected `blooms`"),
        (("new", "--game", "none.py:GAME"), "cannot read the game's file"),
        (("new", "--game", "blooms", "--lang", "perl"), "'perl' is not one of 'python', 'c', 'cpp', 'rust'"),
        (("new",), "Missing option '--game'"),
    ],
)
def test_what_it_refuses(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "petal").mkdir()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    done = referee("new-bot", *words)
    assert (done.code, done.out) == (2, "") and said in done.err and done.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_taken_away_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.chdir(tmp_path)
    done = referee("new-bot", "petal", "--game", "blooms")
    assert done.code == 4
    assert done.err == "referee: cannot write the folder `petal`: No space left on device\n"
    assert not (tmp_path / "petal").exists()


def test_a_toolchain_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    done = referee("new-bot", "petal", "--game", "blooms", "--lang", "java")
    assert done.code == 0 and (tmp_path / "petal" / "Main.java").exists()
    assert done.err.endswith("\nnot installed here but needed: `javac` and `java`\n")
    assert "not installed" not in referee("new-bot", "other", "--game", "blooms").err


Building = Callable[[str], Path]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Building:
    """Builds a new bot in a language, once, with the command that is printed, and returns its folder.

    What a compiler warns of fails; where the toolchain is missing, the test is skipped.
    """
    parent = tmp_path_factory.mktemp("new")

    def build(language: str) -> Path:
        known, folder = LANGUAGES[language], parent / language
        for program in known.needs:
            path_of(program)
        if not folder.exists():
            make(NewBot.of(language, GAMES["blooms"], "blooms", language), parent)
            commands = [known.build] if known.build else []
            commands += {"go": ["go vet main.go"], "javascript": ["node --check main.js"]}.get(language, [])
            for command in commands:
                done = subprocess.run(shlex.split(command), cwd=folder, capture_output=True, text=True)
                assert (done.returncode, done.stdout + done.stderr) == (0, ""), command
        return folder

    return build


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_bot_builds_without_warnings_passes_its_check_and_plays_its_tournament(
    language: str, built: Building, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = built(language)
    monkeypatch.chdir(folder)
    bot = f"{language}={LANGUAGES[language].command}"
    done = referee("check", "blooms", bot, "--option", "size=3", "--time", "2s", "--json")
    steps = json.loads(done.out)["steps"]
    assert {step["result"] for step in steps} == {"passed"}, done.out
    (repeated,) = (step for step in steps if step["title"] == "repeats a seeded game")
    assert repeated["figures"]["same"], "all randomness is from the seed"
    monkeypatch.chdir(tmp_path)
    toml = folder / "tournament.toml"
    text = toml.read_text().replace("rounds = 5", "rounds = 1")
    if language != "c":  # is built already
        text = re.sub("^build = .*\n", "", text, flags=re.MULTILINE)
    toml.write_text(f"{text}[options]\nsize = 3\n")
    done = referee("run", str(toml), "-o", "results", "--strict")
    assert done.code == 0, done.err
    played = games(tmp_path / "results")
    assert len(played) == 6 and not any(any(game["faults"]) for game in played.values())
    assert referee("verify", "results").code == 0


@pytest.mark.slow
def test_a_new_bot_plays_a_game_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(OUTSIDE, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert referee("new-bot", "four", "--game", f"{OUTSIDE.name}:GAME").code == 0
    done = referee("run", "four/tournament.toml", "--strict", "--workers", "0")
    assert done.code == 0, done.err
    assert len(games(tmp_path / "four" / "tournament-results")) == 10


SETTINGS = (
    ("blooms", "size=4"),
    ("vinetree", "size=5"),
    ("evengroups", "size=3"),
    ("floral", "max_turns=12"),
    ("thetree", "players=2"),
    ("thetree", "players=1"),
    ("thetree", "players=3"),
    ("thetree", "players=4"),
)


@pytest.mark.slow
def test_new_bots_of_all_languages_play_every_game(built: Building) -> None:
    bots = []
    for language, known in LANGUAGES.items():
        try:
            folder = built(language)
        except pytest.skip.Exception:
            continue  # the test above says so
        here = {"./main": f"{folder}/main", ".": str(folder), known.program: f"{folder}/{known.program}"}
        command = shlex.join(here.get(word, word) for word in shlex.split(known.command))
        bots.append(f"{language}={command}")
    for game, option in SETTINGS:
        seats = int(option.removeprefix("players=")) if game == "thetree" else 2
        for first in range(0, len(bots), seats):
            table = [bots[(first + seat) % len(bots)] for seat in range(seats)]
            words = ["--option", option, "-n", "1", "--strict", "--time", "5s+30s", "--workers", "0"]
            done = referee("match", game, *table, *words)
            assert done.code == 0, done.err
