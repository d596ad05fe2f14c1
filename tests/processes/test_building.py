"""Builds of bots: confined like the bots themselves, with limits."""

from __future__ import annotations

import shlex
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.core.settings import CONFINED, LEVELS
from referee.games import GAMES
from referee.processes import building
from referee.processes.levels import settled
from referee.processes.program import Program
from referee.templates import LANGUAGES
from referee.templates.new_bot import NewBot, make
from tests.command import ROOT, referee
from tests.processes.runs import toml
from tests.programs import needs_level, path_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no isolation")


def bot(folder: Path, level: str, program: str = "./made") -> Program:
    (found,) = settled([Program("a", (program,), folder, isolation=needs_level(level))])
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bot").mkdir()
    return tmp_path / "bot"


@pytest.mark.slow
@pytest.mark.parametrize("level", ["basic", "bwrap"])
def test_a_build_has_a_limit_and_its_output_is_bounded(level: str, folder: Path) -> None:
    it = bot(folder, level)
    assert building.build(it, ("true",)) is None
    late = building.build(it, ("sh", "-c", "echo begun; exec sleep 60"), longest_s=2)
    assert late == ("`sh` did not end within 2 s", ("begun",))
    loud = building.build(it, ("sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo; exit 1"))
    assert loud is not None and len(loud.output) == 1 and len(loud.output[0]) < 300
    assert building.build(it, ("sh", "-c", "sleep 60 & exit 0")) is None, "others hold its output open"
    assert building.build(it, ("no-such-program",)) == (
        "the program `no-such-program` is not on the path",
        (),
    )
    both = building.build(it, ("sh", "-c", "echo one; echo two >&2; exit 7"))
    assert both == ("`sh` exited with status 7", ("one", "two"))


def test_a_build_has_a_limit_of_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "share_of", lambda memory, bots: 100 << 20)
    hungry = ("{python}", "-c", "held = bytearray(400 << 20); import time; time.sleep(60)")
    failed = building.build(bot(folder, "basic"), hungry)
    assert failed is not None and "memory" in failed.reason


ATTACK = """
import os, socket, sys
def tried(name, what):
    try:
        what()
        print(name, "works")
    except OSError:
        pass
secret, outside, port = sys.argv[1:]
tried("reading", lambda: open(secret).read().index("secret") or open(outside + "/none"))
tried("writing", lambda: (open(outside + "/written", "w").close(), os.stat(outside + "/beside"))[1])
tried("network", lambda: socket.create_connection(("127.0.0.1", int(port)), 5))
tried("home", lambda: open(os.environ["HOME"] + "/cache", "w").close())
open("made", "w").write("#!/bin/sh\\n")
"""


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def attacked(folder: Path, level: str, port: int, network: bool) -> list[str]:
    """What a build that attacks could do."""
    outside = folder.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "beside").touch()
    secret = outside / "secret"
    secret.write_text("a secret")
    (folder / "attack.py").write_text(ATTACK)
    words = ("sh", "-c", f"{{python}} attack.py {secret} {outside} {port} >seen; cat seen; exit 1")
    failed = building.build(bot(folder, level), words, network)
    assert failed is not None and failed.reason.endswith("exited with status 1"), failed
    assert (folder / "made").exists(), failed
    assert (outside / "written").exists() == ("writing works" in failed.output)
    return list(failed.output)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("level", LEVELS)
def test_a_build_writes_into_the_folder_of_its_bot_alone_and_has_no_network(
    level: str, folder: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "home").mkdir()
    monkeypatch.setenv("HOME", str(folder.parent / "home"))
    done = attacked(folder, level, port, network=False)
    of_the_user = ["reading works", "writing works", "network works"]
    assert done == [*(() if level in CONFINED else of_the_user), "home works"]
    assert (folder.parent / "home" / "cache").exists() == (level not in CONFINED)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("level", CONFINED)
