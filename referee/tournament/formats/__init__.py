"""The formats of tournaments: their settings, and the schedule and the standings that follow from them.

`FORMATS.md` describes them for people.
"""

from referee.tournament.formats.format import FORMATS, FREE, KEYS, LEAGUE, Amount, Format, total
from referee.tournament.formats.knockout import LOST_TO
from referee.tournament.formats.reading import format_of, from_header
from referee.tournament.formats.standing import Standing

__all__ = [
    "FORMATS",
    "FREE",
    "KEYS",
    "LEAGUE",
    "LOST_TO",
    "Amount",
    "Format",
    "Standing",
    "format_of",
    "from_header",
    "total",
]
