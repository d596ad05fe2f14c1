"""The pictures of the README, from a match between two sample bots: a terminal with its command and what it
printed, and a position of one of its games.

`python -m tests.tools.readme_pictures` makes them again: do that after a change of what a match prints. With
the name of a folder, it writes them there.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from tests.command import ROOT, environment_of_contributors

FOLDER = ROOT / "referee" / "docs" / "pictures"

TERMINAL, BOARD = "terminal.svg", "board.svg"

MATCH = (
    "referee match blooms -n 40 --seed spring --option size=3 -o first",
    "deep='{python} sample_bots/search_bot.py --playouts 30'",
    "quick='{python} sample_bots/search_bot.py --playouts 10'",
)
"""The lines of the command."""

PICTURE = "referee picture first 1 --move -4 --width 360"

COLUMNS = 84


def make(folder: Path) -> None:
    """Plays the match and writes both pictures into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(ROOT / "sample_bots", Path(scratch) / "sample_bots")
        printed = _output(" ".join(MATCH), scratch, subprocess.STDOUT)
        board = _output(PICTURE, scratch, subprocess.DEVNULL)
    command = " \\\n    ".join(MATCH)
    folder.mkdir(exist_ok=True)
    (folder / TERMINAL).write_text(terminal(f"$ {command}\n{printed}"))
    (folder / BOARD).write_text(board)


def _output(command: str, folder: str, stderr: int) -> str:
    """What a command prints in a terminal of `COLUMNS` with colours."""
    words = [sys.executable, "-m", "referee", *shlex.split(command)[1:]]
    env = {**environment_of_contributors(), "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=stderr, check=True)
    return done.stdout.decode()


def terminal(text: str) -> str:
    """A picture of a terminal with this text, which may have colours, as SVG that loads nothing."""
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(Text.from_ansi(text))
    form = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    svg = console.export_svg(title="referee", code_format=form)
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


if __name__ == "__main__":
    make(Path(*sys.argv[1:]) if sys.argv[1:] else FOLDER)
