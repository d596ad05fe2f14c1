"""`referee serve` as a process of its own, and plain requests to it."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.command import ROOT
from tests.waiting import TOO_LONG_S


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        self.port = urlsplit(url).port or 0

    def get(self, path: str = "/") -> tuple[int, str]:
        """The status and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TOO_LONG_S)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def connection(self) -> socket.socket:
        """A connection without a request so far."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=TOO_LONG_S)

    def events(self) -> Generator[tuple[str, dict[str, Any]], None, None]:
        """The events of the run's page, with what they say."""
        with self.connection() as stream, stream.makefile("r", encoding="utf-8") as lines:
            stream.sendall(b"GET /arena/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            name = ""
            for line in lines:
                if line.startswith("event: "):
                    name = line.removeprefix("event: ").strip()
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

    def told(self) -> Generator[dict[str, Any], None, None]:
        """What the page of the run knows after each of its events."""
        known: dict[str, Any] = {}
        for _, members in self.events():
            known |= members
            yield known

    def until(self, **members: object) -> None:
        """Waits until the page of the run knows this."""
        assert any(members.items() <= known.items() for known in self.told())

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Sends a signal; the exit code, and what was printed on stderr."""
        self.process.send_signal(number)
        _, told = self.process.communicate(timeout=TOO_LONG_S)
        return self.process.returncode, told


@contextlib.contextmanager
def serving(folder: Path, *words: str, patch: str = "", port: int = 0) -> Iterator[Server]:
    """A server for a folder, with something changed in it by `patch`."""
    script = f"{patch}\nfrom referee.__main__ import main\nimport sys\nsys.argv[0] = 'referee'\nmain()"
    command = [sys.executable, "-c", script, "serve", str(folder), "--port", str(port), *words]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert process.stdout
        yield Server(process, process.stdout.readline().strip())
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
