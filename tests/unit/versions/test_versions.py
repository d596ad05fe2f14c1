"""The versions of a bot: which files one consists of, what is kept of it, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from referee.cluster.bot_files import sent_files
from referee.core.errors import UsageError
from referee.processes.program import Program
from referee.ratings.columns import estimate_text
from referee.ratings.sprt import SprtResult
from referee.tournament.plan import BotOrigin
from referee.versions.bot_folder import BotFolder
from referee.versions.store import Version, Versions
from tests.command import referee
from tests.tools.synthetic import write

TOML = """[tournament]
game = "blooms"
sprt = "0,100"
clock = "1s"
openings = { file = "lines.txt" }

[[bot]]
name = "petal"
cmd = "{python} main.py"
"""

ACCEPTED = SprtResult("", "petal", "petal-old", 0, 100, 0.05, 0.05, "logistic", (0, 1, 2, 0, 9), 3.0, "H1")


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """The folder of a bot, which is its files."""
    folder = tmp_path / "petal"
    (folder / "parts").mkdir(parents=True)
    (folder / "bot.toml").write_text(TOML)
    (folder / "lines.txt").write_text("L:A1\n")
    (folder / "main.py").write_text("import parts.one\n")
    (folder / "parts" / "one.py").write_text("pass\n")
    return folder


def stored(folder: Path, test: SprtResult | None = None) -> Version:
    """The version that the files of a bot become when they pass."""
    bot = BotFolder.load(folder)
    versions = Versions(bot)
    (built,) = versions.built(bot)
    return versions.add(built, "a note", versions.named(None), test)


def test_a_version_is_all_files_of_the_bot_and_its_table(bot: Path) -> None:
    first = BotFolder.load(bot).sha256
    (bot / "bot.toml").write_text(TOML.replace("1s", "2s"))
    assert stored(bot).sha256 == first, "the terms of the test do not matter"
    kept = {path.name for path in (bot / "versions" / "1").rglob("*.*")}
    assert kept == {"bot.toml", "lines.txt", "main.py", "one.py"}
    assert BotFolder.load(bot).sha256 == first, "versions are no files of the bot"
    command = ("{python}", "main.py")
    (sent,) = sent_files([Program.of("petal", command, bot)], {"petal": BotOrigin(has_cwd=True)}, ()).bots
    assert not any(file.path.startswith("versions") for file in sent.files), "nor anywhere else"
    (bot / "bot.toml").write_text(TOML.replace("main.py", "main.py --deep"))
    assert BotFolder.load(bot).sha256 != first
    (bot / "bot.toml").write_text(TOML)
    (bot / "parts" / "one.py").write_text("deep = True\n")
    second = stored(bot, ACCEPTED)
    assert second.sha256 != first and (second.number, second.against) == (2, "petal@1")
    assert second.gain == estimate_text(ACCEPTED)
    assert Versions(BotFolder.load(bot)).all[1] == second, "the list reads as it was written"


def test_the_list_has_ratings_over_all_games_between_versions(bot: Path, tmp_path: Path) -> None:
    assert referee("test", str(bot), "--versions").err == "no version of `petal` has passed yet\n"
    first = stored(bot)
    (bot / "main.py").write_text("better = True\n")
    second = stored(bot, ACCEPTED)
    write(tmp_path, 2, 60)
    tests = bot / "versions" / "tests"
    for number, names in enumerate(((second, first), (second, second)), 1):
        key = "-".join(version.sha256[:16] for version in names)
        shutil.copytree(tmp_path / "pool-results", tests / f"{key}-0000000{number}-results")
    played = json.loads(referee("table", str(tmp_path / "pool-results"), "--format", "json").out)
    elo = {row["bot"]: row["elo"] for row in played["standings"]}
    rows = json.loads(referee("test", str(bot), "--versions", "--format", "json").out)
    assert [(row["version"], row["games"], row["against"]) for row in rows] == [
        ("petal@1", 60, ""),
        ("petal@2", 60, "petal@1"),
    ], "a null test tells nothing of versions"
    assert [row["elo"] for row in rows] == [elo["bot2"], elo["bot1"]]
    assert rows[1]["gain"] == second.gain and rows[0]["gain"] == "–"
    text = referee("test", str(bot), "--versions").out
    assert "a note" in text and second.sha256[:12] in text


def test_changed_versions_are_not_played_against(bot: Path) -> None:
    version = stored(bot)
    versions = Versions(BotFolder.load(bot))
    assert versions.load(version).sha256 == version.sha256
    (bot / "main.py").write_text("new = True\n")
    for path, text in (("main.py", "# by hand"), ("more.py", ""), ("parts/one.py", None)):
        file = bot / "versions" / "1" / path
        before = file.read_bytes() if file.exists() else None
        file.unlink() if text is None else file.write_text(text)
        done = referee("test", str(bot))
        assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1
        assert "are not those of `petal@1` that passed, expected them unchanged" in done.err
        file.unlink(missing_ok=True)
        if before is not None:
            file.write_bytes(before)
    (built,) = versions.built(versions.load(version))
    (built.folder / "main.py").write_text("# by itself")
    with pytest.raises(UsageError, match=r"main\.py` was changed while it was read or tested"):
        versions.add(built, "", None, None)
    assert len(Versions(BotFolder.load(bot)).all) == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("sprt", "rounds = 3\nsprt"), "unknown key `tournament.rounds`, expected one of game, sprt, clock"),
        (
            ("sprt =", "#"),
            '`tournament.sprt` is missing, expected a sequential test, such as `sprt = "0,10"`',
        ),
        (("0,100", "5"), "`tournament.sprt`: `5` is not a sequential test"),
        (('"1s"', "2026-12-01"), "`tournament.clock` is `2026-12-01`, expected a time control"),
        (("[tour", "options = 3\n[tour"), "`options` is `3`, expected an object of strings and numbers"),
        (('"1s"', '"soon"'), "`tournament.clock`: `soon` is not a time control"),
        (("[[bot]]", "[limits]\n[[bot]]"), "unknown key `limits`, expected"),
        (("cmd =", 'cwd = ".."\ncmd ='), "unknown key `bot.1.cwd`, expected"),
        (("[[bot]]", '[[bot]]\nname = "x"\ncmd = "y"\n[[bot]]'), "it has 2 bots, expected one"),
        (("lines.txt", "none.txt"), "none.txt`: No such file or directory"),
        (("main.py", "../main.py"), "main.py`, expected files in its folder by relative paths"),
        (('cmd = "{', 'needs = ["no-such-program"]\ncmd = "{'), "it needs `no-such-program`"),
        (('cmd = "{', 'files = ["*.rs"]\ncmd = "{'), "its `files` have `*.rs`, but there is no such file"),
    ],
)
def test_a_wrong_file_is_told_in_a_line(change: tuple[str, str], told: str, bot: Path) -> None:
    (bot.parent / "main.py").write_text("pass\n")
    (bot / "bot.toml").write_text(TOML.replace(*change))
    done = referee("test", str(bot))
    assert done.code == (5 if "needs" in told else 2) and not done.out, done.err
    assert done.err.startswith(f"referee: `{bot}/bot.toml`: ") and told in done.err, done.err
    assert done.err.count("\n") == 1


def test_a_test_under_other_terms_is_another_one(bot: Path) -> None:
    def key() -> str:
        found = BotFolder.load(bot)
        return found.test(*Versions(found).built(found, found)).file.path.name[-13:]

    first = key()
    (bot / "bot.toml").write_text(
        TOML.replace("[[bot]]", 'workers = 1\nbudget = 9\nisolation = "none"\n[[bot]]')
    )
    assert key() == first
    (bot / "bot.toml").write_text(TOML.replace("1s", "2s"))
    assert key() != first
    (bot / "bot.toml").write_text(TOML)
    (bot / "lines.txt").write_text("L:B1\n")
    assert key() != first, "other openings"


def test_what_cannot_be_tested_is_told_in_a_line(bot: Path) -> None:
    def told(*words: str) -> str:
        done = referee("test", *words)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
        return done.err

    assert "bot.toml`, expected the folder of a bot with a `bot.toml`" in told(str(bot.parent))
    assert "before the first version has passed" in told(str(bot), "--against", "petal@1")
    stored(bot)
    assert "there is no version `rose@1`, expected one of petal@1" in told(str(bot), "--against", "rose@1")
    assert "only one of them" in told(str(bot), "--against", "petal@1", "--null")
    assert "`--format` is given without `--versions`" in told(str(bot), "--format", "csv")
    for options in ([], ["--against", "petal@1"]):
        done = referee("test", str(bot), *options)
        assert done.code == 0 and "nothing is new, so nothing is tested" in done.err
    main = bot / "main.py"
    (bot / "bot.toml").write_text(TOML.replace("main.py", str(main)))
    assert f"names `{main}`, expected files in its folder by relative paths" in told(str(bot))
    (bot / "bot.toml").write_text(TOML)
    listed = bot / "versions" / "versions.toml"
    for text in ("x", "version = 3", "[[version]]\nnumber = 1\n", listed.read_text() * 2):
        listed.write_text(text)
        assert f"`{listed}`: " in told(str(bot)) and told(str(bot), "--versions")
    shutil.rmtree(bot / "versions")
    (bot / "versions").write_text("")
    assert "cannot write to" in told(str(bot))
