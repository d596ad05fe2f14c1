"""The catalogue of all that can go wrong with bots and around them: what happens, and what has to come of it.

Whoever finds a new way for a bot to go wrong adds a row here, or another way of testing one that is there: in
`mistakes.py` what a bot does to its own game, in `attacks.py` what it does to others, in `referee_faults.py`
what goes wrong without a bot. `row.py` has the shape of a row and of each way; the class of a way says who
runs it:

- `Case`: a bot of a line of sh plays a game, which has this verdict: `tests/processes/test_catalogue.py`.
- `AtRandom`: `tests/bots/faulty_bot.py` does it at a random moment of any game: `tests.tools.fault_soak`.
- `Checked`: `tests/bots/broken_bot.py`, or a bot of another language in `tests/bots/broken`, makes this
  mistake alone: `tests.tools.broken_bots`.
- `Defect`: `tests/bots/check_bots.py` does it, and this step of `referee check` says so:
  `tests/processes/test_check.py`.
- `Attack`: a bot in `tests/bots/attacks` tries it at each level of isolation: `tests.tools.attacks`.
- `Elsewhere`: a test of its own. `Why`: why it is not tested.

What has to come of `Checked` is in the table of `tests/BROKEN_BOTS.md`, and of `Attack` in ISOLATION.md.
"""

from __future__ import annotations

from typing import TypeVar

from tests.catalogue.attacks import ON_PURPOSE
from tests.catalogue.mistakes import MISTAKES
from tests.catalogue.referee_faults import OURS
from tests.catalogue.row import Row

ROWS = [Row(*key, ways) for rows in (MISTAKES, ON_PURPOSE, OURS) for key, ways in rows.items()]
ROWS.sort(key=lambda row: row.number)

W = TypeVar("W")


def ways(kind: type[W]) -> tuple[W, ...]:
    """The ways of a kind, in the order of the rows."""
    return tuple(way for row in ROWS for way in row.ways if isinstance(way, kind))
