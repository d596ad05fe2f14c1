"""The command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
RANDOM = f"{{python}} {ROOT / 'sample_bots' / 'random_bot.py'}"
GREEDY = f"{{python}} {ROOT / 'sample_bots' / 'greedy_bot.py'}"
PLAIN = f"{{python}} {ROOT / 'sample_bots' / 'plain_bot.py'}"
BAD = f"{{python}} -I -S {ROOT / 'tests' / 'bots' / 'bad_bot.py'}"


class Done(NamedTuple):
    code: int
    out: str
    err: str


def referee(*words: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Done:
    """Runs `referee` to its end; it never shows a traceback nor a control character."""
    command = [sys.executable, "-m", "referee", *words]
    done = subprocess.run(
        command, capture_output=True, timeout=120, cwd=cwd, env={**os.environ, **(env or {})}
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err, err
    assert all(c.isprintable() or c == "\n" for c in out + err), out + err
    return Done(done.returncode, out, err)
