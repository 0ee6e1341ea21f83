"""Where the logs of partitions start and end, in which leader epochs, and which producers are known there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from kafkastub.client import BrokerError
from kafkastub.client.errors import message_of
from kafkastub.cluster_snapshots.source import Place, Source
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_producers_request import DescribeProducersRequest, TopicRequest
from kafkawire.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kafkawire.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafkawire.schema import Message

EARLIEST: Final = -2
LATEST: Final = -1
_CONSUMER: Final = -1
"""Instead of the id of a replica, which would be told of offsets that are not committed."""
_NEWEST: Final = -3
"""A time of ListOffsets: the record with the largest timestamp (KIP-734)."""
_MOST_EPOCHS: Final = 100
"""Leader epochs of a partition that are asked for, the latest ones."""

Producer = Any
"""What DescribeProducers says of one."""


class Log(NamedTuple):
    """A partition's log.

    Attributes:
        newest_ms: the largest timestamp of its records; None where nobody knows.
        epochs: leader epochs with their first offsets, ascending.
    """

    start: int
    end: int
    newest_ms: int | None
    epochs: list[tuple[int, int]]
    producers: list[Producer]


def offsets(source: Source, places: Iterable[Place], timestamp: int) -> dict[Place, Any]:
    """What ListOffsets says of each, without those that it refuses to say, which are noted."""

    def make(by_topic: Mapping[str, list[int]]) -> Message:
        return ListOffsetsRequest(
            _CONSUMER,
            topics=[
                ListOffsetsTopic(name, [ListOffsetsPartition(index, timestamp=timestamp) for index in indexes])
                for name, indexes in by_topic.items()
            ],
        )

    return _good(source, "offsets of", source.ask_leaders(places, make, _rows), places)


def logs(source: Source, epochs: Mapping[Place, int]) -> dict[Place, Log]:
    """Those of partitions, given their present leader epochs. What is not known of one is noted."""
    ends = {place: row.offset for place, row in offsets(source, epochs, LATEST).items()}
    producers = _producers(source, [place for place, end in ends.items() if end])
    starts = {place: row.offset for place, row in offsets(source, ends, EARLIEST).items()}
    newest: dict[Place, Any] = {}
    if source.has(ApiKey.LIST_OFFSETS, 7):
        newest = offsets(source, [place for place, start in starts.items() if start < ends[place]], _NEWEST)
    begun = _epochs(source, {place: epochs[place] for place in starts if epochs[place] > 0 and ends[place]})
    found = {}
    for place, start in starts.items():
        row = newest.get(place)
        found[place] = Log(
            start,
            max(start, ends[place]),
            None if row is None or row.timestamp < 0 else row.timestamp,
            begun.get(place) or [(max(0, epochs[place]), start if epochs[place] > 0 else 0)],
            producers.get(place, []),
        )
    return found


def _epochs(source: Source, latest: Mapping[Place, int]) -> dict[Place, list[tuple[int, int]]]:
    """The epochs that have records, from the latest one down: where one ends, the next one begins."""
    found: dict[Place, list[tuple[int, int]]] = {}
    ask: Mapping[Place, int] = latest
    behind: dict[Place, int] = {}
    for _ in range(_MOST_EPOCHS):
        if not ask:
            break
        wanted = ask

        def make(by_topic: Mapping[str, list[int]], wanted: Mapping[Place, int] = wanted) -> Message:
            return OffsetForLeaderEpochRequest(
                topics=[
                    OffsetForLeaderTopic(
                        name, [OffsetForLeaderPartition(index, leader_epoch=wanted[name, index]) for index in indexes]
                    )
                    for name, indexes in by_topic.items()
                ]
            )

        rows = _good(source, "leader epochs of", source.ask_leaders(wanted, make, _rows_of_epochs), wanted)
        following: dict[Place, int] = {}
        for place, row in rows.items():
            if place in behind:  # the one above begins where this one ends, or with the log
                found.setdefault(place, []).append((behind[place], max(0, row.end_offset)))
            if row.leader_epoch >= 0:
                behind[place] = row.leader_epoch
                if row.leader_epoch == 0:
                    found.setdefault(place, []).append((0, 0))
                else:
                    following[place] = row.leader_epoch - 1
        ask = following
    return {place: starts[::-1] for place, starts in found.items()}


def _producers(source: Source, places: Iterable[Place]) -> dict[Place, list[Producer]]:
    """Idempotent and transactional producers of each."""
    if not source.has(ApiKey.DESCRIBE_PRODUCERS):
        return {}

    def make(by_topic: Mapping[str, list[int]]) -> Message:
        return DescribeProducersRequest(topics=[TopicRequest(name, indexes) for name, indexes in by_topic.items()])

    rows = source.ask_leaders(places, make, _rows)
    good = _good(source, "producers and open transactions in", rows, places)
    return {place: list(row.active_producers) for place, row in good.items()}


def _rows(answer: Any) -> Iterator[tuple[Place, Any]]:
    for topic in answer.topics:
        for row in topic.partitions:
            yield (topic.name, row.partition_index), row


def _rows_of_epochs(answer: Any) -> Iterator[tuple[Place, Any]]:
    for topic in answer.topics:
        for row in topic.partitions:
            yield (topic.topic, row.partition), row


def _good(source: Source, what: str, rows: Mapping[Place, Any], places: Iterable[Place]) -> dict[Place, Any]:
    """Those without an error; of the others it is noted, topic by topic."""
    for place in places:
        if place not in rows:
            source.note(f"{what} {place[0]}-{place[1]}", BrokerError(ErrorCode.LEADER_NOT_AVAILABLE))
        elif rows[place].error_code:
            code = rows[place].error_code
            source.note(f"{what} topic {place[0]}", message_of(code))
    return {place: row for place, row in rows.items() if not row.error_code}
