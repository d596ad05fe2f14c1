"""Every command of the documents runs as it stands there."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.cli.docs import documents
from referee.cluster.connecting import size_of
from referee.core.errors import EnvironmentLacksError
from referee.gameplay.events import Ending
from referee.processes.limits import LIMITS
from referee.protocol.messages import Speaker, parse
from referee.tournament.bot_table import BOT_KEYS
from referee.tournament.config import load
from referee.wire import conversation
from tests.command import ROOT, environment_of_contributors
from tests.processes.serving import serving
from tests.programs import files_of_git, needs
from tests.waiting import eventually

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    *(str(path.resolve().relative_to(ROOT)) for path in documents().values()),
]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what is under version control, as a newcomer has it."""
    for name in files_of_git():
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name, follow_symlinks=False)
    for name, key in FEWER.items():
        file = tmp_path / "tournaments" / f"{name}.toml"
        text = re.sub(rf"^{key.split()[0]} = .*", key, file.read_text(), flags=re.MULTILINE)
        assert key in text
        file.write_text(text)
    return tmp_path


FEWER = {"blooms": "rounds = 2", "gauntlet": "rounds = 1", "league": "budget = 20"}
"""The tournaments that pages play, and what makes them shorter."""


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end. Some compute for minutes on a busy machine, so that nothing bounds them."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-euc", command],
        cwd=folder,
        env={**environment_of_contributors(), "PATH": path},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.promise("README", "Every command of the page runs as it stands there.")
@pytest.mark.slow(seconds=20)
def test_the_commands_of_the_readme(checkout: Path) -> None:
    commands = "".join(blocks("README.md", "sh")).splitlines()
    setting_up = [command for command in commands if "-m venv" in command]
    assert len(setting_up) == 2
    run_all([command for command in commands if command not in setting_up], checkout)
    assert (checkout / "tournaments" / "blooms-results" / "games.jsonl").exists()


SHORT: dict[str, tuple[str, str] | str] = {
    "tests.tools.promises": ("", ""),
    "tests.bench.overhead": ("--games 3 --rounds 1", "pinned to one core"),
    "tests.bench.encounter": ("--encounters 2 --rounds 1", "bare start and end"),
    "tests.bench.tournament": ("--games 10 --rounds 1", "1,000 entrants"),
    "tests.bench.cluster": (
        "--games 4 --long 4 --rounds 1 --workers 1 --records 100 --no-traffic",
        "longer, cluster, 1 worker",
    ),
    "tests.bench.live_view": ("--games 300", "share of the time"),
    "tests.bench.engines": ("--games 1", "worst ms"),
    "tests.bench.imagine": ("--calls 20", "99 % ms"),
    "tests.tools.soak": ("", "thetree players=4"),
    "tests.tools.fault_soak": "test_fault_soak.py",
    "tests.tools.signal_moments": ("--commands table", "ended with 3"),
    "tests.tools.crash_points": "test_crash_points.py",
    "tests.tools.chaos": "test_chaos.py",
    "tests.tools.liveness": ("", "over 1 s"),
    "tests.tools.fairness": ("", "0 wronged, 0 spared"),
    "tests.tools.sprt_runs": ("", "decided wrongly"),
    "tests.tools.broken_bots": ("", "no_number.py"),
    "tests.tools.ladders": ("--most 2", "not decided"),
    "tests.bench.league": ("", "round robin"),
    "tests.tools.guards": ("", "group-kill"),
    "tests.tools.mutations": ("", "core/seeds"),
    "tests.tools.attacks": ("", "in the table"),
    "tests.tools.coverage": ("", "one round copied"),
    "tests.tools.synthetic": ("", "448 games of 8 bots"),
    "tests.tools.hostile_run": ("", "forged"),
    "tests.tools.golden": ("", ""),
    "tests.tools.game_pictures": ("", ""),
    "tests.tools.catalogue": "test_catalogue.py",
}
"""The commands for developers: what makes them short and what they print, or the tests that run them."""


def contributors_commands() -> list[str]:
    """All but the first, which runs the tests."""
    return blocks("CONTRIBUTING.md", "sh")[1:]


