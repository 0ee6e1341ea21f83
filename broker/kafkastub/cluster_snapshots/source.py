"""The cluster that is asked: leaders of partitions, and a list of what could not be read.

What a client may not do, or a broker does not have, does not end the whole: it is noted with the broker's reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from kafkastub.client import BrokerError, Client, ClientError, Node
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.records import HEADER_SIZE, MAGIC, BatchHeader, parse_header, split_batches
from kafkawire.schema import Message

Place = tuple[str, int]
"""A topic's name and the number of a partition."""

_AT_ONCE: Final = 2000
"""Partitions of a request."""
_FETCHED: Final = 4 << 20
"""Bytes of a partition that are asked for at a time; a larger batch comes whole."""
_NAMED_UPTO: Final = 12
"""The last version of Fetch that names topics."""
_PAUSE: Final = 0.2
_ELSEWHERE: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.OFFSET_NOT_AVAILABLE, ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)  # fmt: skip
"""What a leader that moves says for a while."""


class Source:
    """A cluster.

    Attributes:
        missing: what could not be read: what it is, and why.
        hidden: topics that are not shown to whoever asks.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.missing: list[tuple[str, str]] = []
        self.hidden: set[str] = set()
        self._leaders: dict[Place, Node | None] = {}

    def note(self, what: str, why: object) -> None:
        """Something is not in the snapshot."""
        if (what, str(why)) not in self.missing:
            self.missing.append((what, str(why)))

    @contextmanager
    def noting(self, what: str) -> Iterator[None]:
        """What is asked for inside can be done without."""
        try:
            yield
        except ClientError as error:
            self.note(what, error)

    def has(self, key: ApiKey, least: int = 0) -> bool:
        """Whether the brokers serve an API, in this version or a later one."""
        return self.client.connection().negotiate().get(key, (0, -1))[1] >= least

    # -- partitions, each asked of its leader --------------------------------------------------------------------

    def learn(self, metadata: Any) -> None:
        """Who leads which partition."""
        nodes = {one.node_id: Node(one.node_id, one.host, one.port) for one in metadata.brokers}
        for topic in metadata.topics:
            for one in topic.partitions:
                self._leaders[topic.name, one.partition_index] = nodes.get(one.leader_id)

    def ask_leaders(
        self,
        places: Iterable[Place],
        make: Callable[[Mapping[str, list[int]]], Message],
        rows: Callable[[Any], Iterable[tuple[Place, Any]]],
        version: int | None = None,
    ) -> dict[Place, Any]:
        """What the leaders say of each partition: rows with an `error_code`.

        A partition is missing where it has no leader before the client's time is up. Raises ClientError.

        Args:
            make: the request about partitions by topic.
            rows: of an answer.
        """
        found: dict[Place, Any] = {}
        wanted, deadline = list(places), time.monotonic() + self.client.timeout
        for first in range(0, len(wanted), _AT_ONCE):
            left = wanted[first : first + _AT_ONCE]
            while left:
                told = self._rows_of_leaders(left, make, rows, version)
                left = [one for one in left if one not in told or told[one].error_code in _ELSEWHERE]
                found |= told
                if not left or time.monotonic() + _PAUSE > deadline:
                    break
                time.sleep(_PAUSE)
                names = [MetadataRequestTopic(name=name) for name in sorted({name for name, _ in left})]
                self.learn(self.client.ask(MetadataRequest(topics=names, allow_auto_topic_creation=False)))
        return found

    def _rows_of_leaders(
        self,
        places: Iterable[Place],
        make: Callable[[Mapping[str, list[int]]], Message],
        rows: Callable[[Any], Iterable[tuple[Place, Any]]],
        version: int | None,
    ) -> dict[Place, Any]:
        by_leader: dict[Node, dict[str, list[int]]] = {}
        for name, index in places:
            leader = self._leaders.get((name, index))
            if leader is not None:
                by_leader.setdefault(leader, {}).setdefault(name, []).append(index)
        found: dict[Place, Any] = {}
        for leader, by_topic in by_leader.items():
            found.update(rows(self.client.ask(make(by_topic), leader, version)))
        return found

    # -- records -------------------------------------------------------------------------------------------------

    def batches(self, place: Place, start: int, end: int) -> Iterator[tuple[BatchHeader, memoryview]]:
        """The batches of a partition from the one with the offset `start` up to `end`, as they are stored.

        Raises BrokerError; ClientError for batches of a format before Kafka 0.11.
        """
        at = start
        while at < end:
            row = self._fetched(place, at)
            if row.error_code == ErrorCode.OFFSET_OUT_OF_RANGE and at < row.log_start_offset < end:
                at = row.log_start_offset  # retention was faster
                continue
            if row.error_code:
                raise BrokerError(row.error_code)
            before = at
            for magic, batch in split_batches(row.records or b""):
                if magic != MAGIC:
                    raise ClientError(f"{place[0]}-{place[1]} has batches of format {magic}, before Kafka 0.11")
                header = parse_header(batch)
                if header.size < HEADER_SIZE or header.last_offset < at:
                    continue
                if header.base_offset >= end:
                    return
                yield header, batch
                at = header.last_offset + 1
            if at == before:  # compaction has left nothing up to the end
                return

    def _fetched(self, place: Place, offset: int) -> Any:
        request = FetchRequest(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=_FETCHED,
            topics=[
                FetchTopic(
                    topic=place[0],
                    partitions=[FetchPartition(partition=place[1], fetch_offset=offset, partition_max_bytes=_FETCHED)],
                )
            ],
        )
        version = self.client.connection().common_version(ApiKey.FETCH, _NAMED_UPTO)
        found = self.ask_leaders([place], lambda _: request, _of_fetch, version)
        if place not in found:
            raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE)
        return found[place]


def _of_fetch(answer: Any) -> Iterator[tuple[Place, Any]]:
    if answer.error_code:
        raise BrokerError(answer.error_code)
    for topic in answer.responses:
        for one in topic.partitions:
            yield (topic.topic, one.partition_index), one
