"""The server of persons' pages: one for each of them under a link of its own, and one for those who watch."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import socket
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from referee.core.text import counted, listed
from referee.games.api import Game, Seat
from referee.pages.followed_pages import person_page
from referee.pages.replay_page import replay_page
from referee.person.browser_console import BrowserConsole, LineInFlightError
from referee.person.browser_views import BrowserInterface
from referee.records.record import GameRecord
from referee.serving.app import METHODS, Log, problem, safe
from referee.serving.event_streams import HEARTBEAT_S, RECONNECT_MS
from referee.serving.server import REQUEST_S, ServerThreads, answering, hosts_of
from referee.viewing.knowledge import EVERYBODY, View
from referee.viewing.steps import steps_of

TOKEN_BYTES = 24

LONGEST_ACT = 4 << 10  # maximum number of bytes of what a page sends

MOST_PARTS, LONGEST_PART = 50, 50  # of a move that is clicked: parts, and characters of each

MOST_PAGES = {True: 10, False: 200}
"""How many pages may be open at a time under the link of a person, and under that of those who watch."""

RESPONSE_S = 60.0  # how long a page waits for the response to a line: a hint for another person may take long

CLICK_S = 2.0  # how long a page waits for what can follow a click

LEFT_S = 60.0  # how long all pages have been closed when the server ends after the game


class GamePages:
    """The pages of one game. They belong to the thread of the event loop, except for what the thread that
    plays the game calls: `wait_for_persons`, `wait_until_left` and `record`.
    """

    def __init__(
        self, game: Game[Any], persons: Collection[Seat], console: BrowserConsole, interface: BrowserInterface
    ) -> None:
        """Nobody can guess a token, which is the path of a page."""
        views: list[View] = [*persons, EVERYBODY]
        self.tokens = {view: secrets.token_urlsafe(TOKEN_BYTES) for view in views}
        self.threads = ServerThreads()
        """That of the server; where it fails, the thread that plays the game is told so when it waits."""
        self._page = person_page(game.name)
        self._console = console
        console.check = self.threads.check
        self._interface = interface
        self._replay = asyncio.Lock()
        self._replays: dict[View, str] = {}
        self._clicking: set[View] = set()
        self._next = asyncio.Event()
        self._open: Counter[View] = Counter()
        self._came: set[View] = set()
        self._presence = threading.Condition()

    # --- For the thread that plays the game

    def wait_for_persons(self, names: Sequence[str]) -> None:
        """Waits until each person has opened the page; `names` are those of all seats."""
        while missing := [seat for seat in self.tokens if isinstance(seat, int) and seat not in self._came]:
            self.threads.check()
            self._interface.wait_for(listed(names[seat] for seat in missing))
            with self._presence:
                self._presence.wait_for(lambda: self._came.intersection(missing), 1.0)
        self._interface.wait_for("")

    def wait_until_left(self) -> None:
        """Waits until no page has been open for a while."""
        with self._presence:
            is_left = False
            while not is_left:
                self._presence.wait_for(lambda: not self._open.total())
                is_left = not self._presence.wait_for(self._open.total, LEFT_S)

    @property
    def record(self) -> GameRecord | None:
        """The record of the game, when it is over."""
        return self._interface.record

    # --- For the thread of the event loop

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Has all pages told whenever something changes."""

        def renew() -> None:
            with contextlib.suppress(RuntimeError):  # the server has ended, as `check` says
                loop.call_soon_threadsafe(self._renew)

        self._interface.on_change = renew

    def _renew(self) -> None:
        self._next.set()
        self._next = asyncio.Event()

    def routes(self) -> list[Route]:
        """All pages, and what they ask for."""
        return [
            Route("/{token}", self.page),
            Route("/{token}/events", self.events),
            Route("/{token}/replay", self.replay),
            Route("/{token}/act", self.act, methods=["POST"]),
        ]

    def _view(self, request: Request) -> View:
        """Whose page is asked for. How long it takes says nothing about the tokens."""
        given = request.path_params["token"].encode()
        found = [
            view
            for view, token in self.tokens.items()
            if hmac.compare_digest(token.encode(), given)  # guard: tokens
        ]
        if not found:
            raise HTTPException(404)
        return found[0]

    async def page(self, request: Request) -> Response:
        """The page of a person, or that for those who watch."""
        self._view(request)
        return HTMLResponse(self._page)

    async def events(self, request: Request) -> Response:
        """What the page shows, and whatever changes in it."""
        view = self._view(request)
        most = MOST_PAGES[isinstance(view, int)]
        if self._open[view] >= most:
            return problem(503, f"{counted(most, 'page')} are already open under this link")
        return StreamingResponse(self._told(view), media_type="text/event-stream")

    async def _told(self, view: View) -> AsyncIterator[str]:
        """The events of one page: the whole view first, then what differs."""
        self._count(view, 1)
        try:
            yield f"retry: {RECONNECT_MS}\n\n"
            sent: Mapping[str, Any] = {}
            while True:
                following, shown = self._next, self._interface.views.get(view, {})
                if changed := _patch(sent, shown):
                    replay = f"/{self.tokens[view]}/replay" if shown["over"] else None
                    changed |= {"replay": replay, "now": time.monotonic_ns() // 1000}
                    yield f"event: view\ndata: {json.dumps(changed)}\n\n"
                    sent = shown
                try:
                    await asyncio.wait_for(following.wait(), HEARTBEAT_S)
                except TimeoutError:
                    yield "event: beat\ndata:\n\n"
        finally:
            self._count(view, -1)

    def _count(self, view: View, more: int) -> None:
        with self._presence:
            self._open[view] += more
            self._came.add(view)
            self._presence.notify_all()

    async def replay(self, request: Request) -> Response:
        """The replay of the game, when it is over: then everybody may see everything."""
        view = self._view(request)
        if not (record := self.record):
            return problem(404, "the game is not over")
        async with self._replay:
            if view not in self._replays:
                home = f"/{self.tokens[view]}"
                made = await asyncio.to_thread(lambda: replay_page(steps_of(record), home=home))
                self._replays[view] = made
        return HTMLResponse(self._replays[view])

    async def act(self, request: Request) -> Response:
        """Takes what a person typed or clicked."""
        seat = self._view(request)
        if request.headers.get("origin") != f"http://{request.headers['host']}":  # guard: origin
            return problem(403, "this request does not come from the page")
        if not isinstance(seat, int):
            return problem(403, "this link is for watching")
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return problem(415, "expected JSON")
        match await _json(request):
            case {"line": str(line), **more} if not more:
                return await self._line(seat, line)
            case {"click": [*parts], **more} if not more and _are_parts(parts):
                return await self._click(seat, parts)
        return problem(400, 'expected {"line": TEXT} or {"click": [PART, …]}')

    async def _line(self, seat: Seat, line: str) -> Response:
        try:
            response = asyncio.wrap_future(self._console.send(seat, line))
            why = await asyncio.wait_for(asyncio.shield(response), RESPONSE_S)
        except LineInFlightError:
            return problem(409, "the line before has had no response yet")
        except TimeoutError:
            return problem(503, "the line has had no response yet")
        return JSONResponse({"why": why})

    async def _click(self, seat: Seat, parts: list[str]) -> Response:
        if seat in self._clicking:
            return problem(409, "the click before has had no response yet")
        self._clicking.add(seat)
        choosing = asyncio.ensure_future(asyncio.to_thread(self._interface.choice, seat, parts))
        choosing.add_done_callback(lambda _: self._clicking.discard(seat))
        try:
            return JSONResponse(await asyncio.wait_for(asyncio.shield(choosing), CLICK_S))
        except TimeoutError:
            return problem(503, "this takes too long here, so that the move has to be typed")


def _are_parts(parts: list[Any]) -> bool:
    return len(parts) <= MOST_PARTS and all(
        isinstance(part, str) and len(part) <= LONGEST_PART and part.isprintable() for part in parts
    )


async def _json(request: Request) -> Any:
    """The body of a request. Raises `HTTPException`."""
    body = b""
    try:
        async with asyncio.timeout(REQUEST_S):
            async for some in request.stream():
                body += some
                if len(body) > LONGEST_ACT:  # guard: long-bodies
                    raise HTTPException(413, f"expected at most {LONGEST_ACT:,} bytes")
        return json.loads(body)
    except (TimeoutError, ClientDisconnect):
        raise HTTPException(408, "the request did not come to its end") from None
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON") from None


def _patch(sent: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """What of a view, or of a board in it, differs from what was sent; of the elements those that are new."""
    changed = {name: value for name, value in shown.items() if sent.get(name, ...) != value}
    if sent.get("hand") and changed.get("hand"):
        changed["hand"] = _patch(sent["hand"], changed["hand"])
    if "new" in changed:
        known = len(sent.get("new", ()))
        changed |= {"from": known, "new": changed["new"][known:]}
    return changed


@contextlib.contextmanager
def serving_game(pages: GamePages, listener: socket.socket, host: str, log_error: Log) -> Iterator[None]:
    """Serves the pages of a game while this goes on; `host` is what the user named."""
    app = safe(pages.routes(), hosts_of(listener, host), None, log_error, (*METHODS, "POST"))
    with answering(app, listener, pages.begin, pages.threads):
        yield
