"""Encode and decode, a message at a time, in this process: `kafkawire.codec` beside kio's own reader and writer.

Both sides with their functions looked up beforehand, as a server has them.

    python -m bench.run -k codec [--quick]     prints a table
"""

from __future__ import annotations

import importlib
import io
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from bench import cases
from bench.placement import undisturbed
from kafkawire.codec import decode, decoder, encode, encoder
from kafkawire.messages.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kafkawire.messages.heartbeat_request import HeartbeatRequest
from kafkawire.messages.heartbeat_response import HeartbeatResponse
from kafkawire.messages.join_group_response import JoinGroupResponse, JoinGroupResponseMember
from kafkawire.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafkawire.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from kafkawire.schema import Message

SLICE_NS = 4_000_000
"""So long runs each contender before the others have their turn."""


@dataclass(frozen=True)
class Subject:
    name: str
    version: int
    message: Message
    kio: str
    """Where kio has the class: `module:name`, the module below `kio.schema`."""


@dataclass(frozen=True)
class Timing:
    """Nanoseconds a message, medians; kio's are None where kio cannot do it."""

    name: str
    size: int
    encode_ns: float
    decode_ns: float
    kio_encode_ns: float | None
    kio_decode_ns: float | None


def subjects() -> list[Subject]:
    """What is measured."""
    found: list[Subject] = []
    for count in (1, 10, 100, 1000):
        committed = [OffsetCommitResponsePartition(partition_index=index) for index in range(count)]
        topics = [OffsetCommitResponseTopic(name=cases.TOPIC, partitions=committed)]
        module = "offset_commit.v8"
        request = cases.commit_request(cases.group_of(count), count)
        found += [
            Subject(f"offset-commit-request/{count}", 8, request, f"{module}.request:OffsetCommitRequest"),
            Subject(
                f"offset-commit-response/{count}",
                8,
                OffsetCommitResponse(topics=topics),
                f"{module}.response:OffsetCommitResponse",
            ),
        ]
    for count in (1, 10, 100):
        request_and_answer = _offset_fetch(count)
        for kind, message in zip(("request", "response"), request_and_answer, strict=True):
            where = f"offset_fetch.v8.{kind}:OffsetFetch{kind.capitalize()}"
            found.append(Subject(f"offset-fetch-{kind}/{count}", 8, message, where))
    heartbeat = HeartbeatRequest(group_id="bench", generation_id=1, member_id="bench-" + "0" * 36)
    records = cases.batch(100, 1024)
    partition = PartitionData(partition_index=0, high_watermark=1000, aborted_transactions=None, records=records * 10)
    fetched = FetchResponse(responses=[FetchableTopicResponse(topic=cases.FETCH_TOPIC, partitions=[partition])])
    members = [JoinGroupResponseMember(member_id=f"bench-{n:036}", metadata=bytes(40)) for n in range(10)]
    joined = JoinGroupResponse(
        generation_id=1, protocol_name="range", leader="bench", member_id="bench", members=members
    )
    return [
        *found,
        Subject("heartbeat-request", 4, heartbeat, "heartbeat.v4.request:HeartbeatRequest"),
        Subject("heartbeat-response", 4, HeartbeatResponse(), "heartbeat.v4.response:HeartbeatResponse"),
        Subject("join-group-response/10-members", 5, joined, "join_group.v5.response:JoinGroupResponse"),
        Subject(
            "produce-request/100x1KB",
            9,
            cases.produce_request(cases.TOPIC, records),
            "produce.v9.request:ProduceRequest",
        ),
        Subject("fetch-response/1MB", 12, fetched, "fetch.v12.response:FetchResponse"),
    ]


def _offset_fetch(count: int) -> tuple[Message, Message]:
    from kafkawire.messages.offset_fetch_request import (
        OffsetFetchRequest,
        OffsetFetchRequestGroup,
        OffsetFetchRequestTopics,
    )

    asked = OffsetFetchRequestTopics(name=cases.TOPIC, partition_indexes=list(range(count)))
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="bench", topics=[asked])])
    found = [
        OffsetFetchResponsePartitions(partition_index=index, committed_offset=1000, metadata="")
        for index in range(count)
    ]
    topics = [OffsetFetchResponseTopics(name=cases.TOPIC, partitions=found)]
    return request, OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="bench", topics=topics)])


def measure(subject: Subject, rounds: int) -> Timing:
    """Time one message both ways. Raises AssertionError where kio reads or writes something else than we do."""
    data = encode(subject.message, subject.version)
    assert decode(type(subject.message), subject.version, data) == subject.message, subject.name
    write, read = encoder(type(subject.message), subject.version), decoder(type(subject.message), subject.version)
    contenders: dict[str, Callable[[], object]] = {
        "encode": lambda: b"".join(write(subject.message)),
        "decode": lambda: read(data, 0, len(data)),
        **_kio(subject, data),
    }
    with undisturbed():
        taken = _interleaved(contenders, rounds)
    return Timing(
        subject.name,
        len(data),
        taken["encode"],
        taken["decode"],
        taken.get("kio encode"),
        taken.get("kio decode"),
    )


def _kio(subject: Subject, data: bytes) -> dict[str, Callable[[], object]]:
    """kio's own, as far as it can: its classes refuse some of what the wire allows."""
    from kio.serial import entity_reader, entity_writer

    module, name = subject.kio.split(":")
    cls: Any = getattr(importlib.import_module(f"kio.schema.{module}"), name)
    read: Any = entity_reader(cls)
    write: Any = entity_writer(cls)
    try:
        entity = read(data, 0)[0]
    except (ValueError, TypeError):
        return {}

    def encoded() -> bytes:
        buffer = io.BytesIO()
        write(buffer, entity)
        return buffer.getvalue()

    assert encoded() == data, f"kio writes {subject.name} otherwise"
    return {"kio encode": encoded, "kio decode": lambda: read(data, 0)}


def _interleaved(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    counts = {name: _calls_in(SLICE_NS, call) for name, call in contenders.items()}
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            taken[name].append(_time(call, counts[name]) / counts[name])
    return {name: statistics.median(times) for name, times in taken.items()}


def _calls_in(wanted_ns: int, call: Callable[[], object]) -> int:
    count = 1
    while (spent := _time(call, count)) < wanted_ns / 4:
        count *= 2
    return max(1, count * wanted_ns // spent)


def _time(call: Callable[[], object], count: int) -> int:
    start = perf_counter_ns()
    for _ in range(count):
        call()
    return perf_counter_ns() - start
