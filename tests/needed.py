"""What a benchmark or tool needs beside Python. Where it is missing, one line names it and the tool ends."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

LACKING = 69
"""The exit code of a tool that lacks what it needs: `EX_UNAVAILABLE` in `sysexits.h`."""


def need_program(name: str) -> str:
    """The path of a program. Ends the tool where there is none."""
    return shutil.which(name) or end_without(name)


def compiled(source: Path, folder: Path) -> Path:
    """The program of a source in C, built in a folder. Ends the tool where there is no compiler."""
    program = folder / source.stem
    subprocess.run([need_program("cc"), "-O2", "-o", program, source], check=True)
    return program


def end_without(name: str) -> NoReturn:
    """Ends the tool, and says what is missing."""
    print(f"needs `{name}`", file=sys.stderr)
    sys.exit(LACKING)
