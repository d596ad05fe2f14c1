"""Reads the heads of games: what recurs from line to line is parsed once. Pure.

A head is read by parts: the id, the terms, the names of the bots, the clocks, two seeds, the result. Terms,
names, clocks and results that were read before are not parsed again.

A part is remembered only where its whole head was parsed and checked, and where the part, by itself, is a
list of JSON members with exactly the names that the referee writes. So a head made of such parts is valid
JSON, has no name twice, and says what its parts say. A line that has any other form is parsed whole.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.records.record import Summary, digest_of_line, head_of, parse_json, summary

_HEAD = re.compile(
    rb'\{"kind":"game","id":"([!#-\[\]-~]{1,1000})",'  # printable, without quotes and backslashes
    rb'("attempt":[0-9]+,"game":"[^"\\]*","rules":[0-9]+,"options":\{[^{}]*\}),'
    rb'"bots":\["([^]]*)"\],'
    rb'("clocks":\[[^]]*\],"margin_us":[0-9]+,"rejections":[0-9]+),'
    rb'"seed":"[0-9a-f]{64}","shared_seed":"([0-9a-f]{64})",'
    rb'("ranks":\[[^]]*\],"scores":\[[^]]*\],"ending":"[^"\\]*","sentence":"[^"\\]*","rated":[a-z]+,'
    rb'"faults":\[[^]]*\],"isolation":\[[^]]*\]),"events":'
)
_TERMS = ["attempt", "game", "rules", "options"]
_CLOCKS = ["clocks", "margin_us", "rejections"]
_RESULT = ["ranks", "scores", "ending", "sentence", "rated", "faults", "isolation"]

_MOST = 10_000  # how many parts of a kind are remembered; then it starts anew

_LONGEST = 4_000  # maximum number of bytes of a head whose parts are remembered


class Head(NamedTuple):
    """The head of a game's line."""

    game: Summary
    shared_seed: bytes


class Heads:
    """Reads heads, and remembers their parts."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}
        self._terms: dict[bytes, tuple[int, str]] = {}  # the attempt and the game
        self._clocks: set[bytes] = set()
        self._results: dict[bytes, Summary] = {}  # A game with this result

    def read(self, line: bytes) -> Head | dict[str, Any]:
        """The head of a game, or the object of any other line. Raises `RecordError`."""
        match = _HEAD.match(line)
        if match is None:
            return self._read_whole(line, None)
        game_id, terms, bots, clocks, shared_seed, result = match.groups()
        try:
            attempt, game = self._terms[terms]
            like = self._results[result]
            names = tuple([self._names[name] for name in bots.split(b'","')])
        except KeyError:
            return self._read_whole(line, match)
        if clocks not in self._clocks or len(names) != len(like.bots):
            return self._read_whole(line, match)
        digest = digest_of_line(line, match.end(6))
        # Like `like._replace`, which takes three times as long.
        found = Summary._make((game_id.decode(), attempt, game, names, *like[4:-1], digest))
        return Head(found, bytes.fromhex(shared_seed.decode()))

    def _read_whole(self, line: bytes, match: re.Match[bytes] | None) -> Head | dict[str, Any]:
        """Does the work of `read` without what is remembered; a game that has the usual form, of which
        `match` are the parts, is remembered.
        """
        value = head_of(line)
        if value.get("kind") != "game":
            return value
        game = summary(value, digest_of_line(line))
        if match:
            self._remember(game, match)
        return Head(game, Fields(value, "", RecordError).hex("shared_seed"))

    def _remember(self, game: Summary, match: re.Match[bytes]) -> None:
        _, terms, bots, clocks, _, result = match.groups()
        if len(match[0]) > _LONGEST:
            return
        for memory in (self._names, self._terms, self._clocks, self._results):
            if len(memory) >= _MOST:
                memory.clear()
        if _members(terms) == _TERMS:
            self._terms[terms] = (game.attempt, game.game)
        if _members(clocks) == _CLOCKS:
            self._clocks.add(clocks)
        if _members(result) == _RESULT:
            self._results[result] = game
        names = bots.split(b'","')
        if names == [name.encode() for name in game.bots]:
            self._names.update(zip(names, game.bots, strict=True))


def _members(part: bytes) -> list[str]:
    """The names of the members in a part of an object; none where it is not a whole number of members."""
    try:
        return list(parse_json(b"{" + part + b"}"))
    except RecordError:
        return []
