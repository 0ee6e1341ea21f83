"""Replies that go out in the chunks that they are made of."""

from __future__ import annotations

import struct
import time

from kafkastub.config import BrokerConfig, Profile
from kafkastub.handlers.context import ConnectionInfo
from kafkastub.metadata import Node
from kafkastub.server.connection import Connection
from kafkastub.server.dispatch import Dispatcher
from kafkastub.server.logs import library_logger
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.topics import create_topic
from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.framing import FrameSplitter, frame
from kafkawire.header import request_header
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch

LIMIT = 1 << 24
RECORDS = 200_000


def produce() -> bytes:
    now = int(time.time() * 1000)
    records = build_batch([NewRecord(timestamp=now, key=None, value=bytes(RECORDS))])
    data = TopicProduceData("orders", partition_data=[PartitionProduceData(0, records)])
    return frame(request_header(ApiKey.PRODUCE, 9, 0, "raw", True) + encode(ProduceRequest(None, -1, 1, [data]), 9))


def fetch(correlation_id: int, min_bytes: int = 1) -> bytes:
    asked = FetchTopic(topic="orders", partitions=[FetchPartition(partition=0, partition_max_bytes=LIMIT)])
    wait_ms = 0 if min_bytes == 1 else 10_000
    request = FetchRequest(max_wait_ms=wait_ms, min_bytes=min_bytes, max_bytes=LIMIT, session_epoch=-1, topics=[asked])
    return frame(request_header(ApiKey.FETCH, 12, correlation_id, "raw", True) + encode(request, 12))


def new_connection(state: BrokerState | None = None) -> tuple[Connection, list[bool]]:
    """One, and how often it was woken; of a broker of its own, unless there is one."""
    if state is None:
        state = new_state()
    woken: list[bool] = []
    connection = Connection(
        Dispatcher(state),
        ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1"),
        LIMIT,
        lambda: (int(time.time() * 1000), 1),
        lambda: woken.append(True),
    )
    return connection, woken


def new_state() -> BrokerState:
    state = BrokerState(BrokerConfig({}, Profile.named("kips")), [Node(1, "localhost", 9092)], library_logger())
    create_topic(state, "orders", 1)
    return state


def test_a_reply_in_chunks_is_sent_before_the_next_one_is_made():
    """The last chunk of a reply to Fetch is nothing but tags: it tells nothing of how long the reply is."""
    connection, woken = new_connection()
    connection.receive(produce())
    connection.out = []
    connection.receive(b"".join(map(fetch, range(5))))
    answered = []
    for _ in range(5):
        assert len(connection.out[-1]) < 100
        data, connection.out = b"".join(connection.out), []
        ((_, start, end),) = FrameSplitter(LIMIT).feed(data)
        assert end - start > RECORDS
        answered += struct.unpack_from(">i", data, start)
        assert woken
        woken.clear()
        connection.resume()
    assert answered == list(range(5))


def test_a_reply_in_chunks_that_had_to_wait_is_sent_before_the_next_one_is_made():
    """Who pipelines and reads nothing was owed two of them."""
    state = new_state()
    producer, _ = new_connection(state)
    connection, woken = new_connection(state)
    connection.receive(fetch(0, RECORDS) + fetch(1) + fetch(2))
    assert connection.out == []
    producer.receive(produce())
    assert woken
    for number in range(3):
        connection.resume()
        data, connection.out = b"".join(connection.out), []
        ((_, start, _),) = FrameSplitter(LIMIT).feed(data)
        assert struct.unpack_from(">i", data, start) == (number,)
