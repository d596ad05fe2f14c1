"""Pickles over a socket: messages between two processes of the referee."""

from __future__ import annotations

import contextlib
import pickle
import socket
import struct
from collections.abc import Iterator
from typing import Any

_HEAD = struct.Struct("!I")  # before a message: its length in bytes

_READ_SIZE = 1 << 16


class MalformedMessage(Exception):
    """The other end sent something that is not a message."""


class MessageSocket:
    """A socket that carries messages, and `waits` for room and for messages or not."""

    def __init__(self, end: socket.socket, waits: bool) -> None:
        end.setblocking(waits)
        self._socket = end
        self._received = bytearray()
        self._unsent = b""
        self.is_open = True  # whether more messages may come

    def fileno(self) -> int:
        """The descriptor of the socket."""
        return self._socket.fileno()

    @property
    def has_unsent(self) -> bool:
        """Whether a part of what was sent waits for room in the socket; `flush` sends it."""
        return bool(self._unsent)

    def send(self, message: object) -> None:
        """Sends a message, or as much of it as there is room for."""
        body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._unsent += _HEAD.pack(len(body)) + body
        self.flush()

    def flush(self) -> None:
        """Sends what there is room for. What a closed socket does not take is dropped."""
        try:
            while self._unsent:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent = b""

    def receive(self) -> Iterator[Any]:
        """Yields the messages that are complete after reading; a socket that blocks is read once.

        Raises `MalformedMessage` where something else than messages came.
        """
        with contextlib.suppress(BlockingIOError):
            while self.is_open:
                try:
                    data = self._socket.recv(_READ_SIZE)
                except ConnectionResetError:
                    data = b""
                self.is_open = bool(data)
                self._received += data
                if self._socket.getblocking():
                    break
        while len(self._received) >= _HEAD.size:
            end = _HEAD.size + _HEAD.unpack_from(self._received)[0]
            if len(self._received) < end:
                break
            body = bytes(self._received[_HEAD.size : end])
            del self._received[:end]
            try:
                message = pickle.loads(body)
            except Exception as error:
                raise MalformedMessage(str(error)) from None
            yield message

    def shut_down(self) -> None:
        """Ends the connection: both ends learn that no more messages come. A thread may be receiving."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes this end."""
        self._socket.close()
