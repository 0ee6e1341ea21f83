"""Handlers without a server: a broker's state, both clocks in the test's hand, every message through the codec."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from kafkastub.config import BrokerConfig, Profile
from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import registrations
from kafkastub.metadata import Node, Topic
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.topics import create_topic, delete_topics, topic_with
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.messages.produce_response import PartitionProduceResponse, ProduceResponse
from kafkawire.records import BatchHeader, NewRecord, build_batch, compute_crc, parse_header
from kafkawire.schema import Message

START_MS = 1_700_000_000_000
_MOST_PARTS = 1000
"""Of the work on one request."""
M = TypeVar("M", bound=Message)


class SilentLog:
    """Takes what a structlog logger takes."""

    def __getattr__(self, level: str) -> Any:
        return lambda event, **fields: None


class Desk:
    """One broker, node 1 (and 2, if `nodes` says so). `broker_ms` and `timer_ms` stand still until moved."""

    def __init__(self, config: dict[str, object] | None = None, nodes: int = 1, wall_ms: Any = None) -> None:
        broker_config = BrokerConfig(config, Profile.named("kafka"))
        all_nodes = [Node(number, "127.0.0.1", 9091 + number) for number in range(1, nodes + 1)]
        self.state = BrokerState(broker_config, all_nodes, SilentLog(), wall_ms, seed=1)
        self.state.make_topic = partial(topic_with, self.state)
        self.broker_ms = START_MS
        self.timer_ms = 0
        self.node_id = 1
        self.listener = "PLAINTEXT"
        self.client_id = "test"

    def topic(self, name: str = "orders", partitions: int = 1, **configs: str) -> Topic:
        """A new topic; `max_message_bytes="10"` is max.message.bytes."""
        named = {key.replace("_", "."): value for key, value in configs.items()}
        return create_topic(self.state, name, partitions, configs=named)

    def delete(self, name: str) -> None:
        delete_topics(self.state, [name], self.broker_ms)

    def outcome(self, key: ApiKey, version: int, request: Message) -> Outcome:
        """What the handler comes back with, as the server would see it."""
        api = registrations()[key]
        context = RequestContext(
            self.state, ConnectionInfo(1, "/127.0.0.1", "127.0.0.1:1", self.listener, self.node_id), key, version, 1,
            self.client_id, self.broker_ms, self.timer_ms,
        )  # fmt: skip
        read = decode(type(request), version, encode(request, version))
        try:
            return api.handler(context, read)
        except KafkaError as error:
            return api.error_response(read, error.code, version)

    def ask(self, version: int, request: Message, answer: type[M]) -> M:
        """The answer as a client reads it; the request must not be put off, but for others to have their turn."""
        outcome = self.outcome(ApiKey(request.API_KEY), version, request)
        for _ in range(_MOST_PARTS):
            if not isinstance(outcome, Deferred) or outcome.reply is not None:
                break
            self.state.expire(self.broker_ms, self.timer_ms)
        outcome = outcome.reply if isinstance(outcome, Deferred) and outcome.reply is not None else outcome
        assert isinstance(outcome, Message)
        return decode(answer, version, encode(outcome, version))

    def wait_until(self, timer_ms: int) -> None:
        """Let timer time pass."""
        self.timer_ms = timer_ms
        self.state.expire(self.broker_ms, timer_ms)

    def produce(
        self, records: bytes | None, topic: str = "orders", partition: int = 0, version: int = 12, **request: Any
    ) -> PartitionProduceResponse:
        """One partition's answer."""
        asked = produce_request(records, topic, partition, **request)
        return self.ask(version, asked, ProduceResponse).responses[0].partition_responses[0]

    def fill(self, *batches: bytes, topic: str = "orders", partition: int = 0) -> None:
        """Append batches that must be taken."""
        for one in batches:
            assert self.produce(one, topic, partition).error_code == ErrorCode.NONE


def answered(deferred: Outcome, version: int, answer: type[M]) -> M | None:
    """The answer of a request that was put off, None while it waits."""
    assert isinstance(deferred, Deferred)
    return None if deferred.reply is None else decode(answer, version, encode(deferred.reply, version))


def produce_request(
    records: bytes | None, topic: str = "orders", partition: int = 0, topic_id: bytes = bytes(16), **request: Any
) -> ProduceRequest:
    data = [TopicProduceData(name=topic, topic_id=topic_id, partition_data=[PartitionProduceData(partition, records)])]
    settings = {"transactional_id": None, "acks": -1, "timeout_ms": 1000, **request}
    return ProduceRequest(topic_data=data, **settings)


def batch(*values: bytes | None, timestamp: int = START_MS, key: bytes | None = b"k", **header: Any) -> bytes:
    """A batch of these values, one millisecond apart from `timestamp` on."""
    records = [NewRecord(key, value, timestamp + delta) for delta, value in enumerate(values or (b"v",))]
    return build_batch(records, **header)


def altered(original: bytes, *, fix_crc: bool = True, **fields: Any) -> bytes:
    """The batch with other header fields."""
    header: BatchHeader = parse_header(original)._replace(**fields)
    changed = header.encode() + original[61:]
    return header._replace(crc=compute_crc(changed)).encode() + original[61:] if fix_crc else changed
