"""A function as a bot: `python -m referee.api.function_bot FILE`.

FILE is what `function_file` makes. Whatever the function prints, also by other languages, goes to stderr.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

from referee.protocol.bot import play


def function_file(pickled: bytes) -> bytes:
    """The content of a file for a function that was pickled, which is found again from the folders that
    this process imports from.
    """
    return pickle.dumps(([path or str(Path.cwd()) for path in sys.path], pickled))


def main(file: str) -> None:
    """Plays with the function in a file until the referee says quit."""
    sys.path[:], pickled = pickle.loads(Path(file).read_bytes())
    with os.fdopen(os.dup(1), "wb") as sink:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        play(pickle.loads(pickled), sink=sink)


if __name__ == "__main__":
    main(sys.argv[1])
