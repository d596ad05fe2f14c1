"""Settings for all tests."""

import contextlib
import gc
import multiprocessing
import os
import pickle
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

from referee.processes.launcher import Launcher
from referee.ratings import posterior as sampling
from referee.tournament.formats import outside
from tests.command import ROOT
from tests.holdings import nothing_left
from tests.programs import path_of

pytest_plugins = ["pytester", "tests.skips"]

# A shared machine may stand still for a while; that is no finding. Only the profile `random` draws other
# examples in each run: else a test would fail by chance, after a change that has nothing to do with it.
for profile, examples in (("quick", 30), ("random", 3000)):
    settings.register_profile(
        profile,
        max_examples=examples,
        derandomize=profile != "random",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")

# The strongest level costs each start of a bot some milliseconds; tests of isolation name theirs.
os.environ.setdefault("REFEREE_ISOLATION", "basic")

# What is drawn is drawn as on an ordinary terminal, whatever the one is in which the tests run.
os.environ["TERM"] = "xterm-256color"
for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
    os.environ.pop(name, None)

# The options of this run are not those of the runs that tests start.
os.environ.pop("PYTEST_ADDOPTS", None)

# A shell that runs the tests in the background has them ignore what the tests send to the referee.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than there are cores, since tests wait for processes, slow ones for a third of their time; each
    worker imports all of them first, which takes four seconds of a core.
    """
    return (os.cpu_count() or 1) + (1 if leaves_out_slow_tests(config) else 4)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Has each worker import the tests from another module on: in the order of collection, each would compile
    the same modules at the same time as the others.
    """
    gc.disable()  # what is imported and collected stays
    ours: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if ours is None or session.config.args != session.config.getini("testpaths"):
        return
    folder = ROOT / "tests"
    names = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in folder.rglob("test_*.py")
        if not pytest_ignore_collect(path, session.config)
    )
    first = len(names) * int(ours["workerid"].removeprefix("gw")) // ours["workercount"]
    for name in names[first:] + names[:first]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # the collection reports it
            import_module(name)


SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)
"""How a module begins whose tests are all slow."""


def leaves_out_slow_tests(config: pytest.Config) -> bool:
    """Whether all tests are run but for the slow ones."""
    return bool(config.args == config.getini("testpaths") and config.option.markexpr == "not slow")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Does not import what has slow tests alone if these are left out. Some of it imports large libraries."""
    if not leaves_out_slow_tests(config):
        return None
    if collection_path.is_dir():
        modules = list(collection_path.rglob("test_*.py"))
    else:
        modules = [collection_path] if collection_path.name.startswith("test_") else []
    return (bool(modules) and all(SLOW.search(path.read_text()) for path in modules)) or None


def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str, obj: object
) -> list[pytest.Item] | None:
    """Makes no items of a slow function that would be left out."""
    marks: list[pytest.Mark] = getattr(obj, "pytestmark", []) if name.startswith("test_") else []
    is_slow = any(mark.name == "slow" for mark in marks)
    return [] if is_slow and leaves_out_slow_tests(collector.config) else None


def pytest_configure(config: pytest.Config) -> None:
    """Leaves no slow test out where tests are named one by one."""
    if config.option.markexpr == "not slow" and any("::" in name for name in config.args):
        config.option.markexpr = ""


@pytest.hookimpl(tryfirst=True)  # before `-m` leaves out what does not have its marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all but the first cases of a test `slow`, as many as its mark `quick_cases(COUNT)` says."""
    cases: Counter[str] = Counter()
    for item in items:
        if quick := item.get_closest_marker("quick_cases"):
            function = item.nodeid.partition("[")[0]
            cases[function] += 1
            if cases[function] > quick.args[0]:
                item.add_marker("slow")


def pytest_collection_finish() -> None:
    """Has the garbage collector pass over all that was collected, each time that it runs from now on."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for temporary files that is nobody else's, for us and all that the tests start."""
    tmp_path_factory.getbasetemp()  # stays where it is
    before = os.environ.get("TMPDIR")
    folder = Path(tempfile.mkdtemp(prefix="referee-tests-"))
    folder.chmod(0o755)
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
    yield folder
    if before is None:
        del os.environ["TMPDIR"]
    else:
        os.environ["TMPDIR"] = before
    tempfile.tempdir = None
    shutil.rmtree(folder)


@pytest.fixture(scope="session", autouse=True)
def what_python_keeps() -> None:
    """Python's own process and memory for worker processes, which stay once there were any."""
    multiprocessing.get_context("spawn").Barrier(1)


@pytest.fixture(scope="session", autouse=True)
def launcher_of_all(scratch: Path) -> Iterator[None]:
    """Ends the launcher that the tests share after the last of them."""
    yield
    Launcher.close()


@pytest.fixture(scope="session", autouse=True)
def draws_of_the_same_results() -> Iterator[None]:
    """What was drawn from a posterior is kept for the next table of the same results, of which it would be
    drawn again with the same numbers: two of three tables of the tests are such.
    """
    draw = sampling.posterior

    @lru_cache(maxsize=20)
    def drawn(given: bytes) -> sampling.Posterior:
        return draw(*pickle.loads(given))

    with mock.patch.object(sampling, "posterior", lambda *given: drawn(pickle.dumps(given))):
        yield


@pytest.fixture(autouse=True)
def nothing_is_left(launcher_of_all: None) -> Iterator[None]:
    """After every test there are no more processes, descriptors, threads and temporary files than before; in
    `unit` and `rules`, after every module.

    The launcher is kept from test to test: it takes longer to start than most tests run.
    """
    with nothing_left():
        yield


@pytest.fixture(autouse=True)
def no_loaded_formats() -> Iterator[None]:
    """No test finds a format that another one has loaded from a file."""
    before = dict(outside._loaded)
    yield
    outside._loaded.clear()
    outside._loaded.update(before)


@pytest.fixture
def no_launcher(nothing_is_left: None) -> None:
    """The test begins without one."""
    Launcher.close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter. The folders above `tmp_path` are closed to them whenever another
    pytest starts.
    """
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def c_bot(tmp_path_factory: pytest.TempPathFactory) -> str:
    program = tmp_path_factory.mktemp("bin") / "c_bot"
    source = ROOT / "sample_bots" / "c_bot.c"
    subprocess.run([path_of("cc"), "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True)
    return str(program)


@pytest.fixture(scope="session")
def js_bot() -> str:
    return shlex.join([path_of("node"), str(ROOT / "sample_bots" / "js_bot.js")])