def test_the_commands_of_the_contributors_page_are_those_that_are_run() -> None:
    for command, module in zip(contributors_commands(), SHORT, strict=True):
        assert module in command
    for module, tests in SHORT.items():
        assert isinstance(tests, tuple) or module in Path(__file__).with_name(tests).read_text()


@pytest.mark.slow(seconds=30)
@needs("cc")
@pytest.mark.parametrize("part", range(5))  # which workers run at the same time
def test_the_commands_of_the_contributors_page(part: int, checkout: Path) -> None:
    golden = checkout / "tests" / "rules" / "golden_games"
    before = {path.name: path.read_text() for path in golden.iterdir()}
    commands = zip(contributors_commands(), SHORT.values(), strict=True)
    here = [(command, *short) for command, short in commands if isinstance(short, tuple)]
    for command, words, printed in here[part::5]:
        done = run(command.replace(".venv/bin/python", sys.executable).strip() + f" {words}", checkout)
        assert done.returncode == 0, done.stderr
        assert printed in done.stdout
    assert {path.name: path.read_text() for path in golden.iterdir()} == before


@pytest.mark.slow(seconds=5)
def test_what_the_page_of_games_says_of_one_from_outside(checkout: Path) -> None:
    page = (ROOT / "referee" / "games" / "ADDING.md").read_text()
    sh = "".join(re.findall(r"^   ```sh\n(.*?)^   ```", page, re.MULTILINE | re.DOTALL))
    assert len(sh.splitlines()) == 5
    for command in sh.splitlines():
        done = run(command.strip(), checkout)
        assert done.returncode == 0, done.stderr
    (python,) = re.findall(r"^   ```python\n(.*?)^   ```", page, re.MULTILINE | re.DOTALL)
    test = checkout / "tests" / "outside" / "test_it.py"
    test.write_text(textwrap.dedent(python))
    done = run(f"{sys.executable} -m pytest -n0 --noconftest {test}", test.parent)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


@pytest.mark.promise(
    "CHECK", "Every command of the page runs as it stands there.", case="referee/docs/CHECK.md"
)
@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "referee/viewing/STATES.md",
        pytest.param("referee/docs/TOURNAMENT.md", marks=pytest.mark.slow(seconds=40)),
        "referee/docs/CHECK.md",
        "referee/docs/LOOKING.md",
        "referee/docs/LOST.md",
        "referee/docs/MOVES.md",
        "referee/docs/DEVELOPING.md",
        "referee/docs/PLAY.md",
    ],
)
def test_the_commands_of_other_pages(page: str, checkout: Path) -> None:
    for code, name in zip(blocks(page, "python"), SAVED.get(page, ()), strict=True):
        (checkout / name).write_text(code)
    run_all("".join(blocks(page, "sh")).splitlines(), checkout)


def here(command: str, port: int) -> str:
    """A command of the page of clusters, with this machine in the place of three."""
    command = command.replace("--host 192.168.1.10 --port 8786", f"--host 127.0.0.1 --port {port}")
    return command.replace("192.168.1.10:8786", f"127.0.0.1:{port}").replace("--nthreads 7", "--nthreads 1")


@pytest.mark.slow(seconds=12)
def test_the_page_of_clusters_from_the_scheduler_to_the_table(checkout: Path, tmp_path: Path) -> None:
    """With a scheduler and two Dask workers here, all with this environment."""
    page = "referee/docs/CLUSTER.md"
    commands = "".join(blocks(page, "sh")).splitlines()
    setting_up, commands = commands[1:4], [commands[0], *commands[4:]]
    assert [command.split()[0] for command in setting_up] == ["python3", ".venv/bin/pip", "."]
    (unit,) = blocks(page, "ini")
    assert f"/.venv/bin/{next(command for command in commands if 'dask worker' in command)}\n" in unit
    (printed,) = blocks(page, "text")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with contextlib.ExitStack() as stack:
        served = [command for command in commands if "dask " in command]
        for command in served:
            stack.enter_context(running(here(command, port), tmp_path))
        commands = [command for command in commands if command not in served]
        assert len(served) == 3 and len(commands) == 6
        wait_for_workers(f"tcp://127.0.0.1:{port}", 2)
        told = ""
        for command in commands:
            done = run(here(command, port), checkout)
            assert done.returncode == 0, done.stderr
            told += done.stderr
    for line in printed.splitlines():
        said = line.partition(")")[2].partition("game")[0].replace("7", "1")
        assert said == " plays, 1 " and said in told


