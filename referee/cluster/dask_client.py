"""The client of Dask in a thread, which connects again when it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.cluster import machine
from referee.cluster.connecting import reason
from referee.cluster.orders import MachineAnswer, MachineOrder, Play, from_bytes
from referee.core.text import shown
from referee.core.work import DutyCycle

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 5.0  # seconds after which connecting is tried again

RETRY_S = 1.0

LOOK_S = 1.0  # minimum of seconds between two requests for the list of workers

LOOKING = 0.02  # maximum share of the time that these requests take, except for one every `SELDOM_S`

SELDOM_S = 15.0
"""Maximum of seconds between two requests: one may have taken long only because the scheduler was stopped."""

CLOSE_S = 3.0
"""Seconds for telling machines of the end, and then for closing a client. Machines that are not reached
notice by themselves.
"""


class Member(NamedTuple):
    """A Dask worker, as the scheduler knows it."""

    name: str
    host: str  # the address of its machine
    slots: int  # how many games it can play at a time: its threads
    beat: float  # differs each time that the scheduler hears of it
    has_others: bool = False  # whether it has tasks of others as well, for which ours may have to wait


class Members(NamedTuple):
    """All Dask workers that the scheduler has, by address."""

    found: Mapping[str, Member]


class OrderAnswered(NamedTuple):
    """An order was answered."""

    key: str
    answer: MachineAnswer


class InPlay(NamedTuple):
    """A Dask worker told of the games in play there, see `games_in_play`."""

    address: str
    message: bytes


class OrderFailed(NamedTuple):
    """An order will not be answered."""

    key: str
    why: str


class Disconnected(NamedTuple):
    """The connection to the scheduler was lost, and all orders with it; it is tried to connect again."""

    why: str


ClusterEvent = Members | OrderAnswered | OrderFailed | InPlay | Disconnected


class DaskClient:
    """A client that connects again whenever the connection is lost. Its methods return at once; what comes of
    them comes as events.
    """

    def __init__(self, address: str, run: str) -> None:
        """Connects to a scheduler; orders are for the hosts of this run."""
        self._address = address
        self._run = run
        self._events: SimpleQueue[ClusterEvent] = SimpleQueue()
        self._client: Client | None = None
        self._asked: dict[str, asyncio.Task[None]] = {}  # the tasks that wait for answers, by key
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._is_broken = False  # whether the connection to the scheduler was lost
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self._serve(),), daemon=True
        )
        self._thread.start()

    def events(self, seconds: float) -> list[ClusterEvent]:
        """Returns the events since the last call; if there are none, waits up to `seconds` for one."""
        found: list[ClusterEvent] = []
        with contextlib.suppress(Empty):
            found.append(self._events.get(timeout=seconds))
            while True:
                found.append(self._events.get_nowait())
        return found

    def ask(self, key: str, address: str, order: MachineOrder) -> None:
        """Gives a Dask worker an order, which is answered under a key that nothing else has: as a task that
        no other Dask worker may run.
        """
        data = pickle.dumps(order, pickle.HIGHEST_PROTOCOL)

        def start() -> None:
            asking = self._ask(key, address, data, isinstance(order, Play))
            self._asked[key] = self._loop.create_task(asking)

        self._loop.call_soon_threadsafe(start)

    async def _ask(self, key: str, address: str, order: bytes, is_playing: bool) -> None:
        from distributed.client import FutureCancelledError

        event: ClusterEvent
        try:
            if self._client is None:
                raise ConnectionError("not connected to the scheduler")
            name = f"referee-{self._run}-{key}"
            future = self._client.submit(
                pickle.loads,  # makes the call
                as_bytes(machine.ask, self._run, name, order, is_playing),
                key=name,
                workers=[address],
                allow_other_workers=False,
                pure=False,
            )
            try:
                event = OrderAnswered(key, from_bytes(await future))
            finally:
                future.release()
        except asyncio.CancelledError:
            return  # the order was given up
        except FutureCancelledError:
            self._is_broken = True  # with the connection, all orders are lost
            return
        except Exception as error:
            event = OrderFailed(key, shown(f"{type(error).__name__}: {error}".partition("\n")[0], 300))
        finally:
            self._asked.pop(key, None)
        self._events.put(event)

    def forget(self, key: str) -> None:
        """Gives up an order: nothing comes of it any more, and its machine learns of it."""

        def cancel() -> None:
            if task := self._asked.get(key):
                task.cancel()

        self._loop.call_soon_threadsafe(cancel)

    def tell(self, addresses: list[str], order: MachineOrder) -> None:
        """Gives some Dask workers an order at once that is not answered, also while they play."""
        data = pickle.dumps(order, pickle.HIGHEST_PROTOCOL)
        self._submit(self._broadcast(addresses, machine.tell, self._run, data))

    def close(self, addresses: list[str]) -> None:
        """Ends the run on these Dask workers, with all that they play for it, and closes the connection."""
        future = self._submit(self._broadcast(addresses, machine.end, self._run))
        with contextlib.suppress(TimeoutError):
            future.result(CLOSE_S)
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(2 * CLOSE_S)  # in which the client may take `CLOSE_S` to close
        if not self._thread.is_alive():
            self._loop.close()

    def _submit(self, coroutine: Coroutine[Any, Any, None]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _broadcast(self, addresses: list[str], *call: Any) -> None:
        with contextlib.suppress(Exception):  # whoever is gone needs not be told
            if self._client and addresses:
                await self._client.run(*call, workers=addresses, on_error="ignore")

    async def _serve(self) -> None:
        """Keeps a connection until the end."""
        while not self._closing.is_set():
            try:
                async with _client(self._address) as client:
                    self._client, self._is_broken = client, False
                    client.subscribe_topic(machine.TOPIC, self._take_in_play)
                    why = await self._watch(client)
            except (Exception, asyncio.CancelledError) as error:  # Dask passes on what the other side raised
                why = reason(error, CONNECT_S)
            finally:
                self._client = None
            for task in self._asked.values():
                task.cancel()
            if not self._closing.is_set():
                self._events.put(Disconnected(why))
                await self._pause(RETRY_S)

    async def _watch(self, client: Client) -> str:
        """Reports the list of workers until the connection is lost or closed; returns the reason."""
        duty_cycle = DutyCycle(time.monotonic, LOOKING, LOOK_S)
        scheduler: Any = client.scheduler
        first = None
        seldom_s = 0.0
        while not self._closing.is_set():
            if self._is_broken or client.status != "running":
                return "the connection was lost"
            if duty_cycle.is_due or time.monotonic() >= seldom_s:
                with duty_cycle.spent():
                    found = await asyncio.wait_for(scheduler.identity(n_workers=-1), CONNECT_S)
                    if found["id"] != (first := first or found["id"]):
                        return "the scheduler was restarted"
                    tasks = await asyncio.wait_for(scheduler.processing(workers=None), CONNECT_S)
                    others = {address for address, keys in tasks.items() if not all(map(self._is_ours, keys))}
                    workers = found["workers"].items()
                    self._events.put(
                        Members({address: _member(one, address in others) for address, one in workers})
                    )
                seldom_s = time.monotonic() + SELDOM_S
            await self._pause(min(LOOK_S, duty_cycle.wait_s))
        return "it was closed"

    def _take_in_play(self, event: object) -> None:
        match event:
            case (_, (self._run, str(address), bytes(message))):
                self._events.put(InPlay(address, message))

    def _is_ours(self, key: object) -> bool:
        return str(key).startswith(f"referee-{self._run}-")

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)


@contextlib.asynccontextmanager
async def _client(address: str) -> AsyncIterator[Client]:
    """A client that is connected. If it takes long to close, that is not waited for."""
    from distributed import Client

    client = Client(address, asynchronous=True, set_as_default=False, timeout=CONNECT_S, name="referee")
    try:
        yield await client
    finally:
        closing = asyncio.ensure_future(_closed(client))
        await asyncio.wait({closing}, timeout=CLOSE_S)
        closing.cancel()
        await asyncio.sleep(0)  # in which it ends, before the loop may


async def _closed(client: Client) -> None:
    with contextlib.suppress(Exception):  # whatever is wrong with it, there will be another one
        await client.close()


def _member(found: dict[str, Any], has_others: bool) -> Member:
    name, host, beat = str(found["name"]), str(found["host"]), float(found["last_seen"])
    return Member(name, host, int(found["nthreads"]), beat, has_others)


def as_bytes(function: Callable[..., object], *arguments: object) -> bytes:
    """A call of a function as bytes, which Dask passes on unread.

    Dask reads the function of a task in the scheduler, and in the Dask worker before the task begins: one of
    them that has no referee installed would break there, the worker again and again. With bytes, only the
    task fails.
    """
    return pickle.dumps(_Call(function, arguments), pickle.HIGHEST_PROTOCOL)


class _Call:
    """A call that is made when it is unpickled, and replaced by its result."""

    def __init__(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self._call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._call
