"""The interface of a cluster's client: it reports which workers there are, and carries orders and answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

from referee.cluster.orders import MachineAnswer, MachineOrder


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


class OrderFailed(NamedTuple):
    """An order will not be answered."""

    key: str
    why: str


class Disconnected(NamedTuple):
    """The connection to the scheduler was lost, and all orders with it; it is tried to connect again."""

    why: str


ClusterEvent = Members | OrderAnswered | OrderFailed | Disconnected


class ClusterClient(ABC):
    """A client of a cluster. Its methods return at once; their results come as events."""

    @abstractmethod
    def events(self, seconds: float) -> list[ClusterEvent]:
        """Returns the events since the last call; if there are none, waits up to `seconds` for one."""

    @abstractmethod
    def ask(self, key: str, address: str, order: MachineOrder) -> None:
        """Gives a Dask worker an order, which is answered under a key that nothing else has."""

    @abstractmethod
    def forget(self, key: str) -> None:
        """Gives up an order: nothing comes of it any more, and its machine learns of it."""

    @abstractmethod
    def tell(self, addresses: list[str], order: MachineOrder) -> None:
        """Gives some Dask workers an order at once that is not answered, also while they play."""

    @abstractmethod
    def close(self, addresses: list[str]) -> None:
        """Ends the run on these Dask workers, with all that they play for it, and closes the connection."""