def wait_for_workers(scheduler: str, count: int) -> None:
    def all_are_there() -> bool:
        with contextlib.suppress(EnvironmentLacksError):  # the scheduler is still starting
            return size_of(scheduler).slots >= count
        return False

    eventually(all_are_there)


@contextlib.contextmanager
def running(command: str, folder: Path) -> Iterator[None]:
    """A command that runs until the end, with all that it starts."""
    process = subprocess.Popen(
        ["sh", "-euc", command],
        cwd=folder,
        env={
            **environment_of_contributors(),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(folder),
            "DASK_TEMPORARY_DIRECTORY": str(folder),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


SAVED = {"referee/docs/LOST.md": ("stubborn.py",), "referee/docs/DEVELOPING.md": ("thinking.py",)}
"""The names under which a page has its listings in Python saved."""


def run_all(commands: list[str], folder: Path) -> None:
    """Runs the commands of a page one after the other; a server is asked for its page, and ended."""
    assert commands
    for command in commands:
        command = command.replace(" -n 40 ", " -n 6 ")  # fewer games show as much
        if command.startswith("referee serve"):
            with serving(folder / command.split()[-1]) as server:
                assert server.get()[0] == 200 and server.end()[0] == 3
        else:
            done = run(command, folder)
            assert done.returncode == 0, done.stderr


def do_what_the_first_bot_s_page_says(folder: Path) -> list[str]:
    """Takes the page block by block: runs commands, compares what they print, and writes programs.

    Returns the commands.
    """
    given: list[str] = []
    printed: list[str] = []
    page = (ROOT / "referee" / "docs" / "FIRST_BOT.md").read_text()
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if language == "sh":
            given += text.splitlines()
            printed = []
            for command in text.splitlines():
                if command.startswith("cd "):
                    folder = (folder / command.removeprefix("cd ")).resolve()
                    continue
                if command.startswith("referee run "):  # one round shows as much as five
                    toml = folder / command.split()[-1]
                    toml.write_text(toml.read_text().replace("rounds = 5", "rounds = 1"))
                # With more workers, further games may be finished when the test is decided.
                done = run(command + " --workers 1" * ("--sprt" in command), folder)
                assert done.returncode == 0, (command, done.stdout, done.stderr)
                printed += (done.stdout + done.stderr).splitlines()
        elif language == "text":
            untimed = [re.sub(r"^ *\d+\.\d{6} ", "", line) for line in printed]
            assert [line for line in text.splitlines() if line not in untimed] == [], printed
        elif language == "python":
            (folder / "main.py").write_text(text)
        elif language == "c":
            parts = re.split(
                r"(?=/\* Prepares for a game|static void add\()", (folder / "main.c").read_text()
            )
            (folder / "main.c").write_text("\n".join([parts[0], text, parts[2]]))
        else:
            (folder / "shell_bot").write_text(text)
    return given


@pytest.mark.slow(seconds=25)
@needs("cc")
def test_the_page_of_the_first_bot_from_beginning_to_end(tmp_path: Path) -> None:
    given = do_what_the_first_bot_s_page_says(tmp_path)
    assert len(given) == 23 and sum("--sprt" in command for command in given) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"petal", "stone"}


def test_the_page_of_faults_has_every_fault() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (.*?) \|", (ROOT / "referee" / "docs" / "LOST.md").read_text(), re.MULTILINE
    )
    assert dict(rows) == {ending.word: ending.sentence for ending in Ending if ending.is_fault}


def test_the_page_of_tournaments_has_every_key(tmp_path: Path) -> None:
    _, text = blocks("referee/docs/TOURNAMENT.md", "toml")
    (tmp_path / "openings").mkdir()
    for key in (
        "game",
        "format",
        "rounds",
        "clock",
        "openings",
        "repeats",
        "strikes",
        "stop",
        "seed",
        "workers",
        "pin",
        "processes",
        "keep",
        "margin",
        "rejections",
        "start",
        "pause",
        "cluster",
        "scale_clocks",
    ):
        assert f"\n{key} = " in text
    for key in BOT_KEYS:
        assert f"\n{key} = " in text.partition("[[bot]]")[2]
    for key in LIMITS:
        assert f"\n{key} = " in text.partition("[limits]")[2]
    second = '[[bot]]\nname = "other"\ncmd = "true"\n'
    (tmp_path / "t.toml").write_text(text.replace('needs = ["cc"]', "") + second)
    config = load(tmp_path / "t.toml")
    assert config.workers == 2 and config.entrants[0].processes == "game" and len(config.builds) == 1
    assert config.cluster and config.origins["mine"].files and not config.scale_clocks


