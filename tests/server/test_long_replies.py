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


def fetch(correlation_id: int) -> bytes:
    asked = FetchTopic(topic="orders", partitions=[FetchPartition(partition=0, partition_max_bytes=LIMIT)])
    request = FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=LIMIT, session_epoch=-1, topics=[asked])
    return frame(request_header(ApiKey.FETCH, 12, correlation_id, "raw", True) + encode(request, 12))


def test_a_reply_in_chunks_is_sent_before_the_next_one_is_made():
    """The last chunk of a reply to Fetch is nothing but tags: it tells nothing of how long the reply is."""
    state = BrokerState(BrokerConfig({}, Profile.named("kips")), [Node(1, "localhost", 9092)], library_logger())
    create_topic(state, "orders", 1)
    woken: list[bool] = []
    connection = Connection(
        Dispatcher(state),
        ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1"),
        LIMIT,
        lambda: (int(time.time() * 1000), 1),
        lambda: woken.append(True),
    )
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
