"""Whether output is in colour, and whether a screen can be drawn: the terminal, and what the user set.

`NO_COLOR` (not empty) means no colour anywhere. Otherwise `FORCE_COLOR` (not empty) means colour, also in a
pipe. Otherwise there is colour where a terminal has it. A terminal whose `TERM` is `dumb` or missing has
none, and shows lines only: nothing is drawn there that moves the cursor.
"""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def in_colour(stream: IO[str]) -> bool:
    """Whether text for this stream is coloured."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or can_draw(stream)


def can_draw(stream: IO[str]) -> bool:
    """Whether this stream is a terminal in which the cursor can be moved."""
    return stream.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")


def console_at_stderr() -> Console:
    """Returns a console for drawing progress on stderr, by the same rules. Where nothing can be drawn, it
    prints only lines that stay.
    """
    from rich.console import Console  # few commands need it

    draws = can_draw(sys.stderr)
    return Console(
        stderr=True, force_terminal=draws, force_interactive=draws, no_color=not in_colour(sys.stderr)
    )
