"""The server: its socket, its connections, and the threads that follow the run and make pages."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from referee.core.errors import UsageError
from referee.core.ration import Ration
from referee.core.text import shown
from referee.games.api import Game
from referee.serving.app import Hub, application
from referee.serving.live import Live, Snapshot
from referee.serving.maker import Maker
from referee.serving.safety import HEADERS, Hosts, Log

NICENESS = 10
"""How much the server lets other processes go first."""

PUSH_S = 1.0
"""The least time between two looks at the run's files."""

FOLLOW_SHARE = 0.25
"""The share of the time of a core that following the run takes at most while a referee is running."""

REQUEST_S = 10.0
"""How long a connection may be open without a complete request."""

WRITE_S = 30.0
"""How long a client may leave what is sent to it unread."""

MOST_CONNECTIONS = 500
"""The most connections at a time; further ones are closed."""

SPARE_FILES = 50
"""The files that the process needs besides its connections."""


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
            listener.listen(MOST_CONNECTIONS)
        except BaseException:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not the name of a host"
        raise UsageError(
            f"cannot listen at {where}: {reason}, expected an address of this machine and a free port, "
            "such as `--port 0`"
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
    report: Log,
) -> None:
    """Serves the pages of a run until an exception comes, such as `Interrupted`. `given` is the game that the
    user named; `log` and `report` as in `application`.
    """
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    live, maker = Live(folder, given), Maker()
    live.advance()
    ended = threading.Event()
    failure: list[BaseException] = []

    def serve_requests() -> None:
        try:
            asyncio.run(_serve(live, maker, listener, hosts, log, report, ended))
        except BaseException as error:  # it is raised again by the main thread
            failure.append(error)
        finally:
            ended.set()

    # Signals come to this thread, so it only waits: an exception from their handler ends it here.
    server = threading.Thread(target=serve_requests, daemon=True)
    threading.Thread(target=maker.work, daemon=True).start()
    server.start()
    try:
        ended.wait()
    finally:
        ended.set()
        server.join(timeout=1.0)
    if failure:
        raise failure[0]


async def _serve(
    live: Live,
    maker: Maker,
    listener: socket.socket,
    hosts: Hosts,
    log: Log | None,
    report: Log,
    ended: threading.Event,
) -> None:
    """Serves until `ended` is set."""
    hub = Hub(live.snapshot)
    loop = asyncio.get_running_loop()
    config = uvicorn.Config(
        application(hub, maker, hosts, log, report),
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=16 << 10,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=0,
    )
    server = uvicorn.Server(config)

    def publish(snapshot: Snapshot) -> None:
        maker.set_share(snapshot.is_running)
        if snapshot is not hub.snapshot:
            hub.publish(snapshot)

    def follow() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            for snapshot in _followed(live, ended):
                loop.call_soon_threadsafe(publish, snapshot)
            loop.call_soon_threadsafe(setattr, server, "should_exit", True)

    threading.Thread(target=follow, daemon=True).start()
    await server.serve(sockets=[listener])


def _followed(live: Live, ended: threading.Event) -> Iterator[Snapshot]:
    """A snapshot at most every `PUSH_S`, until `ended` is set."""
    ration = Ration(time.monotonic, 1.0, PUSH_S)
    while not ended.wait(ration.wait_s):
        with ration.spent():
            snapshot = live.advance()
        ration.share = FOLLOW_SHARE if snapshot.is_running else 1.0
        yield snapshot


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
    """The most connections, as far as the process may open as many files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(MOST_CONNECTIONS, max(1, files - SPARE_FILES))
