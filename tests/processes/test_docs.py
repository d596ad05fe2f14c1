"""Every command of the documents runs as it stands there."""

from __future__ import annotations

import contextlib
import copy
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.cluster.connecting import size_of
from referee.core.errors import EnvironmentLacksError
from referee.gameplay.events import Ending
from referee.pages.documents import documents
from referee.processes.limits import LIMITS
from referee.protocol.messages import Speaker, parse
from referee.tournament import formats, stopping
from referee.tournament.file import keys
from referee.tournament.file.config import load
from referee.wire import referee_session
from tests.command import ROOT, environment_of_contributors, referee
from tests.page_tables import require_same, rows
from tests.processes.browser_play import browser_game
from tests.processes.serving import serving
from tests.programs import copied_to, needs
from tests.tools import key_tables
from tests.waiting import eventually

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "referee/MODULES.md",
    "CHANGELOG.md",
    *(str(path.resolve().relative_to(ROOT)) for path in documents().values()),
]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what is under version control, with shorter tournaments."""
    copied_to(tmp_path)
    for name, key in FEWER.items():
        file = tmp_path / "tournaments" / f"{name}.toml"
        text = re.sub(rf"^{key.split()[0]} = .*", key, file.read_text(), flags=re.MULTILINE)
        assert key in text
        file.write_text(text)
    for file in (tmp_path / "tournaments").glob("*.toml"):
        text = re.sub(r"--playouts \d+", "--playouts 1", file.read_text())
        file.write_text(text.replace("\nsize = 4\n", "\nsize = 3\n"))
    return tmp_path


FEWER = {
    "blooms": "rounds = 2",
    "gauntlet": "rounds = 1",
    "league": "budget = 20",
    "stages": "best_of = 1",
    "swiss": "rounds = 2",
    "tuning": "budget = 100\ntest_budget = 2",
}
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


@pytest.mark.slow
def test_the_commands_of_the_readme_and_of_the_page_of_tournaments(checkout: Path) -> None:
    """With the environment of the tests: `.ci/run` sets up one by the first command, in a clean checkout."""
    first, *commands = "".join(blocks("README.md", "sh")).splitlines()
    setting_up, _, playing = first.rpartition(" && ")
    assert re.fullmatch(r"python3 -m venv \.venv && \.venv/bin/pip install -e \S+", setting_up)
    (checkout / ".venv").symlink_to(sys.prefix)
    done = run(playing, checkout)
    assert done.returncode == 0, done.stderr
    assert "wins–draws–losses" in done.stdout
    bots = 3 + sum(shutil.which(program) is not None for program in ("cc", "node"))
    assert ("Elo ± 95 %" in done.stdout) == (bots > 3), "two rounds of three bots are only six encounters"
    for name, program in (("c", "cc"), ("js", "node")):
        played = re.search(rf"^ *\d+ +{name} ", done.stdout, re.MULTILINE) is not None
        assert played == (shutil.which(program) is not None)
    assert "-m venv" in commands.pop()
    run_all(commands, checkout)
    save_tournaments(LONG, checkout)
    later = "".join(blocks(LONG, "sh")).splitlines()
    run_all([command for command in later if command not in commands], checkout)


@pytest.mark.slow
def test_what_the_page_of_games_says_of_one_from_outside(checkout: Path) -> None:
    page = (ROOT / "referee" / "games" / "ADDING.md").read_text()
    sh = "".join(re.findall(r"^   ```sh\n(.*?)^   ```", page, re.MULTILINE | re.DOTALL))
    assert len(sh.splitlines()) == 8
    for command in sh.splitlines():
        done = run(command.strip(), checkout)
        assert done.returncode == 0, done.stderr


OTHERS = [
    "referee/viewing/STATES.md",
    "referee/docs/ANALYSIS.md",
    "referee/docs/BETTER.md",
    "referee/docs/LADDERS.md",
    "referee/docs/CHECK.md",
    "referee/docs/LOOKING.md",
    "referee/docs/LOST.md",
    "referee/docs/MOVES.md",
    "referee/docs/DEVELOPING.md",
    "referee/docs/PLAY.md",
    "referee/docs/TUNING.md",
    "referee/tournament/FORMATS.md",
]
"""Pages whose commands run one after the other, in a copy of the checkout."""

LONG = "referee/docs/TOURNAMENT.md"

BY_THEMSELVES = [
    "README.md",
    LONG,
    "referee/docs/CLUSTER.md",
    "referee/docs/FIRST_BOT.md",
    "referee/docs/KIT.md",  # tests/rules/test_kit_page.py
]
"""Pages whose commands have tests of their own."""


def test_every_page_with_commands_is_run() -> None:
    found = {
        page for page in PAGES if any(re.search(r"^referee ", code, re.M) for code in blocks(page, "sh"))
    }
    assert found == {*OTHERS, *BY_THEMSELVES}, "`OTHERS` in this file"


@pytest.mark.slow
@pytest.mark.parametrize("page", OTHERS)
def test_the_commands_of_other_pages(page: str, checkout: Path) -> None:
    for code, name in zip(blocks(page, "python"), SAVED.get(page, ()), strict=True):
        (checkout / name).write_text(code)
    save_tournaments(page, checkout)
    run_all("".join(blocks(page, "sh")).splitlines(), checkout)


def save_tournaments(page: str, folder: Path) -> list[str]:
    """Saves the tournament files of a page that begin with their name, and returns the names."""
    found = []
    for text in blocks(page, "toml"):
        if name := re.match(r"# (\w+)\.toml\n", text):
            (folder / f"{name[1]}.toml").write_text(text)
            found.append(name[1])
    return found


def here(command: str, port: int) -> str:
    """A command of the page of clusters, with this machine in the place of three."""
    command = command.replace("--port 8786", f"--port {port}").replace(
        "192.168.1.10:8786", f"127.0.0.1:{port}"
    )
    for known in ("8787", "8790"):
        command = command.replace(f"127.0.0.1:{known}", "127.0.0.1:0")
    command = command.replace("--worker-port 8788 --nanny-port 8789", "--worker-port 0 --nanny-port 0")
    return re.sub(r"192\.168\.1\.1[0-2]", "127.0.0.1", command).replace("--nthreads 7", "--nthreads 1")


@pytest.mark.slow
def test_the_page_of_clusters_from_the_scheduler_to_the_table(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a scheduler and two Dask workers here, all with this environment and the page's certificate."""
    configuration = pytest.importorskip("dask.config")
    page = "referee/docs/CLUSTER.md"
    commands = "".join(blocks(page, "sh")).splitlines()
    setting_up = [command for command in commands if ".venv" in command]
    assert [command.split()[0] for command in setting_up] == ["python3", ".venv/bin/pip", "."]
    commands = [command for command in commands if command not in setting_up]
    (unit,) = blocks(page, "ini")
    assert f"/.venv/bin/{next(command for command in commands if 'dask worker' in command)}\n" in unit
    (printed,) = blocks(page, "text")
    (configured,) = blocks(page, "yaml")
    folder = tmp_path / "dask"
    folder.mkdir()
    (folder / "tls.yaml").write_text(configured.replace("/home/referee", str(checkout)))
    monkeypatch.setenv("DASK_CONFIG", str(folder))
    certifying = [command for command in commands if "cluster.pem" in command]
    commands = [command for command in commands if command not in certifying]
    assert len(certifying) == 2
    for command in certifying:
        assert run(command, checkout).returncode == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with contextlib.ExitStack() as stack:
        before = copy.deepcopy(configuration.config)
        stack.callback(configuration.config.update, before)
        stack.callback(configuration.config.clear)  # first: callbacks are called in reverse order
        configuration.refresh(paths=[str(folder)])
        served = [command for command in commands if "dask " in command]
        for command in served:
            stack.enter_context(running(here(command, port), tmp_path))
        commands = [command for command in commands if command not in served]
        assert len(served) == 3 and len(commands) == 5
        wait_for_workers(f"tls://127.0.0.1:{port}", 2)
        assert not open_to_others()
        told = ""
        for command in commands:
            done = run(here(command, port), checkout)
            assert done.returncode == 0, done.stderr
            told += done.stderr
    for line in printed.splitlines():
        said = line.partition(")")[2].partition("game")[0].replace("7", "1")
        assert said == " plays, 1 " and said in told


