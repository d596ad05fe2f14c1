"""Streams of events: each is made once, for all pages that follow something."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

MAX_STREAMS = 500  # maximum number of browsers that follow at a time

HEARTBEAT_S = 15.0  # A stream is never silent for longer, so that a lost connection is noticed

RECONNECT_MS = 3000  # when a browser that lost the connection tries again by itself

KEPT = 16  # how many events are kept for a stream whose reader is slow

BEAT = b"event: beat\ndata:\n\n"


class EventData(NamedTuple):
    """An event for all streams."""

    seq: int  # counts the events
    data: bytes  # as it is sent


class EventStreams:
    """The last events, and the streams that wait for the next. It belongs to the event loop's thread."""

    def __init__(self, whole: Callable[[], EventData], watch: Callable[[bool], object]) -> None:
        """`whole` makes an event of all that the events so far have told, and is called in another thread;
        `watch` is told whether there is any stream.
        """
        self._whole = whole
        self._watch = watch
        self._kept: deque[EventData] = deque(maxlen=KEPT)
        self._next = asyncio.Event()
        self.count = 0  # how many streams there are

    def put(self, event: EventData) -> None:
        """Sends an event to all streams."""
        self._kept.append(event)
        self._next.set()
        self._next = asyncio.Event()

    async def events(self) -> AsyncIterator[bytes]:
        """What one stream is sent: everything first, then event after event, and everything again where it
        has missed one since its reader is slow. Counts as a stream until it is closed.
        """
        self.count += 1
        self._watch(True)
        try:
            yield f"retry: {RECONNECT_MS}\n\n".encode()
            sent: int | None = None
            while True:
                following = self._next
                if sent is None or (self._kept and self._kept[0].seq > sent + 1):
                    event: EventData | None = await asyncio.to_thread(self._whole)
                else:
                    event = next((one for one in self._kept if one.seq > (sent or 0)), None)
                if event:
                    yield event.data
                    sent = event.seq
                    continue
                try:
                    await asyncio.wait_for(following.wait(), HEARTBEAT_S)
                except TimeoutError:
                    yield BEAT
        finally:
            self.count -= 1
            self._watch(self.count > 0)
