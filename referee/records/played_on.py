"""Where a game was played, as its record says: the machine, its processor, the worker. Pure."""

from __future__ import annotations

import json
from typing import NamedTuple

from referee.core.errors import RecordError
from referee.core.fields import Fields

MAX_LABEL = 200  # maximum number of characters of each text

_MEASURED = b',"measured":'
_MEMBER = b',"machine":'

_DECODER = json.JSONDecoder()


BY_REFEREE = "0"  # the worker of games that the referee's own process played


class PlayedOn(NamedTuple):
    """Where a game was played. The names of the parts are those of the members in a record, which may be
    anybody's: the texts are bounded, and have to be escaped where they are shown.
    """

    name: str  # the host name of the machine
    cpu: str  # the model of its processor
    worker: str  # `BY_REFEREE`, the number of a worker process, or what a cluster calls its worker


def played_on(measured: Fields) -> PlayedOn:
    """Returns where a game was played, from its measurements. Raises `RecordError`."""
    fields = measured.object("machine")
    return PlayedOn(*(_text(fields, name) for name in PlayedOn._fields))


def _text(fields: Fields, name: str) -> str:
    text = fields.text(name)
    if not 1 <= len(text) <= MAX_LABEL:  # guard: machine-texts
        raise fields.wrong(name, f"1 to {MAX_LABEL} characters")
    return text


def played_on_of_line(line: bytes) -> PlayedOn:
    """Returns where the game of a line was played, cut out of the line without parsing the rest: like a
    digest, see `record.digest_of_line`. Raises `RecordError`.
    """
    begin = line.rfind(_MEMBER, line.rfind(_MEASURED))  # an option of a game may have this name too
    if begin < 0:
        return played_on(Fields({}, "measured", RecordError))  # which says that it is missing
    try:
        value, _ = _DECODER.raw_decode(line[begin + len(_MEMBER) :].decode())
    except (ValueError, RecursionError):
        raise RecordError("`measured.machine` is not valid JSON") from None
    return played_on(Fields({"machine": value}, "measured", RecordError))
