"""The pictures of the README, from a match between two sample bots: a terminal with its command and what it
printed, and a position of one of its games.

`python -m tests.tools.readme_pictures` makes them again: do that after a change of what a match prints.
"""

from __future__ import annotations

import os
import re
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

MATCH = r"""referee match blooms -n 40 --seed spring --option size=3 -o first \
    deep='{python} sample_bots/search_bot.py --playouts 30' \
    quick='{python} sample_bots/search_bot.py --playouts 10'"""

PICTURE = "referee picture first 1 --move -4 --width 360"

COLUMNS = 84


def make(folder: Path) -> None:
    """Plays the match and writes both pictures into a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(ROOT / "sample_bots", Path(scratch) / "sample_bots")
        printed = _output(MATCH, scratch, subprocess.STDOUT)
        board = _output(PICTURE, scratch, subprocess.DEVNULL)
    folder.mkdir(exist_ok=True)
    (folder / TERMINAL).write_text(terminal(f"$ {MATCH}\n{printed}"))
    (folder / BOARD).write_text(board)


def _output(command: str, folder: str, stderr: int) -> str:
    """What a command prints with colours, in a window of `COLUMNS`."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**environment_of_contributors(), "PATH": path, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(
        ["sh", "-euc", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        check=True,
    )
    return done.stdout


def terminal(text: str) -> str:
    """A picture of a terminal with this text, which may have colours, as SVG that loads nothing."""
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(Text.from_ansi(text))
    form = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    svg = console.export_svg(title="referee", code_format=form)
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


if __name__ == "__main__":
    make(FOLDER)
