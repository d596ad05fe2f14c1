"""A server beside a run: a process of its own, which the referee starts and which ends with it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from referee.core.errors import EnvironmentLacksError
from referee.games import VARIABLE, game_given
from referee.processes.beside import running_beside
from referee.serving.server import NICENESS, hosts_of, listening, serve_run, url_of

HOST = "127.0.0.1"


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which the run in a folder is served. The run may not have begun yet. Raises
    `EnvironmentLacksError` where the server does not start.
    """
    program = f"from referee.serving.beside import main; main({str(folder.absolute())!r})"
    with running_beside(program) as line:
        if not line:
            raise EnvironmentLacksError("cannot start a server for this run: it does not start")
        yield line.decode().strip()


def main(folder: str) -> None:
    """Serves the run in a folder, prints the address, and ends when stdin ends."""
    with contextlib.suppress(OSError):
        # Within the session, which the kernel lets the others go before as a whole.
        Path("/proc/self/autogroup").write_text(str(NICENESS))
    named = os.environ.get(VARIABLE)
    given = game_given(named, Path("/")) if named else None
    with listening(HOST, 0) as listener:
        print(url_of(listener), flush=True)
        log_error = partial(print, file=sys.stderr)
        serve_run(Path(folder), given, listener, hosts_of(listener, HOST), None, log_error, sys.stdin.read)
