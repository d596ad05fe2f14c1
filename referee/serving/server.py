"""The server's socket, connections and threads."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from referee.core.errors import UsageError
from referee.core.text import shown
from referee.games.api import Game
from referee.serving.app import HEADERS, Hosts, Log, Safety, application
from referee.serving.arena import TICK_S, Arena
from referee.serving.event_streams import EventStreams
from referee.serving.live import LiveRun, follow
from referee.serving.reports import PageMaker, PageMakers, Reports

NICENESS = 10  # how much the server lets other processes go first

REQUEST_S = 10.0  # how long a connection may be open without a complete request

WRITE_S = 30.0  # how long a client may leave what is sent to it unread

LONGEST_HEAD = 16 << 10  # maximum number of bytes of a request that is not complete

MAX_CONNECTIONS = 700  # maximum number of connections at a time; further ones are closed

LAST_S = 2.5  # how long pages are told of the end of a run before the server ends with it

SPARE_FILES = 50  # the files that the process needs besides its connections


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address. Raises `UsageError`."""
    where = f"{shown(host, 100)}:{port}"
    try:
        (family, _, _, _, address), *_ = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(MAX_CONNECTIONS)
        except BaseException:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not the name of a host"
        raise UsageError(
            f"cannot listen on {where}: {reason}, expected an address of this machine and "
            "a free port (`--port 0` chooses one)"
        ) from None
    return listener


def is_local(listener: socket.socket) -> bool:
    """Whether only programs on this machine reach a listening socket."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def url_of(listener: socket.socket) -> str:
    """The address of the live page."""
    address, port, *_ = listener.getsockname()
    return f"http://[{address}]:{port}/" if ":" in address else f"http://{address}:{port}/"


def hosts_of(listener: socket.socket, host: str) -> Hosts:
    """The hosts under which a listening socket may be asked; `host` is what the user named."""
    if is_local(listener):
        return Hosts({"localhost", host.lower()}, any_address=False)
    return Hosts({"localhost", host.lower(), socket.gethostname().lower()}, any_address=True)


def serve_run(
    folder: Path,
    given: Game[Any] | None,
    listener: socket.socket,
    hosts: Hosts,
    log: Log | None,
    log_error: Log,
    end: Callable[[], object] | None = None,
) -> None:
    """Serves the pages of a run until an exception comes, such as `Interrupted`, or `end` returns, which is
    called in a thread of its own. `given` is the game that the user named; `log` and `log_error` as in
    `application`.
    """
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    run, threads = LiveRun(folder, given), ServerThreads()
    arena = Arena(run, folder, given)
    makers = PageMakers(*(PageMaker(lambda: run.is_running) for _ in PageMakers._fields))
    streams = EventStreams(arena.whole, arena.watch)
    app = application(run, streams, makers, Reports(makers.reports), hosts, log, log_error)

    def begin(loop: asyncio.AbstractEventLoop) -> None:
        threads.start(lambda: arena.follow(lambda event: loop.call_soon_threadsafe(streams.put, event)))

    def wait_for_end(end: Callable[[], object]) -> None:
        end()
        run.look()  # what it wrote last, so that pages are told of it
        if streams.count:
            run.put_in_order(run.snapshot())  # pages keep these standings
        until_s = time.monotonic() + LAST_S
        while streams.count and time.monotonic() < until_s:
            time.sleep(TICK_S)
            run.look()  # where the referee was killed, its processes may end later and only then free the run

    if end:
        threads.start(partial(wait_for_end, end))
    threads.start(lambda: follow(run))
    threads.start(arena.keep_order)
    for maker in makers:
        threads.start(maker.work)
    with answering(app, listener, begin, threads):
        threads.wait()


@contextlib.contextmanager
def answering(
    app: Safety,
    listener: socket.socket,
    begin: Callable[[asyncio.AbstractEventLoop], object],
    threads: ServerThreads,
) -> Iterator[None]:
    """Answers requests in a thread of its own, until this is left. `begin` is called with its event loop."""
    server = _Server(_settings(app))

    async def answer() -> None:
        begin(asyncio.get_running_loop())
        await server.serve(sockets=[listener])

    thread = threads.start(lambda: asyncio.run(answer()))
    try:
        yield
    finally:
        server.over.set()
        thread.join(timeout=1.0)


class _Server(uvicorn.Server):
    """Sleeps until it is over, where that of uvicorn looks ten times a second whether it is."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.over = threading.Event()

    async def main_loop(self) -> None:
        """Returns when it is over."""
        await asyncio.to_thread(self.over.wait)


def _settings(app: Safety) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=LONGEST_HEAD,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=0,
    )


class ServerThreads:
    """The threads beside the main thread. Signals come to the main thread, so that it only waits, and an
    exception from their handler ends it at once; the others end with the process.
    """

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._failures: list[BaseException] = []

    def start(self, work: Callable[[], None]) -> threading.Thread:
        """Starts a thread for this."""
        thread = threading.Thread(target=self._run, args=[work], daemon=True)
        thread.start()
        return thread

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # raised again by `check`
            self._failures.append(error)
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Waits until the first thread ends, and raises what ended it."""
        self._ended.wait()
        self.check()

    def check(self) -> None:
        """Raises what ended a thread, if one has failed."""
        for error in self._failures:
            raise error


class _Connection(H11Protocol):
    """A connection with a client, which may neither keep the server waiting nor use up its files."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request_due: asyncio.TimerHandle | None = None
        self._write_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)
        if len(self.connections) > _most_connections():  # guard: connections
            transport.abort()
            return
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for due in (self._request_due, self._write_due):
            if due:
                due.cancel()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_request()

    def _expect_request(self) -> None:
        """Sets or removes the time until which a complete request has to come."""
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self._request_due is None:
            self._request_due = self.loop.call_later(REQUEST_S, self.transport.abort)  # guard: slow-requests
        elif not is_idle and self._request_due:
            self._request_due.cancel()
            self._request_due = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_due = self.loop.call_later(WRITE_S, self.transport.abort)  # guard: slow-readers

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_due:
            self._write_due.cancel()
            self._write_due = None

    def send_400_response(self, msg: str) -> None:
        """Answers what is no request, with the headers of every answer."""
        body = b"this is no HTTP request that the server understands\n"
        head = [b"HTTP/1.1 400 Bad Request", b"content-type: text/plain; charset=utf-8", b"connection: close"]
        head += [b"content-length: %d" % len(body), *(b"%b: %b" % header for header in HEADERS)]
        self.transport.write(b"\r\n".join([*head, b"", body]))
        self.transport.close()


def _most_connections() -> int:
    """The maximum number of connections, as far as the process may open that many files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(MAX_CONNECTIONS, max(1, files - SPARE_FILES))
