"""What an installed user has: documents, examples, completion; the wheel has all of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete

from referee.check.steps import STEPS
from referee.check.tested_bot import SCALE
from referee.cli import cli, completion
from referee.games import GAMES
from referee.pages.documents import documents, text_of
from referee.ratings.columns import COLUMNS
from referee.ratings.table import KNOWN
from referee.records.amendments import THEN
from tests.command import HERE, PLAIN, ROOT, referee
from tests.programs import files_of_git, path_of
from tests.tools import module_list
from tests.waiting import TOO_LONG_S


def completed(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """What a shell offers for the last of these words."""
    monkeypatch.setenv("_REFEREE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["referee", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    return BashComplete(cli, {}, "referee", "_REFEREE_COMPLETE").complete().splitlines()


def test_every_document_is_listed_and_shown() -> None:
    listed = referee("docs").out.splitlines()[2:]
    pages = documents()
    assert [line.split()[0] for line in listed] == list(pages)
    kept = {path.resolve() for path in (ROOT / "referee").rglob("*.md")}
    kept |= {*(ROOT / "protocol").rglob("*.md")}
    templates = ROOT / "referee" / "templates"
    assert {path.resolve() for path in pages.values()} == {
        path for path in kept if templates not in path.parents
    }
    assert len(pages) == len(kept) - len([path for path in kept if templates in path.parents])
    for name, path in pages.items():
        assert referee("docs", name).out == text_of(name)
        lines = path.read_text().splitlines()
        assert [line for line in text_of(name).splitlines() if line] == [
            line for line in lines if line and not line.startswith("<!--")
        ]
    assert referee("docs", "PROTOCOL.md").out == referee("docs", "protocol").out


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"PAGER": "cat"},
        {"PAGER": "less"},
        {"PAGER": "less", "LESS": "-F"},
        {"PAGER": "more"},
        {"PAGER": "nowhere"},
    ],
)
def test_a_terminal_shows_a_document_laid_out(environment: dict[str, str]) -> None:
    pexpect = pytest.importorskip("pexpect")
    words = ["-m", "referee", "docs", "events"]
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment}
    env.pop("COLUMNS", None)
    if "LESS" not in environment:
        env.pop("LESS", None)
    child = pexpect.spawn(
        sys.executable, words, env=env, encoding="utf-8", dimensions=(24, 60), timeout=TOO_LONG_S
    )
    child.expect("as JSON")
    child.send("q")
    shown = child.before + child.after + child.read()
    child.close()
    assert child.exitstatus == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "ESC" not in plain and not re.search(r"\[\d[\d;]*m", plain), "no part of a colour is shown as text"
    assert "Events of a run, as JSON" in plain and "# Events" not in plain and "`event`" not in plain
    assert max(map(len, re.sub(r"\x1b\[[\d;?]*\w|\x1b.|\r", "", plain).splitlines())) <= 60


def test_examples_are_copied_whole_and_nothing_is_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    done = referee("examples", str(folder))
    assert done.code == 0
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    parts = files_of_git(
        "sample_bots", "tournaments", "referee/examples/notebooks", "referee/examples/suites"
    )
    assert files == sorted(name.removeprefix("referee/examples/") for name in parts)
    tournaments = done.out.splitlines()
    assert tournaments == sorted(map(str, (folder / "tournaments").glob("*.toml")))
    assert referee("run", tournaments[0], "--dry-run").code == 0
    again = referee("examples", str(folder))
    assert again.code == 2 and "exists, expected a folder without `notebooks`" in again.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ma"], ["plain,match"]),
        (["match", "bl"], ["plain,blooms"]),
        (["games", ""], [f"plain,{slug}" for slug in GAMES]),
        (["check", "./mine"], ["file,./mine"]),
        (["match", "blooms", "@"], ["plain,@greedy", "plain,@random"]),
        (["match", "blooms", "mine=./a", "@g"], ["plain,@greedy"]),
        (["play", "thetree", ""], ["plain,@tree", "plain,@random"]),
        (["check", "blooms", "./m"], ["file,./m"]),
        (["match", "blooms", "--option", "si"], ["plain,size="]),
        (["match", "--option", "si"], []),
        (["match", "--watc"], ["plain,--watch"]),
        (["docs", "rec"], ["plain,record"]),
        (["run", "./t"], ["file,./t"]),
    ],
)
def test_a_shell_completes(words: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(monkeypatch, *words) == expected


@pytest.mark.slow
def test_a_shell_completes_games_and_bots_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path / "run")
    words = ("match", "blooms", "-n", "12", "-o", folder, "--option", "size=3", "--option", "target=2")
    assert referee(*words, *HERE, "--isolation", "none", f"one={PLAIN}", f"two={PLAIN}").code == 0
    assert referee("amend", folder, "--rename", "one=first").code == 0
    for command in (("replay", folder), ("rerun", folder), ("find", folder, "--id")):
        assert completed(monkeypatch, *command, "1") == ["plain,1", "plain,10", "plain,11", "plain,12"]
    assert completed(monkeypatch, "export", folder, "--game", "6:o") == ["plain,6:one:two"]
    assert completed(monkeypatch, "find", folder, "--lost-by", "") == ["plain,first", "plain,two"]
    records = tmp_path / "run" / "games.jsonl"
    records.write_bytes(b'{"kind":"game"\n' + records.read_bytes())
    for broken in (folder, "/no/such", str(tmp_path), "/dev/null"):
        assert completed(monkeypatch, "replay", broken, "1") == []
    monkeypatch.setattr(completion, "MAX_LINES", 0)
    assert completed(monkeypatch, "replay", folder, "1") == []


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("words", "expected"), [("match bl", "plain,blooms\n"), ("replay /no 1", "\n")])
def test_a_shell_asks_the_program_and_is_told_no_errors(words: str, expected: str) -> None:
    asked = {"COMP_WORDS": f"referee {words}", "COMP_CWORD": str(len(words.split()))}
    env = {**os.environ, "_REFEREE_COMPLETE": "bash_complete", **asked}
    done = subprocess.run([sys.executable, "-m", "referee"], capture_output=True, text=True, env=env)
    assert (done.stdout, done.stderr) == (expected, "")


@pytest.mark.slow
def test_the_line_of_the_readme_makes_a_shell_complete() -> None:
    (line,) = re.findall(r"`(eval .*?)`", (ROOT / "README.md").read_text())
    asked = "COMP_WORDS=(referee mat); COMP_CWORD=1; _referee_completion referee"
    script = f'{line}; complete -p referee; {asked}; echo "$COMPREPLY"'
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = [path_of("bash"), "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    assert "_referee_completion referee" in done.stdout and done.stdout.endswith("match\n")


def test_the_help_of_every_command_has_examples() -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        _, command, _ = cli.resolve_command(context, [name])
        assert command and command.help
        found = re.findall(rf"^ *referee {name}\b", command.help.partition("Example")[2], re.MULTILINE)
        assert found, f"`referee {name} --help` has no example"


def test_every_command_is_in_the_help_and_on_a_page() -> None:
    modules = {
        path.stem.replace("_", "-")
        for path in (ROOT / "referee" / "cli").glob("*.py")
        if "\n@click.command(" in path.read_text()
    }
    listed = set(cli.list_commands(click.Context(cli)))
    assert modules == listed, "`SUMMARIES` in referee/cli/__init__.py"
    pages = {path.resolve() for path in documents().values()} - {module_list.PAGE.resolve()}
    text = "\n".join(path.read_text() for path in (ROOT / "README.md", *pages))
    named = set(re.findall(r"(?:^|`) *referee ([a-z-]+)", text, re.MULTILINE))
    assert listed - named == set(), (
        "no document has these commands, expected README.md or one in referee/docs"
    )


@pytest.mark.slow
def test_a_wheel_has_everything_and_works_where_nothing_else_is_installed(tmp_path: Path) -> None:
    env = {**os.environ, "PIP_NO_COMPILE": "1", "PYTHONDONTWRITEBYTECODE": ""}  # the build warns of it
    built = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "-o", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        env=env,
    )
    assert built.returncode == 0, built.stderr
    warned = re.findall(r"^.*(?:warning:|Deprecat|Warning).*$", built.stdout + built.stderr, re.MULTILINE)
    assert [line for line in warned if "is ignored: it is neither" not in line] == []
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"referee"}
    tracked = files_of_git("referee", "protocol", "sample_bots", "tournaments")
    expected = {
        re.sub(
            "^(sample_bots|tournaments)/",
            r"referee/examples/\1/",
            name.replace("protocol/", "referee/protocol/", 1),
        )
        if not name.startswith("referee/")
        else name
        for name in tracked
        if not (ROOT / name).is_dir()
    }
    assert expected - names == set()
    metadata = (
        zipfile.ZipFile(wheel).read(next(name for name in names if name.endswith("/METADATA"))).decode()
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for classifier in project["classifiers"]:
        assert f"Classifier: {classifier}\n" in metadata
    works_alone(wheel, tmp_path)


SIX_ROUNDS = r"\"rounds\": 6"
"""In the notebook, of which one round shows as much."""


def works_alone(wheel: Path, folder: Path) -> None:
    """Installs a wheel in an empty environment, and uses it there."""

    def run(*command: str | Path) -> str:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=TOO_LONG_S
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def install(*packages: str | Path) -> None:
        # By a pip that is there: to install it in the environment as well takes longer than all the rest.
        python = sys.executable if find_spec("pip") else Path(sys.executable).resolve()
        environment = ("--python", folder / "env" / "bin" / "python")
        run(python, "-m", "pip", *environment, "install", "-q", "--no-compile", *packages)

    run(sys.executable, "-m", "venv", "--without-pip", "env")
    install(wheel)
    program = folder / "env" / "bin" / "referee"
    assert len(run(program, "docs").splitlines()) == len(referee("docs").out.splitlines())
    assert run(program, "docs", "blooms") == text_of("blooms")
    results = folder / "here" / "tournaments" / "evengroups-results"
    run(program, "examples", "here")
    file = results.with_name("evengroups.toml")
    file.write_text(
        file.read_text().replace("rounds = 3", "rounds = 1").replace("--playouts 40", "--playouts 4")
    )
    assert "random" in run(program, "run", file)
    run(program, "replay", results, "1", "--html", "game.html")
    assert "<html" in (folder / "game.html").read_text()
    assert run(program, "verify", results)
    install("nbclient", "ipykernel")
    for notebook in (folder / "here" / "notebooks").iterdir():  # fails where a cell has an error
        text = notebook.read_text()
        assert text.count(SIX_ROUNDS) == 1
        notebook.write_text(text.replace(SIX_ROUNDS, SIX_ROUNDS.replace("6", "1")))
        run("env", f"HOME={folder}", folder / "env" / "bin" / "jupyter-execute", notebook)


HEAVY = (
    "distributed",
    "jinja2",
    "numpy",
    "rich",
    "starlette",
    "tabulate",
    "uvicorn",
)
OURS = (
    "gameplay.loop",
    "games.blooms",
    "games.thetree",
    "ratings.table",
    "tournament.config",
    "wire.referee_session",
)
"""Modules that no help needs: those that take long to import, or import many others."""


EVERY_HELP = """
import os, sys
from referee.cli import main
for name in sys.argv[1:]:
    if os.fork() == 0:  # each command in a process of its own, which has imported the same so far
        sys.argv = ["referee", *name.split(), "--help"]
        try:
            main()
        finally:
            print(f"{name}:", *sys.modules, file=sys.stderr)
            sys.exit()
    assert os.wait()[1] == 0, name
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_help_imports_nothing_that_takes_long() -> None:
    names = ["", *cli.list_commands(click.Context(cli))]
    done = subprocess.run(
        [sys.executable, "-c", EVERY_HELP, *names], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("Usage: referee") == len(names)
    imported = {name: set(modules.split()) for name, modules in re.findall("^(.*?):(.*)$", done.stderr, re.M)}
    assert set(imported) == set(names)
    for name, modules in imported.items():
        assert "click" in modules
        assert not modules & {*HEAVY, *(f"referee.{module}" for module in OURS)}, name


def test_help_names_what_it_does_not_import() -> None:
    """Choices that stand in a help, and in modules that it does not import since they take long."""
    steps = referee("check", "--help").out.partition("Steps:")[2]
    assert [line.split(maxsplit=1) for line in steps.strip().splitlines()] == [
        [str(number), step.title] for number, step in enumerate(STEPS, 1)
    ]
    assert f"(the first to 1/{SCALE} of the allowance" in " ".join(referee("check", "--help").out.split())
    assert f"[1<=x<={len(STEPS)}]" in referee("check", "--help").out
    table = " ".join(referee("table", "--help").out.split())
    assert f"standings: {', '.join(COLUMNS)}, or" in table and f"tables: {', '.join(KNOWN)}." in table, (
        "referee/cli/table.py"
    )
    assert f"[{'|'.join(THEN)}]" in referee("amend", "--help").out
