"""Lets persons play on pages, for `referee play --browser`, and prints their links."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterator, Sequence

from referee.cli.output import say, show_data
from referee.core.seeds import Stream
from referee.core.stop import Interrupted
from referee.gameplay.terms import Terms
from referee.games.api import Seat
from referee.person.browser_console import BrowserConsole
from referee.person.browser_server import LEFT_S, GamePages, serving_game
from referee.person.browser_views import BrowserInterface
from referee.person.interface import Hint, PersonInterface
from referee.person.words import introduction, seat_name
from referee.serving.server import is_local, listening, url_of
from referee.viewing.knowledge import EVERYBODY
from referee.viewing.words import result

_ELSEWHERE = ("192.0.2.1", 9)  # an address that nobody has: nothing is sent there


class PlacesInBrowser(contextlib.ExitStack):
    """A server for the game that is played while this context lasts."""

    def __init__(self, host: str, port: int) -> None:
        """Raises `UsageError` where the server cannot listen there."""
        super().__init__()
        self._host = host
        self._listener = self.enter_context(listening(host, port))
        self._pages: GamePages | None = None

    @contextlib.contextmanager
    def interface(self, terms: Terms, persons: Sequence[Seat], hint: Hint) -> Iterator[PersonInterface]:
        """The interface of a game, when all persons have opened their pages."""
        console = BrowserConsole(persons)
        interface = BrowserInterface(terms, persons, console, hint, Stream(b"moves"))
        pages = self._pages = GamePages(terms.game, persons, console, interface)
        self.enter_context(serving_game(pages, self._listener, self._host, say))
        show_data("\n".join(introduction(terms, persons)))
        for seat in persons:
            say(f"{seat_name(terms, seat)}: {self._url}{pages.tokens[seat]}")
        say(f"to watch: {self._url}{pages.tokens[EVERYBODY]}")
        if not is_local(self._listener):
            say("warning: the links are sent unencrypted; whoever reads the network's traffic can use them")
        say(f"the game begins when {'everybody has' if len(persons) > 1 else 'you have'} opened the page")
        pages.wait_for_persons(terms.bots)
        yield interface

    def wait_until_left(self) -> None:
        """Waits until all pages are closed."""
        if self._pages and (record := self._pages.record):
            show_data(result(record.terms, record.verdict))
            say(f"this command ends when all pages have been closed for {LEFT_S:g} s; Ctrl-C ends it at once")
            with contextlib.suppress(Interrupted):  # the game is over and recorded
                self._pages.wait_until_left()

    @property
    def _url(self) -> str:
        """The address of the server, as other devices find it."""
        address, port, *_ = self._listener.getsockname()
        if not ipaddress.ip_address(address).is_unspecified:
            return url_of(self._listener)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(_ELSEWHERE)
                return f"http://{probe.getsockname()[0]}:{port}/"
            except OSError:  # this machine has no network
                return f"http://{socket.gethostname()}:{port}/"
