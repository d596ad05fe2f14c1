"""Every benchmark and tool runs as its row in CONTRIBUTING.md says, wherever a contributor may run it: as
root and as an ordinary user, with bubblewrap and without it, at the level of isolation that they get.
"""

from __future__ import annotations

import fnmatch
import hashlib
import importlib.util
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.command import ROOT, environment_of_contributors
from tests.needed import LACKING
from tests.processes.test_programs import SYSTEM_PATH, SYSTEM_PYTHON
from tests.programs import copied_to
from tests.waiting import TOO_LONG_S

PRINTED = {
    "tests.bench.cluster": "isolation none",
    "tests.bench.encounter": "basic ",
    "tests.bench.engines": "worst ms",
    "tests.bench.find_vinetree_positions": ", ",
    "tests.bench.imagine": "99 % ms",
    "tests.bench.isolation": "basic ",
    "tests.bench.league": "round robin",
    "tests.bench.live_view": "share of the time",
    "tests.bench.overhead": "isolation none",
    "tests.bench.scheduler": "1 real",
    "tests.bench.tournament": "isolation ",
    "tests.tools.attacks": "in the table",
    "tests.tools.broken_bots": "no_number.py",
    "tests.tools.catalogue": "test_the_same_games_whatever_the_workers",
    "tests.tools.chaos": "starved",
    "tests.tools.cluster_storm": "nothing was wrong",
    "tests.tools.coverage": "one round copied",
    "tests.tools.crash_points": "larger, at random moments",
    "tests.tools.fairness": "0 wronged, 0 spared",
    "tests.tools.fault_soak": "40 games in",
    "tests.tools.game_pictures": "",
    "tests.tools.golden": "",
    "tests.tools.guards": "group-kill",
    "tests.tools.hostile_run": "forged",
    "tests.tools.key_tables": "number from 1 to 1,000,000",
    "tests.tools.ladders": "not decided",
    "tests.tools.liveness": "over 1 s",
    "tests.tools.module_list": "`gameplay.loop`",
    "tests.tools.mutations": " → ",
    "tests.tools.promises": "## CONTRIBUTING",
    "tests.tools.readme_pictures": "",
    "tests.tools.screenshots": "@390-dark",
    "tests.tools.signal_moments": "ended with 3",
    "tests.tools.soak": "thetree players=4",
    "tests.tools.sprt_runs": "decided wrongly",
    "tests.tools.swiss_rounds": "2 rounds, 6 pairs: 4 the same",
    "tests.tools.synthetic": "games of 8 bots",
}
"""What each of them prints."""

SECONDS = {
    "tests.bench.cluster": 10,
    "tests.bench.tournament": 7,
    "tests.tools.attacks": 8,
    "tests.tools.cluster_storm": 7,
    "tests.tools.crash_points": 12,
    "tests.tools.ladders": 8,
    "tests.tools.promises": 8,
    "tests.tools.readme_pictures": 10,
    "tests.tools.screenshots": 16,
}
"""The processor time of those that take longer than others. They run once as each user, and do not take each
turn with and without bubblewrap.
"""


class Row(NamedTuple):
    """A row of the table in CONTRIBUTING.md."""

    module: str
    words: str


def rows() -> list[Row]:
    """All rows: what is to be run as `.venv/bin/python -m MODULE WORDS`."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    found = re.findall(r"^\| `(tests\.[\w.]+) ?(.*?)` \|", page, re.MULTILINE)
    return [Row(*row) for row in found]


def test_the_table_has_a_row_for_each_benchmark_and_tool() -> None:
    programs = {
        f"tests.{path.parent.name}.{path.stem}"
        for folder in ("bench", "tools")
        for path in (ROOT / "tests" / folder).glob("*.py")
        if 'if __name__ == "__main__":' in path.read_text()
    }
    assert sorted(row.module for row in rows()) == sorted(programs) == sorted(PRINTED)


def cases() -> Iterator[Any]:
    """Each row as both users, with and without bubblewrap, and the longer ones less often."""
    for row in rows():
        seconds = SECONDS.get(row.module, 3)
        for user in ("", "nobody"):
            for has_bubblewrap in (True, False):
                if row.module in SECONDS and has_bubblewrap == bool(user):
                    continue
                name = f"{row.module.removeprefix('tests.')}-{user or 'own'}"
                yield pytest.param(
                    *(row, user, has_bubblewrap),
                    id=name if has_bubblewrap else f"{name}-without_bwrap",
                    marks=pytest.mark.slow(seconds=seconds),
                )


@pytest.fixture(scope="module")
def checkout_of(scratch: Path) -> Iterator[Callable[[str], Path]]:
    """Copies the checkout for a user; empty for the one who runs the tests."""
    top = Path(tempfile.mkdtemp(dir=scratch))
    top.chmod(0o755)

    @cache
    def copied(user: str) -> Path:
        folder = top / (user or "own") / "checkout"
        folder.mkdir(parents=True)
        copied_to(folder)
        if user:
            for path in (folder.parent, *folder.parent.rglob("*")):
                shutil.chown(path, user, pwd.getpwnam(user).pw_gid) if not path.is_symlink() else None
        return folder

    yield copied
    shutil.rmtree(top)


@pytest.fixture(scope="module")
def without_bubblewrap(scratch: Path) -> Iterator[Callable[[str], str]]:
    """Makes a folder with all programs of a path but one."""
    top = Path(tempfile.mkdtemp(dir=scratch))
    top.chmod(0o755)

    @cache
    def linked(path: str) -> str:
        folder = Path(tempfile.mkdtemp(dir=top))
        folder.chmod(0o755)
        for place in map(Path, path.split(":")):
            for program in place.iterdir() if place.is_dir() else ():
                if program.name != "bwrap" and not (folder / program.name).is_symlink():
                    (folder / program.name).symlink_to(program)
        return str(folder)

    yield linked
    shutil.rmtree(top)


def contents(folder: Path) -> dict[str, str]:
    """The digests of all files and folders that are or would be under version control."""
    ignored = [line.strip("/") for line in (folder / ".gitignore").read_text().splitlines()]

    def is_ignored(path: Path) -> bool:
        names = [name for part in (path, *path.parents) for name in (str(part), part.name)]
        return any(fnmatch.fnmatch(name, pattern) for name in names for pattern in ignored)

    return {
        str(path): hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "no file"
        for file in folder.rglob("*")
        if not is_ignored(path := file.relative_to(folder))
    }


def python_of(user: str, checkout: Path) -> str:
    """The interpreter of a user's environment. Skips the test where there can be none."""
    if not user:
        return sys.executable
    if not shutil.which(SYSTEM_PYTHON):
        pytest.skip(f"needs `{SYSTEM_PYTHON}`")
    version = subprocess.run([SYSTEM_PYTHON, "--version"], capture_output=True, text=True).stdout
    if f"Python {sys.version_info[0]}.{sys.version_info[1]}." not in version:
        pytest.skip(f"needs `{SYSTEM_PYTHON}` of this version, which every user can execute")
    environment = checkout.with_name("environment")
    if not environment.exists():
        subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--without-pip", environment], check=True)
        (packages,) = environment.glob("lib/python*/site-packages")
        (packages / "checkout.pth").write_text(f"{checkout}\n{sysconfig.get_path('purelib')}\n")
    return str(environment / "bin" / "python")