def test_a_build_that_says_so_has_a_network_and_no_more(level: str, folder: Path, port: int) -> None:
    assert attacked(folder, level, port, network=True) == ["network works", "home works"]


OF_THE_USER = """
import os, socket, sys
file, server = sys.argv[1:]
for name, what in {
    "server": lambda: socket.socket(socket.AF_UNIX).connect(server),
    "attribute": lambda: os.setxattr(file, "user.a", b"1"),
}.items():
    try:
        what()
        print(name, "works")
    except OSError:
        pass
os.utime("made")
os.chmod("made", 0o700)
for name in ("debian_version", "mime.types"):  # pip fails where it finds but cannot read them
    open("/etc/" + name).close() if os.path.exists("/etc/" + name) else None
"""


@pytest.mark.parametrize("level", CONFINED)
def test_a_build_with_a_network_reaches_no_unix_sockets_and_no_attributes_of_files(
    level: str, folder: Path
) -> None:
    file, path = folder.parent / "file", folder.parent / "server"
    for at in (file, folder / "made"):
        at.touch()
    (folder / "attempts.py").write_text(OF_THE_USER)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        words = ("sh", "-c", f"{{python}} attempts.py {file} {path} && cp -p made copied && exit 1")
        failed = building.build(bot(folder, level), words, network=True)
    assert failed == ("`sh` exited with status 1", ()), "its own files it can change, as installers do"
    assert (folder / "made").stat().st_mode & 0o777 == 0o700


def test_at_bwrap_what_is_private_is_hidden_from_a_build(folder: Path) -> None:
    (folder / "t-results").mkdir()
    (folder / "t-results" / "games.jsonl").write_text("records\n")
    words = ("sh", "-c", "cat t-results/games.jsonl; echo more >>t-results/games.jsonl")
    failed = building.build(bot(folder, "bwrap"), words, private=[folder / "t-results"])
    assert failed is None or "No such file" in failed.output[0]
    assert (folder / "t-results" / "games.jsonl").read_text() == "records\n"


@pytest.mark.parametrize("level", CONFINED)
def test_a_build_in_a_folder_that_holds_much_else_is_refused(level: str) -> None:
    failed = building.build(bot(Path("/tmp"), level), ("true",))
    assert failed is not None and "much more than the bot" in failed.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "level"),
    [*((name, "landlock") for name, known in LANGUAGES.items() if known.build), ("rust", "bwrap")],
)
def test_the_templates_of_all_languages_build_where_they_are_confined(
    language: str, level: str, tmp_path: Path
) -> None:
    known = LANGUAGES[language]
    for program in known.needs:
        path_of(program)
    make(NewBot.of("petal", GAMES["blooms"], "blooms", language), tmp_path)
    it = bot(tmp_path / "petal", level, shlex.split(known.command)[0])
    assert building.build(it, tuple(shlex.split(known.build))) is None
    it.check()


@pytest.mark.slow
def test_a_tournament_builds_at_the_level_of_the_bot(tmp_path: Path) -> None:
    """At `none` the build can write beside its folder, at `landlock` not: the bot is left out."""
    plain = ROOT / "sample_bots" / "plain_bot.py"
    for level, is_built in (("none", True), ("landlock", False)):
        folder = tmp_path / level
        (folder / "c").mkdir(parents=True)
        shutil.copy(plain, folder / "c" / "plain.py")
        file = toml(folder / "t.toml", rounds=1)
        text = file.read_text().rpartition("[[bot]]")[0]
        file.write_text(
            f'{text}[[bot]]\nname = "c"\ncwd = "c"\ncmd = "{{python}} made.py"\n'
            "build = \"sh -c 'cp plain.py made.py && echo >../beside'\"\n"
        )
        done = referee("run", str(file), "--isolation", level)
        assert done.code == 0 and ("left out" not in done.err) == is_built, done.err
        assert (folder / "beside").exists() == is_built
