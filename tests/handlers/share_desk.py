"""A desk where share groups fetch and acknowledge; members' connections stay until the test lets them go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkastub.handlers.context import ConnectionInfo, RequestContext
from kafkastub.handlers.outcome import Deferred, Outcome
from kafkastub.handlers.registry import registrations
from kafkastub.metadata import SHARE_GROUP_STATE, Topic
from kafkastub.share_partitions.states import RecordState
from kafkastub.state.topics import auto_create
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.errors import KafkaError
from kafkawire.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafkawire.messages.share_acknowledge_response import PartitionData as Acknowledged
from kafkawire.messages.share_acknowledge_response import ShareAcknowledgeResponse
from kafkawire.messages.share_fetch_request import AcknowledgementBatch as AlongBatch
from kafkawire.messages.share_fetch_request import FetchPartition, FetchTopic, ForgottenTopic, ShareFetchRequest
from kafkawire.messages.share_fetch_response import PartitionData, ShareFetchResponse
from kafkawire.records import read_batch, split_batches
from kafkawire.schema import Message
from tests.handlers.desk import Desk, answered

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
Said = tuple[int, int, Sequence[int]]
"""First offset, last offset, types."""


class ShareDesk(Desk):
    """Begins with a topic, and a group "g" that reads it from its beginning and that the share coordinator knows."""

    def __init__(self, config: dict[str, object] | None = None, nodes: int = 1, partitions: int = 1) -> None:
        super().__init__(config, nodes)
        self.connections: dict[str, ConnectionInfo] = {}
        self.orders = self.topic(partitions=partitions)
        auto_create(self.state, SHARE_GROUP_STATE)
        self.begin_at_first("g")
        self.know("g", self.orders)

    def begin_at_first(self, group: str, **configs: object) -> None:
        """Configure a group; `share_isolation_level="read_committed"` is share.isolation.level."""
        named = {key.replace("_", "."): str(value) for key, value in configs.items()}
        self.state.cluster.group_configs[group] = {"share.auto.offset.reset": "earliest", **named}

    def know(self, group: str, topic: Topic, start_offset: int = -1) -> None:
        """What a heartbeat's initialising does."""
        for index in range(len(topic.partitions)):
            self.state.share_partitions.persister.initialize(
                group, topic.topic_id, index, 1, start_offset, self.broker_ms
            )

    def on(self, connection: str) -> ConnectionInfo:
        """One that stays."""
        if connection not in self.connections:
            number = len(self.connections) + 1
            self.connections[connection] = ConnectionInfo(
                number, "/127.0.0.1", f"127.0.0.1:{number}", self.listener, self.node_id
            )
        return self.connections[connection]

    def hang_up(self, connection: str = "c") -> None:
        """It goes."""
        self.connections.pop(connection).forget()
        self.state.expire(self.broker_ms, self.timer_ms)

    def from_connection(self, connection: str, version: int, request: Message) -> Outcome:
        """What comes of a request, when all of its parts had their turn."""
        api = registrations()[ApiKey(request.API_KEY)]
        context = RequestContext(
            self.state, self.on(connection), api.key, version, 1, self.client_id, self.broker_ms, self.timer_ms
        )
        read = decode(type(request), version, encode(request, version))
        try:
            return api.handler(context, read)
        except KafkaError as error:
            return api.error_response(read, error.code, version)

    # -- what members say ----------------------------------------------------------------------------------------

    def fetch(self, epoch: int = 0, connection: str = "c", version: int = 2, **asked: Any) -> ShareFetchResponse:
        """The answer, which has to be there at once."""
        outcome = self.fetching(epoch, connection, version, **asked)
        assert isinstance(outcome, Message), "the fetch waits"
        return decode(ShareFetchResponse, version, encode(outcome, version))

    def fetching(self, epoch: int = 0, connection: str = "c", version: int = 2, **asked: Any) -> Outcome:
        return self.from_connection(connection, version, self.fetch_request(epoch, **asked))

    def fetch_request(
        self,
        epoch: int,
        member: str | None = "m",
        group: str | None = "g",
        partitions: Sequence[int] = (0,),
        topic_id: bytes | None = None,
        along: dict[int, Sequence[Said]] | None = None,
        forget: Sequence[int] = (),
        **more: Any,
    ) -> ShareFetchRequest:
        topic_id = self.orders.topic_id if topic_id is None else topic_id
        settings: dict[str, Any] = {
            "max_wait_ms": 500, "min_bytes": 1, "max_bytes": 1 << 20, "max_records": 500, "batch_size": 500, **more
        }  # fmt: skip
        named = [
            FetchPartition(index, [AlongBatch(*one) for one in (along or {}).get(index, ())])
            for index in dict.fromkeys([*partitions, *(along or ())])
        ]
        return ShareFetchRequest(
            group,
            member,
            epoch,
            topics=[FetchTopic(topic_id, named)] if named else [],
            forgotten_topics_data=[ForgottenTopic(topic_id, forget)] if forget else [],
            **settings,
        )

    def acknowledge(self, epoch: int, *said: Said, **more: Any) -> Acknowledged:
        """The answer about partition 0, if it is a good one."""
        answer = self.acknowledging(epoch, {0: said}, **more)
        assert isinstance(answer, ShareAcknowledgeResponse)
        assert answer.error_code == 0
        return answer.responses[0].partitions[0]

    def acknowledging(
        self,
        epoch: int,
        said: dict[int, Sequence[Said]],
        connection: str = "c",
        member: str | None = "m",
        group: str | None = "g",
        version: int = 2,
        topic_id: bytes | None = None,
        renew: bool = False,
    ) -> ShareAcknowledgeResponse | Deferred:
        topic_id = self.orders.topic_id if topic_id is None else topic_id
        named = [
            AcknowledgePartition(index, [AcknowledgementBatch(*one) for one in batches])
            for index, batches in said.items()
        ]
        request = ShareAcknowledgeRequest(
            group, member, epoch, is_renew_ack=renew, topics=[AcknowledgeTopic(topic_id, named)] if named else []
        )
        outcome = self.from_connection(connection, version, request)
        if isinstance(outcome, Deferred):
            return outcome
        assert isinstance(outcome, Message)
        return decode(ShareAcknowledgeResponse, version, encode(outcome, version))

    # -- what came of it -----------------------------------------------------------------------------------------

    def states(self, group: str = "g", partition: int = 0) -> list[tuple[int, int, str, int]]:
        """What is in flight: first and last offset, state, delivery count, however it is divided."""
        (live,) = [one for one in self.state.share_partitions.of_group(group) if one.index == partition]
        found: list[tuple[int, int, str, int]] = []
        for one in live.partition.view():
            here = one.first_offset, one.last_offset, RecordState(one.state).name, one.delivery_count
            if found and found[-1][1] + 1 == here[0] and found[-1][2:] == here[2:]:
                here = found.pop()[0], *here[1:]
            found.append(here)
        return found


def later(outcome: Outcome) -> ShareFetchResponse | None:
    """The answer of a fetch that waited; None while it waits."""
    return answered(outcome, 2, ShareFetchResponse)


def parts(answer: ShareFetchResponse | None) -> dict[int, PartitionData]:
    """By partition, of one topic."""
    assert answer is not None
    return {one.partition_index: one for topic in answer.responses for one in topic.partitions}


def ranges(answer: ShareFetchResponse | None, partition: int = 0) -> list[tuple[int, int, int]]:
    """What was acquired: first and last offset, delivery count. Nothing where the partition is not told of."""
    found = parts(answer).get(partition)
    taken = () if found is None else found.acquired_records
    return [(one.first_offset, one.last_offset, one.delivery_count) for one in taken]


def offsets(answer: ShareFetchResponse | None, partition: int = 0) -> list[int]:
    """Of the records that came along."""
    records = parts(answer)[partition].records
    assert isinstance(records, bytes | memoryview)
    return [record.offset for _, batch in split_batches(records) for record in read_batch(batch)]