@pytest.mark.slow
@needs("cc")
def test_the_commands_in_tables(checkout: Path) -> None:
    (command,) = re.findall(r"`(cc .*?)`", (ROOT / "README.md").read_text())
    assert run(command, checkout).returncode == 0
    done = run("referee match blooms ./c_bot './c_bot' --strict", checkout)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_first_command_plays(checkout: Path) -> None:
    """With the environment of the tests: `.ci/run` sets up one by this command, in a clean checkout."""
    (command,) = (line for line in blocks("README.md", "sh") if "bin/referee run" in line)
    setting_up, _, playing = command.rpartition(" && ")
    assert re.fullmatch(r"python3 -m venv \.venv && \.venv/bin/pip install -q -e \S+", setting_up)
    (checkout / ".venv").symlink_to(sys.prefix)
    done = run(playing, checkout)
    assert done.returncode == 0, done.stderr
    assert "Elo ± 95 %" in done.stdout and "wins–draws–losses" in done.stdout
    for name, program in (("c", "cc"), ("js", "node")):
        played = re.search(rf"^ *\d+ +{name} ", done.stdout, re.MULTILINE) is not None
        assert played == (shutil.which(program) is not None)


def test_ci_runs_the_readme_s_own_commands() -> None:
    """The test command is this very run, and CONTRIBUTING's is the CI: they cannot run in here."""
    script = (ROOT / ".ci" / "run").read_text()
    assert "readme_command 'bin/pytest'" in script and "readme_command 'bin/referee run'" in script
    for page in (script, (ROOT / "CONTRIBUTING.md").read_text()):
        assert ".venv/bin/pytest -m 'always or due' --hypothesis-profile thorough" in page
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if "bin/pytest" in line]
    assert len(lines) == 1 and lines[0].startswith("python3 -m venv .venv && ")
    assert blocks("CONTRIBUTING.md", "sh")[0] == "sh .ci/run\n"
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.promise(
    "PROTOCOL", "The few lines of Python on the page are a bot that plays.", case="protocol/PROTOCOL.md"
)
@pytest.mark.parametrize("page", ["README.md", pytest.param("protocol/PROTOCOL.md", marks=pytest.mark.slow)])
def test_the_few_lines_of_python_are_a_bot(page: str, tmp_path: Path) -> None:
    (code,) = blocks(page, "python")
    (tmp_path / "few.py").write_text(code)
    done = run(
        "referee match blooms '{python} few.py' '{python} few.py' -n 2 --strict --option size=3 --workers 0",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.promise("PROTOCOL", "A bot may copy `bot.py` away and needs nothing else.")
@pytest.mark.slow
def test_a_bot_may_copy_the_library_away(tmp_path: Path) -> None:
    shutil.copy(ROOT / "protocol" / "bot.py", tmp_path / "bot.py")
    text = (ROOT / "protocol" / "bot.py").read_text().split('"""')[1]
    code = re.sub(
        "^    ", "", text[text.index("    from bot") : text.index("`choose` is")], flags=re.MULTILINE
    )
    (tmp_path / "mine.py").write_text(code)
    done = run("referee match blooms --strict '{python} mine.py' '{python} mine.py'", tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_protocol_s_numbers_are_those_of_the_code() -> None:
    text = (ROOT / "protocol" / "PROTOCOL.md").read_text()
    for piece in (
        "4096 bytes",
        f"up to {conversation.LIST_CAP} `list`",
        "(by default 2000",
        "16 KiB per game",
    ):
        assert piece in text
    hello = parse(b"hello 1 list", Speaker.REFEREE)
    assert getattr(hello, "capabilities") == conversation.CAPABILITIES  # noqa: B009


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text()):
        assert ((ROOT / page).parent / link).exists(), link