def test_all_ports_of_the_page_of_clusters_stand_in_its_table_and_its_rule() -> None:
    """Each command names every port on which Dask listens, and one address for each."""
    page = "referee/docs/CLUSTER.md"
    table = {
        row[0]: row[1].strip("`") for row in rows(page, "port | option | of | listens on | who connects")
    }
    commands = [
        line for line in "".join(blocks(page, "sh") + blocks(page, "ini")).splitlines() if "dask " in line
    ]
    commands = [line for line in commands if "dask scheduler" in line or "dask worker" in line]
    assert len(commands) == 4
    for command in commands:
        ports = dict(re.findall(r"(--(?:worker-|nanny-)?port) (\d+)", command))
        (pages,) = re.findall(r"--dashboard-address ([\d.:]+)", command)
        address, _, port = pages.rpartition(":")
        assert address == "127.0.0.1" and table[port] == "--dashboard-address"
        assert ports and all(table[number] == option for option, number in ports.items())
        assert "--host 192.168.1." in command and "--protocol tls" in command
        assert len(ports) == (1 if "dask scheduler" in command else 2)
    (rule,) = blocks(page, "nft")
    others = {port for port, option in table.items() if option != "--dashboard-address"}
    assert set(re.search(r"dport \{(.*?)\}", rule)[1].replace(",", " ").split()) == others  # type: ignore[index]


