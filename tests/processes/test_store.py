"""Bots with files of their own play from the store of a machine that has never seen them."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from referee.cluster.bot_files import SentFiles, sent_files
from referee.cluster.store import FileStore
from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.program import Program
from referee.records.record import GameRecord
from referee.tournament.plan import BotOrigin, Entrant, Plan
from referee.tournament.run.readiness import with_hidden
from referee.tournament.schedule import encounter
from referee.tournament.workers.encounter import play_encounter
from tests.command import PLAIN, ROOT
from tests.programs import needs, needs_level

pytestmark = pytest.mark.slow


def send(store: FileStore, files: SentFiles) -> int:
    """Sends what a store lacks; how many archives that are."""
    lacking = store.lacking(files.bots)
    for digest in lacking:
        for part in files.parts(digest):
            store.add(digest, *part)
    return len(lacking)


def played(bot: Program) -> GameRecord:
    """A game of a bot against one that is not isolated."""
    game = GAMES["blooms"]
    rival = Program("b", Program.parse(PLAIN, ROOT).command, ROOT)
    entrants = tuple(Entrant(one, TimeControl.parse("60s")) for one in (bot, rival))
    plan = Plan(game, game.settle({"size": "3", "target": "3"}), entrants, "s")
    terms = [plan.terms(one) for one in encounter(1, ("a", "b")).games[:1]]
    (record,) = play_encounter([bot, rival], terms)
    return record


PROGRAM = """#!/bin/sh
[ "$(cat data/book)" = open ] || exit 3
exec ./engine
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The folder of a bot with a build step and a data file."""
    folder = tmp_path.resolve() / "mine"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "book").write_text("open")
    (folder / "run.sh").write_text(PROGRAM)
    (folder / "run.sh").chmod(0o755)
    shutil.copy(ROOT / "sample_bots" / "c_bot.c", folder / "engine.c")
    return folder


def files_of(source: Path) -> SentFiles:
    bot = Program("a", ("./run.sh",), source)
    build = ("cc", "-O1", "-o", "engine", "engine.c")
    return sent_files([bot], {"a": BotOrigin(build=build, needs=("cc",), has_cwd=True)}, ())


@needs("cc")
@pytest.mark.parametrize("isolation", ["none", "landlock", "bwrap"])
def test_a_bot_with_a_build_and_a_data_file_plays_where_it_has_never_been(
    source: Path, tmp_path: Path, isolation: str
) -> None:
    needs_level(isolation, "")
    told: list[str] = []
    store = FileStore(tmp_path / "store", told.append)
    files = files_of(source)
    assert send(store, files) == 1
    store.ready(files.bots[0])
    assert send(store, files) == 0
    source.rename(source.with_name("gone"))
    (bot,) = with_hidden([replace(store.ready(files.bots[0]), isolation=isolation)], ())
    record = played(bot)
    assert not any(record.faults), record.events[-1:]
    assert not source.exists() and told == ["building a"]
    source.with_name("gone").rename(source)

    before = files.bots[0].digest
    (source / "data" / "book").write_text("shut")
    changed = files_of(source)
    assert changed.bots[0].digest != before and send(store, changed) == 1
    bot = replace(store.ready(changed.bots[0]), isolation=isolation)
    assert played(bot).faults[0], "its program looks at the file"
    (bot.cwd / "data" / "book").write_text("open")
    assert send(store, changed) == 1
    store.ready(changed.bots[0])
    assert told[2] == "bot `a`: restoring files that were changed on this machine: `data/book`"
    assert (bot.cwd / "data" / "book").read_text() == "shut"
    store.close()


BUILDER = """
import pickle, sys
from pathlib import Path
from referee.cluster.store import FileStore
store, files = FileStore(Path(sys.argv[1])), pickle.loads(Path(sys.argv[2]).read_bytes())
(bot,) = files.bots
for part in files.parts(bot.digest):
    store.add(bot.digest, *part)
print(store.ready(bot).cwd)
"""


def test_processes_that_build_at_once_build_once(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.py").write_text("print()")
    count = tmp_path / "count"
    build = ("sh", "-c", f"echo x >>{count}; sleep 0.3; echo done >built")
    files = sent_files([Program("a", ("{python}", "bot.py"), folder)], {"a": BotOrigin(build=build)}, ())
    (tmp_path / "files").write_bytes(pickle.dumps(files))
    words = [sys.executable, "-c", BUILDER, str(tmp_path / "store"), str(tmp_path / "files")]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    folders = {process.communicate()[0] for process in running}
    assert count.read_text() == "x\n" and len(folders) == 1
    assert (Path(folders.pop().strip()) / "built").read_text() == "done\n"


def test_a_process_that_is_killed_while_it_builds_leaves_nothing_that_counts(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.py").write_text("print()")
    begun = tmp_path / "begun"
    build = (
        "sh",
        "-c",
        f"[ -e half ] && exit 9; touch half; [ -e {begun} ] && exit 0; touch {begun}; sleep 60",
    )
    files = sent_files([Program("a", ("{python}", "bot.py"), folder)], {"a": BotOrigin(build=build)}, ())
    store = FileStore(tmp_path / "store")
    (tmp_path / "files").write_bytes(pickle.dumps(files))
    words = [sys.executable, "-c", BUILDER, str(tmp_path / "store"), str(tmp_path / "files")]
    process = subprocess.Popen(words, start_new_session=True)
    while not begun.exists():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    send(store, files)
    bot = store.ready(files.bots[0])
    assert (bot.cwd / "half").exists()
    store.close()
