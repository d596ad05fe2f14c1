"""Checks requests, refuses bad ones in plain text, and adds the headers for browsers to every answer."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST_URL = 2000  # maximum number of bytes of the path and the query of a request

METHODS = ("GET", "HEAD")

HEADERS = (
    (b"content-security-policy", b"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""The headers of every answer. What a page may load and run it says itself, see `pages.environment`."""

_EXTRA = {405: {"allow": ", ".join(METHODS)}, 503: {"retry-after": "5"}}
"""Further headers of a refusal, by status."""

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]]+))(?::[0-9]+)?")

Log = Callable[[str], None]


class Hosts(NamedTuple):
    """The names under which the server may be asked: a page of a stranger, whose name an attacker lets mean
    this machine, is not to read the run in a visitor's browser.
    """

    names: Collection[str]  # in small letters
    any_address: bool
    """Whether it may be asked under any address, or only under those of this machine alone. An address is no
    name that others could give another meaning.
    """

    def has(self, host: str) -> bool:
        """Whether the text of the header `Host` is one of them."""
        found = _HOST.fullmatch(host)
        if not found:
            return False
        try:
            address = ipaddress.ip_address(found[1] or found[2])
        except ValueError:
            return found[1] is None and found[2].lower().removesuffix(".") in self.names
        return self.any_address or address.is_loopback


class RequestRefusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    text: str


class Safety:
    """An application around another one, which gets only requests that are fit for it."""

    def __init__(self, app: ASGIApp, hosts: Hosts, log: Log | None) -> None:
        """`log` is called with a line for each request."""
        self._app = app
        self._hosts = hosts
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                status = message["status"]
                ended = [(b"connection", b"close")] if status >= 400 else []
                message["headers"] = [*message.get("headers", ()), *HEADERS, *ended]
                if self._log:
                    self._log(f"{_client(scope)} {scope['method']} {scope['path']} {status}")
            await send(message)

        refusal = self._refusal(scope)
        app = problem(*refusal) if refusal else self._app
        await app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> RequestRefusal | None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._hosts.has(hosts[0]):  # guard: host-header
            return RequestRefusal(400, "this server does not answer requests for another host")
        if scope["method"] not in METHODS:
            return RequestRefusal(405, f"expected the method {' or '.join(METHODS)}")
        if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_URL:
            return RequestRefusal(414, f"the address has more than {LONGEST_URL} bytes")
        return None


def problem(status: int, text: str) -> PlainTextResponse:
    """An answer that is a line of plain text."""
    return PlainTextResponse(f"{text}\n", status, _EXTRA.get(status))


def _client(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else "–"