def open_to_others() -> set[str]:
    """Where Dask processes that were started here listen on more than this machine's own address."""
    inodes = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (
                b"dask" in (process / "cmdline").read_bytes()
                and b"127.0.0.1:0" in (process / "cmdline").read_bytes()
            ):
                links = (os.readlink(descriptor) for descriptor in (process / "fd").iterdir())  # noqa: PTH115
                inodes |= {link[8:-1] for link in links if link.startswith("socket:")}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and rest[5] in inodes and not local.startswith("0100007F"):
                found.add(local)
    return found


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


def patient(command: str) -> str:
    """A check that waits for bots on a busy machine; any other command as it is."""
    return f"{command} --time 1h --start 1h" if command.startswith("referee check ") else command


def shorten(command: str, folder: Path) -> None:
    """Has the tournament of a new bot a single round, which shows as much as five."""
    file = folder / command.split()[-1]
    if command.startswith("referee run ") and file.name == "tournament.toml":
        file.write_text(file.read_text().replace("rounds = 5", "rounds = 1"))


def run_all(commands: list[str], folder: Path) -> str:
    """Runs the commands of a page one after the other; a server is asked for its page, and ended, and who
    plays in a browser resigns. Returns what they said on stderr.
    """
    assert commands
    said = ""
    for command in commands:
        command = patient(command.replace(" -n 40 ", " -n 6 "))  # fewer games show as much
        shorten(command, folder)
        if command.startswith("referee serve"):
            with serving(folder / command.split()[-1]) as server:
                assert server.get()[0] == 200 and server.end()[0] == 3
        elif command.startswith("referee play") and "--browser" in command:
            with browser_game(*shlex.split(command)[2:], folder=folder) as game:
                game.resign()
                assert game.ended()[0] == 0
        else:
            done = run(command, folder)
            assert done.returncode == 0, done.stderr
            said += done.stderr
    return said


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
                shorten(command, folder)
                # With more workers, further games may be finished when the test is decided.
                added = " --workers 1" * ("--sprt" in command)
                done = run(patient(command) + added, folder)
                assert done.returncode == 0, (command, done.stdout, done.stderr)
                printed += (done.stdout + done.stderr).splitlines()
        elif language == "text":
            untimed = [re.sub(r"^ *\d+\.\d{6} ", "", line) for line in printed]
            assert [line for line in text.splitlines() if line not in untimed] == [], printed
        elif language == "python":
            (folder / "main.py").write_text(text)
        else:
            (folder / "shell_bot").write_text(text)
    return given


@pytest.mark.slow
@needs("cc")
def test_the_page_of_the_first_bot_from_beginning_to_end(tmp_path: Path) -> None:
    given = do_what_the_first_bot_s_page_says(tmp_path)
    assert len(given) == 18 and sum("--sprt" in command for command in given) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"petal", "stone"}


