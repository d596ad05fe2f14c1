"""`referee test`: versions of a bot that are better, worse and broken, by hand, in a hook and in a job."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT, THIS_PYTHON, referee
from tests.processes.runs import games, wait_for_games
from tests.programs import needs

PLAIN = (ROOT / "sample_bots" / "plain_bot.py").read_text()

TOML = """[tournament]
game = "blooms"
sprt = "0,400"
clock = "10s"
workers = 0
[options]
size = 3
target = 3
[[bot]]
name = "petal"
cmd = "{python} -I -S main.py"
files = ["*.py"]
"""

WORSE = PLAIN.replace(
    'elif word == "ask":',
    'elif word == "ask" and len(empty) < 18:\n'
    '            say(f"resign {rest[0]}")\n'
    '        elif word == "ask":',
)
"""Resigns instead of its second move."""

BROKEN = "import no_such_module\n"


def made(folder: Path, text: str, toml: str = TOML) -> Path:
    """The folder of a bot with this program."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text(toml)
    (folder / "main.py").write_text(text)
    return folder


def version_names(bot: Path) -> list[str]:
    return [line.split()[0] for line in referee("test", str(bot), "--versions").out.splitlines()[2:]]


@pytest.mark.slow
def test_the_first_version_only_passes_the_check(tmp_path: Path) -> None:
    bot = made(tmp_path / "petal", BROKEN)
    done = referee("test", str(bot))
    assert done.code == 7 and "step 1, starts: the bot exited with status 1" in done.out
    assert done.err.endswith("referee: `petal` is broken: it cannot be built or failed the check\n")
    assert not version_names(bot)
    made(bot, PLAIN)
    done = referee("test", str(bot), "--note", "random")
    assert done.code == 0 and "`petal@1` is stored: it is the first" in done.err
    assert version_names(bot) == ["petal@1"]


@pytest.mark.slow
def test_only_what_is_better_becomes_the_next_version(tmp_path: Path) -> None:
    bot = made(tmp_path / "petal", WORSE)
    assert referee("test", str(bot)).code == 0
    made(bot, PLAIN)
    done = referee("test", str(bot))
    assert done.code == 0 and "H1 accepted" in done.out and "`petal@2` is stored: H1 accepted" in done.err
    (run,) = (bot / "versions" / "tests").glob("*-results")
    played = len(games(run))
    made(bot, WORSE + "\n# again")
    done = referee("test", str(bot))
    assert done.code == 8 and "not found to be better than `petal@2`: H0 accepted" in done.err
    again = referee("test", str(bot))
    assert again.code == 8 and "checking" not in again.err and again.out == done.out, "it is not played again"
    made(bot, PLAIN + "\n# again", TOML.replace("[options]", "budget = 2\n[options]"))
    done = referee("test", str(bot), "--null")
    assert done.code == 0 and "itself (any difference is chance)" in done.err
    assert "nothing is stored: undecided: `petal` − `petal-old`" in done.err
    done = referee("test", str(bot), "--against", "petal@2")
    assert done.code == 8 and "undecided: `petal` − `petal-old`" in done.err
    made(bot, PLAIN)
    done = referee("test", str(bot), "--against", "petal@1")
    assert done.code == 0 and "nothing is stored: H1 accepted" in done.err
    assert len(games(run)) == played, "this test was played already"
    assert version_names(bot) == ["petal@1", "petal@2"]
    done = referee("rerun", str(run), "1", "--strict")
    assert done.code == 0, done.err


@pytest.mark.slow
def test_a_killed_test_continues_with_the_same_files(tmp_path: Path) -> None:
    bot = made(tmp_path / "petal", PLAIN, TOML.replace("0,400", "0,4").replace("[op", "budget = 60\n[op"))
    assert referee("test", str(bot)).code == 0
    made(bot, f"{PLAIN}\n# other\n", (bot / "bot.toml").read_text())
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "test", str(bot)], stderr=subprocess.DEVNULL, cwd=ROOT
    )
    tests = bot / "versions" / "tests"
    while not (runs := [*tests.glob("*-results")]):
        assert process.poll() is None
    wait_for_games(runs[0], 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = games(runs[0])
    toml = (bot / "bot.toml").read_text()
    (bot / "bot.toml").write_text(toml.replace("budget = 60", "budget = 40"))
    done = referee("test", str(bot))
    assert done.code == 2 and "`budget` is 40, but was 60" in done.err
    (bot / "bot.toml").write_text(toml)
    done = referee("test", str(bot))
    assert done.code == 8 and "checking" not in done.err
    assert f"{len(before)} of at most 60 games played" in done.err
    assert re.search(r"^40 of 60 games.*; LLR [+−]", done.err, re.MULTILINE)
    after = games(runs[0])
    assert len(after) == 60 and before.items() <= after.items()
    assert referee("verify", str(runs[0])).code == 0


def block(language: str) -> str:
    """The block of the page in this language."""
    page = (ROOT / "referee" / "docs" / "BETTER.md").read_text()
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.slow
@needs("git")
def test_the_hook_and_the_job_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    caller = tmp_path / "bin" / "referee"
    caller.write_text(f'#!/bin/sh\nexec {THIS_PYTHON} -m referee "$@"\n')
    caller.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{caller.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        **{f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }

    def sh(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-euc", script], cwd=folder, env=environment, capture_output=True, text=True
        )

    repository = tmp_path / "work"
    done = sh("git init -q --bare origin; git clone -q origin work", tmp_path)
    assert done.returncode == 0, done.stderr
    hook = repository / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(block("shell"))
    hook.chmod(0o755)
    push = "git add -A; git commit -qm change; git push -q origin HEAD:main"
    pushed = "git -C ../origin log --format=%h main | wc -l"
    for text, code, told in (
        (PLAIN, 0, "`petal@1` is stored"),
        (BROKEN, 1, "`petal` is broken"),
        (WORSE, 1, "was not found to be better than `petal@1`"),
        (PLAIN, 0, "nothing is new"),
    ):
        made(repository / "petal", text)
        before = sh(pushed, repository).stdout
        done = sh(push, repository)
        assert done.returncode == code and told in done.stderr, done.stderr
        assert (sh(pushed, repository).stdout == before) == (code != 0)
    listed = sh("git ls-files petal/versions", repository).stdout.split()
    kept = {
        "petal/versions/1/main.py",
        "petal/versions/1/bot.toml",
        "petal/versions/versions.toml",
        "petal/versions/.gitignore",
    }
    assert {*listed} == kept
    install, run = re.findall(r"- run: (.*)", block("yaml"))
    assert install.startswith("pip install ")
    assert sh("git clone -q -b main origin job", tmp_path).returncode == 0
    for text, code in ((PLAIN, 0), (WORSE, 8), (BROKEN, 7)):
        made(tmp_path / "job" / "petal", text)
        assert sh(run, tmp_path / "job").returncode == code
