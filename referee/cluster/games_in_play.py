"""Games in play on the cluster, for whoever looks at them in the folder of the run.

While somebody looks there, the referee tells the machines so. Each host then reads the slots of its workers
again and again, and sends what has changed; the referee writes it to slots in its own folder. A message is
JSON, compressed by zlib: `{"us": …, "slots": {SLOT: [HEAD, TOLD], …}}` has the time on the host's clock, and
of each slot its first line and what follows it, or null where there is no game in it any more.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from referee.live.positions import MOST_GAMES
from referee.live.slots import (
    MOST,
    GameInPlay,
    SlotReader,
    SlotWriter,
    Watch,
    make_folder,
    now_us,
    remove_folder,
    say_watched,
)
from referee.records.record import parse_json

WATCH_S = 30.0  # seconds after which the referee tells machines again that somebody looks

SEND_S = 0.25  # minimum of seconds between two messages of a host

_WATCHED_US = 40_000_000  # how long a host sends after it was told that somebody looks

_LARGEST = 4 * MOST  # maximum number of bytes of a message before it is compressed

_SLOT = re.compile(r"w[1-9][0-9]{0,3}")


class SlotSender:
    """What is new in the slots of a host."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader = SlotReader(folder)
        self._sent: dict[str, GameInPlay | None] = {}
        """What was sent of each slot, None where it is to be sent again; the one sent last is the last."""
        self._until_us = self._due_us = 0

    def watch(self) -> None:
        """Somebody looks: all games are sent again, and for some time whatever is new of them."""
        self._sent = dict.fromkeys(self._sent)
        self._until_us = now_us() + _WATCHED_US

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks."""
        return now_us() < self._until_us

    def message(self) -> bytes:
        """What is new, if it is time to say it; otherwise nothing. What would make the message too long is
        left for the next ones.
        """
        now = now_us()
        if not self.is_watched or now < self._due_us:
            return b""
        self._due_us = now + int(SEND_S * 1_000_000)
        with suppress(OSError):
            say_watched(self._folder)
        games = self._reader.read()
        slots: dict[str, Any] = dict.fromkeys(self._sent.keys() - games.keys())
        for name in slots:
            del self._sent[name]
        room = MOST
        for name in [*(games.keys() - self._sent.keys()), *self._sent]:
            game = games[name]
            if self._sent.get(name) is not game and len(game.told) <= room:
                room -= len(game.told)
                self._sent.pop(name, None)
                self._sent[name] = game
                slots[name] = game.head, game.told.decode(errors="replace")
        return zlib.compress(json.dumps({"us": now, "slots": slots}).encode()) if slots else b""


class _SentSlot(NamedTuple):
    """A slot that is written for a host."""

    writer: SlotWriter
    head: object  # as the host sent it


class SlotReceiver:
    """The slots of all hosts, in a folder on this machine, while somebody looks at them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._watch = Watch(folder)
        self._numbers: dict[str, int] = {}  # of Dask workers, by address
        self._slots: dict[tuple[str, str], _SentSlot] = {}  # by address of the Dask worker, and name there
        make_folder(folder)

    def is_watched(self) -> bool:
        """Whether somebody looks. If not, all games go: nobody is to be shown old ones later."""
        if not self._watch.is_on:
            self._close(self._slots)
        return self._watch.is_on

    def take(self, address: str, message: bytes) -> None:
        """Writes what a Dask worker sent, while somebody looks; what makes no sense is left out."""
        if not self.is_watched():
            return
        with suppress(Exception):  # whatever is wrong with it
            value = parse_json(zlib.decompressobj().decompress(message, _LARGEST))
            for name, game in value["slots"].items():
                key, known = (address, name), self._slots.get((address, name))
                if game is None:
                    self._close({key} & self._slots.keys())
                elif known or (_SLOT.fullmatch(name) and len(self._slots) < MOST_GAMES):
                    head, told = game
                    self._write(key, known, head, told, now_us() - value["us"])

    def _write(
        self, key: tuple[str, str], known: _SentSlot | None, head: dict[str, Any], told: str, shift_us: int
    ) -> None:
        """Writes what a host told of a game, whose times are early by so much on this machine's clock."""
        address, name = key
        if known is None:
            number = self._numbers.setdefault(address, len(self._numbers) + 1)
            known = self._slots[key] = _SentSlot(SlotWriter(self._folder, f"m{number}-{name}"), None)
        if known.head != head:
            known.writer.begin({**head, "shift_us": shift_us}, told.encode())
            self._slots[key] = known._replace(head=head)
        else:
            known.writer.replace(told.encode())

    def forget(self, address: str) -> None:
        """Removes the games of a Dask worker that plays none of them any more."""
        self._close([key for key in self._slots if key[0] == address])

    def close(self) -> None:
        """Removes all."""
        self._close(self._slots)
        remove_folder(self._folder)

    def _close(self, keys: Collection[tuple[str, str]]) -> None:
        for key in [*keys]:
            self._slots.pop(key).writer.close()
