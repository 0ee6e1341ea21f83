"""What the scenarios ask of a client library, and the library that is meant, by name.

One scenario body serves every library: an adapter (`tests.clients.adapters`) translates, and holds nothing of a
scenario. All methods block; whatever loop or thread a library needs is the adapter's own.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

Place = tuple[str, int]
"""A topic's partition."""

DEADLINE_SECONDS = 60.0
HEARTBEAT_MS = 100
"""How soon a member hears of a rebalance: the clients' default of 3 s would be most of a test's time."""
SESSION_MS = 30_000
"""Longer than a busy machine lets a member wait that nobody polls."""

T = TypeVar("T")


class Message(NamedTuple):
    """What is produced; the partition, key and timestamp (ms) that are None are the client's choice."""

    value: str
    key: str | None = None
    partition: int | None = None
    timestamp: int | None = None


class Record(NamedTuple):
    """What is consumed; timestamp in ms."""

    topic: str
    partition: int
    offset: int
    key: str | None
    value: str
    timestamp: int


@dataclass
class Group:
    """A group as an admin client describes it: state by Kafka's name, assignment by client id."""

    state: str
    assignor: str
    members: dict[str, set[Place]]


class Refused(Exception):
    """The broker refused; `code` is the name of Kafka's error, such as NON_EMPTY_GROUP."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class MemberOptions:
    """How a consumer behaves.

    `assignor` is range or cooperative-sticky; `instance` makes a static member; `fetch_wait_ms` is how long a fetch may
    wait for records.
    """

    client_id: str = "member"
    auto_commit: bool = True
    assignor: str = "range"
    instance: str | None = None
    fetch_wait_ms: int = 100


BY_DEFAULT = MemberOptions()


class Member(ABC):
    """A consumer that subscribes topics in a group, from the earliest offset where nothing is committed."""

    _open = True

    @abstractmethod
    def poll(self, seconds: float = 0.05) -> list[Record]:
        """Take part in the group, and give the records that are there within `seconds`."""

    @abstractmethod
    def assignment(self) -> set[Place]: ...

    @abstractmethod
    def commit(self) -> None:
        """Commit what was given by poll, and wait for the answer."""

    @abstractmethod
    def seek_to_time(self, ms: int) -> None:
        """Go, in every assigned partition, to the first record of this time or later; without one, to the end."""

    def close(self) -> None:
        """Leave the group, once."""
        if self._open:
            self._open = False
            self._leave()

    @abstractmethod
    def _leave(self) -> None: ...


class Client(ABC):
    """One library, connected to one broker. A method that the library has not raises NotImplementedError."""

    def __init__(self) -> None:
        self.members: list[Member] = []

    @abstractmethod
    def produce(self, topic: str, messages: Iterable[Message], codec: str = "none") -> list[tuple[int, int]]:
        """Send, wait until all are acknowledged, and give each one's partition and offset.

        Raises NotImplementedError where the library finds nothing to compress with.
        """

    @abstractmethod
    def member(self, group: str, topics: list[str], options: MemberOptions = BY_DEFAULT) -> Member: ...

    @abstractmethod
    def create_topic(self, topic: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None: ...

    @abstractmethod
    def delete_topic(self, topic: str) -> None: ...

    @abstractmethod
    def topics(self) -> dict[str, int]:
        """Names and numbers of partitions."""

    @abstractmethod
    def topic_config(self, topic: str) -> dict[str, str | None]: ...

    @abstractmethod
    def alter_topic_config(self, topic: str, name: str, value: str) -> None: ...

    @abstractmethod
    def groups(self) -> set[str]: ...

    @abstractmethod
    def describe_group(self, group: str) -> Group: ...

    @abstractmethod
    def committed(self, group: str) -> dict[Place, int]: ...

    def delete_group(self, group: str) -> None:
        raise NotImplementedError

    def delete_offset(self, group: str, place: Place) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Close what was opened."""
        for member in self.members:
            member.close()


def until(condition: Callable[[], T], what: str, seconds: float = DEADLINE_SECONDS) -> T:
    """Evaluate until it is true, and give what it is; each evaluation polls something and so takes its time.

    A topic that the broker does not know is one that it does not know yet: a broker learns of it late.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            result = condition()
        except Refused as refused:
            if refused.code != "UNKNOWN_TOPIC_OR_PARTITION" or time.monotonic() > deadline:
                raise
            continue
        if result:
            return result
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"


def poll_all(members: Sequence[Member], seconds: float = 0.1) -> list[Record]:
    """Poll all members at the same time, as in a life of their own: one's rebalance may have to wait for another."""
    if len(members) == 1:
        return members[0].poll(seconds)
    with ThreadPoolExecutor(len(members)) as pool:
        return [record for polled in pool.map(lambda member: member.poll(seconds), members) for record in polled]


def drain(member: Member, count: int, seconds: float = DEADLINE_SECONDS) -> list[Record]:
    """Poll until `count` records have come."""
    records: list[Record] = []

    def enough() -> bool:
        records.extend(member.poll())
        return len(records) >= count

    until(enough, f"{count} records", seconds)
    return records
