"""`python -m referee`, and the command `referee`.

A worker imports what its referee was started from, and needs nothing of the command line: that is imported
only when it is called.
"""

import os
import sys


def main() -> None:
    """Runs the command line."""
    from referee.core import stop

    # The arrays are small: more threads would take processor time from bots, and gain nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    stop.take_signals()
    try:
        from referee.cli import main as run

        run()
    finally:
        stop.ignore_signals()


if __name__ == "__main__":
    # Python puts the current folder first; a bot's file there must not pass for a module of ours or Python's.
    sys.path.append(sys.path.pop(0))
    main()
