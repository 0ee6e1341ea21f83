"""What the data-plane scenarios ask of a client: records as bytes, batches of a given size, readers that go anywhere.

Beside `tests.clients.client`, which has groups and administration: here a reader is given its partitions, and kcat
takes part. A client that cannot do a thing at all (kcat sets no timestamps) is not asked for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.records import split_batches
from kafkawire.records.batch import BatchHeader, parse_header
from tests.clients.client import until
from tests.persistence.speaker import LATEST, Speaker

Headers = tuple[tuple[str, bytes | None], ...]
ONE_RECORD = 0
"""As `Sending.batch_bytes`: each record is a batch of its own."""
MIB = 1 << 20
FETCH_WAIT_MS = 20
"""How long a fetch waits at the end of a partition: a seek has to wait for the fetch that is under way."""


class Entry(NamedTuple):
    """What a record holds; its timestamp (ms) is None where the client sets it."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp: int | None = None
    partition: int = 0


class Found(NamedTuple):
    """A record as it was read: its entry's timestamp is set."""

    offset: int
    entry: Entry


@dataclass(frozen=True)
class Sending:
    """How a producer makes batches: `batch_bytes` is the size that it fills before it sends."""

    codec: str = "none"
    batch_bytes: int = 16384
    idempotent: bool = True
    request_bytes: int = 4 * MIB
    """The client's own limit, above the broker's by default: it is the broker that says no."""


BY_DEFAULT = Sending()


class Reader(ABC):
    """A consumer of assigned partitions, which begins at their beginning. All methods block."""

    @abstractmethod
    def poll(self, seconds: float = 0.05) -> list[Found]: ...

    @abstractmethod
    def seek(self, partition: int, offset: int) -> None: ...

    @abstractmethod
    def seek_to_beginning(self, partition: int) -> None: ...

    @abstractmethod
    def seek_to_end(self, partition: int) -> None:
        """Where the end is now: what is produced behind this call is read."""

    @abstractmethod
    def seek_to_time(self, partition: int, ms: int) -> None:
        """To the first record of this time or later."""

    def pause(self, partition: int) -> None:
        raise NotImplementedError

    def resume(self, partition: int) -> None:
        raise NotImplementedError

    @abstractmethod
    def close(self) -> None: ...


class DataClient(ABC):
    """One library or program, connected to one broker. Context manager: leaving it closes what was opened."""

    null_headers = True
    """Whether it sends a header with a null value."""
    empty_records = True
    """Whether it sends a record that has neither key nor value."""
    knows_invalid_record = True
    """Whether it has a name for Kafka's error 87."""

    def __init__(self) -> None:
        self._readers: list[Reader] = []

    @abstractmethod
    def send(self, topic: str, entries: Sequence[Entry], sending: Sending = BY_DEFAULT) -> list[int]:
        """Send, wait until all are acknowledged, and give the offsets; kcat, which is not told them, gives none.

        Raises Refused with the name of Kafka's error where the broker says no.
        """

    def reader(self, topic: str, partitions: Sequence[int] = (0,)) -> Reader:
        """One that is closed with the client."""
        reader = self._opened(topic, partitions)
        self._readers.append(reader)
        return reader

    @abstractmethod
    def _opened(self, topic: str, partitions: Sequence[int]) -> Reader: ...

    def close(self) -> None:
        for reader in self._readers:
            reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def drain(reader: Reader, count: int) -> list[Found]:
    """Poll until `count` records have come."""
    found: list[Found] = []

    def enough() -> bool:
        found.extend(reader.poll())
        return len(found) >= count

    until(enough, f"{count} records")
    return found


def contents(found: Sequence[Found]) -> list[Entry]:
    """What was read, in the order of the offsets and without the timestamps."""
    return [one.entry._replace(timestamp=None) for one in sorted(found)]


class Broker:
    """What a scenario prepares and looks at beside the clients, over frames."""

    def __init__(self, servers: str) -> None:
        self.speaker = Speaker(servers)

    def create(self, topic: str, partitions: int = 1, **configs: str) -> str:
        """Make the topic and wait until it can be used; gives its name."""
        assert self.speaker.create_topic(topic, partitions, **configs) == 0

        def led() -> bool:
            try:
                return all(self.speaker.offset(topic, index, LATEST) == 0 for index in range(partitions))
            except AssertionError:  # its leader has not heard of it yet
                return False

        until(led, f"topic {topic}")
        return topic

    def batches(self, topic: str) -> list[BatchHeader]:
        """The headers of all batches in partition 0."""
        headers: list[BatchHeader] = []
        offset, end = 0, self.speaker.offset(topic, 0, LATEST)
        while offset < end:
            asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=MIB)
            request = FetchRequest(max_wait_ms=0, max_bytes=16 * MIB, topics=[FetchTopic(topic, partitions=[asked])])
            answer = self.speaker.ask(request, 11).responses[0].partitions[0]
            assert answer.error_code == 0, answer
            headers += [parse_header(batch) for _, batch in split_batches(answer.records)]
            offset = headers[-1].last_offset + 1
        return headers

    def close(self) -> None:
        self.speaker.close()
