"""`referee play --browser` as a process, and its pages without a browser: what they are sent, and what they
send.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.command import ROOT
from tests.waiting import TOO_LONG_S


class Page:
    """A page under a link; its stream is read when something is waited for."""

    def __init__(self, url: str) -> None:
        split = urlsplit(url)
        self.host, self.path = f"127.0.0.1:{split.port}", split.path
        self.view: dict[str, Any] = {}
        self.sent: list[dict[str, Any]] = []
        """All patches of the view, and all responses to acts."""
        self._connection: http.client.HTTPConnection | None = None
        self._lines: http.client.HTTPResponse | None = None

    def request(
        self, method: str, path: str = "", body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """The status and the body of a request of its own."""
        connection = http.client.HTTPConnection(self.host, timeout=TOO_LONG_S)
        try:
            connection.request(method, self.path + path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def act(self, order: object, **headers: str) -> dict[str, Any]:
        """Sends what a person did, as the page does, and gives the response."""
        given = {"content-type": "application/json", "origin": f"http://{self.host}", **headers}
        status, body = self.request("POST", "/act", json.dumps(order).encode(), given)
        assert status == 200, (status, body)
        found: dict[str, Any] = json.loads(body)
        self.sent.append(found)
        return found

    def line(self, text: str) -> str:
        """Types a line; why it was not taken, or an empty text."""
        why: str = self.act({"line": text})["why"]
        return why

    def open(self) -> None:
        """Follows the game from here on."""
        self._connection = http.client.HTTPConnection(self.host, timeout=TOO_LONG_S)
        self._connection.request("GET", f"{self.path}/events")
        self._lines = self._connection.getresponse()
        self.view = {}

    def close(self) -> None:
        """Closes the page."""
        if self._connection and self._lines:
            self._lines.close()
            self._connection.close()

    def until(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The next view for which this holds; the present one if it does."""
        assert self._lines
        while not (self.view and holds(self.view)):
            line = self._lines.readline()
            assert line, "the stream has ended"
            if line.startswith(b"data: {"):
                self.take(json.loads(line[6:]))
        return self.view

    def until_asked(self, moves: int) -> dict[str, Any]:
        """Waits until this person is asked after so many moves."""
        return self.until(lambda view: view["asked"] and view["moves"] == moves)

    def until_after(self, turn_began_at: int) -> None:
        """Waits until a turn of this person is over."""
        self.until(lambda view: view["over"] or not view["asked"] or view["at"] != turn_began_at)

    def take(self, patch: dict[str, Any]) -> None:
        """Applies a patch, as the page does."""
        self.sent.append(patch)
        if "new" in patch:
            before = self.view.get("new", []) if patch["from"] else []
            assert len(before) == patch["from"]
            patch = {**patch, "new": before + patch["new"]}
        self.view = {**self.view, **patch}


class BrowserGame:
    """A game that is played in browsers."""

    def __init__(self, process: subprocess.Popen[str], pages: dict[str, Page]) -> None:
        self.process = process
        self.said: list[str] = []
        self.pages = pages
        """By what stands before the link, such as `seat 1 me`."""
        self.until_said("the game begins")
        for line in self.said:
            if found := re.fullmatch(r"(.*): (http://\S+)\n", line):
                self.pages[found[1]] = Page(found[2])

    def until_said(self, text: str) -> None:
        """Waits for a line on stderr."""
        assert self.process.stderr
        while text not in (line := self.process.stderr.readline()):
            assert line, self.said
            self.said.append(line)

    @property
    def persons(self) -> list[Page]:
        """The pages of the persons, in the order of their seats."""
        return [page for name, page in self.pages.items() if name.startswith("seat ")]

    @property
    def watching(self) -> Page:
        """The page of those who watch."""
        return self.pages["to watch"]

    def resign(self) -> None:
        """Has all persons open their pages and resign one after the other, until the game is over."""
        for page in self.persons:
            page.open()
        for page in self.persons:
            if not page.until(lambda view: view["asked"] or view["over"])["over"]:
                assert page.line("resign") == ""
        for page in self.persons:
            page.until(lambda view: view["over"])

    def ended(self) -> tuple[int, str, str]:
        """The exit code when all pages are closed, and what was printed since the links."""
        for page in self.pages.values():
            page.close()
        out, err = self.process.communicate(timeout=TOO_LONG_S)
        assert "Traceback" not in err, err
        return self.process.returncode, out, err


@contextlib.contextmanager
def browser_game(*words: str, left_s: float = 0.0, folder: Path = ROOT) -> Iterator[BrowserGame]:
    """A game that ends so soon after its pages are closed."""
    script = (
        "import sys\nfrom referee.person import browser_server\n"
        f"browser_server.LEFT_S = {left_s}\n"
        "from referee.__main__ import main\nsys.argv[0] = 'referee'\nmain()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "play", *words, "--browser"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    pages: dict[str, Page] = {}
    try:
        yield BrowserGame(process, pages)
    finally:
        for page in pages.values():
            page.close()
        if process.poll() is None:
            process.kill()
        process.communicate()