def test_the_page_of_faults_has_every_fault() -> None:
    page = "referee/docs/LOST.md"
    section = (ROOT / page).read_text().split("\n## What each fault means\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.MULTILINE)
    faults = {(ending.word, ending.sentence) for ending in Ending if ending.is_fault}
    require_same(f"{page}, What each fault means", rows, faults)


def test_the_page_of_tournaments_has_every_key_as_the_code_reads_it() -> None:
    text = key_tables.PAGE.read_text()
    assert text == key_tables.page(text), "python -m tests.tools.key_tables --write"
    assert re.findall(r"^\| `\w+ = .*\| *\|$", text, re.MULTILINE) == [], "a key without a meaning"
    assert {*formats.KEYS, *stopping.KEYS} <= {*keys.TOURNAMENT} and {*LIMITS} == {*keys.LIMITS}


def test_every_example_of_a_key_is_read(tmp_path: Path) -> None:
    (tmp_path / "openings").mkdir()
    (tmp_path / "t").mkdir()
    for table, examples in key_tables.TABLES.items():
        for key, example in examples.items():
            given = {**key_tables.context(table, key), key: example}
            if key == "person":
                del given["cmd"]
            load(key_tables.file(table, given, tmp_path / "t"), elsewhere=True)


@pytest.mark.slow
def test_each_recipe_of_a_tournament_can_be_played(checkout: Path) -> None:
    found = save_tournaments(LONG, checkout)
    assert found == ["first", "class", "final", "several"]
    for name in found:
        done = referee("run", str(checkout / f"{name}.toml"), "--dry-run")
        lacks_level = name == "final" and done.code == 5 and "bwrap" in done.err
        assert done.code == 0 or lacks_level, done.err


@pytest.mark.slow
def test_the_page_of_checks_shows_what_is_printed_of_a_failed_step() -> None:
    def untimed(text: str) -> list[str]:
        return re.sub(r"\d[\d.]* (µs|ms|s)\b|(?<=ask )\d+ \d+", "TIME", text).splitlines()

    (text,) = blocks("referee/docs/CHECK.md", "text")
    command, _, printed = text.removeprefix("$ ").partition("\n")
    done = run(command, ROOT)
    assert done.returncode == 7 and untimed(done.stdout) == untimed(printed)


def test_the_prize_final_and_the_tournament_file_on_the_page_of_clusters_are_read(tmp_path: Path) -> None:
    (final,) = (block for block in blocks(LONG, "toml") if block.startswith("# final.toml"))
    (own_folder,) = blocks("referee/processes/ISOLATION.md", "toml")
    (spread,) = blocks("referee/docs/CLUSTER.md", "toml")
    for folder in ("ann", "mine"):
        (tmp_path / "bots" / folder).mkdir(parents=True)
    (tmp_path / "prize.toml").write_text(f"{final}\n{own_folder}")
    config = load(tmp_path / "prize.toml")
    assert config.pin and {entrant.processes for entrant in config.entrants} == {"game"}
    assert {(entrant.bot.isolation, entrant.bot.pause) for entrant in config.entrants} == {("bwrap", True)}
    (tmp_path / "spread.toml").write_text(spread.replace('needs = ["cc"]', ""))
    config = load(tmp_path / "spread.toml")
    assert (
        config.cluster
        and config.origins["large"].shared
        and sum(bool(origin.build) for origin in config.origins.values()) == 1
    )


@pytest.mark.slow
@needs("cc")
def test_the_commands_in_tables(checkout: Path) -> None:
    (command,) = re.findall(r"`(cc .*?)`", (ROOT / "README.md").read_text())
    assert run(command, checkout).returncode == 0
    done = run("referee match blooms ./c_bot './c_bot' --strict", checkout)
    assert done.returncode == 0, done.stderr


def test_ci_runs_the_readme_s_own_commands() -> None:
    """The test command is this very run, and CONTRIBUTING's are the CI: they cannot run in here."""
    script = (ROOT / ".ci" / "run").read_text()
    assert "readme_command 'bin/pytest'" in script and "readme_command 'bin/referee run'" in script
    page = (ROOT / "CONTRIBUTING.md").read_text()
    commands = re.findall(r"`(\.venv/bin/.+?)`", page)
    of_the_table = (
        ".venv/bin/python -m MODULE OPTIONS",
        ".venv/bin/python -m tests.tools.module_list --write",
        ".venv/bin/python -m tests.tools.key_tables --write",
    )
    for command in set(commands) - {".venv/bin/pytest --lf", ".venv/bin/pytest -m slow", *of_the_table}:
        assert command in script or command == ".venv/bin/pytest", command
    for run_by_ci, words in re.findall(r"`sh \.ci/(\w+)(.*?)`", page):
        assert os.access(ROOT / ".ci" / run_by_ci, os.X_OK)
        assert run_by_ci == "versions" or not words
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if "bin/pytest" in line]
    assert len(lines) == 1 and lines[0].startswith("python3 -m venv .venv && ")


@pytest.mark.slow
def test_the_few_lines_of_python_are_a_bot(tmp_path: Path) -> None:
    code, _ = blocks("README.md", "python")
    (tmp_path / "few.py").write_text(code)
    done = run(
        "referee match blooms '{python} few.py' '{python} few.py' -n 2 --strict --option size=3 --workers 0",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


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
        f"up to {referee_session.LIST_CAP} `list`",
        "(2000 by default",
        "16 KiB per game",
    ):
        assert piece in text
    hello = parse(b"hello 1 list", Speaker.REFEREE)
    assert getattr(hello, "capabilities") == referee_session.CAPABILITIES  # noqa: B009


def test_links_lead_somewhere() -> None:
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text())
    ]
    assert len(links) > len(PAGES)
    assert [(page, link) for page, link in links if not ((ROOT / page).parent / link).exists()] == []
