"""What a test needs beside Python: programs and levels of isolation. Where one is missing, the test is
skipped and names it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from referee.processes import levels
from tests.command import ROOT


def needs(*names: str) -> pytest.MarkDecorator:
    """Marks a test, or a module's tests as `pytestmark`, that need these programs."""
    missing = [name for name in names if not shutil.which(name)]
    return pytest.mark.skipif(bool(missing), reason=reason(*missing))


def path_of(name: str, path: str | None = None) -> str:
    """Where a program is found on the PATH, or on this one; skips the test where it is not."""
    if not (found := shutil.which(name, path=path)):
        pytest.skip(reason(name))
    return found


def needs_level(level: str, user: str = "") -> str:
    """This level of isolation; skips the test where it does not work for bots of this user."""
    if user and os.geteuid() != 0:
        pytest.skip("only root can run bots as another user")
    if why := levels.reason(level, user):
        pytest.skip(f"isolation `{level}`: {why}")
    return level


def files_of_git(*folders: str) -> list[str]:
    """The files in these folders of the project, or in all, that are or would be under version control."""
    command = [path_of("git"), "ls-files", "-co", "--exclude-standard", "-z", *folders]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return listed.split("\0")[:-1]


def copied_to(folder: Path) -> None:
    """Copies what is or would be under version control into a folder: a checkout as a newcomer has it."""
    for name in files_of_git():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def reason(*names: str) -> str:
    """Why a test is skipped where these programs are missing."""
    return f"needs {', '.join(f'`{name}`' for name in names)}"
