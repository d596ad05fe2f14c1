"""Chooses how the progress of a run is shown."""

from __future__ import annotations

import sys

from referee.cli.colour import can_draw
from referee.cli.json_lines import JsonLines
from referee.cli.progress import ProgressLines
from referee.run import Display, RunInfo


def display(info: RunInfo, json_lines: bool = False, is_live: bool = True) -> Display:
    """A live view where stderr is a terminal that can draw, else plain lines; with `json_lines`, events on
    stdout as well. `is_live` is false where other lines are printed there meanwhile.

    Where these appear on a terminal too, they would disturb the live view, so that plain lines are used.
    """
    is_live = is_live and can_draw(sys.stderr) and not (json_lines and sys.stdout.isatty())
    people = _live_view(info) if is_live else ProgressLines(info)
    return JsonLines(info, people) if json_lines else people


def _live_view(info: RunInfo) -> Display:
    from referee.cli.live_view import LiveView  # it needs rich

    return LiveView(info)