SENTENCE = "Each command of the table runs as it stands there."


@pytest.mark.promise("CONTRIBUTING", SENTENCE, case="bench.isolation-own")
@pytest.mark.promise("CONTRIBUTING", SENTENCE, case="bench.overhead-own")
@pytest.mark.promise("CONTRIBUTING", SENTENCE, case="tools.fairness-own")
@pytest.mark.promise("CONTRIBUTING", SENTENCE, case="tools.soak-own")
@pytest.mark.parametrize(("row", "user", "has_bubblewrap"), list(cases()))
def test_it_runs(
    row: Row,
    user: str,
    has_bubblewrap: bool,
    checkout_of: Callable[[str], Path],
    without_bubblewrap: Callable[[str], str],
) -> None:
    if user and os.geteuid():
        pytest.skip("only root can run it as another user")
    folder = checkout_of(user)
    python = python_of(user, folder)
    env = {**environment_of_contributors(), **({"PATH": SYSTEM_PATH} if user else {})}
    if not has_bubblewrap:
        env["PATH"] = without_bubblewrap(env["PATH"])
    before = contents(folder)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        Path(temporary).chmod(0o755)  # bots of other users are started below it
        if user:
            env["HOME"] = temporary
            shutil.chown(temporary, user)
        done = subprocess.run(
            [python, "-m", row.module, *shlex.split(row.words)],
            cwd=folder,
            env={**env, "TMPDIR": temporary},
            user=user or None,
            group=pwd.getpwnam(user).pw_gid if user else None,
            extra_groups=[] if user else None,
            capture_output=True,
            text=True,
            timeout=TOO_LONG_S,
            stdin=subprocess.DEVNULL,
        )
    assert contents(folder) == before, "nothing in the checkout is changed"
    if done.returncode == LACKING and (lacking := re.fullmatch(r"needs `(\w+)`\n", done.stderr)):
        assert not shutil.which(lacking[1], path=env["PATH"]) and not importlib.util.find_spec(lacking[1])
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "Traceback" not in done.stderr, done.stderr
    assert PRINTED[row.module] in done.stdout
    if row.module.startswith("tests.bench.") and not has_bubblewrap:
        assert "bwrap" not in done.stdout


@pytest.mark.slow(seconds=5)
@pytest.mark.parametrize(
    ("module", "missing"),
    [
        *((f"tests.bench.{name}", "cc") for name in ("cluster", "encounter", "isolation")),
        *((f"tests.bench.{name}", "cc") for name in ("overhead", "tournament")),
        ("tests.tools.screenshots", "chromium"),
        ("tests.tools.screenshots", "playwright"),
        ("tests.bench.cluster", "distributed"),
        ("tests.tools.cluster_storm", "distributed"),
    ],
)
def test_what_lacks_something_ends_with_a_line_that_names_it(module: str, missing: str) -> None:
    if missing == "chromium":
        pytest.importorskip("playwright")
    without = (
        "import runpy, sys; _, module, missing, *words = sys.argv; sys.argv = [module, *words];"
        " sys.modules[missing] = None; runpy.run_module(module, run_name='__main__', alter_sys=True)"
    )
    words = shlex.split(next(row.words for row in rows() if row.module == module))
    env = {**os.environ, "PATH": "" if missing in ("cc", "chromium") else os.environ["PATH"]}
    command = [sys.executable, "-c", without, module, missing, *words]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (LACKING, "", f"needs `{missing}`\n")
