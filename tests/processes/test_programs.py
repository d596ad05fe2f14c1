"""Programs as people write and install them start at every level of isolation, and play a whole game."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from referee.core.settings import CONFINED, LEVELS
from referee.core.units import TimeControl
from referee.gameplay.events import Retired
from referee.games import GAMES
from referee.processes.program import Program
from referee.records.record import GameRecord
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.workers.encounter import play_encounter
from tests.command import PLAIN, ROOT
from tests.programs import needs_level, path_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no isolation")

PLAYER = (ROOT / "sample_bots" / "plain_bot.py").read_text()
START_US = 60_000_000


class Workshop(NamedTuple):
    """Where programs are made for a test: folders that every user may read."""

    folder: Path
    """The bot's own folder."""
    home: Path
    """The home folder of who installs packages."""
    python: str
    """An interpreter outside of virtual environments."""
    path: str
    """The folders that programs are searched for in."""

    def bot(
        self, *command: str, cwd: Path | None = None, read: tuple[Path, ...] = (), path: str = "", **env: str
    ) -> Program:
        """A bot with the home folder of the workshop."""
        variables = {"HOME": str(self.home), "PATH": path or self.path, **env}
        return Program("a", command, cwd or self.folder, tuple(variables.items()), read=read)

    def script(self, beginning: str = "", name: str = "bot.py", below: Path | None = None) -> Path:
        """A bot in Python that begins with some statements and then plays."""
        return self.text(name, f"{beginning}\n{PLAYER}", below)

    def text(self, name: str, text: str, below: Path | None = None) -> Path:
        """An executable file with some text."""
        file = (below or self.folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def run(self, *command: str | Path) -> None:
        """Runs a command that prepares a program; without what it needs, the test is skipped."""
        env = {"HOME": str(self.home), "PATH": self.path, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(command, env=env, cwd=self.home, capture_output=True, text=True)
        except OSError as error:
            pytest.skip(f"cannot run `{command[0]}`: {error.strerror}")
        if done.returncode:
            pytest.skip(f"`{' '.join(map(str, command))}` failed: {done.stderr[-500:]}")

    def wheel(self, files: dict[str, str]) -> Path:
        """A package `opening` that can be installed."""
        file = self.home / "opening-1.0-py3-none-any.whl"
        info = "opening-1.0.dist-info"
        with zipfile.ZipFile(file, "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
            archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: opening\nVersion: 1.0\n")
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
        return file

    def environment(self, folder: Path, *packages: str | Path) -> Path:
        """The interpreter of a new virtual environment, with packages that are installed in it."""
        self.run(self.python, "-m", "venv", "--without-pip", folder)  # pip takes longer than all the rest
        interpreter = folder / "bin" / "python"
        if packages:
            self.run(self.python, "-m", "pip", "--python", interpreter, *INSTALL, *packages)
        return interpreter


PROGRAMS: dict[str, Callable[[Workshop], Program]] = {}
USES_A_PACKAGE = "import opening\nassert opening.MOVES == 1"
PACKAGE = {"opening/__init__.py": "MOVES = 1\n"}
INSTALL = ("install", "-q", "--no-index", "--no-deps")


def program(make: Callable[[Workshop], Program]) -> Callable[[Workshop], Program]:
    PROGRAMS[make.__name__] = make
    return make


@program
def python(shop: Workshop) -> Program:
    return shop.bot(shop.python, str(shop.script()))


@program
def the_kit_of_the_referee(shop: Workshop) -> Program:
    script = shop.script("import referee.protocol.bot, referee.kit")
    return shop.bot(shop.python, str(script), PYTHONPATH=str(ROOT))


@program
def machine_code(shop: Workshop) -> Program:
    binary = shop.folder / "c_bot"
    shop.run(path_of("cc", shop.path), "-O1", "-o", binary, ROOT / "sample_bots" / "c_bot.c")
    return shop.bot("./c_bot")


@program
def node_by_first_line(shop: Workshop) -> Program:
    path_of("node", shop.path)
    source = (ROOT / "sample_bots" / "js_bot.js").read_text()
    return shop.bot(str(shop.text("bot.js", f"#!/usr/bin/env node\n{source}")))


def compiled(shop: Workshop) -> Path:
    classes = shop.folder / "classes"
    source = ROOT / "tests" / "bots" / "JavaBot.java"
    shop.run(
        path_of("javac", shop.path), "-J-XX:TieredStopAtLevel=1", "-d", classes, source
    )  # half the computing
    return classes


@program
def java_archive(shop: Workshop) -> Program:
    classes = compiled(shop)
    shop.run(path_of("jar", shop.path), "cfe", shop.folder / "bot.jar", "JavaBot", "-C", classes, ".")
    return shop.bot("java", "-jar", str(shop.folder / "bot.jar"), cwd=Path("/"))


@program
def java_below_a_script(shop: Workshop) -> Program:
    compiled(shop)
    shop.text("run.sh", "#!/bin/sh\njava -cp classes JavaBot\nexit 0\n")
    return shop.bot("./run.sh")


@program
def packages_of_the_user(shop: Workshop) -> Program:
    shop.run(shop.python, "-m", "pip", *INSTALL, "--user", "--break-system-packages", shop.wheel(PACKAGE))
    return shop.bot(shop.python, str(shop.script(USES_A_PACKAGE)))


@program
def virtual_environment_in_the_home_folder(shop: Workshop) -> Program:
    interpreter = shop.environment(shop.home / "project" / ".venv", shop.wheel(PACKAGE))
    return shop.bot(str(interpreter), str(shop.script(USES_A_PACKAGE)))


@program
def virtual_environment_in_the_bot_s_folder(shop: Workshop) -> Program:
    shop.environment(shop.folder / ".venv", shop.wheel(PACKAGE))
    shop.script(USES_A_PACKAGE)
    return shop.bot(".venv/bin/python", "bot.py")


@program
def package_that_is_being_developed(shop: Workshop) -> Program:
    project = shop.home / "src" / "opening"
    shop.text("opening/__init__.py", "MOVES = 1\n", project)
    wheel = shop.wheel({"opening.pth": f"{project}\n"})
    copies = (
        f"import shutil\ndef build_editable(to, *_): return shutil.copy({str(wheel)!r}, to).split('/')[-1]\n"
    )
    shop.text("backend.py", copies, project)
    settings = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    shop.text("pyproject.toml", settings, project)
    interpreter = shop.environment(shop.home / ".venvs" / "bots", "-e", project)
    return shop.bot(str(interpreter), str(shop.script(USES_A_PACKAGE)))


@program
def another_root(shop: Workshop) -> Program:
    """As conda has it: an interpreter that is no link, with its libraries below the same root."""
    real = Path(shop.python).resolve()
    version = subprocess.check_output(
        [real, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True
    )
    name = f"python{version.strip()}"
    root = shop.home.parent / "opt" / "conda"
    (root / "bin").mkdir(parents=True)
    shutil.copy2(real, root / "bin" / "python")
    left_out = shutil.ignore_patterns(
        "test*", "site-packages", "dist-packages", "__pycache__", "idlelib", "config-*"
    )
    shutil.copytree(real.parent.parent / "lib" / name, root / "lib" / name, ignore=left_out)
    for folder in ("site-packages", "dist-packages"):  # Debian has a word of its own
        shop.text("opening/__init__.py", "MOVES = 1\n", root / "lib" / name / folder)
    checks = f"import sys\nassert sys.prefix == {str(root)!r}, sys.prefix\n"
    return shop.bot(str(root / "bin" / "python"), str(shop.script(checks + USES_A_PACKAGE)))


@program
def shell_script(shop: Workshop) -> Program:
    """It finds its interpreter along the path, where some have scripts that find it in turn."""
    shop.script()
    shop.text("run.sh", '#!/bin/sh\ncd "$(dirname "$0")"\npython3 bot.py\nexit 0\n')
    return shop.bot(str(shop.folder / "run.sh"), cwd=Path("/"))


@program
def shell_script_with_node(shop: Workshop) -> Program:
    path_of("node", shop.path)
    shutil.copy2(ROOT / "sample_bots" / "js_bot.js", shop.folder)
    shop.text("run.sh", "node js_bot.js\nexit 0\n")
    return shop.bot("sh", "run.sh")


@program
def shell_command(shop: Workshop) -> Program:
    shop.script(below=shop.folder / "bots")
    return shop.bot("sh", "-c", "cd bots && python3 bot.py; exit 0")


@program
def shell_command_in_another_folder(shop: Workshop) -> Program:
    shop.environment(shop.home / "venv")
    script = shop.script("#!/usr/bin/env python3", below=shop.home / "bots" / "mine")
    return shop.bot("sh", "-c", f'X=1; exec "$HOME/venv/bin/python" "{script}"')


@program
def package_as_program(shop: Workshop) -> Program:
    shop.script("from . import names", name="player/__main__.py")
    shop.text("player/names.py", "")
    shop.text("player/__init__.py", "")
    return shop.bot(shop.python, "-m", "player")


@program
def link_on_the_path(shop: Workshop) -> Program:
    script = shop.script(f"#!{shop.python}\nimport names", below=shop.home / "projects" / "mine")
    shop.text("names.py", "", script.parent)
    (shop.home / "bin").mkdir()
    (shop.home / "bin" / "mybot").symlink_to(script)
    return shop.bot("mybot", path=f"{shop.home / 'bin'}:{shop.path}")


@program
def link_to_a_program(shop: Workshop) -> Program:
    """A link in the bot's own folder to a program that was built elsewhere."""
    built = shop.home / "src" / "target" / "release"
    built.mkdir(parents=True)
    shop.run(path_of("cc", shop.path), "-O1", "-o", built / "player", ROOT / "sample_bots" / "c_bot.c")
    (shop.folder / "player").symlink_to(built / "player")
    return shop.bot("./player")


@program
def files_and_threads(shop: Workshop) -> Program:
    elsewhere = shop.home / "data"
    shop.text("book", "elsewhere", elsewhere)
    shop.text("weights", "beside")
    checks = """
import os, tempfile, threading, pathlib, subprocess, sys
here = pathlib.Path(__file__).parent
assert (here / "weights").read_text() == "beside"
assert pathlib.Path(sys.argv[1], "book").read_text() == "elsewhere"
with tempfile.NamedTemporaryFile("w") as file:
    file.write("x")
    file.flush()
    assert pathlib.Path(file.name).read_text() == "x"
done = []
thread = threading.Thread(target=done.append, args=(1,))
thread.start()
thread.join()
assert done and threading.Lock().acquire()
assert subprocess.check_output([sys.executable, "-c", "print(1)"]) == b"1\\n"
assert subprocess.check_output("echo $((1 + 1)) | cat", shell=True) == b"2\\n"
"""
    return shop.bot(shop.python, str(shop.script(checks)), str(elsewhere), read=(elsewhere,))


@program
def numpy(shop: Workshop) -> Program:
    script = shop.script(
        "import numpy\nassert numpy.linalg.det(numpy.eye(9)) == 1\nnumpy.random.default_rng()"
    )
    if shop.python == SYSTEM_PYTHON:
        pytest.skip("numpy is not installed for the system's interpreter")
    shop.run(sys.executable, "-I", "-c", "import numpy")
    return shop.bot(sys.executable, str(script))


@program
def pool_of_processes(shop: Workshop) -> Program:
    checks = """
import concurrent.futures, multiprocessing
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        assert pool.submit(abs, -1).result() == 1
"""
    return shop.bot(shop.python, str(shop.script(checks)))


def base_interpreter() -> str:
    """The interpreter that this one's virtual environment was made from."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


SYSTEM_PYTHON = "/usr/bin/python3"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def shop(scratch: Path) -> Iterator[Workshop]:
    with workshop(scratch, base_interpreter(), os.environ["PATH"]) as made:
        yield made


@pytest.fixture(scope="module")
def prepared(request: pytest.FixtureRequest, scratch: Path) -> Iterator[tuple[str, Program]]:
    """A program, by its name, that is prepared once for all levels."""
    with workshop(scratch, base_interpreter(), os.environ["PATH"]) as made:
        yield request.param, PROGRAMS[request.param](made)


@pytest.fixture(scope="module")
def prepared_by_the_system(request: pytest.FixtureRequest, scratch: Path) -> Iterator[tuple[str, Program]]:
    """The same with nothing but what the system offers to every user."""
    with workshop(scratch, SYSTEM_PYTHON, SYSTEM_PATH) as made:
        yield request.param, PROGRAMS[request.param](made)


@contextlib.contextmanager
def workshop(scratch: Path, python: str, path: str) -> Iterator[Workshop]:
    """A workshop with new folders, which are removed afterwards."""
    top = Path(tempfile.mkdtemp(dir=scratch))
    try:
        yield made_in(top, python, path)
    finally:
        shutil.rmtree(top)


def made_in(top: Path, python: str, path: str) -> Workshop:
    top.chmod(0o755)
    folder, home = top / "bots", top / "home"
    folder.mkdir()
    home.mkdir()
    return Workshop(folder, home, python, path)


def played(bot: Program) -> GameRecord:
    """A game of a bot against one that is not isolated."""
    game = GAMES["blooms"]
    rival = Program("b", Program.parse(PLAIN, Path("/")).command, Path("/"))
    entrants = tuple(Entrant(one, TimeControl.parse("60s")) for one in (bot, rival))
    plan = Plan(game, game.settle({"size": "3", "target": "3"}), entrants, "s", start_us=START_US)
    terms = [plan.terms(one) for one in encounter(1, ("a", "b")).games[:1]]
    (record,) = play_encounter([bot, rival], terms, start_us=START_US)
    return record


def plays(bot: Program) -> None:
    record = played(bot)
    assert not any(record.faults), record.events[-1:]


def hint(bot: Program) -> str:
    """The hint that the author of a bot gets for its fault."""
    (event,) = (one for one in played(bot).events if isinstance(one, Retired) and one.seat == 0)
    return event.hint


QUICK = {("python", "landlock"), ("python", "bwrap"), ("shell_command", "landlock")}
WITHOUT_SEMAPHORES = ("pool_of_processes", "landlock")
"""Semaphores with names lie in `/dev/shm`, which is the same folder for all processes of the machine."""

OF_OTHERS = ("python", "machine_code", "packages_of_the_user", "link_on_the_path")
"""What another user's programs are tried with."""

AT_ALL_LEVELS = [
    pytest.param(
        name,
        level,
        marks=[
            *([] if (name, level) in QUICK else [pytest.mark.slow]),
            *([pytest.mark.any_user] if name in OF_OTHERS and level in CONFINED else []),
        ],
        id=f"{name}-{level}",
    )
    for name in PROGRAMS
    for level in (LEVELS if name == "python" else CONFINED)
]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def plays_or_lacks_semaphores(name: str, bot: Program) -> None:
    if (name, bot.isolation) == WITHOUT_SEMAPHORES:
        assert "with isolation `landlock` a bot can only read" in hint(bot)
    else:
        plays(bot)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("prepared", "level"), AT_ALL_LEVELS, indirect=["prepared"], scope="module")
def test_a_program_plays(prepared: tuple[str, Program], level: str) -> None:
    needs_level(level)
    name, bot = prepared
    plays_or_lacks_semaphores(name, replace(bot, isolation=level))


@AS_ROOT
@pytest.mark.slow
@pytest.mark.parametrize("level", CONFINED)
@pytest.mark.parametrize("prepared_by_the_system", OF_OTHERS, indirect=True, scope="module")
def test_a_program_plays_as_another_user(prepared_by_the_system: tuple[str, Program], level: str) -> None:
    needs_level(level, "nobody")
    name, bot = prepared_by_the_system
    plays_or_lacks_semaphores(name, replace(bot, isolation=level, user="nobody"))


@AS_ROOT
@pytest.mark.slow
def test_programs_play_where_the_referee_runs_as_an_ordinary_user(scratch: Path) -> None:
    """What is confined once more, with the system's interpreter, which every user can execute."""
    packages = sysconfig.get_path("purelib")
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = subprocess.run([SYSTEM_PYTHON, "--version"], capture_output=True, text=True).stdout
    if f"Python {version}." not in found:
        pytest.skip(f"needs {SYSTEM_PYTHON} of version {version}")
    nobody = pwd.getpwnam("nobody").pw_uid
    home = Path(tempfile.mkdtemp(dir=scratch))
    os.chown(home, nobody, nobody)
    words = ["-n0", "-m", "any_user", "-p", "no:cacheprovider", "-rs", "--basetemp", str(home / "t")]
    done = subprocess.run(
        [SYSTEM_PYTHON, "-B", "-m", "pytest", *words, __file__],
        env={
            "PATH": SYSTEM_PATH,
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{ROOT}:{packages}",
        },
        user=nobody,
        group=nobody,
        extra_groups=[],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    shutil.rmtree(home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.quick_cases(1)
@pytest.mark.any_user
@pytest.mark.parametrize("level", CONFINED)
@pytest.mark.parametrize(
    "command",
    [
        ("python3", "-c", "import os; open(os.environ['OUTSIDE'])"),
        pytest.param(("sh", "-c", 'cat <"$OUTSIDE"; exit 1'), marks=pytest.mark.slow),
        pytest.param(("sh", "-c", "echo x > new; exit 1"), marks=pytest.mark.slow),
        ("sh", "link.sh"),
    ],
    ids=["python", "shell", "writing", "link"],
)
def test_a_bot_that_is_kept_from_a_file_is_told_what_it_may_read(
    command: tuple[str, ...], level: str, shop: Workshop
) -> None:
    needs_level(level)
    outside = shop.text("notes.sh", "cat", shop.home / "private")
    (shop.folder / "link.sh").symlink_to(outside)
    bot = shop.bot(*command, OUTSIDE=str(outside))
    assert f"with isolation `{level}` a bot can only read its own folder" in hint(
        replace(bot, isolation=level)
    )
