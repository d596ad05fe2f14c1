"""The pages of the server: that of the run with its events, lists of games, and the replays of games.
Requests are checked, bad ones refused in plain text, and every answer has the headers for browsers.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from http import HTTPStatus
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from referee.core.errors import RecordError, UsageError
from referee.core.text import counted, shown
from referee.pages.environment import page
from referee.pages.followed_pages import arena_page
from referee.pages.replay_page import replay_page
from referee.records.journal import line_at
from referee.records.record import from_json, parse_json
from referee.serving.event_streams import MAX_STREAMS, EventStreams
from referee.serving.lists import games_page, standings_page
from referee.serving.live import LiveRun, Snapshot
from referee.serving.reports import BusyError, LastAnalyses, PageMaker, PageMakers, Reports, stamp_of
from referee.tournament.run.run import PlacedGame, StoredRun
from referee.viewing.steps import steps_of

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

    def __init__(self, app: ASGIApp, hosts: Hosts, log: Log | None, methods: Sequence[str] = METHODS) -> None:
        """`log` is called with a line for each request."""
        self._app = app
        self._hosts = hosts
        self._log = log
        self._methods = methods

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
        if scope["method"] not in self._methods:
            return RequestRefusal(405, f"expected the method {' or '.join(self._methods)}")
        if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_URL:
            return RequestRefusal(414, f"the address has more than {LONGEST_URL} bytes")
        return None


def problem(status: int, text: str, headers: Mapping[str, str] | None = None) -> PlainTextResponse:
    """An answer that is a line of plain text."""
    return PlainTextResponse(f"{text}\n", status, headers or _EXTRA.get(status))


def _client(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else "–"


PAGE_WAIT_S = 30.0  # how long a request waits for its page to be made

REPORT_WAIT_S = 5.0  # how long a request waits for the report

RELOAD_S = 3  # when the page that is shown meanwhile is loaded again

LISTED = 200  # how many games are on a page of a list


def application(
    run: LiveRun,
    streams: EventStreams,
    makers: PageMakers,
    reports: Reports,
    hosts: Hosts,
    log: Log | None,
    log_error: Log,
) -> Safety:
    """All pages as an application. `log` is called with a line for each request, `log_error` with errors of
    the referee itself.
    """
    pages = _Pages(run, streams, makers, reports)
    routes = [
        Route("/", pages.arena),
        Route("/arena/events", pages.events),
        Route("/standings", pages.standings),
        Route("/report", pages.report),
        Route("/games/{at:int}", pages.games),
        Route("/faults/{at:int}", pages.faults),
        Route("/game/{number:int}", pages.game),
    ]
    return safe(routes, hosts, log, log_error)


def safe(
    routes: Sequence[Route], hosts: Hosts, log: Log | None, log_error: Log, methods: Sequence[str] = METHODS
) -> Safety:
    """Routes as an application that refuses bad requests in plain text; `log` and `log_error` as there."""

    async def refuse(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return problem(status, _text_of(error, status), getattr(error, "headers", None))

    async def fail(request: Request, error: Exception) -> Response:
        log_error(f"error: {shown(f'{type(error).__name__}: {error}', 300)}")
        return problem(500, "an error of the referee itself")

    app = Starlette(routes=routes, exception_handlers={HTTPException: refuse, Exception: fail})
    app.router.redirect_slashes = False
    return Safety(app, hosts, log, methods)


def _text_of(error: Exception, status: int) -> str:
    if status == HTTPStatus.NOT_FOUND:
        return "there is no such page, expected a link that was printed or is on a page"
    return shown(getattr(error, "detail", "") or HTTPStatus(status).phrase, 400)


class _Pages:
    """Answers the requests for each page."""

    def __init__(self, run: LiveRun, streams: EventStreams, makers: PageMakers, reports: Reports) -> None:
        self._run = run
        self._streams = streams
        self._lists = makers.lists
        self._replays = makers.replays
        self._reports = reports
        self._analyses = LastAnalyses()

    async def _snapshot(self) -> Snapshot:
        return await asyncio.to_thread(self._run.snapshot)

    async def arena(self, request: Request) -> Response:
        name = (await self._snapshot()).name
        return await self._made("arena", partial(arena_page, name))

    async def events(self, request: Request) -> Response:
        if self._streams.count >= MAX_STREAMS:
            return problem(503, f"{counted(MAX_STREAMS, 'browser')} are already following the run")
        return StreamingResponse(self._streams.events(), media_type="text/event-stream")

    async def standings(self, request: Request) -> Response:
        snapshot = await self._snapshot()
        return await self._made(("standings", snapshot.version), partial(standings_page, self._run, snapshot))

    async def games(self, request: Request) -> Response:
        snapshot = await self._snapshot()
        return await self._list("games", range(1, snapshot.count + 1), request, snapshot)

    async def faults(self, request: Request) -> Response:
        snapshot = await self._snapshot()
        return await self._list("faults", snapshot.faulty, request, snapshot)

    async def _list(
        self, what: str, numbers: Sequence[int], request: Request, snapshot: Snapshot
    ) -> Response:
        at = request.path_params["at"]
        pages = max(1, -(-len(numbers) // LISTED))
        if not 1 <= at <= pages:
            raise HTTPException(404)
        some = numbers[(at - 1) * LISTED : at * LISTED]
        make = partial(games_page, snapshot, what, at, pages, some)
        return await self._made((what, at, snapshot.version), make)

    async def game(self, request: Request) -> Response:
        snapshot, number = await self._snapshot(), request.path_params["number"]
        if snapshot.run is None or not 1 <= number <= snapshot.count:
            raise HTTPException(404)
        if not snapshot.may_show(number):  # guard: kept-back
            return problem(403, "this game is kept back until all games with the same chance events are over")
        played = snapshot.played[number - 1]
        stamp = stamp_of(snapshot.run.folder)
        make = partial(_replay, snapshot.run, played, self._analyses, stamp)
        return await self._made(("game", played.digest, stamp), make, self._replays)

    async def report(self, request: Request) -> Response:
        """The report of the games so far; a page that loads again by itself where that takes long."""
        snapshot = await self._snapshot()
        if snapshot.run is None or not snapshot.has_report:
            raise HTTPException(404)
        try:
            return await self._when_made(lambda: self._reports.page(snapshot), REPORT_WAIT_S)
        except TimeoutError:
            page_of_waiting = await self._made("waiting", _waiting)
            page_of_waiting.headers["refresh"] = f"{RELOAD_S}"
            return page_of_waiting

    async def _made(self, key: Hashable, make: Callable[[], str], maker: PageMaker | None = None) -> Response:
        """A page that a maker makes: that of lists if none is given."""
        try:
            return await self._when_made(lambda: (maker or self._lists).page(key, make), PAGE_WAIT_S)
        except TimeoutError:
            return problem(503, "the page is still being made")

    async def _when_made(self, ask: Callable[[], Future[bytes]], patience_s: float) -> Response:
        """A page that a maker was asked for. It is made also if nobody waits for it any more. Raises
        `TimeoutError`.
        """
        try:
            waiting: Awaitable[bytes] = asyncio.shield(asyncio.wrap_future(ask()))
            return HTMLResponse(await asyncio.wait_for(waiting, patience_s))
        except BusyError:
            return problem(503, "too many pages are being requested at the moment")
        except UsageError as error:
            return problem(404, str(error))
        except RecordError as error:
            return problem(500, str(error))


def _waiting() -> str:
    return page("live_wait.html", title="The report is being made")


def _replay(run: StoredRun, played: PlacedGame, analyses: LastAnalyses, stamp: int) -> str:
    record = from_json(parse_json(line_at(run.folder, played.at, played.size, played.digest)))
    return replay_page(steps_of(record), home="/", analyses=analyses.of(run, stamp))
