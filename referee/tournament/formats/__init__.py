"""The formats of tournaments: their settings, and the schedule and the standings that follow from them.

`FORMATS.md` describes them for people.
"""

from referee.tournament.formats.format import FORMATS, KEYS, Amount, Format
from referee.tournament.formats.reading import format_of, from_header
from referee.tournament.formats.standing import Standing

__all__ = ["FORMATS", "KEYS", "Amount", "Format", "Standing", "format_of", "from_header"]
